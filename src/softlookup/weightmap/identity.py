"""What tells one lookup from another: whether a map is that of the arrays that are here now."""

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from softlookup.arrays import MEMORY, Array, in_memory
from softlookup.options import Overlay
from softlookup.problem import Problem

_AT_ONCE = 2**24


def fingerprint(problem: Problem) -> str:
    """Return what tells one lookup from another: all that shapes its weights, in hexadecimals."""
    digest = hashlib.blake2b(digest_size=16)
    left = json.dumps([str(problem.dtype), problem.causal, problem.window, problem.scale.hex(),
                       None if problem.softcap is None else problem.softcap.hex()])  # fmt: skip
    digest.update(left.encode())
    placed = problem.causal or problem.window is not None  # else positions shape nothing
    offset = problem.q_offset if placed else None
    for array in (problem.query[0, 0], problem.key[0, 0], offset, problem.kv_lens,
                  problem.sinks, _laid_over(problem.mask), _laid_over(problem.bias)):  # fmt: skip
        _take_in(digest, array)
    return digest.hexdigest()


def begun(problem: Problem) -> Callable[[], str]:
    """Return what gives the fingerprint of a problem as it is now.

    Of one that lies elsewhere than in memory a copy is taken now, and read beside what goes on; one
    with a mask or a bias, which may be as large as its weights, is read now.
    """
    if problem.place == MEMORY or problem.mask is not None or problem.bias is not None:
        known = fingerprint(problem)
        return lambda: known
    here = problem.in_memory()
    found: list[str] = []
    reading = threading.Thread(target=lambda: found.append(fingerprint(here)), daemon=True)
    reading.start()

    def read() -> str:
        reading.join()
        return found[0] if found else fingerprint(here)  # which raises what stopped the other

    return read


def digest_of(tensors: Mapping[str, Array]) -> str:
    """Return what tells whether numbers are as they were written, in hexadecimals."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(tensors):
        digest.update(f"{name};".encode())
        _take_in(digest, tensors[name])
    return digest.hexdigest()


def _laid_over(overlay: Overlay | None) -> Array | None:
    return None if overlay is None else overlay.array[overlay.entry[0], 0]


def _take_in(digest: Any, array: Array | None) -> None:
    """Add an array's dtype, shape and numbers, whatever its strides and wherever it lies."""
    if array is None:
        digest.update(b"none;")
        return
    digest.update(f"{array.dtype} {array.shape};".encode())
    length = array.shape[0]
    step = max(_AT_ONCE * length // max(array.size * array.itemsize, 1), 1)
    for start in range(0, length, step):
        part = in_memory(array[start : start + step])
        digest.update(np.ascontiguousarray(part).view(np.uint8))
