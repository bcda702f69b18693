"""Your turn: a box is ticked by an answer of one's own, never by a solution that was shown."""

import pytest
from lesson_page import right_answer

from softlookup.lesson import exercises

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AGAIN = "Right. Now with fresh numbers: then the box is ticked."
ACTIVE = "document.querySelector('[data-softlookup]').shadowRoot.activeElement.textContent"


def wrong_answer(skill, seed):
    asked = exercises.question(skill, seed)
    if hasattr(asked, "options"):
        return next(i for i in range(len(asked.options)) if asked.options[i] != asked.right)
    return ["123"] * len(asked.blanks)


def type_answer(page, answer):
    """Answer with the keyboard; the focus is on the exercise's first field or chosen option."""
    if isinstance(answer, int):
        page.press("Space", *["ArrowUp"] * 9)  # arrows go round: count from the first option
        options = page.page.locator("form input")
        values = [options.nth(i).is_checked() for i in range(options.count())]
        page.press(*["ArrowDown"] * ((answer - values.index(True)) % len(values)), "Enter")
        return
    for text in answer:
        page.press("Control+a")
        page.page.keyboard.type(text)
        page.press("Tab")
    page.press("Shift+Tab", "Enter")


@pytest.mark.parametrize("skill", exercises.SKILLS)
def test_the_solution_that_a_wrong_answer_reveals_ticks_nothing(open_page, skill):
    """By keyboard alone: wrong, copied, fresh numbers, right."""
    page = open_page()
    page.page.click(f".skill[data-arg={skill}]")
    page.page.wait_for_selector("form")
    page.press("x")
    type_answer(page, wrong_answer(skill, 1))
    page.page.wait_for_selector(".verdict.wrong")
    revealed = page.count(".right-step li") > 0
    page.press("Escape", "x")
    type_answer(page, right_answer(skill, 1))
    page.page.wait_for_selector(".verdict.right")
    assert page.count(".skill[data-done=true]") == (0 if revealed else 1)
    assert revealed
    assert page.text(".verdict p") == AGAIN
    assert page.page.evaluate(ACTIVE) == "Fresh numbers"
    page.press("Enter")
    page.page.wait_for_selector(".verdict", state="detached")
    assert page.focused()[0] == "input"
    type_answer(page, right_answer(skill, 2))
    page.page.wait_for_selector(f".skill[data-arg={skill}][data-done=true]")
    assert page.page.evaluate(ACTIVE) == "Next exercise"


@pytest.mark.parametrize("way", ["skill", "reload"])
def test_coming_back_brings_fresh_numbers(open_page, way):
    page = open_page()
    page.press("x")
    type_answer(page, wrong_answer("scores", 1))
    page.page.wait_for_selector(".right-step")
    if way == "skill":
        page.click(".skill[data-arg=softmax]")
        page.click(".skill[data-arg=scores]")
    else:
        page.page.reload()
        page.wait()
    page.page.wait_for_selector("form input")
    page.press("x")
    type_answer(page, right_answer("scores", 2))
    page.page.wait_for_selector(".skill[data-arg=scores][data-done=true]")


def test_what_is_no_number_is_named_without_the_programs_word(open_page):
    page = open_page(quiet=False)  # Chromium reports the 400 on the console
    page.press("x")
    type_answer(page, ["1", "abc"])
    page.page.wait_for_selector("form [role=alert]")
    said = page.text("form [role=alert]")
    assert "abc" in said
    assert "answer:" not in said
    assert said[0].isupper()


def test_the_weights_of_softmax_alone_are_an_answer(open_page):
    page = open_page()
    page.click(".skill[data-arg=softmax]")
    page.page.wait_for_selector("form input")
    for field, text in list(enumerate(right_answer("softmax", 1)))[4:]:
        page.page.fill(f"[data-field='{field}']", text)
    page.page.click("form .main")
    page.page.wait_for_selector(".skill[data-arg=softmax][data-done=true]")
    page.page.click("[data-act=another]")
    page.page.wait_for_selector(".verdict", state="detached")
    page.page.fill("[data-field='4']", "1")
    page.page.click("form .main")
    assert page.text("form [role=alert]") == "Type a number for “weight 2” too."
