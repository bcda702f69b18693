"""The cpu backend gives a row the same bits however it is reached, on every instruction set."""

import ml_dtypes
import numpy as np
import pytest

import softlookup as sl
from agreement import assert_same_bits
from softlookup import machine
from softlookup.backends import cpu

pytestmark = pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")
EVERY = {"entropy": True, "max_score": True, "top": 7, "received": True, "distance": True}
DTYPES = {"float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16,
          "float16": np.float16}  # fmt: skip
# heads, kv_heads, queries, keys, dims, options: several chunks of 4,096 keys, tiles of one and of
# several heads, ends of blocks at odd places
CASES = {
    "prefill over two chunks": (8, 2, 40, 9000, 64, {"causal": True, "q_offset": 8960}),
    "one query, four chunks": (8, 2, 1, 13000, 80, {"q_offset": 12999}),
    "a window that begins in a block": (
        4,
        4,
        5,
        8201,
        20,
        {"window": (5000, None), "q_offset": 8195},
    ),
    "one short chunk": (2, 1, 70, 300, 48, {"q_offset": 0}),
    "odd sizes": (3, 1, 19, 131, 13, {"causal": True, "q_offset": 100, "softcap": 5.0}),
}


@pytest.fixture(params=machine.supported())
def isa(request, monkeypatch):
    monkeypatch.setenv(machine.ISA, request.param)
    return request.param


def arrays(case, dtype, batch=1):
    heads, kv_heads, q_len, kv_len, dim, _ = CASES[case]
    rng = np.random.default_rng(7)
    shapes = ((heads, q_len), (kv_heads, kv_len), (kv_heads, kv_len))
    return [rng.standard_normal((batch, *shape, dim)).astype(DTYPES[dtype]) for shape in shapes]


def facts_of(found):
    yield from (found.out, found.lse)
    yield from (getattr(found, name) for name in ("entropy", "max_score", "received", "distance"))
    yield from found.top


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_no_number_of_threads_changes_a_bit(isa, case, dtype, monkeypatch):
    look = sl.Lookup(*arrays(case, dtype), **CASES[case][5], backend="cpu")
    monkeypatch.setenv(machine.THREADS, "1")
    alone = look.inspect(**EVERY)
    for threads in ("2", "3", "16"):
        monkeypatch.setenv(machine.THREADS, threads)
        for one, other in zip(facts_of(alone), facts_of(look.inspect(**EVERY)), strict=True):
            assert_same_bits(one, other)
        assert_same_bits(look.attend(), alone.out)


def test_tiles_that_take_turns_change_no_bit(isa, monkeypatch):
    # more tiles than ranges of `received`, whose cells 16 threads have no room for at once
    rng = np.random.default_rng(7)
    keys = rng.standard_normal((1, 1, 90_000, 8), np.float32)
    look = sl.Lookup(keys[:, :, :1000], keys, keys, causal=True, q_offset=89_000, backend="cpu")
    monkeypatch.setenv(machine.THREADS, "1")
    alone = look.inspect(**EVERY)
    monkeypatch.setenv(machine.THREADS, "16")
    for one, other in zip(facts_of(alone), facts_of(look.inspect(**EVERY)), strict=True):
        assert_same_bits(one, other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_a_row_alone_has_the_bits_it_has_among_others(isa, case, dtype):
    query, key, value = arrays(case, dtype)
    options = dict(CASES[case][5])
    whole = sl.Lookup(query, key, value, **options, backend="cpu").inspect(entropy=True)
    q_len = query.shape[2]
    for row in {0, q_len // 2, q_len - 1}:
        one = sl.Lookup(query[:, :, row : row + 1], key, value, backend="cpu",
                        **options | {"q_offset": options["q_offset"] + row})  # fmt: skip
        found = one.inspect(entropy=True)
        assert_same_bits(found.out[:, :, 0], whole.out[:, :, row])
        assert_same_bits(found.lse[:, :, 0], whole.lse[:, :, row])
        assert_same_bits(found.entropy[:, :, 0], whole.entropy[:, :, row])


@pytest.mark.parametrize("dtype", DTYPES)
def test_batch_mates_change_no_bit(isa, dtype):
    query, key, value = arrays("odd sizes", dtype, batch=3)
    options = CASES["odd sizes"][5]
    value[1, 0, 5, 3] = np.nan
    key[2, 0, 7, 0] = np.inf
    together = sl.Lookup(query, key, value, **options, backend="cpu").attend()
    for entry in range(3):
        one = slice(entry, entry + 1)
        alone = sl.Lookup(query[one], key[one], value[one], **options, backend="cpu").attend()
        assert_same_bits(together[one], alone)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_hidden_nan_changes_no_bit(isa, dtype):
    query, key, value = arrays("one short chunk", dtype)
    mask = np.ones(key.shape[2], bool)
    mask[[3, 64, 200, 299]] = False
    clean = sl.Lookup(query, key, value, mask=mask, backend="cpu").attend()
    key[:, :, ~mask], value[:, :, ~mask] = np.inf, np.nan
    assert_same_bits(sl.Lookup(query, key, value, mask=mask, backend="cpu").attend(), clean)


@pytest.mark.parametrize("dtype", DTYPES)
def test_strides_change_no_bit(isa, dtype):
    query, key, value = arrays("odd sizes", dtype)
    options = CASES["odd sizes"][5]
    plain = sl.Lookup(query, key, value, **options, backend="cpu").attend()
    odd = [np.repeat(array, 2, axis=3)[..., ::2] for array in (query, key, value)]
    assert not odd[0].flags.c_contiguous
    assert_same_bits(sl.Lookup(*odd, **options, backend="cpu").attend(), plain)
