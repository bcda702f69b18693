"""Start workers, hold each part to its time, and go on after one that hangs or falls."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import IO, Any, NamedTuple

START = 60.0  # seconds that a worker may take until its first part
STARTS = 2  # how often in a row a worker may end before its first part
ALONE = 45.0  # seconds that one process may compile: a kernel that hangs slows all others
MOST = 16  # processes that compile side by side: each holds a context and its inputs
DYING = 10.0  # seconds that a killed process may take: the driver has to stop its kernels
HUNG = "too long", "fell"
Found = dict[str, Any]
Limits = Mapping[str, float]  # of each part, by name


class _Compiling(NamedTuple):
    """A process that compiles, and what is told of it; when it began, by time.monotonic."""

    process: subprocess.Popen[str]
    told: Found
    began: float


def warm_up(shares: Mapping[str, int], seed: int, limit: float) -> list[Found]:
    """Compile everything, by as many processes for each part; tell how each of them ended.

    The exit status is negative where a process was stopped, None where it never began.
    """
    until = time.monotonic() + limit
    left = [(part, (n, count)) for part, count in shares.items() for n in range(count)]
    told = [{"part": part, "share": n, "seconds": 0.0, "exit": None} for part, (n, _) in left]
    ahead, running = list(zip(left, told, strict=True)), list[_Compiling]()
    try:
        while (ahead or running) and time.monotonic() < until:
            while ahead and len(running) < min(MOST, _cores()):
                (part, share), mine = ahead.pop(0)
                process = _start([part], seed, dry=False, warming=True, share=share)
                running.append(_Compiling(process, mine, time.monotonic()))
            running = [each for each in running if _compiles(each)]
            time.sleep(0.05)
    finally:
        for each in running:
            each.process.kill()
        by = time.monotonic() + DYING
        for each in running:
            each.told["exit"] = _end(each.process, by)
    return told


def _compiles(each: _Compiling) -> bool:
    """Return whether a process still compiles; tell of one that ended, and stop one that hangs."""
    took = time.monotonic() - each.began
    each.told["seconds"] = round(took, 1)
    each.told["exit"] = each.process.poll()
    if each.told["exit"] is None and took > ALONE:
        each.process.kill()  # not waited for: the others go on
    return each.told["exit"] is None


def _cores() -> int:
    """Return how many cores this process may use; a container has fewer than its host."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def supervise(limits: Limits, seed: int, *, dry: bool, until: float,
              say: Callable[[Found], None]) -> None:  # fmt: skip
    """Run all parts, a worker after the other; every finding goes to `say` as it comes.

    `until` is when, by time.monotonic, whatever is left is left out.
    """
    left, starts, words = list(limits), 0, ""
    while left and starts < STARTS and time.monotonic() < until:
        many = len(left)
        ended = _one_worker(left, limits, seed, dry=dry, until=until, say=say)
        if ended["part"] is not None:
            say(ended)
            left.remove(ended["part"])
            _spare(ended, left, say)
        words = ended["words"]
        starts = 0 if len(left) < many else starts + 1
    late = time.monotonic() >= until
    for part in left:
        say(_stopped(part, "left out", "the time of the whole run was up") if late
            else _stopped(part, "fell", words))  # fmt: skip


def _spare(ended: Found, left: list[str], say: Callable[[Found], None]) -> None:
    """Leave out what would time a kernel that hung: each would hang for all of its limit."""
    if "hopper" in ended["part"].lower() and ended["status"] in HUNG:
        for part in [each for each in left if each.startswith("time: Hopper")]:
            say(_stopped(part, "left out", f"{ended['part']!r} was stopped, or fell"))
            left.remove(part)


def _one_worker(left: list[str], limits: Limits, seed: int, *, dry: bool, until: float,
                say: Callable[[Found], None]) -> Found:  # fmt: skip
    """Take away from `left` what one worker came to the end of; return how it ended, and where."""
    part, began, allowed = None, time.monotonic(), START
    with _worker(left, seed, dry=dry) as (process, lines, words):
        while left:  # not until its output ends: a compiler that it started may hold that open
            try:
                wait = min(began + allowed, until) - time.monotonic()
                found = lines.get(timeout=max(0.0, wait))
            except queue.Empty:
                took = f"stopped after {time.monotonic() - began:.0f} s"
                if time.monotonic() >= until:
                    return _stopped(part, "left out", f"{took}: the time of the run was up")
                return _stopped(part, "too long", took)
            if found is None:
                code = _end(process, time.monotonic() + DYING)
                return _stopped(part, "fell", f"exit {code}: {_last(words)}")
            if found["kind"] == "begin":
                part, began = found["part"], time.monotonic()
                allowed = limits[found["part"]]
            elif found["kind"] == "end":
                say({"kind": "done", "part": part, "seconds": round(time.monotonic() - began, 2)})
                left.remove(found["part"])
                part, began, allowed = None, time.monotonic(), START
            else:
                say(found)
    return _stopped(None, "done", "")


@contextmanager
def _worker(
    parts: Sequence[str], seed: int, *, dry: bool
) -> Iterator[tuple[subprocess.Popen[str], "queue.Queue[Found | None]", IO[str]]]:
    """Give a process at work, what it says, and its error stream; stop it in the end."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as words:
        process = _start(parts, seed, dry=dry, warming=False, words=words)
        lines: queue.Queue[Found | None] = queue.Queue()
        reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
        reader.start()
        try:
            yield process, lines, words
        finally:
            process.kill()
            _end(process, time.monotonic() + DYING)
            reader.join(1.0)


def _end(process: subprocess.Popen[str], by: float) -> int | None:
    """Return the exit status of a process that ends or was killed, None if it does not go."""
    try:
        return process.wait(max(0.0, by - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None


def _stopped(part: str | None, status: str, words: str) -> Found:
    return {"kind": "stopped", "part": part, "status": status, "words": words}


def _start(parts: Sequence[str], seed: int, *, dry: bool, warming: bool,
           share: tuple[int, int] = (0, 1), words: IO[str] | None = None,
           ) -> subprocess.Popen[str]:  # fmt: skip
    request = {"names": list(parts), "seed": seed, "dry": dry, "warming": warming, "share": share}
    return subprocess.Popen(
        [sys.executable, "-m", "gpu_check.worker", json.dumps(request)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if warming else subprocess.PIPE,
        stderr=words or subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        env=os.environ | ({"TRITON_INTERPRET": "1"} if dry else {}),
    )


def _read(process: subprocess.Popen[str], lines: "queue.Queue[Found | None]") -> None:
    """Hand on what a worker says, and None at its end."""
    with process.stdout or nullcontext(()) as said:
        for line in said:
            try:
                found = json.loads(line)
            except ValueError:  # a library that prints
                continue
            if isinstance(found, dict) and "kind" in found:
                lines.put(found)
    lines.put(None)


def _last(words: IO[str]) -> str:
    """Return the last line that a worker left on its error stream."""
    words.seek(0)
    lines = [line.strip() for line in words.read().splitlines() if line.strip()]
    return lines[-1][:240] if lines else "no word"
