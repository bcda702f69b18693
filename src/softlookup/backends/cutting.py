"""How the chunks of a lookup's dask arrays are brought together, and what a piece of it reads.

The chunks of query, key, value, mask and bias are cut where any of them ends, so that a piece needs
one of each; none is made larger, but for the head dimension, and for queries whose heads end within
a group. Pieces in which no query may see a key have no tasks.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, IntArray
from softlookup.backends.pieces import STATE_KEYS, left_of, moved
from softlookup.backends.shards import Options, Place
from softlookup.facts import Facts
from softlookup.options import Overlay
from softlookup.problem import Problem

Sizes = tuple[int, ...]
_start, _stop = attrgetter("start"), attrgetter("stop")  # of a slice


class Laid(NamedTuple):
    """A mask or a bias as a dask array that is cut as the lookup is.

    Attributes
    ----------
    array : dask.array.Array of shape (entries, heads or 1, q_len or 1, kv_len or 1)
    entry : ndarray of shape (batch,)
        Which entry each batch entry uses.
    own : bool
        Whether each uses its own, so that entries are cut as the batch is.
    """

    array: Any
    entry: IntArray
    own: bool

    def chunk(self, at: tuple[int, int, int, int]) -> Sizes:
        """Return the index of the chunk that lies over a piece."""
        axes = (self.own, *(size != 1 for size in self.array.shape[1:]))
        return tuple(i if cut else 0 for i, cut in zip(at, axes, strict=True))

    def shape(self, at: tuple[int, int, int, int]) -> Sizes:
        """Return what that chunk must hold."""
        chunks = self.array.chunks
        return tuple(sizes[i] for sizes, i in zip(chunks, self.chunk(at), strict=True))


@dataclass(frozen=True, eq=False)
class Cut:
    """A lookup whose arrays are cut alike.

    Attributes
    ----------
    problem : Problem
        Its arrays are the dask arrays, cut.
    batch, heads, kv_heads, rows, keys : tuple of int
        The sizes of the chunks along each axis.
    mask, bias : Laid or None
    """

    problem: Problem
    batch: Sizes
    heads: Sizes
    kv_heads: Sizes
    rows: Sizes
    keys: Sizes
    mask: Laid | None
    bias: Laid | None

    @cached_property
    def spans(self) -> tuple[tuple[slice, ...], ...]:
        """The slices of the chunks along the batch, the heads, the rows and the keys."""
        return tuple(
            tuple(_slices(each)) for each in (self.batch, self.heads, self.rows, self.keys)
        )

    @property
    def options(self) -> Options:
        """What all pieces share."""
        p = self.problem
        return Options(self.apart, p.dtype, p.causal, p.window, p.scale, p.softcap)

    @cached_property
    def apart(self) -> bool:
        """Whether chunks of keys begin where the core begins a state of its own."""
        return not any(keys.start % STATE_KEYS for keys in self.spans[3])

    def row_blocks(self) -> Iterator[tuple[int, int, int]]:
        """Yield which chunk of the batch, the heads and the rows."""
        return product(range(len(self.batch)), range(len(self.heads)), range(len(self.rows)))

    def seen(self, batch: int, rows: int) -> range:
        """Return the chunks of keys that some of these rows may see: neighbours, if any."""
        p, keys = self.problem, self.spans[3]
        entries, some = self.spans[0][batch], self.spans[2][rows]
        if not p.kv_len or some.stop == some.start or entries.stop == entries.start:
            return range(0)
        begin, end = 0, len(keys)
        if p.kv_lens is not None:
            end = bisect_left(keys, p.kv_lens[entries].max(), key=_start)
        if p.q_offset is None:
            return range(end)
        left, right = p.window or (None, None)
        right = 0 if p.causal else right
        first = int(p.q_offset[entries].min()) + some.start
        last = int(p.q_offset[entries].max()) + some.stop - 1
        if right is not None:
            end = min(end, bisect_right(keys, last + right, key=_start))
        if left is not None:
            begin = bisect_right(keys, first - left, key=_stop)
        return range(begin, end)

    def place(self, at: tuple[int, int, int, int], rows: IntArray | None = None) -> Place:
        """Return what a piece needs to know of itself."""
        p, (batch, heads, some, keys) = self.problem, at
        entries, row_span, key_span = (
            self.spans[axis][i] for axis, i in ((0, batch), (2, some), (3, keys))
        )
        offset = None if p.q_offset is None else p.q_offset[entries]
        lens = None if p.kv_lens is None else p.kv_lens[entries]
        kv = self.batch[batch], self.kv_heads[heads], self.keys[keys]
        shapes: dict[str, Sizes] = {
            "query": (self.batch[batch], self.heads[heads], self.rows[some], p.head_dim),
            "key": (*kv, p.head_dim),
            "value": (*kv, p.value_dim),
        }
        for name, laid in (("mask", self.mask), ("bias", self.bias)):
            if laid is not None:
                shapes[name] = laid.shape(at)
        return Place(
            chunk=at,
            first_key=key_span.start,
            shapes=shapes,
            q_offset=moved(offset, row_span.start, key_span.start),
            kv_lens=left_of(lens, key_span),
            mask_entry=_entry(self.mask, entries),
            bias_entry=_entry(self.bias, entries),
            rows=rows,
        )

    def facts(self, facts: Facts, batch: int, keys: int | None) -> Facts:
        """Return what is asked of a piece; of no key where `keys` is None."""
        labels = facts.labels
        if labels is not None:
            entries = self.spans[0][batch] if len(labels) > 1 else slice(None)
            span = slice(0, 0) if keys is None else self.spans[3][keys]
            labels = labels[entries, span]
        return facts._replace(
            labels=labels,
            kinds=facts.groups,
            received=False,
            normalised=False,
            from_rows=None,
        )


def cut(problem: Problem) -> Cut:
    """Return the lookup with all its arrays cut alike."""
    query: Any = problem.query
    key: Any = problem.key
    value: Any = problem.value
    given = [key] if value is None else [key, value]
    batch = _merged(each.chunks[0] for each in (query, *given))
    group = max(problem.group, 1)
    kv_ends = {end for each in given for end in _ends(each.chunks[1])}
    kv_ends |= {end // group for end in _ends(query.chunks[1]) if end % group == 0}
    kv_heads = _sizes(kv_ends)
    heads = tuple(size * group for size in kv_heads)
    rows, keys = _merged([query.chunks[2]]), _merged(each.chunks[2] for each in given)
    cuts = replace(
        problem,
        query=query.rechunk((batch, heads, rows, (problem.head_dim,))),
        key=key.rechunk((batch, kv_heads, keys, (problem.head_dim,))),
        value=None if value is None else value.rechunk((batch, kv_heads, keys, (value.shape[3],))),
    )
    axes = batch, heads, rows, keys
    mask, bias = _laid(problem.mask, axes), _laid(problem.bias, axes)
    return Cut(cuts, batch, heads, kv_heads, rows, keys, mask, bias)


def _laid(overlay: Overlay | None, axes: tuple[Sizes, ...]) -> Laid | None:
    if overlay is None:
        return None
    array, entries = overlay.array, overlay.array.shape[0]
    own = entries == len(overlay.entry) and bool((overlay.entry == np.arange(entries)).all())
    chunks = [axes[0] if own else (entries,)]
    chunks += [
        (1,) if size == 1 else axis for size, axis in zip(array.shape[1:], axes[1:], strict=True)
    ]
    if isinstance(array, np.ndarray):
        array = in_chunks(array, tuple(chunks))
    return Laid(array.rechunk(tuple(chunks)), overlay.entry, own)


def in_chunks(array: Array, chunks: tuple[Sizes, ...]) -> Any:
    """Return an array in memory as a dask array; each chunk travels alone."""
    import dask.array  # noqa: PLC0415 (whoever holds dask arrays has it)
    from dask.base import tokenize  # noqa: PLC0415

    name = f"softlookup-given-{tokenize(array, chunks)}"
    spans = [list(_slices(sizes)) for sizes in chunks]
    graph = {
        (name, *at): np.ascontiguousarray(
            array[tuple(s[i] for s, i in zip(spans, at, strict=True))]
        )
        for at in product(*(range(len(span)) for span in spans))
    }
    return dask.array.Array(graph, name, chunks, dtype=array.dtype)


def _entry(laid: Laid | None, entries: slice) -> IntArray | None:
    """Return which entry of a chunk each batch entry uses."""
    if laid is None:
        return None
    return np.arange(entries.stop - entries.start) if laid.own else laid.entry[entries]


def _ends(sizes: Iterable[int]) -> list[int]:
    return list(accumulate(sizes))


def _merged(some: Iterable[Sizes]) -> Sizes:
    return _sizes({end for sizes in some for end in _ends(sizes)})


def _sizes(ends: Iterable[int]) -> Sizes:
    """Return the sizes of chunks that end so; an axis of length 0 has one of size 0."""
    last, sizes = 0, []
    for end in sorted(ends):
        if end > last:
            sizes.append(end - last)
            last = end
    return tuple(sizes) or (0,)


def _slices(sizes: Iterable[int]) -> Iterator[slice]:
    start = 0
    for size in sizes:
        yield slice(start, start + size)
        start += size
