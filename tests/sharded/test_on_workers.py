"""What travels between processes of a real cluster: dtypes and captured lookups."""

import dask
import dask.array as da
import numpy as np
import pytest
from clusters import cluster

import softlookup as sl
from agreement import assert_same_bits
from softlookup.backends import cpu
from softlookup.captures import Axis, Layer

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def drawn(dtype):
    """Return queries, keys and values, and the same in chunks of keys at multiples of 4,096."""
    rng = np.random.default_rng(5)
    shapes = (2, 2, 19, 24), (2, 1, 9001, 24), (2, 1, 9001, 20)
    arrays = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    return arrays, [da.from_array(x, chunks=(1, 1, 4096, -1)) for x in arrays]


@pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")
def test_narrow_numbers_give_the_bits_of_one_machine():
    with cluster(2):
        for dtype in ("bfloat16", "float16"):
            arrays, cut = drawn(dtype)
            options = {"causal": True, "q_offset": 8982}
            whole = sl.Lookup(*arrays, **options, backend="cpu").inspect(entropy=True, top=3)
            lazy = sl.Lookup(*cut, **options).inspect(entropy=True, top=3)
            (found,) = dask.compute(lazy)
            assert found.out.dtype == np.dtype(dtype)
            for part in ("out", "lse", "entropy"):
                assert_same_bits(getattr(found, part), getattr(whole, part))
            np.testing.assert_array_equal(found.top.keys, whole.top.keys)


def test_a_lookup_on_a_cluster_is_captured(tmp_path):
    arrays, cut = drawn("bfloat16")
    axes = [Axis([str(i) for i in range(n)]) for n in (19, 9001)]
    with cluster(1):
        layer = Layer(sl.Lookup(*cut, causal=True, q_offset=8982), axes[:1], axes[1:])
    sl.Capture("on a cluster", [layer]).save(tmp_path / "run.safetensors")
    look = sl.load(tmp_path / "run.safetensors").layers[0].look
    for name, array in zip(("query", "key", "value"), arrays, strict=True):
        assert_same_bits(getattr(look.problem, name), array)
    assert look.problem.causal
