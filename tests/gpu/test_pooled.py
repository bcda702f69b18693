"""Blocks of weights on a GPU: every case as elsewhere, more of them than fit into one part."""

import borrowed
import compiling
import numpy as np
import pytest
import torch
from aloft import problem_of

from softlookup.backends.triton import pooled, row_states, weighing
from softlookup.backends.triton.launch import launch_of
from softlookup.pooling import BAND

POOLED = borrowed.module("backends/test_pooled.py")
NAMES = [
    name
    for name in POOLED.NAMES
    if name in borrowed.NAMES and not name.startswith(("several tiles", "many keys"))
]
FEW = [
    "plain in float16", "softcap in float16", "causal with leading empty rows", "scale 0",
    "sinks and empty rows", "everything at once", "no keys but sinks", "no queries",
    "bias in bfloat16 on float16", "window open to the left",
]  # fmt: skip


@pytest.fixture
def on_device(monkeypatch):
    """Let the borrowed tests look up tensors."""
    monkeypatch.setattr(POOLED, "sl", borrowed.TENSORS)
    monkeypatch.setattr(POOLED, "BACKENDS", {"cuda": borrowed.Kernels})


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("name", NAMES)
def test_bands_are_exact(name):
    POOLED.test_bands_are_exact(name, "cuda")


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("name", FEW)
def test_cells_are_exact(name):
    POOLED.test_cells_are_exact(name, "cuda")


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_number_stays_in_its_rows(bad):
    POOLED.test_a_bad_number_stays_in_its_rows(bad, "cuda")


@pytest.mark.usefixtures("on_device")
def test_a_band_does_not_depend_on_the_others():
    for problem, _, _ in list(POOLED.heads("several tiles, causal", "cuda"))[:1]:
        some, one = (
            borrowed.Kernels.pooled(problem, np.array(bands)) for bands in ([7, 3, 3, 0], [3])
        )
        for part in (some.max, some.total):
            np.testing.assert_allclose(part[1:3], part[[1, 1]], atol=1e-6)
        np.testing.assert_allclose(some.max[1], one.max[0], atol=1e-6)
        np.testing.assert_allclose(some.lse[32:64], one.lse, atol=1e-5)


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("name", ["several tiles, causal", "several tiles, mask and bias"])
def test_keys_in_parts_and_strips(name, monkeypatch):
    monkeypatch.setattr(row_states, "PART", 256)
    monkeypatch.setattr(weighing, "_STRIP", 128)
    POOLED.test_bands_are_exact(name, "cuda")


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("name", ["several tiles, mask and bias", "mask over queries and keys"])
def test_what_is_seen_is_said_with_the_bands(name):
    for problem, exact, _ in POOLED.heads(name, "cuda"):
        seen = borrowed.Kernels.pooled(problem, np.arange(-(-problem.q_len // BAND))).seen
        np.testing.assert_array_equal(seen, POOLED.cells(exact.weights, exact.visible, BAND).seen)


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("where", ["bands", "cells"])
def test_rows_past_the_last_leave_a_key_of_inf_alone(where):
    rng = np.random.default_rng(8)
    query, key = (rng.standard_normal((n, 16)).astype(np.float32) for n in (40, 150))
    query[:, 0], key[5, 0] = -1, np.inf  # a score of -inf, and of the rows past the last 0 * inf
    look = borrowed.TENSORS.Lookup(query, key, key, backend="cuda")
    exact, narrow = (
        POOLED.oracle.lookup(query, key, key, dtype=d) for d in (np.float64, np.float32)
    )
    most, total, per_row = POOLED.pool("cuda", look.problem)
    assert np.isfinite(exact.weights).all()
    if where == "bands":
        POOLED.assert_cells((most, total), exact, narrow, BAND)
        return
    normaliser = POOLED.Normaliser(*(part[:40] for part in per_row[:2]))
    for size in (1, 8, 32):
        found = borrowed.Kernels.cells(look.problem, slice(0, 40), slice(0, 150), size, normaliser)
        POOLED.assert_cells(found, exact, narrow, size)


@pytest.mark.parametrize("count", [5, 32, 33])
def test_what_rows_are_begins_where_one_kernel_reads_it(count):
    launch = launch_of(problem_of(length=48, dtype="float32", head_dim=16))
    states = row_states.states_of(launch, torch.arange(count, dtype=torch.int32))
    assert all(part.data_ptr() % 16 == 0 and part.is_contiguous() for part in states)


def launch_pooled(**options):
    pooled.pooled_bands(problem_of(**options), np.arange(32))


MANY = {
    "sm_100a": [{"causal": True}],
    "sm_80": [{"causal": True}, {"mask": True, "window": [3, 4]}],
    "sm_90a": [
        {"causal": True}, {"head_dim": 256},
        {"softcap": 2.0, "sinks": True, "kv_lens": 700, "head_dim": 64},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("target", "options"), [(t, o) for t, some in MANY.items() for o in some], ids=str
)
def test_kernels_compile_without_spills(target, options):
    states, _, blocks = compiling.launches("test_pooled:launch_pooled", target, **options)
    for kernel in (states, blocks):
        assert kernel.spill_stores == kernel.spill_loads == 0
        assert kernel.shared <= 99 * 1024
        assert kernel.count(r"\bHGMMA\b|\bHMMA\b|\bUTC\w*MMA\b")
