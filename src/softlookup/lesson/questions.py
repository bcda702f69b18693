"""A question, what counts as a right answer to it, and the slips it can tell apart.

Each number asked for is a `Blank` with a recipe: the interval of answers that follow from the
intervals of what the question shows and of the blanks before it. Each `Slip` holds the intervals
of the answers it leads to. `is_clear` says whether no answer can be two of these things at once;
numbers are drawn until it holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from softlookup.lesson.answers import Typed
from softlookup.lesson.intervals import Interval, half_unit, point, rounded

DIGITS = 3
HALF = half_unit(DIGITS)
_NOWHERE = Interval(Fraction(1), Fraction(0))  # holds nothing, and overlaps nothing

Recipe = Callable[[Sequence[Interval]], Interval]


@dataclass(frozen=True)
class Given:
    """Something the question shows."""

    label: str
    value: str


@dataclass(frozen=True)
class Field:
    """A number the question asks for; a step on the way may be left empty."""

    name: str
    label: str
    needed: bool


@dataclass(frozen=True)
class Choice:
    """One of the explanations to choose among."""

    id: str
    text: str


@dataclass(frozen=True)
class Exercise:
    """What a learner sees of a question."""

    skill: str
    seed: int
    number: int
    of: int
    question: str
    given: tuple[Given, ...]
    kind: str
    fields: tuple[Field, ...]
    choices: tuple[Choice, ...] | None
    hint: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and texts, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """What is said about an answer."""

    correct: bool
    fields: tuple[bool, ...]
    slip: str | None
    verdict: str
    explanation: str
    steps: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and texts, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Blank:
    """One number asked for.

    ``exact`` follows from the exact numbers, ``by_hand`` from the numbers as shown; a clear
    question shows the same decimals for both. ``recipe`` takes one interval for each earlier blank.
    One that is not ``needed`` is a step on the way to the others, and may be left out.
    """

    name: str
    label: str
    exact: Fraction
    by_hand: Fraction
    recipe: Recipe
    step: str
    needed: bool = True


@dataclass(frozen=True)
class Slip:
    """A way to go wrong: the answers it leads to, by the position of the blank it changes.

    A `whole` one is known by all of these answers together: one alone may come from elsewhere.
    """

    name: str
    verdict: str
    explanation: str
    values: Mapping[int, Fraction]
    intervals: Mapping[int, Interval]
    whole: bool = False


@dataclass(frozen=True)
class NumberQuestion:
    """A question answered with numbers."""

    text: str
    given: tuple[Given, ...]
    hint: str
    advice: str
    blanks: tuple[Blank, ...]
    slips: tuple[Slip, ...]


@dataclass(frozen=True)
class Explanation:
    """One answer to a question of why: its words, and what is said to who chooses it."""

    name: str
    text: str
    reason: str


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question answered by choosing; ``options`` stand in the drawn order."""

    text: str
    given: tuple[Given, ...]
    hint: str
    options: tuple[Explanation, ...]
    right: Explanation
    steps: tuple[str, ...]


def read_fields(blanks: Sequence[Blank], typed: Sequence[Typed]) -> tuple[bool, ...]:
    """Say for each blank whether the answer is right.

    The operands of a later blank are the earlier ones as rounded for showing; where the learner's
    own earlier answer is right, that one too, and where it is wrong, never.
    """
    operands: list[Interval] = []
    verdicts = []
    for blank, answer in zip(blanks, typed, strict=True):
        right = answer.value in blank.recipe(operands).widened(HALF)
        operand = shown_operand(blank.exact)
        if right:
            operand = operand.joined(point(answer.value).widened(HALF))
        operands.append(operand)
        verdicts.append(right)
    return tuple(verdicts)


def shown_operand(value: Fraction) -> Interval:
    """Return what a number shown with three decimals may have been."""
    return point(rounded(value, DIGITS)).widened(HALF)


def widest_operands(blanks: Sequence[Blank]) -> list[Interval]:
    """Return for each blank all that its right answers may stand for, whatever came before."""
    operands: list[Interval] = []
    for blank in blanks:
        operands.append(blank.recipe(operands).widened(2 * HALF).joined(shown_operand(blank.exact)))
    return operands


def widest_answers(blanks: Sequence[Blank]) -> list[Interval]:
    """Return for each blank every answer that can count as right."""
    operands = widest_operands(blanks)
    return [
        blank.recipe(operands[:position]).widened(HALF) for position, blank in enumerate(blanks)
    ]


def is_clear(question: NumberQuestion) -> bool:
    """Say whether every answer is right, one slip, or neither: never two of them.

    It also asks that the shown numbers lead, by hand, to the decimals of the exact ones.
    """
    if any(
        rounded(blank.exact, DIGITS) != rounded(blank.by_hand, DIGITS) for blank in question.blanks
    ):
        return False
    answers = widest_answers(question.blanks)
    for position, right in enumerate(answers):
        claims = [("", right)] + [
            (slip.name, slip.intervals[position])
            for slip in question.slips
            if position in slip.intervals and not slip.whole
        ]
        for (name, interval), (other, rival) in combinations(claims, 2):
            if name != other and interval.overlaps(rival):
                return False
    return not any(
        slip.whole and _is_confused(slip, question.slips, answers) for slip in question.slips
    )


def _is_confused(whole: Slip, slips: Sequence[Slip], answers: Sequence[Interval]) -> bool:
    """Say whether an answer can be the `whole` slip, and right somewhere or another one."""
    own = whole.intervals.items()
    return any(interval.overlaps(answers[at]) for at, interval in own) or any(
        all(interval.overlaps(slip.intervals.get(at, _NOWHERE)) for at, interval in own)
        for slip in slips
        if slip.name != whole.name
    )


def find_slip(
    question: NumberQuestion, typed: Sequence[Typed], fields: Sequence[bool]
) -> Slip | None:
    """Return the slip that explains every wrong blank, or None."""
    wrong = {position for position, right in enumerate(fields) if not right}
    for slip in question.slips:
        if all(
            typed[position].value in slip.intervals.get(position, _NOWHERE)
            for position in (wrong.union(slip.intervals) if slip.whole else wrong)
        ):
            return slip
    return None
