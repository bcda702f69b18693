"""Changing numbers, names, tokens and dimensions; wrong input gets a sentence, nothing is lost."""

import numpy as np
import pytest

import softlookup as sl

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_number_is_changed_in_place_and_everything_follows(open_page):
    page = open_page()
    page.press("a")
    page.change("key", 1, 0, "2")
    assert page.row("score") == ["1", "2", "1", ""]
    assert page.grid()[0] == page.row("weight")[:3]
    assert page.focused() == ["button", "key:1:0"]
    assert "These numbers are changed" in page.text(".say")
    page.press("u")
    assert page.row("score") == ["1", "0", "1", ""]
    assert page.count("button[data-act=reset]") == 0


def test_numbers_by_keyboard_alone(open_page):
    page = open_page()
    page.press("a", "e")
    assert page.focused() == ["button", "query:0:0"]
    page.press("ArrowRight", "ArrowRight", "ArrowDown", "Enter")
    page.page.keyboard.type("-1/4")
    page.press("Enter")
    assert page.focused() == ["button", "key:1:0"]
    assert page.edited()["key"] == [[1, 0], [-0.25, 1], [1, 1]]
    page.press("Enter")
    page.page.keyboard.type("7")
    page.press("Escape")
    assert page.edited()["key"][1] == [-0.25, 1]
    page.press("Escape")
    assert page.focused()[0] == "td"


@pytest.mark.parametrize("text", ["abc", "1,5", "", "1e999", "<b>"])
def test_wrong_input_gets_one_sentence_and_stays(open_page, text):
    page = open_page()
    page.press("a", "e", "Enter", "Backspace")
    page.page.keyboard.type(text)
    page.press("Enter")
    assert page.text(".trouble").endswith(".")
    assert page.page.locator("input.edit").input_value() == text
    assert page.row("exp")[-1] == "5.056"
    page.click("#grid-title")
    assert page.page.locator("input.edit").input_value() == text
    page.page.locator("input.edit").fill("3")
    page.press("Enter")
    assert page.count(".trouble") == 0
    assert page.row("score")[0] == "3"


def test_leaving_a_number_takes_it(open_page):
    page = open_page()
    page.press("a", "e", "Enter")
    page.page.keyboard.type("5")
    page.click("#grid-title")
    page.page.wait_for_selector("input.edit", state="detached")
    assert page.row("score")[0] == "5"


def test_tokens_come_and_go_and_are_renamed(open_page):
    page = open_page()
    page.press(*["Space"] * 17)
    page.click("button[data-act=add]")
    assert page.all("table.tokens tbody th") == ["1", "2", "3", "4"]
    assert page.grid()[3] == ["?"] * 4
    assert page.row("score") == ["1", "1", "2", "0", ""]
    page.press("n")
    page.page.keyboard.type("cat")
    page.press("Enter")
    assert page.all("table.grid thead th") == ["1", "2", "3", "cat"]
    page.press("1", "e")
    page.click("button[data-act=remove]")
    assert page.all("table.tokens tbody th") == ["2", "3", "cat"]
    assert page.count("table.ledger thead .chip") == 3
    for _ in range(2):
        page.click("button[data-act=remove]")
    page.click("button[data-act=remove]")
    assert "only one" in page.text(".trouble")


def test_dimensions_come_and_go(open_page):
    page = open_page()
    page.press("a")
    page.click("button[data-arg='head_dim:+']")
    assert "√3" in page.text("table.ledger")
    assert page.edited()["query"][0] == [1, 0, 0]
    page.click("button[data-arg='value_dim:-']")
    assert page.row("reads")[-1] == "[0.781]"
    page.click("button[data-arg='value_dim:-']")
    assert "one dimension" in page.text(".trouble")
    for _ in range(5):
        page.click("button[data-arg='head_dim:+']")
    page.click("button[data-arg='head_dim:+']")
    assert "At most 8" in page.text(".trouble")


def test_no_more_tokens_than_can_be_followed(open_page):
    page = open_page()
    for _ in range(10):
        page.click("button[data-act=add]")
    assert "At most 12 tokens" in page.text(".trouble")
    assert page.count("table.tokens tbody tr") == 12


def test_queries_and_keys_that_are_not_the_same_tokens(open_page):
    numbers = np.random.default_rng(3)
    look = sl.Lookup(*[numbers.integers(-2, 3, size) for size in ((2, 3), (5, 3), (5, 1))])
    page = open_page(look, tokens=["why", "who"], key_tokens=list("abcde"))
    assert page.count("table.tokens") == 2
    assert page.all("table.grid tbody th") == ["why", "who"]
    page.click("button[data-act=add][data-arg=key]")
    assert page.all("table.grid thead th") == ["a", "b", "c", "d", "e", "6"]
    assert page.all("table.grid tbody th") == ["why", "who"]
    page.click("button[data-act=add][data-arg=query]")
    assert page.all("table.grid tbody th") == ["why", "who", "3"]
    page.press("e", "ArrowDown")
    assert page.focused() == ["button", "key:0:0"]
    page.press("ArrowUp")
    assert page.focused() == ["button", "query:2:0"]


def test_wide_vectors_stand_below_one_another_and_arrows_follow_them(open_page):
    numbers = np.random.default_rng(4)
    look = sl.Lookup(*[np.round(numbers.standard_normal((3, 3)), 2) for _ in range(3)])
    page = open_page(look)
    assert page.count("table.tokens.stacked") == 1
    assert page.all("table.tokens th.side") == ["query", "key", "value"] * 3
    page.press("e", "ArrowDown")
    assert page.focused() == ["button", "key:0:0"]
    page.press("ArrowDown", "ArrowDown", "End")
    assert page.focused() == ["button", "query:1:2"]
    page.press("ArrowUp")
    assert page.focused() == ["button", "value:0:2"]


def test_the_address_brings_everything_back(open_page):
    page = open_page()
    page.press("a", "2", "r", "s", "ArrowDown", "]")
    page.change("query", 1, 1, "0.125")
    page.press("n")
    page.page.keyboard.type("</script>")
    page.press("Enter", "1")
    before = page.text("main")
    address = page.page.url
    assert "t=" not in address.replace("at=", "")
    again = open_page(hash=address.partition("#")[2])
    assert again.text("main") == before
    assert again.edited() == page.edited()


def test_a_link_that_is_too_small_says_so(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    for _ in range(9):
        page.click("button[data-act=add]")
    for _ in range(6):
        page.click("button[data-arg='value_dim:+']")
        page.click("button[data-arg='head_dim:+']")
    for row in range(12):
        page.change("key", row, 0, "-1/3")
    for row in range(12):
        page.click(f"button[data-arg='value:{row}:0']")
        page.press("Escape", "n")
        page.page.keyboard.insert_text("long " * 39)
        page.press("Enter")
    page.press("Escape", "l")
    page.page.wait_for_selector(".notice:not(:empty)")
    assert "too many for a link" in page.text(".notice")
    assert "n" not in page.hash()


def test_an_address_that_is_typed_while_the_page_is_open(open_page):
    page = open_page()
    page.page.evaluate("location.hash = '#q=2&step=weight&at=exp.1&read=shifted&in=2'")
    page.page.wait_for_selector("table.ledger tr[data-key=shifted]")
    assert page.text("#ledger-title").startswith("What token 3 reads")
    assert page.steps()[-1] == "weight"
