"""What holds for the facts of every lookup, whatever its sizes and options."""

import functools
import itertools

import numpy as np
import pytest
from drawing import calls, permuted
from hypothesis import given
from hypothesis import strategies as st

from agreement import assert_same_bits
from budget import assert_within_budget, eps, loudest
from looking import PER_ROW, assert_facts, assert_top, everything, expected, look_of, positioned
from softlookup.backends import walks
from softlookup.facts import build_facts, wanted
from softlookup.partials import add_sinks, empty_part, merge, part_of_scores, row_facts

SEEDS = st.integers(0, 2**32 - 1)


def _placed(call, backend="auto"):
    """Return the call with positions, and its lookup."""
    call = call._replace(options=positioned(look_of(call, backend), call.options))
    return call, look_of(call, backend)


def _room(look):
    """Return how far a sum of weights may be from the truth."""
    steps = look.trace()
    loud = np.abs(steps.scores[steps.visible]).max(initial=1.0)
    return 30 * eps(look.problem.compute_dtype) * loud * max(1, look.problem.q_len)


@given(call=calls(), seed=SEEDS)
def test_facts_agree_with_the_oracle(backend, call, seed):
    call, look = _placed(call, backend)
    asked = everything(look, np.random.default_rng(seed))
    assert_facts(look.inspect(**asked), asked, call, look.problem)


@given(call=calls(), names=st.sets(st.sampled_from([*PER_ROW, "top", "received"])), seed=SEEDS)
def test_bits_whichever_facts_are_asked(backend, call, names, seed):
    _, look = _placed(call, backend)
    every = everything(look, np.random.default_rng(seed))
    asked = {name: every[name] for name in names}
    found = look.inspect(**asked)
    assert_same_bits(found.out, look.attend())
    assert_same_bits(found.lse, look.inspect().lse)


@given(call=calls(), seed=SEEDS)
def test_shares_and_the_sink_make_1(backend, call, seed):
    call, look = _placed(call, backend)
    kv_len, rng = look.problem.kv_len, np.random.default_rng(seed)
    labels = rng.integers(-1, 5, kv_len)
    found = look.inspect(distance=True, groups=labels, sink=look.problem.sinks is not None)
    steps = look.trace()
    whole = np.where(steps.visible.any(-1), 1.0, 0.0)
    sink = 0.0 if found.sink is None else np.where(steps.visible.any(-1), found.sink, 0.0)
    room = _room(look)
    np.testing.assert_allclose(found.distance.sum(-1) + sink, whole, atol=room)
    rest = look.weights(keys=labels < 0).sum(-1)
    np.testing.assert_allclose(found.groups.sum(-1) + rest + sink, whole, atol=room)


@given(call=calls())
def test_what_is_received_is_what_rows_give(backend, call):
    look = look_of(call, backend)
    sinks = look.problem.sinks is not None
    found, seen = look.inspect(received=True, sink=sinks), look.trace().visible.any(-1)
    given_away = np.where(seen, 1.0 - (found.sink if sinks else 0.0), 0.0).sum(-1)
    np.testing.assert_allclose(found.received.sum(-1), given_away, atol=_room(look))
    per_kv_head = found.received_per_kv_head.sum((-1, -2))
    np.testing.assert_allclose(per_kv_head, given_away.sum(-1), atol=9 * _room(look))


@given(call=calls(), top=st.integers(1, 90))
def test_top_is_sorted_and_ends_in_what_is_missing(backend, call, top):
    look = look_of(call, backend)
    found = look.inspect(top=top).top
    there = found.keys >= 0
    assert (np.diff(there.astype(int), axis=-1) <= 0).all()
    assert (np.diff(found.weights, axis=-1) <= 0).all()
    np.testing.assert_array_equal(there.sum(-1), np.minimum(look.trace().visible.sum(-1), top))
    assert not found.weights[~there].any()


@given(call=calls())
def test_entropy_lies_between_0_and_the_logarithm_of_the_keys_seen(backend, call):
    look = look_of(call, backend)
    entropy, room = look.inspect(entropy=True).entropy, _room(look)
    assert (entropy >= 0).all()
    if look.problem.sinks is None:
        seen = np.maximum(look.trace().visible.sum(-1), 1)
        assert (entropy <= np.log(seen) + room).all()


@given(call=calls(), cuts=st.lists(st.integers(0, 70), max_size=6), seed=SEEDS)
def test_any_split_of_the_keys_merges_to_the_whole(call, cuts, seed):
    call, look = _placed(call)
    problem, steps = look.problem, look.trace()
    asked = everything(look, np.random.default_rng(seed))
    facts = build_facts(problem, **asked)
    shape = (problem.batch, problem.kv_heads, problem.group, problem.q_len, problem.kv_len)
    scores, visible = (part.reshape(shape) for part in (steps.scores, steps.visible))

    def want(a, b):
        rows = np.arange(problem.q_len)
        return wanted(facts, problem, slice(0, problem.batch), rows, slice(a, b))

    def part(a, b):
        value = np.empty((1, 1, 1, b - a, 0))
        return part_of_scores(scores[..., a:b].copy(), visible[..., a:b], value, wanted=want(a, b))

    edges = sorted([0, problem.kv_len, *(min(cut, problem.kv_len) for cut in cuts)])
    empty = empty_part(shape[:-1], 0, np.dtype(float), want(0, 0))
    sinks = None
    if problem.sinks is not None:
        sinks = problem.sinks.reshape(problem.kv_heads, problem.group, 1)
    with np.errstate(all="ignore"):
        parts = [part(a, b) for a, b in itertools.pairwise(edges)]
        wholes = [
            functools.reduce(merge, parts, empty),
            functools.reduce(lambda done, one: merge(one, done), reversed(parts), empty),
            part(0, problem.kv_len),
        ]
        if sinks is not None:
            wholes = [add_sinks(whole, sinks) for whole in wholes]
        *split, whole = (row_facts(whole, sinks) for whole in wholes)
    for some in split:
        for name, one, other in zip(whole._fields, some, whole, strict=True):
            if name == "top_keys":
                np.testing.assert_array_equal(one, other)
            elif other is not None:
                np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12, err_msg=name)


@given(call=calls(without=("causal", "window", "kv_lens")), data=st.data())
def test_permuting_keys_permutes_what_they_receive_and_nothing_else(backend, call, data):
    order = np.array(data.draw(st.permutations(range(call.key.shape[-2]))), int)
    asked = {"received": True, "entropy": True, "max_score": True, "groups": order % 4}
    found = look_of(permuted(call, order), backend).inspect(**asked)
    back = np.argsort(order)
    exact, _, wide, rough = expected(call, {"groups": np.arange(len(order)) % 4},
                                     look_of(call, backend).problem)  # fmt: skip
    size, dtype = loudest(exact), found.lse.dtype
    for name in ("entropy", "max_score", "groups", "received"):
        fact = getattr(found, name)
        fact = fact[..., back] if name == "received" else fact
        depth = max(1.0, float(np.abs(wide[name]).max(initial=1))) if name == "received" else 1.0
        room = size * max(depth, np.log(len(order) + 1))
        assert_within_budget(fact, wide[name], rough[name].astype(dtype), name, room)


@given(call=calls())
def test_grouped_heads_are_repeated_heads(backend, call):
    call, look = _placed(call, backend)
    group = look.problem.group
    apart = call._replace(
        key=np.repeat(call.key, group, axis=-3), value=np.repeat(call.value, group, axis=-3)
    )
    asked = {"entropy": True, "top": 3, "received": True, "distance": True}
    found = look_of(apart, backend).inspect(**asked)
    exact, narrow, wide, rough = expected(call, asked, look.problem)
    assert_top(found.top, 3, exact, narrow)
    per_kv_head = found.received_per_kv_head  # every head has its own
    np.testing.assert_array_equal(per_kv_head, found.received)
    for name in ("entropy", "distance"):
        near = rough[name].astype(found.lse.dtype)
        room = loudest(exact) * max(1.0, float(wide[name].max(initial=0)))
        assert_within_budget(getattr(found, name), wide[name], near, name, room)


@given(call=calls(), rows=st.integers(1, 9), keys=st.integers(1, 20), seed=SEEDS)
def test_tiles_of_any_size_give_the_same_facts(call, rows, keys, seed):
    call, look = _placed(call, "blocked")
    asked = everything(look, np.random.default_rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "_NARROW_ROWS", rows)
        patch.setattr(walks, "TILE_KEYS", keys)
        patch.setattr(walks, "TILE_CELLS", rows * keys)
        found = look.inspect(**asked)
        assert_same_bits(found.out, look.attend())
    assert_facts(found, asked, call, look.problem)
