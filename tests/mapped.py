"""What a weight map must hold, from dense weights: cells of any size, as plain reductions."""

from typing import NamedTuple

import numpy as np

from budget import assert_within_budget, loudest
from oracle import Expected


class Cells(NamedTuple):
    max: np.ndarray
    total: np.ndarray
    share: np.ndarray
    seen: np.ndarray


def cells(weights, visible, size):
    """Return every `size` x `size` cell of one head's weights (q_len, kv_len)."""
    q_len = len(weights)
    rows, columns = (-(-length // size) for length in weights.shape)
    room = [(0, n * size - m) for n, m in zip((rows, columns), weights.shape, strict=True)]
    weights, visible = (
        np.pad(part, room).reshape(rows, size, columns, size) for part in (weights, visible)
    )
    total = weights.sum((1, 3))
    queries = np.minimum(q_len - np.arange(rows) * size, size)
    return Cells(weights.max((1, 3)), total, total / queries[:, None], visible.any((1, 3)))


def head_of(found, index):
    """Return one head of what the oracle found; `index` is () where it is plain."""
    return Expected(*(part[index] for part in found))


def assert_cells(actual, exact, narrow, size, names=("max", "total")):
    """Assert that pooled numbers are those of the exact weights; `narrow` is naive beside them."""
    want = cells(exact.weights, exact.visible, size)
    naive = cells(narrow.weights, narrow.visible, size)
    for name, numbers in zip(names, actual, strict=True):
        right, close = getattr(want, name), getattr(naive, name)
        loud = loudest(exact) * max(1, np.nanmax(right, initial=0))
        assert_within_budget(numbers, right, close, f"{name} of {size} x {size}", loud)


def assert_tile(tile, exact, narrow, size, at=np.s_[:]):
    """Assert that a tile holds the exact cells (`at` of all), flags included."""
    want = cells(exact.weights, exact.visible, size)
    naive = cells(narrow.weights, narrow.visible, size)
    for name in ("max", "share"):
        numbers, right, close = (
            getattr(tile, name),
            getattr(want, name)[at],
            getattr(naive, name)[at],
        )
        if numbers is not None:
            assert numbers.dtype == np.float32
            close = close.astype(np.float32)  # a map is, whatever its lookup
            assert_within_budget(numbers, right, close, f"{name} at {size}", loudest(exact))
            assert not numbers[~want.seen[at]].any()
    seen = np.ones_like(want.seen[at]) if tile.seen is None else tile.seen
    np.testing.assert_array_equal(seen, want.seen[at], f"seen at {size}")
