"""Medians of CUDA events over interleaved rounds, each sample queued while the device is held busy.

A sample is several calls in a row. The device first spins for as long as the host takes to hand
them over, so that what is timed is the device's own work, in the order of a stream that never runs
dry; what the host needs for a call is told beside it. Each round begins with another runner.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from gpu_check.session import Session, brief

Call = Callable[[], Any]
SAMPLE = 2e-3  # seconds that a sample should last
MOST_CALLS = 20
CYCLES = 2.0e9  # that the device spins in a second, at most
ROUNDS = 15
ENOUGH = 2.5  # seconds that one race may take, warm


class Time(NamedTuple):
    """Milliseconds of a call: the device's median, its quartiles, and the host's median."""

    device: float
    low: float
    high: float
    host: float


def race(session: Session, row: str, runners: Mapping[str, Call]) -> dict[str, Time]:
    """Time all `runners` in turn; one that fails is said and left out. Empty while warming up."""
    ready = {name: call for name, call in runners.items() if _runs(session, row, name, call)}
    if session.warming:
        return {}
    plans = {name: _plan(session, call) for name, call in ready.items()}
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in ready}
    order, start = list(ready), time.perf_counter()
    rounds = 1 if session.dry else ROUNDS
    for done in range(rounds):
        if done >= 3 and time.perf_counter() - start > ENOUGH:
            break
        for name in order:
            samples[name].append(_sample(session, ready[name], *plans[name]))
        order = order[1:] + order[:1]
    times = {name: _median(found) for name, found in samples.items()}
    for name, took in times.items():
        session.time(row, name, **{field: round(ms, 5) for field, ms in took._asdict().items()},
                     samples=len(samples[name]), calls=plans[name][0])  # fmt: skip
    return times


def seconds(session: Session, row: str, name: str, call: Call, rounds: int = 3) -> float | None:
    """Return the median seconds of a call as its caller waits for it; None if it fails."""
    if not _runs(session, row, name, call) or session.warming:
        return None
    found = []
    for _ in range(1 if session.dry else rounds):
        session.wait()
        start = time.perf_counter()
        call()
        session.wait()
        found.append(time.perf_counter() - start)
    session.time(row, name, device=round(statistics.median(found) * 1e3, 4), samples=len(found))
    return statistics.median(found)


def _runs(session: Session, row: str, name: str, call: Call) -> bool:
    """Call it once; say why where it does not run."""
    try:
        call()
        session.wait()
    except Exception as error:
        session.missing(row, name, brief(error))
        if session.lost():
            raise
        return False
    return True


def _plan(session: Session, call: Call) -> tuple[int, int]:
    """Return how many calls make a sample, and the cycles that the device spins before them."""
    session.wait()
    start = time.perf_counter()
    call()
    handed_over = time.perf_counter() - start
    session.wait()
    took = time.perf_counter() - start
    calls = 1 if session.dry else max(1, min(MOST_CALLS, round(SAMPLE / took)))
    return calls, int(1.5 * handed_over * calls * CYCLES) + 200_000


def _sample(session: Session, call: Call, calls: int, cycles: int) -> tuple[float, float]:
    """Return the milliseconds of a call, the device's and the host's."""
    if session.dry:
        start = time.perf_counter()
        call()
        took = (time.perf_counter() - start) * 1e3
        return took, took
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    torch.cuda._sleep(cycles)  # noqa: SLF001 (torch's own tests hold the device busy by it)
    begin.record()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    host = time.perf_counter() - start
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / calls, host * 1e3 / calls


def _median(samples: list[tuple[float, float]]) -> Time:
    device = sorted(ms for ms, _ in samples)
    low, high = device[len(device) // 4], device[(3 * len(device)) // 4]
    return Time(statistics.median(device), low, high, statistics.median(ms for _, ms in samples))
