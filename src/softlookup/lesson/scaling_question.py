"""Skill "scaling": say why scores are divided by the square root of d_k."""

import random
from fractions import Fraction

from softlookup.lesson.drawing import choose, shuffle
from softlookup.lesson.intervals import plain, shown
from softlookup.lesson.questions import ChoiceQuestion, Explanation, Given

_ROOTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 32)
_WRONG_SHOWN = 3


def draw(source: random.Random) -> ChoiceQuestion:
    """Draw a d_k, one wording of the reason, three wrong ones, and their order."""
    root = choose(source, _ROOTS)
    size = root * root
    right = choose(source, _right(size, root))
    wrong = shuffle(source, _wrong(size, root))[:_WRONG_SHOWN]
    return ChoiceQuestion(
        text=(
            f"Queries and keys have d_k = {size:,} numbers, each spreading by about 1 around 0. "
            f"Why is every score divided by √{size:,} = {root}?"
        ),
        given=(Given("d_k", f"{size:,}"), Given("√d_k", str(root))),
        hint=f"How far from 0 does a sum of {size:,} such products typically fall?",
        options=tuple(shuffle(source, [right, *wrong])),
        right=right,
        steps=(
            (
                f"one product of two such numbers spreads by about 1; a sum of {size:,} of them by "
                f"about √{size:,} = {root}"
            ),
            f"divided by {root}: the scores spread by about {root} ÷ {root} = 1",
        ),
    )


def _right(size: int, root: int) -> list[Explanation]:
    return [
        Explanation(
            "spread",
            f"A sum of {size:,} products spreads by about {root}; "
            f"divided by {root}, by about 1, and softmax stays soft.",
            f"A sum of {size:,} products spreads by about √{size:,} = {root}; the division brings "
            "it back to about 1, whatever d_k is.",
        ),
        Explanation(
            "training",
            "Large scores put nearly all weight on one key; "
            "w(1-w) is near 0 there and little is learned.",
            "Sharp weights barely answer to a change of their scores: w(1-w) goes to 0. "
            f"Divided by {root}, the scores spread by about 1 and the weights stay trainable.",
        ),
    ]


def _wrong(size: int, root: int) -> list[Explanation]:
    return [*_wrong_about_weights(root), *_wrong_about_scores(size, root)]


def _wrong_about_weights(root: int) -> list[Explanation]:
    return [
        Explanation(
            "sum_to_one",
            "Without the division the weights of a row would not add up to 1, "
            "and the output would be too long.",
            "Softmax divides by its own sum, so the weights add up to 1 for any scores.",
        ),
        Explanation(
            "positive",
            "Scores can be negative, and a weight must not be; the division takes care of that.",
            "Dividing by a positive number keeps the sign; exp is what makes weights positive.",
        ),
        Explanation(
            "overflow",
            "exp of a large score would overflow, and the division is "
            "what keeps the exponentials finite.",
            "Subtracting the row's largest score prevents overflow, at no change of the weights. "
            "The division does change them: it keeps them soft.",
        ),
        Explanation(
            "order",
            "It changes which key wins, so that a long key "
            "does not beat the one that matches best.",
            f"Dividing a row by the same {root} keeps its order: the best key stays the best.",
        ),
    ]


def _wrong_about_scores(size: int, root: int) -> list[Explanation]:
    small = Fraction(1, root)
    mean = plain(small) if root in (2, 4, 5, 8, 10) else shown(small)
    return [
        Explanation(
            "mean",
            f"It turns the sum of {size:,} products into their mean, "
            "so that every component counts the same.",
            f"The mean divides by {size:,}, not by {root}. Scores would then spread by about "
            f"{mean} only, and softmax would weigh all keys almost alike.",
        ),
        Explanation(
            "keys",
            f"There are {size:,} keys to compare with, "
            "and more keys would otherwise make every score larger.",
            f"d_k = {size:,} counts the numbers in one key, not the keys. "
            "A score does not change when another key joins.",
        ),
        Explanation(
            "length",
            "It gives every query and every key the length 1, "
            "so that a score is the cosine of their angle.",
            f"Every score is divided by the same {root}, whatever the lengths of the two vectors; "
            "long vectors still score higher.",
        ),
    ]
