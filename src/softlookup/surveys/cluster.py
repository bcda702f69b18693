"""A cluster that works: one of Dask's that is there, or processes of this machine.

What goes wrong with it is one sentence; what was written stays, and the next run goes on.
"""

import asyncio
import concurrent.futures
import logging
import socket
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

from softlookup.errors import BackendError
from softlookup.surveys.block import Block
from softlookup.surveys.corpus import Line
from softlookup.surveys.packages import needed
from softlookup.surveys.processes import processes
from softlookup.surveys.work import Job, forget, work
from softlookup.tokens import listed, readable

_PATIENCE = 30  # seconds for a worker to come, or to come back
_SOON = 3  # seconds after which a wait is told, and an address counts as unreachable
_PORT = 8786  # Dask's own
_CERTIFICATES = tuple(
    f"DASK_DISTRIBUTED__COMM__TLS__{one}" for one in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
)
_LOG = logging.getLogger(__name__)  # where nobody listens, a warning is a line on stderr
_ENDED = (asyncio.CancelledError, concurrent.futures.CancelledError)

Part = Callable[[int], list[Line]]
Found = Generator[tuple[int, Block], None, None]


def here(job: Job, parts: Iterable[int], lines: Part) -> Found:
    """Yield each part with what it came to, worked out in this process."""
    try:
        for part in parts:
            yield part, work(job, lines(part))
    finally:
        forget()


def on_workers(
    job: Job, parts: Iterable[int], lines: Part, *, workers: int, scheduler: str | None
) -> Found:
    """Yield each part with what it came to, in the order in which workers are done.

    Two parts for each worker are under way at once, whatever their number.

    Raises
    ------
    BackendError
        Where the cluster is not there, or goes away; the parts that were yielded stand.
    SoftlookupError
        What a worker refuses.
    """
    with _client(workers, scheduler) as client:
        run, waiting = uuid.uuid4().hex[:12], iter(parts)
        under_way: dict[Any, int] = {}

        def ask(count: int) -> None:
            for part in islice(waiting, count):
                key = f"softlookup-survey-{run}-{part}"
                asked = client.submit(work, job, lines(part), key=key, pure=False)
                under_way[asked] = part

        ask(2 * max(len(_workers(client)), workers, 1))
        while under_way:
            for one in _done(client, under_way):
                part = under_way.pop(one)
                block = _result(client, one, job, part)
                one.release()
                yield part, block
                ask(1)


def _done(client: Any, under_way: dict[Any, int]) -> list[Any]:
    """Return what is done, the first parts first."""
    wait = needed("distributed").wait
    asked = list(under_way)
    found = _patiently(
        client, lambda seconds: wait(asked, timeout=seconds, return_when="FIRST_COMPLETED")
    )
    return sorted(found.done, key=under_way.__getitem__)


def _result(client: Any, future: Any, job: Job, part: int) -> Block:
    """Return what a worker found, or say what became of it."""
    try:
        found: Block = _patiently(client, lambda seconds: future.result(timeout=seconds))
    except needed("distributed").KilledWorker as error:
        first = part * job.settings.lines + 1
        raise BackendError(
            "workers", f"must live to work out lines {first:,} ... "
            f"{first + job.settings.lines - 1:,} (partition {part}); each that tried was killed, "
            "as where memory ends. Give them more, or take fewer of them, and run the same again: "
            "it goes on."
        ) from error  # fmt: skip
    except ModuleNotFoundError as error:
        raise BackendError(
            "workers", f"must have softlookup and what it needs installed; a worker has no "
            f'{listed(str(error.name))}. pip install "softlookup[survey]" there.'
        ) from error  # fmt: skip
    return found


def _patiently(client: Any, wait: Callable[[float], Any]) -> Any:
    """Wait as long as any worker is there: what was lost with one is worked out by another."""
    closed = needed("distributed.comm").CommClosedError
    missing = 0
    while True:
        try:
            return wait(_PATIENCE)
        except TimeoutError:
            missing = 0 if _workers(client) else missing + 1
            if missing > 1:
                raise BackendError(
                    "workers", f"must be there to work; none was for {2 * _PATIENCE} seconds. "
                    "Start some, and run the same again: it goes on."
                ) from None  # fmt: skip
        except (*_ENDED, closed) as error:
            raise _gone(error) from error


def _gone(error: BaseException) -> BackendError:
    return BackendError(
        "scheduler", f"must stay until the survey is done; it went away: {_reason(error)}. Start "
        "it again, and run the same again: it goes on."
    )  # fmt: skip


def _reason(error: BaseException) -> str:
    words = " ".join(str(error).split())[:200].rstrip(".")
    return readable(words or type(error).__name__)


def _first(error: BaseException) -> BaseException:
    """Return what an error began with: Dask wraps it in others, which say less."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _workers(client: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = client.nthreads(callback_timeout=_PATIENCE)
    except (OSError, *_ENDED) as error:
        raise _gone(error) from error
    return found


@contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Any]:
    """Give a client of the cluster that is there, or of one made of processes here."""
    distributed = needed("distributed")
    with ExitStack() as stack:
        stack.enter_context(_quietly())
        if scheduler is None:
            try:
                there = stack.enter_context(processes(workers))
            except BackendError:
                raise
            except (OSError, RuntimeError) as error:  # as where the disk is full
                raise BackendError(
                    "workers", f"must start; they cannot: {_reason(_first(error))}. Mend that, or "
                    "pass workers=0."
                ) from error  # fmt: skip
            client = distributed.Client(there.scheduler_address, security=there.security)
        else:
            client = _connected(distributed, scheduler)
        stack.enter_context(client)
        yield client


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep Dask's own notes off the terminal: what goes wrong is one sentence."""
    there = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    logs = [logging.getLogger(name) for name in (*there, "asyncio")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def check_scheduler(scheduler: str) -> None:
    """Refuse an address where no scheduler is, before anything is loaded for it.

    Raises
    ------
    BackendError
        Where nothing answers there.
    """
    _knock(scheduler)
    with _quietly(), _asked(needed("distributed"), scheduler) as client:
        try:
            client.wait_for_workers(1, timeout=_SOON)
        except TimeoutError:
            _LOG.warning(
                "scheduler: %s has no worker yet; waiting %d seconds for one. Start one with: "
                "dask worker %s", *(listed(scheduler), _PATIENCE, listed(scheduler)),
            )  # fmt: skip
        except OSError as error:
            raise _gone(error) from error


def _knock(scheduler: str) -> None:
    """Refuse an address that nobody listens at: Dask itself would try it again and again."""
    scheme, _, place = scheduler.rpartition("://")
    if scheme not in {"", "tcp", "tls"}:
        return
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    if not colon:
        host, port = place, str(_PORT)
    until = time.monotonic() + _SOON
    while True:
        try:
            address = (host.strip("[]"), int(port))
            socket.create_connection(address, timeout=max(until - time.monotonic(), 0.1)).close()
        except (OSError, ValueError, OverflowError) as error:
            if isinstance(error, ConnectionRefusedError) and time.monotonic() < until:
                time.sleep(0.2)  # it may be on its way up
                continue
            raise _unanswered(scheduler, error) from error
        return


def _asked(distributed: Any, scheduler: str) -> Any:
    if scheduler.startswith("tls://"):
        _check_certificates(distributed)
    try:
        return distributed.Client(scheduler, timeout=_PATIENCE / 2)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise _unanswered(scheduler, error) from error


def _check_certificates(distributed: Any) -> None:
    """Refuse to speak TLS without certificates, which Dask takes from its configuration."""
    if needed("dask").config.get("distributed.client.security-loader", None):
        return  # the user's own way
    try:
        context, reason = distributed.Security().get_connection_args("client")["ssl_context"], ""
    except (OSError, ValueError) as error:  # no such file, no certificate in it, another's key
        context, reason = None, f" that can be read: {_reason(error)}"
    if context is None:
        raise BackendError(
            "scheduler", f"must be shown a certificate where it speaks TLS; Dask is told of none"
            f"{reason}. Set {', '.join(_CERTIFICATES)} to files."
        )  # fmt: skip


def _unanswered(scheduler: str, error: BaseException) -> BackendError:
    return BackendError(
        "scheduler", f"must be the address of a Dask scheduler, e.g. tcp://10.0.0.1:8786; "
        f"{listed(scheduler)} does not answer: {_reason(error)}. Check it."
    )  # fmt: skip


def _connected(distributed: Any, scheduler: str) -> Any:
    """Return a client of a scheduler that has a worker, or gets one while it is waited for."""
    client = _asked(distributed, scheduler)
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        client.close()
        raise BackendError(
            "scheduler", f"must have a worker; {listed(scheduler)} had none for {_PATIENCE} "
            "seconds. Start one with: dask worker ADDRESS."
        ) from error  # fmt: skip
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        client.close()
        raise _unanswered(scheduler, error) from error
    return client
