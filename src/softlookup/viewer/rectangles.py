"""Exact rectangles of weights, float64 as in a trace: single heads, means, words."""

from collections.abc import Iterable, Iterator
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
    """Weights and visibility of some rows and keys, both of shape (rows, keys)."""

    weights: Array
    visible: BoolArray


def exact(look: Lookup, rows: IntArray, keys: IntArray) -> Rectangle:
    """Return a rectangle of the weights of one head, equal to `trace` to the last digit.

    Raises
    ------
    ViewError
        Where that many rows of that many keys would keep everybody waiting.
    """
    check_work(len(rows), look.problem.kv_len)
    weights = np.empty((len(rows), len(keys)))
    visible = np.empty(weights.shape, bool)
    for at, part in _blocks(look, rows):
        weights[at], visible[at] = part.weights[:, keys], part.visible[:, keys]
    return Rectangle(weights, visible)


def check_work(rows: int, keys: int, heads: int = 1) -> None:
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


def _blocks(look: Lookup, rows: IntArray) -> Iterator[tuple[slice, Rectangle]]:
    """Yield whole rows, as many at once as fit into memory with all their steps."""
    bare = replace(look.problem, value=None)  # no output is asked for
    at_once = max(1, CELLS_AT_ONCE // max(bare.kv_len, 1))
    for start in range(0, len(rows), at_once):
        at = slice(start, min(start + at_once, len(rows)))
        some = steps(bare, rows[at])
        yield at, Rectangle(some.weights[0, 0], some.visible[0, 0])


def mean(parts: Iterable[Rectangle]) -> Rectangle:
    """Return the mean of rectangles of one shape; a pair is visible where any of them sees it."""
    count = 0
    for part in parts:  # one after the other: many heads need no more memory than one
        if not count:
            weights, visible = part
        else:
            weights += part.weights
            visible |= part.visible
        count += 1
    return Rectangle(weights / count, visible)


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
    """Return the text of a word, WordPiece's marks of continuation left out."""
    if len(tokens) == 1:
        return readable(tokens[0])
    first, *others = tokens
    return readable((first + "".join(text.removeprefix("##") for text in others)).lstrip(" "))


def by_words(part: Rectangle, queries: Words, keys: Words) -> Rectangle:
    """Return a rectangle of words: summed over key words, averaged over query words."""
    if not (queries.tokens and keys.tokens):
        shape = (len(queries.tokens), len(keys.tokens))
        return Rectangle(np.zeros(shape), np.zeros(shape, bool))
    # no matrix product: 0 times the NaN of another row is NaN
    rows = np.stack([part.weights[some].mean(axis=0) for some in queries.tokens])
    seen = np.stack([part.visible[some].any(axis=0) for some in queries.tokens])
    return Rectangle(
        np.stack([rows[:, some].sum(axis=1) for some in keys.tokens], axis=1),
        np.stack([seen[:, some].any(axis=1) for some in keys.tokens], axis=1),
    )
