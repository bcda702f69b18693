"""Right answers, answers just outside, and every slip, over many seeds."""

import re

import pencil
import pytest

from softlookup import lesson
from softlookup.errors import OptionError
from softlookup.lesson.exercises import question
from softlookup.lesson.intervals import shown
from softlookup.lesson.questions import is_clear

NUMERIC = ("scores", "softmax", "output")
FEW = range(60)
MANY = range(2000)


def exercise(skill, seed):
    return lesson.exercise(skill, seed).to_dict()


def assert_each_slip_is_itself(skill, seeds):
    for seed in seeds:
        right, slips, _ = pencil.solve(exercise(skill, seed))
        assert lesson.check(skill, seed, pencil.typed(right)).correct, seed
        for name, answers in slips:
            verdict = lesson.check(skill, seed, pencil.typed(answers))
            assert (verdict.correct, verdict.slip) == (False, name), (seed, verdict)
            assert verdict.explanation
            assert verdict.steps


@pytest.mark.parametrize("skill", NUMERIC)
def test_every_slip_is_diagnosed_as_itself(skill):
    assert_each_slip_is_itself(skill, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("skill", NUMERIC)
def test_every_slip_is_diagnosed_as_itself_over_many_seeds(skill):
    assert_each_slip_is_itself(skill, MANY)


@pytest.mark.parametrize("skill", NUMERIC)
def test_a_slip_in_one_field_is_diagnosed_too(skill):
    for seed in FEW[:50]:
        right, slips, _ = pencil.solve(exercise(skill, seed))
        for name, answers in slips:
            if (skill, name) == ("softmax", "hard_lookup"):
                continue  # a weight of 0 or 1 alone may come from elsewhere
            for position, answer in enumerate(answers):
                if abs(answer - right[position]) < 1e-12:
                    continue
                mixed = [*right[:position], answer, *right[position + 1 :]]
                verdict = lesson.check(skill, seed, pencil.typed(mixed))
                assert verdict.slip == name, (seed, position, verdict)
                assert [i for i, ok in enumerate(verdict.fields) if not ok] == [position]
                assert len(verdict.steps) == 1


@pytest.mark.parametrize("skill", NUMERIC)
def test_an_answer_may_fall_as_far_as_the_shown_numbers_allow_and_no_farther(skill):
    for seed in FEW:
        right, _, reach = pencil.solve(exercise(skill, seed))
        if skill == "output":  # what the shown weights say, not the exact ones behind them
            exact = [float(blank.exact) for blank in question(skill, seed).blanks]
            assert all(abs(a - b) <= 0.02 for a, b in zip(right, exact, strict=True))
        for position, (below, above) in enumerate(reach):
            for edge, inward in ((below, 1e-9), (above, -1e-9)):
                for step, accepted in ((inward, True), (-inward, False)):
                    answers = pencil.typed(right)
                    answers[position] = f"{right[position] + edge + step:.15f}"
                    verdict = lesson.check(skill, seed, answers)
                    assert verdict.fields[position] is accepted, (seed, position, edge, step)


@pytest.mark.parametrize("skill", NUMERIC)
def test_numbers_are_drawn_until_no_answer_can_mean_two_things(skill):
    assert all(is_clear(question(skill, seed)) for seed in FEW)


@pytest.mark.parametrize("skill", NUMERIC)
def test_working_from_the_shown_numbers_gives_the_shown_answer(skill):
    for seed in FEW:
        right, _, _ = pencil.solve(exercise(skill, seed))
        blanks = question(skill, seed).blanks
        assert pencil.typed(right) == [shown(blank.exact) for blank in blanks]
        for blank in blanks:
            assert blank.step.endswith(f"= {shown(blank.exact)}")


@pytest.mark.parametrize("skill", NUMERIC)
def test_the_written_steps_are_true(skill):
    """Each `a op b = c` of a step is recomputed from the numbers it shows."""
    for seed in FEW[:40]:
        for blank in question(skill, seed).blanks:
            for part in blank.step.split(": ")[-1].split("; "):
                left, _, result = part.rpartition(" = ")
                code = left.replace("·", "*").replace("÷", "/").replace("exp(", "math.exp(")
                assert re.fullmatch(r"[-+*/(). \d]*(math\.exp\([-.\d]+\))?", code), code
                value = eval(code, {"math": __import__("math")})  # noqa: S307 - matched above
                assert abs(value - float(result)) <= 0.00051, blank.step


def test_own_earlier_answers_count_only_where_they_are_right():
    seed = 3
    right, _, _ = pencil.solve(exercise("softmax", seed))
    wrong_exp = right[0] + 0.3
    total = wrong_exp + right[1] + right[2]
    weights = [x / total for x in (wrong_exp, right[1], right[2])]
    verdict = lesson.check(
        "softmax", seed, pencil.typed([wrong_exp, right[1], right[2], total, *weights])
    )
    assert verdict.fields[:4] == (False, True, True, False)
    assert verdict.slip is None
    assert "exp of score 1 is off" in verdict.verdict


def test_own_right_answers_at_the_edge_carry_on():
    for seed in FEW[:50]:
        right, _, _ = pencil.solve(exercise("softmax", seed))
        exps = [x + 0.00045 for x in right[:3]]
        total = sum(exps) + 0.0009  # within what three such numbers and their rounding allow
        answers = [f"{x:.6f}" for x in (*exps, total, *right[4:])]
        assert lesson.check("softmax", seed, answers).correct, seed


def test_too_few_decimals_are_named():
    named = 0
    for seed in FEW:
        right, _, _ = pencil.solve(exercise("output", seed))
        verdict = lesson.check("output", seed, [f"{x:.1f}" for x in right])
        assert verdict.correct or verdict.slip == "too_rounded", (seed, verdict)
        named += not verdict.correct
    assert named > len(FEW) // 2


@pytest.mark.parametrize("skill", NUMERIC)
def test_a_whole_number_is_no_rounding(skill):
    """It lies within a half of what it is not: whoever types it may have another idea."""
    for seed in FEW[:50]:
        right, _, _ = pencil.solve(exercise(skill, seed))
        answers = [f"{x:.0f}" for x in right]
        assert lesson.check(skill, seed, answers).slip != "too_rounded", (seed, answers)


def test_reading_the_best_match_alone_is_called_so():
    """Token 2 reads [0, 1], [3, -2], [-1, 1] with 0.171, 0.063, 0.766."""
    for answer in ("-1 1", "-1.0 1.0", "[-1.000, 1.000]"):
        verdict = lesson.check("output", 7, answer)
        assert verdict.slip == "hard_lookup"
        assert verdict.verdict == "Not yet: that is the value of the best match alone."
        said = "Token 2 reads key 3 most, 0.766, but the others too: "
        assert verdict.explanation.startswith(said)


def test_weights_that_give_all_to_the_best_match_are_called_so():
    for answer in ("0 0 1", "0.000, 0.000, 1.000"):
        verdict = lesson.check("softmax", 7, answer)
        assert verdict.slip == "hard_lookup"
        assert verdict.verdict == "Not yet: that gives everything to the largest score."
    assert lesson.check("softmax", 7, ["", "", "", "", "1", "0", "0"]).slip is None


def test_the_weights_alone_are_an_answer_to_softmax():
    for seed in FEW[:50]:
        right, slips, _ = pencil.solve(exercise("softmax", seed))
        texts = pencil.typed(right)
        whole = lesson.check("softmax", seed, texts)
        for given in (texts[4:], " ".join(texts[4:]), ["", "", "", "", *texts[4:]]):
            assert lesson.check("softmax", seed, given) == whole, (seed, given)
        for name, answers in slips:
            verdict = lesson.check("softmax", seed, pencil.typed(answers[4:]))
            assert verdict.slip == (None if name == "shifted" else name), (seed, verdict)
            assert verdict.fields[:4] == (True,) * 4


def test_steps_on_the_way_may_be_given_one_by_one():
    texts = pencil.typed(pencil.solve(exercise("softmax", 7))[0])
    assert lesson.check("softmax", 7, ["", texts[1], "", "", *texts[4:]]).correct
    assert not lesson.check("softmax", 7, ["", "99", "", "", *texts[4:]]).correct
    with pytest.raises(OptionError, match="answer: weight 2 is empty"):
        lesson.check("softmax", 7, [*texts[:5], "", texts[6]])
    with pytest.raises(OptionError, match=r"answer: must hold 7 numbers; got 4\. Give exp of "):
        lesson.check("softmax", 7, texts[:4])


def test_an_unknown_error_names_the_field_and_shows_its_step():
    right, _, _ = pencil.solve(exercise("output", 5))
    verdict = lesson.check("output", 5, pencil.typed([right[0], right[1] + 77.77]))
    assert verdict.fields == (True, False)
    assert verdict.slip is None
    assert verdict.verdict == "Not yet: output 2 is off."
    assert verdict.steps[0].startswith("output 2: ")


@pytest.mark.parametrize("skill", NUMERIC)
def test_one_text_with_all_numbers_is_read_like_a_list(skill):
    right, _, _ = pencil.solve(exercise(skill, 11))
    texts = pencil.typed(right)
    for joined in ("[" + ", ".join(texts) + "]", " ".join(texts), ",".join(texts)):
        assert lesson.check(skill, 11, joined) == lesson.check(skill, 11, texts)
    assert lesson.check(skill, 11, " ".join(texts).replace(".", ",")).correct


def test_a_number_missing_is_an_error_that_names_the_fields():
    with pytest.raises(OptionError, match=r"answer: must hold 2 numbers; got 1\. Give output 1,"):
        lesson.check("output", 0, ["0.4"])


@pytest.mark.parametrize("text", ["abc", "nan", "inf", "1e999", "", "1/0"])
def test_what_is_no_number_is_refused_and_nothing_is_judged(text):
    with pytest.raises(OptionError, match="answer: output 2 ") as error:
        lesson.check("output", 0, ["0.4", text])
    assert error.value.argument == "answer"
    assert lesson.check("output", 0, pencil.typed(pencil.solve(exercise("output", 0))[0])).correct
