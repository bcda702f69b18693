"""The ``.json`` form: one object, nested lists of numbers, written by hand or by a program."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from softlookup.arrays import Array
from softlookup.captures.fields import fault, meant_by
from softlookup.errors import FileError

LARGEST = 64 * 2**20  # bytes of text; beyond it .npz is the better form
DEEPEST = 16  # axes; NumPy has more, a lookup does not need them
WORDS = MappingProxyType(
    {
        "nan": math.nan,
        "inf": math.inf,
        "infinity": math.inf,
        "-inf": -math.inf,
        "-infinity": -math.inf,
    }
)


def read(file: Path) -> dict[str, Any]:
    """Return the fields of `file`: arrays, texts and plain values; ``null`` fields are left out.

    Raises
    ------
    FileError
        Where it is not JSON, or a field is not what its name asks for.
    """
    data = _parse(file, _text(file))
    if not isinstance(data, dict):
        raise fault(
            file, f"must be a JSON object with 'query', 'key' and 'value'; it is {_kind(data)}."
        )
    fields = {}
    for name, meaning in meant_by(file, data).items():
        given = data[name]
        if given is not None:
            try:
                fields[meaning] = READERS[meaning](given, name)
            except ValueError as error:
                raise fault(file, str(error)) from error
    return fields


def read_texts(file: Path, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return fields that stand in other files as a JSON text each, the title as it is.

    Raises
    ------
    FileError
        Where one is not JSON, or not what its name asks for.
    """
    fields = {}
    for name, text in texts.items():
        try:
            given = text if name == "title" else json.loads(text)
            fields[name] = READERS[name](given, name)
        except (ValueError, RecursionError) as error:
            raise fault(
                file, f"its metadata holds {name}: {text[:40]!r}, which must be JSON as in a .json "
                'file, e.g. true, 0.125 or ["a", "b"]. Write it with json.dumps.'
            ) from error  # fmt: skip
    return fields


def _text(file: Path) -> str:
    try:
        size = file.stat().st_size
        if size > LARGEST:
            raise fault(
                file, f"must be at most {LARGEST} bytes; it has {size}. "
                "Save large arrays with numpy.savez."
            )  # fmt: skip
        raw = file.read_bytes()
    except OSError as error:
        raise fault(file, f"cannot be read: {error.strerror}. Check the path.") from error
    if raw.startswith(b"PK"):
        raise fault(file, "must be JSON text; it is a zip file. Does its name end in .npz?")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise fault(
            file, f"must be UTF-8 text; byte {error.start} is 0x{raw[error.start]:02x}. "
            "Save it as UTF-8."
        ) from error  # fmt: skip


def _parse(file: Path, text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, given in pairs:
            if name in found:
                raise fault(file, f"holds {name[:40]!r} twice. Keep one of them.")
            found[name] = given
        return found

    def finite(digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            raise fault(
                file, f"holds {digits[:40]}, which float64 cannot hold. "
                'Write "Infinity" where that is meant.'
            )  # fmt: skip
        return number

    try:
        return json.loads(text, object_pairs_hook=unique, parse_float=finite)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise fault(file, f"must be JSON; {place}: {error.msg}. Mend it there.") from error
    except RecursionError as error:
        raise fault(file, f"must be nested at most {DEEPEST} deep; it is far deeper.") from error
    except FileError:
        raise
    except ValueError as error:  # an integer of more digits than Python reads
        raise fault(file, "holds an integer of thousands of digits. Shorten it.") from error


def _kind(given: Any) -> str:
    """Say what a JSON value is, briefly: what stands in a file may be long and hostile."""
    if isinstance(given, str):
        return f"the text {given[:40]!r}"
    if isinstance(given, bool) or given is None:
        return json.dumps(given)
    if isinstance(given, int | float):
        return f"the number {given!r}"[:52]
    return "an object" if isinstance(given, dict) else "a list"


def _place(name: str, indices: list[int]) -> str:
    return name + "".join(f"[{i}]" for i in indices)


def _leaves(
    given: Any, name: str, what: str, take: Callable[[Any], Any]
) -> tuple[tuple[int, ...], list[Any]]:
    """Flatten nested lists of one shape; `take` returns a leaf, or None where it is not `what`."""
    shape: list[int] = []
    probe = given
    while isinstance(probe, list):
        shape.append(len(probe))
        probe = probe[0] if probe else None
    if len(shape) > DEEPEST:
        raise ValueError(f"{name} must be nested at most {DEEPEST} deep; it is {len(shape)} deep.")
    flat: list[Any] = []

    def walk(part: Any, place: list[int]) -> None:
        if len(place) == len(shape):
            leaf = take(part)
            if leaf is None:
                raise ValueError(f"{_place(name, place)} must be {what}; it is {_kind(part)}.")
            flat.append(leaf)
            return
        count = shape[len(place)]
        if not isinstance(part, list) or len(part) != count:
            found = f"has {len(part)}" if isinstance(part, list) else f"is {_kind(part)}"
            raise ValueError(
                f"{_place(name, place)} must be a list of {count} items, like the first of its "
                f"kind; it {found}. Make the rows equal."
            )
        for i, item in enumerate(part):
            walk(item, [*place, i])

    walk(given, [])
    return tuple(shape), flat


def _number(given: Any) -> float | int | None:
    if isinstance(given, bool):
        return None
    if isinstance(given, int | float):
        return given
    return WORDS.get(given.lower()) if isinstance(given, str) else None


def _hidden_or_number(given: Any) -> float | int | None:
    return -math.inf if given is None else _number(given)


def _whole(given: Any) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _truth(given: Any) -> bool | None:
    return given if isinstance(given, bool) else None


def _array(take: Callable[[Any], Any], what: str, dtype: type) -> Callable[[Any, str], Array]:
    def read_array(given: Any, name: str) -> Array:
        shape, flat = _leaves(given, name, what, take)
        try:
            return np.array(flat, dtype=dtype).reshape(shape)
        except OverflowError as error:
            raise ValueError(
                f"{name} holds a number that {np.dtype(dtype)} cannot hold. Make it smaller."
            ) from error

    return read_array


def _rows(given: Any, name: str) -> Array:
    array = _numbers(given, name)
    if array.ndim < 2:
        found = "one row" if array.ndim else "one number"
        raise ValueError(
            f"{name} must be a list of rows, one for each position; it is {found}. "
            f"Put brackets around it: {'[[1, 0]]' if array.ndim else '[[1]]'}."
        )
    return array


def _one(take: Callable[[Any], Any], what: str) -> Callable[[Any, str], Any]:
    def read_one(given: Any, name: str) -> Any:
        found = take(given)
        if found is None:
            raise ValueError(f"{name} must be {what}; it is {_kind(given)}.")
        return found

    return read_one


def _float(given: Any) -> float | None:
    number = _number(given)
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def _texts(given: Any, name: str) -> list[str]:
    if not isinstance(given, list):
        raise ValueError(f"{name} must be a list of texts; it is {_kind(given)}.")
    for i, text in enumerate(given):
        if not isinstance(text, str):
            raise ValueError(f"{name}[{i}] must be a text; it is {_kind(text)}. Put it in quotes.")
    return given


def _window(given: Any, name: str) -> tuple[int | None, int | None]:
    sides = given if isinstance(given, list) else []
    if len(sides) != 2 or any(side is not None and _whole(side) is None for side in sides):
        raise ValueError(
            f"{name} must be [left, right], each a whole number or null for an open side; "
            f"it is {_kind(given)}."
        )
    return sides[0], sides[1]


_numbers = _array(_number, "a number", float)
_positions = _array(_whole, "a whole number", np.int64)


def _position(given: Any, name: str) -> Any:
    return _positions(given, name) if isinstance(given, list) else int(_positions(given, name))


READERS: Mapping[str, Callable[[Any, str], Any]] = MappingProxyType(
    {
        "title": _one(lambda given: given if isinstance(given, str) else None, "a text"),
        "tokens": _texts,
        "key_tokens": _texts,
        "query": _rows,
        "key": _rows,
        "value": _rows,
        "scale": _one(_float, "a number that float64 can hold"),
        "causal": _one(_truth, "true or false"),
        "q_offset": _position,
        "window": _window,
        "softcap": _one(_float, "a number that float64 can hold"),
        "sinks": _numbers,
        "mask": _array(_truth, "true (may look) or false", bool),
        "bias": _array(_hidden_or_number, 'a number, or null or "-inf" to hide', float),
        "kv_lens": _position,
    }
)
