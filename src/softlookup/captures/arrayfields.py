"""What an array of a file means as a field of a lookup; the rules of ``.npz`` and ``.safetensors``.

Whole numbers of 8 and 16 bits are how bits of bfloat16 and of 8-bit floats are kept where a program
has no dtype for these. Read as numbers they would give scores of billions, so they are asked about.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from softlookup.arrays import BFLOAT16, Array
from softlookup.captures.fields import fault, meant_by

NUMBERS = ("query", "key", "value", "sinks", "bias")
_NAMELESS = np.dtype("V2")  # what NumPy writes of bfloat16, and of nothing else that is a number
_BITS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        1: ("8-bit floats", ".view(ml_dtypes.float8_e4m3fn).astype(numpy.float32)"),
        2: ("bfloat16", ".view(ml_dtypes.bfloat16)"),
    }
)


def read_fields(file: Path, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Turn a file's arrays into what its fields hold, by what they mean: see `fields.NAMES`.

    Raises
    ------
    FileError
        Where a name has no meaning, or an array is not what its field asks for.
    """
    return {
        meaning: _field(file, name, meaning, arrays[name])
        for name, meaning in meant_by(file, arrays).items()
    }


def _field(file: Path, name: str, meaning: str, array: Array) -> Any:
    """Turn an array into what its field holds: an array, texts, or a plain value."""
    if array.dtype == _NAMELESS:
        array = array.view(BFLOAT16)
    if meaning in NUMBERS:
        _check_kind(file, name, array.dtype)
    found = READERS.get(meaning, _plain)(array)
    if found is None:
        raise fault(
            file, f"{name} must be {MEANT.get(meaning, 'an array of numbers')}; "
            f"it has dtype {array.dtype} and shape {array.shape}. Save it as that."
        )  # fmt: skip
    return found


def _check_kind(file: Path, name: str, dtype: np.dtype[Any]) -> None:
    """Refuse numbers that may be bits, and 8-bit floats, which are scaled by nobody knows what."""
    if dtype.kind in "iu" and dtype.itemsize in _BITS:
        what, way = _BITS[dtype.itemsize]
        raise fault(
            file, f"{name} must be floats, or whole numbers of 32 or 64 bits; it is {dtype}, as "
            f"bits of {what} are kept. Save {name}{way} if these are such, {name}.astype(float) if "
            "they are numbers."
        )  # fmt: skip
    if dtype.itemsize == 1 and dtype.kind not in "biu":
        raise eight_bits(file, name, dtype)


def eight_bits(file: Path, name: str, dtype: object) -> Exception:
    """Return the error for 8-bit floats, with or without a dtype that says which."""
    return fault(
        file, f"{name} must be float16, bfloat16, float32 or float64; it is {dtype}, one byte a "
        f"number. Save {name}.astype(numpy.float32), times its scale where it has one."
    )  # fmt: skip


def _plain(array: Array) -> Array | None:
    return None if array.dtype.kind in "USOMm" or _is_nameless(array) else array


def _is_nameless(array: Array) -> bool:
    return array.dtype.kind == "V" and array.dtype != BFLOAT16


def _number(array: Array) -> float | None:
    known = array.dtype.kind in "fiu" or array.dtype == BFLOAT16
    return float(array) if array.ndim == 0 and known else None


def _truth(array: Array) -> bool | None:
    return bool(array) if array.ndim == 0 and array.dtype.kind == "b" else None


def _position(array: Array) -> Any:
    if array.dtype.kind not in "iu":
        return None
    return int(array) if array.ndim == 0 else array


def _text(array: Array) -> str | None:
    return str(array) if array.ndim == 0 and array.dtype.kind == "U" else None


def _texts(array: Array) -> list[str] | None:
    return array.tolist() if array.ndim == 1 and array.dtype.kind == "U" else None


def _window(array: Array) -> tuple[int | None, int | None] | None:
    if array.shape != (2,) or array.dtype.kind not in "fiu":
        return None
    sides = [float(side) for side in array]
    if any(not math.isnan(side) and not side.is_integer() for side in sides):
        return None
    left, right = (None if math.isnan(side) else int(side) for side in sides)
    return left, right


READERS: Mapping[str, Callable[[Array], Any]] = MappingProxyType(
    {
        "title": _text,
        "tokens": _texts,
        "key_tokens": _texts,
        "scale": _number,
        "softcap": _number,
        "causal": _truth,
        "q_offset": _position,
        "kv_lens": _position,
        "window": _window,
    }
)
MEANT: Mapping[str, str] = MappingProxyType(
    {
        "title": "one text",
        "tokens": "a 1-D array of texts",
        "key_tokens": "a 1-D array of texts",
        "scale": "one number",
        "softcap": "one number",
        "causal": "one bool",
        "q_offset": "whole numbers",
        "kv_lens": "whole numbers",
        "window": "two whole numbers, nan for an open side",
    }
)
