"""The manifest of a ``.safetensors`` capture: a JSON text that says what its tensors mean.

::

    {"version": 1, "title": "...", "about": {"model": "...", ...},
     "axes": [{"tokens": ["The", ...], "words": [0, ...] or null, "padding": [[0, 3], ...],
              "prompt": 5}, ...],                           where a model wrote what follows
     "layers": [{"name": "...", "number": 0, "part": "", "heads": [0, 1, ...],
                 "queries": [0], "keys": [0],            axes, one for all or one a batch entry
                 "query": "tensor", "key": "tensor", "value": "tensor",
                 "mask": {"tensor": "mask.0", "shape": [1, 1, 20, 20]}, "bias": "tensor",
                 "sinks": "tensor", "scale": 0.125, "causal": true, ...}, ...]}

A mask is one bit a cell, the first in the highest bit. Equal arrays are stored once, under the name
that the first of them has; equal axes, too. Files of a newer version are refused, as are unknown
names.
"""

import hashlib
import json
import operator
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, IntArray
from softlookup.captures.capture import Axis, Capture, Layer
from softlookup.options import Overlay
from softlookup.problem import Problem

VERSION = 1


class Manifest(NamedTuple):
    """What is written: the manifest's text and the tensors that it names."""

    text: str
    tensors: Mapping[str, Array]


def build(capture: Capture) -> Manifest:
    """Return the manifest of `capture` and its tensors."""
    shelf = _Shelf()
    layers = [_layer_entry(shelf, i, layer) for i, layer in enumerate(capture.layers)]
    manifest = {
        "version": VERSION,
        "title": capture.title,
        "about": dict(capture.about),
        "axes": [_axis_entry(axis) for axis in shelf.axes],
        "layers": layers,
    }
    text = json.dumps(manifest, separators=(",", ":"), default=operator.index)  # NumPy's integers
    return Manifest(text, shelf.tensors)


def _axis_entry(axis: Axis) -> dict[str, Any]:
    entry = {"tokens": axis.tokens, "words": axis.words, "padding": axis.padding}
    return entry if axis.prompt is None else entry | {"prompt": axis.prompt}


class _Shelf:
    """The tensors and axes so far; what is there already is named again, not stored again."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self.axes: dict[Axis, int] = {}
        self._known: dict[tuple[Any, ...], str] = {}
        self._counts: Counter[str] = Counter()

    def axis(self, axis: Axis) -> int:
        return self.axes.setdefault(axis, len(self.axes))

    def tensor(self, name: str, array: Array) -> str:
        """Return the name under which `array` is stored: `name`, or that of an equal one."""
        array = np.ascontiguousarray(array)
        digest = hashlib.sha256(array.view(np.uint8).reshape(-1).data).digest()
        known = self._known.setdefault((digest, array.shape, array.dtype), name)
        self.tensors.setdefault(known, array)
        return known

    def counted(self, kind: str, array: Array) -> str:
        """Store `array` as the next one of its `kind`, unless an equal one is there."""
        fresh = f"{kind}.{self._counts[kind]}"
        name = self.tensor(fresh, array)
        self._counts[kind] += name == fresh
        return name


def _layer_entry(shelf: _Shelf, index: int, layer: Layer) -> dict[str, Any]:
    problem = layer.look.problem
    entry: dict[str, Any] = {
        "name": layer.name,
        "number": layer.number,
        "part": layer.part,
        "heads": layer.heads,
        "queries": [shelf.axis(axis) for axis in layer.queries],
        "keys": [shelf.axis(axis) for axis in layer.keys],
    }
    for side in ("query", "key", "value"):
        array = getattr(problem, side)
        if array is not None:
            entry[side] = shelf.tensor(f"layers.{index}.{side}", problem.restore(array))
    return entry | _options_of(shelf, problem)


def _options_of(shelf: _Shelf, problem: Problem) -> dict[str, Any]:
    options: dict[str, Any] = {"scale": problem.scale, "causal": problem.causal}
    if problem.softcap is not None:
        options["softcap"] = problem.softcap
    if problem.window is not None:
        options["window"] = problem.window
    for name in ("q_offset", "kv_lens"):
        integers = getattr(problem, name)
        if integers is not None:
            options[name] = _of_batch(integers, problem.batch_shape)
    if problem.sinks is not None:
        options["sinks"] = shelf.counted("sinks", problem.sinks)
    if problem.bias is not None:
        options["bias"] = shelf.counted("bias", _laid_over(problem.bias, problem))
    if problem.mask is not None:
        mask = _laid_over(problem.mask, problem)
        packed = np.packbits(mask.reshape(-1))
        options["mask"] = {"tensor": shelf.counted("mask", packed), "shape": mask.shape}
    return options


def _of_batch(integers: IntArray, batch_shape: tuple[int, ...]) -> Any:
    """Return one number, or nested lists; an empty batch has its shape in the arrays alone."""
    return integers.reshape(batch_shape).tolist() if integers.size else []


def _laid_over(overlay: Overlay, problem: Problem) -> Array:
    """Return a mask or bias as an argument of `Lookup`, repeated axes left at 1."""
    if problem.plain:
        return np.asarray(overlay.array[0, 0])
    entry = overlay.entry.reshape(problem.batch_shape)
    for axis in range(entry.ndim):
        first = entry[(slice(None),) * axis + (slice(0, 1),)]
        if first.size and (entry == first).all():
            entry = first
    return np.asarray(overlay.array[entry])
