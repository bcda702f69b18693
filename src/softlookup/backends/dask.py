"""The lookup over dask arrays: pieces by the core, merged in the order of their keys.

Nothing is computed here: the answer is a dask array, whose tasks run where the user's scheduler
runs them. One task sees one chunk of queries and one of keys. Each row's parts are merged from the
first key to the last, whoever computed them, so that the bits depend on the chunks alone.

What needs the final sums of a row, `received` and single weights, is a second stage: the same
pieces again, given what makes scores into weights; no keys travel but to their own tasks.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import DASK, Array, IntArray
from softlookup.backends.graphs import Graph
from softlookup.errors import BackendError
from softlookup.facts import NO_FACTS, Facts, Findings
from softlookup.gradients import Gradients, Residuals
from softlookup.partials import RowFacts
from softlookup.pooling import BAND, Normaliser, Pooled, empty_bands
from softlookup.problem import Problem

NAME = "dask"
_MOST_KEYS = 2**31 - 64  # the core's lists of best keys hold positions as int32


@cache
def missing() -> str | None:
    """Return why this backend cannot run on this machine, as a sentence, or None."""
    if find_spec("dask") is None:
        return 'It needs dask, which is not installed: pip install "softlookup[dask]".'
    return None


def unsupported(problem: Problem, facts: Facts) -> str | None:
    """Return why this backend cannot take `problem`, as a sentence, or None."""
    if problem.place != DASK:
        return "It reads dask arrays: dask.array.from_array(...) makes one of an array."
    if facts.top and problem.kv_len > _MOST_KEYS:
        return f"It finds best keys among up to {_MOST_KEYS:,}; here are {problem.kv_len:,}."
    return None


def offers(problem: Problem, *, alone: bool) -> bool:  # noqa: ARG001 (the common signature)
    """Return whether ``"auto"`` may take this backend for what it can compute: always."""
    return True


def forward(problem: Problem, facts: Facts) -> Findings:
    """Return out, lse and the facts asked for, as dask arrays."""
    graph = Graph(problem, facts, "attend")
    ends = {at: graph.end(at, None) for at in graph.cut.row_blocks()}
    sums, counts = graph.received(ends) if facts.received else (None, None)
    asked = _widths(problem, facts)
    found = {name: graph.rows(ends, name, *about) for name, about in asked.items()}
    out, lse = found.pop("out"), found.pop("lse")
    return Findings(out, lse, RowFacts(**found), sums, counts)


def weights(problem: Problem, rows: IntArray, keys: IntArray) -> Any:
    """Return the weights of a rectangle, (batch, heads, len(rows), len(keys)), as a dask array."""
    import dask.array  # noqa: PLC0415 (whoever holds dask arrays has it)

    graph = Graph(replace(problem, value=None), NO_FACTS, "weights", rows, keys)
    spans = graph.cut.spans
    some_rows, some_keys = _chosen(rows, spans[2]), _chosen(keys, spans[3])
    if not (rows.size and keys.size):
        shape = (problem.batch, problem.heads, len(rows), len(keys))
        return dask.array.zeros(shape, dtype=problem.compute_dtype)
    name, chunks = f"softlookup-weights-{graph.token}", (graph.cut.batch, graph.cut.heads)
    for b, h in product(*(range(len(each)) for each in chunks)):
        for i, (q, own) in enumerate(some_rows.local.items()):
            known = graph.known(graph.end((b, h, q), own))
            for j, (k, these) in enumerate(some_keys.local.items()):
                graph.weigh((name, b, h, i, j), (b, h, q, k), own, these, known)
    sizes = (*chunks, some_rows.sizes, some_keys.sizes)
    found = graph.array(name, {}, sizes, problem.compute_dtype)
    for axis, chosen in ((2, some_rows), (3, some_keys)):
        if chosen.back is not None:
            found = dask.array.take(found, chosen.back, axis=axis)
    return found


def pooled(problem: Problem, bands: IntArray) -> Pooled:
    """Return whole bands of one head's rows, pooled; computed at once, where dask computes."""
    graph = Graph(replace(problem, value=None), Facts(entropy=True), "pooled", bands)
    graph.check_blocks()
    found = empty_bands(len(bands), problem.kv_len, problem.compute_dtype)
    names: list[Any] = []
    fill: list[Callable[[Any], None]] = []
    for q, span in enumerate(graph.cut.spans[2]):
        within = np.flatnonzero((bands * BAND >= span.start) & (bands * BAND < span.stop))
        for at in _neighbours(bands, within):
            first = int(bands[at[0]]) * BAND - span.start
            own = np.arange(first, min(first + len(at) * BAND, span.stop - span.start))
            end = graph.end((0, 0, q), own)
            names.append(end)
            fill.append(_filling_rows(found, at, len(own)))
            known = graph.known(end)
            for k in graph.cut.seen(0, q):
                keys = graph.cut.spans[3][k]
                ends = (first, first + len(own), 0, keys.stop - keys.start, BAND)
                names.append(graph.cells((0, 0, q, k), ends, known))
                fill.append(_filling_blocks(found, at, keys))
    for put, part in zip(fill, graph.computed(names), strict=True):
        put(part)
    return found


def cells(
    problem: Problem, rows: slice, keys: slice, size: int, normaliser: Normaliser
) -> tuple[Array, Array]:
    """Return the largest weight and the sum of each block of one head's rectangle, computed."""
    given = (rows.start, rows.stop, keys.start, keys.stop, size)
    graph = Graph(replace(problem, value=None), NO_FACTS, "cells", *given)
    graph.check_blocks()
    shape = [-(-(each.stop - each.start) // size) for each in (rows, keys)]
    most, total = np.zeros((2, *shape), problem.compute_dtype)
    names, places = [], []
    for q, k in product(*(range(len(each)) for each in graph.cut.spans[2:])):
        some, here = graph.cut.spans[2][q], graph.cut.spans[3][k]
        r, c = _common(rows, some), _common(keys, here)
        if r.start >= r.stop or c.start >= c.stop or k not in graph.cut.seen(0, q):
            continue
        own = Normaliser(*(
            np.ascontiguousarray(x[r.start - rows.start : r.stop - rows.start])[None, None]
            for x in normaliser
        ))  # fmt: skip
        ends = (*(x - some.start for x in (r.start, r.stop)),
                *(x - here.start for x in (c.start, c.stop)), size)  # fmt: skip
        names.append(graph.cells((0, 0, q, k), ends, own))
        places.append(tuple(
            slice((x.start - whole.start) // size, -(-(x.stop - whole.start) // size))
            for x, whole in ((r, rows), (c, keys))
        ))  # fmt: skip
    for at, (best, sums) in zip(places, graph.computed(names), strict=True):
        most[at], total[at] = best, sums
    return most, total


def residuals(problem: Problem) -> Residuals:  # noqa: ARG001 (the common signature)
    """Refuse: gradients are not computed over chunks.

    Raises
    ------
    BackendError
        Always.
    """
    raise BackendError(
        "backend",
        "dask: gradients are of arrays in memory. Pass .compute() of the arrays, or of a part of "
        "the batch or the heads at a time.",
    )


def backward(
    problem: Problem,
    kept: Residuals,
    out_grad: Array,
    lse_grad: Array | None,
    *,
    bias: bool,
) -> Gradients:
    """Refuse, as `residuals` does."""
    raise NotImplementedError


class _Chosen(NamedTuple):
    """What is chosen of an axis, chunk by chunk.

    Attributes
    ----------
    local : dict
        Of each chunk that holds any, which of its positions.
    sizes : tuple of int
        How many.
    back : ndarray or None
        How to put them back into the order in which they were chosen; None where they stand so.
    """

    local: dict[int, IntArray]
    sizes: tuple[int, ...]
    back: IntArray | None


def _chosen(positions: IntArray, spans: Sequence[slice]) -> _Chosen:
    starts = np.array([span.start for span in spans])
    chunk = np.searchsorted(starts, positions, side="right") - 1
    order = np.argsort(chunk, kind="stable")
    local = {int(n): positions[order[chunk[order] == n]] - starts[n] for n in np.unique(chunk)}
    back = None if (order == np.arange(len(order))).all() else np.argsort(order, kind="stable")
    return _Chosen(local, tuple(len(some) for some in local.values()), back)


def _neighbours(bands: IntArray, at: IntArray) -> list[IntArray]:
    """Return the places `at` in runs of bands that follow one another."""
    apart = np.flatnonzero(np.diff(bands[at]) != 1) + 1
    return [run for run in np.split(at, apart) if run.size]


def _common(a: slice, b: slice) -> slice:
    return slice(max(a.start, b.start), min(a.stop, b.stop))


def _widths(problem: Problem, facts: Facts) -> dict[str, tuple[int | None, Any]]:
    """Return the last axis and the dtype of every answer that is asked for."""
    wide = problem.compute_dtype
    asked: dict[str, tuple[int | None, Any]] = {
        "out": (problem.value_dim, problem.dtype),
        "lse": (None, wide),
    }
    for name in ("entropy", "sink", "max_score"):
        if getattr(facts, name):
            asked[name] = (None, wide)
    if facts.top:
        asked |= {"top_keys": (facts.top, np.int64), "top_weights": (facts.top, wide)}
    if facts.labels is not None:
        asked["groups"] = (facts.groups, wide)
    if facts.bins is not None:
        asked["distance"] = (facts.bins, wide)
    return asked


def _filling_rows(found: Pooled, at: IntArray, count: int) -> Callable[[Any], None]:
    rows = slice(int(at[0]) * BAND, int(at[0]) * BAND + count)

    def fill(ended: tuple[Findings, Normaliser]) -> None:
        findings, normaliser = ended
        entropy: Any = findings.rows.entropy
        for room, numbers in zip(
            (*found.normaliser, found.lse, found.entropy),
            (*normaliser, findings.lse, entropy),
            strict=True,
        ):
            room[rows] = numbers[0, 0]

    return fill


def _filling_blocks(found: Pooled, at: IntArray, keys: slice) -> Callable[[Any], None]:
    to = slice(int(at[0]), int(at[-1]) + 1), slice(keys.start // BAND, -(-keys.stop // BAND))

    def fill(cells: tuple[Array, Array]) -> None:
        found.max[to], found.total[to] = cells

    return fill
