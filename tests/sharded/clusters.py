"""Real clusters of processes on this machine, and arrays whose chunks take their time."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.security import Security

from patience import PATIENCE


@contextlib.contextmanager
def within(seconds, what):
    """Fail where what is done here takes longer: Dask waits for ever, as a cluster ends, too."""

    def late(*_):
        pytest.fail(f"{what} was not done with after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    outside = signal.setitimer(signal.ITIMER_REAL, seconds, 20)  # again, where what is left waits
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *outside)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def cluster(workers=2, config=None, **more):
    """Yield a client of a cluster of processes with one thread each; it ends with the test."""
    quiet = {"distributed.admin.large-graph-warning-threshold": "1GB", **(config or {})}
    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True,
               "dashboard_address": "127.0.0.1:0",  # of None Dask makes its own port, 8787
               "scheduler_kwargs": {"dashboard": False}, "silence_logs": 50, **more}  # fmt: skip
    with (
        within(PATIENCE, f"a cluster of {workers}"),
        dask.config.set(quiet),
        LocalCluster(**options) as made,
        Client(made) as client,
    ):
        yield client


def certified(folder):
    """Return a certificate that is its own authority, as docs/dask.md makes one."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=softlookup test"],
        cwd=folder, check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    return Security(
        require_encryption=True, tls_ca_file=cert,
        tls_scheduler_cert=cert, tls_scheduler_key=key,
        tls_worker_cert=cert, tls_worker_key=key,
        tls_client_cert=cert, tls_client_key=key,
    )  # fmt: skip


@contextlib.contextmanager
def processes_of_their_own(folder):
    """Yield a client, a scheduler's process and a worker's, started as one does by hand."""
    where = folder / "scheduler.json"
    both = ["--scheduler-file", str(where), "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with within(PATIENCE, "a scheduler with a worker"), contextlib.ExitStack() as stack:
        started = []
        for what in (
            ["scheduler", "--host", "127.0.0.1", "--port", "0"],
            ["worker", "--no-nanny", "--nthreads", "1", "--death-timeout", "60"],
        ):
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *what, *both],
                env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
            wait_for(where.exists)
        client = stack.enter_context(Client(scheduler_file=str(where), timeout=PATIENCE))
        client.wait_for_workers(1, timeout=PATIENCE)
        yield client, *started


def drawn(block_info=None, seed=0, seconds=0.0):
    """Return a chunk of random numbers that depend on its place alone, after some time."""
    time.sleep(seconds)
    place = block_info[None]
    rng = np.random.default_rng([seed, *place["chunk-location"]])
    return rng.standard_normal(place["chunk-shape"]).astype(np.float32)


def random(shape, chunks, seed, seconds=0.0):
    """Return a dask array of random numbers, made chunk by chunk."""
    cut = da.core.normalize_chunks(chunks, shape, dtype=np.float32)
    return da.map_blocks(drawn, chunks=cut, dtype=np.float32, seed=seed, seconds=seconds,
                         meta=np.zeros((0,) * len(shape), np.float32))  # fmt: skip


def pids(client):
    """Return the process of each worker."""
    return list(client.run(os.getpid).values())


def wait_for(condition, seconds=PATIENCE):
    """Wait until a condition holds, or fail."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited {seconds} seconds in vain"
        time.sleep(0.02)
