"""Every case, cut into chunks in several ways, beside the oracle."""

import dask
import numpy as np
import pytest
from chunking import in_chunks, some_ways

import cases
import softlookup as sl
from agreement import assert_answer, assert_same_bits, assert_weights
from looking import assert_facts, everything, look_of, positioned
from softlookup.backends import cpu, registry

NAMES = tuple(cases.NAMED)
WAYS = {name: (sizes, laid) for name, sizes, laid in some_ways()}
LARGE = {name for name, case in cases.NAMED.items() if case.kv_len > 300}


def look_at(name, way, call=None):
    sizes, laid = WAYS[way]
    if name in LARGE:  # as many chunks as elsewhere
        sizes = tuple(size and size * 150 for size in sizes)
    query, key, value, options = in_chunks(call or cases.build(name), sizes, laid)
    return sl.Lookup(query, key, value, **options)


@pytest.fixture(autouse=True)
def _here():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def worker(request, monkeypatch):
    """What a worker computes with: the compiled core, or NumPy where that is missing."""
    if request.param == "NumPy":
        monkeypatch.setattr(cpu, "missing", lambda: "left out")
    assert ("cpu" in registry.gatherer(None).__name__) == (cpu.missing() is None)


def cut(*ways):
    return pytest.mark.parametrize(("way", "worker"), ways, indirect=["worker"])


@cut(*((way, "core") for way in WAYS), ("keys by 3", "NumPy"))
@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_exact(name, way, worker):
    look, dtype = look_at(name, way), cases.build(name).query.dtype
    lazy = look.inspect()
    assert lazy.backend == "dask"
    found = dask.compute(lazy)[0]
    narrow = cases.naive(name, cases.accumulator(dtype))
    assert_answer(found, cases.exact(name), cases.naive(name), narrow)
    assert (found.out.dtype, found.lse.dtype) == (lazy.out.dtype, lazy.lse.dtype)
    assert found.out.dtype == dtype.newbyteorder("=")
    assert_same_bits(look.attend().compute(), found.out)


@cut(pytest.param("everything by 3", "core", marks=pytest.mark.slow), ("keys by 3", "NumPy"))
@pytest.mark.parametrize("name", NAMES)
def test_all_facts_are_exact_and_change_no_bit(name, way, worker):
    call = cases.build(name)
    call = call._replace(options=positioned(look_of(call, "blocked"), call.options))
    look = look_at(name, way, call)
    asked = everything(look, np.random.default_rng(len(name)))
    lazy = look.inspect(**asked)
    found = dask.compute(lazy)[0]
    assert_facts(found, asked, call, look_of(call, "blocked").problem)
    for part in ("out", "lse", "entropy", "received", "groups", "distance"):
        assert getattr(lazy, part).dtype == getattr(found, part).dtype
    assert_same_bits(found.out, look.attend().compute())
    asked = {"received": True, "normalised": True, "from_rows": asked["from_rows"]}
    found = dask.compute(look.inspect(**asked))[0]
    assert_facts(found, asked, call, look_of(call, "blocked").problem)


@cut(("everything by 3", "core"), ("rows by 5, heads by 1", "NumPy"))
@pytest.mark.parametrize("name", NAMES)
def test_weights_are_exact(name, way, worker):
    lazy, dtype = look_at(name, way).weights(), cases.build(name).query.dtype
    weights = lazy.compute()
    assert lazy.dtype == weights.dtype == cases.accumulator(dtype)
    assert_weights(weights, cases.exact(name), cases.naive(name, cases.accumulator(dtype)))
    assert not weights[~cases.exact(name).visible].any()
