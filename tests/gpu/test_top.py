"""The best keys of each row on a GPU, interpreted: chunks, segments, strips, sorting, ties."""

import compiling
import numpy as np
import pytest
from looked import inspect, look_of

import cases
from agreement import assert_same_bits, expect
from looking import assert_facts, positioned
from softlookup.backends.triton import splitting, top
from softlookup.backends.triton.top import strips

NAMES = (
    "causal with leading empty rows", "bias in bfloat16 on float16", "no keys", "no queries",
    "padded keys, one entry empty", "scale 0",
)  # fmt: skip


def assert_top(call, count, look=None):
    look = look or look_of(*call.arrays, **call.options)
    found = inspect(look, top=count)
    assert_facts(found, {"top": count}, call, look.problem)
    return found


def random_call(rows, keys, seed=0, **options):
    rng = np.random.default_rng(seed)
    shapes = (rows, 16), (keys, 16), (keys, 3)
    return cases.Call(*(rng.standard_normal(s).astype(np.float32) for s in shapes), options)


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_case(name):
    call = cases.build(name)
    call = call._replace(options=positioned(look_of(*call.arrays, **call.options), call.options))
    assert_top(call, 3)


@pytest.mark.parametrize("count", [1, 5, 64, 65, 500])
def test_any_count(count):
    assert_top(random_call(3, 331), count)


@pytest.mark.parametrize("options", [{}, {"causal": True, "q_offset": 200}, {"window": (40, 3)}])
def test_rows_of_several_tiles(options, monkeypatch):
    monkeypatch.setattr(splitting, "_MOST_ROWS", 0)
    call = random_call(37, 261, **{"q_offset": 100, **options})
    assert_top(call, 4)


def test_segments_are_merged_in_their_order(monkeypatch):
    monkeypatch.setattr(top, "_SEGMENT", 32)
    call = random_call(2, 3001)
    call.key[:] = call.key[np.arange(3001) % 1100]  # every score stands several times
    found = assert_top(call, 7)
    assert (found.top.keys[:, 0] < 1100).all()
    assert_same_bits(found.out, inspect(look_of(*call.arrays)).out)


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("most", [0, 64])
def test_ties_go_to_the_lower_position(parts, most, monkeypatch):
    monkeypatch.setattr(splitting, "_MOST_ROWS", most)
    monkeypatch.setattr(top, "_parts_of", lambda *_: parts)
    call = random_call(3, 200, scale=1.0)
    call.key[:] = call.key[:1]
    call.key[[150, 77, 78, 199]] *= 2
    call.query[:] = np.abs(call.query) * np.sign(call.key[:1])
    found = inspect(look_of(*call.arrays, **call.options), top=7).top
    np.testing.assert_array_equal(found.keys, [[77, 78, 150, 199, 0, 1, 2]] * 3)
    exact, *_ = expect(*call.arrays, **call.options)
    weights = np.take_along_axis(exact.weights, found.keys, -1)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-5)


@pytest.mark.parametrize("bias", [None, np.zeros((5, 75), np.float32)], ids=["", "bias"])
@pytest.mark.parametrize("count", [3, 70])
def test_rows_that_are_nan_empty_or_of_minus_infinity(count, bias):
    call = random_call(5, 75, mask=np.arange(75) != 4 * np.ones((5, 1)), bias=bias)
    np.abs(call.query, out=call.query)
    call.query[1, 0] = np.nan
    call.options["mask"][2] = False
    call.options["mask"][3] = np.isin(np.arange(75), [40, 70])
    call.key[70] = -np.inf
    call.options["mask"][4] = np.arange(75) == 70
    keys = assert_top(call, count).top.keys
    np.testing.assert_array_equal(keys[1:3], -1)
    np.testing.assert_array_equal(keys[3:, :3], [[40, 70, -1], [70, -1, -1]])


@pytest.mark.parametrize("count", [3, 70])
def test_rows_of_the_lowest_finite_score_have_equal_weights(count):
    call = random_call(2, 75, bias=np.full((2, 75), np.finfo(np.float32).min))
    found = assert_top(call, count)
    np.testing.assert_allclose(found.top.weights, 1 / 75, rtol=1e-5)


@pytest.mark.parametrize("most", [0, 64])
@pytest.mark.parametrize("scale", [0.25, 4.0])  # the lowest number times 4 is infinite
def test_visible_scores_that_are_all_infinite_are_chosen_in_order(scale, most, monkeypatch):
    monkeypatch.setattr(splitting, "_MOST_ROWS", most)
    call = random_call(2, 70, scale=scale, q_offset=30, causal=True)
    np.abs(call.query, out=call.query)
    call.key[:, 3] = -np.inf
    found = assert_top(call, 4)
    np.testing.assert_array_equal(found.top.keys, [[0, 1, 2, 3]] * 2)
    assert np.isnan(found.top.weights).all()


def test_strips_hold_whole_groups_or_start_at_multiples_of_128():
    assert strips(12, 4, 3, 40) == [(0, 12, 0, 3, None, 4)]
    assert [s[:4] for s in strips(12, 4, 3, 30)] == [(0, 8, 0, 3), (8, 4, 0, 3)]
    cut = [s[:4] for s in strips(2, 1, 300, 260)]
    assert cut == [(0, 1, 0, 256), (0, 1, 256, 44), (1, 1, 0, 256), (1, 1, 256, 44)]


@pytest.mark.parametrize("most", [0, 64])
def test_strips_change_nothing(most, monkeypatch):
    monkeypatch.setattr(splitting, "_MOST_ROWS", most)
    call = cases.build("plain in float16")
    whole = assert_top(call, 3)
    monkeypatch.setattr(top, "_MOST_BYTES", 1)
    monkeypatch.setattr(top, "_LEAST_ROWS", 21)
    cut = inspect(look_of(*call.arrays), top=3)
    for left, right in ((whole.out, cut.out), (whole.top.weights, cut.top.weights)):
        assert_same_bits(left, right)
    np.testing.assert_array_equal(whole.top.keys, cut.top.keys)


def test_what_chooses_stays_in_registers():
    kernels = compiling.launches(
        "test_forward:launch_answers", "sm_90a", head_dim=128, causal=True, facts=True, top=8
    )
    named = {kernel.name: kernel for kernel in kernels}
    assert not named["chunks_kernel"].spill_stores
    assert not named["keys_kernel"].spill_stores
    assert not named["chunks_kernel"].count(r"\bSHFL\b")  # each row is one thread's
