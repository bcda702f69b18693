"""The lesson on screen: its numbers, its steps, its exercises, by keyboard."""

import json

import numpy as np
import pytest
from lesson_page import right_answer, spoken

import softlookup as sl
from softlookup.lesson import exercises

pytestmark = pytest.mark.browser


def test_first_screen_invites_and_gives_nothing_away(open_page):
    page = open_page()
    assert page.steps() == []
    assert "0.401" not in page.text("main")
    assert page.all(".steps .main") == ["Next: score"]
    assert page.grid() == [["?"] * 3] * 3
    assert page.text("header .title") == "Lesson"
    assert page.page.title() == "Lesson - softlookup"
    assert page.text("#ledger-title") == "What token 1 reads, step by step"


def test_space_unfolds_one_step_at_a_time_and_backspace_folds_it(open_page):
    page = open_page()
    for count, name in enumerate(["score", "scaled", "exp", "weight", "reads"], start=1):
        page.press("Space")
        assert len(page.steps()) == count
        assert page.steps()[-1] == name
        assert page.count("table.ledger tr[data-key] td.at") == 1
        assert page.text("table.ledger tr:has(td.at) th b") == name
    page.press("Backspace", "Shift+Space")
    assert page.steps() == ["score", "scaled", "exp"]
    page.press("a")
    assert page.steps()[-1] == "reads"


def test_the_worked_example(open_page):
    page = open_page()
    page.press(*["Space"] * 5)
    assert page.row("score") == ["1", "0", "1", ""]
    assert page.row("scaled") == ["0.707", "0.000", "0.707", ""]
    assert page.row("exp") == ["2.028", "1.000", "2.028", "5.056"]
    assert page.row("weight") == ["0.401", "0.198", "0.401", "1.000"]
    assert page.row("reads")[-1] == "[0.802, 0.599]"
    assert page.grid()[0] == ["0.401", "0.198", "0.401"]
    page.press("2", "a")
    assert page.row("reads")[-1] == "[0.599, 0.802]"


def test_the_exact_numbers_are_those_of_trace(open_page):
    page = open_page()
    page.press("a")
    record = sl.Lookup(*[np.array([[1.0, 0], [0, 1], [1, 1]])] * 3).trace().record(0)
    for step, name in (("score", "products"), ("scaled", "scaled"), ("exp", "exp"),
                       ("weight", "weights")):  # fmt: skip
        assert [page.exact(step, j)[0] for j in range(3)] == record[name]
    assert page.exact("exp", 3) == [record["exp_sum"]]
    assert page.exact("reads", 3) == record["out"]


def test_the_cell_under_the_cursor_writes_its_arithmetic_and_lights_its_terms(open_page):
    page = open_page()
    page.press("a", "Home", "ArrowUp", "ArrowUp")
    assert page.text("section.ledger-part .formula") == "exp(0.707) = 2.028"
    lit = "table.ledger td.lit"
    assert page.page.locator(lit).evaluate_all("cells => cells.map(c => c.dataset.arg)") == [
        "scaled:0"
    ]
    page.press("ArrowUp", "ArrowUp", "ArrowRight")
    assert page.text("section.ledger-part .formula") == "1·0 + 0·1 = 0"
    assert page.all("table.tokens td.lit") == ["[1, 0]", "[0, 1]"]
    page.press("End", "ArrowDown", "ArrowDown", "ArrowDown")
    assert page.text("section.ledger-part .formula") == "0.401 + 0.198 + 0.401 = 1.000"
    assert page.count(lit) == 3
    page.press("ArrowLeft", "ArrowDown")
    assert page.count("table.grid td.lit") == 1


def test_all_rows_in_are_the_layer(open_page):
    page = open_page()
    page.press(*["Space"] * 17)
    assert page.grid()[2] == ["0.248", "0.248", "0.503"]
    assert "All rows are in" in page.text("section.grid-part")
    page.press("Space")
    layer = page.text("section.layer-part")
    assert "Q · Kᵀ = scores" in layer
    assert "the keys stand as columns" in layer
    assert page.all("table[aria-label=scores] td[data-act]") == list("101011112")
    assert page.all("table[aria-label='Kᵀ'] td") == list("101011")
    outputs = page.all("table[aria-label=outputs] td")
    assert outputs == ["0.802", "0.599", "0.599", "0.802", "0.752", "0.752"]
    page.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight")
    assert page.text("section.layer-part .formula") == "query 3 · key 3 = 1·1 + 1·1 = 2"
    assert page.count("section.layer-part td.lit") == 4


def test_textbook_and_shifted_have_the_same_weights(open_page):
    page = open_page()
    page.press("a")
    weights = page.row("weight")
    page.press("r")
    assert page.row("shifted") == ["0.000", "−0.707", "0.000", "0.707"]
    assert page.row("shifted exp") == ["1.000", "0.493", "1.000", "2.493"]
    assert page.row("weight") == weights


def test_a_learner_reaches_four_ticked_boxes_by_keyboard_alone(open_page):
    page = open_page()
    page.press(*["Space"] * 18, "x")
    for skill in exercises.SKILLS:
        assert page.count(".skill[data-done=true]") == exercises.SKILLS.index(skill)
        answer = right_answer(skill, 1)
        if isinstance(answer, int):
            page.press("Space", *["ArrowDown"] * answer)
        else:
            for text in answer:
                page.page.keyboard.type(text)
                page.press("Tab")
            page.press("Shift+Tab")
        page.press("Enter")
        page.page.wait_for_selector(f".skill[data-arg={skill}][data-done=true]")
        if skill != exercises.SKILLS[-1]:
            page.press("Enter")  # on "Next exercise"
    assert page.count(".skill[data-done=true]") == 4
    assert "All four are solved" in page.text("section.turn-part")
    page.page.reload()
    page.wait()
    assert page.count(".skill[data-done=true]") == 4


def test_a_wrong_answer_is_diagnosed_and_stays(open_page):
    page = open_page()
    asked = exercises.question("scores", 1)
    assert not page.page.locator("details").get_attribute("open")
    page.page.click("summary")
    slip = next(slip for slip in asked.slips if slip.name == "forgot_scale")
    typed = [f"{float(slip.values[i]):g}" for i in range(len(asked.blanks))]
    page.press("x")
    for text in typed:
        page.page.keyboard.type(text)
        page.press("Tab")
    page.page.click("form button[type=submit]")
    page.page.wait_for_selector(".verdict.wrong")
    verdict = exercises.check("scores", 1, typed)
    assert spoken(verdict.explanation) in page.page.text_content(".verdict")
    assert page.all(".right-step li") == [spoken(line) for line in verdict.steps]
    fields = page.page.locator("form input")
    assert [fields.nth(i).input_value() for i in range(len(typed))] == typed
    assert page.count("form input[aria-invalid]") == verdict.fields.count(False)
    assert page.count("details[open]") == 1  # typing and checking close nothing
    page.press("Escape", "y")
    assert spoken(exercises.exercise("scores", 2).given[0].value) in page.text("form")
    assert page.count(".verdict") == 0


@pytest.mark.parametrize("text", ["", "abc"])
def test_an_answer_that_is_no_number_gets_a_sentence(open_page, text):
    page = open_page(quiet=False)  # Chromium reports the 400 on the console
    page.press("x")
    fields = page.page.locator("form input")
    for i in range(fields.count()):
        fields.nth(i).fill(text)
    page.press("Enter")
    page.page.wait_for_selector("form [role=alert]")
    assert page.count(".offline") == 0
    assert fields.first.input_value() == text


def test_the_lesson_in_words(open_page):
    page = open_page()
    sections = sl.lesson.sections()
    titles = [section.title.replace("d_k", "dk") for section in sections]
    assert page.all(".contents-part li") == titles
    for number, section in enumerate(sections):
        assert page.text("#article-title") == titles[number]
        shown = page.page.text_content("article")
        for paragraph in section.paragraphs:
            assert paragraph.replace("d_k", "dk") in shown
        assert page.count("article caption") == len(section.tables)
        if number + 1 < len(sections):
            page.press("]")
    page.press("[")
    assert page.text("#article-title") == titles[-2]
    assert "-" not in "".join(page.all("article table td"))
    recap = [text.replace("d_k", "dk") for text in sl.lesson.recap()]
    assert page.page.locator(".recap li").all_text_contents() == recap


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_section_that_is_chosen_comes_into_sight(open_page, motion):
    page = open_page(reduced_motion=motion, size=(1280, 640))
    assert page.page.evaluate("scrollY") == 0
    page.click(".contents-part button[data-arg='3']")
    top = (
        "document.querySelector('[data-softlookup]').shadowRoot"
        ".querySelector('#article-title').getBoundingClientRect().top"
    )
    page.until(lambda: 0 <= page.page.evaluate(top) < 60)
    assert page.page.evaluate("scrollY") > 200
    again = open_page(hash="s=3", size=(1280, 640))
    assert again.text("#article-title") == page.text("#article-title")
    assert again.page.evaluate("scrollY") == 0


def test_the_cursor_waits_at_the_step_that_space_fills(open_page):
    page = open_page()
    page.press(*["Space"] * 6)
    assert page.text("#ledger-title").startswith("What token 2 reads")
    assert page.text("table.ledger tr:has(td.at) th b") == "score"
    assert page.text("output.readout") == "score: not worked out yet. Guess it, then press Space."
    page.press("Space", "Space", "ArrowUp")
    page.change("key", 1, 0, "2")
    page.press("u")
    assert page.text("table.ledger tr:has(td.at) th b") == "exp"
    assert "not worked out yet" in page.text("output.readout")


def test_copy_as_text(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.press("a", "c")
    page.page.wait_for_selector(".notice:not(:empty)")
    text = page.page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("token 1 asks with query [1, 0]\n")
    assert "exp     2.028           1.000           2.028           sum 5.056" in text
    assert "value   [1, 0]          [0, 1]          [1, 1]" in text
    assert "check: 0.401 + 0.198 + 0.401 = 1.000" in text
    page.press("l")
    link = page.page.evaluate("navigator.clipboard.readText()")
    assert link == page.page.url
    assert "t=" not in link.replace("at=", "")


def test_where_the_clipboard_refuses_the_text_is_shown(open_page):
    page = open_page()
    page.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', "
        "{value: {writeText: () => Promise.reject(new Error('no'))}})"
    )
    page.press("a", "c")
    area = page.page.locator("dialog.copy textarea")
    assert "5.056" in area.input_value()
    page.press("Escape")
    assert not area.is_visible()


def test_help_lists_the_keys_and_closes(open_page):
    page = open_page()
    page.press("?")
    assert page.count("dialog.help[open]") == 1
    assert page.count("dialog.help tr") > 12
    page.press("s", "2")  # keys belong to the dialog while it is open
    page.press("Escape")
    assert page.count("dialog.help[open]") == 0
    assert page.text(".switch") == "scale on"


def test_progress_in_storage_may_be_anything(open_page):
    page = open_page()
    half = {"solved": [1, "<b>", "scores"], "seeds": {"scores": -1, "output": "x"}}
    for kept in ("{", "[]", "null", json.dumps(half)):
        page.page.evaluate("kept => localStorage.setItem('softlookup-progress', kept)", kept)
        page.page.reload()
        page.wait()
    assert page.count(".skill[data-done=true]") == 1
