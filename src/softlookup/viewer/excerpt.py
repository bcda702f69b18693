"""A part of a capture: chosen layers and heads of one batch entry, as a capture of its own."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from softlookup.arrays import IntArray
from softlookup.captures import Capture, Layer
from softlookup.errors import DtypeError, OptionError
from softlookup.lookup import Lookup
from softlookup.numerals import counted
from softlookup.options import Overlay
from softlookup.problem import Problem


def choose(
    capture: Capture,
    *,
    layers: int | str | Iterable[int | str] | None = None,
    heads: int | Iterable[int] | None = None,
    batch: int | None = 0,
) -> Capture:
    """Return the chosen part of `capture`; arrays that stay whole share memory.

    Where something is left out, its `about` says so under ``"part"``.

    Parameters
    ----------
    layers : int, str or iterable of these, optional
        Numbers, labels or names of recorded layers; all where left out.
    heads : int or iterable of int, optional
        Numbers of recorded heads in the model, of every chosen layer; all where left out.
    batch : int or None
        Which batch entry, counted over all leading axes; None keeps them all.

    Raises
    ------
    OptionError
        Where there is no such layer, head or batch entry.
    DtypeError
        Where heads are not numbers, or layers neither numbers nor names.
    """
    names = None if layers is None else _several(layers, "layers", int, str)
    numbers = None if heads is None else _several(heads, "heads", int)
    chosen = capture.layers
    if names is not None:
        found = [capture.layer(name) for name in names]
        chosen = tuple({id(layer): layer for layer in found}.values())
    part = replace(capture, layers=tuple(_layer_part(layer, numbers, batch) for layer in chosen))
    left_out = _left_out(capture, chosen, part, batch)
    return replace(part, about={**part.about, "part": left_out}) if left_out else part


def _left_out(whole: Capture, chosen: tuple[Layer, ...], part: Capture, batch: int | None) -> str:
    """Say how much of `whole` is in `part`; nothing where it is all there."""
    told = []
    if len(chosen) < len(whole.layers):
        told.append(f"{len(chosen)} of {counted(len(whole.layers), 'layer')}")
    kept, before = (sum(len(layer.heads) for layer in some) for some in (part.layers, chosen))
    if kept < before:
        told.append(f"{kept} of {counted(before, 'head')}")
    entries = max(layer.look.problem.batch for layer in whole.layers)
    if batch is not None and entries > 1:
        told.append(f"batch entry {batch} of {entries}, counted from 0")
    return ", ".join(told)


def _several(given: object, argument: str, *kinds: type) -> list[Any]:
    """Return one or several numbers or names as a list, each once, in the order they came."""
    if isinstance(given, str | int | np.integer):
        given = [given]
    if not isinstance(given, Iterable):
        raise DtypeError(argument, f"must be a list; got {type(given).__name__}. Pass [0, 1].")
    names = [int(one) if isinstance(one, np.integer) else one for one in given]
    for name in names:
        if not isinstance(name, kinds) or isinstance(name, bool):
            words = "numbers or names" if str in kinds else "numbers"
            raise DtypeError(
                argument, f"must hold {words}; one is a {type(name).__name__}. Pass [0, 1]."
            )
    if not names:
        raise OptionError(argument, "must name at least one; got none. Leave it out for all.")
    return list(dict.fromkeys(names))


def _layer_part(layer: Layer, numbers: list[int] | None, batch: int | None) -> Layer:
    problem = layer.look.problem
    if numbers is not None:
        places = np.array([layer.place(number) for number in numbers])
        problem = _some_heads(problem, places)
        layer = replace(layer, heads=tuple(numbers))
    if batch is not None:
        _check_batch(batch, problem.batch)
        problem = _one_entry(problem, batch)
        layer = replace(
            layer, queries=(layer.query_axis(batch),), keys=(layer.key_axis(batch),)
        )  # fmt: skip
    return replace(layer, look=_lookup(problem, layer.look.backend))


def _lookup(problem: Problem, backend: str) -> Lookup:
    look = object.__new__(Lookup)  # its parts were checked when the whole was
    look.backend, look.problem, look.tensors = backend, problem, None
    return look


def _check_batch(batch: object, count: int) -> None:
    if not isinstance(batch, int | np.integer) or isinstance(batch, bool):
        raise DtypeError("batch", f"must be a whole number or None; got {batch!r}. Pass 0.")
    if not 0 <= batch < count:
        there = f"lie in 0 ... {count - 1}" if count else "be left out: there is no entry"
        raise OptionError("batch", f"must {there}; got {batch}. It counts over all leading axes.")


def _some_heads(problem: Problem, places: IntArray) -> Problem:
    """Return the problem of the query heads at `places`, with the kv heads that they use."""
    kv_places = _kv_places(places // max(problem.group, 1))
    return replace(
        problem,
        query=problem.query[:, places],
        key=problem.key[:, kv_places],
        value=None if problem.value is None else problem.value[:, kv_places],
        mask=_overlay_of_heads(problem.mask, places),
        bias=_overlay_of_heads(problem.bias, places),
        sinks=None if problem.sinks is None else problem.sinks[places],
    )


def _kv_places(used: IntArray) -> IntArray:
    """Return each kv head once where they are used in even groups, else one for each head."""
    once = np.array(list(dict.fromkeys(used.tolist())))
    group = len(used) // len(once)
    return once if np.array_equal(np.repeat(once, group), used) else used


def _overlay_of_heads(overlay: Overlay | None, places: IntArray) -> Overlay | None:
    if overlay is None or overlay.array.shape[1] == 1:
        return overlay
    return Overlay(overlay.array[:, places], overlay.entry)


def _one_entry(problem: Problem, batch: int) -> Problem:
    here = slice(batch, batch + 1)
    return replace(
        problem,
        query=problem.query[here],
        key=problem.key[here],
        value=None if problem.value is None else problem.value[here],
        batch_shape=(),
        q_offset=None if problem.q_offset is None else problem.q_offset[here],
        kv_lens=None if problem.kv_lens is None else problem.kv_lens[here],
        mask=_overlay_of_entry(problem.mask, here),
        bias=_overlay_of_entry(problem.bias, here),
    )


def _overlay_of_entry(overlay: Overlay | None, here: slice) -> Overlay | None:
    if overlay is None:
        return None
    chosen = overlay.entry[here]
    return Overlay(overlay.array[chosen], np.zeros(1, np.int64))
