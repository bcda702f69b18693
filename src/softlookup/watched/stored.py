"""Stored: a Parquet file of facts, read back as `Watched`, and every refusal of one."""

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from softlookup import captures, packages
from softlookup.arrays import Array, BoolArray
from softlookup.captures import Axis, Capture, entries
from softlookup.captures.fields import fault
from softlookup.errors import FileError, SoftlookupError
from softlookup.facts import bin_ranges
from softlookup.inspection import Inspection, Top
from softlookup.watched.described import ENTRY, VERSION, unpacked
from softlookup.watched.glance import Glance
from softlookup.watched.repeats import Part
from softlookup.watched.shares import Shares
from softlookup.watched.watched import Watched

_ENDING = ".parquet"
_PLAIN = ("lse", "entropy", "sink", "max_score")
_DTYPES = ("float32", "float64")
_MOST_UNSAID = 2**28  # numbers of rows at padding, which have no line
_BROKEN = (
    ValueError, TypeError, LookupError, OverflowError, zlib.error, RecursionError,
    NotImplementedError,
)  # fmt: skip
_PARTS = ("previous", "induction", "duplicate")


def load(path: str | os.PathLike[str]) -> Capture | Watched:
    """Read what this package wrote: a capture, or the facts of a watched model.

    Parameters
    ----------
    path : str or path-like
        A ``.json``, ``.npz`` or ``.safetensors`` file, see :mod:`softlookup.captures`; or a
        ``.parquet`` file of `Watched.to_parquet`.

    Returns
    -------
    Capture or Watched
        A capture has the file's title, or its name where it has none. Facts give rankings,
        summaries and tables as they did when they were written.

    Raises
    ------
    FileError
        Where the file is missing, damaged, or holds something else; the message names the place.
    PackageError
        For ``.parquet``, without pyarrow: ``pip install "softlookup[tables]"``.

    Notes
    -----
    Files are untrusted: nothing is unpickled, and sizes are checked before memory is taken for
    them. :func:`softlookup.captures.load` says more.
    """
    file = Path(path)
    return read_facts(file) if file.suffix.lower() == _ENDING else captures.load(path)


def read_facts(file: Path) -> Watched:
    """Return what was seen, as `Watched.to_parquet` wrote it.

    Raises
    ------
    FileError, PackageError
        As `load`.
    """
    advice = 'pip install "softlookup[tables]".'
    parquet = packages.load("pyarrow.parquet", "for this file", advice)
    try:
        with parquet.ParquetFile(file) as stream:
            beside = stream.metadata.metadata or {}
            said = {
                name.decode(): text.decode() for name, text in beside.items()
                if name.startswith(ENTRY.encode())
            }  # fmt: skip
            manifest = _manifest(file, said)
            return _Table(stream, manifest, said).watched()
    except FileError:
        raise
    except OSError as error:
        raise fault(file, f"cannot be read: {error.strerror or error}. Check the path.") from error
    except (SoftlookupError, *_BROKEN) as error:
        reason = str(error)[:160].rstrip(".")
        raise fault(
            file, f"must be a whole file of facts; {reason}. Write it again with to_parquet."
        ) from error  # fmt: skip


def _manifest(file: Path, said: Mapping[str, str]) -> dict[str, Any]:
    """Return what a file says of its lines, an object of a version that is known."""
    if ENTRY not in said:
        raise fault(
            file, "must say what its lines are of, as a file that seen.to_parquet(path) writes; it "
            "is a plain table, or of an older version. Read it with pandas.read_parquet."
        )  # fmt: skip
    manifest = entries.as_object(json.loads(said[ENTRY], object_pairs_hook=entries.unique), "it")
    version = entries.integer(entries.need(manifest, "version", "it"), "version")
    if version != VERSION:
        raise fault(
            file, f"must have version {VERSION}; it says {version}. Get a newer softlookup, or "
            "write it again with this one."
        )  # fmt: skip
    if entries.need(manifest, "of", "it") != "rows":
        raise fault(
            file, "must have a line for each row; it has one for each key. Load the file that "
            "seen.to_parquet(path) writes, which knows of keys, too."
        )  # fmt: skip
    return manifest


class _Table:
    """The lines of a file, taken layer by layer as they were written."""

    def __init__(self, stream: Any, manifest: Mapping[str, Any], said: Mapping[str, str]) -> None:
        self._lines, self._manifest, self._said = stream.read(), manifest, said
        self._at = 0

    def watched(self) -> Watched:
        """Return all layers."""
        manifest = self._manifest
        title = manifest.get("title")
        about = entries.as_object(manifest.get("about", {}), "about")
        seen = Watched(
            {name: entries.text(one, f"about.{name}") for name, one in about.items()},
            title=None if title is None else entries.text(title, "title"),
        )
        axes = entries.each(_axis, entries.need(manifest, "axes", "it"), "axes")
        layers = entries.as_list(entries.need(manifest, "layers", "it"), "layers")
        for place, one in enumerate(layers):
            self._add(seen, place, entries.as_object(one, f"layers[{place}]"), axes)
        if self._at != len(self._lines):
            raise ValueError(f"it has {len(self._lines):,} lines, and says {self._at:,}")
        return seen

    def _add(
        self, seen: Watched, place: int, layer: Mapping[str, Any], axes: tuple[Axis, ...]
    ) -> None:
        run, path = (entries.integer(layer["run"], "run"), entries.text(layer["path"], "path"))
        part = entries.text(layer["part"], "part")
        glance = self._glance(place, layer)
        seen.add(path, entries.integer(layer["number"], "number"), part, glance)
        if layer["axes"] is not None:
            queries, keys = (tuple(axes[i] for i in side) for side in layer["axes"])
            seen.add_axes(run, path, queries, keys)
        elif layer["prompt"] is not None:
            seen.add_prompt(run, entries.integer(layer["prompt"], "prompt"))

    def _glance(self, place: int, layer: Mapping[str, Any]) -> Glance:
        heads, kv_heads = (
            entries.each(entries.integer, layer[name], name) for name in ("heads", "kv_heads")
        )
        batch, rows, keys, start, key_start = (
            entries.integer(layer[name], name)
            for name in ("batch", "rows", "keys", "start", "key_start")
        )
        if min(batch, rows, keys) < 0 or layer["dtype"] not in _DTYPES:
            raise ValueError(f"layers[{place}] has no such sizes and dtype")
        dtype = np.dtype(layer["dtype"])

        def known(name: str, *shape: int, kind: Any = np.bool_) -> Array:
            return unpacked(self._said[f"{ENTRY}.{place}.{name}"], shape, np.dtype(kind))

        row_padding = known("row_padding", batch, rows)
        lines = self._lines_of(layer, heads, row_padding, start)
        got = f"{ENTRY}.{place}.received" in self._said
        found = _facts(lines, layer, key_start, (batch, len(heads), rows), dtype)
        received = known("received", batch, len(heads), keys, kind=dtype) if got else None
        return Glance(
            heads,
            kv_heads,
            entries.integer(layer["run"], "run"),
            start,
            key_start,
            Inspection(out=None, backend="a file", received=received, **found),
            padding=known("padding", batch, keys),
            row_padding=row_padding,
            causal=entries.truth(layer["causal"], "causal"),
            from_rows=known("counted", batch, rows),
            keys=keys,
            shares=None if layer["shares"] is None else _shares(layer["shares"]),
            spans=known("spans", 2, rows, kind=np.int64),
        )

    def _lines_of(
        self, layer: Mapping[str, Any], heads: tuple[int, ...], padding: BoolArray, start: int
    ) -> "_Lines":
        """Return the lines of one layer; they must stand where they were written."""
        at_padding = entries.truth(self._manifest["lines_at_padding"], "lines_at_padding")
        chosen = np.ones_like(padding) if at_padding else ~padding
        count = len(heads) * int(chosen.sum())
        if len(heads) * chosen.size - count > _MOST_UNSAID:
            raise ValueError("more rows stand at padding than can be")
        part = self._lines.slice(self._at, count)
        self._at += count
        where = np.broadcast_to(chosen[:, None], (len(chosen), len(heads), chosen.shape[1]))
        batch, head, position = np.nonzero(where)
        expected = {
            "run": np.full(count, layer["run"]),
            "layer": np.full(count, layer["number"]),
            "batch": batch,
            "head": np.array(heads, np.int64)[head],
            "position": position + start,
        }
        for name, numbers in expected.items():
            if not np.array_equal(part.column(name).to_numpy(), numbers):
                raise ValueError(f"its lines are not those that it was written with, by {name}")
        return _Lines(part, where)


class _Lines:
    """Some lines of a table, and where each stands in (batch, heads, rows)."""

    def __init__(self, part: Any, where: BoolArray) -> None:
        self._part, self._where = part, where

    def fact(self, name: str, dtype: np.dtype[Any], empty: float) -> Array:
        """Return a column over (batch, heads, rows); `empty` where there is no line."""
        full = np.full(self._where.shape, empty, dtype)
        full[self._where] = self._part.column(name).to_numpy()
        return full


def _facts(
    lines: _Lines,
    layer: Mapping[str, Any],
    key_start: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
) -> dict[str, Any]:
    """Return what was looked at; rows without a line are those that see no key."""
    asked, widths = layer["asked"], entries.as_object(layer["widths"], "widths")
    found: dict[str, Any] = {}
    for name in _PLAIN:
        if name in asked:
            found[name] = lines.fact(name, dtype, -np.inf if name in ("lse", "max_score") else 0)

    def several(names: list[str], kind: np.dtype[Any] = dtype, empty: float = 0) -> Array:
        parts = [lines.fact(name, kind, empty) for name in names]
        return np.stack(parts, axis=-1) if parts else np.zeros((*shape, 0), kind)

    if "top" in asked:
        numbers = range(1, entries.integer(widths["top"], "widths.top") + 1)
        keys = several([f"top_key_{k}" for k in numbers], np.dtype(np.int64), -1)
        weights = several([f"top_weight_{k}" for k in numbers])
        found["top"] = Top(np.where(keys < 0, keys, keys - key_start), weights)
    if "groups" in asked:
        count = entries.integer(widths["groups"], "widths.groups")
        found["groups"] = several([f"group_{g}" for g in range(count)])
    if "distance" in asked:
        count = entries.integer(widths["distance"], "widths.distance")
        found["distance_bins"] = bin_ranges(count)
        found["distance"] = several([f"distance_{low}" for low, _ in bin_ranges(count)])
    return found


def _shares(given: Any) -> Shares:
    said = entries.as_object(given, "shares")
    parts = {
        name: None if said[name] is None else Part(*_pair(said[name]["rows"], said[name]["total"]))
        for name in _PARTS
    }
    rows, first = _pair(said["rows"], said["first"])
    return Shares(rows, first, **parts)


def _pair(rows: Any, numbers: Any) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return (
        entries.each(entries.integer, rows, "rows"),
        entries.each(entries.number, numbers, "shares"),
    )


def _axis(given: Any, place: str) -> Axis:
    one = entries.as_object(given, place)
    words, prompt = one.get("words"), one.get("prompt")
    return Axis(
        entries.each(entries.text, entries.need(one, "tokens", place), place),
        None if words is None else entries.each(entries.integer, words, place),
        (),
        None if prompt is None else entries.integer(prompt, place),
    )
