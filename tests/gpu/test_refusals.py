"""Every refusal of a backend on a GPU, and that what it names as a way out takes that very lookup.

No GPU is here: what decides, its compute capability and cuDNN's version, is set; tensors in memory
count as a GPU's, and dask arrays are stood in for. Nothing is computed.
"""

import ast
import inspect
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import softlookup as sl
from softlookup.arrays import DASK, MEMORY
from softlookup.backends import cpu, cuda, cuda_hopper, cuda_torch, dask, registry
from softlookup.backends.triton import machine
from softlookup.errors import BackendError
from softlookup.facts import NO_FACTS, Facts

HOPPER, AMPERE, OLD = ((9, 0), 91600), ((8, 0), 91600), ((7, 5), 91600)
LONG, NUMBERED = 2**31 - 2**16, 2**31 - 64  # what kernels on a GPU and in the core take
SQUARE = (256, 256)


def _offset(*each):
    return {"causal": True, "q_offset": list(each)}


CASES = {  # sizes, options, facts, GPU
    "taken by all": {},
    "float64": {"dtype": "float64"},
    "float32": {"dtype": "float32"},
    "head_dim": {"head_dim": 264},
    "value_dim": {"value_dim": 512},
    "two wide dims": {"head_dim": 264, "value_dim": 264},
    "two dims": {"head_dim": 136, "value_dim": 8},
    "dims of 12": {"head_dim": 12, "value_dim": 12},
    "values of 12": {"value_dim": 12},
    "many queries": {"q_len": LONG, "kv_len": 128},
    "many keys": {"q_len": 128, "kv_len": LONG},
    "more keys than the core takes": {"q_len": 128, "kv_len": NUMBERED + 1},
    "the best of so many": {"q_len": 128, "kv_len": NUMBERED + 1, "facts": Facts(top=2)},
    "many rows of all heads": {"q_len": 2**30, "kv_len": 128},
    "the best of many keys": {"q_len": 128, "kv_len": 2**20, "facts": Facts(top=3)},
    "a length of no whole tiles": {"q_len": 100},
    "no keys": {"kv_len": 0},
    "no head": {"batch": 0},
    "no values": {"value_dim": None, "facts": Facts(entropy=True)},
    "no values, no facts": {"value_dim": None},
    "facts": {"facts": Facts(entropy=True)},
    "received": {"facts": Facts(received=True)},
    "window": {"options": {"window": (3, 0)}},
    "mask": {"options": {"mask": np.ones(SQUARE, bool)}},
    "bias": {"options": {"bias": np.ones(SQUARE)}},
    "kv_lens": {"options": {"kv_lens": [3, 4]}},
    "softcap": {"options": {"softcap": 3.0}},
    "sinks": {"options": {"sinks": np.ones(4)}, "facts": Facts(sink=True)},
    "scale": {"options": {"scale": -0.5}},
    "another corner": {"options": _offset(100, 100), "kv_len": 512},
    "several corners": {"options": _offset(0, 128), "kv_len": 512},
    "rows out of step": {"spread": 65},
    "another GPU": {"gpu": AMPERE},
    "another GPU, two dims": {"gpu": AMPERE, "value_dim": 8},
    "an old GPU": {"gpu": OLD},  # one of several
}
PLACES = ("device", MEMORY, DASK)


def _arrays(
    *, batch=2, q_len=256, kv_len=256, head_dim=64, value_dim=64, dtype="float16", spread=None
):
    """Return zeros as tensors; large ones are one number, repeated."""
    sizes = [(4, q_len, head_dim), (2, kv_len, head_dim), (2, kv_len, value_dim)]
    for heads, length, dim in sizes:
        if dim is None:
            yield None
        elif length > 2**16:
            yield torch.zeros((), dtype=getattr(torch, dtype)).expand(batch, heads, length, dim)
        else:
            row = torch.zeros(batch, heads, length, spread or dim, dtype=getattr(torch, dtype))
            yield row[..., :dim]


def _problem(arrays, options, place):
    if place == MEMORY:
        arrays = [
            None if x is None else np.broadcast_to(np.float16(0).astype(str(x.dtype)[6:]), x.shape)
            for x in arrays
        ]
    problem = sl.Lookup(*arrays, **options).problem
    if place != DASK:
        return problem
    query = SimpleNamespace(shape=problem.query.shape, dtype=problem.query.dtype)
    return replace(problem, query=query)


@pytest.fixture
def gpu(monkeypatch):
    """Return what lets every backend be there, on a GPU of some traits."""
    for backend in (cpu, cuda_torch, cuda_hopper, dask):
        monkeypatch.setattr(backend, "missing", lambda: None)

    too_old = machine.too_old.__wrapped__  # what it says of a device is kept
    monkeypatch.setattr(machine, "too_old", lambda _: too_old(torch.device("cuda:1")))

    def becomes(capability, cudnn):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
        monkeypatch.setattr(cuda_hopper, "_capability", lambda _: capability)
        traits = cuda_torch.Traits(capability, cudnn)
        monkeypatch.setattr(cuda_torch, "traits_of", lambda _: traits)

    return becomes


BRINGING = {"device": "cpu() of the tensors", DASK: "compute() of the arrays"}
HONEST = ("cuda", "cpu", "blocked")  # they take what they tell to come
NAMES = ["auto", *(backend.NAME for backend in registry.backends())]
WAY_OUT = re.compile(
    r'\. backend="([a-z-]+)" takes (this lookup|(?:cpu|compute)\(\) of the (?:tensors|arrays))\.$'
)


def refused(problem, facts, name):
    """Return the sentences of a refusal, or None."""
    try:
        registry.choose(problem, facts, name)
    except BackendError as error:
        return str(error)
    return None


def assert_way_out(said, problems, place, facts, name):
    """What a refusal names takes that very lookup, at once."""
    way = WAY_OUT.search(said)
    assert way is not None, said
    taker, what = way.groups()
    assert what in ("this lookup", BRINGING.get(place)), said
    there = place if what == "this lookup" else MEMORY
    assert refused(problems[there], facts, taker) is None, said
    brought = re.search(r"(cuda|cpu|compute)\(\) (?:sends|brings)", said)
    if brought and name in HONEST:
        there = "device" if brought[1] == "cuda" else MEMORY
        again = refused(problems[there], facts, name)
        assert again is None or "capability 8.0" in again, said  # cuda() sends to another than that


def _made(case, gpu):
    """Return the lookup of a case, at every place, and the facts asked of it."""
    sizes = dict(CASES[case])
    options, facts = sizes.pop("options", {}), sizes.pop("facts", NO_FACTS)
    gpu(*sizes.pop("gpu", HOPPER))
    arrays = [*_arrays(**sizes)]
    return {place: _problem(arrays, options, place) for place in PLACES}, facts


@pytest.mark.parametrize("case", CASES)
def test_what_a_refusal_names_takes_the_lookup(case, gpu):
    problems, facts = _made(case, gpu)
    count = 0  # of refusals
    for place in PLACES:
        for name in NAMES:
            said = refused(problems[place], facts, name)
            if said is not None:
                assert_way_out(said, problems, place, facts, name)
                count += 1
    assert count >= 10  # whoever reads memory, a GPU or chunks refuses what lies elsewhere


@pytest.mark.parametrize("name", ["cuda-torch", "cuda-hopper"])
def test_a_map_of_a_lookup_with_values_is_said_to_leave_them_out(name, gpu):
    gpu(*HOPPER)
    look = sl.Lookup(*_arrays(batch=1), backend=name).head(0, batch=0)
    assert refused(look.problem, NO_FACTS, name) is None
    with pytest.raises(BackendError, match=r'a map leaves out.* backend="cuda" takes'):
        look.map()


def _sentences(module):
    """Return the lines of every sentence by which a module refuses a problem."""
    for function in ast.parse(inspect.getsource(module)).body:
        of_a_problem = isinstance(function, ast.FunctionDef) and function.args.args
        if not of_a_problem or ast.unparse(function.returns) != "str | None":
            continue
        for node in ast.walk(function):
            value = getattr(node, "value", None)
            told = isinstance(value, ast.JoinedStr) or isinstance(
                getattr(value, "value", None), str
            )
            if isinstance(node, ast.Return) and told:
                yield function.name, range(node.lineno, node.end_lineno + 1)


def test_every_sentence_of_a_refusal_is_among_these_cases(gpu):
    modules = (machine, cuda, cuda_torch, cuda_hopper)
    ran = {module.__file__: set() for module in modules}

    def note(frame, event, _):
        lines = ran.get(frame.f_code.co_filename)
        if lines is None:
            return None
        lines.add(frame.f_lineno)
        return note

    before = sys.gettrace()
    for case in CASES:
        problems, facts = _made(case, gpu)
        sys.settrace(note)
        try:
            for problem in problems.values():
                for name in ("cuda", "cuda-torch", "cuda-hopper"):
                    refused(problem, facts, name)
        finally:
            sys.settrace(before)
    every = [(module.__file__, *each) for module in modules for each in _sentences(module)]
    assert len(every) > 20
    assert [(where, name) for where, name, lines in every if not ran[where] & set(lines)] == []
