"""Skill "output": blend the values by their weights."""

import random
from collections.abc import Sequence
from fractions import Fraction

from softlookup.lesson.drawing import choose, first, matrix
from softlookup.lesson.intervals import Interval, exp, plain, point, rounded, shown, total
from softlookup.lesson.notation import dot, matrix_text
from softlookup.lesson.questions import (
    DIGITS,
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

_KEYS = 3
_DIMS = 2
_NUMBERS = tuple(Fraction(number) for number in range(-3, 5))
_SCORES = tuple(Fraction(halves, 2) for halves in range(-3, 4))

Rows = Sequence[Sequence[Fraction]]


def draw(source: random.Random) -> NumberQuestion:
    """Draw until every slip is told apart, and the weights add up to 1 as they are shown."""
    return first(lambda: _attempt(source))


def _attempt(source: random.Random) -> NumberQuestion | None:
    weights = [_softmax(row) for row in matrix(source, _KEYS, _KEYS, _SCORES)]
    if any(_shown_sum(row) != 1 for row in weights):
        return None
    keys = matrix(source, _KEYS, _DIMS, _NUMBERS)
    values = matrix(source, _KEYS, _DIMS, _NUMBERS)
    row = choose(source, range(_KEYS))
    if _is_nearly_hard(weights[row], values):
        return None
    question = build(weights, keys, values, row)
    return question if is_clear(question) else None


def _is_nearly_hard(weights: Sequence[Fraction], values: Rows) -> bool:
    """Say whether an output, rounded to one decimal, is the best match's value."""
    best = values[weights.index(max(weights))]
    return any(
        rounded(dot(weights, column), 1) == number
        for column, number in zip(zip(*values, strict=True), best, strict=True)
    )


def build(weights: Rows, keys: Rows, values: Rows, row: int) -> NumberQuestion:
    """Ask for the output of token `row`, one blank a column of `values`."""
    columns = [list(column) for column in zip(*values, strict=True)]
    hand = [rounded(weight, DIGITS) for weight in weights[row]]
    return NumberQuestion(
        text=(
            f"Token {row + 1} has its weights. Blend the values with them: "
            "what does it read? Give three decimals."
        ),
        given=(
            *(
                Given(f"weights of token {token + 1}", _shown_row(line))
                for token, line in enumerate(weights)
            ),
            Given("K, one key a row", matrix_text(keys)),
            Given("V, one value a row", matrix_text(values)),
        ),
        hint=(
            "Multiply each row of V by its weight and add the rows up, "
            "one column of V after the other."
        ),
        advice="Multiply each row of V by its weight, then add up column by column.",
        blanks=tuple(
            Blank(
                name=f"out_{position + 1}",
                label=f"output {position + 1}",
                exact=dot(weights[row], column),
                by_hand=dot(hand, column),
                recipe=_blend(weights[row], column),
                step=(
                    f"output {position + 1}: "
                    + sum_of_products(list(map(shown, weights[row])), list(map(plain, column)))
                    + f" = {shown(dot(weights[row], column))}"
                ),
            )
            for position, column in enumerate(columns)
        ),
        slips=tuple(_slips(weights, keys, values, row)),
    )


def _softmax(scores: Sequence[Fraction]) -> list[Fraction]:
    powers = [exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def _shown_sum(weights: Sequence[Fraction]) -> Fraction:
    return sum((rounded(weight, DIGITS) for weight in weights), Fraction(0))


def _shown_row(weights: Sequence[Fraction]) -> str:
    return "[" + ", ".join(map(shown, weights)) + "]"


def _blend(weights: Sequence[Fraction], column: Sequence[Fraction]) -> Recipe:
    return lambda _earlier: _blended(weights, column)


def _blended(weights: Sequence[Fraction], column: Sequence[Fraction]) -> Interval:
    return total(
        shown_operand(weight) * point(number)
        for weight, number in zip(weights, column, strict=True)
    )


def _slips(weights: Rows, keys: Rows, values: Rows, row: int) -> list[Slip]:
    slips = [
        _blend_slip(
            "blended_keys",
            "that blends the keys.",
            "Keys only decide how much is read; what is read are the values, the rows of V.",
            weights[row],
            keys,
        ),
        _unweighted_slip(values),
        *_hard_slips(weights[row], values, row),
    ]
    slips += [
        _blend_slip(
            "another_row",
            f"those are the weights of token {other + 1}.",
            f"Token {row + 1} reads here: its weights are {_shown_row(weights[row])}.",
            weights[other],
            values,
        )
        for other in range(len(weights))
        if other != row
    ]
    return slips


def _blend_slip(
    name: str, verdict: str, explanation: str, weights: Sequence[Fraction], rows: Rows
) -> Slip:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Slip(
        name,
        verdict,
        explanation,
        {position: dot(weights, column) for position, column in enumerate(columns)},
        {
            position: _blended(weights, column).widened(HALF)
            for position, column in enumerate(columns)
        },
    )


def _hard_slips(weights: Sequence[Fraction], values: Rows, row: int) -> list[Slip]:
    """Return the slip of one who reads the best match alone; one for each of equal ones."""
    most = max(weights)
    return [
        _given_slip(
            "hard_lookup",
            "that is the value of the best match alone.",
            f"Token {row + 1} reads key {key + 1} most, {shown(weight)}, but the others too: "
            "attention is a soft lookup, in which each value counts as much as its weight says.",
            values[key],
        )
        for key, weight in enumerate(weights)
        if weight == most
    ]


def _unweighted_slip(values: Rows) -> Slip:
    return _given_slip(
        "not_weighted",
        "the values were added up without their weights.",
        "Each value counts as much as its weight says: multiply first, then add.",
        [sum(column, Fraction(0)) for column in zip(*values, strict=True)],
    )


def _given_slip(name: str, verdict: str, explanation: str, answers: Sequence[Fraction]) -> Slip:
    """Return a slip whose answers are exact numbers."""
    return Slip(
        name,
        verdict,
        explanation,
        dict(enumerate(answers)),
        {position: point(number).widened(HALF) for position, number in enumerate(answers)},
    )
