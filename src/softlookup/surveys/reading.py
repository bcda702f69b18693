"""Survey: what a survey found, read from its folder."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from softlookup.errors import FileError
from softlookup.numerals import counted
from softlookup.surveys.distributions import POINTS, Distributions, distributions_of
from softlookup.surveys.manifest import Manifest, read_manifest
from softlookup.surveys.packages import needed
from softlookup.surveys.partitions import Record, file_of, read_partition, read_record, recorded
from softlookup.tokens import listed, readable
from softlookup.watched import Listing

_COLUMNS = MappingProxyType({
    "texts": "how many texts",
    "entropy": "median over the texts, in nats",
    "first": "median weight on the first token",
    "previous": "median weight on the token one before the query",
    "induction": "median weight on tokens after earlier occurrences of the query's own",
    "duplicate": "median weight on those occurrences",
})  # fmt: skip
_MEDIAN = POINTS.index("median")


class Skipped(NamedTuple):
    """A line that was skipped, counted from 1, and why."""

    line: int
    reason: str


class HeadSurveyed(NamedTuple):
    """One head over all texts: medians of what its rows come to in each text; None: there is none.

    Attributes
    ----------
    part, layer, head
        Which head.
    texts : int
        How many texts there are.
    entropy, first, previous, induction, duplicate : float
        As in `HeadSummary`.
    """

    part: str
    layer: int
    head: int
    texts: int
    entropy: float | None
    first: float | None
    previous: float | None
    induction: float | None
    duplicate: float | None


class Survey:
    """What a survey found, as far as it came.

    Attributes
    ----------
    folder : Path
    manifest : Manifest
        Which model read which texts, how, with which versions.
    texts, rows : int
        How many texts were measured, and how many rows that made.
    skipped : tuple of Skipped
        Lines that hold no text that could be read, in order.
    remade : tuple of str
        Files that the last run found damaged, and made again.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        records: dict[int, Record],
        remade: tuple[str, ...] = (),
    ) -> None:
        self.folder, self.manifest, self.remade = folder, manifest, remade
        self._records = records
        self.texts = sum(one.texts for one in records.values())
        self.rows = sum(one.rows for one in records.values())
        self.skipped = tuple(
            Skipped(*one) for part in sorted(records) for one in records[part].skipped
        )

    @property
    def whole(self) -> bool:
        """Whether all lines are done."""
        return len(self._records) == self.manifest.partitions

    @property
    def files(self) -> tuple[Path, ...]:
        """The Parquet files, in the order of the lines; ``pandas.read_parquet`` takes each."""
        return tuple(file_of(self.folder, part) for part in sorted(self._records))

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield the rows as Arrow tables, a partition at a time, each checked as it is read.

        Parameters
        ----------
        columns : sequence of str, optional
            Names of the columns; all where left out.

        Raises
        ------
        FileError
            Where a file is damaged.
        """
        for part in sorted(self._records):
            yield read_partition(self.folder, part, self._records[part], columns)

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """Return all rows as a ``pandas.DataFrame``.

        Raises
        ------
        FileError
            Where a file is damaged.
        """
        needed("pandas")
        return needed("pyarrow").concat_tables(self.tables(columns)).to_pandas()

    def heads(self) -> Listing[HeadSurveyed]:
        """Return one record for each head: medians over all texts; it prints as a table."""
        found = self.distributions
        records = [
            HeadSurveyed(*name, found.texts, *map(_known, found.points[:, at, _MEDIAN]))
            for at, name in enumerate(found.heads)
        ]
        return Listing(self.title, records, _COLUMNS)

    @property
    def title(self) -> str:
        """What was surveyed, in a few words."""
        model, texts = (
            listed(str(one["name"])) for one in (self.manifest.model, self.manifest.texts)
        )
        return f"{model} over {counted(self.texts, 'text')} of {texts}"

    @cached_property
    def distributions(self) -> Distributions:
        """How the numbers of each head are spread over the texts; worked out when first asked for.

        Raises
        ------
        FileError
            Where a file is damaged.
        """
        return distributions_of(self.tables, self.rows, self.texts)

    def __repr__(self) -> str:
        lines = int(self.manifest.texts["lines"])
        state = "" if self.whole else ", not whole yet"
        return (
            f"{self.title}: {counted(self.rows, 'row')}; {counted(lines, 'line')}, "
            f"{len(self.skipped):,} of them skipped{state}"
        )


def open_survey(folder: str | os.PathLike[str], *, remade: tuple[str, ...] = ()) -> Survey:
    """Return the survey in a folder, as far as it came.

    Parameters
    ----------
    folder : str or path-like
        Where `survey` wrote it.
    remade : tuple of str
        Files that were made again.

    Raises
    ------
    FileError
        Where there is none.
    """
    place = Path(folder)
    manifest = read_manifest(place)
    if manifest is None:
        raise FileError(
            readable(str(place)), "must be the folder of a survey; it holds no manifest. Make one "
            "with softlookup survey."
        )  # fmt: skip
    found = ((part, read_record(place, part)) for part in recorded(place))
    known = {part: one for part, one in found if one is not None and part < manifest.partitions}
    return Survey(place, manifest, known, remade)


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
