"""Skill "softmax": exponentiate a row of scores, add up, divide."""

import random
from collections.abc import Sequence
from fractions import Fraction

from softlookup.lesson.drawing import choose, first, matrix
from softlookup.lesson.intervals import Interval, exp, plain, point, rounded, shown, total
from softlookup.lesson.notation import matrix_text
from softlookup.lesson.questions import (
    DIGITS,
    HALF,
    Blank,
    Given,
    NumberQuestion,
    Recipe,
    Slip,
    is_clear,
    widest_operands,
)
from softlookup.numerals import factor

_KEYS = 3
_SCORES = tuple(Fraction(halves, 2) for halves in range(-2, 5))

Row = Sequence[Fraction]


def draw(source: random.Random) -> NumberQuestion:
    """Draw until every slip is told apart from the right answer and from the others."""
    return first(lambda: _attempt(source))


def _attempt(source: random.Random) -> NumberQuestion | None:
    scores = matrix(source, _KEYS, _KEYS, _SCORES)
    row = choose(source, range(_KEYS))
    if not _can_be_clear(scores, row):
        return None
    question = build(scores, row)
    return question if is_clear(question) else None


def build(scores: Sequence[Row], row: int) -> NumberQuestion:
    """Ask for exponentials, their sum and the weights of row `row` of `scores`."""
    blanks = _blanks(scores[row])
    return NumberQuestion(
        text=(
            f"Run softmax on the scaled scores of token {row + 1}: exponentiate each, add up, "
            "divide. Give seven numbers with three decimals: exp of each of the three scores, "
            "their sum, and the three weights. The three weights alone will do."
        ),
        given=(
            Given("scaled scores, one token a row", matrix_text(scores)),
            Given(f"row of token {row + 1}", "[" + ", ".join(map(plain, scores[row])) + "]"),
        ),
        hint="weight = exp(score) ÷ the sum of all exp(score) of the row. exp(0) is 1.",
        advice="Exponentiate each score, add the results up, then divide each by the sum.",
        blanks=blanks,
        slips=tuple(_slips(scores, row, widest_operands(blanks))),
    )


def _can_be_clear(scores: Sequence[Row], row: int) -> bool:
    """Rule out quickly what `is_clear` would refuse: rows that agree, a shift by 0, no shares."""
    own = scores[row]
    others = [line for position, line in enumerate(scores) if position != row]
    apart = all(a != b for line in others for a, b in zip(own, line, strict=True))
    return apart and max(own) != 0 and sum(own) != 0


def _blanks(scores: Row) -> tuple[Blank, ...]:
    powers = [exp(score) for score in scores]
    hand = [rounded(power, DIGITS) for power in powers]
    weights = [power / sum(powers) for power in powers]
    count = len(scores)
    exponentials = [
        Blank(
            name=f"exp_{position + 1}",
            label=f"exp of score {position + 1}",
            exact=power,
            by_hand=power,
            recipe=_known(power),
            step=f"exp({plain(scores[position])}) = {shown(power)}",
            needed=False,
        )
        for position, power in enumerate(powers)
    ]
    summed = Blank(
        name="sum",
        label="sum of the three",
        exact=sum(powers, Fraction(0)),
        by_hand=sum(hand, Fraction(0)),
        recipe=lambda earlier: total(earlier[:count]),
        step=" + ".join(map(shown, powers)) + f" = {shown(sum(powers, Fraction(0)))}",
        needed=False,
    )
    shares = [
        Blank(
            name=f"weight_{position + 1}",
            label=f"weight {position + 1}",
            exact=weight,
            by_hand=hand[position] / sum(hand),
            recipe=_share(position, count),
            step=(
                f"{shown(powers[position])} ÷ {shown(sum(powers, Fraction(0)))} = {shown(weight)}"
            ),
        )
        for position, weight in enumerate(weights)
    ]
    return (*exponentials, summed, *shares)


def _known(value: Fraction) -> Recipe:
    return lambda _earlier: point(value)


def _share(position: int, count: int) -> Recipe:
    return lambda earlier: earlier[position] / earlier[count]


def _slips(scores: Sequence[Row], row: int, operands: Sequence[Interval]) -> list[Slip]:
    own = scores[row]
    count = len(own)
    largest = max(own)
    powers = [exp(score) for score in own]
    summed = shown(sum(powers, Fraction(0)))
    slips = [
        _softmax_slip(
            "forgot_exp",
            "the exponential is missing.",
            "Scores can be negative and their shares then make no weights; "
            "exp makes every one positive before dividing.",
            own,
            own,
        ),
        Slip(
            "not_normalised",
            "the weights are not divided by the sum yet.",
            f"Weights add up to 1: divide each exponential by the sum {summed}.",
            {count + 1 + position: power for position, power in enumerate(powers)},
            {count + 1 + position: operands[position].widened(HALF) for position in range(count)},
        ),
        _shifted_slip(own, largest),
        *_hard_slips(own, largest, summed),
    ]
    slips += [
        _softmax_slip(
            "another_row",
            f"that is the row of token {other + 1}.",
            f"Token {row + 1} asks here: its scores are row {row + 1}.",
            [exp(score) for score in scores[other]],
            scores[other],
        )
        for other in range(len(scores))
        if other != row
    ]
    return slips


def _softmax_slip(name: str, verdict: str, explanation: str, terms: Row, scores: Row) -> Slip:
    """Return the slip that puts `terms` where the exponentials belong and goes on with them."""
    exact = [point(term) for term in terms]
    ranges = exact if terms is scores else [term.widened(2 * HALF) for term in exact]
    summed = total(ranges)
    addends = sum(terms, Fraction(0))
    values = [*terms, addends]
    intervals = [*(term.widened(HALF) for term in exact), summed.widened(HALF)]
    if addends:
        divisor = summed if terms is scores else summed.widened(2 * HALF)
        values += [term / addends for term in terms]
        intervals += [(term / divisor).widened(HALF) for term in ranges]
    return Slip(name, verdict, explanation, dict(enumerate(values)), dict(enumerate(intervals)))


def _hard_slips(scores: Row, largest: Fraction, summed: str) -> list[Slip]:
    """Return the slip of one who gives all to the best match; one for each of equal ones."""
    first = len(scores) + 1
    slips = []
    for best in (position for position, score in enumerate(scores) if score == largest):
        weights = {first + i: Fraction(int(i == best)) for i in range(len(scores))}
        slips.append(
            Slip(
                "hard_lookup",
                "that gives everything to the largest score.",
                "Softmax is soft: every key gets a share, the larger its score the more. "
                f"Each weight is its exponential divided by the sum {summed}.",
                weights,
                {position: point(weight).widened(HALF) for position, weight in weights.items()},
                whole=True,  # a score of 0 has the weight 0 without exp, too
            )
        )
    return slips


def _shifted_slip(scores: Row, largest: Fraction) -> Slip:
    """Return the other reading of softmax: same weights, but not the exponentials asked for."""
    powers = [exp(score - largest) for score in scores]
    values = [*powers, sum(powers, Fraction(0))]
    intervals = [point(power).widened(HALF) for power in powers]
    intervals.append(total(point(power).widened(2 * HALF) for power in powers).widened(HALF))
    return Slip(
        "shifted",
        "that is the shifted form.",
        f"You subtracted the largest score {factor(plain(largest))} first: the weights come out "
        "the same, but here exp of each score itself is asked for.",
        dict(enumerate(values)),
        dict(enumerate(intervals)),
    )
