"""The rows of the table of facts: what each says, by hand, and what it says at its edge."""

import json

import numpy as np
import pytest

import softlookup as sl
from softlookup.facts import Facts, bin_ranges

EYE = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
LN = np.log
NAN, INF = np.nan, np.inf


def look(scores, backend="auto", **options):
    """Return a lookup whose scores are `scores`, (q_len, kv_len)."""
    scores = np.asarray(scores, float)
    return sl.Lookup(scores, np.eye(scores.shape[1]), np.eye(scores.shape[1]), scale=1.0,
                     backend=backend, **options)  # fmt: skip


def of_weights(weights, backend="auto", **options):
    """Return a lookup whose weights are `weights`, where its rows sum to 1."""
    return look(LN(weights), backend, **options)


def test_nothing_is_there_that_was_not_asked_for(backend):
    found = look([[1.0, 2.0]], backend).inspect()
    assert {name for name, fact in vars(found).items() if fact is not None} == {
        "out", "lse", "backend",
    }  # fmt: skip
    assert found.backend == backend


def test_out_is_left_out_where_there_is_no_value(backend):
    assert sl.Lookup(EYE, EYE, backend=backend).inspect(entropy=True).out is None


def test_entropy_in_nats(backend):
    lesson = sl.Lookup([[1, 0]], EYE, EYE, backend=backend)
    np.testing.assert_allclose(lesson.inspect(entropy=True).entropy, [1.05336298], atol=1e-8)
    found = of_weights([[0.5, 0.25, 0.25], [1 / 3] * 3], backend).inspect(entropy=True)
    np.testing.assert_allclose(found.entropy, [1.5 * LN(2), LN(3)], rtol=1e-14)
    assert look([[3.0, 900.0]], backend).inspect(entropy=True).entropy == [0.0]


def test_entropy_leaves_out_the_term_of_the_sink(backend):
    found = look([[0.0, 0.0]], backend, sinks=[LN(2)]).inspect(entropy=True, sink=True)
    np.testing.assert_allclose(found.sink, [0.5], rtol=1e-15)
    np.testing.assert_allclose(found.entropy, [-2 * 0.25 * LN(0.25)], rtol=1e-15)


def test_max_score_per_row_and_head_without_the_sink(backend):
    query = np.array([[[1.0], [5.0]], [[-2.0], [-3.0]]])
    found = sl.Lookup(query, np.ones((2, 1, 1)), scale=1.0, sinks=[9.0, 9.0], backend=backend)
    facts = found.inspect(max_score=True)
    np.testing.assert_array_equal(facts.max_score, [[1, 5], [-2, -3]])
    np.testing.assert_array_equal(facts.max_score_per_head, [5, -2])


def test_max_score_is_of_scores_softcap_and_bias_included_hidden_keys_not(backend):
    options = {"softcap": 2.0, "bias": [[0.5, 0.25, -INF]], "mask": [False, True, True]}
    found = look([[7.0, 3.0, 9.0]], backend, **options).inspect(max_score=True)
    np.testing.assert_allclose(found.max_score, [2 * np.tanh(1.5) + 0.25], rtol=1e-15)


def test_top_is_ordered_by_score_and_ties_go_to_the_lower_position(backend):
    rows = [[1.0, 3.0, 3.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0, 0.0]]
    top = look(rows, backend).inspect(top=4).top
    np.testing.assert_array_equal(top.keys, [[1, 2, 4, 0], [0, 1, 2, 3]])
    np.testing.assert_allclose(top.weights[1], 0.2, rtol=1e-15)
    assert top.keys.dtype == np.int64


def test_top_is_ordered_by_score_also_where_weights_are_equal(backend):
    top = look([[-900.0, 0.0, -800.0]], backend).inspect(top=3).top
    assert top.weights[0].tolist() == [1, 0, 0]
    assert top.keys[0].tolist() == [1, 2, 0]


def test_a_row_that_sees_fewer_keys_than_top_ends_in_minus_1(backend):
    found = look(np.zeros((3, 3)), backend, causal=True).inspect(top=2)
    np.testing.assert_array_equal(found.top.keys, [[0, -1], [0, 1], [0, 1]])
    np.testing.assert_array_equal(found.top.weights[0], [1, 0])
    wide = look(np.zeros((1, 2)), backend).inspect(top=5).top
    np.testing.assert_array_equal(wide.keys, [[0, 1, -1, -1, -1]])
    np.testing.assert_array_equal(wide.weights, [[0.5, 0.5, 0, 0, 0]])


def test_received_is_per_query_head_and_per_kv_head(backend):
    rng = np.random.default_rng(3)
    query, key = rng.standard_normal((2, 6, 5, 3)), rng.standard_normal((2, 2, 7, 3))
    some = sl.Lookup(query, key, backend=backend)
    found, weights = some.inspect(received=True), some.weights()
    assert found.received.shape == (2, 6, 7)
    assert found.received_per_kv_head.shape == (2, 2, 7)
    np.testing.assert_allclose(found.received, weights.sum(2), rtol=1e-13)
    per_kv_head = weights.sum(2).reshape(2, 2, 3, 7).sum(2)  # head h reads kv head h // 3
    np.testing.assert_allclose(found.received_per_kv_head, per_kv_head, rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_received_per_head_and_per_kv_head_are_arrays_of_their_own(backend, dtype):
    three = np.random.default_rng(0).standard_normal((3, 2, 5, 7)).astype(dtype)
    found = sl.Lookup(*three, backend=backend).inspect(received=True)  # as many heads as kv heads
    np.testing.assert_array_equal(found.received, found.received_per_kv_head)
    assert not np.shares_memory(found.received, found.received_per_kv_head)


def test_received_from_some_rows_by_positions_and_by_bools(backend):
    weights = np.array([[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]])
    some = of_weights(weights, backend)
    for rows in ([0, 2], [2, 0, 2], [0, -1], slice(0, 3, 2), range(0, 3, 2), [True, False, True]):
        found = some.inspect(received=True, from_rows=rows)
        np.testing.assert_allclose(found.received, [0.625, 1.375], rtol=1e-15)
    assert not some.inspect(received=True, from_rows=[]).received.any()
    np.testing.assert_allclose(some.inspect(received=True, from_rows=1).received, weights[1])


def test_received_from_other_rows_for_each_batch_entry(backend):
    rng = np.random.default_rng(5)
    some = sl.Lookup(rng.standard_normal((2, 3, 4, 5, 1)), np.ones((2, 3, 2, 7, 1)),
                     mask=rng.random((2, 3, 4, 5, 7)) > 0.5, backend=backend)  # fmt: skip
    rows = rng.random((2, 3, 5)) > 0.5
    found = some.inspect(received=True, from_rows=rows, normalised=True)
    counted = some.weights() * rows[:, :, None, :, None]
    readers = (some.problem.mask.array.reshape(2, 3, 4, 5, 7) & rows[:, :, None, :, None]).sum(3)
    mean = counted.sum(3) / np.maximum(readers, 1)
    np.testing.assert_allclose(found.received, mean, rtol=1e-13)
    per_kv_head = counted.sum(3).reshape(2, 3, 2, 2, 7).sum(3)
    per_kv_head /= np.maximum(readers.reshape(2, 3, 2, 2, 7).sum(3), 1)
    np.testing.assert_allclose(found.received_per_kv_head, per_kv_head, rtol=1e-13)


def test_received_from_positions_counts_them_in_every_batch_entry(backend):
    key = np.zeros((3, 1, 4, 1))
    some = sl.Lookup(key, key, backend=backend).inspect(received=True, from_rows=[1, -1])
    np.testing.assert_array_equal(some.received, np.full((3, 1, 4), 0.5))


def test_a_nan_row_that_does_not_count_spoils_nothing_received(backend):
    """Row 1 is NaN in both batch entries, and counts in the second only."""
    bias = np.zeros((3, 4))
    bias[1, 2] = NAN
    key = np.zeros((2, 1, 4, 1))
    rows = np.array([[True, False, True], [False, True, False]])
    some = sl.Lookup(key[:, :, :3], key, bias=bias, backend=backend)
    found = some.inspect(received=True, from_rows=rows).received
    np.testing.assert_array_equal(found[:, 0], [[0.5] * 4, [NAN] * 4])


def test_received_normalised_divides_by_the_rows_that_may_see_the_key(backend):
    found = look(np.zeros((3, 3)), backend, causal=True).inspect(received=True, normalised=True)
    sums = np.array([1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3])
    np.testing.assert_allclose(found.received, sums / [3, 2, 1], rtol=1e-15)
    unseen = look(np.zeros((2, 2)), backend, mask=[True, False])
    np.testing.assert_array_equal(
        unseen.inspect(received=True, normalised=True).received, [1.0, 0.0]
    )


def test_groups_are_shares_per_label_and_a_negative_label_is_none(backend):
    some = of_weights([[0.5, 0.25, 0.125, 0.125]], backend)
    np.testing.assert_allclose(some.inspect(groups=[1, -1, 0, 1]).groups, [[0.125, 0.625]])
    np.testing.assert_allclose(some.inspect(groups=[2, 2, 2, -7]).groups, [[0, 0, 0.875]])
    assert some.inspect(groups=[-1] * 4).groups.shape == (1, 0)
    assert some.inspect(groups=[255, 0, 0, 0]).groups.shape == (1, 256)


def test_groups_for_each_batch_entry(backend):
    key = np.zeros((2, 1, 4, 1))
    some = sl.Lookup(key[:, :, :1], key, backend=backend)
    found = some.inspect(groups=np.array([[0, 0, 0, 1], [1, 1, -1, 1]]))
    np.testing.assert_array_equal(found.groups[:, 0, 0], [[0.75, 0.25], [0, 0.75]])


def test_distance_is_the_share_per_bin_on_both_sides(backend):
    weights = np.arange(1.0, 10.0)[None] / 45
    found = of_weights(weights, backend, q_offset=3).inspect(distance=True)
    assert found.distance_bins == ((0, 0), (1, 1), (2, 3), (4, 7))
    by_hand = [[4, 3 + 5, 2 + 1 + 6 + 7, 8 + 9]]
    np.testing.assert_allclose(found.distance, np.array(by_hand) / 45, rtol=1e-14)


def test_distance_reaches_as_far_as_the_call_hidden_pairs_and_batch_included(backend):
    some = look(np.zeros((3, 3)), backend, causal=True)
    assert some.inspect(distance=True).distance_bins == ((0, 0), (1, 1), (2, 3))
    key = np.zeros((2, 1, 5, 1))
    far = sl.Lookup(key, key, q_offset=[0, 12], backend=backend).inspect(distance=True)
    assert far.distance_bins[-1] == (16, 31)  # row 4 at 16, from key 0
    assert far.distance.shape == (2, 1, 5, 6)
    np.testing.assert_allclose(far.distance.sum(-1), 1, rtol=1e-15)


def test_distance_to_the_ends_of_positions(backend):
    for offset in (2**60, -(2**60)):
        found = look(np.zeros((1, 2)), backend, q_offset=offset).inspect(distance=True)
        low, high = found.distance_bins[-1]
        assert low <= 2**60 <= high
        np.testing.assert_array_equal(found.distance.sum(-1), [1.0])
        assert found.distance[0, -2:].sum() == 1


def test_bins():
    assert bin_ranges(0) == ()
    assert bin_ranges(5) == ((0, 0), (1, 1), (2, 3), (4, 7), (8, 15))


def _all(some, **more):
    kv_len = some.problem.kv_len
    asked = {"entropy": True, "max_score": True, "top": 2, "received": True, "distance": True,
             "groups": np.arange(kv_len) % 2, "sink": some.problem.sinks is not None}  # fmt: skip
    return some.inspect(**{**asked, **more})


@pytest.mark.parametrize("sinks", [None, [0.5], [-INF]])
def test_a_row_that_sees_nothing(backend, sinks):
    some = look(np.zeros((2, 2)), backend, mask=[[False], [True]], sinks=sinks)
    found = _all(some, normalised=True)
    assert found.entropy[0] == 0
    assert found.max_score[0] == -INF
    assert found.top.keys[0].tolist() == [-1, -1]
    assert not found.top.weights[0].any()
    assert not found.groups[0].any()
    assert not found.distance[0].any()
    np.testing.assert_array_equal(found.received, some.weights()[1])  # over one row that may see
    if sinks is not None:
        assert found.sink[0] == 1


@pytest.mark.parametrize("wrong", [NAN, INF])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_with_nan_or_inf_is_nan_in_all_its_facts_and_no_other_is(backend, wrong, dtype):
    scores = np.zeros((3, 4), dtype)
    bias = np.zeros((3, 4), dtype)
    bias[1, 2] = wrong
    mask = np.ones((3, 4), bool)
    mask[1, 3] = False
    some = sl.Lookup(scores, np.eye(4, dtype=dtype), bias=bias, mask=mask, sinks=[0.0],
                     q_offset=0, backend=backend)  # fmt: skip
    found = _all(some)
    for fact in (found.entropy, found.max_score, found.groups, found.distance, found.sink,
                 found.top.weights):  # fmt: skip
        assert np.isnan(fact[1]).all()
        assert np.isfinite(fact[[0, 2]]).all()
    assert found.top.keys.tolist() == [[0, 1], [-1, -1], [0, 1]]
    assert np.isnan(found.max_score_per_head)
    assert np.isnan(found.received).tolist() == [True, True, True, False]  # the keys it sees
    rest = some.inspect(received=True, from_rows=[0, 2])
    np.testing.assert_allclose(rest.received, 0.4, rtol=1e-6)


def test_hidden_nan_and_inf_touch_no_fact(backend):
    scores = np.array([[1.0, NAN, 2.0, INF, 0.0]])
    mask = np.isfinite(scores)
    hidden = sl.Lookup(np.ones((1, 1)), scores.T, scale=1.0, mask=mask, q_offset=0, backend=backend)
    clean = sl.Lookup(np.ones((1, 1)), np.where(mask, scores, 0).T, scale=1.0, mask=mask,
                      q_offset=0, backend=backend)  # fmt: skip
    assert _all(hidden).to_dict() == _all(clean).to_dict()


def test_a_visible_score_of_minus_inf_may_be_among_the_best(backend):
    key = np.array([[-INF], [1.0], [-INF], [-INF]])
    mask = [False, True, True, True]
    top = sl.Lookup([[1.0]], key, scale=1.0, mask=mask, backend=backend).inspect(top=3).top
    assert top.keys.tolist() == [[1, 2, 3]]
    assert top.weights.tolist() == [[1, 0, 0]]


def test_a_row_of_visible_scores_of_minus_inf(backend):
    key = np.full((3, 1), -INF)
    alone = sl.Lookup(
        [[1.0]], key, scale=1.0, mask=[True, True, False], q_offset=0, backend=backend
    )
    found = _all(alone, top=3)
    for fact in (found.entropy, found.groups, found.distance):
        assert np.isnan(fact).all()
    assert found.top.keys.tolist() == [[0, 1, -1]]
    assert np.isnan(found.top.weights).tolist() == [[True, True, False]]
    assert found.max_score.tolist() == [-INF]
    assert np.isnan(found.received).tolist() == [True, True, False]
    sunk = sl.Lookup([[1.0]], key, scale=1.0, sinks=[0.5], q_offset=0, backend=backend)
    found = _all(sunk)
    assert found.sink.tolist() == [1.0]
    for fact in (found.entropy, found.groups, found.distance, found.received, found.top.weights):
        assert not fact.any()


@pytest.mark.parametrize("sizes", [(0, 3, 2), (3, 0, 2), (0, 0, 2), (3, 5, 0)], ids=str)
def test_sizes_of_0(backend, sizes):
    q_len, kv_len, head_dim = sizes
    some = sl.Lookup(np.ones((2, q_len, head_dim)), np.ones((2, kv_len, head_dim)), q_offset=0,
                     backend=backend)  # fmt: skip
    found = _all(some, normalised=True)
    assert found.entropy.shape == found.max_score.shape == (2, q_len)
    assert found.max_score_per_head.shape == (2,)
    assert found.top.keys.shape == (2, q_len, 2)
    assert found.received.shape == found.received_per_kv_head.shape == (2, kv_len)
    assert found.groups.shape == (2, q_len, min(kv_len, 2))
    assert found.distance.shape == (2, q_len, 4 if q_len and kv_len else 0)
    if not q_len or not kv_len:
        assert found.distance_bins == ()
        assert not found.received.any()
        assert (found.max_score_per_head == -INF).all()
    else:
        np.testing.assert_allclose(found.entropy, LN(kv_len))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_facts_have_the_accumulators_dtype_and_the_callers_axes(backend, dtype):
    query, key = np.ones((3, 2, 4, 5, 1), dtype), np.ones((3, 2, 2, 7, 1), dtype)
    found = _all(sl.Lookup(query, key, q_offset=0, sinks=np.zeros(4), backend=backend))
    kind = np.float64 if dtype == "float64" else np.float32
    rows, per_key = (3, 2, 4, 5), (3, 2, 4, 7)
    shapes = {"entropy": rows, "sink": rows, "max_score": rows, "max_score_per_head": (3, 2, 4),
              "received": per_key, "received_per_kv_head": (3, 2, 2, 7), "groups": (*rows, 2),
              "distance": (*rows, 4)}  # fmt: skip
    for name, shape in shapes.items():
        fact = getattr(found, name)
        assert (fact.shape, fact.dtype) == (shape, kind), name
        assert fact.flags.c_contiguous
    assert found.top.weights.dtype == kind


def test_repr_says_sizes_and_ranges_in_a_few_lines():
    some = look([[0.0, 0.0], [NAN, 0.0]])
    assert repr(some.inspect(entropy=True, top=1)).splitlines() == [
        f"Inspection by {some.inspect().backend}, float64",
        "  out          (2, 2)  0.500, 2 NaN",
        "  lse          (2,)    0.693, 1 NaN",
        "  entropy      (2,)    0.693, 1 NaN",
        "  top.keys     (2, 1)  -1 ... 0",
        "  top.weights  (2, 1)  0.500, 1 NaN",
    ]


def test_to_dict_is_ready_for_json():
    found = look([[0.0, 0.0], [NAN, 0.0]]).inspect(entropy=True, top=1, distance=True)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert set(plain) == {"lse", "backend", "entropy", "top", "distance", "distance_bins"}
    assert plain["entropy"] == [LN(2), "NaN"]
    assert plain["top"] == {"keys": [[0], [-1]], "weights": [[0.5], ["NaN"]]}
    assert plain["distance_bins"] == [[0, 0], [1, 1]]
    assert found.to_dict(out=True)["out"] == [[0.5, 0.5], ["NaN", "NaN"]]


def test_facts_know_whether_a_pass_has_to_count():
    assert not Facts(sink=True, received=True).tallied
    for asked in ({"entropy": True}, {"top": 1}, {"bins": 0}, {"labels": np.zeros((1, 0), int)}):
        assert Facts(**asked).tallied


def test_labels_far_below_zero_are_no_group(backend):
    some = sl.Lookup(np.zeros((1, 1)), np.zeros((3, 1)), backend=backend)
    found = some.inspect(groups=np.array([0, -(2**32), -1]))
    np.testing.assert_allclose(found.groups, [[1 / 3]])
