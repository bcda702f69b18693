"""Kept: the lookups of a run's steps, joined into one lookup a layer, as a capture."""

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softlookup.arrays import MEMORY, Array, BoolArray, IntArray, in_memory
from softlookup.captures import Axis, Capture, Layer
from softlookup.errors import OptionError
from softlookup.lookup import Lookup
from softlookup.problem import Problem
from softlookup.tokens import listed
from softlookup.watched.rules import Step, joined_bias, joined_visibility

if TYPE_CHECKING:
    from softlookup.watched.calls import Calls
    from softlookup.watched.store import Store
    from softlookup.watched.texts import Texts


def join_run(store: "Store", run: int) -> Capture:
    """Return the layers of a run as a capture, the rows of all its steps together.

    Raises
    ------
    OptionError
        Where nothing was kept, or the steps of a layer do not make one lookup.
    """
    kept = [calls for calls in store.layers(run) if calls.looks]
    if not kept:
        raise OptionError(
            "keep", "must have been True while the model was watched; queries, keys and values "
            "were not kept, as in no file of facts. Write watch(model, keep=True), and "
            'seen.capture().save("run.safetensors") for later.'
        )  # fmt: skip
    layers = []
    laid: dict[int, Array] = {}
    for calls in kept:
        look, keys = _joined(calls, laid)
        queries = calls.joined().queries
        layers.append(
            Layer(
                look,
                _axes(store.texts, calls, 0, queries, calls.joined().row_padding),
                _axes(store.texts, calls, 1, keys, _padding_at(calls, keys)),
                calls.path,
                calls.number,
                calls.part,
                calls.heads,
            )
        )
    return Capture(store.titled(run), tuple(layers), store.about)


class Joined(NamedTuple):
    """A lookup, and the token positions of its keys."""

    look: Lookup
    keys: IntArray


def _joined(calls: "Calls", laid: dict[int, Array]) -> Joined:
    """Return the steps of a layer as one lookup, in memory; `laid` as for `_brought`.

    Raises
    ------
    OptionError
        Where rows or keys are missing between steps, or steps differ in what shapes scores.
    """
    steps = [
        Step(start, key_start, _brought(look.problem, laid))
        for start, key_start, look in calls.looks
    ]
    if len(steps) == 1:
        return Joined(_whole(calls.looks[0][2], steps[0].problem), steps[0].key_positions)
    _check_rows(calls, steps)
    _check_scores(calls, steps)
    keys = _span_of_keys(steps)
    return Joined(
        Lookup(
            np.concatenate([step.problem.query for step in steps], axis=2),
            _over(calls, steps, keys, "key"),
            None if steps[0].problem.value is None else _over(calls, steps, keys, "value"),
            scale=steps[0].problem.scale,
            softcap=steps[0].problem.softcap,
            sinks=steps[0].problem.sinks,
            bias=joined_bias(steps, keys),
            **joined_visibility(steps, keys),
        ),
        keys,
    )


def _whole(look: Lookup, problem: Problem) -> Lookup:
    """Return a step as a lookup in memory."""
    if look.problem.place == MEMORY:
        return look
    whole = object.__new__(Lookup)
    whole.backend, whole.tensors = "auto", None
    value = None if problem.value is None else in_memory(problem.value)
    whole.problem = replace(problem, key=in_memory(problem.key), value=value)
    return whole


def _brought(problem: Problem, laid: dict[int, Array]) -> Problem:
    """Return a step in memory, but for its keys and values: few steps' are needed.

    `laid` holds the masks and biases that are there already: layers share them.
    """
    if problem.place == MEMORY:
        return problem
    overlays = {}
    for name in ("mask", "bias"):
        overlay = getattr(problem, name)
        if overlay is not None:
            array = laid.setdefault(id(overlay.array), in_memory(overlay.array))
            overlays[name] = overlay._replace(array=array)
    sinks = None if problem.sinks is None else in_memory(problem.sinks)
    return replace(problem, query=in_memory(problem.query), sinks=sinks, **overlays)


def _check_rows(calls: "Calls", steps: list[Step]) -> None:
    """Refuse steps whose rows do not follow one another."""
    for before, step in pairwise(steps):
        if step.start != before.start + before.problem.q_len:
            raise _apart(
                calls, f"row {step.start} came after row {before.start + before.problem.q_len - 1}"
            )


def _check_scores(calls: "Calls", steps: list[Step]) -> None:
    """Refuse steps whose scores are made otherwise than those of the first."""
    one = steps[0].problem
    for step in steps[1:]:
        other = step.problem
        for name in ("batch", "heads", "kv_heads", "dtype", "scale", "softcap"):
            if getattr(one, name) != getattr(other, name):
                raise _apart(
                    calls, f"{name} is {getattr(one, name)} at first and {getattr(other, name)} at "
                    f"row {step.start}"
                )  # fmt: skip
        if not np.array_equal(one.sinks, other.sinks):  # type: ignore[arg-type]
            raise _apart(calls, f"the sinks change at row {step.start}")


def _span_of_keys(steps: list[Step]) -> IntArray:
    """Return the token positions of all keys, from the first to the last."""
    first = min(step.key_start for step in steps)
    return np.arange(first, max(step.key_start + step.problem.kv_len for step in steps))


def _over(calls: "Calls", steps: list[Step], keys: IntArray, name: str) -> Array:
    """Return the keys or values of all positions; those of one step where it has them all."""
    arrays: list[Array] = [getattr(step.problem, name) for step in steps]
    for step, array in zip(reversed(steps), reversed(arrays), strict=True):
        if step.key_start == keys[0] and array.shape[2] == len(keys):
            return in_memory(array)
    whole = np.empty((*arrays[0].shape[:2], len(keys), arrays[0].shape[3]), arrays[0].dtype)
    low = high = int(keys[-1]) + 1  # what is filled so far, from the end
    for step, array in zip(reversed(steps), reversed(arrays), strict=True):
        start, stop = step.key_start, step.key_start + array.shape[2]
        if stop < low or (low == high and stop != high):
            continue
        if start < low:
            part = in_memory(array[:, :, : low - start])
            whole[:, :, start - keys[0] : low - keys[0]] = part
            low = start
    if low != keys[0]:
        raise _apart(calls, f"no step has the key before position {low}")
    return whole


def _apart(calls: "Calls", why: str) -> OptionError:
    return OptionError(
        "run", f"must have steps that make one lookup; in {listed(calls.path)} of run "
        f"{calls.run}, {why}. Look at one forward pass instead."
    )  # fmt: skip


def _padding_at(calls: "Calls", keys: IntArray) -> BoolArray:
    """Return which of the keys are padding, (batch, keys)."""
    piece = calls.joined()
    marked = np.zeros((len(piece.counted), len(keys)), bool)
    if piece.padding is not None and len(keys):
        at = piece.first_key - int(keys[0])
        marked[:, at : at + piece.key_count] = piece.padding
    return marked


def _axes(
    texts: "Texts", calls: "Calls", which: int, positions: IntArray, padding: BoolArray
) -> tuple[Axis, ...]:
    """Return what stands along one side of a layer, once where it is the same for all."""
    prompt = texts.prompt(calls, which)
    axes = [
        _axis(
            texts.along(calls, which, batch, len(padding)),
            positions,
            padded,
            None if prompt is None else int(np.count_nonzero(positions < prompt)),
        )
        for batch, padded in enumerate(padding)
    ]
    return tuple(axes[:1]) if all(axis == axes[0] for axis in axes) else tuple(axes)


def _axis(known: Axis | None, positions: IntArray, padded: BoolArray, prompt: int | None) -> Axis:
    """Return the axis at `positions`; a text that is not known is its position."""
    names = () if known is None else known.tokens
    there = [position if position < len(names) else None for position in positions.tolist()]
    tokens = tuple(
        str(position) if at is None else names[at]
        for position, at in zip(positions.tolist(), there, strict=True)
    )
    words = None
    if known is not None and known.words is not None:
        words = tuple(-1 if at is None else known.words[at] for at in there)
    edges = np.flatnonzero(np.diff(padded, prepend=False, append=False)).tolist()
    return Axis(tokens, words, tuple(zip(edges[::2], edges[1::2], strict=True)), prompt)
