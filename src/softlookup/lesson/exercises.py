"""The four exercises: one source of questions and verdicts for the terminal and the page."""

import random
from collections.abc import Callable, Sequence
from functools import lru_cache

from softlookup.errors import OptionError
from softlookup.lesson import output_question, scaling_question, score_question, softmax_question
from softlookup.lesson.answers import Typed, read_number, read_row, split_numbers
from softlookup.lesson.drawing import generator
from softlookup.lesson.intervals import half_unit
from softlookup.lesson.questions import (
    DIGITS,
    Choice,
    ChoiceQuestion,
    Exercise,
    Field,
    NumberQuestion,
    Verdict,
    find_slip,
    read_fields,
)

SKILLS = ("scores", "scaling", "softmax", "output")
LARGEST_SEED = 2**53 - 1

_DRAW: dict[str, Callable[[random.Random], NumberQuestion | ChoiceQuestion]] = {
    "scores": score_question.draw,
    "scaling": scaling_question.draw,
    "softmax": softmax_question.draw,
    "output": output_question.draw,
}
_IDS = "abcdefgh"


def exercise(skill: str, seed: int) -> Exercise:
    """Return the exercise of `skill` with the fresh numbers of `seed`.

    Parameters
    ----------
    skill : str
        One of ``SKILLS``.
    seed : int
        From 0 to 2**53 - 1; the same seed gives the same exercise on every machine.

    Examples
    --------
    >>> exercise("softmax", 7) == exercise("softmax", 7)
    True
    """
    asked = question(skill, seed)
    return Exercise(
        skill=skill,
        seed=seed,
        number=SKILLS.index(skill) + 1,
        of=len(SKILLS),
        question=asked.text,
        given=asked.given,
        kind="choice" if isinstance(asked, ChoiceQuestion) else "numbers",
        fields=()
        if isinstance(asked, ChoiceQuestion)
        else tuple(Field(blank.name, blank.label, blank.needed) for blank in asked.blanks),
        choices=tuple(
            Choice(letter, option.text) for letter, option in zip(_IDS, asked.options, strict=False)
        )
        if isinstance(asked, ChoiceQuestion)
        else None,
        hint=asked.hint,
    )


def check(skill: str, seed: int, answer: Sequence[str] | str) -> Verdict:
    """Judge an answer to ``exercise(skill, seed)``.

    A number is right within the interval that the shown, rounded numbers allow, plus half a unit
    of the third decimal. An earlier answer of the learner counts as such a number if it is right.

    Parameters
    ----------
    skill, seed
        As for ``exercise``.
    answer : list of str or str
        One text a field, or all of them in one text; for a choice its id. A field that is not
        `needed` may be empty, and all of these be left out.

    Raises
    ------
    OptionError
        Where a text is not a number, a number is missing, or there is no such choice. Nothing is
        judged then, and the exercise stays as it is.
    """
    asked = question(skill, seed)
    if isinstance(asked, ChoiceQuestion):
        return _judge_choice(asked, answer)
    return _judge_numbers(asked, _read_answer(asked, answer))


def question(skill: str, seed: int) -> NumberQuestion | ChoiceQuestion:
    """Return the question behind an exercise, with its answers and slips."""
    if skill not in SKILLS:
        raise OptionError(
            "skill", f"must be one of {', '.join(SKILLS)}; got {skill!r}. Choose one of them."
        )
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise OptionError(
            "seed",
            f"must be a whole number from 0 to {LARGEST_SEED}; got {str(seed)[:40]}. "
            "Choose any of these.",
        )
    return _drawn(skill, seed)


@lru_cache(maxsize=64)
def _drawn(skill: str, seed: int) -> NumberQuestion | ChoiceQuestion:
    return _DRAW[skill](generator(skill, seed))


def _read_answer(asked: NumberQuestion, answer: Sequence[str] | str) -> list[Typed]:
    texts = read_row(answer, [blank.needed for blank in asked.blanks])
    if texts is None:
        labels = ", ".join(blank.label for blank in asked.blanks)
        got = len(split_numbers(answer, 0) if isinstance(answer, str) else answer)
        raise OptionError(
            "answer",
            f"must hold {len(asked.blanks)} numbers; got {got}. Give {labels}, in this order.",
        )
    return [
        read_number(text, blank.label)
        if text.strip() or blank.needed
        else Typed(blank.exact, None)  # a step that is left out is not judged
        for text, blank in zip(texts, asked.blanks, strict=True)
    ]


def _judge_numbers(asked: NumberQuestion, typed: Sequence[Typed]) -> Verdict:
    fields = read_fields(asked.blanks, typed)
    if all(fields):
        return Verdict(True, fields, None, "Right.", "", tuple(b.step for b in asked.blanks))
    wrong = [position for position, right in enumerate(fields) if not right]
    steps = tuple(asked.blanks[position].step for position in wrong)
    if slip := find_slip(asked, typed, fields):
        verdict = f"Not yet: {slip.verdict}"
        return Verdict(False, fields, slip.name, verdict, slip.explanation, steps)
    if all(_is_too_rounded(asked, typed, position) for position in wrong):
        return Verdict(
            False,
            fields,
            "too_rounded",
            "Not yet: too few decimals.",
            f"What you typed agrees as far as it goes; {DIGITS} decimals are asked for.",
            steps,
        )
    first = asked.blanks[wrong[0]].label
    more = f", and {len(wrong) - 1} more after it" if len(wrong) > 1 else ""
    return Verdict(False, fields, None, f"Not yet: {first} is off{more}.", asked.advice, steps)


def _is_too_rounded(asked: NumberQuestion, typed: Sequence[Typed], position: int) -> bool:
    decimals = typed[position].decimals
    if decimals is None or not 1 <= decimals < DIGITS:  # a whole number is no rounding of 0.577
        return False
    gap = abs(typed[position].value - asked.blanks[position].exact)
    return gap <= half_unit(decimals) + half_unit(DIGITS)  # it may be rounded from three decimals


def _judge_choice(asked: ChoiceQuestion, answer: Sequence[str] | str) -> Verdict:
    text = answer if isinstance(answer, str) else "".join(str(part) for part in answer)
    letter = text.strip().strip("().").lower()
    letters = _IDS[: len(asked.options)]
    if len(letter) != 1 or letter not in letters:
        raise OptionError(
            "answer",
            f"must be one of {', '.join(letters)}; got {text[:40]!r}. "
            "Type the letter of one explanation.",
        )
    chosen = asked.options[letters.index(letter)]
    if chosen is asked.right:
        return Verdict(True, (), None, "Right.", chosen.reason, asked.steps)
    return Verdict(False, (), chosen.name, "Not yet.", chosen.reason, asked.steps)
