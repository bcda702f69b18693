"""One HTML file: the page, its script and a capture's arrays, to be opened by a double click.

The file asks nobody for anything: its policy allows the one script that it carries, by its hash,
and no connection. The arrays stand in a block of JSON, base64 of little-endian numbers in their own
dtype, a mask one bit a cell; what a view asks is answered from them by the page's own float64
arithmetic. See ``web/src/host_static.js`` for the reader.
"""

import base64
import hashlib
import html
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softlookup.arrays import Array, BoolArray
from softlookup.captures import Axis, Capture, Layer
from softlookup.errors import DtypeError, FileError, OptionError, ViewError
from softlookup.options import Overlay
from softlookup.problem import Problem
from softlookup.shelf import Item
from softlookup.tokens import readable
from softlookup.tracing import to_json
from softlookup.viewer import rectangles
from softlookup.viewer.bundle import page_script
from softlookup.viewer.opened import Opened
from softlookup.viewer.session import Session
from softlookup.visibility import Tile, row_limits, visible
from softlookup.writing import write_whole

VERSION = 1
LARGEST = 50_000_000  # bytes
SIDES = ("query", "key", "value")
MODES = ("steps", "heads")  # what the page's own arithmetic is enough for
_PROBES = 64  # numbers that tell most arrays apart

# No frame-ancestors: a policy inside a page cannot set it.
POLICY = (
    "default-src 'none'; script-src 'sha256-{sha256}'; style-src 'none'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
# The script comes first: it waits for the whole page, and can still say so where that is cut off.
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="softlookup {version}">
<link rel="icon" href="data:,">
</head>
<body>
<div data-softlookup></div>
<noscript>softlookup draws this page with the script that it carries; allow scripts.</noscript>
<script type="module">{script}</script>
<script type="application/json" id="softlookup-data">{data}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Export:
    """The file as it will be written.

    Attributes
    ----------
    content : bytes
        All of it, UTF-8.
    what : str
        What it holds, e.g. ``"6 layers of 12 heads"``.
    """

    content: bytes
    what: str

    @property
    def size(self) -> str:
        """Its size, as a person reads it."""
        return megabytes(len(self.content))

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write it to `path`; a file that was there stays until the new one is whole.

        Raises
        ------
        FileError
            Where the name does not end in ``.html``, or the file cannot be written.
        """
        return write_whole(check_path(path), lambda fresh: fresh.write_bytes(self.content))


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return where the file goes; refuse a name that no double click opens in a browser."""
    file = Path(path)
    if file.suffix.lower() != ".html":
        raise FileError(
            readable(str(file)),
            f"must end in .html; it ends in {readable(file.suffix or file.name)!r}. "
            "A browser opens such a file by a double click.",
        )
    return file


def megabytes(size: float) -> str:
    """Write a number of bytes as a person reads it, in thousands or millions.

    Examples
    --------
    >>> megabytes(2_345_678), megabytes(149_137)
    ('2.3 MB', '149 kB')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def prepare(item: Item, *, largest: float = LARGEST) -> Export:
    """Return the file that shows `item`, all of it.

    Raises
    ------
    OptionError
        Where it would be larger than `largest` bytes; the message says how large.
    ViewError
        Where the installation lacks the page's script.
    """
    if isinstance(largest, bool) or not isinstance(largest, int | float | np.number):
        raise DtypeError("largest", f"must be a number of bytes; got {largest!r}. Pass {LARGEST}.")
    session = Session(item)
    opened = session.open(item.id)
    _check_size(opened.capture, _least(opened.capture), largest)
    script, data = _script(), _data(session, opened)
    content = PAGE.format(
        policy=POLICY.format(sha256=_sha256(script)),
        title=html.escape(f"{opened.title} - softlookup"),
        version=html.escape(data["info"]["version"]),
        data=_escaped(json.dumps(data, separators=(",", ":"))),
        script=script,
    ).encode("utf-8")
    _check_size(opened.capture, len(content), largest)
    return Export(content, _contents(opened.capture))


def _check_size(capture: Capture, size: float, largest: float) -> None:
    if size <= largest:
        return
    layers = len(capture.layers)
    heads = max(layer.look.problem.heads for layer in capture.layers)
    fewer = "Choose layers or heads" if layers > 1 else "Choose fewer heads"
    advice = fewer if layers * heads > 1 else "Take fewer tokens"
    each = "" if layers == 1 else f" ({megabytes(size / layers)} a layer on average)"
    raise OptionError(
        "largest",
        f"must be at least the file's size, {megabytes(size)} for {_contents(capture)}; got "
        f"{megabytes(largest)}. {advice}{each}, or allow more.",
    )


def _contents(capture: Capture) -> str:
    """Say how many layers and heads a file holds."""
    layers, counts = len(capture.layers), {layer.look.problem.heads for layer in capture.layers}
    heads = " or ".join(str(count) for count in sorted(counts))
    of_heads = f"{heads} head{'' if counts == {1} else 's'}"
    return of_heads if layers == 1 else f"{layers} layers of {of_heads}"


# The arrays


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


def _least(capture: Capture) -> float:
    """Return what the file takes at least, in bytes; nothing is computed that needs much memory."""
    problems = [layer.look.problem for layer in capture.layers]
    arrays = [array for p in problems for array in _stored_whole(p)]
    masks = max(_mask_bytes(p) for p in problems)
    return len(_script()) + (_bytes_once(arrays) + masks) * 4 / 3


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


def _data(session: Session, opened: Opened) -> dict[str, Any]:
    store = _Store()
    info = session.handle("info", {})[0]
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


# The text


def _script() -> str:
    script = page_script().decode("utf-8").replace("\r\n", "\n")
    if "</script" in script.lower() or "<!--" in script:
        raise ViewError(
            "page", "needs a script that can stand inside a page; app.js holds '</script' or "
            "'<!--'. In a working copy write them in two parts."
        )  # fmt: skip
    return f"\n{script}"


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _escaped(text: str) -> str:
    """Write JSON of ASCII so that no part of it can end or open an element."""
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
