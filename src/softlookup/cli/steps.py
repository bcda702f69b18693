"""What ``softlookup trace`` prints: chosen rows of one head, as text or exactly."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from softlookup import ledger
from softlookup.captures import Capture, Layer
from softlookup.errors import OptionError
from softlookup.tokens import find_token, readable
from softlookup.tracing import MOST_KEYS, Trace

MOST_ROWS = 64  # without a chosen query
LAYER_KEYS = 12  # columns that still fit a terminal


def choose_rows(tokens: Sequence[str], query: str | None) -> list[int]:
    """Return the row of `query`, or all rows where it is None and they can be read.

    Raises
    ------
    OptionError
        Where there are too many rows to print them all.
    ShapeError
        Where no token is shown as `query`, or several are.
    """
    if query is not None:
        return [find_token(tokens, query)]
    count = len(tokens)
    if count > MOST_ROWS:
        raise OptionError(
            "query", f"must be given where there are more than {MOST_ROWS} tokens; there are "
            f"{count}. Choose one by its text or position, e.g. --query @{count - 1}."
        )  # fmt: skip
    return list(range(count))


class Place(NamedTuple):
    """Which of a capture's lookups is meant, as its options say it."""

    layer: str | None = None
    head: int | None = None
    batch: int = 0

    def of(self, capture: Capture) -> tuple[Layer, int]:
        """Return the layer and the head's number; the first ones where they are left out."""
        layer = capture.layer(self.layer)
        return layer, next(iter(layer.heads), 0) if self.head is None else self.head


def _trace(capture: Capture, query: str | None, place: Place) -> Trace:
    layer, head = place.of(capture)
    look = layer.head(head, place.batch)  # first: its refusal is the plainer one
    queries, keys = layer.query_axis(place.batch), layer.key_axis(place.batch)
    rows = choose_rows(queries.tokens, query)
    return look.trace(rows, tokens=queries.tokens, key_tokens=keys.tokens)


def which_head(capture: Capture, place: Place) -> str | None:
    """Return the line that says what is shown of several lookups, if there are."""
    layer, head = place.of(capture)
    problem = layer.look.problem
    several = len(capture.layers) > 1
    named = f"{readable(layer.label)}{f' ({readable(layer.name)})' if layer.name else ''}"
    parts = [
        (words, option)
        for words, option, count in (
            (named, "--layer", len(capture.layers)),
            (f"head {head}" + ("" if several else f" of {problem.heads}"), "--head", problem.heads),
            (f"batch entry {place.batch} of {problem.batch}", "--batch", problem.batch),
        )
        if count > 1
    ]
    if not parts:
        return None
    shown, options = (", ".join(words) for words in zip(*parts, strict=True))
    return f"{shown} (choose with {options})"


def steps_text(capture: Capture, query: str | None, place: Place, top: int | None) -> str:
    """Return the ledger of the chosen rows, then the layer where all are chosen and it is small."""
    steps = _trace(capture, query, place)
    which = which_head(capture, place)
    blocks = [] if which is None else [which]
    blocks += [
        ledger.row_text(steps.record(i, top=MOST_KEYS if top is None else top))
        for i in range(len(steps.rows))
    ]
    if query is None:
        keys = len(steps.key_tokens)
        blocks.append(
            steps.layer() if keys <= LAYER_KEYS else
            f"The layer as one matrix is written out up to {LAYER_KEYS} keys; here are {keys:,}."
        )  # fmt: skip
    return "\n\n".join(blocks)


def records(capture: Capture, query: str | None, place: Place, top: int | None) -> dict[str, Any]:
    """Return the chosen rows with exact numbers, ready for JSON."""
    steps = _trace(capture, query, place)
    layer, head = place.of(capture)
    return {
        "title": capture.title,
        "layer": layer.label,
        "head": head,
        "batch": place.batch,
        "rows": [steps.record(i, top=top) for i in range(len(steps.rows))],
    }
