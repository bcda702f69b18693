"""A capture's numbers as one block of JSON, for a page that works with them itself.

The arrays stand in it as base64 of little-endian numbers in their own dtype, each once however
often it comes; a mask takes one bit a cell. See ``web/src/static_data.js`` for the reader.
"""

import base64
import hashlib
import json
from typing import Any

import numpy as np

from softlookup.arrays import Array, BoolArray
from softlookup.captures import Axis, Capture, Layer
from softlookup.options import Overlay
from softlookup.problem import Problem
from softlookup.tracing import to_json
from softlookup.viewer import rectangles
from softlookup.viewer.session import Session
from softlookup.visibility import Tile, row_limits, visible

VERSION = 1
SIDES = ("query", "key", "value")
MODES = ("steps", "heads")  # what the page's own arithmetic is enough for
_PROBES = 64  # numbers that tell most arrays apart


def pack(session: Session, name: str) -> str:
    """Return the block of the capture of that id: ASCII, no part of which is markup."""
    data = _data(session, name)
    return _escaped(json.dumps(data, separators=(",", ":")))


def least(capture: Capture) -> float:
    """Return what a block takes at least, in bytes; nothing is computed that needs much memory."""
    problems = [layer.look.problem for layer in capture.layers]
    arrays = [array for p in problems for array in _stored_whole(p)]
    masks = max(_mask_bytes(p) for p in problems)
    return (_bytes_once(arrays) + masks) * 4 / 3


class _Store:
    """The arrays of a file; one that is there already is named again, not stored again."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._known: dict[tuple[bytes, str, tuple[int, ...]], int] = {}

    def array(self, array: Array) -> int:
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return self._add(little.view(np.uint8) if little.size else little, array.dtype.name, array)

    def bits(self, array: BoolArray) -> int:
        return self._add(np.packbits(array.reshape(-1)), "bits", array)

    def _add(self, stored: Array, dtype: str, array: Array) -> int:
        content = stored.tobytes()
        known = (hashlib.sha256(content).digest(), dtype, array.shape)
        if known not in self._known:
            self._known[known] = len(self.entries)
            data = base64.b64encode(content).decode("ascii")
            self.entries.append({"dtype": dtype, "shape": list(array.shape), "data": data})
        return self._known[known]


def _stored_whole(p: Problem) -> list[Array]:
    """Return the arrays that go in as they are."""
    bias = p.bias.array if p.bias is not None and len(p.bias.array) == 1 else None
    return [array for array in (p.query, p.key, p.value, bias) if array is not None]


def _bytes_once(arrays: list[Array]) -> int:
    """Return the bytes of arrays, each counted once however often it comes, as `_Store` does.

    What differs in a few numbers is told apart by them; only what does not is read whole.
    """
    alike: dict[tuple[Any, ...], dict[tuple[Any, ...], Array]] = {}
    for array in arrays:
        memory = array.__array_interface__["data"][0], array.strides
        some = np.linspace(0, array.size - 1, min(array.size, _PROBES)).astype(np.int64)
        few = array.flat[some]
        looks = array.dtype.name, array.shape, few.tobytes()
        alike.setdefault(looks, {})[memory] = array
    size = 0
    for same in alike.values():
        different = len(same) if len(same) == 1 else len({_digest(one) for one in same.values()})
        size += different * next(iter(same.values())).nbytes
    return size


def _digest(array: Array) -> bytes:
    content = np.ascontiguousarray(array).view(np.uint8).reshape(-1).data
    return hashlib.sha256(content).digest()


def _mask_bytes(p: Problem) -> float:
    """Return what the mask of a lookup takes at least: one bit for each pair where some hide."""
    if not (p.batch and p.heads and p.q_len and p.kv_len):
        return 0.0
    limits = row_limits(p, slice(0, p.batch), slice(0, p.q_len))
    if limits is not None and (limits.stops[0] < p.kv_len or limits.starts[1] > 0):
        return p.q_len * p.kv_len / 8
    hiding = [
        overlay.array.shape[-2:]
        for overlay, hides in ((p.mask, np.logical_not), (p.bias, np.isneginf))
        if overlay is not None and hides(overlay.array).any()
    ]
    return max((rows * keys / 8 for rows, keys in hiding), default=0.0)


def _data(session: Session, name: str) -> dict[str, Any]:
    store = _Store()
    opened = session.open(name)
    info = session.handle("info", {"capture": name})[0]
    info["modes"] = [mode for mode in info["modes"] if mode in MODES]
    info["shelf"] = [item for item in info["shelf"] if item["id"] == info["capture"]]
    return {
        "version": VERSION,
        "info": info,
        "lesson": session.handle("lesson", {})[0],
        "words": [_words(axis) for axis in opened.axes],
        "layers": [_layer_entry(store, layer) for layer in opened.capture.layers],
        "arrays": store.entries,
    }


def _words(axis: Axis) -> dict[str, Any] | None:
    return None if axis.words is None else rectangles.words_of(axis)._asdict()


def _layer_entry(store: _Store, layer: Layer) -> dict[str, Any]:
    p = layer.look.problem
    sees = visible(p, Tile(slice(0, p.batch), slice(0, p.kv_heads), slice(0, p.q_len),
                           slice(0, p.kv_len)))  # fmt: skip
    return {
        **{
            side: None if getattr(p, side) is None else store.array(getattr(p, side))
            for side in SIDES
        },
        "visible": None if sees is None else store.bits(_as_heads(sees, p)),
        "bias": None if p.bias is None else store.array(_of_batch(p.bias)),
        "sinks": None if p.sinks is None else to_json(p.sinks.astype(np.float64)),
        "scale": to_json(p.scale),
        "softcap": to_json(p.softcap),
        "q_offset": None if p.q_offset is None else to_json(p.q_offset),
    }


def _as_heads(sees: BoolArray, p: Problem) -> BoolArray:
    """Turn (batch, kv_heads, group, rows, keys) into (batch, heads, rows, keys), repeats at 1."""
    if sees.shape[1:3] == (1, 1):
        sees = sees[:, :, 0]
    else:
        sees = np.broadcast_to(sees, (len(sees), p.kv_heads, p.group, *sees.shape[3:]))
        sees = sees.reshape(len(sees), p.heads, *sees.shape[3:])
    alike = all(np.array_equal(sees[0], entry) for entry in sees[1:])
    return sees[:1] if alike else sees


def _of_batch(overlay: Overlay) -> Array:
    return overlay.array[overlay.entry] if len(overlay.array) > 1 else overlay.array


def _escaped(text: str) -> str:
    """Write JSON of ASCII so that no part of it can end or open an element."""
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
