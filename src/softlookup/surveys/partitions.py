"""Partitions: the files of a survey, each written whole, then recorded with its checksum.

``rows/part-000003.parquet`` holds the rows of some lines, ``done/part-000003.json`` says that it is
whole: its SHA-256, how much it holds, and which lines were skipped. What has no record is made
again, and so is what does not match it.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softlookup.errors import FileError
from softlookup.surveys.block import LISTS, MEASURES, OF_REPEATS, Block, Ragged
from softlookup.surveys.packages import needed
from softlookup.tokens import readable
from softlookup.writing import write_whole

ROWS, DONE = "rows", "done"
_RECORD = re.compile(r"part-(\d{6,15})\.json")


class Record(NamedTuple):
    """What is known of a partition that is whole.

    Attributes
    ----------
    sha256 : str
        Of its file.
    bytes, rows, texts : int
        How large the file is, and what it holds.
    skipped : tuple of (int, str)
        Lines that were skipped, and why.
    """

    sha256: str
    bytes: int
    rows: int
    texts: int
    skipped: tuple[tuple[int, str], ...]


def file_of(folder: Path, number: int) -> Path:
    """Return where the rows of a partition lie."""
    return folder / ROWS / f"part-{number:06}.parquet"


def _record_of(folder: Path, number: int) -> Path:
    return folder / DONE / f"part-{number:06}.json"


def make_room(folder: Path) -> None:
    """Make the folders, and clear away what a run that was cut short left half written."""
    for name in (ROWS, DONE):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for place in (folder, folder / ROWS, folder / DONE):
        for left in (*place.glob(".part-*"), *place.glob(".manifest-*")):
            left.unlink(missing_ok=True)


def write_partition(folder: Path, number: int, block: Block) -> None:
    """Write a partition, and then that it is whole.

    Raises
    ------
    FileError
        Where it cannot be written.
    """
    table, content = _table(block), BytesIO()
    needed("pyarrow.parquet").write_table(
        table, content, compression="zstd", row_group_size=max(len(table), 1)
    )
    held = content.getvalue()
    write_whole(file_of(folder, number), lambda fresh: fresh.write_bytes(held))
    sha256 = hashlib.sha256(held).hexdigest()
    record = Record(sha256, len(held), len(table), len(block.lines), block.skipped)
    text = json.dumps(record._asdict(), separators=(",", ":"), ensure_ascii=True)
    signed = f"{hashlib.sha256(text.encode('ascii')).hexdigest()}\n{text}\n"
    write_whole(_record_of(folder, number), lambda fresh: fresh.write_text(signed, "ascii"))


def read_record(folder: Path, number: int) -> Record | None:
    """Return what is known of a partition; None where it is not whole, or its record is damaged."""
    try:
        signature, text = _record_of(folder, number).read_text("ascii").split("\n", 1)
        text = text.removesuffix("\n")
        if signature != hashlib.sha256(text.encode("ascii")).hexdigest():
            return None
        found = json.loads(text)
        found["skipped"] = tuple((int(line), str(why)) for line, why in found["skipped"])
        return Record(**found)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def is_whole(folder: Path, number: int, record: Record) -> bool:
    """Return whether the file of a partition is the one that was written."""
    file = file_of(folder, number)
    try:
        return file.stat().st_size == record.bytes and _sha256(file) == record.sha256
    except OSError:
        return False


def recorded(folder: Path) -> list[int]:
    """Return the partitions that were recorded as whole at some time, in order."""
    names = (_RECORD.fullmatch(one.name) for one in (folder / DONE).glob("part-*.json"))
    return sorted(int(name[1]) for name in names if name is not None)


def holds_rows(folder: Path) -> bool:
    """Return whether any partition was written, so that others must be like it."""
    return any((folder / ROWS).glob("part-*.parquet")) or bool(recorded(folder))


def begun(folder: Path, number: int) -> bool:
    """Return whether a partition was recorded as whole at some time."""
    return _record_of(folder, number).exists()


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _table(block: Block) -> Any:
    """Return the rows of a block as an Arrow table."""
    pa = needed("pyarrow")
    text = block.text
    ids = pa.array([block.ids[at] for at in text.tolist()], pa.string())
    absent = {name: _absent(block, name) for name in MEASURES}
    columns: dict[str, Any] = {
        "line": pa.array(block.lines[text]),
        "id": ids,
        "tokens": pa.array(block.tokens[text]),
        "part": pa.array(block.part, pa.string()),
        "layer": pa.array(block.layer),
        "head": pa.array(block.head),
        "rows": pa.array(block.rows),
        "repeats": pa.array(block.repeats),
    }
    columns |= {name: pa.array(block.measures[name], mask=absent[name]) for name in MEASURES}
    lists: Mapping[str, Ragged] = {name: block.lists[name] for name in LISTS}
    columns |= {name: _lists(pa, one, pa.array(one.values)) for name, one in lists.items()}
    words = [word.encode("utf-8", "backslashreplace").decode() for word in block.top_tokens]
    columns["top_tokens"] = _lists(pa, lists["top_keys"], pa.array(words, pa.string()))
    return pa.table(columns)


def _absent(block: Block, name: str) -> Any:
    """Return where there is no row that a mean would be over: nothing to tell, which is no NaN."""
    none = (block.repeats if name in OF_REPEATS else block.rows) == 0
    return none & np.isnan(block.measures[name])


def _lists(pa: Any, ragged: Ragged, values: Any) -> Any:
    """Return lists of numbers as an Arrow array, null where there is none."""
    ends = np.cumsum(np.maximum(ragged.counts, 0))
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    none = np.append(ragged.counts < 0, False)
    return pa.ListArray.from_arrays(pa.array(offsets, mask=none if none.any() else None), values)


def read_partition(folder: Path, number: int, record: Record, columns: Sequence[str] | None) -> Any:
    """Return some columns of a partition as an Arrow table, as they were written.

    Raises
    ------
    FileError
        Where the file is not the one that was written.
    """
    pa, pq = needed("pyarrow"), needed("pyarrow.parquet")
    file = file_of(folder, number)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise FileError(
            readable(str(file)), f"cannot be read: {error.strerror}. Run the survey again, which "
            "makes it anew."
        ) from error  # fmt: skip
    if hashlib.sha256(content).hexdigest() != record.sha256:
        raise FileError(
            readable(str(file)), "must be as it was written; it is damaged. Run the survey again, "
            "which makes it anew."
        )  # fmt: skip
    return pq.read_table(
        pa.BufferReader(content), columns=None if columns is None else list(columns)
    )
