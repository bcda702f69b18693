"""Single cells: what chosen rows give to one key each, exactly, at a product of a row with a key.

A row's normaliser is known, so that no other weight of the row is needed.
"""

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.options import Overlay
from softlookup.problem import Problem
from softlookup.visibility import row_limits


def weights_at(problem: Problem, rows: IntArray, keys: IntArray, lse: Array) -> Array:
    """Return the weight of one key of each row, (batch, heads, rows); 0 where it is hidden."""
    there = np.clip(keys, 0, max(problem.kv_len - 1, 0))
    seen = sees_at(problem, rows, keys)
    if not problem.kv_len or not seen.any():
        return np.zeros(lse.shape)
    dtype = problem.compute_dtype
    query = problem.query[:, :, rows].astype(dtype, copy=False)
    query = query.reshape(problem.batch, problem.kv_heads, problem.group, len(rows), -1)
    key = problem.key[np.arange(problem.batch)[:, None], :, there].astype(dtype, copy=False)
    scores = np.einsum("bkgrd,brkd->bkgr", query, key).reshape(lse.shape) * problem.scale
    if problem.softcap is not None:
        scores = problem.softcap * np.tanh(scores / problem.softcap)
    if problem.bias is not None:
        scores = scores + _laid(problem.bias, rows, there)
    with np.errstate(invalid="ignore"):
        found: Array = np.exp(np.where(seen, scores - lse, -np.inf))
    return found


def sees_at(problem: Problem, rows: IntArray, keys: IntArray) -> BoolArray:
    """Return whether each row sees one key, (batch, heads or 1, rows)."""
    seen = (keys >= 0) & (keys < problem.kv_len)
    limits = row_limits(problem, slice(0, problem.batch), rows)
    if limits is not None:
        seen = seen & (keys >= limits.start) & (keys < limits.stop)
    seen = seen[:, None]
    there = np.clip(keys, 0, max(problem.kv_len - 1, 0))
    for overlay in (problem.mask, problem.bias):
        if overlay is not None and problem.kv_len:
            over = _laid(overlay, rows, there)
            seen = seen & (over if over.dtype == np.bool_ else ~np.isneginf(over))
    return seen


def _laid(overlay: Overlay, rows: IntArray, keys: IntArray) -> Array:
    """Return a mask or bias at one key of each row, (batch, heads or 1, rows)."""
    array = overlay.array
    row = rows[None, None] if array.shape[2] > 1 else np.zeros((1, 1, 1), np.int64)
    key = keys[:, None] if array.shape[3] > 1 else np.zeros((1, 1, len(rows)), np.int64)
    head = np.arange(array.shape[1])[None, :, None]
    found: Array = array[overlay.entry[:, None, None], head, row, key]
    return found
