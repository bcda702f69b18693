"""Glance: what one attention call showed; Piece: the same over the rows of several calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.errors import ShapeError
from softlookup.inspection import Inspection, Top
from softlookup.lookup import Lookup
from softlookup.watched.repeats import Part
from softlookup.watched.rules import rule_of
from softlookup.watched.shares import Shares

PER_ROW = ("lse", "entropy", "sink", "max_score", "top_keys", "top_weights", "groups", "distance")
_RAGGED = ("groups", "distance")  # a later step may know more labels, and longer distances
_NO_KEY = -1


class Elsewhere(Protocol):
    """An array that is brought into memory when it is asked for."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def in_memory(self) -> Array:
        """Return it in memory; may wait for what makes it."""


class Glance(NamedTuple):
    """What one attention call showed; some rows of one layer.

    Attributes
    ----------
    heads : tuple of int
        The query heads that were looked at, in the order of the arrays.
    kv_heads : tuple of int
        The kv head that each of them reads.
    run : int
        Which run, from 0.
    start, key_start : int
        Token positions of its first row and of its first key.
    found : Inspection
        Over (batch, heads, rows, ...), `received` over (batch, heads, keys). All of its arrays, and
        `causal` and `shares` with them, may lie elsewhere: they are read when they are asked for.
    look : Lookup, optional
        The call itself: its rows and all its keys.
    padding, row_padding : ndarray of bool of shape (batch, keys) and (batch, rows), optional
        Which of its keys, and of its rows, stand at padding; None where none is known.
    causal : bool
        Whether no row sees a key after its own position.
    window : (left, right), optional
        How far its rows see to each side, as `Lookup` takes it; open where left out.
    from_rows : ndarray of bool of shape (rows,) or (batch, rows), optional
        The rows that count in `received`; all where left out.
    keys : int, optional
        How many keys it had; needed where neither `received` nor `padding` nor `look` says so.
    shares : Shares, optional
        What the first and the previous token get of its rows; `shares_of` works it out. Elsewhere
        it is an array (4 or 8, heads): how many rows, what the first gets; then the rows and the
        total of each part, `previous`, `induction` and `duplicate`. NaN is what is not known.
    spans : ndarray of int64 of shape (2, rows), optional
        Token positions of the first key that rules let each row see, and of the one after the last;
        what `causal` and `window` say where left out.
    """

    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    run: int
    start: int
    key_start: int
    found: Inspection
    look: Lookup | None = None
    padding: BoolArray | None = None
    row_padding: BoolArray | None = None
    causal: bool | Elsewhere = True
    window: tuple[int | None, int | None] | None = None
    from_rows: BoolArray | None = None
    keys: int | None = None
    shares: Shares | Elsewhere | None = None
    spans: IntArray | None = None

    @property
    def elsewhere(self) -> bool:
        """Whether its arrays have to be brought."""
        return hasattr(self.found.lse, "in_memory")

    def brought(self) -> "Glance":
        """Return it with all its arrays in memory."""
        found = self.found
        held = {name: _here(fact) for name, fact in vars(found).items() if name != "top"}
        top = None if found.top is None else Top(*map(_here, found.top))
        shares = _here(self.shares)
        return self._replace(
            found=replace(found, **held, top=top),
            causal=bool(_here(self.causal)),
            shares=_shares(shares) if isinstance(shares, np.ndarray) else shares,
        )


def _here(thing: Any) -> Any:
    """Return an array in memory; what is none as it is."""
    return thing.in_memory() if hasattr(thing, "in_memory") else thing


def _shares(numbers: Array) -> Shares:
    """Return what an array says, as `Glance.shares` describes it."""
    (rows, first), pairs = numbers[:2].tolist(), numbers[2:].reshape(-1, 2, numbers.shape[1])
    parts = [
        None
        if np.isnan(some).any()
        else Part(tuple(some.astype(int).tolist()), tuple(got.tolist()))
        for some, got in pairs
    ]
    return Shares(tuple(map(int, rows)), tuple(first), *parts)


@dataclass(frozen=True, eq=False)
class Piece:
    """The facts of some rows over some keys, by token position.

    Attributes
    ----------
    queries : ndarray of int64 of shape (rows,)
        Token positions of the rows.
    first_key, key_count : int
        Token position of the first key; how many keys follow each other from there.
    spans : ndarray of int64 of shape (2, rows)
        Token positions of the first key that rules let each row see, and of the one after the last.
    facts : dict of str to ndarray
        Those of `PER_ROW` that were looked at, (batch, heads, rows, ...).
    received : ndarray of shape (batch, heads, keys) or None
        Summed over the rows.
    padding : ndarray of bool of shape (batch, keys) or None
        Which keys are padding.
    row_padding : ndarray of bool of shape (batch, rows)
        Which rows stand at padding.
    counted : ndarray of bool of shape (batch, rows)
        Which rows count in `received`.
    """

    queries: IntArray
    first_key: int
    key_count: int
    spans: IntArray
    facts: dict[str, Array]
    received: Array | None
    padding: BoolArray | None
    row_padding: BoolArray
    counted: BoolArray

    @property
    def keys(self) -> IntArray:
        """Token positions of the keys."""
        return np.arange(self.first_key, self.first_key + self.key_count)


def piece_of(glance: Glance) -> Piece:
    """Return what a glance showed, its keys named by token position; arrays are shared.

    Raises
    ------
    ShapeError
        As `check_shape`.
    """
    check_shape(glance)
    facts, received = facts_of(glance.found)
    batch, _, rows = facts["lse"].shape
    if "top_keys" in facts and glance.key_start:
        keys = facts["top_keys"]
        facts["top_keys"] = np.where(keys < 0, _NO_KEY, keys + glance.key_start)
    queries, count = np.arange(glance.start, glance.start + rows), count_keys(glance)
    spans = glance.spans
    if spans is None:
        rule = rule_of(glance.window, bool(glance.causal))
        spans = np.stack(rule.spans(queries, glance.key_start, glance.key_start + count))
    return Piece(
        queries,
        glance.key_start,
        count,
        spans,
        facts,
        received,
        None if glance.padding is None else np.array(glance.padding, bool),
        _spread(glance.row_padding, False, (batch, rows)),
        _spread(glance.from_rows, True, (batch, rows)),
    )


def check_shape(glance: Glance) -> None:
    """Refuse facts that are not over (batch, heads, rows).

    Raises
    ------
    ShapeError
        With their shape.
    """
    shape = tuple(glance.found.lse.shape)
    if len(shape) != 3 or not shape[1] == len(glance.heads) == len(glance.kv_heads):
        raise ShapeError(
            "found", f"must be over (batch, {len(glance.heads)} heads, rows); got {shape}. "
            "Look at arrays of four axes."
        )  # fmt: skip


def _spread(given: BoolArray | None, default: bool, shape: tuple[int, int]) -> BoolArray:
    return np.array(np.broadcast_to(default if given is None else given, shape), bool)


def facts_of(found: Inspection) -> tuple[dict[str, Any], Any]:
    """Return the facts of rows that are there, by name, and what keys receive, where they lie."""
    top = found.top
    given: dict[str, Any] = {
        name: getattr(found, name, None) for name in PER_ROW if not name.startswith("top_")
    }
    given |= {} if top is None else {"top_keys": top.keys, "top_weights": top.weights}
    return (
        {name: _as_array(given[name]) for name in PER_ROW if given.get(name) is not None},
        None if found.received is None else _as_array(found.received),
    )


def _as_array(fact: Any) -> Any:
    return fact if hasattr(fact, "in_memory") else np.asarray(fact)


def count_keys(glance: Glance) -> int:
    """Return how many keys a call had, from whatever says so; else up to its last row."""
    if glance.keys is not None:
        return glance.keys
    if glance.look is not None:
        return glance.look.problem.kv_len
    for known in (glance.found.received, glance.padding):
        if known is not None:
            return int(known.shape[-1])
    return max(glance.start + int(glance.found.lse.shape[2]) - glance.key_start, 0)


def join(pieces: Sequence[Piece]) -> Piece:
    """Return pieces of one layer as one, row after row; what is known of keys is summed apart."""
    if len(pieces) == 1:
        return pieces[0]
    first = min(piece.first_key for piece in pieces)
    return Piece(
        np.concatenate([piece.queries for piece in pieces]),
        first,
        max(piece.first_key + piece.key_count for piece in pieces) - first,
        np.concatenate([piece.spans for piece in pieces], axis=1),
        {name: _rows_of(name, pieces) for name in pieces[0].facts},
        None,
        None,
        np.concatenate([piece.row_padding for piece in pieces], axis=1),
        np.concatenate([piece.counted for piece in pieces], axis=1),
    )


def _rows_of(name: str, pieces: Sequence[Piece]) -> Array:
    """Return one fact over the rows of all pieces; bins that a piece lacks are 0."""
    parts = [piece.facts[name] for piece in pieces]
    if name in _RAGGED:
        width = max(part.shape[-1] for part in parts)
        parts = [
            part if part.shape[-1] == width
            else np.pad(part, [(0, 0)] * 3 + [(0, width - part.shape[-1])])
            for part in parts
        ]  # fmt: skip
    return np.concatenate(parts, axis=2)
