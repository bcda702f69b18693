"""How much memory does a worker need, and does it grow with the number of keys?

Two workers of one thread each, one head of 64, float32, 8 chunks of 512 queries; N keys and values
and then 4 N, in files, and again laid on the workers beforehand. Printed is by how much each worker
was larger at its highest moment (VmHWM) than after a first small lookup, everything loaded; beside
it what a piece reads (a chunk of keys and one of values), and all keys and values. Those laid on
the workers are in that figure: half of them from the start, and what Dask copies.
"""

import tempfile
from pathlib import Path
from typing import Any

import dask.array as da
import measure
import numpy as np
from dask_speed import DIM, MIB, cluster, write_noise
from distributed import wait

import softlookup as sl
from softlookup.integrations.dask import open_array

QUESTION = __doc__.splitlines()[0]
KEYS, FEW_KEYS = 262_144, 8_192
CHUNK, FEW_CHUNK = 65_536, 4_096
ROWS, ROW_CHUNKS = 512, 8
PLACES = ("in files", "on the workers")


def written(folder: Path, keys: int) -> list[Path]:
    """Write so many keys and values; return where."""
    paths = [folder / f"{name}-{keys}.npy" for name in ("key", "value")]
    for seed, path in enumerate(paths):
        write_noise(path, keys, seed)
    return paths


def memory(field: str) -> float:
    """Return a field of this process' status in MiB; it runs on the workers."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def grown(paths: list[Path], chunk: int, place: str) -> list[float]:
    """Return by how many MiB each worker grew at its highest moment."""
    with cluster(2) as client:
        shape = (ROWS * ROW_CHUNKS, DIM)
        query = np.random.default_rng(7).standard_normal(shape, dtype=np.float32)
        arrays = [da.from_array(query, chunks=(ROWS, DIM))]
        arrays += [open_array(path, chunks=(chunk, DIM)) for path in paths]
        client.run(looked_up_once)
        before = client.run(memory, "VmRSS")
        if place == PLACES[1]:
            arrays = client.persist(arrays)
            wait(arrays)
        out: Any = sl.attend(*arrays)
        wait(client.persist(out))
        return [most - before[worker] for worker, most in client.run(memory, "VmHWM").items()]


def looked_up_once() -> None:
    """Load on a worker what any lookup loads."""
    sl.attend(*(np.ones((8, DIM), np.float32) for _ in range(3)))


def main() -> None:
    """Print a line for every place and every number of keys, and whether the bars are kept."""
    options = measure.parsed(measure.arguments(QUESTION, rounds=1))
    few, chunk = (FEW_KEYS, FEW_CHUNK) if options.quick else (KEYS, CHUNK)
    how = "the highest moment of each of two workers, a cluster of its own for each row"
    measure.announce(QUESTION, options, how)
    piece = 2 * chunk * DIM * 4 / MIB
    rows, highest = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for keys in (few, 4 * few):
            paths = written(Path(folder), keys)
            for place in PLACES:
                found = grown(paths, chunk, place)
                highest[place, keys] = max(found)
                each = " and ".join(f"{more:.0f}" for more in found)
                whole = 2 * keys * DIM * 4 / MIB
                rows.append([f"{keys:,}", place, f"{each} MiB", f"{piece:.0f} MiB",
                             f"{whole:.0f} MiB"])  # fmt: skip
    measure.table(["keys", "they lie", "the workers grew by", "a piece reads", "all"], rows)
    at, at_four = (highest[PLACES[0], keys] for keys in (few, 4 * few))
    measure.verdict("growth over files, in what a piece reads", at_four / piece, 4)
    measure.verdict("growth at 4 N above that at N, over files", at_four - at, piece, " MiB")


if __name__ == "__main__":
    main()
