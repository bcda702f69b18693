"""Weights of chosen rows and keys on a GPU: every case as elsewhere, in any order."""

import borrowed
import compiling
import numpy as np
import pytest
import sent
import torch
from aloft import problem_of

import cases
from agreement import assert_weights
from softlookup.backends import cuda
from softlookup.backends.triton import row_states, weighing
from softlookup.backends.triton.launch import launch_of

NAMES = [name for name in borrowed.NAMES if not name.startswith("several tiles")]


def weights(name, rows, keys):
    problem = sent.Lookup(*cases.build(name).arrays, **cases.build(name).options).look.problem
    found = cuda.weights(problem, rows, keys)
    assert isinstance(found.tensor, torch.Tensor)
    return problem.restore(found).in_memory()


def naive(name):
    return cases.naive(name, cases.accumulator(cases.build(name).query.dtype))


@pytest.mark.parametrize("name", NAMES)
def test_all_pairs_are_exact(name):
    exact = cases.exact(name)
    q_len, kv_len = exact.weights.shape[-2:]
    found = weights(name, np.arange(q_len), np.arange(kv_len))
    assert found.dtype == np.float32
    assert_weights(found, exact, naive(name))
    assert not found[~exact.visible].any()


@pytest.mark.parametrize(
    "name", ["everything at once", "several tiles, causal", "window both ways", "scale 0"]
)
def test_rows_and_keys_in_any_order_and_again(name, monkeypatch):
    monkeypatch.setattr(row_states, "PART", 512)
    exact, rng = cases.exact(name), np.random.default_rng(3)
    q_len, kv_len = exact.weights.shape[-2:]
    rows, keys = rng.integers(0, q_len, 19), rng.integers(0, kv_len, 71)
    at = np.ix_(*(range(n) for n in exact.weights.shape[:-2]), rows, keys)
    assert_weights(weights(name, rows, keys), exact, naive(name), at)


def test_no_rows_and_no_keys():
    nothing = np.zeros(0, np.int64)
    assert weights("plain in float16", nothing, np.arange(3)).shape == (2, 3, 0, 3)
    assert weights("plain in float16", np.arange(2), nothing).shape == (2, 3, 2, 0)


def launch_pairs(**options):
    launch, rows = launch_of(problem_of(**options)), torch.arange(256, dtype=torch.int32)
    weighing.pairs_of(launch, rows, rows, torch.zeros(2, 256), torch.zeros(2, 256))


@pytest.mark.parametrize(
    ("target", "options"),
    [("sm_90a", {"causal": True}), ("sm_90a", {"bias": True, "heads": 2}), ("sm_80", {})],
    ids=str,
)
def test_the_kernel_compiles_without_spills(target, options):
    kernel = compiling.launched("test_rectangle:launch_pairs", target, **options)
    assert kernel.spill_stores == kernel.spill_loads == 0
    assert kernel.shared <= 99 * 1024
