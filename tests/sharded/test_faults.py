"""What goes wrong on a cluster: the result is right, or the error says which part is missing."""

import concurrent.futures
import contextlib
import errno
import os
import resource
import signal
import socket
import time
from pathlib import Path

import dask
import numpy as np
import pytest
from clusters import cluster, pids, processes_of_their_own, random, wait_for
from distributed import KilledWorker, wait

import softlookup as sl
from agreement import assert_same_bits
from patience import PATIENCE
from softlookup.errors import FileError
from softlookup.integrations.dask import open_array

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
EVERY = {"entropy": True, "top": 3, "received": True, "groups": np.arange(2048) % 3}


def slow_look(seconds=0.15):
    """A lookup of eight chunks of keys, each of which takes time to make."""
    query = random((2, 96, 16), (1, 48, 16), 0)
    key, value = (random((2, 2048, 16), (1, 512, 16), seed, seconds) for seed in (1, 2))
    return sl.Lookup(query, key, value, causal=True, q_offset=1952)


def answers(look):
    """Return all that is asked of a lookup, as a list of dask arrays."""
    found = look.inspect(**EVERY)
    return [found.out, found.lse, found.entropy, found.received, found.groups, *found.top]


def assert_right(found):
    right = dask.compute(*answers(slow_look(0)), scheduler="synchronous")
    for part, expected in zip(found, right, strict=True):
        assert_same_bits(part, expected)


def begun(client):
    """Return whether a part of the lookup is there."""
    held = [key for keys in client.has_what().values() for key in keys]
    return any("softlookup-part" in str(key) for key in held)


@pytest.fixture
def other_scheduler():
    """Dask's own port is in use, as where somebody else runs a scheduler on this machine."""
    with socket.socket() as held:
        with contextlib.suppress(OSError):  # it is
            held.bind(("", 8787))
            held.listen()
        yield


def test_a_worker_that_is_killed_changes_nothing(other_scheduler):
    with cluster(2) as client:
        futures = client.compute(answers(slow_look()))
        wait_for(lambda: begun(client))
        os.kill(pids(client)[0], signal.SIGKILL)
        assert_right(client.gather(futures))
        client.wait_for_workers(2, timeout=PATIENCE)  # a cluster's end may wait for one that starts


def greedy(block, block_info=None):
    """Take more memory than the worker may have, for one chunk, when all others are there."""
    if block_info[0]["chunk-location"] == (0, 2, 0):
        time.sleep(4)
        held = np.ones(2**27)  # 1 GiB
        time.sleep(20)
        return block + 0 * held[0].astype(np.float32)
    return block


@pytest.mark.slow
def test_a_worker_that_runs_out_of_memory_is_told_of_with_its_part():
    config = {"distributed.scheduler.allowed-failures": 0}
    with cluster(1, config, memory_limit="600MiB", threads_per_worker=2) as client:
        key = random((1, 2048, 16), (1, 512, 16), 1)
        key = key.map_blocks(greedy, dtype=np.float32, name="greedy-key")
        look = sl.Lookup(random((1, 8, 16), (1, 8, 16), 0), key, key)
        future = client.compute(look.attend())
        guilty = r"\('(greedy-key[\w-]*', (0, )?0, 2, 0|softlookup-part-\w+', 0, 0, 0, 2)\)"
        with pytest.raises(KilledWorker, match=guilty):
            future.result(timeout=PATIENCE)


def test_a_part_of_a_file_that_is_gone_or_another_one_is_named_by_a_worker(tmp_path):
    zarr = pytest.importorskip("zarr")
    numbers = np.random.default_rng(3).standard_normal((2, 600, 8)).astype(np.float32)
    np.save(tmp_path / "key.npy", numbers)
    zarr.create_array(str(tmp_path / "value.zarr"), data=numbers, chunks=(1, 200, 8))
    key, again = (open_array(tmp_path / "key.npy", chunks=(1, size, 8)) for size in (200, 300))
    out = sl.attend(key[:, :9], key, open_array(tmp_path / "value.zarr"))
    with cluster(1) as client:
        assert_same_bits(client.compute(key).result(timeout=PATIENCE), numbers)
        (tmp_path / "value.zarr" / "c" / "1" / "2" / "0").unlink()
        with pytest.raises(FileError, match=r"value\.zarr: chunk \(1, 2, 0\) must be there; c/1/2"):
            client.compute(out).result(timeout=PATIENCE)
        np.save(tmp_path / "key.npy", numbers + 1)
        with pytest.raises(FileError, match=r"key\.npy: chunk \(\d, \d, 0\) must be as it was"):
            client.compute(again).result(timeout=PATIENCE)


@pytest.mark.slow
def test_after_the_scheduler_is_killed_the_same_lookup_is_computed_elsewhere(tmp_path):
    look = slow_look()
    with processes_of_their_own(tmp_path) as (client, scheduler, _):
        futures = client.compute(answers(look))
        wait_for(lambda: begun(client))
        scheduler.kill()
        with pytest.raises(concurrent.futures.CancelledError):
            client.gather(futures)
    with cluster(2):
        assert_right(dask.compute(*answers(look)))


def no_more_files():
    """Let every file end after a few bytes, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))


def too_long(dask_worker):
    """Return why a file of 65 bytes cannot be written."""
    try:
        Path(dask_worker.local_directory, "long").write_bytes(b"0" * 65)
    except OSError as error:
        return error.errno


def kept(client):
    """Return how much of what is there lies in memory, and how much on the disk."""
    found = client.run(
        lambda dask_worker: (len(dask_worker.data.memory), len(dask_worker.data.disk))
    )
    return tuple(map(sum, zip(*found.values(), strict=True)))


@pytest.mark.slow
def test_a_full_disk_keeps_what_would_be_spilled_in_memory():
    config = {"distributed.worker.memory.target": 1e-6, "distributed.worker.memory.spill": False,
              "distributed.worker.memory.pause": False}  # fmt: skip
    with cluster(2, config, memory_limit="2GiB") as client:
        spilled = client.persist(random((2, 2048, 16), (1, 1024, 16), 5))
        wait(spilled)
        assert kept(client) == (0, 4)  # with room, everything is spilled
        client.run(no_more_files)
        assert set(client.run(too_long).values()) == {errno.EFBIG}
        futures = client.compute(answers(slow_look(0)))
        wait(futures)
        in_memory, on_disk = kept(client)
        assert (in_memory >= len(futures), on_disk) == (True, 4)
        assert_right(client.gather(futures))


@pytest.mark.slow
def test_three_workers_give_the_bits_of_one():
    for workers in (1, 3):
        with cluster(workers) as client:
            assert_right(client.gather(client.compute(answers(slow_look(0)))))
