"""A call of the kernels, as the dict of numbers and arrays that they read.

Every size that they trust was checked by `Problem`, and the dict holds what they read until they
return.
"""

from typing import Any

import numpy as np

from softlookup.arrays import BFLOAT16, Array, IntArray, cast_finite
from softlookup.facts import Facts
from softlookup.options import Overlay
from softlookup.partials import RowFacts
from softlookup.problem import Problem

DTYPES = {np.dtype(np.float16): 0, BFLOAT16: 1, np.dtype(np.float32): 2, np.dtype(np.float64): 3}


def asked_of(problem: Problem, facts: Facts, found: RowFacts) -> dict[str, Any]:
    """Return the entries of a call that ask for facts."""
    asked: dict[str, Any] = {
        "entropy": found.entropy,
        "sink": found.sink,
        "max_score": found.max_score,
        "top": facts.top,
        "top_keys": found.top_keys,
        "top_weights": found.top_weights,
    }
    if facts.from_rows is not None:
        asked["from_rows"] = np.ascontiguousarray(facts.from_rows)
    if facts.groups and facts.labels is not None:
        each = np.broadcast_to(facts.labels, (problem.batch, problem.kv_len))
        asked["labels"] = np.ascontiguousarray(
            np.maximum(each, -1), np.int32
        )  # -2**32 is none, too
        asked |= {"group_count": facts.groups, "groups": found.groups}
    if facts.bins:
        asked |= {"bin_count": facts.bins, "distance": found.distance}
    return asked


def call_of(problem: Problem, *, with_value: bool = True) -> dict[str, Any]:
    """Return the call that asks nothing yet; what is left out is not there."""
    call: dict[str, Any] = {
        "dtype": DTYPES[problem.dtype],
        "batch": problem.batch,
        "heads": problem.heads,
        "kv_heads": problem.kv_heads,
        "q_len": problem.q_len,
        "kv_len": problem.kv_len,
        "head_dim": problem.head_dim,
        "query": plain(problem.query),
        "key": plain(problem.key),
        "scale": problem.scale,
        "causal": problem.causal,
        "q_offset": problem.q_offset,
        "kv_lens": problem.kv_lens,
    }
    if with_value and problem.value is not None and problem.value_dim:
        call["value"], call["value_dim"] = plain(problem.value), problem.value_dim
    if problem.softcap is not None:
        call["softcap"] = problem.softcap
    if problem.window is not None:
        left, right = problem.window
        call |= {"left": -1 if left is None else left, "right": -1 if right is None else right}
    if problem.mask is not None:
        call["mask"] = laid_over(problem.mask, problem.mask.array)
    if problem.bias is not None:
        bias = plain(widened(problem.bias.array, problem.compute_dtype))
        call["bias"] = laid_over(problem.bias, bias)
    if problem.sinks is not None:
        call["sinks"] = np.ascontiguousarray(widened(problem.sinks, problem.compute_dtype))
    return call


def widened(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return `array` in `dtype`; a number beyond its range becomes its nearest one."""
    if array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        return cast_finite(array, dtype)


def plain(array: Array) -> Array:
    """Return `array` such that its buffer can be read, and numbers lie whole numbers apart."""
    if array.dtype == BFLOAT16:  # no buffer speaks of it
        array = array.view(np.uint16)
    flags, size = array.flags, array.itemsize
    apart = flags.c_contiguous or not any(stride % size for stride in array.strides)
    return array if apart and flags.aligned else np.ascontiguousarray(array)


def laid_over(overlay: Overlay, array: Array) -> tuple[Array, IntArray]:
    """Return an overlay's numbers, and which of them each batch entry uses."""
    return array, np.ascontiguousarray(overlay.entry)
