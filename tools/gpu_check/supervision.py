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
from contextlib import contextmanager
from typing import IO, Any

START = 60.0  # seconds that a worker may take until its first part
Found = dict[str, Any]
Limits = Mapping[str, float]  # of each part, by name


def warm_up(shares: Mapping[str, int], seed: int, limit: float) -> float:
    """Compile everything, by as many processes for each part; return the seconds that it took."""
    start = time.monotonic()
    left = [(part, (n, count)) for part, count in shares.items() for n in range(count)]
    running: list[subprocess.Popen[str]] = []
    while (left or running) and time.monotonic() - start < limit:
        while left and len(running) < (os.cpu_count() or 1):
            part, share = left.pop(0)
            running.append(_start([part], seed, dry=False, warming=True, share=share))
        running = [each for each in running if each.poll() is None]
        time.sleep(0.05)
    for each in running:
        each.kill()
        each.wait()
    return time.monotonic() - start


def supervise(limits: Limits, seed: int, *, dry: bool, until: float,
              say: Callable[[Found], None]) -> None:  # fmt: skip
    """Run all parts, a worker after the other; every finding goes to `say` as it comes.

    `until` is when, by time.monotonic, whatever is left is left out.
    """
    left = list(limits)
    while left:
        if time.monotonic() >= until:
            for part in left:
                say(_stopped(part, "left out", "the time of the whole run was up"))
            return
        for part in _one_worker(left, limits, seed, dry=dry, until=until, say=say):
            left.remove(part)


def _one_worker(parts: Sequence[str], limits: Limits, seed: int, *, dry: bool, until: float,
                say: Callable[[Found], None]) -> Iterator[str]:  # fmt: skip
    """Yield the parts that one worker dealt with: all of them, or up to the one it fell at."""
    part, began, allowed = None, time.monotonic(), START
    with _worker(parts, seed, dry=dry) as (process, lines, words):
        while True:
            try:
                wait = min(began + allowed, until) - time.monotonic()
                found = lines.get(timeout=max(0.0, wait))
            except queue.Empty:
                took = time.monotonic() - began
                yield from _fallen(part, parts, "too long", f"stopped after {took:.0f} s", say)
                return
            if found is None:
                break
            if found["kind"] == "begin":
                part, began = found["part"], time.monotonic()
                allowed = limits[found["part"]]
            elif found["kind"] == "end":
                say({"kind": "done", "part": part, "seconds": round(time.monotonic() - began, 2)})
                yield found["part"]
                part, began, allowed = None, time.monotonic(), START
            else:
                say(found)
        code = process.wait()
        if code or part is not None:
            yield from _fallen(part, parts, "fell", f"exit {code}: {_last(words)}", say)


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
            process.wait()
            reader.join()
            if process.stdout is not None:
                process.stdout.close()


def _fallen(part: str | None, parts: Sequence[str], status: str, words: str,
            say: Callable[[Found], None]) -> Iterator[str]:  # fmt: skip
    """Say how a part ended; where no part had begun, none of the rest would."""
    for each in parts if part is None else [part]:
        say(_stopped(each, status, words))
        yield each


def _stopped(part: str, status: str, words: str) -> Found:
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
        text=True,
        env=os.environ | ({"TRITON_INTERPRET": "1"} if dry else {}),
    )


def _read(process: subprocess.Popen[str], lines: "queue.Queue[Found | None]") -> None:
    """Hand on what a worker says, and None at its end."""
    for line in process.stdout or ():
        try:
            lines.put(json.loads(line))
        except ValueError:  # a library that prints
            continue
    lines.put(None)


def _last(words: IO[str]) -> str:
    """Return the last line that a worker left on its error stream."""
    words.seek(0)
    lines = [line.strip() for line in words.read().splitlines() if line.strip()]
    return lines[-1][:240] if lines else "no word"
