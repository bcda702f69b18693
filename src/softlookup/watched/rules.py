"""Rules: which keys the rows of several steps see, said by one rule where there is one."""

from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.errors import OptionError
from softlookup.options import Overlay, Window
from softlookup.problem import Problem
from softlookup.visibility import row_limits

_LARGEST = 2**31  # bytes of a mask or bias over all pairs


class Step(NamedTuple):
    """One step's lookup, and the token positions of its first row and its first key."""

    start: int
    key_start: int
    problem: Problem

    @property
    def positions(self) -> IntArray:
        """Token positions of its rows."""
        return np.arange(self.start, self.start + self.problem.q_len)

    @property
    def key_positions(self) -> IntArray:
        """Token positions of its keys."""
        return np.arange(self.key_start, self.key_start + self.problem.kv_len)


class Rule(NamedTuple):
    """What a row at position p sees: keys p - left ... p + right; None is open."""

    left: int | None
    right: int | None

    def spans(self, positions: IntArray, first: int, stop: int) -> tuple[IntArray, IntArray]:
        """Return the first key of each row, and the one after its last, from `first` to `stop`."""
        low = np.full(len(positions), first) if self.left is None else positions - self.left
        high = np.full(len(positions), stop) if self.right is None else positions + self.right + 1
        return np.clip(low, first, stop), np.clip(high, first, stop)


def joined_visibility(steps: list[Step], keys: IntArray) -> dict[str, Any]:
    """Return `causal`, `window`, `q_offset` and `mask` of the steps together.

    A rule where one fits every row of every step, with a mask over keys where they all agree on
    one; else one mask over all pairs.

    Raises
    ------
    OptionError
        Where that mask is too large.
    """
    over_keys = _key_mask(steps, keys)
    rule = None if over_keys is None else _common_rule(steps, keys)
    if rule is None or over_keys is None:
        return {"mask": _pair_mask(steps, keys)}
    found: dict[str, Any] = {} if over_keys.all() else {"mask": over_keys[:, :, None]}
    if rule.left is None and rule.right is None:
        return found
    offset = {"q_offset": steps[0].start - int(keys[0])}
    if rule.right == 0:
        window = None if rule.left is None else (rule.left, None)
        return found | offset | {"causal": True, "window": window}
    return found | offset | {"window": tuple(rule)}


def _common_rule(steps: list[Step], keys: IntArray) -> Rule | None:
    """Return the rule that holds in all steps: one of theirs, or what single rows amount to.

    A step of one row needs no rule; rows that each see all that came before are causal, and rows
    of a cache that keeps the last keys have a window.
    """
    actual = [_spans(step) for step in steps]
    if any(one is None for one in actual):
        return None
    positions = np.concatenate([step.positions for step in steps])
    low, high = (np.concatenate([one[i] for one in actual if one is not None]) for i in (0, 1))
    widest = int((positions - low).max(initial=0))
    rules = [rule_of(step.problem.window, step.problem.causal) for step in steps]
    rules += [Rule(None, 0), Rule(widest, 0)]
    first, stop = int(keys[0]), int(keys[-1]) + 1
    for rule in dict.fromkeys(rules):
        lowest, highest = rule.spans(positions, first, stop)
        nothing = (low >= high) & (lowest >= highest)
        if (((lowest == low) & (highest == high)) | nothing).all():
            return rule
    return None


def rule_of(window: Window | None, causal: bool) -> Rule:
    """Return what these options amount to: together with a window the nearer end counts."""
    left, right = window or (None, None)
    return Rule(left, 0 if causal else right)


def _spans(step: Step) -> tuple[IntArray, IntArray] | None:
    """Return the keys of each row as its rule leaves them, None where batch entries differ."""
    problem = step.problem
    first, stop = step.key_start, step.key_start + problem.kv_len
    limits = row_limits(replace(problem, kv_lens=None), slice(0, problem.batch), _all(problem))
    if limits is None:
        return np.full(problem.q_len, first), np.full(problem.q_len, stop)
    low, high = (one.astype(np.int64) + first for one in (limits.start, limits.stop))
    if (low != low[:1]).any() or (high != high[:1]).any():
        return None
    return low[0], high[0]


def _all(problem: Problem) -> slice:
    return slice(0, problem.q_len)


def _key_mask(steps: list[Step], keys: IntArray) -> BoolArray | None:
    """Return which keys all rows may see, (batch or 1, heads or 1, keys).

    None where steps differ, or their masks depend on the row.
    """
    masks = [_own_key_mask(step.problem) for step in steps]
    shapes = [mask.shape for mask in masks if mask is not None]
    if len(shapes) != len(masks):
        return None
    batch, heads = (max(shape[i] for shape in shapes) for i in (0, 1))
    joined, known = np.zeros((batch, heads, len(keys)), bool), np.zeros(len(keys), bool)
    for step, mask in zip(steps, masks, strict=True):
        at = slice(step.key_start - keys[0], step.key_start - keys[0] + step.problem.kv_len)
        here, before = joined[..., at], known[at]
        if (here != mask)[..., before].any():
            return None
        here[:] = mask
        before[:] = True
    return joined


def _own_key_mask(problem: Problem) -> BoolArray | None:
    """Return what the mask and kv_lens of a step leave of its keys; None where rows differ."""
    mask = np.ones((1, 1, problem.kv_len), bool)
    if problem.mask is not None:
        if problem.mask.array.shape[2] != 1:
            return None
        mask = _entries(problem.mask)[:, :, 0] & mask
    if problem.kv_lens is not None:
        mask = mask & (np.arange(problem.kv_len) < problem.kv_lens[:, None])[:, None]
    return mask


def _entries(overlay: Overlay) -> Array:
    """Return an overlay with one entry for all, or one for each of the batch."""
    alike = len(overlay.entry) == 0 or (overlay.entry == overlay.entry[0]).all()
    return overlay.array[overlay.entry[:1] if alike else overlay.entry]


def _pair_mask(steps: list[Step], keys: IntArray) -> BoolArray:
    """Return which keys each row sees, (batch or 1, heads or 1, rows, keys)."""
    masks = [None if step.problem.mask is None else _entries(step.problem.mask) for step in steps]
    lead = [(1, 1), *((len(mask), mask.shape[1]) for mask in masks if mask is not None)]
    problem = steps[0].problem
    limited = [_limits(step) for step in steps]
    batch = max(*(one[0] for one in lead), *(len(one[0]) for one in limited), 1)
    heads = max(one[1] for one in lead)
    rows = sum(step.problem.q_len for step in steps)
    joined = np.zeros(_fitting((batch, heads, rows, len(keys)), 1, "mask"), bool)
    at = 0
    for step, mask, (low, high) in zip(steps, masks, limited, strict=True):
        problem, first = step.problem, int(step.key_start - keys[0])
        part = joined[:, :, at : at + problem.q_len, first : first + problem.kv_len]
        inside = np.arange(problem.kv_len)
        part[:] = ((inside >= low[..., None]) & (inside < high[..., None]))[:, None]
        if mask is not None:
            part &= mask
        at += problem.q_len
    return joined


def _limits(step: Step) -> tuple[IntArray, IntArray]:
    """Return the keys of each row by their place in the step, (batch or 1, rows)."""
    problem = step.problem
    limits = row_limits(problem, slice(0, problem.batch), _all(problem))
    if limits is None:
        return np.zeros((1, problem.q_len), np.int64), np.full((1, problem.q_len), problem.kv_len)
    low, high = limits.start, limits.stop
    alike = (low == low[:1]).all() and (high == high[:1]).all()
    return (low[:1], high[:1]) if alike else (low, high)


def joined_bias(steps: list[Step], keys: IntArray) -> Array | None:
    """Return what is added to the scores of all steps, (batch or 1, heads or 1, rows, keys).

    Raises
    ------
    OptionError
        Where it is too large.
    """
    given = [None if step.problem.bias is None else _entries(step.problem.bias) for step in steps]
    there = [bias for bias in given if bias is not None]
    if not there:
        return None
    lead = tuple(max(bias.shape[i] for bias in there) for i in (0, 1))
    rows, dtype = sum(step.problem.q_len for step in steps), there[0].dtype
    joined = np.zeros(_fitting((*lead, rows, len(keys)), dtype.itemsize, "bias"), dtype)
    at = 0
    for step, bias in zip(steps, given, strict=True):
        first = int(step.key_start - keys[0])
        if bias is not None:
            joined[:, :, at : at + step.problem.q_len, first : first + step.problem.kv_len] = bias
        at += step.problem.q_len
    return joined


def _fitting(shape: tuple[int, ...], itemsize: int, argument: str) -> tuple[int, ...]:
    """Refuse a mask or bias over more pairs than a capture can hold."""
    if prod(shape) * itemsize > _LARGEST:
        raise OptionError(
            argument, f"must fit into {_LARGEST / 1e9:.1f} GB as one for all steps; it would be "
            f"{prod(shape) * itemsize / 1e9:.1f} GB, {shape}. Keep fewer tokens."
        )  # fmt: skip
    return shape
