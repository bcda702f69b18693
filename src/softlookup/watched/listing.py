"""Listing: a few records that print as a table, in a terminal and in a notebook."""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from softlookup.errors import OptionError
from softlookup.numerals import fixed
from softlookup.tokens import listed

R = TypeVar("R", bound=NamedTuple)
_PRINTED = 20
_IN_HTML = 500
_SHARES = frozenset(  # of 1: shown with a bar
    {"first", "previous", "induction", "duplicate", "share", "sink", "weight"}
)
_BOX = "max-height:28em;overflow:auto;display:inline-block;max-width:100%"
_TABLE = "border-collapse:collapse;color:inherit;font-variant-numeric:tabular-nums"
_CELL = (
    "padding:.15em .7em;border-bottom:1px solid rgba(128,128,128,.25);color:inherit;"
    "text-align:left;white-space:pre"
)
_SMALL = "max-width:60em;font-size:.85em;opacity:.8"
_BAR = "rgba(90,130,255,.35)"


class Listing(Sequence[R], Generic[R]):
    """Records of one kind, each a named tuple; it prints as a table.

    ``listing[0]`` is a record, ``listing[:3]`` a listing, ``pandas.DataFrame(listing)`` a frame.

    Parameters
    ----------
    title : str
        What is listed.
    records : iterable of named tuples
    columns : mapping of str to str, optional
        What each column is, in a few words; a notebook shows them.
    note : str, default ""
        A last line.
    """

    def __init__(
        self,
        title: str,
        records: Iterable[R],
        columns: Mapping[str, str] | None = None,
        note: str = "",
    ) -> None:
        self.title, self.note = title, note
        self._records, self._columns = tuple(records), dict(columns or {})

    def __getitem__(self, place: Any) -> Any:
        found = self._records[place]
        return self._of(self.title, found) if isinstance(place, slice) else found

    def _of(self, title: str, records: Iterable[R]) -> "Listing[R]":
        """Return other records, listed in the same way."""
        return Listing(title, records, self._columns, self.note)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[R]:
        return iter(self._records)

    def by(self, column: str, *, ascending: bool = False) -> "Listing[R]":
        """Return the same records ordered by a column, largest first; unknown ones come last.

        Raises
        ------
        OptionError
            Where there is no such column, or nothing is known in it.
        """
        if not self._records:
            return self
        names = self._telling()
        if column not in names:
            got = listed(str(column))
            if column in self._records[0]._fields:
                got += ", in which nothing is known: it was not asked for, or there is none"
            raise OptionError("column", f"must be one of {', '.join(names)}; got {got}.")
        known = [one for one in self._records if not _unknown(getattr(one, column))]
        unknown = [one for one in self._records if _unknown(getattr(one, column))]
        ordered = sorted(known, key=lambda one: getattr(one, column), reverse=not ascending)
        return self._of(f"{self.title}, by {column}", [*ordered, *unknown])

    def __repr__(self) -> str:
        if not self._records:
            return f"{self.title}: nothing"
        columns = [
            (name, *(_text(getattr(one, name)) for one in self._records[:_PRINTED]))
            for name in self._telling()
        ]
        lines = map("  ".join, zip(*map(_aligned, columns), strict=True))
        more = len(self._records) - _PRINTED
        return "\n".join(
            [
                self.title,
                *(line.rstrip() for line in lines),
                *([f"and {more} more"] if more > 0 else []),
                *([self.note] if self.note else []),
            ]
        )

    def _repr_html_(self) -> str:
        """Return the table for a notebook: no script, every text escaped."""
        if not self._records:
            return f"<div>{html.escape(self.title)}: nothing</div>"
        names = self._telling()
        head = "".join(self._heading(name) for name in names)
        body = "".join(
            f"<tr>{''.join(_cell(name, getattr(record, name)) for name in names)}</tr>"
            for record in self._records[:_IN_HTML]
        )
        more = len(self._records) - _IN_HTML
        rest = f"<div>and {more} more</div>" if more > 0 else ""
        told = "; ".join(
            f"{name}: {self._columns[name]}" for name in names if name in self._columns
        )
        rest += "".join(
            f'<div style="{_SMALL}">{html.escape(line)}</div>' for line in (told, self.note) if line
        )
        return (
            f"<div>{html.escape(self.title)}</div>"
            f'<div style="{_BOX}"><table style="{_TABLE}">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{rest}"
        )

    def _heading(self, name: str) -> str:
        told = self._columns.get(name)
        title = "" if told is None else f' title="{html.escape(told)}"'
        return f'<th scope="col" style="{_CELL}"{title}>{name}</th>'

    def _telling(self) -> list[str]:
        """Return the names of the columns in which anything is known."""
        return [
            name
            for name in self._records[0]._fields
            if any(not _unknown(getattr(one, name)) for one in self._records)
        ]


def _unknown(given: Any) -> bool:
    return given is None or given == "" or (isinstance(given, float) and np.isnan(given))


def _text(given: Any) -> str:
    """Write one cell.

    Examples
    --------
    >>> _text(0.25), _text(3), _text(" the"), _text(None)
    ('0.250', '3', "' the'", '')
    """
    if given is None or given == "":
        return ""
    if isinstance(given, str):
        return repr(listed(given)) if given.strip() != given else listed(given)
    return fixed(given) if isinstance(given, float | np.floating) else str(given)


def _aligned(column: Sequence[str]) -> list[str]:
    """Pad the texts of a column to one width, numbers to the right."""
    width = max(map(len, column))
    numeric = all(not text or text[0] in "-0123456789" or text == "NaN" for text in column[1:])
    return [text.rjust(width) if numeric else text.ljust(width) for text in column]


def _cell(name: str, given: Any) -> str:
    style = _CELL
    if name in _SHARES and not _unknown(given):
        share = 100 * min(max(float(given), 0.0), 1.0)
        style += (
            f";background:linear-gradient(to right,{_BAR} {share:.1f}%,transparent {share:.1f}%)"
        )
    return f'<td style="{style}">{html.escape(_text(given))}</td>'
