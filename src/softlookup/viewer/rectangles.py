"""Exact rectangles of weights, float64 as in a trace: single heads, means, words."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.captures import Axis
from softlookup.errors import ViewError
from softlookup.lookup import Lookup
from softlookup.reference import steps
from softlookup.tokens import readable

CELLS_AT_ONCE = 2**20  # each with ten float64 numbers
MOST_WORK = 2**28  # cells of all rows that are computed for one answer


class Rectangle(NamedTuple):
    """Some rows and keys of one head, or of the mean of several.

    Attributes
    ----------
    weights, visible
        Of shape (rows, keys); a pair is visible where any head sees it.
    sink : ndarray of shape (rows,) or None
        The share of the sink; None where no head has one.
    """

    weights: Array
    visible: BoolArray
    sink: Array | None


def exact(
    looks: Sequence[Lookup], rows: IntArray, keys: IntArray
) -> Generator[None, None, Rectangle]:
    """Return the mean of single heads of one size; yield where others may ask.

    Of one head the weights are equal to `trace` to the last digit.

    Raises
    ------
    ViewError
        Where that many rows of that many keys would keep everybody waiting.
    """
    check_work(len(rows), looks[0].problem.kv_len, len(looks))
    weights = np.zeros((len(rows), len(keys)))  # one sum: many heads need the memory of one
    visible = np.zeros(weights.shape, bool)
    sink = None if all(look.problem.sinks is None for look in looks) else np.zeros(len(rows))
    for look in looks:
        bare = replace(look.problem, value=None)  # no output is asked for
        at_once = max(1, CELLS_AT_ONCE // max(bare.kv_len, 1))
        for start in range(0, len(rows), at_once):
            at = slice(start, min(start + at_once, len(rows)))
            some = steps(bare, rows[at])
            weights[at] += some.weights[0, 0][:, keys]
            visible[at] |= some.visible[0, 0][:, keys]
            if sink is not None and some.sink_weight is not None:  # without one nothing is missing
                sink[at] += some.sink_weight[0, 0]
            del some  # ten numbers a cell are not kept while others ask
            yield
    return Rectangle(weights / len(looks), visible, None if sink is None else sink / len(looks))


def check_work(rows: int, keys: int, heads: int) -> None:
    """Refuse what would keep everybody waiting: whole rows are worked out, of every head.

    Raises
    ------
    ViewError
        Where they have too many weights.
    """
    work = rows * keys * heads
    if work > MOST_WORK:
        several = f" in {heads:,} heads" if heads > 1 else ""
        raise ViewError(
            "rows", f"must take at most {MOST_WORK:,} weights to work out; {rows:,} rows of "
            f"{keys:,} keys{several} take {work:,}. Ask for fewer rows."
        )  # fmt: skip


class Words(NamedTuple):
    """The words along an axis.

    Attributes
    ----------
    texts : list of str
        As they are shown.
    tokens : list of list of int
        The positions of each word's tokens; a token of no word stands alone.
    """

    texts: list[str]
    tokens: list[list[int]]


def words_of(axis: Axis) -> Words:
    """Return the words of an axis, in the order of their first tokens.

    Raises
    ------
    ViewError
        Where the capture does not say which tokens make a word.
    """
    if axis.words is None:
        raise ViewError(
            "words", "must be known to be summed; this capture does not say which tokens make a "
            "word. Look at tokens."
        )  # fmt: skip
    found: dict[tuple[int, int], list[int]] = {}
    for position, word in enumerate(axis.words):
        found.setdefault((word, -1) if word >= 0 else (-1, position), []).append(position)
    tokens = list(found.values())
    return Words([_spelt([axis.tokens[i] for i in some]) for some in tokens], tokens)


def _spelt(tokens: list[str]) -> str:
    """Return the text of a word, without the space before it and WordPiece's marks."""
    first, *others = tokens
    text = first + "".join(text.removeprefix("##") for text in others)
    return readable(text.lstrip(" ") or text)


def by_words(part: Rectangle, queries: Words, keys: Words) -> Rectangle:
    """Return a rectangle of words: summed over key words, averaged over query words."""
    sink = part.sink
    if sink is not None:
        sink = np.array([sink[some].mean() for some in queries.tokens])
    if not (queries.tokens and keys.tokens):
        shape = (len(queries.tokens), len(keys.tokens))
        return Rectangle(np.zeros(shape), np.zeros(shape, bool), sink)
    # no matrix product: 0 times the NaN of another row is NaN
    rows = np.stack([part.weights[some].mean(axis=0) for some in queries.tokens])
    seen = np.stack([part.visible[some].any(axis=0) for some in queries.tokens])
    return Rectangle(
        np.stack([rows[:, some].sum(axis=1) for some in keys.tokens], axis=1),
        np.stack([seen[:, some].any(axis=1) for some in keys.tokens], axis=1),
        sink,
    )
