"""What holds for every lookup, whatever its sizes and options.

Two results that must be equal are both compared with one exact answer, within one budget. Bits are
compared only where bits are promised: facts on or off.
"""

import functools
import itertools

import numpy as np
import pytest
from drawing import calls, permuted
from hypothesis import example, given
from hypothesis import strategies as st

import oracle
import softlookup as sl
from agreement import assert_agrees, assert_out, assert_same_bits, assert_weights, expect
from budget import assert_within_budget, eps, loudest
from cases import Call
from softlookup.backends import walks
from softlookup.partials import add_sinks, empty_part, finish, merge, part_of_scores


def _assert_out(out, call):
    """Assert that `out` is the answer of `call`, within its budget."""
    exact, naive, _ = expect(*call.arrays, **call.options)
    assert_out(out, exact, naive)


# The window leaves row 0 the keys from 3 on, kv_lens those before 1: none, though its mask is True.
APART = Call(
    np.ones((1, 2, 2)), np.ones((1, 7, 2)), np.ones((1, 7, 1)),
    {"window": (1, None), "q_offset": 4, "kv_lens": np.array(1),
     "mask": np.array([[True], [False]])},
)  # fmt: skip


@given(call=calls())
@example(call=APART)
def test_it_agrees_with_the_oracle(backend, call):
    assert_agrees(*call.arrays, **call.options, backend=backend)


@given(call=calls())
def test_bits_facts_on_are_facts_off(backend, call):
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    assert_same_bits(look.inspect().out, look.attend())


# Found by roaming: the only visible key weighs 1.0000029, a rounding of its score of 12.
ONE_KEY = Call(
    np.array([[[0.6284, -0.6606, 3.201, 0.5244, -2.678]],
              [[1.808, 6.52, 4.734, -3.52, -6.33]]], np.float16),
    np.array([[[-3.117, 0.2067, -11.625, -1.094, -6.23],
               [-3.662, -2.72, -1.581, 2.059, 5.21]]], np.float16),
    np.array([[[-0.012856], [0.1366]]], np.float16),
    {"causal": True, "q_offset": 0},
)  # fmt: skip


@given(call=calls())
@example(call=ONE_KEY)
def test_rows_of_weights_sum_to_1_or_0_or_1_minus_the_sink(backend, call):
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    weights, lse, steps = look.weights(), look.inspect().lse, look.trace()
    sink = 0.0
    if "sinks" in call.options:
        sink = np.exp(call.options["sinks"][:, None] - lse)
    expected = np.where(steps.visible.any(-1), 1 - sink, 0.0)
    loud = np.abs(steps.scores[steps.visible]).max(initial=1.0)
    assert ((weights >= 0) & (weights <= 1 + 8 * loud * eps(weights.dtype))).all()
    np.testing.assert_allclose(weights.sum(-1), expected, atol=1e-4)
    np.testing.assert_allclose(steps.weights.sum(-1), expected, atol=1e-4)


@given(call=calls(without=("sinks",)))
def test_out_lies_in_the_hull_of_the_visible_values(backend, call):
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    out, visible = look.attend().astype(float), look.trace().visible
    group = call.query.shape[-3] // call.key.shape[-3]
    value = np.repeat(call.value.astype(float), group, axis=-3)[..., None, :, :]
    seen = visible[..., None]
    low = np.where(seen, value, np.inf).min(axis=-2, initial=np.inf)
    high = np.where(seen, value, -np.inf).max(axis=-2, initial=-np.inf)
    room = 4 * eps(call.query.dtype) * max(1.0, np.abs(value).max(initial=0))
    some = visible.any(-1)
    assert (out[some] >= low[some] - room).all()
    assert (out[some] <= high[some] + room).all()
    assert not out[~some].any()


@given(call=calls(without=("causal", "window", "kv_lens")), data=st.data())
def test_permuting_keys_with_their_values_changes_nothing(backend, call, data):
    order = np.array(data.draw(st.permutations(range(call.key.shape[-2]))), int)
    moved = permuted(call, order)
    _assert_out(sl.attend(*moved.arrays, **moved.options, backend=backend), call)


@given(call=calls(without=("sinks", "softcap", "bias")), data=st.data())
def test_a_constant_added_to_a_row_of_scores_changes_nothing(backend, call, data):
    constant = data.draw(st.lists(st.integers(-50, 50), min_size=call.query.shape[-2],
                                  max_size=call.query.shape[-2]))  # fmt: skip
    bias = np.array(constant, float)[:, None]
    out = sl.attend(*call.arrays, **call.options, bias=bias, backend=backend)
    exact = oracle.lookup(*call.arrays, **call.options)
    naive = oracle.lookup(*call.arrays, **call.options, bias=bias, dtype=call.query.dtype)
    assert_within_budget(out, exact.out, naive.out, size=loudest(exact) + 50)


@given(call=calls(always=("causal",), without=("kv_lens",), square=True), data=st.data())
def test_a_later_key_changes_no_earlier_causal_row(backend, call, data):
    at = data.draw(st.integers(0, call.key.shape[-2] - 1))
    before = sl.attend(*call.arrays, **call.options, backend=backend)
    key, value = call.key.copy(), call.value.copy()
    key[..., at, :], value[..., at, :] = data.draw(st.sampled_from([0, 300, np.nan, np.inf])), 77
    after = sl.attend(call.query, key, value, **call.options, backend=backend)
    assert_same_bits(after[..., :at, :], before[..., :at, :])


@given(call=calls(), cuts=st.lists(st.integers(0, 70), max_size=6))
def test_any_split_of_the_keys_empty_parts_included_merges_to_the_whole(call, cuts):
    kv_len = call.key.shape[-2]
    edges = sorted([0, kv_len, *(min(cut, kv_len) for cut in cuts)])
    steps = sl.Lookup(*call.arrays, **call.options).trace()
    group = call.query.shape[-3] // call.key.shape[-3]
    value = np.repeat(call.value.astype(float), group, axis=-3)
    empty = empty_part(steps.lse.shape, value.shape[-1], np.dtype(float))
    with np.errstate(all="ignore"):
        parts = [
            part_of_scores(steps.scores[..., a:b].copy(), steps.visible[..., a:b],
                           value[..., a:b, :]) for a, b in itertools.pairwise(edges)
        ]  # fmt: skip
        left = functools.reduce(merge, parts, empty)
        right = functools.reduce(lambda done, part: merge(part, done), reversed(parts), empty)
        for whole in (left, right):
            if steps.sinks is not None:
                whole = add_sinks(whole, steps.sinks[:, None])  # noqa: PLW2901
            answer = finish(whole)
            np.testing.assert_allclose(answer.out, steps.out, rtol=1e-11, atol=1e-12)
            np.testing.assert_allclose(answer.lse, steps.lse, rtol=1e-12, atol=1e-12)


@given(call=calls())
def test_grouped_heads_are_repeated_heads(backend, call):
    group = call.query.shape[-3] // call.key.shape[-3]
    key, value = (np.repeat(x, group, axis=-3) for x in (call.key, call.value))
    _assert_out(sl.attend(call.query, key, value, **call.options, backend=backend), call)


@given(call=calls(without=("window",)), beyond=st.integers(0, 100))
def test_a_window_of_the_whole_length_is_none(backend, call, beyond):
    q_offset = call.options.get("q_offset", 0)
    wide = sum(call.query.shape[-2:-1] + call.key.shape[-2:-1]) + abs(q_offset) + beyond
    options = {"q_offset": q_offset, **call.options, "window": (wide, wide)}
    _assert_out(sl.attend(*call.arrays, **options, backend=backend), call)


@given(call=calls(without=("bias", "sinks", "softcap", "scale")))
def test_scale_0_gives_the_mean_of_the_visible_values(backend, call):
    options = {**call.options, "scale": 0}
    look = sl.Lookup(*call.arrays, **options, backend=backend)
    visible = look.trace().visible
    group = call.query.shape[-3] // call.key.shape[-3]
    value = np.repeat(call.value.astype(float), group, axis=-3)
    mean = (visible @ value) / np.maximum(visible.sum(-1), 1)[..., None]
    _, naive, _ = expect(*call.arrays, **options)
    assert_within_budget(look.attend(), mean, naive.out)


@given(call=calls())
def test_a_batch_is_its_items_one_by_one(backend, call):
    batch = call.query.shape[:-3]
    exact, naive, _ = expect(*call.arrays, **call.options)
    shape = (*call.query.shape[:-1], call.key.shape[-2])
    options = {
        name: np.broadcast_to(option, shape) if name in ("mask", "bias") else option
        for name, option in call.options.items()
    }
    for item in np.ndindex(batch):
        alone = {
            name: option[item] if name in ("mask", "bias", "kv_lens") else option
            for name, option in options.items()
        }
        arrays = (array[item] for array in call.arrays)
        out = sl.attend(*arrays, **alone, backend=backend)
        assert_out(out, exact, naive, item)


@given(call=calls())
def test_weights_from_lse_are_weights_and_lse_reduces_the_scores(backend, call):
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    steps, lse = look.trace(), look.inspect().lse
    exact, _, narrow = expect(*call.arrays, **call.options)
    assert_within_budget(lse, exact.lse, narrow.lse, "lse", loudest(exact))
    seen, scores = steps.visible, np.where(steps.visible, steps.scores, 0)
    from_lse = np.where(seen, np.exp(scores - np.where(seen, lse[..., None], 0)), 0)
    rough = 8 * eps(lse.dtype) * loudest(exact)
    np.testing.assert_allclose(look.weights(), from_lse, rtol=0, atol=rough)


@given(call=calls(), data=st.data())
def test_a_rectangle_of_weights_is_a_part_of_the_whole(backend, call, data):
    def some(length):
        return data.draw(st.lists(st.integers(-length, length - 1), max_size=9) if length
                         else st.just([]))  # fmt: skip

    rows, keys = (np.array(some(n), int) for n in (call.query.shape[-2], call.key.shape[-2]))
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    exact, _, narrow = expect(*call.arrays, **call.options)
    part = look.weights(rows=rows, keys=keys)
    assert_weights(part, exact, narrow, np.s_[..., rows[:, None], keys])


@given(call=calls(), data=st.data())
def test_a_head_alone_is_that_head_among_others(backend, call, data):
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    batch = tuple(data.draw(st.integers(0, n - 1)) for n in call.query.shape[:-3])
    head = data.draw(st.integers(0, call.query.shape[-3] - 1))
    exact, naive, _ = expect(*call.arrays, **call.options)
    one, at = look.head(head, batch), (*batch, head)
    assert_out(one.attend(), exact, naive, at)
    np.testing.assert_array_equal(one.trace().visible, exact.visible[at])


@given(call=calls(), rows=st.integers(1, 9), keys=st.integers(1, 20))
def test_tiles_of_any_size_give_the_same(call, rows, keys):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "_NARROW_ROWS", rows)
        patch.setattr(walks, "TILE_KEYS", keys)
        patch.setattr(walks, "TILE_CELLS", rows * keys)
        assert_agrees(*call.arrays, **call.options, backend="blocked")
