"""Processes of this machine that work; Ctrl-C is for the one that started them, and ends them all.

A terminal sends Ctrl-C to every process of a program. Workers never hear it: they would each print
where they were. They are started from a thread that holds the signal off, which children inherit,
those too that take the place of one that died.
"""

import asyncio
import importlib.util
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from softlookup.errors import BackendError
from softlookup.surveys.packages import needed

_ALONE = {"SOFTLOOKUP_THREADS": "1"}  # the workers share the processors
_LONGEST = 60  # seconds for the end: Dask itself may wait for ever, as for a worker that starts


@contextmanager
def processes(workers: int) -> Iterator[Any]:
    """Give a cluster of processes here that have started; in the end they are killed.

    Raises
    ------
    BackendError
        Where none of them could start. Dask would wait for them for ever.
    """
    _track()
    with _unheard():
        cluster = needed("distributed").LocalCluster(  # its thread starts what is asked for below
            n_workers=0,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            security=True if importlib.util.find_spec("cryptography") else None,
            env=_ALONE,
        )
    try:
        cluster.scale(workers)
        cluster.sync(_started, cluster)
        _check_alive(cluster)
        yield cluster
    finally:
        with _unheard(), suppress(TimeoutError):  # a second Ctrl-C changes nothing: this is quick
            cluster.sync(_kill, cluster, callback_timeout=_LONGEST)
            cluster.close(timeout=_LONGEST)


def _track() -> None:
    """Start what clears away after a process that was killed; of which it needs not complain.

    The first worker's start would begin it otherwise, and let Ctrl-C in.
    """
    name, before = "PYTHONWARNINGS", os.environ.get("PYTHONWARNINGS")
    os.environ[name] = ",".join(filter(None, [before, "ignore:resource_tracker"]))
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def _unheard() -> Iterator[None]:
    """Hold Ctrl-C off in this thread, and in threads and processes that are started from it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def _started(cluster: Any) -> None:
    """Wait until its workers started, or failed to: those that are alive do the work."""
    try:
        await asyncio.shield(cluster)  # Ctrl-C ends the wait; workers that start are killed below
    except Exception:
        if not cluster.workers:  # none could even be made
            raise


def _check_alive(cluster: Any) -> None:
    if not any(nanny.is_alive() for nanny in cluster.workers.values()):
        raise BackendError(
            "workers", "must start; each of them ended as it began. In a script, call it under "
            'if __name__ == "__main__":, since they import the script; or pass workers=0.'
        )  # fmt: skip


async def _kill(cluster: Any) -> None:
    """End the workers at once: they write nothing, and what they were at is done with, or lost."""
    for nanny in cluster.workers.values():
        nanny.close_gracefully()  # or it starts another one, and the end waits for that
        if nanny.pid is not None and hasattr(signal, "SIGKILL"):
            with suppress(OSError):
                os.kill(nanny.pid, signal.SIGKILL)
