"""What fits together in a capture: every refusal of one whose parts do not."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from softlookup.errors import DtypeError, OptionError, ShapeError

if TYPE_CHECKING:
    from softlookup.captures.capture import Axis, Capture, Layer

_LISTED = 8  # heads that an error names


def check_capture(capture: "Capture") -> None:
    """Refuse a capture without layers, and layers whose heads or axes do not fit their arrays.

    Raises
    ------
    ShapeError, OptionError, DtypeError
        One sentence with the real numbers; `.argument` names the place.
    """
    _texts([capture.title], "title")
    _texts([*capture.about.keys(), *capture.about.values()], "about")
    if not capture.layers:
        raise ShapeError("layers", "must hold at least one layer; got none.")
    checked: set[tuple[int, int]] = set()
    for i, layer in enumerate(capture.layers):
        _check_heads(layer, f"layers[{i}]")
        _check_axes(layer, f"layers[{i}]", checked)


def _check_heads(layer: "Layer", place: str) -> None:
    heads, count = layer.heads, layer.look.problem.heads
    if len(heads) == count and len(set(heads)) == count and min(heads, default=0) >= 0:
        return
    some = ", ".join(str(head) for head in heads[:_LISTED]) or "none"
    raise OptionError(
        f"{place}.heads", f"must be {count} numbers from 0, none of them twice; got {len(heads)}: "
        f"{some}{', ...' if len(heads) > _LISTED else ''}."
    )  # fmt: skip


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
    for start, stop in axis.padding:
        if not 0 <= start <= stop <= length:
            raise OptionError(
                f"{place}.padding", f"must lie within 0 ... {length}; got {[start, stop]}."
            )


def _texts(given: Iterable[Any], place: str) -> None:
    for one in given:
        if not isinstance(one, str):
            raise DtypeError(place, f"must be text; got {type(one).__name__}. Pass str(...).")
