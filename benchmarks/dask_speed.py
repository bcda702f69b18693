"""What does a cluster give, and what does it take: two workers, the graph, keys larger than memory?

Heads of 64, float32. Two workers of one thread each against one, over arrays that lie on the
workers: a layer of 8 heads in chunks as docs/dask.md advises, and one head in the smallest chunks
that keep the bits. One head through dask's threads against the core's own, both with all cores; and
1,024 queries of one over 1,000,000 keys and values in files, with the process' highest memory.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import measure
import numpy as np
from distributed import Client, LocalCluster, wait

import softlookup as sl
from softlookup import machine
from softlookup.integrations.dask import open_array

QUESTION = __doc__.splitlines()[0]
LENGTH, QUICK, DIM = 32_768, 2_048, 64
SEEN = 8  # rows whose numbers are looked at
CHUNK = 4_096  # the smallest of keys whose parts keep the bits
CUTS = {8: (8_192, 16_384), 1: (CHUNK, CHUNK)}  # of queries and of keys, for so many heads
KEYS, FEW_KEYS, QUERIES = 1_000_000, 70_000, 1_024
FILE_CHUNK = 65_536
MIB = 2**20


def drawn(seed: int, block_info: Any = None) -> Any:
    """Return a chunk of noise that depends on its place alone."""
    place = block_info[None]
    rng = np.random.default_rng([seed, *place["chunk-location"]])
    return rng.standard_normal(place["chunk-shape"], dtype=np.float32)


def noise(heads: int, length: int, chunk: int, seed: int) -> Any:
    """Return a dask array of noise, (heads, length, DIM)."""
    cut = da.core.normalize_chunks((1, chunk, DIM), (heads, length, DIM), dtype=np.float32)
    return da.map_blocks(drawn, seed, chunks=cut, dtype=np.float32, meta=np.zeros((0, 0, 0), "f4"))


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """Run so many worker processes of one thread each."""
    local = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # of None Dask makes its own port, which may be taken
        scheduler_kwargs={"dashboard": False},
    )
    with local, Client(local) as client:
        yield client


def write_noise(path: Path, keys: int, seed: int) -> None:
    """Write (keys, DIM) of noise, a part at a time."""
    file = np.lib.format.open_memmap(path, "w+", np.float32, (keys, DIM))
    rng = np.random.default_rng(seed)
    for start in range(0, keys, FILE_CHUNK):
        part = file[start : start + FILE_CHUNK]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    file.flush()


def computed_on(workers: int, heads: int, length: int, rounds: int) -> float:
    """Return the median seconds of a lookup on so many workers."""
    rows, keys = CUTS[heads]
    with cluster(workers) as client:
        cuts = enumerate((rows, keys, keys))
        arrays = client.persist([noise(heads, length, chunk, seed) for seed, chunk in cuts])
        wait(arrays)
        times = []
        for number in range(rounds + 1):  # the first one warms up
            out = sl.attend(*arrays, scale=0.125 + number * 1e-6)  # else its tasks are known
            start = time.perf_counter()
            out = client.persist(out)
            wait(out)
            times.append(time.perf_counter() - start)
        few = [arrays[0][:, :SEEN].compute(), *(array.compute() for array in arrays[1:])]
        assert_same(out[:, :SEEN].compute(), sl.attend(*few, scale=0.125 + rounds * 1e-6))
        return statistics.median(times[1:])


def through_dask(arrays: list[Any], threads: int) -> Callable[[], object]:
    """Return a lookup by dask's own threads, one piece a thread."""
    cut = [da.from_array(array, chunks=(CHUNK, DIM), name=False) for array in arrays]

    def run() -> object:
        with dask.config.set(scheduler="threads", num_workers=threads):
            return sl.attend(*cut).compute()

    return run


def by_core(arrays: list[Any], threads: int) -> Callable[[], object]:
    """Return the same lookup by the core's own threads."""

    def run() -> object:
        os.environ[machine.THREADS] = str(threads)
        try:
            return sl.attend(*arrays)
        finally:
            os.environ.pop(machine.THREADS)

    return run


def out_of_core(keys: int) -> dict[str, float]:
    """Run the lookup over files in a process of its own; return its seconds and its memory."""
    with tempfile.TemporaryDirectory() as folder:
        for seed, name in enumerate(("key", "value")):
            write_noise(Path(folder) / f"{name}.npy", keys, seed)
        told = subprocess.run(
            [sys.executable, __file__, "--files", folder],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    found: dict[str, float] = json.loads(told.stdout)
    return found


def over_files(folder: Path) -> None:
    """Print the seconds and the highest memory of a lookup whose keys stand in files."""
    query = np.random.default_rng(7).standard_normal((QUERIES, DIM), dtype=np.float32)
    key, value = (
        open_array(folder / f"{name}.npy", chunks=(FILE_CHUNK, DIM)) for name in ("key", "value")
    )
    lazy = sl.attend(da.from_array(query, chunks=-1), key, value)
    start = time.perf_counter()
    out = lazy.compute(scheduler="threads")
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    whole = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("key", "value"))
    assert_same(out[:SEEN], sl.attend(query[:SEEN], *whole))
    print(json.dumps({"seconds": seconds, "memory": peak}))


def assert_same(found: Any, expected: Any) -> None:
    """Refuse to measure what computes something else."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def main() -> None:
    """Measure, and print whether each bar is kept."""
    parser = measure.arguments(QUESTION, rounds=5)
    parser.add_argument("--files", type=Path, help="a folder; used by the script itself")
    options = measure.parsed(parser)
    if options.files:
        over_files(options.files)
        return
    length, keys = (QUICK, FEW_KEYS) if options.quick else (LENGTH, KEYS)
    how = f"{length:,} tokens, heads of {DIM}, float32; medians of {options.rounds}"
    measure.announce(QUESTION, options, how)
    inverse = {}
    for heads in list(CUTS)[:1] if options.quick else CUTS:
        rows, cut = CUTS[heads]
        one, two = (computed_on(workers, heads, length, options.rounds) for workers in (1, 2))
        inverse[heads] = two / one
        print(
            f"{heads} x {length:,}, chunks {rows:,} x {cut:,}".ljust(35)
            + f"{one:7.2f} s on one worker"
        )
        print(f"two workers                        {two:7.2f} s    {one / two:.2f} times as fast")
    shape = (max(length, 2 * CHUNK), DIM)
    arrays = [np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
              for seed in range(3)]  # fmt: skip
    threads = os.cpu_count() or 1
    mine, core = through_dask(arrays, threads), by_core(arrays, threads)
    np.testing.assert_array_equal(mine(), core())
    pair = measure.compare(mine, core, options)
    print(f"through dask, {threads} threads           {pair.ours:8.2f} s")
    print(f"the core alone, {threads} threads         {pair.theirs:8.2f} s    ratio {pair}")
    files = out_of_core(keys)
    print(f"{QUERIES:,} queries over {keys:,} keys in files"
          f" {files['seconds']:8.2f} s    {files['memory'] / MIB:,.0f} MiB at most")  # fmt: skip
    measure.verdict("two workers' time by one worker's, 8 heads", inverse[8], 1 / 1.8)
    measure.verdict("through dask by the core alone", pair.ratio, 1.05)
    measure.verdict("highest memory over files", files["memory"] / MIB, 1024, " MiB")


if __name__ == "__main__":
    main()
