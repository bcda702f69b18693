"""Few queries over many keys, interpreted: tiles of a group's rows, segments, what is cut how."""

import dataclasses
import itertools

import compiling
import numpy as np
import pytest
import torch
from aloft import DTYPES, problem_of
from looked import inspect, look_of

import cases
from agreement import assert_answer, assert_same_bits, expect
from looking import assert_facts
from softlookup.backends.triton import answers, forward, splitting, top
from softlookup.backends.triton.launch import launch_of
from softlookup.backends.triton.maxima import Strip
from softlookup.device import DeviceArray
from softlookup.facts import Facts

H200 = 132  # multiprocessors
KEYS = 230


@pytest.fixture
def cut_small(monkeypatch):
    """Let interpreted problems be cut as large ones are."""
    monkeypatch.setattr(splitting, "_LEAST_KEYS", 64)
    monkeypatch.setattr(splitting, "_INTERPRETED", 64)


DRAFTED = {
    "plain": {},
    "causal": {"causal": True, "q_offset": [185, 3]},
    "a window": {"window": (100, 0), "q_offset": [221, 60]},
    "a window both ways": {"window": (60, 40), "q_offset": 120},
    "padded": {"kv_lens": [225, 65], "causal": True, "q_offset": [190, 60]},
    "a mask": {"mask": np.arange(KEYS) % 67 < np.arange(8)[:, None, None], "q_offset": 0},
    "a bias": {"bias": np.linspace(-3, 3, KEYS)[None].astype(np.float32), "softcap": 2.0},
}


def drafted(name, q_len=9, group=8):
    rng = np.random.default_rng(q_len)
    shapes = (2, group, q_len, 16), (2, 1, KEYS, 16), (2, 1, KEYS, 5)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    sinks = np.linspace(-1, 2, group).astype(np.float32)
    return cases.Call(*arrays, {"sinks": sinks, **DRAFTED[name]})


@pytest.mark.parametrize(
    ("name", "q_len", "group"),
    [*((name, 9, 8) for name in DRAFTED), ("padded", 40, 2), ("a window", 70, 1)],
)
def test_drafted_tokens_are_exact_and_facts_change_no_bit(name, q_len, group, cut_small):
    call = drafted(name, q_len, group)
    look = look_of(*call.arrays, **call.options)
    launch = launch_of(look.problem)
    cut = splitting.cut_of(launch)
    assert splitting.fits(launch, cut)
    assert (cut.rows, cut.tiles) == (64, 2)
    assert cut.segments >= 3
    asked = {"entropy": True, "max_score": True, "sink": True, "top": 3}
    exact, naive, narrow = expect(*call.arrays, **call.options)
    found, bare = inspect(look, **asked), inspect(look)
    assert_answer(found, exact, naive, narrow)
    assert_facts(found, asked, call, look.problem)
    assert_same_bits(bare.out, found.out)
    assert_same_bits(bare.lse, found.lse)


@pytest.mark.parametrize("name", ["causal", "a window"])
def test_strips_of_whole_groups_change_no_bit(name, cut_small):
    call = drafted(name)
    launch = launch_of(look_of(*call.arrays, **call.options).problem)
    whole, cut = (forward.room_for(launch, forward.Asked(entropy=True)) for _ in range(2))
    forward.run(launch, whole, Strip(0, 16, 0, 9))
    for pair in (0, 8):
        forward.run(launch, cut, Strip(pair, 8, 0, 9))
    for fact in ("out", "lse", "entropy"):
        assert torch.equal(getattr(whole, fact), getattr(cut, fact)), fact


SIZES = {  # of a call, and what becomes of it on an H200: tiles, segments, whether it comes here
    "one query": ({"q_len": 1, "kv_len": 2**20}, (1, 128, True)),
    "drafted tokens": ({"q_len": 9, "kv_len": 10**6, "kv_heads": 4}, (2, 33, True)),
    "drafted tokens of a batch": ({"q_len": 9, "kv_len": 4096, "batch": 99}, (2, 1, True)),
    "a tile of long rows": ({"q_len": 9, "kv_len": 2**20, "head_dim": 256}, (3, 88, True)),
    "keys of a window": ({"q_len": 1, "kv_len": 2**20, "window": (4095, 0)}, (1, 17, True)),
    "sentences": ({"q_len": 64, "kv_len": 64, "batch": 256, "group": 1}, (1, 1, True)),
    "one head": ({"q_len": 2048, "kv_len": 2**15, "group": 1}, (32, 8, True)),
    "few keys": ({"q_len": 2048, "kv_len": 512, "group": 1}, (32, 2, False)),
    "few keys of a window": (
        {"q_len": 2048, "kv_len": 2**15, "group": 1, "window": (99, 0)}, (32, 1, False),
    ),
    "many heads": ({"q_len": 2048, "kv_len": 2**15, "kv_heads": 4}, (256, 1, False)),
    "all heads in one": ({"q_len": 33, "kv_len": 2**15, "group": 512}, (264, 1, False)),
}  # fmt: skip


def launch_for(*, q_len, kv_len, batch=1, kv_heads=1, group=8, head_dim=128, **options):
    """Return a launch over zeros that take no memory."""
    one = torch.zeros(1, dtype=torch.bfloat16)
    query = one.expand(batch, kv_heads * group, q_len, head_dim)
    key = one.expand(batch, kv_heads, kv_len, head_dim)
    return launch_of(look_of(query, key, key, q_offset=0, **options).problem)


@pytest.mark.parametrize("name", SIZES)
def test_how_a_problem_is_cut(name, monkeypatch):
    monkeypatch.setattr(splitting, "_INTERPRETED", H200)
    sizes, expected = SIZES[name]
    launch = launch_for(**sizes)
    cut = splitting.cut_of(launch)
    assert (cut.tiles, cut.segments, splitting.fits(launch, cut)) == expected
    assert cut.span % 64 == 0


def test_parts_take_no_more_memory_however_long_the_keys(monkeypatch):
    monkeypatch.setattr(splitting, "_INTERPRETED", H200)
    lengths, several = (1, 60, 700, 5000), 0
    for q_len, group, batch in itertools.product(lengths, (1, 8), (1, 7, 150)):
        for head_dim, kv_len in itertools.product((64, 128, 256), (1000, 2**17, 2**30)):
            launch = launch_for(
                q_len=q_len, kv_len=kv_len, batch=batch, group=group, head_dim=head_dim
            )
            cut = splitting.cut_of(launch)
            if cut.segments > 1 and splitting.fits(launch, cut):
                several += 1
                rows = batch * cut.tiles * cut.segments * cut.rows
                assert 4 * rows * (head_dim + 4) <= 9 * 2**20
    assert several > 50


@pytest.mark.parametrize("group", [1, 3, 8])
def test_segments_cover_what_a_tile_sees_through_a_window(group, cut_small):
    for left, right in itertools.product((0, 70, 100, 127), (0, 28, 64)):
        launch = launch_for(q_len=60, kv_len=1000, group=group, window=(left, right))
        cut = splitting.cut_of(launch)
        for tile, offset in itertools.product(range(cut.tiles), range(500, 564)):
            rows = range(tile * cut.rows, min((tile + 1) * cut.rows, 60 * group))
            low = (rows[0] // group + offset - left) // 64 * 64
            high = rows[-1] // group + offset + right + 1
            assert high - low <= cut.span * cut.segments


def test_a_strip_of_top_holds_all_rows_of_a_kv_head():
    assert splitting._MOST_ROWS <= top._LEAST_ROWS


def launch_decoding(q_len, kv_len, head_dim, dtype="bfloat16", **asked):
    """Launch queries of 8 heads over the keys of one, as on a GPU."""
    problem = problem_of(dtype, kv_len, head_dim, causal=True)
    query = DeviceArray(torch.zeros(1, 8, q_len, head_dim, dtype=DTYPES[dtype]))
    problem = dataclasses.replace(problem, query=query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "_INTERPRETED", H200)
        answers.run(launch_of(problem), Facts(entropy=True, **asked), forward)


@pytest.mark.parametrize(
    ("q_len", "head_dim", "dtype"),
    [(1, 256, "bfloat16"), (17, 256, "bfloat16"), (17, 128, "float32")],
)
def test_no_tile_spills_and_no_merge(q_len, head_dim, dtype):
    kernels = compiling.launches(
        "test_splitting:launch_decoding", "sm_80", q_len=q_len, kv_len=2**15, head_dim=head_dim,
        dtype=dtype,
    )  # fmt: skip
    named = {kernel.name: kernel for kernel in kernels}
    for name in ("parts_kernel", "merge_kernel"):
        assert named[name].spill_stores == named[name].spill_loads == 0
