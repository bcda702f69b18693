"""Block: the numbers of some lines, one row for each text and head; plain arrays and texts."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, IntArray
from softlookup.watched import LayerSeen, measures

MEASURES = ("entropy", "first", "previous", "induction", "duplicate")
LISTS = ("distance", "groups", "top_keys", "top_shares")
OF_REPEATS = frozenset({"induction", "duplicate"})  # means over `Block.repeats`, not `rows`


class Ragged(NamedTuple):
    """Lists of numbers, one after another.

    Attributes
    ----------
    values : ndarray
        Of all lists.
    counts : ndarray of int
        Of each list; -1 where there is none.
    """

    values: Array
    counts: IntArray


class Block(NamedTuple):
    """What some lines came to.

    Attributes
    ----------
    lines, tokens : ndarray of int of shape (texts,)
        Of each text its line, and how many tokens it has.
    ids : tuple of str or None
        What each text calls itself.
    text, layer, head, rows, repeats : ndarray of int of shape (rows,)
        Of each row which text it is of, the layer's number, the head's, how many queries saw
        several keys, and how many saw a token after an earlier occurrence of their own.
    part : tuple of str
        Of each row.
    measures : dict of str to ndarray of shape (rows,)
        Those of `MEASURES`; NaN where there is none.
    lists : dict of str to Ragged
        Those of `LISTS`.
    top_tokens : tuple of str
        The texts at the keys of ``lists["top_keys"]``.
    skipped : tuple of (int, str)
        Lines that were skipped, and why.
    """

    lines: IntArray
    tokens: IntArray
    ids: tuple[str | None, ...]
    text: IntArray
    layer: IntArray
    head: IntArray
    rows: IntArray
    repeats: IntArray
    part: tuple[str, ...]
    measures: dict[str, Array]
    lists: dict[str, Ragged]
    top_tokens: tuple[str, ...]
    skipped: tuple[tuple[int, str], ...]


class Rows(NamedTuple):
    """What the heads of one layer did with one text; the fields are those of `Block`."""

    part: str
    layer: int
    heads: tuple[int, ...]
    rows: IntArray
    repeats: IntArray
    measures: dict[str, Array]
    lists: dict[str, Ragged]
    top_tokens: tuple[str, ...]


def rows_of(layer: LayerSeen, top: int) -> Rows:
    """Return what the heads of a layer did with one text."""
    live, none = measures.live_rows(layer), measures.Mean(*np.zeros((2, len(layer.heads))))
    means = {
        "entropy": measures.mean_over_rows(layer.entropy, live),
        "first": measures.first_share(layer) or none,
        "previous": measures.previous_share(layer) or none,
        "induction": measures.induction_share(layer) or none,
        "duplicate": measures.duplicate_share(layer) or none,
    }
    keys, shares, texts = _top(layer, top)
    lists = {
        "distance": _profile(layer, "distance"),
        "groups": _profile(layer, "groups"),
        "top_keys": keys,
        "top_shares": shares,
    }
    return Rows(
        layer.part,
        layer.number,
        layer.heads,
        np.asarray(means["first"].rows, np.int32),
        np.asarray(means["induction"].rows, np.int32),
        {name: mean.value.astype(np.float32) for name, mean in means.items()},
        lists,
        texts,
    )


def _profile(layer: LayerSeen, name: str) -> Ragged:
    """Return each head's mean share of each bin or label over the rows that see a key."""
    if name not in layer.asked:
        return Ragged(np.zeros(0, np.float32), np.full(len(layer.heads), -1))
    fact, live = getattr(layer, name)[0], measures.live_rows(layer)[0]  # (heads, rows, bins)
    total = np.where(live[..., None], fact, 0).sum(axis=1, dtype=np.float64)
    mean = measures.Mean(total, live.sum(axis=1)[:, None]).value
    return Ragged(mean.astype(np.float32).ravel(), np.full(len(mean), mean.shape[1]))


def _top(layer: LayerSeen, top: int) -> tuple[Ragged, Ragged, tuple[str, ...]]:
    """Return the keys that received most of each head, their mean weights, and their texts."""
    got = np.where(layer.key_padding[0], -1, layer.received[0])  # (heads, keys)
    order = np.argsort(-got, axis=1, kind="stable")[:, :top]
    each = np.arange(len(got))[:, None]
    readers = measures.readers(layer, layer.keys)[0]
    shares = measures.Mean(layer.received[0][each, order].astype(np.float64), readers[each, order])
    counts = np.full(len(order), order.shape[1])
    texts = layer.key_tokens() or ("",) * len(layer.keys)
    return (
        Ragged(layer.keys[order].astype(np.int32).ravel(), counts),
        Ragged(shares.value.astype(np.float32).ravel(), counts),
        tuple(texts[at] for at in order.ravel().tolist()),
    )


class Told(NamedTuple):
    """One text: its line, what it calls itself, its tokens, what each layer did."""

    line: int
    id: str | None
    tokens: int
    layers: tuple[Rows, ...]


def block_of(told: Sequence[Told], skipped: Iterable[tuple[int, str]]) -> Block:
    """Return all texts together."""
    every = [(i, rows) for i, one in enumerate(told) for rows in one.layers]
    sizes = [len(rows.heads) for _, rows in every]
    return Block(
        np.array([one.line for one in told], np.int64),
        np.array([one.tokens for one in told], np.int32),
        tuple(one.id for one in told),
        np.repeat(np.array([i for i, _ in every], np.int32), sizes),
        np.repeat(np.array([rows.layer for _, rows in every], np.int32), sizes),
        _joined([np.array(rows.heads, np.int32) for _, rows in every], np.int32),
        _joined([rows.rows for _, rows in every], np.int32),
        _joined([rows.repeats for _, rows in every], np.int32),
        tuple(rows.part for _, rows in every for _ in rows.heads),
        {
            name: _joined([rows.measures[name] for _, rows in every], np.float32)
            for name in MEASURES
        },
        {
            name: Ragged(
                _joined(
                    [rows.lists[name].values for _, rows in every],
                    np.int32 if name == "top_keys" else np.float32,
                ),
                _joined([rows.lists[name].counts for _, rows in every], np.int64),
            )
            for name in LISTS
        },
        tuple(text for _, rows in every for text in rows.top_tokens),
        tuple(skipped),
    )


def _joined(parts: Sequence[Array], dtype: type) -> Array:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)
