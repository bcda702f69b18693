"""Read the manifest of a ``.safetensors`` capture: an untrusted text, checked entry by entry."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from softlookup.arrays import Array
from softlookup.captures import entries
from softlookup.captures.capture import Axis, Capture, Layer
from softlookup.captures.fields import fault
from softlookup.captures.fitting import MOST_LAYERS
from softlookup.captures.manifest import VERSION
from softlookup.errors import SoftlookupError
from softlookup.lookup import Lookup


def read_manifest(file: Path, text: str, tensors: Mapping[str, Array]) -> Capture:
    """Return the capture that a manifest and the file's tensors describe.

    Raises
    ------
    FileError
        Where the manifest is not one, or a tensor is not what it says.
    """
    try:
        given = json.loads(text, object_pairs_hook=entries.unique)
        return _capture(given, file.stem, _Stored(tensors))
    except SoftlookupError as error:
        raise fault(file, str(error)) from error
    except RecursionError as error:
        raise fault(file, "its manifest is nested too deep. Save it again.") from error
    except ValueError as error:
        reason = str(error)[:LONGEST_REASON].rstrip(".")
        raise fault(file, f"its manifest is not right: {reason}. Save it again.") from error


class _Stored:
    """The tensors of a file: which of them are named, and the masks, each unpacked once."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self._tensors = tensors
        self._masks: dict[tuple[str, tuple[int, ...]], Array] = {}
        self._named: set[str] = set()

    def tensor(self, given: Any, place: str) -> Array:
        """Return the tensor of that name."""
        name = entries.text(given, place)
        if name not in self._tensors:
            raise ValueError(f"{place} names the tensor {name[:40]!r}, which is not in the file.")
        self._named.add(name)
        return self._tensors[name]

    def numbers(self, given: Any, place: str) -> Array:
        """Return the tensor of that name, which holds floats."""
        found = self.tensor(given, place)
        if found.dtype == np.uint8:
            raise ValueError(f"{place} must be floats; the tensor {given[:40]!r} is U8.")
        return found

    def mask(self, given: Any, place: str) -> Array:
        """Return a mask, unpacked; those that name the same bits share memory."""
        entry = entries.as_object(given, place)
        entries.known(entry, ("tensor", "shape"), place)
        packed = self.tensor(entries.need(entry, "tensor", place), f"{place}.tensor")
        shape = entries.each(entries.integer, entries.need(entry, "shape", place), f"{place}.shape")
        if (entry["tensor"], shape) not in self._masks:
            self._masks[entry["tensor"], shape] = _unpacked(packed, shape, place)
        return self._masks[entry["tensor"], shape]

    def check_all_named(self) -> None:
        """Refuse a tensor that the manifest has no place for."""
        for name in self._tensors:
            if name not in self._named:
                raise ValueError(f"it does not name the tensor {name[:40]!r}, which is in the file")


def _unpacked(packed: Array, shape: tuple[int, ...], place: str) -> Array:
    if packed.dtype != np.uint8 or packed.ndim != 1:
        raise ValueError(f"{place} must be a list of bytes; it is {packed.dtype} {packed.shape}.")
    cells = math.prod(shape)
    if min(shape, default=0) < 0 or packed.size != -(-cells // 8):
        raise ValueError(
            f"{place} must have one bit for each cell of {str(list(shape))[:40]}; it has "
            f"{packed.size} bytes."
        )
    return np.unpackbits(packed, count=cells).view(np.bool_).reshape(shape)


def _capture(given: Any, name: str, stored: _Stored) -> Capture:
    place = "the manifest"
    manifest = entries.as_object(given, place)
    version = entries.integer(entries.need(manifest, "version", place), "version")
    if version > VERSION:
        raise ValueError(
            f"version must be at most {VERSION}; it is {version}. Get a newer softlookup, or save "
            "it again with this one"
        )
    if version < 1:
        raise ValueError(f"version must be {VERSION}; it is {version}")
    entries.known(manifest, ("version", "title", "about", "axes", "layers"), place)
    axes = entries.each(_axis, entries.need(manifest, "axes", place), "axes")
    layers = entries.as_list(entries.need(manifest, "layers", place), "layers")
    if len(layers) > MOST_LAYERS:
        raise ValueError(
            f"layers must be at most {MOST_LAYERS:,}; there are {len(layers):,}. Leave some out"
        )
    about = entries.as_object(manifest.get("about", {}), "about")
    capture = Capture(
        entries.text(manifest.get("title", name), "title"),
        tuple(_layer(one, f"layers[{i}]", axes, stored) for i, one in enumerate(layers)),
        {name: entries.text(said, f"about.{name[:40]}") for name, said in about.items()},
    )
    stored.check_all_named()
    return capture


def _axis(given: Any, place: str) -> Axis:
    entry = entries.as_object(given, place)
    entries.known(entry, ("tokens", "words", "padding", "prompt"), place)
    tokens = entries.each(entries.text, entries.need(entry, "tokens", place), f"{place}.tokens")
    words = entry.get("words")
    if words is not None:
        words = entries.each(entries.integer, words, f"{place}.words")
    padding = entries.each(entries.span, entry.get("padding", []), f"{place}.padding")
    prompt = entry.get("prompt")
    if prompt is not None:
        prompt = entries.integer(prompt, f"{place}.prompt")
    return Axis(tokens, words, padding, prompt)


OPTIONS: Mapping[str, Callable[[Any, str], Any]] = MappingProxyType(
    {
        "scale": entries.number,
        "softcap": entries.number,
        "causal": entries.truth,
        "window": entries.window,
        "q_offset": entries.integers,
        "kv_lens": entries.integers,
    }
)
OWN = ("name", "number", "part", "heads", "queries", "keys")
STORED = ("query", "key", "value", "bias", "sinks")
EACH = ("q_offset", "kv_lens")  # one for each batch entry
MOST_HEADS = 2**16
LONGEST_REASON = 300  # characters; some of them are quoted from the file


def _layer(given: Any, place: str, axes: tuple[Axis, ...], stored: _Stored) -> Layer:
    entry = entries.as_object(given, place)
    entries.known(entry, (*OWN, *STORED, "mask", *OPTIONS), place)
    for side in ("query", "key"):
        entries.need(entry, side, place)
    arrays = {
        name: stored.numbers(entry[name], f"{place}.{name}") for name in STORED if name in entry
    }
    options = {name: take(entry[name], f"{place}.{name}") for name, take in OPTIONS.items()
               if name in entry}  # fmt: skip
    for name in EACH:
        options |= _of_empty_batch(name, options.get(name), arrays["query"].shape[:-3])
    if "mask" in entry:
        options["mask"] = stored.mask(entry["mask"], f"{place}.mask")
    try:
        look = Lookup(**{"value": None} | arrays | options)
    except SoftlookupError as error:
        raise ValueError(f"{place}: {error}") from error
    if look.problem.heads > MOST_HEADS:
        raise ValueError(f"{place} must have at most {MOST_HEADS:,} heads; it has more")
    return Layer(
        look,
        _axes_of(entry, "queries", place, axes),
        _axes_of(entry, "keys", place, axes),
        name=entries.text(entry.get("name", ""), f"{place}.name"),
        number=entries.integer(entry.get("number", 0), f"{place}.number"),
        part=entries.text(entry.get("part", ""), f"{place}.part"),
        heads=entries.each(entries.integer, entry.get("heads", []), f"{place}.heads"),
    )


def _of_empty_batch(name: str, given: Any, batch_shape: tuple[int, ...]) -> dict[str, Any]:
    """Return integers of a batch without entries, whose shape a JSON list cannot say."""
    empty = isinstance(given, np.ndarray) and not given.size and not math.prod(batch_shape)
    return {name: given.reshape(batch_shape)} if empty else {}


def _axes_of(
    entry: dict[str, Any], side: str, place: str, axes: tuple[Axis, ...]
) -> tuple[Axis, ...]:
    """Return the axes that a layer names along one side."""
    chosen = entries.each(entries.integer, entries.need(entry, side, place), f"{place}.{side}")
    for i in chosen:
        if not 0 <= i < len(axes):
            raise ValueError(f"{place}.{side} must name one of {len(axes)} axes; it names {i}.")
    return tuple(axes[i] for i in chosen)
