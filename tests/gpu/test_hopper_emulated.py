"""The Hopper kernel's source, emulated: right however copies and products are delayed.

And the emulation itself: it must tell when a wait, a release or a count is wrong. Two such faults
it cannot tell, since the barriers of the values cover them: keys that are released too early, and a
next tile that is not waited for.
"""

from dataclasses import replace

import emulation
import hopper_runs
import pytest
import torch
from hopper_runs import Kind, assert_right, run
from turns import StandstillError

import oracle
from softlookup.backends.triton import forward, hopper, hopper_launch
from softlookup.backends.triton.careful import mend
from softlookup.backends.triton.launch import launch_of
from softlookup.backends.triton.maxima import CHUNK, Strip

SOURCE = emulation.SOURCE.read_text(encoding="utf-8")
KINDS = {
    "full": Kind(),
    "causal": Kind(causal=True),
    "full, 128": Kind(head_dim=128, dtype="bfloat16"),
    "causal, 128": Kind(causal=True, head_dim=128, dtype="bfloat16"),
    "causal, longer keys": Kind(causal=True, q_len=256, kv_len=512, q_offset=128),
    "full, longer keys": Kind(q_len=128, kv_len=384, batch=2, heads=(1, 3)),
    "one block": Kind(q_len=128, kv_len=128),
    "causal, long": Kind(causal=True, q_len=640, kv_len=640, heads=(1, 1)),
}


@pytest.mark.parametrize("haste", [0.02, 0.3, 0.8])
@pytest.mark.parametrize("name", list(KINDS))
def test_all_that_it_stores_is_right(monkeypatch, name, haste):
    kind = KINDS[name]
    for seed in (1, 2):
        tensors = kind.tensors(seed)
        ran = run(monkeypatch, kind.problem(*tensors), seed=seed, haste=haste)
        assert_right(kind, tensors, ran)


def test_copies_go_by_the_names_that_triton_3_9_leaves(monkeypatch):
    monkeypatch.setattr(emulation, "COPIES", ("async_load", "async_store"))
    kind = KINDS["one block"]
    tensors = kind.tensors()
    assert_right(kind, tensors, run(monkeypatch, kind.problem(*tensors)))


@pytest.mark.parametrize("name", list(KINDS))
def test_facts_change_no_bit_of_the_rest(monkeypatch, name):
    kind = KINDS[name]
    problem = kind.problem(*kind.tensors())
    with_all = run(monkeypatch, problem).room
    for entropy, maxima in ((False, False), (True, False), (False, True)):
        other = run(monkeypatch, problem, entropy=entropy, maxima=maxima, seed=5).room
        for field in ("out", "lse", "shift", "factor", "peak"):
            assert torch.equal(getattr(other, field), getattr(with_all, field)), field


def test_strips_of_rows_and_heads_are_the_whole(monkeypatch):
    kind = replace(KINDS["causal, longer keys"], batch=2, heads=(2, 3))
    problem = kind.problem(*kind.tensors())
    whole = run(monkeypatch, problem)
    launch = launch_of(problem)
    room = hopper_launch.room_for(launch, forward.Asked(entropy=True, peak=True))
    for pair, pairs in ((0, 5), (5, 7)):
        for row in (0, 128):
            maxima = torch.full((pairs, 16, 128, 4), float("-inf"))
            hopper_launch.run(launch, room, Strip(pair, pairs, row, 128, maxima))
            assert torch.equal(maxima, whole.maxima[pair : pair + pairs, :, row : row + 128])
    for field in ("out", "lse", "shift", "factor", "peak", "entropy"):
        assert torch.equal(getattr(room, field), getattr(whole.room, field)), field


def test_arrays_are_read_where_they_lie(monkeypatch):
    kind = replace(KINDS["causal"], batch=2)
    tensors = kind.tensors()
    whole = run(monkeypatch, kind.problem(*tensors)).room
    swapped = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in tensors]
    assert not swapped[0].is_contiguous()
    wide = [torch.cat([x, x], dim=-1)[..., : kind.head_dim] for x in tensors]
    for other in (swapped, wide):
        assert torch.equal(run(monkeypatch, kind.problem(*other)).room.out, whole.out)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_hidden_value_contributes_nothing_once_it_is_mended(monkeypatch, bad):
    kind = replace(KINDS["causal"], heads=(2, 1))
    query, key, value = tensors = kind.tensors()
    value[0, 1, 100, 3] = bad
    problem = kind.problem(*tensors)
    room = run(monkeypatch, problem).room
    assert room.spoilt.tolist() == [[0, 1]]
    mend(launch_of(problem), room)
    calm = kind.tensors()
    before = run(monkeypatch, kind.problem(*calm)).room.out
    assert torch.equal(room.out[:, 0], before[:, 0])
    assert not room.out[0, 1, 100:, 3].isfinite().any()
    room.out[0, 1, 100:, 3] = calm[2][0, 1, 100, 3] = 0
    exact = hopper_runs.expected(kind, [query, key, calm[2]])
    assert room.out.isfinite().all()
    assert abs(room.out[0, 1, :100].numpy() - exact.out[0, 1, :100]).max() < 2e-3


def test_scores_that_are_not_finite(monkeypatch):
    kind = replace(KINDS["full"], heads=(1, 1))
    query, key, _ = tensors = kind.tensors()
    query[0, 0, :, 0] = 1
    query[0, 0, 7] = float("nan")
    key[0, 0, [3, 200], 0] = float("-inf")  # of an early and of a late block
    problem = kind.problem(*tensors)
    ran = run(monkeypatch, problem)
    assert ran.room.faint.tolist() == [[1]]
    assert not ran.room.spoilt.any()
    mend(launch_of(problem), ran.room)
    key[0, 0, [3, 200]] = 0
    seen = torch.ones(256, dtype=torch.bool)
    seen[[3, 200]] = False
    exact = oracle.lookup(*(x.numpy() for x in tensors), mask=seen.numpy())
    lost = torch.arange(256) == 7
    for field in (ran.room.out, ran.room.lse, ran.room.entropy, ran.room.peak, ran.room.factor):
        assert field[0, 0, 7].isnan().all()
        assert field[0, 0, ~lost].isfinite().all()
    assert abs(ran.room.lse[0, 0, ~lost].numpy() - exact.lse[0, 0, ~lost]).max() < 1e-5
    ends = ran.maxima[0, [0, 6], 0, 1], ran.maxima[0, [0, 6], 0, 0]
    assert all(end.isfinite().all() for end in ends)


@pytest.mark.parametrize("causal", [False, True])
def test_maxima_are_finite_where_something_is_visible_whatever_the_scale(monkeypatch, causal):
    kind = replace(KINDS["causal" if causal else "full"], heads=(1, 1))
    query, key, value = kind.tensors()
    query[...], key[...] = 1, float("-inf")
    problem = replace(kind.problem(query, key, value), scale=4.0)  # infinite: the lowest times 4
    maxima = run(monkeypatch, problem).maxima[0]
    chunks, rows, parts = maxima.shape
    first = torch.arange(chunks)[:, None, None] * 32 + torch.arange(parts) * 2  # key of a part
    sees = (torch.arange(rows)[:, None] + kind.kv_len - kind.q_len >= first) | (not causal)
    assert torch.equal(maxima.isfinite(), sees)


WAIT_FOR_VALUES = """\
            acc, weights = warpgroup_mma_wait(0, deps=(acc, weights))
            mbarrier.arrive(v_empty.index(stage), count=1)
"""
FAULTS = {
    "values released too early": (
        WAIT_FOR_VALUES,
        "".join(reversed(WAIT_FOR_VALUES.splitlines(keepends=True))),
    ),
    "values not waited for": ("mbarrier.wait(v_full.index(stage), phase)\n", "pass\n"),
    "keys not waited for": ("mbarrier.wait(k_full.index(next_stage), next_phase)\n", "pass\n"),
    "first keys not waited for": ("mbarrier.wait(k_full.index(stage), phase)\n", "pass\n"),
    "queries not waited for": ("mbarrier.wait(q_full.index(ME), taken & 1)\n", "pass\n"),
    "queries released twice": (
        "mbarrier.arrive(q_empty.index(ME), count=1)",
        "mbarrier.arrive(q_empty.index(ME), count=2)",
    ),
    "queries released too early": (
        "        for _ in range(1, blocks):\n",
        "        mbarrier.arrive(q_empty.index(ME), count=1)\n        for _ in range(1, blocks):\n",
    ),
    "queries never released": ("mbarrier.arrive(q_empty.index(ME), count=1)\n", "pass\n"),
    "keys never released": ("mbarrier.arrive(k_empty.index(next_stage), count=1)\n", "pass\n"),
    "values never released": ("mbarrier.arrive(v_empty.index(stage), count=1)\n", "pass\n"),
    "products not waited for": (
        "warpgroup_mma_wait(1, deps=(s,))",
        "warpgroup_mma_wait(2, deps=(s,))",
    ),
    "values' product not waited for": (
        "            acc, weights = warpgroup_mma_wait(0,",
        "            acc, weights = warpgroup_mma_wait(1,",
    ),
    "store not waited for": ("        tma.store_wait(0)\n        room", "        room"),
    "one consumer frees keys": (
        "k_full, k_empty = _barriers(STAGES, 1), _barriers(STAGES, 2)",
        "k_full, k_empty = _barriers(STAGES, 1), _barriers(STAGES, 1)",
    ),
    "one consumer frees values": (
        "v_full, v_empty = _barriers(STAGES, 1), _barriers(STAGES, 2)",
        "v_full, v_empty = _barriers(STAGES, 1), _barriers(STAGES, 1)",
    ),
    "turn never handed over": ("mbarrier.arrive(your_turn, count=1)\n", "pass\n"),
    "both wait for the other's turn": ("(step + 1 - ME) & 1", "(step + ME) & 1"),
    "next tile overwritten": (
        "drawn_full, drawn_empty = _barriers(2, 1), _barriers(2, 2)",
        "drawn_full, drawn_empty = _barriers(2, 1), _barriers(2, 1)",
    ),
    "stages mixed up": ("next_phase = _stage(step + 1", "next_phase = _stage(step"),
    "out not rescaled": ("acc = acc * gl.convert_layout(keep, o_rows)[:, None]", "pass"),
    "diagonal hidden": (">= keys[None, :]", "> keys[None, :]"),
    "entropy not moved": ("moment += row_sum * _beside(moved, row_sum)", "pass"),
    "wrong head of keys": ("h = h // group", "h = h % group"),
}  # fmt: skip


@pytest.mark.parametrize("fault", list(FAULTS))
def test_the_emulation_tells_a_fault(monkeypatch, fault):
    right, wrong = FAULTS[fault]
    assert right in SOURCE
    source = SOURCE.replace(right, wrong)
    with pytest.raises((AssertionError, StandstillError, TypeError)):
        run_often(monkeypatch, source)


def run_often(monkeypatch, source):
    kind = Kind(causal=True, q_len=512, kv_len=512)
    for seed in range(6):
        tensors = kind.tensors(seed)
        problem, haste = kind.problem(*tensors), (0.02, 0.3, 0.8)[seed % 3]
        ran = run(monkeypatch, problem, seed=seed, haste=haste, source=source)
        assert_right(kind, tensors, ran)


def test_the_same_runs_find_nothing_wrong_with_the_source(monkeypatch):
    run_often(monkeypatch, SOURCE)


def test_tiles_of_the_kernel_are_those_that_its_launch_counts():
    assert hopper.BLOCK == 2 * hopper.ROWS == 4 * CHUNK
