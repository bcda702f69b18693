"""Exports: what was seen as a table of NumPy, Arrow, pandas, or in a Parquet file."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup import packages
from softlookup.arrays import Array
from softlookup.errors import DtypeError, FileError, PackageError
from softlookup.tokens import readable
from softlookup.tracing import to_json
from softlookup.watched.described import describe
from softlookup.watched.table import (
    Column,
    Columns,
    Of,
    Words,
    as_objects,
    check_of,
    chunks,
    columns_of,
    kinds_of,
    whole,
)
from softlookup.writing import check_writable, write_whole

if TYPE_CHECKING:
    from softlookup.watched.layer import LayerSeen

_ENDING = ".parquet"
_MOST_BESIDE = 2**25  # characters beside a table in its schema, which is one text of its file


class Tabular:
    """What can be read as a table: one line for each row, or for each key, of every head."""

    def _tabled(self) -> Sequence["LayerSeen"]:
        """Return the layers whose lines the table has."""
        raise NotImplementedError

    def table(self, of: Of = "rows", *, padding: bool = False) -> dict[str, Array]:
        """Return a long table as NumPy columns; ``pandas.DataFrame(seen.table())`` takes it.

        Parameters
        ----------
        of : {"rows", "keys"}
            ``"rows"``: a line for each query of each head, with the facts of rows. ``"keys"``: a
            line for each key of each head, with what it received.
        padding : bool, default False
            Also the lines at padding.

        Returns
        -------
        dict of str to ndarray
            ``run, part, layer, path, batch, head, position, token, written`` (whether generate()
            wrote the token); of rows then ``produces`` (the
            text at the next position, which a decoder's row produced), ``entropy, lse, sink,
            max_score, top_key_1, top_weight_1, ..., group_0, ..., distance_0, distance_1,
            distance_2, distance_4, ...`` as far as they were looked at; of keys ``kv_head,
            received``. Texts are None where none is known, top keys -1 and other facts NaN in a
            layer where they were not looked at.

        Raises
        ------
        OptionError
            Where `received` was not looked at, or `of` is something else.
        """
        found = whole(self._tabled(), check_of(of), padding=padding)
        return {
            name: as_objects(column) if isinstance(column, Words) else column
            for name, column in found.items()
        }

    def to_dict(self, of: Of = "rows", *, padding: bool = False) -> dict[str, list[Any]]:
        """Return the table as plain lists, ready for JSON; NaN and inf are texts."""
        plain: dict[str, list[Any]] = to_json(self.table(of, padding=padding))
        return plain

    def to_arrow(self, of: Of = "rows", *, padding: bool = False) -> Any:
        """Return the table as a ``pyarrow.Table``, a chunk for each layer; texts are dictionaries.

        Raises
        ------
        PackageError
            Without pyarrow: ``pip install "softlookup[tables]"``.
        """
        pa = _load("pyarrow")
        layers, of = self._tabled(), check_of(of)
        columns = columns_of(layers)
        schema = _schema(pa, of, columns)
        batches = list(_batches(pa, chunks(layers, of, columns, padding=padding), schema))
        return pa.Table.from_batches(batches, schema).unify_dictionaries()

    def to_pandas(self, of: Of = "rows", *, padding: bool = False) -> Any:
        """Return the table as a ``pandas.DataFrame``; texts are categories.

        Raises
        ------
        PackageError
            Without pandas: ``pip install "softlookup[tables]"``.
        """
        pd = _load("pandas")
        found = whole(self._tabled(), check_of(of), padding=padding)
        table = {
            name: pd.Categorical.from_codes(*_storable(column))
            if isinstance(column, Words) else column
            for name, column in found.items()
        }  # fmt: skip
        return pd.DataFrame(table, copy=False)

    def to_parquet(
        self, path: str | os.PathLike[str], of: Of = "rows", *, padding: bool = False
    ) -> Path:
        """Write the table to a Parquet file, a layer at a time.

        What was there stays until the new file is whole. Of rows it holds all that is known, and
        :func:`softlookup.load` reads it back: rankings, summaries and tables are what they were.

        Parameters
        ----------
        path : str or path-like
            Ends in ``.parquet``.
        of, padding
            As for `table`.

        Returns
        -------
        Path
            Where it is.

        Raises
        ------
        PackageError
            Without pyarrow: ``pip install "softlookup[tables]"``.
        FileError, DtypeError
            Where it cannot be written, or `path` is none.
        """
        if not isinstance(path, str | os.PathLike):
            raise DtypeError(
                "path", f"must be a text or a pathlib.Path; got {type(path).__name__}. Write e.g. "
                '"seen.parquet".'
            )  # fmt: skip
        pa, pq = _load("pyarrow"), _load("pyarrow.parquet")
        file = Path(path)
        if file.suffix != _ENDING:
            raise FileError(
                readable(str(file)), f"must end in {_ENDING}. Write e.g. {file.stem}{_ENDING}."
            )
        check_writable(file)
        layers, of = self._tabled(), check_of(of)
        columns = columns_of(layers)
        schema = _schema(pa, of, columns)
        said = describe(layers, of, padding=padding)
        later = hasattr(pq.ParquetWriter, "add_key_value_metadata")  # of pyarrow 16: no copy of it
        if not later and sum(map(len, said.values())) > _MOST_BESIDE:
            raise PackageError(
                "pyarrow", "must be 16 or newer for a table of so many tokens: what keys received "
                "stands beside it. Run pip install -U pyarrow."
            )  # fmt: skip
        named = schema if later else schema.with_metadata(said)

        def write(fresh: Path) -> None:
            with pq.ParquetWriter(fresh, named) as stream:
                for batch in _batches(pa, chunks(layers, of, columns, padding=padding), schema):
                    stream.write_batch(batch)
                if later:
                    stream.add_key_value_metadata(said)

        return write_whole(file, write)


def _load(name: str) -> Any:
    """Return a package that only tables need.

    Raises
    ------
    PackageError
        Where it is not installed.
    """
    advice = 'pip install "softlookup[tables]", or use table(), which needs nothing.'
    return packages.load(name, "for this table", advice)


def _schema(pa: Any, of: Of, columns: Columns) -> Any:
    """Return the Arrow schema of a table, which is the same for every layer."""
    texts = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([
        (name, texts if dtype is None else pa.from_numpy_dtype(dtype))
        for name, dtype in kinds_of(of, columns).items()
    ])  # fmt: skip


def _batches(pa: Any, tables: Iterable[dict[str, Column]], schema: Any) -> Iterator[Any]:
    """Yield a record batch for each layer's table."""
    for table in tables:
        arrays = [_as_arrow(pa, table[name]) for name in schema.names]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _as_arrow(pa: Any, column: Column) -> Any:
    if not isinstance(column, Words):
        return pa.array(column)
    codes, words = _storable(column)
    shown = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(shown, pa.array(words, pa.string()))


def _storable(column: Words) -> Words:
    r"""Return a column whose texts are UTF-8: half of a surrogate pair is written out.

    Examples
    --------
    >>> _storable(Words(np.array([1, 0, -1]), ("a", "\ud800"))).words
    ('a', '\\ud800')
    """
    known: dict[str, int] = {}
    for word in column.words:
        known.setdefault(word.encode("utf-8", "backslashreplace").decode(), len(known))
    if tuple(known) == column.words:
        return column
    codes = [known[word.encode("utf-8", "backslashreplace").decode()] for word in column.words]
    return Words(np.array([*codes, -1], np.int32)[column.codes], tuple(known))
