"""What keys receive, groups and distances on a GPU: every case, any rows, ranges of them too."""

import borrowed
import compiling
import numpy as np
import pytest
import sent
import torch
from aloft import problem_of

import cases
from agreement import assert_same_bits, expect
from budget import assert_within_budget, loudest
from looking import depth, expected, positioned
from softlookup.arrays import in_memory
from softlookup.backends.triton import received, row_states, second, shares
from softlookup.backends.triton.launch import launch_of
from softlookup.facts import Facts, Findings, build_facts

NAMES = [name for name in borrowed.NAMES if not name.startswith(("several tiles", "many keys"))]
SHARES = {"groups", "distance"}


@pytest.fixture(autouse=True)
def small_tiles(request, monkeypatch):
    """Cut small problems into several tiles, so that some are whole and some are not."""
    if "compile" not in request.node.name:
        monkeypatch.setattr(received, "tiles_of", lambda _: row_states.Tiles(32, 16, 4, 1))


def look_of(name):
    call = cases.build(name)
    bare = sent.Lookup(*call.arrays, **call.options).look
    call = call._replace(options=positioned(bare, call.options))
    return call, sent.Lookup(*call.arrays, **call.options).look.problem


def found(problem, facts):
    """The facts of a second pass, with the normaliser of rows that are listed."""
    launch = launch_of(problem)
    rows = row_states.states_of(launch, torch.arange(problem.q_len, dtype=torch.int32))
    nothing = Findings(None, None)
    return second.completed(nothing, launch, rows.shift, rows.factor, facts)


def assert_second(name, asked):
    call, problem = look_of(name)
    got = found(problem, build_facts(problem, received=True, **asked))
    exact, _, wide, rough = expected(call, asked, problem)
    facts = {"received": in_memory(got.received)}
    if "normalised" in asked:
        facts["normalised"] = facts["received"] / np.maximum(in_memory(got.readers), 1)
    facts |= {each: in_memory(getattr(got.rows, each)) for each in asked.keys() & SHARES}
    for fact, array in facts.items():
        near = rough[fact].astype(np.float32)
        restored = problem.restore(array)
        size = loudest(exact) * depth(wide[fact])
        assert_within_budget(restored, np.asarray(wide[fact]), near, fact, size)


@pytest.mark.parametrize("name", NAMES)
def test_all_rows(name):
    _, problem = look_of(name)
    rng = np.random.default_rng(len(name))
    labels = rng.integers(-1, 4, (*problem.batch_shape, problem.kv_len))
    assert_second(name, {"normalised": True, "groups": labels, "distance": True})


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    "name", ["everything at once", "window both ways", "causal from the end", "plain in float16"]
)
def test_some_rows(name, share):
    _, problem = look_of(name)
    some = np.random.default_rng(7).random((*problem.batch_shape, problem.q_len)) > share
    assert_second(name, {"normalised": True, "from_rows": some})


@pytest.mark.parametrize(
    ("name", "share"),
    [("several tiles, causal", 0.0), ("several tiles, mask and bias", 0.8)],
)
def test_ranges_of_rows(name, share, monkeypatch):
    monkeypatch.setattr(received, "tiles_of", lambda _: row_states.Tiles(128, 16, 4, 1))
    monkeypatch.setattr(received, "_RANGE", 50)
    _, problem = look_of(name)
    some = np.random.default_rng(7).random(problem.q_len) >= share
    assert_second(name, {"normalised": True, "from_rows": some})


@pytest.mark.parametrize(
    "options",
    [{"kv_lens": np.array(29)}, {"causal": True}, {"window": (40, 3)}, {"window": (3, None)}],
    ids=str,
)
def test_loud_rows_in_ranges(options, monkeypatch):
    monkeypatch.setattr(received, "_RANGE", 20)
    rng = np.random.default_rng(6)
    query, key = rng.standard_normal((2, 83, 8)).astype(np.float16) * np.float16(12)
    problem = sent.Lookup(query, key, **options).look.problem
    exact, naive, _ = expect(query, key, key, **options)
    sums = in_memory(found(problem, Facts(received=True)).received)[0, 0]
    size = loudest(exact) * depth(exact.weights.sum(0))
    near = naive.weights.sum(0, dtype=np.float32)
    assert_within_budget(sums, exact.weights.sum(0), near, "received", size)
    assert not sums[~exact.visible.any(0)].any()


def test_keys_in_parts(monkeypatch):
    monkeypatch.setattr(shares, "_PART", 128)
    _, problem = look_of("many keys with padding in float16")
    labels = np.random.default_rng(1).integers(-1, 3, problem.kv_len)
    assert_second("many keys with padding in float16", {"groups": labels, "distance": True})


def test_rows_whose_visible_scores_are_all_minus_infinity():
    query, key = np.ones((5, 1), np.float32), np.full((5, 1), np.inf, np.float32)
    query[0] = -1  # the other rows see inf
    problem = sent.Lookup(query, key, scale=1.0, causal=True).look.problem
    got = found(problem, build_facts(problem, groups=np.array([0, 2, 0, 2, 0]), distance=True))
    assert np.isnan(in_memory(got.rows.groups)).all()
    assert np.isnan(in_memory(got.rows.distance)).all()  # of bins that they see nothing in, too


def test_many_groups():
    _, problem = look_of("padded keys, one entry empty")
    labels = np.random.default_rng(1).integers(-3, 70, problem.kv_len)
    assert_second("padded keys, one entry empty", {"normalised": True, "groups": labels})


def test_distances_that_no_int32_holds():
    rng = np.random.default_rng(2)
    query, key = rng.standard_normal((2, 3, 1, 37, 8)).astype(np.float32)
    offsets = np.array([2**59, -(2**33) - 20, 2**31 - 5])
    problem = sent.Lookup(query, key, key, q_offset=offsets).look.problem
    weights = expect(query, key, key)[0].weights
    distance = in_memory(found(problem, build_facts(problem, distance=True)).rows.distance)
    at = offsets[:, None, None] + np.arange(37)[:, None] - np.arange(37)
    bins = np.vectorize(lambda each: abs(int(each)).bit_length())(at)[:, None]
    for each in range(distance.shape[-1]):
        right = np.where(bins == each, weights, 0).sum(-1)
        np.testing.assert_allclose(distance[..., each], right, atol=1e-6, err_msg=f"bin {each}")


def test_a_row_that_is_nan_spoils_the_keys_it_sees_and_nothing_else():
    rng = np.random.default_rng(3)
    query, key = rng.standard_normal((2, 1, 1, 71, 5)).astype(np.float32)
    query[0, 0, 40] = np.nan
    problem = sent.Lookup(query, key, key, causal=True).look.problem
    got = found(problem, build_facts(problem, received=True, groups=np.zeros(71, int)))
    sums, groups = in_memory(got.received)[0, 0], in_memory(got.rows.groups)[0, 0, :, 0]
    assert np.isnan(sums[:41]).all()
    assert np.isfinite(sums[41:]).all()
    assert np.flatnonzero(np.isnan(groups)).tolist() == [40]


def test_the_same_bits_again():
    _, problem = look_of("causal over equal lengths")
    facts = Facts(received=True)
    assert_same_bits(*(in_memory(found(problem, facts).received) for _ in range(2)))


def launch_received(few=False, **options):
    launch = launch_of(problem_of(**options))
    rows = torch.zeros(launch.problem.q_len)
    received.received_of(launch, rows, rows, np.arange(len(rows))[None] % 2 == 0 if few else None)


def launch_readers(**options):
    received.readers_of(launch_of(problem_of(**options)), None)


def launch_shares(groups=0, bins=None, **options):
    launch = launch_of(problem_of(**options))
    rows = torch.zeros(launch.problem.q_len)
    labels = np.arange(len(rows))[None] % groups if groups else None
    shares.shares_of(launch, rows, rows, Facts(labels=labels, bins=bins))


@pytest.mark.parametrize(
    ("function", "target", "options"),
    [
        ("launch_received", "sm_80", {"causal": True}),
        ("launch_received", "sm_90a", {}),
        ("launch_received", "sm_100a", {"causal": True}),
        ("launch_received", "sm_90a", {"causal": True, "few": True, "head_dim": 64}),
        ("launch_received", "sm_90a", {"bias": True, "window": [3, 4]}),
        ("launch_received", "sm_90a", {"head_dim": 256}),
        ("launch_readers", "sm_90a", {"mask": True}),
        ("launch_readers", "sm_80", {"causal": True}),
        ("launch_shares", "sm_80", {"groups": 100, "mask": True}),
        ("launch_shares", "sm_90a", {"groups": 8, "bins": 11, "causal": True}),
    ],
    ids=str,
)
def test_kernels_compile_without_spills(function, target, options):
    kernel = compiling.launched(f"test_received:{function}", target, **options)
    assert kernel.spill_stores == kernel.spill_loads == 0
    assert kernel.shared <= 99 * 1024


def test_the_widest_rows_with_a_mask_and_a_bias_fit_into_any_shared_memory():
    options = {"head_dim": 256, "dtype": "float32", "mask": True, "bias": True}
    kernel = compiling.launched("test_received:launch_received", "sm_80", **options)
    assert kernel.shared <= 99 * 1024
