"""Calls: all attention calls of one layer in one run, joined when they are read."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.arrays import Array
from softlookup.errors import ShapeError
from softlookup.tokens import listed
from softlookup.watched.glance import (
    Glance,
    Piece,
    check_shape,
    count_keys,
    facts_of,
    join,
    piece_of,
)
from softlookup.watched.shares import Shares

if TYPE_CHECKING:
    from softlookup.lookup import Lookup

Likeness = tuple[int, tuple[int, ...], frozenset[str], bool, np.dtype[Any]]


class Calls:
    """The calls of one layer in one run.

    Parameters
    ----------
    path : str
        The layer's path in its model.
    number : int
        Its number.
    part : str
        Which stack it belongs to, as it was called while the model ran.
    first : Glance
        Its first call, which says what heads there are.
    """

    def __init__(self, path: str, number: int, part: str, first: Glance) -> None:
        self.path, self.number, self.part = path, number, part
        self.run, self.heads, self.kv_heads = first.run, first.heads, first.kv_heads
        self.looks: list[tuple[int, int, Lookup]] = []
        self._causal = True
        self._shares: Shares | None = None  # of all calls; None where one does not say
        self._pieces: list[Piece] = []
        self._sums: Sums | None = None  # from the second call on
        self._like = _likeness(first)
        self._waiting: list[Glance] = []  # their arrays lie elsewhere
        self._lock = threading.RLock()  # it may be read while the model works
        self._take(first)

    def add(self, glance: Glance) -> None:
        """Take in one more call; nothing is joined yet.

        Raises
        ------
        ShapeError
            Where it has other heads or another batch than the calls before it.
        """
        like = _likeness(glance)
        if like != self._like:
            raise ShapeError(
                "glance", f"must be like the calls of {listed(self.path)} before it, "
                f"{_described(self._like)}; got {_described(like)}. Number the runs apart."
            )  # fmt: skip
        self._take(glance)

    def _take(self, glance: Glance) -> None:
        if glance.look is not None:
            self.looks.append((glance.start, glance.key_start, glance.look))
        with self._lock:
            self._waiting.append(glance._replace(look=None, keys=count_keys(glance)))
        if not glance.elsewhere:
            self._read()

    def _read(self) -> None:
        """Take in what waits, now that it is asked for, or lies here."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            for glance in waiting:
                self._read_one(glance.brought() if glance.elsewhere else glance)

    def _read_one(self, glance: Glance) -> None:
        piece, before, shares = piece_of(glance), self._shares, glance.shares
        if shares is not None and not isinstance(shares, Shares):
            raise TypeError("what is read lies in memory")
        self._causal = self._causal and bool(glance.causal)
        if not self._pieces:
            self._pieces, self._shares = [piece], shares
            return
        self._shares = None if before is None or shares is None else before.and_(shares)
        if self._sums is None:
            self._sums = Sums(self._pieces[0])
            self._pieces[0] = replace(self._pieces[0], received=None, padding=None)
        self._sums.add(piece)
        self._pieces.append(replace(piece, received=None, padding=None))

    @property
    def causal(self) -> bool:
        """Whether no row of any call sees a key after its own position."""
        self._read()
        return self._causal

    @property
    def shares(self) -> Shares | None:
        """What the first and the previous token get, over all calls; None where one is silent."""
        self._read()
        return self._shares

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its facts."""
        return self._like[-1]

    def joined(self) -> Piece:
        """Return all calls as one; what they were joined from is let go."""
        with self._lock:
            self._read()
            if len(self._pieces) > 1:
                self._pieces[:] = [join(self._pieces)]
            whole = self._pieces[0]
            return whole if self._sums is None else self._sums.of(whole)


class Sums:
    """What is known of keys, over all calls so far; those of each call would grow as their square.

    Parameters
    ----------
    first : Piece
        The first call.
    """

    def __init__(self, first: Piece) -> None:
        self._first, self._stop = first.first_key, first.first_key
        self._received: Array | None = None
        self._padding: Array | None = None
        self.add(first)

    def add(self, piece: Piece) -> None:
        """Add what one more call showed."""
        stop = piece.first_key + piece.key_count
        low, high = min(self._first, piece.first_key), max(self._stop, stop)
        at = slice(piece.first_key - low, stop - low)
        if piece.received is not None:
            total = self._wider(self._received, piece.received, low, high, np.float64)
            total[..., at] += piece.received
            self._received = total
        if piece.padding is not None:
            marked = self._wider(self._padding, piece.padding, low, high, np.bool_)
            marked[..., at] |= piece.padding
            self._padding = marked
        self._first, self._stop = low, high

    def _wider(self, known: Array | None, like: Array, low: int, high: int, dtype: Any) -> Array:
        """Return `known` with room for keys from `low` to `high`; it doubles, as steps are many."""
        before, there = self._first - low, self._stop - self._first
        if known is not None and not before and known.shape[-1] >= high - low:
            return known
        twice = 0 if known is None else 2 * known.shape[-1]
        room: Array = np.zeros((*like.shape[:-1], max(high - low, twice)), dtype)
        if known is not None:
            room[..., before : before + there] = known[..., :there]
        return room

    def of(self, whole: Piece) -> Piece:
        """Return all calls as one, with what is known of its keys."""
        count = self._stop - self._first
        received = None if self._received is None else self._received[..., :count].copy()
        padding = None if self._padding is None else self._padding[..., :count].copy()
        return replace(whole, received=received, padding=padding)


def _likeness(glance: Glance) -> Likeness:
    """Return what all calls of a layer have in common: batch, heads, facts and their dtype.

    Raises
    ------
    ShapeError
        Where its facts are not over (batch, heads, rows).
    """
    check_shape(glance)
    facts, received = facts_of(glance.found)
    lse = facts["lse"]
    return int(lse.shape[0]), glance.heads, frozenset(facts), received is not None, lse.dtype


def _described(like: Likeness) -> str:
    batch, heads, facts, received, dtype = like
    names = ", ".join(sorted(facts | ({"received"} if received else set())))
    return f"{batch} batch entries, heads {list(heads)}, {names} in {dtype}"
