"""`trace`: every step of chosen rows in float64, beside the oracle; and one row as a record."""

import json
import math

import numpy as np
import pytest

import cases
import oracle
import softlookup as sl
from agreement import assert_same_bits
from budget import assert_within_budget, loudest
from softlookup import tokens

TRACED = (
    "plain in float32", "plain in float64", "plain in bfloat16", "plain 2-D arrays, causal",
    "3-D arrays", "5-D arrays", "an offset for each batch entry", "window both ways",
    "mask that leaves empty rows", "bias in float16 on float64", "padded keys, one entry empty",
    "negative scale and softcap", "sinks and empty rows", "grouped heads", "everything at once",
    "everything at once in bfloat16", "no keys but sinks", "no queries", "head_dim 0",
    "reversed in memory",
)  # fmt: skip


def _steps(name):
    call = cases.build(name)
    return call, sl.Lookup(*call.arrays, **call.options).trace()


def _grouped(call, array):
    """Repeat `array` over the query heads that share a kv head."""
    if array.ndim == 2 or not array.shape[-3]:
        return array.astype(float)
    group = call.query.shape[-3] // array.shape[-3]
    return np.repeat(array.astype(float), group, axis=-3)


@pytest.mark.parametrize("name", TRACED)
def test_every_array_of_the_trace_against_the_oracle(name):
    call, steps = _steps(name)
    exact = oracle.lookup(*call.arrays, **call.options, dtype=np.longdouble)
    naive = oracle.lookup(*call.arrays, **call.options, dtype=np.float64)
    np.testing.assert_array_equal(steps.visible, exact.visible)
    for name_, step in (("weights", steps.weights), ("out", steps.out), ("lse", steps.lse)):
        assert step.dtype == np.float64, name_
        ours = getattr(exact, name_), getattr(naive, name_)
        assert_within_budget(step, *ours, name_, loudest(exact))
    seen = exact.visible
    assert_within_budget(steps.scores[seen], exact.scores[seen], naive.scores[seen], "scores")
    assert np.isneginf(steps.masked_scores[~seen]).all()
    np.testing.assert_array_equal(steps.masked_scores[seen], steps.scores[seen])


@pytest.mark.parametrize("name", TRACED)
def test_every_step_follows_from_the_one_before(name):
    call, s = _steps(name)
    key, value, near = _grouped(call, call.key), _grouped(call, call.value), {"rtol": 1e-12}
    np.testing.assert_allclose(
        s.products, call.query.astype(float) @ key.swapaxes(-1, -2), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(s.scaled, s.scale * s.products, **near)
    capped = s.scaled
    if s.softcap is None:
        assert s.capped is None
    else:
        capped = s.softcap * np.tanh(s.scaled / s.softcap)
        np.testing.assert_allclose(s.capped, capped, **near)
    seen = s.visible
    if s.bias is None:
        assert call.options.get("bias") is None
    else:
        capped = capped + s.bias
    np.testing.assert_allclose(s.scores[seen], capped[seen], **near)
    np.testing.assert_allclose(s.exp, np.where(seen, np.exp(s.masked_scores), 0), **near)
    sink = call.options.get("sinks")
    logits = np.zeros(s.row_max.shape) - np.inf if sink is None else sink[:, None] + 0 * s.lse
    np.testing.assert_allclose(s.exp_sum, s.exp.sum(-1) + np.exp(logits), **near)
    occupied = seen.any(-1)
    top = np.maximum(s.masked_scores.max(-1, initial=-np.inf), logits)
    np.testing.assert_array_equal(s.row_max[occupied], top[occupied])
    shifted = np.where(seen, np.exp(s.masked_scores - np.where(occupied, top, 0)[..., None]), 0)
    np.testing.assert_allclose(s.shifted_exp[occupied], shifted[occupied], **near)
    total = s.shifted_exp.sum(-1) + np.exp(logits - np.where(occupied, top, 0))
    np.testing.assert_allclose(s.row_sum[occupied], total[occupied], **near)
    divided = s.shifted_exp[occupied] / s.row_sum[occupied][..., None]
    np.testing.assert_allclose(s.weights[occupied], divided, **near)
    np.testing.assert_allclose(s.contributions, s.weights[..., None] * value[..., None, :, :])
    np.testing.assert_allclose(s.out, s.contributions.sum(-2), rtol=1e-11, atol=1e-13)
    if sink is None:
        assert s.sinks is None
        assert s.sink_weight is None
    else:
        np.testing.assert_array_equal(s.sinks, sink)
        np.testing.assert_allclose(s.sink_weight[occupied], 1 - s.weights.sum(-1)[occupied],
                                   atol=1e-12)  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "expected"),
    [([0], [0]), ([5, 2, 2], [5, 2, 2]), ([-1], [6]), (slice(1, 6, 2), [1, 3, 5]),
     (slice(None, None, -2), [6, 4, 2, 0]), (np.arange(7) > 4, [5, 6]), (None, range(7)), ([], [])],
    ids=str,
)  # fmt: skip
def test_rows_are_a_list_a_slice_or_bools(rows, expected):
    call, whole = _steps("plain in float32")
    steps = sl.Lookup(*call.arrays).trace(rows=rows)
    assert steps.rows.tolist() == list(expected)
    for name in ("query", "products", "masked_scores", "weights", "shifted_exp", "out"):
        np.testing.assert_allclose(
            getattr(steps, name), getattr(whole, name)[..., list(expected), :], rtol=1e-13
        )
    np.testing.assert_allclose(steps.lse, whole.lse[..., list(expected)], rtol=1e-13)


def test_tokens_name_all_queries_and_keys():
    call, whole = _steps("plain 2-D arrays")
    assert whole.tokens == ("0", "1", "2")
    assert whole.key_tokens == tuple(map(str, range(17)))
    keys = [f"key {n}" for n in range(17)]
    steps = sl.Lookup(*call.arrays).trace([2, 0], tokens=["a", "b", "c"], key_tokens=keys)
    assert steps.tokens == ("a", "b", "c")
    assert steps.record(0)["token"] == "c"
    assert steps.key_tokens == tuple(keys)


def test_position_is_row_plus_offset_and_none_where_there_is_none():
    call = cases.build("an offset for each batch entry")
    look = sl.Lookup(*call.arrays, **call.options)
    steps = look.trace(rows=[6, 2])
    assert steps.position.tolist() == [[3, -1], [10, 6], [35, 31]]
    assert look.head(1, (2,)).trace(rows=[6, 2]).record(1)["position"] == 31
    call, steps = _steps("plain 2-D arrays")
    assert steps.position is None
    assert steps.record(0)["position"] is None
    assert _steps("plain 2-D arrays, causal")[1].position.tolist() == list(range(11))


def test_the_trace_owns_its_numbers():
    call, steps = _steps("plain in float64")
    before = [array.copy() for array in call.arrays]
    steps.weights[...] = steps.out[...] = steps.products[...] = 7
    for array, kept in zip(call.arrays, before, strict=True):
        assert_same_bits(array, kept)


def test_textbook_and_shifted_softmax_where_the_textbook_form_overflows():
    query, key = np.array([[1.0]]), np.array([[1000.0], [999.0]])
    steps = sl.Lookup(query, key, np.array([[1.0], [2.0]]), scale=1.0).trace()
    assert np.isposinf(steps.exp).all()
    assert np.isposinf(steps.exp_sum).all()
    np.testing.assert_allclose(steps.shifted_exp, [[1.0, np.exp(-1.0)]])
    np.testing.assert_allclose(steps.weights, [[1 / (1 + np.exp(-1)), 1 / (1 + np.e)]])
    assert steps.lse[0] == pytest.approx(1000 + math.log(1 + math.exp(-1)))


def test_the_worked_example_has_the_numbers_of_the_lesson():
    words = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    steps = sl.Lookup(words, words, words).trace()
    assert steps.products[0].tolist() == [1, 0, 1]
    np.testing.assert_allclose(steps.scaled[0], [0.707, 0, 0.707], atol=5e-4)
    np.testing.assert_allclose(steps.exp[0], [2.028, 1, 2.028], atol=5e-4)
    assert steps.exp_sum[0] == pytest.approx(5.056, abs=5e-4)
    np.testing.assert_allclose(steps.weights[0], [0.401, 0.198, 0.401], atol=5e-4)
    np.testing.assert_allclose(steps.out[:2], [[0.802, 0.599], [0.599, 0.802]], atol=5e-4)


def _one_head(name):
    call = cases.build(name)
    look = sl.Lookup(*call.arrays, **call.options)
    return look.head(1, (0,) * (call.query.ndim - 3))


def test_record_holds_the_numbers_of_one_row_and_is_json():
    steps = _one_head("everything at once in float64").trace()
    for row in range(17):
        record = steps.record(row)
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert record["row"] == row
        assert record["keys"] == list(range(41))
        for name in ("products", "scaled", "capped", "shifted_exp", "weights", "visible"):
            assert record[name] == getattr(steps, name)[row].tolist(), name
        assert record["out"] == steps.out[row].tolist()
        assert record["visible_count"] == steps.visible[row].sum()
        assert record["weights_sum"] == pytest.approx(steps.weights[row].sum())
        assert record["rest"] is None
        if any(record["visible"]):
            assert record["weights_sum"] + record["sink"]["weight"] == pytest.approx(1)
        else:
            assert record["weights_sum"] == 0


def test_record_of_the_top_keys_accounts_for_the_rest():
    steps = _one_head("many keys for one query").trace()
    record = steps.record(0, top=5)
    best = np.sort(np.argsort(-steps.scores[0], kind="stable")[:5])
    assert record["keys"] == best.tolist()
    assert record["weights"] == steps.weights[0, best].tolist()
    rest = record["rest"]
    assert (rest["count"], rest["visible"]) == (4094, 4094)
    assert sum(record["weights"]) + rest["weight"] == pytest.approx(1)
    assert sum(record["exp"]) + rest["exp"] == pytest.approx(record["exp_sum"])
    assert sum(record["shifted_exp"]) + rest["shifted_exp"] == pytest.approx(record["row_sum"])
    blended = np.sum(record["contributions"], axis=0) + rest["contribution"]
    np.testing.assert_allclose(blended, record["out"], atol=1e-12)


def test_record_top_breaks_ties_to_the_lower_index():
    query, key = np.zeros((1, 2)), np.zeros((6, 2))
    record = sl.Lookup(query, key, np.ones((6, 1))).trace().record(0, top=2)
    assert record["keys"] == [0, 1]
    assert (record["rest"]["count"], record["rest"]["weight"]) == (4, pytest.approx(4 / 6))


def test_record_spells_numbers_that_json_has_not():
    bias = np.array([[0.0, -np.inf], [np.inf, 0.0]])
    query, key = np.ones((2, 1)), np.ones((2, 1))
    steps = sl.Lookup(query, key, np.ones((2, 1)), bias=bias).trace()
    record = steps.record(0)
    assert record["bias"] == [0.0, "-Infinity"]
    assert record["visible"] == [True, False]
    record = steps.record(1)
    assert record["scores"][0] == "Infinity"
    assert record["weights"] == ["NaN", "NaN"]
    assert record["lse"] == "NaN"
    json.dumps(record, allow_nan=False)


def test_printed_trace_names_steps_and_numbers():
    words = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    text = str(sl.Lookup(words, words, words).trace(rows=[0]))
    places = [text.index(number) for number in ("0.707", "2.028", "5.056", "0.401", "0.802")]
    assert places == sorted(places)


@pytest.mark.parametrize("place", [{"row_index": 99}, {"head": 5}, {"batch": (0,)}])
def test_a_record_that_is_not_there_is_refused(place):
    trace = sl.Lookup(np.ones((3, 2, 5)), np.ones((1, 2, 5)), np.ones((1, 2, 1))).trace()
    with pytest.raises(sl.SoftlookupError, match=r"within \(3, 2\)"):
        trace.record(**place)


def test_contributions_refuse_to_grow_with_n_x_n_x_dim():
    wide = np.ones((1500, 16))
    with pytest.raises(sl.SoftlookupError, match="Trace fewer rows"):
        _ = sl.Lookup(wide, wide, wide).trace().contributions


@pytest.mark.parametrize("name", ["plain in float64", "everything at once"])
def test_the_bits_of_a_row_do_not_depend_on_which_others_are_traced(name):
    call = cases.build(name)
    look = sl.Lookup(*call.arrays, **call.options)
    rows = [2, 0, 1]
    together = look.trace(rows=rows)
    for index, row in enumerate(rows):
        alone = look.trace(rows=[row])
        for step in ("products", "scores", "exp", "shifted_exp", "weights", "out"):
            both = getattr(together, step)[..., index, :], getattr(alone, step)[..., 0, :]
            np.testing.assert_array_equal(*both)


def test_of_many_positions_only_those_shown_are_written(monkeypatch):
    look = sl.Lookup(np.ones((1, 1)), np.arange(99.0)[:, None])
    named = look.trace(tokens=["0"], key_tokens=map(str, range(99)))
    with monkeypatch.context() as patched:
        patched.setattr(tokens, "check_tokens", None)  # writes them all
        trace = look.trace()
        assert trace.record(0, top=2)["key_tokens"] == ["97", "98"]
        assert str(trace) == str(named)
    assert (trace.tokens, trace.key_tokens) == (named.tokens, named.key_tokens)
    assert trace.key_tokens is trace.key_tokens  # written once, or a loop over them takes forever


def test_tokens_may_come_from_a_generator_and_name_the_keys_too():
    trace = sl.Lookup(np.ones((2, 3)), np.ones((2, 3))).trace(tokens=(text for text in "ab"))
    assert (trace.tokens, trace.key_tokens) == (("a", "b"), ("a", "b"))
