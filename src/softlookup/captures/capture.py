"""Capture: one lookup with the texts of its queries and keys."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.errors import OptionError
from softlookup.lookup import Lookup
from softlookup.tokens import label_axes
from softlookup.tracing import Trace


@dataclass(frozen=True)
class Capture:
    """A recorded lookup: arrays, everything that shaped it, and what its rows and columns say.

    Parameters
    ----------
    title : str
        What it is, in a few words.
    tokens : tuple of str
        One text for each query.
    key_tokens : tuple of str
        One text for each key.
    look : Lookup
        The lookup itself.
    """

    title: str
    tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    look: Lookup

    def lookup(self) -> Lookup:
        """Return the lookup that was recorded."""
        return self.look

    def head(self, head: int = 0, batch: int = 0) -> Lookup:
        """Return one head of one batch entry, as a lookup over plain 2-D arrays.

        Parameters
        ----------
        head : int
            0 ... heads - 1.
        batch : int
            Counted over all leading axes together, the last one fastest.

        Raises
        ------
        OptionError
            Where there is no such head or batch entry.
        """
        problem = self.look.problem
        for name, chosen, count in (("batch", batch, problem.batch), ("head", head, problem.heads)):
            if not 0 <= chosen < count:
                there = f"must lie in 0 ... {count - 1}" if count else "has nothing to choose from"
                raise OptionError(name, f"{there}; got {chosen}. It counts from 0.")
        where = tuple(int(i) for i in np.unravel_index(batch, problem.batch_shape or (1,)))
        return self.look.head(head, batch=where if problem.batch_shape else ())

    def trace(self, rows: Any = None, head: int = 0, batch: int = 0) -> Trace:
        """Return every step of chosen rows of one head, which knows its tokens.

        Parameters
        ----------
        rows : slice, range, int, list of int or bools, optional
            Which queries; default all.
        head, batch : int
            As for :meth:`head`.

        Raises
        ------
        OptionError
            Where there is no such row, head or batch entry, or the rows are too many.
        """
        look = self.head(head, batch)
        return look.trace(rows, tokens=self.tokens, key_tokens=self.key_tokens)


def label(
    look: Lookup,
    *,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    title: str | None = None,
) -> Capture:
    """Name the queries and keys of `look`.

    Parameters
    ----------
    look : Lookup
        What to show.
    tokens : iterable of str, optional
        One text for each query; positions where left out.
    key_tokens : iterable of str, optional
        One text for each key; where left out, `tokens` if there are as many keys as queries,
        else positions.
    title : str, optional
        A few words; "a lookup" where left out.

    Raises
    ------
    DtypeError, ShapeError
        Where there are too many texts, too few, or something that is no text.
    """
    problem = look.problem
    names, key_names = label_axes(tokens, key_tokens, problem.q_len, problem.kv_len)
    return Capture(title or "a lookup", names, key_names, look)
