"""What a model's own eager weights say, as plain reductions in float64, and one comparison with it.

Weights may differ by a `bound`; what a fact may differ by follows from it, to first order: a sum of
n weights by n bounds, the entropy by ``sum |1 + ln w|`` of them. A best key may be another one only
where the eager weights of both lie within two bounds.
"""

from typing import NamedTuple

import numpy as np


class Eager(NamedTuple):
    """The eager weights of one layer, over a pass or all steps of a generation."""

    weights: np.ndarray  # float64 (batch, heads, rows, keys)
    counted: np.ndarray  # bool (batch, rows): a token's, and it sees a key
    bound: float

    @property
    def rows(self):
        """The rows that count, one after another: (rows, heads, keys)."""
        return self.weights.swapaxes(1, 2)[self.counted]

    def of(self, fact):
        """Return a fact (batch, heads, rows, ...) of the same rows."""
        assert fact.shape[:3] == self.weights.shape[:3]
        return np.asarray(fact, np.float64).swapaxes(1, 2)[self.counted]


def assert_near(found, expected, bound, what):
    """Assert that no number is off by more than its bound."""
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    assert found.size, f"{what}: nothing to compare"
    error = np.abs(found - expected) - bound
    worst = np.unravel_index(int(error.argmax()), error.shape)
    assert (error <= 0).all(), (
        f"{what}: {int((error > 0).sum())} of {error.size} are off, by {error[worst]:.3g} more "
        f"than may be at {tuple(map(int, worst))}: got {found[worst]}, eager {expected[worst]}"
    )


def assert_top(top, eager):
    """Assert that the best keys are those of the eager weights, in their order."""
    rows, keys = eager.rows, eager.of(top.keys).astype(np.int64)
    count, there = keys.shape[-1], keys >= 0
    best = np.zeros(keys.shape)
    some = min(count, rows.shape[-1])
    best[..., :some] = -np.sort(-rows, axis=-1)[..., :some]
    theirs = np.where(there, np.take_along_axis(rows, np.maximum(keys, 0), -1), 0)
    assert (theirs[there] > 0).all(), "a hidden key is among the best"
    assert (there == (best > 0)).all(), "a row has other than all the keys that it sees"
    twice = (np.diff(np.sort(keys, axis=-1), axis=-1) == 0) & (np.sort(keys, axis=-1)[..., 1:] >= 0)
    assert not twice.any(), "a key is there twice"
    assert_near(theirs, best, 2 * eager.bound, "the best keys")
    assert_near(eager.of(top.weights), theirs, eager.bound, "their weights")


def entropy(rows):
    """Return the entropy, and by how much it moves where every weight moves by one."""
    logs = np.log(np.where(rows > 0, rows, 1))
    return -(rows * logs).sum(-1), np.where(rows > 0, np.abs(1 + logs), 0).sum(-1)


def shares(rows, labels):
    """Return the sum of the weights of each label 0, 1, ...; labels (rows, keys)."""
    count = int(labels.max()) + 1
    each = [np.where(labels[:, None] == label, rows, 0).sum(-1) for label in range(count)]
    return np.stack(each, -1)


def bins(queries, keys):
    """Return the bin of the distance of each pair of positions: 0, 1, 2-3, 4-7, ..."""
    return np.ceil(np.log2(np.abs(queries[:, None] - keys) + 1.0)).astype(int)


def assert_facts(found, eager, *, labels=None, positions=None):
    """Assert that an inspection, or what a watch has seen, is what the eager weights say.

    `labels` are those of the groups, (keys,) or (batch, keys); `positions` of queries and keys are
    given where the distance was asked for.
    """
    batch, _, length, keys = eager.weights.shape
    assert_top(found.top, eager)
    exact, moves = entropy(eager.rows)
    assert_near(eager.of(found.entropy), exact, eager.bound * (1 + moves), "entropy")
    if found.received is not None:
        received = (eager.weights * eager.counted[:, None, :, None]).sum(2)
        assert_near(found.received, received, eager.bound * length, "received")
    for name, given in (("groups", labels), ("distance", positions)):
        if given is not None:
            each = bins(*given) if name == "distance" else np.expand_dims(given, -2)
            each = np.broadcast_to(each, (batch, length, keys))[eager.counted]
            fact, exact = eager.of(getattr(found, name)), shares(eager.rows, each)
            assert_near(*as_wide(fact, exact), eager.bound * keys, name)


def as_wide(*given):
    """Return shares of as many labels or bins; those that are not there hold nothing."""
    most = max(each.shape[-1] for each in given)
    return [np.pad(each, [(0, 0), (0, 0), (0, most - each.shape[-1])]) for each in given]
