"""Faults that libraries had where a person looks at attention: lost, wrong or unaffordable facts.

Each test is named after what went wrong; the number is its line in the list of reports.
"""

import subprocess
import sys

import numpy as np
import pytest

import softlookup as sl
from agreement import assert_same_bits
from cases import Call, Case
from looking import assert_facts, everything, look_of


def _qkv(heads, kv_heads, q_len, kv_len, *, batch=(2,), dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((heads, q_len), (kv_heads, kv_len), (kv_heads, kv_len))
    return [rng.standard_normal((*batch, *shape, 8)).astype(dtype) for shape in shapes]


EVERY = {"entropy": True, "max_score": True, "top": 4, "received": True, "distance": True}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_01_same_arrays_in_facts_out_and_the_output_of_the_fast_path(backend, dtype):
    """pytorch#119811, flash-attention#159, #106: fast kernels gave no weights, or other numbers."""
    call = Case("fast", heads=(2, 3), q_len=67, kv_len=67, dtype=dtype,
                options=lambda rng, case: {"causal": True}).build()  # fmt: skip
    look = look_of(call, backend)
    found = look.inspect(**EVERY)
    assert_same_bits(found.out, sl.attend(*call.arrays, **call.options, backend=backend))
    assert_facts(found, EVERY, call, look.problem)


def test_03_looking_changes_no_bit_whatever_shapes_the_lookup(backend):
    """transformers PR#30652: asking for the weights changed the logits."""
    rng, arrays = np.random.default_rng(3), _qkv(6, 2, 300, 700)
    options = {
        "causal": True, "q_offset": 400, "window": (350, 0), "kv_lens": np.array([700, 613]),
        "mask": rng.random((2, 1, 300, 700)) > 0.1, "softcap": 3.0, "sinks": rng.random(6),
    }  # fmt: skip
    look = sl.Lookup(*arrays, **options, backend=backend)
    plain = look.attend()
    asked = {**EVERY, "sink": True, "groups": rng.integers(-1, 9, 700)}
    for some in (asked, *({fact: asked[fact]} for fact in asked)):
        assert_same_bits(look.inspect(**some).out, plain)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_07_statistics_without_the_matrix(backend, dtype):
    """flash-attention#1878 (row entropy), #1876 (max score per head), pytorch#176837 (the largest
    scores' indices), keys_values#30 and FlagAttention PR#10 (column sums for eviction)."""
    call = Case("statistics", heads=(3, 1), q_len=53, kv_len=101, dtype=dtype,
                options=lambda rng, case: {"causal": True, "q_offset": 48}).build()  # fmt: skip
    look = look_of(call, backend)
    assert_facts(look.inspect(**EVERY), EVERY, call, look.problem)


def test_07_column_sums_choose_the_keys_that_an_eviction_keeps(backend):
    """The two ways to rank keys: over all rows, and over the last few."""
    query, key, value = _qkv(1, 1, 40, 40, batch=())
    key[0, 11] *= 9  # a heavy hitter
    look = sl.Lookup(query, key, value, causal=True, backend=backend)
    weights = look.weights()
    for rows in (None, slice(32, 40)):
        received = look.inspect(received=True, from_rows=rows).received[0]
        by_hand = weights[0, slice(None) if rows is None else rows].sum(0)
        np.testing.assert_array_equal(np.argsort(-received)[:8], np.argsort(-by_hand)[:8])


def test_08_received_respects_causal_window_and_padding_in_every_block(backend):
    """KVCache-Factory#49: only the last block was masked."""
    n = 600
    query, key, value = _qkv(2, 1, n, n)
    query[:], key[:] = 0, 0  # every visible key weighs the same
    options = {"causal": True, "window": (99, None), "kv_lens": np.array([n, 250])}
    found = sl.Lookup(query, key, value, **options, backend=backend).inspect(received=True)
    i, j = np.arange(n)[:, None], np.arange(n)
    for entry, length in enumerate((n, 250)):
        sees = (j <= i) & (j >= i - 99) & (j < length)
        weights = sees / np.maximum(sees.sum(-1), 1)[:, None]
        for head in (0, 1):
            np.testing.assert_allclose(found.received[entry, head], weights.sum(0), rtol=1e-5)
    assert not found.received[1, :, 250:].any()


@pytest.mark.parametrize("name", ["causal", "window", "kv_lens", "mask"])
def test_08_a_key_that_no_row_sees_receives_exactly_nothing(backend, name):
    arrays = _qkv(4, 2, 9, 30, seed=8)
    options = {
        "causal": {"causal": True, "q_offset": 5}, "window": {"window": (3, 2), "q_offset": 5},
        "kv_lens": {"kv_lens": [16, 16]}, "mask": {"mask": np.arange(30) < 16},
    }[name]  # fmt: skip
    arrays[1][:, :, 16:], arrays[2][:, :, 16:] = np.nan, np.nan
    found = sl.Lookup(*arrays, **options, backend=backend).inspect(received=True, normalised=True)
    assert not found.received[..., 16:].any()
    assert np.isfinite(found.received).all()
    assert (found.received[..., 5:14] > 0).all()


def test_09_grouped_heads_report_per_query_head_and_per_kv_head_by_name(backend):
    """SnapKV#16, #29: which of the two a number was, nobody could tell."""
    call = Call(*_qkv(6, 2, 17, 17, dtype=np.float64), {"causal": True})
    look = look_of(call, backend)
    asked = {**everything(look, np.random.default_rng(9)), "normalised": True}
    found = look.inspect(**asked)
    assert found.received.shape == (2, 6, 17)
    assert found.received_per_kv_head.shape == (2, 2, 17)
    assert_facts(found, asked, call, look.problem)
    summed = look.inspect(received=True)
    grouped = summed.received.reshape(2, 2, 3, 17).sum(2)
    np.testing.assert_allclose(summed.received_per_kv_head, grouped, rtol=1e-13)


MEASURE = """
import sys, tracemalloc
import numpy as np
import softlookup as sl

def inspect(n):
    rng = np.random.default_rng(7)
    arrays = (rng.standard_normal((1, n, 16), dtype=np.float32) for _ in range(3))
    look = sl.Lookup(*arrays, causal=True, sinks=[0.0], backend=sys.argv[2])
    tracemalloc.start()
    found = look.inspect(
        entropy=True, sink=True, max_score=True, top=8, received=True, normalised=True,
        from_rows=np.arange(n) % 2 == 0, groups=np.arange(n) % 16, distance=True,
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, found.entropy.shape[-1]

inspect(64)
print(*inspect(int(sys.argv[1])))
"""


@pytest.mark.slow
def test_07_all_facts_of_16384_tokens_in_memory_that_grows_with_their_number(backend):
    """Beside inputs, everything at once, results included, stays far below one N x N matrix."""
    peaks = {}
    for n in (8192, 16384):
        done = subprocess.run([sys.executable, "-c", MEASURE, str(n), backend], check=True,
                              capture_output=True, text=True)  # fmt: skip
        peaks[n], rows = map(int, done.stdout.split())
        assert rows == n
    assert peaks[16384] < 40 * 2**20  # a matrix of float32 is 1,024 MiB, of bool 256 MiB
    assert peaks[16384] < 2.1 * peaks[8192] + 2**20  # a matrix would make it 4
