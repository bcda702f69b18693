"""The best keys of each row on a GPU, interpreted: chunks, segments, strips, sorting, ties."""

import dataclasses
from types import SimpleNamespace

import compiling
import numpy as np
import pytest
from aloft import problem_of
from looked import inspect, look_of

import cases
from agreement import assert_same_bits, expect
from looking import assert_facts, positioned
from softlookup.backends.triton import splitting, top
from softlookup.backends.triton.launch import launch_of
from softlookup.backends.triton.running import Room
from softlookup.backends.triton.top import strips
from softlookup.device import DeviceArray

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
    monkeypatch.setattr(top, "_LEAST_CHUNKS", 32)
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


@pytest.mark.parametrize("parts", [1, 4])
def test_a_tie_in_a_later_part_may_be_the_lower_position(parts, monkeypatch):
    monkeypatch.setattr(top, "_parts_of", lambda *_: parts)
    call = random_call(2, 200, scale=1.0)
    call.query[:], call.key[:] = 1, 0
    call.key[[24, 26, 28, 6]] = 1  # in the parts 0, 1, 2, 3 of a chunk
    call.key[100] = 2
    np.testing.assert_array_equal(assert_top(call, 4).top.keys, [[100, 6, 24, 26]] * 2)


def test_zeros_of_both_signs_are_ties():
    call = random_call(2, 70, scale=-1e-30)
    call.query[:], call.key[:] = 1, 1e-20
    call.key[::3] *= -1
    np.testing.assert_array_equal(assert_top(call, 5).top.keys, [[0, 1, 2, 3, 4]] * 2)


@pytest.mark.parametrize("options", [{}, {"softcap": 7000.0}])
def test_many_best_keys_weigh_what_few_do(options):
    call = random_call(2, 300, scale=0.3, **options)
    call.query[:], call.key[:] = 40, np.arange(300)[:, None] % 97 - 20  # so products are exact
    few, many = (assert_top(call, count).top for count in (64, 65))
    np.testing.assert_array_equal(few.keys, many.keys[:, :64])
    assert_same_bits(few.weights, np.ascontiguousarray(many.weights[:, :64]))


@pytest.mark.parametrize("tiles", [1, 100, 5000])
@pytest.mark.parametrize("chunks", [1, 4096, 100_001])
def test_segments_are_as_many_as_fill_a_gpu(tiles, chunks):
    launch = launch_of(look_of(*random_call(1, 1).arrays).problem)
    span = top._span(launch, chunks, tiles)
    programs, wanted = tiles * -(-chunks // span), top._PROGRAMS * top._INTERPRETED
    assert span % top._BLOCK == 0 and span >= top._LEAST_CHUNKS  # noqa: PT018 (one thing)
    assert programs <= max(wanted, tiles)
    assert programs * 2 > wanted or span <= top._LEAST_CHUNKS or tiles * 2 > wanted


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


def launch_choice(lengths, best, queries=1, **sizes):
    """Launch what finds the best of so many keys, but for what answers."""
    for length in lengths:
        problem = problem_of(length=length, **sizes)
        query = DeviceArray(problem.query.tensor[:, :, :queries].clone())
        launch = launch_of(dataclasses.replace(problem, query=query))
        row = launch.empty(1, 1, queries)
        answerer = SimpleNamespace(run=lambda *_: None)
        top.best_of(launch, Room(shift=row, factor=row.clone()), best, answerer)


@pytest.mark.parametrize(
    ("best", "dtype", "head_dim", "target"),
    [
        (8, "bfloat16", 128, "sm_90a"), (64, "bfloat16", 128, "sm_90a"),
        (64, "bfloat16", 256, "sm_80"), (8, "float32", 128, "sm_80"),
    ],
)  # fmt: skip
def test_what_chooses_stays_in_registers(best, dtype, head_dim, target):
    kernels = compiling.launches(
        "test_top:launch_choice", target, lengths=[2**15], dtype=dtype, head_dim=head_dim,
        best=best,
    )  # fmt: skip
    chunks, *_ = kernels
    assert [k.name for k in kernels] == ["chunks_kernel", "segments_kernel", "keys_kernel"]
    assert all(kernel.spill_stores == kernel.spill_loads == 0 for kernel in kernels)
    if best == 8:
        assert not chunks.count(r"\bSHFL\b")  # each row is one thread's


def test_keys_that_double_compile_nothing_anew():
    kernels = compiling.launches(
        "test_top:launch_choice", "sm_80", lengths=[2**17, 2**18], head_dim=64, best=8,
        queries=2**14,
    )  # fmt: skip
    assert len(kernels) == 6
    assert len({(kernel.name, kernel.sass) for kernel in kernels}) == 3
