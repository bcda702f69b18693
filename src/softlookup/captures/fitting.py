"""What fits together in a capture: every refusal of one whose parts do not."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.errors import DtypeError, OptionError, ShapeError
from softlookup.tokens import listed

if TYPE_CHECKING:
    from softlookup.captures.capture import Axis, Capture, Layer

MOST_LAYERS = 4096
_LISTED = 8  # heads that an error names


def as_tuple(given: Any) -> Any:
    """Return a list of things as a tuple, NumPy's numbers in it as Python's.

    What is no list, one text too, is returned as it came: `check_capture` refuses it by its place.
    """
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, Iterable) or isinstance(given, str):
        return given
    return tuple(plain(one) for one in given)


def plain(given: Any) -> Any:
    """Return a number of NumPy as one of Python, which JSON takes; anything else as it came."""
    return given.item() if isinstance(given, np.generic) else given


def whole(given: object, argument: str, what: str = "a whole number") -> int:
    """Return a whole number, which a bool is not.

    Raises
    ------
    DtypeError
        Where it is something else.
    """
    if not _is_whole(given):
        raise DtypeError(argument, f"must be {what}; got {listed(repr(given))}. Pass e.g. 0.")
    return int(given)  # type: ignore[call-overload, no-any-return]


def _is_whole(given: object) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


def check_kinds(given: Any, place: str, kind: type, advice: str) -> None:
    """Refuse what is no list of `kind`.

    Raises
    ------
    DtypeError
        With what it is, or what is in it.
    """
    if not isinstance(given, tuple):
        raise DtypeError(
            place, f"must be a list of {kind.__name__}; got one {type(given).__name__}. {advice}"
        )
    for one in given:
        if not isinstance(one, kind):
            raise DtypeError(
                place, f"must hold {kind.__name__}; one is a {type(one).__name__}. {advice}"
            )


def check_capture(capture: "Capture") -> None:
    """Refuse a capture without layers, and layers whose heads or axes do not fit their arrays.

    Raises
    ------
    ShapeError, OptionError, DtypeError
        One sentence with the real numbers; `.argument` names the place.
    """
    _texts([capture.title], "title")
    if not isinstance(capture.about, Mapping):
        raise DtypeError(
            "about", f"must be a mapping of texts; got {type(capture.about).__name__}. Pass "
            '{"model": "..."}.'
        )  # fmt: skip
    _texts([*capture.about.keys(), *capture.about.values()], "about")
    if not capture.layers:
        raise ShapeError("layers", "must hold at least one layer; got none.")
    if len(capture.layers) > MOST_LAYERS:
        raise ShapeError(
            "layers", f"must be at most {MOST_LAYERS:,}; got {len(capture.layers):,}. Leave some "
            "out, or make several captures."
        )  # fmt: skip
    checked: set[tuple[int, int]] = set()
    for i, layer in enumerate(capture.layers):
        place = f"layers[{i}]"
        whole(layer.number, f"{place}.number")
        _texts([layer.name], f"{place}.name")
        _texts([layer.part], f"{place}.part")
        _check_heads(layer, place)
        _check_axes(layer, place, checked)


def _check_heads(layer: "Layer", place: str) -> None:
    heads, count = layer.heads, layer.look.problem.heads
    _check_wholes(heads, f"{place}.heads")
    if len(heads) == count and len(set(heads)) == count and min(heads, default=0) >= 0:
        return
    some = ", ".join(str(head) for head in heads[:_LISTED]) or "none"
    raise OptionError(
        f"{place}.heads", f"must be {count} numbers from 0, none of them twice; got {len(heads)}: "
        f"{some}{', ...' if len(heads) > _LISTED else ''}."
    )  # fmt: skip


def _check_wholes(given: Any, place: str) -> None:
    """Refuse what is no tuple of whole numbers."""
    if not isinstance(given, tuple):
        raise DtypeError(place, f"must be a list; got {type(given).__name__}. Pass [0, 1].")
    for one in given:
        if not _is_whole(one):
            raise DtypeError(
                place, f"must hold whole numbers; one is {listed(repr(one))}. Pass [0, 1]."
            )


def _check_axes(layer: "Layer", place: str, checked: set[tuple[int, int]]) -> None:
    """Check the axes of a layer, those that other layers share once."""
    problem = layer.look.problem
    for side, axes, length in (
        ("queries", layer.queries, problem.q_len), ("keys", layer.keys, problem.kv_len)
    ):  # fmt: skip
        if len(axes) not in {1, max(problem.batch, 1)}:
            raise ShapeError(
                f"{place}.{side}", f"must be one axis, or one for each of {problem.batch} batch "
                f"entries; got {len(axes)}."
            )  # fmt: skip
        for i, axis in enumerate(axes):
            if (id(axis), length) not in checked:
                _check_axis(axis, f"{place}.{side}[{i}]", length)
                checked.add((id(axis), length))


def _check_axis(axis: "Axis", place: str, length: int) -> None:
    if not isinstance(axis.tokens, tuple):
        kind = "one string" if isinstance(axis.tokens, str) else type(axis.tokens).__name__
        raise DtypeError(f"{place}.tokens", f"must be a list of texts; got {kind}. Pass a list.")
    if axis.words is not None:
        _check_wholes(axis.words, f"{place}.words")
    for name, found in (("tokens", axis.tokens), ("words", axis.words)):
        if found is not None and len(found) != length:
            raise ShapeError(
                f"{place}.{name}", f"must hold one for each of {length} tokens, as the arrays do; "
                f"got {len(found)}."
            )  # fmt: skip
    _texts(axis.tokens, f"{place}.tokens")
    if axis.words is not None and min(axis.words, default=0) < -1:
        raise OptionError(
            f"{place}.words", f"must count from 0, with -1 for no word; got {min(axis.words)}."
        )
    _check_padding(axis, f"{place}.padding", length)
    if axis.prompt is not None:
        _check_wholes((axis.prompt,), f"{place}.prompt")
        if not 0 <= axis.prompt <= length:
            raise OptionError(
                f"{place}.prompt", f"must lie in 0 ... {length}; got {axis.prompt}. It counts the "
                "tokens that were given."
            )  # fmt: skip


def _check_padding(axis: "Axis", place: str, length: int) -> None:
    spans = axis.padding
    if not isinstance(spans, tuple) or not all(
        isinstance(span, tuple) and len(span) == 2 for span in spans
    ):
        raise DtypeError(
            place, f"must be a list of (start, stop); got {listed(repr(spans))}. Pass [(0, 2)]."
        )
    for span in spans:
        _check_wholes(span, place)
        start, stop = span
        if not 0 <= start <= stop <= length:
            raise OptionError(
                place, f"must lie within 0 ... {length}; got {[int(start), int(stop)]}."
            )


def _texts(given: Iterable[Any], place: str) -> None:
    for one in given:
        if not isinstance(one, str):
            raise DtypeError(place, f"must be text; got {type(one).__name__}. Pass str(...).")
