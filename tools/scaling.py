"""What a cluster would take: the real task graph of a lookup, walked with measured rates.

    python tools/scaling.py > docs/measured/scaling.txt
    python tools/scaling.py --quick     the smallest cases, to see that it runs

No number is computed. Every task of the graph that `softlookup.attend` makes is given a duration
and a size, and goes to the worker where it would end first: each has one core, holds what it
computed or received, and receives what it lacks at the network's rate. The scheduler hands out one
task after the other. Kernel and memory rates are those in docs/measured/core_speed.txt.

Beside what a worker receives in the walk stands what it would if every piece were sent all that it
takes; then the same graph is walked with every piece where its keys are. docs/scaling.md derives
the formulas, and those of other schemes, which are printed below.
"""

import heapq
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask._task_spec import Task, TaskRef

import softlookup as sl
from softlookup.backends import shards
from softlookup.backends.pieces import STATE_KEYS

MEASURED = Path(__file__).parents[1] / "docs" / "measured" / "core_speed.txt"
ROW = "float32 causal (1, 8, 2048, 128)"
HEADS, KV_HEADS, DIM, BYTES = 32, 8, 128, 4
NETWORK = 1.25e9  # bytes a second into one worker: 10 Gbit/s
LATENCY = 5e-4  # seconds of a transfer
HANDING = 5e-4  # seconds in which the scheduler hands out one task
CASES = (  # tokens, chunks of queries and of keys
    (1_000_000, 16_384, 65_000),
    (1_000_000, 2_048, 131_072),
    (10_000_000, 32_768, 131_000),
)
WORKERS = (1, 10, 100, 1_000)
QUICK = ((65_536, 8_192, 16_384),), (1, 10)
KEY = 4  # of the arguments of a piece: options, facts, place, query, key
SCHEMES = ("keys stay", "by heads", "ring", "by heads", "Ulysses")


def rates() -> tuple[float, float]:
    """Return operations a second of one core in the kernel, and bytes a second from memory."""
    text = MEASURED.read_text(encoding="utf-8")
    peak = re.search(r"([\d.]+) GFLOP/s float32", text)
    read = re.search(r"([\d.]+) GB/s read", text)
    share = re.search(re.escape(ROW) + r".*?([\d.]+) % of peak", text)
    if peak is None or read is None or share is None:
        sys.exit(f"{MEASURED} holds no rates: run benchmarks/core_speed.py.")
    return float(peak[1]) * 1e9 * float(share[1]) / 100, float(read[1]) * 1e9


@dataclass
class Cost:
    """What a task takes: seconds on a worker, and the bytes of what it gives."""

    seconds: float = 0.0
    size: float = 0.0


@dataclass
class Run:
    """What a walk found: seconds, and for each worker what it received and how long it worked."""

    seconds: float = 0.0
    tasks: int = 0
    received: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    worked: dict[int, float] = field(default_factory=lambda: defaultdict(float))


def blocks(length: int, heads: int, chunk: int, name: str) -> Any:
    """Return an array whose chunks are never made."""
    shape, cut = (heads, length, DIM), (heads // KV_HEADS, chunk, DIM)
    chunks = da.core.normalize_chunks(cut, shape, dtype=np.float32)
    return da.Array({}, name, chunks, dtype=np.float32)


def graph_of(length: int, rows: int, keys: int) -> dict[Any, Any]:
    """Return the tasks of a causal lookup."""
    query = blocks(length, HEADS, rows, "query")
    key, value = (blocks(length, KV_HEADS, keys, name) for name in ("key", "value"))
    out = sl.attend(query, key, value, causal=True)
    names = [name for name in out.dask.layers if name.startswith("softlookup")]
    return {key: task for name in names for key, task in out.dask.layers[name].items()}


def cost_of(task: Any, sizes: dict[Any, float], flops: float, read: float) -> Cost:
    """Return what one task takes."""
    given = sum(sizes.get(each, 0.0) for each in before(task))
    if task.func is shards.gathered:
        options, _, place = task.args[:3]
        _, heads, rows, dim = place.shapes["query"]
        keys = place.shapes["key"][2]
        cells = visible(rows, keys, int(place.q_offset[0]))
        parts = -(-keys // STATE_KEYS) if options.apart else 1
        return Cost(4 * cells * heads * dim / flops, parts * rows * heads * (dim + 4) * BYTES)
    if task.func is shards.merged:
        return Cost(3 * given / read, max(sizes[each] for each in before(task)))
    if task.func is shards.ended:
        _, _, (_, heads, rows), dim = task.args[:4]
        return Cost(3 * given / read, rows * heads * (dim + 3) * BYTES)
    return Cost(0.0, given)


def before(task: Any) -> list[Any]:
    """Return the tasks whose results a task takes, in the order in which it takes them."""
    return [key for given in task.args for key in behind(given)]


def behind(given: Any) -> list[Any]:
    """Return the tasks behind one argument; a view of a chunk is made where it is taken."""
    if isinstance(given, TaskRef):
        return [given.key]
    return list(given.dependencies) if isinstance(given, Task) else []


def visible(rows: int, keys: int, offset: int) -> float:
    """Return how many pairs a causal piece sees, whose first row stands at `offset`."""
    seen = np.clip(np.arange(rows) + offset + 1, 0, keys)
    return float(seen.sum())


def walk(
    graph: dict[Any, Any], workers: int, flops: float, read: float, *, stay: bool = False
) -> Run:
    """Return how a cluster of so many workers would take the graph; keys may have to stay."""
    run = Run(tasks=len(graph))
    sizes: dict[Any, float] = {}
    held: dict[Any, set[int]] = {}
    done: dict[Any, float] = {}
    place_inputs(graph, workers, sizes, held)
    for key in held:
        done[key] = 0.0
    free = [(0.0, worker) for worker in range(workers)]
    until = [0.0] * workers
    handed = 0.0
    for begin, key in in_order(graph, done):
        task = graph[key]
        cost = cost_of(task, sizes, flops, read)
        handed = max(handed, begin) + HANDING
        bound = held[behind(task.args[KEY])[0]] if stay and task.func is shards.gathered else ()
        some = bound or candidates(task, (sizes, held), until, free)
        worker, start, lacks = choose(task, (sizes, held), until, some, handed)
        until[worker] = start + cost.seconds
        heapq.heappush(free, (until[worker], worker))
        run.received[worker] += lacks
        run.worked[worker] += cost.seconds
        for each in before(task):
            held[each].add(worker)
        sizes[key], held[key], done[key] = cost.size, {worker}, until[worker]
        run.seconds = max(run.seconds, until[worker])
    return run


def place_inputs(
    graph: dict[Any, Any], workers: int, sizes: dict[Any, float], held: dict[Any, set[int]]
) -> None:
    """Lay the chunks of the inputs on the workers, one after the other; values with their keys."""
    place = 0
    for task in graph.values():
        if task.func is not shards.gathered:
            continue
        shapes = task.args[2].shapes
        query, key, value = (behind(block)[0] for block in task.args[3:6])
        for name, some in (("query", (query,)), ("key", (key, value))):
            if some[0] in held:
                continue
            for each in some:
                held[each] = {place % workers}
                sizes[each] = float(np.prod(shapes[name])) * BYTES
            place += 1


def in_order(graph: dict[Any, Any], done: dict[Any, float]) -> Iterator[tuple[float, Any]]:
    """Yield tasks as they become ready, and when; `done` is filled by who takes them."""
    waits = {key: sum(each not in done for each in before(task)) for key, task in graph.items()}
    followers = defaultdict(list)
    for key, task in graph.items():
        for each in before(task):
            followers[each].append(key)
    place = {key: n for n, key in enumerate(graph)}
    ready = [(0.0, place[key], key) for key, count in waits.items() if not count]
    heapq.heapify(ready)
    while ready:
        begin, _, key = heapq.heappop(ready)
        yield begin, key
        for follower in followers[key]:
            waits[follower] -= 1
            if not waits[follower]:
                then = max(done[each] for each in before(graph[follower]))
                heapq.heappush(ready, (then, place[follower], follower))


def candidates(
    task: Any,
    known: tuple[dict[Any, float], dict[Any, set[int]]],
    until: list[float],
    free: list[tuple[float, int]],
) -> set[int]:
    """Return the worker that is free first, and four that hold the largest of what a task takes."""
    sizes, held = known
    while free[0][0] < until[free[0][1]]:  # it has got work since
        heapq.heappop(free)
    largest = max(before(task), key=lambda each: sizes[each], default=None)
    some = {free[0][1]}
    if largest is not None:
        some |= set(sorted(held[largest], key=lambda worker: until[worker])[:4])
    return some


def choose(
    task: Any,
    known: tuple[dict[Any, float], dict[Any, set[int]]],
    until: list[float],
    some: Collection[int],
    begin: float,
) -> tuple[int, float, float]:
    """Return the worker where a task could begin first, when, and the bytes that it lacks."""
    sizes, held = known
    best = None
    for worker in sorted(some):
        missing = [sizes[each] for each in before(task) if worker not in held[each]]
        travel = sum(missing) / NETWORK + LATENCY * bool(missing)
        start = max(until[worker], begin) + travel
        if best is None or start < best[1]:
            best = worker, start, sum(missing)
    if best is None:
        raise ValueError("a cluster has a worker")
    return best


def state_bytes(keys: int) -> int:
    """Return the bytes that a piece hands on for a row of one head; its chunk has so many keys."""
    parts = -(-keys // STATE_KEYS) if keys % STATE_KEYS == 0 else 1
    return parts * 4 * (DIM + 4)


def stays(length: int, keys: int, workers: int) -> float:
    """Return what a worker receives where chunks of one kv head's keys stay.

    A cluster has ``G N / K`` chunks; by each go half of the rows of ``H / G`` heads, as a query to
    it and as a state from it.
    """
    chunks = KV_HEADS * length / keys / workers
    return chunks * length / 2 * HEADS / KV_HEADS * (DIM * BYTES + state_bytes(keys))


def sent(length: int, rows: int, keys: int, workers: int) -> float:
    """Return what a worker receives where each piece is sent all that it takes.

    There are ``G N / R`` chunks of rows; by each go half of one kv head's keys and values.
    """
    chunks = KV_HEADS * length / rows / workers
    return stays(length, keys, workers) + chunks * length / 2 * 2 * DIM * BYTES


def schemes(length: int, workers: int) -> list[float]:
    """Return what a worker receives in each of SCHEMES, where nothing is cut but for workers."""
    stay = length * HEADS * (DIM * BYTES + state_bytes(1)) / 2
    ring = length * KV_HEADS * 2 * DIM * BYTES
    dealt = min(KV_HEADS, workers)
    ulysses = length / workers * (HEADS + KV_HEADS) * 2 * DIM * BYTES
    return [stay, stay / dealt, ring, ring / dealt, ulysses]


def main(words: list[str]) -> None:
    """Print the rates, a line for every case and number of workers, and the other schemes."""
    if words not in ([], ["--quick"]):
        sys.exit(f"scaling: takes --quick alone; got {' '.join(words)}.")
    cases, counts = QUICK if words else (CASES, WORKERS)
    flops, read = rates()
    print(
        f"one layer: {HEADS} heads over {KV_HEADS}, D {DIM}, causal, float32; a worker is one core"
    )
    print(f"measured: {flops / 1e9:.0f} GFLOP/s in the kernel, {read / 1e9:.1f} GB/s from memory")
    print(
        f"assumed: {NETWORK / 1e9:.2f} GB/s into a worker, {LATENCY * 1e3:.1f} ms a transfer, "
        f"{HANDING * 1e3:.1f} ms of the scheduler a task"
    )
    print("GB: into a worker, on average, as walked; formula: pieces are sent all; keys stay")
    for length, rows, keys in cases:
        graph = graph_of(length, rows, keys)
        print(f"\n{length:,} tokens in chunks of {rows:,} / {keys:,}: {len(graph):,} tasks")
        print(f"{'':7} {'':11}   {'as Dask places':^38}   {'every piece where its keys are':>30}")
        print(f"{'workers':>7} {'works':>11}   {'walked':>11} {'':>6} {'GB':>8}"
              f" {'formula':>10}   {'walked':>11} {'GB':>8} {'formula':>8}")  # fmt: skip
        for workers in counts:
            print(line(graph, (length, rows, keys), workers, (flops, read)), flush=True)
    print("\nby formula, GB into a worker; in brackets past one worker a kv head")
    print(f"{'tokens':>10} {'workers':>7} " + " ".join(f"{name:>12}" for name in SCHEMES))
    for length in sorted({case[0] for case in cases}):
        for workers in counts[1:]:
            *others, ulysses = (each / 1e9 for each in schemes(length, workers))
            last = f"({ulysses:.2f})" if workers > KV_HEADS else f"{ulysses:.2f}"
            print(f"{length:10,} {workers:7,} " + " ".join(f"{each:12.2f}" for each in others)
                  + f" {last:>12}")  # fmt: skip


def line(
    graph: dict[Any, Any], case: tuple[int, int, int], workers: int, rates: tuple[float, float]
) -> str:
    """Return what two walks found, as a line."""
    length, rows, keys = case
    free, bound = (walk(graph, workers, *rates, stay=stay) for stay in (False, True))
    works = sum(free.worked.values()) / workers
    moved, stayed = (sum(run.received.values()) / workers / 1e9 for run in (free, bound))
    alone = workers == 1
    by_free, by_bound = (0.0 if alone else each / 1e9
                         for each in (sent(length, rows, keys, workers),
                                      stays(length, keys, workers)))  # fmt: skip
    return (
        f"{workers:7,} {works:9,.0f} s   {free.seconds:9,.0f} s {works / free.seconds:6.0%}"
        f" {moved:8.2f} {by_free:10.2f}   {bound.seconds:9,.0f} s {stayed:8.2f} {by_bound:8.2f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
