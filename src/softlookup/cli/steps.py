"""What ``softlookup trace`` prints: chosen rows of one head, as text or exactly."""

from typing import Any

from softlookup import ledger
from softlookup.captures import Capture
from softlookup.errors import OptionError
from softlookup.tokens import find_token
from softlookup.tracing import MOST_KEYS, Trace

MOST_ROWS = 64  # without a chosen query
LAYER_KEYS = 12  # columns that still fit a terminal


def choose_rows(capture: Capture, query: str | None) -> list[int]:
    """Return the row of `query`, or all rows where it is None and they can be read.

    Raises
    ------
    OptionError
        Where there are too many rows to print them all.
    ShapeError
        Where no token is shown as `query`, or several are.
    """
    if query is not None:
        return [find_token(capture.tokens, query)]
    count = len(capture.tokens)
    if count > MOST_ROWS:
        raise OptionError(
            "query", f"must be given where there are more than {MOST_ROWS} tokens; there are "
            f"{count}. Choose one by its text or position, e.g. --query @{count - 1}."
        )  # fmt: skip
    return list(range(count))


def _trace(capture: Capture, query: str | None, head: int, batch: int) -> Trace:
    return capture.trace(choose_rows(capture, query), head, batch)


def which_head(capture: Capture, head: int, batch: int) -> str | None:
    """Return the line that says what is shown of several heads or batch entries, if there are."""
    problem = capture.look.problem
    parts = [
        (f"{what} {chosen} of {count}", option)
        for what, chosen, count, option in (
            ("head", head, problem.heads, "--head"),
            ("batch entry", batch, problem.batch, "--batch"),
        )
        if count > 1
    ]
    if not parts:
        return None
    shown, options = (", ".join(words) for words in zip(*parts, strict=True))
    return f"{shown} (choose with {options})"


def steps_text(capture: Capture, query: str | None, head: int, batch: int, top: int | None) -> str:
    """Return the ledger of the chosen rows, then the layer where all are chosen and it is small."""
    steps = _trace(capture, query, head, batch)
    which = which_head(capture, head, batch)
    blocks = [] if which is None else [which]
    blocks += [
        ledger.row_text(steps.record(i, top=MOST_KEYS if top is None else top))
        for i in range(len(steps.rows))
    ]
    if query is None:
        small = len(capture.key_tokens) <= LAYER_KEYS
        blocks.append(
            steps.layer() if small else
            f"The layer as one matrix is written out up to {LAYER_KEYS} keys; here are "
            f"{len(capture.key_tokens):,}."
        )  # fmt: skip
    return "\n\n".join(blocks)


def records(
    capture: Capture, query: str | None, head: int, batch: int, top: int | None
) -> dict[str, Any]:
    """Return the chosen rows with exact numbers, ready for JSON."""
    steps = _trace(capture, query, head, batch)
    return {
        "title": capture.title,
        "head": head,
        "batch": batch,
        "rows": [steps.record(i, top=top) for i in range(len(steps.rows))],
    }
