"""Processes of this machine that work; Ctrl-C is for the one that started them, and ends them all.

A terminal sends Ctrl-C to every process of a program. Workers never hear it: they would each print
where they were. They are started from a thread that holds the signal off, which children inherit,
those too that take the place of one that died.
"""

import importlib.util
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from softlookup.surveys.packages import needed

_ALONE = {"SOFTLOOKUP_THREADS": "1"}  # the workers share the processors


@contextmanager
def processes(workers: int) -> Iterator[Any]:
    """Give a cluster of processes here, as it starts; what ends it early kills them."""
    resource_tracker.ensure_running()  # or the first worker's start begins it, and lets Ctrl-C in
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
    with cluster:
        try:
            cluster.scale(workers)
            yield cluster
        except BaseException:
            with _unheard():  # a second Ctrl-C changes nothing: this is quick
                _kill(cluster)
                cluster.close()
            raise


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


def _kill(cluster: Any) -> None:
    """End the workers at once: they write nothing, and what they were at is lost either way."""
    for nanny in cluster.workers.values():
        nanny.close_gracefully()  # or it starts another one, and the end waits for that
        if nanny.pid is not None and hasattr(signal, "SIGKILL"):
            with suppress(OSError):
                os.kill(nanny.pid, signal.SIGKILL)
