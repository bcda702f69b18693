"""Skill "scores": compute the scaled scores of one query against every key."""

import random
from collections.abc import Sequence
from fractions import Fraction

from softlookup.lesson.drawing import choose, first, matrix
from softlookup.lesson.intervals import Interval, plain, point, shown, sqrt
from softlookup.lesson.notation import dot, matrix_text
from softlookup.lesson.questions import (
    HALF,
    Blank,
    Given,
    NumberQuestion,
    Recipe,
    Slip,
    is_clear,
    shown_operand,
)
from softlookup.numerals import sum_of_products

_SIZES = (2, 3, 4)
_QUERIES = 2
_NUMBERS = tuple(Fraction(number) for number in (-2, -1, 0, 1, 2, 3))
_SMALL = tuple(Fraction(number) for number in (-1, 0, 1, 2))

Rows = Sequence[Sequence[Fraction]]


def draw(source: random.Random) -> NumberQuestion:
    """Draw until every slip is told apart from the right answer and from the others."""
    size = choose(source, _SIZES)
    numbers = _SMALL if size == max(_SIZES) else _NUMBERS
    return first(lambda: _attempt(source, size, numbers))


def _attempt(
    source: random.Random, size: int, numbers: Sequence[Fraction]
) -> NumberQuestion | None:
    row = choose(source, range(_QUERIES))
    queries = matrix(source, _QUERIES, size, numbers)
    keys = matrix(source, size, size, numbers)
    if not _can_be_clear(queries, keys, row):
        return None
    question = build(queries, keys, row)
    return question if is_clear(question) else None


def build(queries: Rows, keys: Rows, row: int) -> NumberQuestion:
    """Ask for the scaled scores of query `row`.

    There are as many keys as components: only then do rows and columns of K fit a query alike.
    """
    size = len(keys)
    root = sqrt(size)
    products = [dot(queries[row], key) for key in keys]
    root_text, root_range = _root_as_shown(size)
    return NumberQuestion(
        text=(
            f"Token {row + 1} asks. Compute its scaled score against every key: "
            f"query · key, divided by √d_k. Give three decimals."
        ),
        given=(
            Given("Q, one query a row", matrix_text(queries)),
            Given("K, one key a row", matrix_text(keys)),
            Given("d_k", str(size)),
            Given(f"√{size}", root_text),
        ),
        hint=(
            f"Row {row + 1} of Q is the query. Multiply it with a row of K number by number, "
            f"add up, then divide by {root_text}."
        ),
        advice=f"Multiply number by number, add up, then divide by √{size} = {root_text}.",
        blanks=tuple(
            Blank(
                name=f"score_{position + 1}",
                label=f"scaled score against key {position + 1}",
                exact=product / root,
                by_hand=product / Fraction(root_text),
                recipe=_quotient(product, root_range),
                step=_step(position, queries[row], keys[position], size, root_text),
            )
            for position, product in enumerate(products)
        ),
        slips=tuple(_slips(queries, keys, row, root_text, root_range)),
    )


def _can_be_clear(queries: Rows, keys: Rows, row: int) -> bool:
    """Rule out quickly what `is_clear` would refuse: a zero score hides a missing scale."""
    columns = list(zip(*keys, strict=True))
    for key, column in zip(keys, columns, strict=True):
        product = dot(queries[row], key)
        others = [dot(query, key) for query in queries if query is not queries[row]]
        if product in (0, dot(queries[row], column), *others):
            return False
    return True


def _root_as_shown(size: int) -> tuple[str, Interval]:
    root = sqrt(size)
    if root == int(root):
        return plain(root), point(root)
    return shown(root), shown_operand(root)


def _quotient(product: Fraction, root: Interval) -> Recipe:
    return lambda _earlier: point(product) / root


def _step(
    position: int, query: Sequence[Fraction], key: Sequence[Fraction], size: int, root_text: str
) -> str:
    product = dot(query, key)
    terms = sum_of_products([plain(q) for q in query], [plain(k) for k in key])
    return (
        f"key {position + 1}: {terms} = {plain(product)}; "
        f"{plain(product)} ÷ {root_text} = {shown(product / sqrt(size))}"
    )


def _slips(queries: Rows, keys: Rows, row: int, root_text: str, root_range: Interval) -> list[Slip]:
    size, query = len(keys), queries[row]
    root = sqrt(size)
    products = [dot(query, key) for key in keys]
    mixed = [dot(query, column) for column in zip(*keys, strict=True)]
    return [
        _slip(
            "forgot_scale",
            "the scale is missing.",
            f"These are the products query · key; each is still to be divided by {root_text}.",
            products,
            [point(product) for product in products],
        ),
        _slip(
            "multiplied_by_scale",
            "the scale went the wrong way.",
            f"The products were multiplied by √{size} = {root_text}; they are divided by it.",
            [product * root for product in products],
            [point(product) * root_range for product in products],
        ),
        _slip(
            "divided_by_d_k",
            "divided by d_k instead of its root.",
            f"A sum of {size} products spreads by √{size} = {root_text}, not by {size}; "
            "divide by the root.",
            [product / size for product in products],
            [point(product / size) for product in products],
        ),
        _slip(
            "transposed_k",
            "that used the columns of K.",
            "Each row of K is one key; a score multiplies the query with a row. "
            "(In Q · Kᵀ the transpose turns these rows into columns for you.)",
            [product / root for product in mixed],
            [point(product) / root_range for product in mixed],
        ),
        *(
            _another_row(queries[other], keys, (other, row), root_range)
            for other in range(len(queries))
            if other != row
        ),
    ]


def _another_row(
    query: Sequence[Fraction], keys: Rows, rows: tuple[int, int], root_range: Interval
) -> Slip:
    """Return the slip of one who took another query: `rows` are the taken and the right one."""
    taken, right = rows
    root = sqrt(len(keys))
    products = [dot(query, key) for key in keys]
    return _slip(
        "another_row",
        f"that is what token {taken + 1} asks.",
        f"Token {right + 1} asks here: its query is row {right + 1} of Q.",
        [product / root for product in products],
        [point(product) / root_range for product in products],
    )


def _slip(
    name: str,
    verdict: str,
    explanation: str,
    values: Sequence[Fraction],
    intervals: Sequence[Interval],
) -> Slip:
    return Slip(
        name,
        verdict,
        explanation,
        dict(enumerate(values)),
        {position: interval.widened(HALF) for position, interval in enumerate(intervals)},
    )
