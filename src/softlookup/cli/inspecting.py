"""What ``softlookup inspect`` prints: facts of one head, a line a query and a line a key."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softlookup.captures import Capture
from softlookup.cli.steps import Place, which_head
from softlookup.errors import FileError, OptionError
from softlookup.inspection import Inspection, Top
from softlookup.ledger import aligned, name
from softlookup.numerals import counted, fixed

MOST_ROWS = 50
MOST_KEYS = 20
_PER_ROW = ("lse", "entropy", "sink", "max_score", "top", "groups", "distance")
_MOST_BYTES = 2**26  # of a file of labels


class Asked(NamedTuple):
    """The facts that are named on the command line."""

    top: int | None = None
    entropy: bool = False
    received: bool = False
    distance: bool = False
    sink: bool = False
    max_score: bool = False
    groups: Any = None

    def or_first(self) -> "Asked":
        """Return these, or the three to begin with where none is named."""
        named = self.groups is not None or any(self[:-1])
        return self if named else Asked(top=3, entropy=True, received=True)


class _Seen(NamedTuple):
    """Facts with the texts of their axes, and the rows that are printed."""

    found: Inspection
    queries: Sequence[str]
    keys: Sequence[str]
    rows: range


def _look(capture: Capture, asked: Asked, place: Place, rows: str | None, most: int) -> _Seen:
    layer, head = place.of(capture)
    look = layer.head(head, place.batch)
    queries, keys = (axis(place.batch).tokens for axis in (layer.query_axis, layer.key_axis))
    chosen = choose(rows, len(queries), most)  # before what may take long
    return _Seen(look.inspect(**asked.or_first()._asdict()), queries, keys, chosen)


def facts_text(capture: Capture, asked: Asked, place: Place, rows: str | None) -> str:
    """Return the facts as tables: rows, then shares by distance and group, then keys."""
    seen = _look(capture, asked, place, rows, MOST_ROWS)
    which = which_head(capture, place)
    blocks = [] if which is None else [[which]]
    tables = [*_row_facts(seen), *_shares(seen.found)]
    for title, columns in tables:
        blocks.append([*title, *_table(seen, columns)])
    count, shown = len(seen.queries), len(seen.rows)
    if tables and rows is None and shown < count:
        more = f"and {counted(count - shown, 'more token')}: choose with --rows {shown}:{count}"
        blocks.append([more])
    if seen.found.received is not None:
        blocks.append(_received(seen.found.received, seen))
    return "\n\n".join("\n".join(block) for block in blocks)


def records(capture: Capture, asked: Asked, place: Place, rows: str | None) -> dict[str, Any]:
    """Return the facts with exact numbers, ready for JSON; of all rows where none are chosen."""
    seen = _look(capture, asked, place, rows, sys.maxsize)
    layer, head = place.of(capture)
    facts = seen.found.to_dict()
    for fact in _PER_ROW:
        if isinstance(facts.get(fact), dict):
            facts[fact] = {part: _some(every, seen.rows) for part, every in facts[fact].items()}
        elif fact in facts:
            facts[fact] = _some(facts[fact], seen.rows)
    return {
        "title": capture.title,
        "layer": layer.number,
        "head": head,
        "batch": place.batch,
        "rows": list(seen.rows),
        "tokens": _some(list(seen.queries), seen.rows),
        "key_tokens": list(seen.keys),
        "facts": facts,
    }


def _some(everything: list[Any], chosen: range) -> list[Any]:
    return everything[chosen.start : chosen.stop]


def choose(rows: str | None, count: int, most: int = MOST_ROWS) -> range:
    """Return the rows of ``START:STOP``, or the first `most` of `count`.

    Raises
    ------
    OptionError
        Where `rows` is not written like that, or begins where there is no row.

    Examples
    --------
    >>> choose("2:4", 9), choose("7:", 9), choose(None, 90)
    (range(2, 4), range(7, 9), range(0, 50))
    """
    if rows is None:
        return range(min(count, most))
    start, colon, stop = (part.strip() for part in rows.partition(":"))
    if not colon or not all(part.isdecimal() or not part for part in (start, stop)):
        raise OptionError(
            "rows", f"must be START:STOP, positions from 0; got {rows!r}. E.g. --rows 0:100."
        )
    first, last = int(start or 0), min(int(stop or count), count)
    if first >= last:
        there = f"choose some of 0 ... {count - 1}" if count else "be left out, there are none"
        raise OptionError("rows", f"must {there}; got {rows!r}. E.g. --rows 0:100.")
    return range(first, last)


def read_labels(path: str) -> list[Any]:
    """Return the labels in a JSON file: one integer for each key.

    Raises
    ------
    FileError
        Where it is missing, too large, or holds no JSON list; integers are checked with the lookup.
    """
    file = Path(path)
    try:
        if file.is_file() and file.stat().st_size > _MOST_BYTES:
            raise FileError(path, f"must be at most {_MOST_BYTES:,} bytes of JSON. Shorten it.")
        labels = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
    except OSError as error:
        reason = error.strerror or error
        raise FileError(path, f"cannot be read: {reason}. Check the path.") from error
    except (ValueError, RecursionError):  # no UTF-8, no JSON, or a NUL in the name
        labels = None
    if not isinstance(labels, list):
        raise FileError(
            path,
            "must be a file with a JSON list, a label for each key; it is not. E.g. [0, 0, 1].",
        )
    return labels


Column = tuple[str, Callable[[int], str]]
_Table = tuple[list[str], list[Column]]  # lines of a title, columns


def _row_facts(seen: _Seen) -> list[_Table]:
    """Return the table of the facts that have one number a row, if any are there."""
    found = seen.found
    columns = [
        (title, _numbers(fact))
        for title, fact in (
            ("entropy", found.entropy),
            ("max score", found.max_score),
            ("sink", found.sink),
        )
        if fact is not None
    ]
    if found.top is not None:
        columns.append(("reads most", _best(found.top, seen.keys)))
    return [([], columns)] if columns else []


def _shares(found: Inspection) -> list[_Table]:
    """Return the tables of shares by distance and by group, as far as they are there."""
    tables: list[_Table] = []
    if found.distance is not None and found.distance_bins is not None:
        names = [str(low) if low == high else f"{low}-{high}" for low, high in found.distance_bins]
        bins = [(bin_, _numbers(found.distance[:, n])) for n, bin_ in enumerate(names)]
        tables.append((["share of the weight by distance, in tokens"], bins))
    if found.groups is not None:
        count = found.groups.shape[-1]
        groups = [(str(n), _numbers(found.groups[:, n])) for n in range(count)]
        tables.append((["share of the weight by group"], groups))
    return tables


def _numbers(fact: Any) -> Callable[[int], str]:
    return lambda row: fixed(fact[row])


def _best(top: Top, keys: Sequence[str]) -> Callable[[int], str]:
    """Return what writes the best keys of a row, by their texts and weights."""
    write = _named(keys)

    def best(row: int) -> str:
        there = top.keys[row] >= 0
        if not there.any():
            return "NaN" if np.isnan(top.weights[row]).any() else "no visible keys"
        pairs = zip(top.keys[row][there], top.weights[row][there], strict=True)
        return ",  ".join(f"{write(int(key))} {fixed(weight)}" for key, weight in pairs)

    return best


def _named(tokens: Sequence[str]) -> Callable[[int], str]:
    """Return what writes a token; with its position, as --query takes it, where texts repeat."""
    names = [name(token) for token in tokens]
    unique = len(set(names)) == len(names)
    return lambda place: names[place] if unique else f"{names[place]} @{place}"


def _table(seen: _Seen, columns: Sequence[Column]) -> list[str]:
    write = _named(seen.queries)
    heading = ["token", *(title for title, _ in columns)]
    rows = [[write(row), *(cell(row) for _, cell in columns)] for row in seen.rows]
    return aligned([heading, *rows])


def _received(received: Any, seen: _Seen) -> list[str]:
    """Return the keys that receive most, most first; NaN before all."""
    order = np.argsort(-np.nan_to_num(received, nan=np.inf), kind="stable")
    write, shown, rest = _named(seen.keys), order[:MOST_KEYS], order[MOST_KEYS:]
    lines = aligned([["key", "received"], *([write(int(j)), fixed(received[j])] for j in shown)])
    if len(rest):
        more = counted(len(rest), "more key")
        lines.append(f"and {more}, together {fixed(received[rest].sum())}")
    count = len(seen.queries)
    readers = "the one query" if count == 1 else f"all {count:,} queries together"
    return [f"weight that each key receives from {readers}", *lines]
