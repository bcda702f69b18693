"""Every fact of a lookup beside the oracle: within its budget, `top` by the scores it chose."""

import numpy as np

import oracle
import softlookup as sl
from agreement import expect
from budget import assert_within_budget, eps, loudest

PER_ROW = ("entropy", "sink", "max_score", "groups", "distance")


def positioned(look, options):
    """Return the options with a q_offset: `distance` needs one where lengths differ."""
    problem = look.problem
    if problem.q_offset is not None:
        return options
    return {**options, "q_offset": problem.kv_len - problem.q_len}


def everything(look, rng):
    """Return all facts to be asked of `look`, with drawn groups and rows."""
    problem = look.problem
    return {
        "entropy": True, "sink": problem.sinks is not None, "max_score": True,
        "top": 3, "received": True, "distance": True,
        "groups": rng.integers(-1, 4, (*problem.batch_shape, problem.kv_len)),
        "from_rows": rng.random((*problem.batch_shape, problem.q_len)) > 0.4,
    }  # fmt: skip


def expected(call, asked, problem):
    """Return the facts of `call`, exact and naive in the accumulator's dtype, and the lookups."""
    offsets = 0 if problem.q_offset is None else problem.q_offset.reshape(problem.batch_shape)
    shaped = {
        "groups": asked.get("groups"), "q_offset": offsets,
        "from_rows": True if asked.get("from_rows") is None else asked["from_rows"],
    }  # fmt: skip
    exact, _, narrow = expect(*call.arrays, **call.options)
    wide, rough = (oracle.facts(found, problem.kv_heads, **shaped) for found in (exact, narrow))
    return exact, narrow, wide, rough


def assert_facts(found, asked, call, problem):
    """Assert that every fact of `found` that was `asked` is exact, within the error budget."""
    exact, narrow, wide, rough = expected(call, asked, problem)
    size, accumulator = loudest(exact), problem.compute_dtype

    def assert_fact(fact, name):
        assert fact.dtype == accumulator, name
        assert fact.flags.c_contiguous, name
        near = rough[name].astype(accumulator)
        assert_within_budget(fact, np.asarray(wide[name]), near, name, size * depth(wide[name]))

    for name in PER_ROW:
        if is_asked(asked, name):
            assert_fact(getattr(found, name), name)
        else:
            assert getattr(found, name) is None, name
    if asked.get("max_score"):
        assert_fact(found.max_score_per_head, "max_score_per_head")
    if asked.get("received"):
        kind = "normalised" if asked.get("normalised") else "received"
        assert_fact(found.received, kind)
        assert_fact(found.received_per_kv_head, f"{kind}_per_kv_head")
    if asked.get("distance"):
        assert len(found.distance_bins) == found.distance.shape[-1]
    if asked.get("top"):
        assert_top(found.top, asked["top"], exact, narrow)


def is_asked(asked, name):
    """Return whether the fact `name` is among those asked for; its option may be an array."""
    given = asked.get(name)
    return given is not None and given is not False


def depth(fact):
    """Return how many roundings of a weight a fact may add up: its largest number, 1 at least."""
    finite = np.abs(fact[np.isfinite(fact)])
    return max(1.0, float(finite.max(initial=1.0)))


def assert_top(top, count, exact, narrow):
    """Assert positions and weights of the best keys of an exact lookup.

    Positions are compared only where the exact scores differ by more than a score may err.
    """
    assert top.keys.dtype == np.int64
    assert top.keys.shape == top.weights.shape == (*exact.weights.shape[:-1], count)
    assert top.keys.flags.c_contiguous and top.weights.flags.c_contiguous  # noqa: PT018 (one thing)
    size, unit = loudest(exact), eps(narrow.weights.dtype)
    scores = np.where(exact.visible, exact.scores, 0)
    error = np.abs(scores - np.where(exact.visible, narrow.scores, 0))
    room = 2 * error[np.isfinite(error)].max(initial=0.0) + 2 * unit * max(1.0, size)
    weights, rough = np.zeros(top.weights.shape, exact.weights.dtype), np.zeros(top.weights.shape)
    for row in np.ndindex(top.keys.shape[:-1]):
        keys, seen, score = top.keys[row], exact.visible[row], exact.scores[row]
        if (seen & ~(score < np.inf)).any():
            assert (keys == -1).all()
            weights[row] = rough[row] = np.nan
            continue
        there = keys[keys >= 0]
        assert len(there) == min(count, seen.sum())
        assert (keys[len(there) :] == -1).all()
        assert seen[there].all()
        assert len(set(there)) == len(there)
        best = np.flatnonzero(seen)[np.argsort(-score[seen], kind="stable")]
        with np.errstate(invalid="ignore"):  # -inf beside -inf
            far = np.abs(score[there] - score[best[: len(there)]])
        assert not (far > room).any(), (row, there, best[: len(there)])
        weights[row][: len(there)] = exact.weights[row][there]
        rough[row][: len(there)] = narrow.weights[row][there]
    rough = rough.astype(narrow.weights.dtype)
    assert_within_budget(top.weights, weights, rough, "top weights", size)


def look_of(call, backend, **options):
    """Return the lookup of `call`."""
    return sl.Lookup(*call.arrays, **{**call.options, **options}, backend=backend)
