"""Described: what a table's lines do not say of facts, so that a file of them can be read back.

A JSON text, under `ENTRY`, names layers, axes, the model and how the lines stand. What is known of
keys, and which rows count, are arrays under names of their own: one text might be too long.
"""

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.arrays import Array
from softlookup.captures import Axis
from softlookup.watched.repeats import Part

if TYPE_CHECKING:
    from softlookup.watched.layer import LayerSeen
    from softlookup.watched.table import Of

ENTRY, VERSION = "softlookup", 1
WIDE = ("top", "groups", "distance")  # facts of several columns


def describe(layers: Sequence["LayerSeen"], of: "Of", *, padding: bool) -> dict[str, str]:
    """Return the texts that stand beside a table in its file, by name."""
    if of == "keys":
        return {ENTRY: json.dumps({"version": VERSION, "of": of})}
    axes: dict[Axis, int] = {}
    said: dict[str, str] = {}
    described = []
    for place, layer in enumerate(layers):
        described.append(_layer(layer, axes))
        said |= {f"{ENTRY}.{place}.{name}": packed(array) for name, array in _known(layer).items()}
    store = layers[0]._store if layers else None  # noqa: SLF001 (its table, its file)
    manifest = {
        "version": VERSION,
        "of": of,
        "lines_at_padding": padding,
        "title": store.title if store else None,
        "about": store.about if store else {},
        "axes": [asdict(axis) for axis in axes],
        "layers": described,
    }
    return {ENTRY: json.dumps(manifest)} | said


def _layer(layer: "LayerSeen", axes: dict[Axis, int]) -> dict[str, Any]:
    batch, _, rows = layer.lse.shape
    sides = [_axes(layer, which, batch) for which in (0, 1)]
    asked = [name for name in layer.asked if name != "received"]
    return {
        "run": layer.run,
        "path": layer.path,
        "number": layer.number,
        "part": layer.part,
        "heads": list(layer.heads),
        "kv_heads": list(layer.kv_heads),
        "batch": batch,
        "rows": rows,
        "keys": len(layer.keys),
        "start": int(layer.queries[0]) if rows else 0,
        "key_start": int(layer.keys[0]) if len(layer.keys) else 0,
        "causal": layer.causal,
        "dtype": layer.lse.dtype.name,
        "asked": asked,
        "widths": {name: _width(layer, name) for name in asked if name in WIDE},
        "prompt": layer.prompt,
        "axes": None if None in sides else [
            [axes.setdefault(axis, len(axes)) for axis in side or ()] for side in sides
        ],
        "shares": None if layer.shares is None else {
            name: part._asdict() if isinstance(part, Part) else part
            for name, part in vars(layer.shares).items()
        },
    }  # fmt: skip


def _width(layer: "LayerSeen", name: str) -> int:
    return int((layer.top.keys if name == "top" else getattr(layer, name)).shape[-1])


def _axes(layer: "LayerSeen", which: int, batch: int) -> list[Axis] | None:
    """Return what stands along rows, or keys, from position 0 on; None where nobody knows."""
    texts, calls = layer._store.texts, layer._calls  # noqa: SLF001 (as above)
    found = [texts.along(calls, which, entry, batch) for entry in range(batch)]
    if not batch or any(axis is None for axis in found):
        return None
    prompt = texts.prompt(calls, which)
    return [
        replace(axis, padding=(), prompt=None if prompt is None else min(prompt, len(axis.tokens)))
        for axis in found if axis is not None
    ]  # fmt: skip


def _known(layer: "LayerSeen") -> dict[str, Array]:
    """Return what is known beside the facts of rows, as arrays."""
    known = {
        "spans": layer.spans,
        "padding": layer.key_padding,
        "row_padding": layer.padding,
        "counted": layer.counted,
    }
    return known | ({"received": layer.received} if "received" in layer.asked else {})


def packed(array: Array) -> str:
    """Return an array's bytes as a text."""
    data = np.ascontiguousarray(array).tobytes()
    return base64.b64encode(zlib.compress(data, 1)).decode("ascii")


def unpacked(text: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array that `packed` made a text of.

    Raises
    ------
    ValueError, zlib.error
        Where it holds more or fewer bytes.
    """
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    unzip = zlib.decompressobj()
    data = unzip.decompress(base64.b64decode(text, validate=True), size + 1)  # and never more
    if len(data) != size:
        raise ValueError(f"an array must have {size} bytes; it has others")
    return np.frombuffer(data, dtype).reshape(shape).copy()
