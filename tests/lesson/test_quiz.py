"""Sittings of the quiz with scripted answers."""

import io
import json
import sys
from types import SimpleNamespace

import pencil
import pytest
from rich.console import Console

from softlookup import lesson
from softlookup.errors import OptionError
from softlookup.lesson import quiz


@pytest.fixture
def path(tmp_path, monkeypatch):
    path = tmp_path / "data" / "progress.json"
    monkeypatch.setattr("softlookup.lesson.progress.default_path", lambda: path)
    return path


def sit(lines, **options):
    """Run the quiz with these lines typed; an exception in their place is raised; then Ctrl-D."""
    typed = iter([*lines, EOFError()])
    out = io.StringIO()

    def ask(prompt):
        out.write(prompt)
        line = next(typed)
        if isinstance(line, BaseException):
            raise line
        return line

    console = Console(file=out, width=100, highlight=False)
    assert quiz.run(console, ask=ask, **options) == 0
    assert len(list(typed)) <= 1, "not every line was asked for"
    return out.getvalue()


def right(skill, seed):
    if skill == "scaling":
        (letter,) = [c.id for c in lesson.exercise(skill, seed).choices
                     if lesson.check(skill, seed, c.id).correct]  # fmt: skip
        return [letter]
    return pencil.typed(pencil.solve(lesson.exercise(skill, seed).to_dict())[0])


def slip(skill, seed, name):
    slips = dict(pencil.solve(lesson.exercise(skill, seed).to_dict())[1])
    return pencil.typed(slips[name])


def solved(path):
    return json.loads(path.read_text())["solved"]


def test_all_four_boxes_tick(path):
    lines = [line for i, skill in enumerate(lesson.SKILLS) for line in right(skill, 20 + i)]
    text = sit(lines, seed=20)
    assert text.count("Right.") == 4
    assert text.count("[x] I can ") == 4
    assert solved(path) == list(lesson.SKILLS)
    assert "1 of 4 · scores" in text
    assert "4 of 4 · output" in text

    again = sit([])
    assert "All four boxes are ticked." in again
    assert again.count("[x] I can ") == 4
    assert "of 4 ·" not in again


def test_a_slip_is_named_its_step_shown_and_a_fresh_one_asked(path):
    text = sit([*slip("scores", 5, "forgot_scale"), *right("scores", 6)], seed=5, skill="scores")
    first = lesson.check("scores", 5, slip("scores", 5, "forgot_scale"))
    flat = " ".join(text.split())
    assert "Not yet: the scale is missing." in text
    assert first.explanation in flat
    assert all(step in flat for step in first.steps)
    assert text.index("Not yet") < text.index("Here is a fresh one.") < text.index("Right.")
    assert solved(path) == ["scores"]


def test_only_unsolved_skills_are_asked(path):
    path.parent.mkdir()
    path.write_text('{"version": 1, "solved": ["scores", "softmax"]}')
    text = sit(right("scaling", 1), seed=1)
    assert "2 of 4 · scaling" in text
    assert "4 of 4 · output" in text
    assert "· scores" not in text
    assert "· softmax" not in text
    assert solved(path) == ["scores", "scaling", "softmax"]


def test_a_whole_row_may_be_typed_at_once(path):
    row = "[" + ", ".join(right("output", 2)) + "]"
    assert "Right." in sit([row], seed=2, skill="output")
    assert solved(path) == ["output"]


@pytest.mark.parametrize("row", ["0.4 0.2 0.1", "[0.4, 0.2, 0.1]", "0.4; 0.2; 0.1"])
def test_a_row_of_the_wrong_length_is_told_how_many_are_wanted(path, row):
    first, second = right("output", 2)
    text = " ".join(sit([row, first, row, second], seed=2, skill="output").split())
    assert "output 1 must be one number, or all 2 in one row; got 3 numbers." in text
    assert "output 2 must be one number; got 3 numbers." in text
    assert "Right." in text


def test_the_weights_of_softmax_may_be_typed_alone(path):
    right = pencil.typed(pencil.solve(lesson.exercise("softmax", 2).to_dict())[0])
    text = " ".join(sit(["0.1 0.2", " ".join(right[4:])], seed=2, skill="softmax").split())
    wanted = "one number, or all 7 or the last 3 in one row; got 2 numbers."
    assert f"exp of score 1 must be {wanted}" in text
    assert "Right." in text
    assert solved(path) == ["softmax"]


def test_the_prompt_says_that_a_row_may_be_typed_where_there_is_one(path):
    assert "(one number a line, or all 2 in one row; " in sit([], seed=2, skill="output")
    assert "all 7 or the last 3 in one row; " in sit([], seed=2, skill="softmax")
    assert "one row" not in sit([], seed=2, skill="scaling")


@pytest.mark.parametrize("word", ["?", "help", " HELP "])
def test_help_shows_the_hint_and_skips_nothing(path, word):
    first, second = right("output", 2)
    text = sit([word, word, first, word, second], seed=2, skill="output")
    assert text.count("Hint: ") == 3
    assert "Right." in text


@pytest.mark.parametrize("word", ["q", "quit", "Exit"])
def test_a_word_leaves_as_ctrl_d_does(path, word):
    text = sit([*right("scores", 4), word], seed=4)
    assert "must be" not in text
    assert "Until next time; progress is kept." in text
    assert solved(path) == ["scores"]


def test_lines_can_be_edited_at_a_terminal(path, monkeypatch):
    pytest.importorskip("readline", reason="hardware: no readline on this system")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    monkeypatch.delitem(sys.modules, "readline")
    assert quiz.run(Console(file=io.StringIO()), skill="scores", seed=1) == 0
    assert "readline" in sys.modules


def test_empty_lines_hint_and_then_skip(path):
    text = sit(["", "", "", "b"], seed=8)
    assert text.count("Hint: ") == 2
    assert "Skipped; it stays open." in text
    assert "2 of 4 · scaling" in text
    assert not path.exists() or "scores" not in solved(path)


def test_what_is_no_number_is_asked_again_and_nothing_is_lost(path):
    first, second = right("output", 9)
    text = sit([first, "two", "1e999", second], seed=9, skill="output")
    assert 'output 2 must be a number; got "two".' in text
    assert "output 2 must be a number below 1,000,000,000" in text
    assert "Right." in text
    assert text.count("1 of 4") + text.count("4 of 4") == 1


def test_no_such_choice_is_asked_again(path):
    text = sit(["z", *right("scaling", 3)], seed=3, skill="scaling")
    assert "your choice must be one of a, b, c, d; got 'z'." in text
    assert "Right." in text


@pytest.mark.parametrize("leave", [KeyboardInterrupt(), EOFError()])
def test_leaving_keeps_what_is_solved(path, leave):
    text = sit([*right("scores", 4), leave], seed=4)
    assert "Until next time; progress is kept." in text
    assert "[x] I can compute the scores of a query." in text
    assert text.count("[ ] I can ") == 3
    assert solved(path) == ["scores"]


def test_reset_unticks_all(path):
    path.parent.mkdir()
    path.write_text('{"version": 1, "solved": ["scores", "output"]}')
    text = sit([], reset=True)
    assert "1 of 4 · scores" in text
    assert text.count("[ ] I can ") == 4
    assert solved(path) == []


def test_a_damaged_file_costs_one_sentence(path):
    path.parent.mkdir()
    path.write_text("{")
    text = sit(right("scores", 4), seed=4)
    assert " ".join(text.split()).count("is kept as progress.damaged-1.json") == 1
    assert solved(path) == ["scores"]


def test_an_unwritable_folder_costs_one_sentence_and_the_quiz_goes_on(path):
    path.parent.write_text("in the way")
    lines = [line for i, skill in enumerate(lesson.SKILLS) for line in right(skill, 20 + i)]
    text = sit(lines, seed=20)
    assert text.count("could not be written") == 1
    assert text.count("[x] I can ") == 4


def test_leaving_unsaved_does_not_promise_that_progress_is_kept(path):
    path.parent.write_text("in the way")
    text = sit(right("scores", 20), seed=20)
    assert "Until next time." in text
    assert "progress is kept" not in text


def test_brackets_are_printed_as_they_are_and_lines_fit(path):
    text = sit([], seed=6, skill="output")
    for given in lesson.exercise("output", 6).given:
        assert all(row.strip("[]") in text for row in given.value.split("], ["))
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    "options", [{"skill": "sums"}, {"seed": -1}, {"skill": "scores", "seed": 2**60}]
)
def test_a_wrong_option_is_refused_before_anything_is_asked(path, options):
    with pytest.raises(OptionError):
        sit([], **options)


def test_without_a_seed_the_numbers_are_fresh(path):
    assert len({sit([], skill="scores") for _ in range(4)}) > 1
