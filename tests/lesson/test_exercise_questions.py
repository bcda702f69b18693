"""What the exercises ask: the same from the same seed, in the shape the page reads."""

import json

import pytest

from softlookup import lesson
from softlookup.errors import OptionError
from softlookup.lesson.drawing import first
from softlookup.lesson.exercises import question

KEYS = ["skill", "seed", "number", "of", "question", "given", "kind", "fields", "choices", "hint"]


@pytest.mark.parametrize("skill", lesson.SKILLS)
def test_an_exercise_is_plain_data(skill):
    made = lesson.exercise(skill, 1).to_dict()
    assert list(made) == KEYS
    assert json.loads(json.dumps(made)) == json.loads(
        json.dumps(lesson.exercise(skill, 1).to_dict())
    )
    assert (made["kind"] == "choice") == (skill == "scaling") == (made["choices"] is not None)
    assert (made["number"], made["of"]) == (lesson.SKILLS.index(skill) + 1, 4)
    for field in made["fields"]:
        assert list(field) == ["name", "label", "needed"]


def test_softmax_says_which_seven_numbers_it_asks_for():
    asked = lesson.exercise("softmax", 1)
    assert "seven numbers" in asked.question
    for part in ("exp of each of the three scores", "their sum", "the three weights"):
        assert part in asked.question
    assert [field.needed for field in asked.fields] == [False] * 4 + [True] * 3
    assert all(field.needed for field in lesson.exercise("output", 1).fields)


# These texts hold on every machine, Python and NumPy: only the promised part of `random` is used.
PINNED = {
    "scores": [
        "[[1, -1, 1, 2], [0, 0, 1, 0]]",
        "[[2, 1, 0, 0], [1, 0, -1, 2], [2, -1, 0, 0], [2, -1, 0, 0]]",
        "4",
        "2",
    ],
    "scaling": ["25", "5"],
    "softmax": ["[[-1, 1, 1.5], [0.5, 0.5, 0.5], [2, 2, 0.5]]", "[-1, 1, 1.5]"],
    "output": [
        "[0.100, 0.450, 0.450]",
        "[0.171, 0.063, 0.766]",
        "[0.547, 0.331, 0.122]",
        "[[3, 4], [4, 1], [0, -3]]",
        "[[0, 1], [3, -2], [-1, 1]]",
    ],
}


@pytest.mark.parametrize("skill", lesson.SKILLS)
def test_a_seed_gives_the_same_numbers_everywhere(skill):
    assert [part.value for part in lesson.exercise(skill, 7).given] == PINNED[skill]


@pytest.mark.parametrize("skill", lesson.SKILLS)
def test_seeds_give_fresh_questions(skill):
    asked = {json.dumps(lesson.exercise(skill, seed).to_dict() | {"seed": 0}) for seed in range(60)}
    assert len(asked) >= 55


def test_each_explanation_is_answered_with_its_own_reason():
    seen = {}
    places = set()
    for seed in range(2000):
        asked = question("scaling", seed)
        choices = lesson.exercise("scaling", seed).choices
        assert len({choice.text for choice in choices}) == len(choices) == 4
        verdicts = [lesson.check("scaling", seed, choice.id) for choice in choices]
        right = [position for position, verdict in enumerate(verdicts) if verdict.correct]
        assert len(right) == 1
        places.add(right[0])
        assert len({verdict.explanation for verdict in verdicts}) == 4
        for option, verdict in zip(asked.options, verdicts, strict=True):
            assert verdict.slip == (None if verdict.correct else option.name)
            assert verdict.steps
            seen.setdefault(option.name, set()).add(verdict.correct)
    assert places == {0, 1, 2, 3}
    right = {"spread", "training"}
    wrong = {"sum_to_one", "positive", "overflow", "order", "mean", "keys", "length"}
    assert seen == {name: {name in right} for name in right | wrong}


def test_its_length_does_not_give_the_right_explanation_away():
    longest = 0
    for seed in range(400):
        asked = question("scaling", seed)
        longest += max(asked.options, key=lambda option: len(option.text)) is asked.right
    assert 40 < longest < 200


def test_a_choice_is_read_kindly_and_refused_in_one_sentence():
    assert lesson.check("scaling", 4, " B) ") == lesson.check("scaling", 4, ["b"])
    for text in ("e", "", "ab", "1"):
        with pytest.raises(OptionError, match=r"answer: must be one of a, b, c, d; got"):
            lesson.check("scaling", 4, text)


@pytest.mark.parametrize("seed", [-1, 2**53, 1.5, True, "3", None])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(
        OptionError, match="seed: must be a whole number from 0 to 9007199254740991"
    ):
        lesson.exercise("scores", seed)


def test_the_largest_seed_works():
    assert lesson.exercise("scores", lesson.LARGEST_SEED).seed == 2**53 - 1


def test_an_unknown_skill_names_the_four():
    with pytest.raises(OptionError, match="skill: must be one of scores, scaling, softmax, output"):
        lesson.check("sums", 0, "1")


def test_a_draw_that_never_comes_clear_ends_with_a_sentence():
    with pytest.raises(RuntimeError, match="no clear question in 20,000 tries"):
        first(lambda: None)
