"""The walk of docs/scaling.md, on small layers: what it sends is what the formulas say."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("scaling", ROOT / "tools" / "scaling.py")
SCALING = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SCALING)
FLOPS, READ = 2e11, 3e10
CASES = {"one part a piece": (120_000, 5_000, 10_000), "four": (131_072, 4_096, 16_384)}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def case(request):
    return request.param, SCALING.graph_of(*request.param)


def received(graph, workers, **how):
    """Return the bytes that a worker receives, on average."""
    run = SCALING.walk(graph, workers, FLOPS, READ, **how)
    assert run.seconds >= sum(run.worked.values()) / workers > 0
    return sum(run.received.values()) / workers


def test_one_worker_receives_nothing(case):
    _, graph = case
    assert received(graph, 1) == received(graph, 1, stay=True) == 0


def test_where_keys_stay_queries_and_states_travel(case):
    sizes, graph = case
    length, _, keys = sizes
    chunks = SCALING.KV_HEADS * -(-length // keys)  # of keys: a worker for each
    walked = received(graph, chunks, stay=True)
    assert walked == pytest.approx(SCALING.stays(length, keys, chunks), rel=0.15)


@pytest.mark.parametrize("workers", [100, 1000])
def test_many_workers_are_sent_all_that_pieces_take(case, workers):
    sizes, graph = case
    walked = received(graph, workers)
    assert walked == pytest.approx(SCALING.sent(*sizes, workers), rel=0.15)


def test_few_workers_are_sent_less(case):
    sizes, graph = case
    walked = received(graph, 4)
    assert 0.3 < walked / SCALING.sent(*sizes, 4) < 1
