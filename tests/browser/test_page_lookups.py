"""Lookups that a person brings: every option on screen, long rows, several heads, odd sizes."""

import numpy as np
import pytest

import softlookup as sl

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def drawn(*sizes, seed=5):
    numbers = np.random.default_rng(seed)
    return [numbers.standard_normal(size) for size in sizes]


def test_own_arrays_are_there_at_once(open_page):
    page = open_page(sl.Lookup(*drawn((4, 2), (4, 2), (4, 3))), tokens=["the", "cat", "sat", "."],
                     title="a sentence")  # fmt: skip
    assert page.steps() == ["score", "scaled", "exp", "weight", "reads"]
    assert page.text("header .title") == "a sentence"
    assert page.page.title() == "a sentence - softlookup"
    assert "?" not in page.text("table.grid")


def test_options_are_rows_and_columns_only_where_used(open_page):
    numbers = np.zeros((3, 3))
    numbers[2, 0] = 0.5
    look = sl.Lookup(*drawn((3, 2), (3, 2), (3, 2)), causal=True, softcap=4.0, bias=numbers,
                     sinks=np.array([0.75]), scale=0.3)  # fmt: skip
    page = open_page(look, tokens=list("abc"))
    assert page.steps() == [
        "score", "scaled", "capped", "biased", "may look", "exp", "weight", "reads",
    ]  # fmt: skip
    assert page.all("table.ledger thead th")[3] == "sink"
    assert page.row("weight")[1:3] == ["hidden", "hidden"]
    assert page.row("reads")[3] == "no value"
    assert page.count("table.ledger td.hatched") == 8
    assert page.count("table.grid td.hatched") == 3
    assert "× 0.3" in page.text("table.ledger")
    page.press("3", "r")
    record = look.trace([2]).record(0)
    assert page.exact("biased", 0) == [record["scores"][0]]
    assert page.exact("weight", 3) == [record["sink"]["weight"]]
    assert page.exact("shifted", 4) == [record["row_max"]]


def test_an_empty_row_says_so(open_page):
    look = sl.Lookup(*drawn((3, 2), (3, 2), (3, 2)), causal=True, q_offset=-1)
    page = open_page(look)
    assert "No visible keys" in page.text(".note")
    assert page.row("reads")[-1] == "[0.000, 0.000]"
    page.press("2")
    assert page.count(".note") == 0


def test_long_rows_list_the_largest_keys_and_sum_the_others(open_page):
    look = sl.Lookup(*drawn((2, 4, 40, 16), (2, 2, 300, 16), (2, 2, 300, 5)), causal=True,
                     q_offset=260)  # fmt: skip
    page = open_page(look, hash="v=steps")
    assert page.all("table.ledger thead th.rest") == ["the other 288 keys"]
    record = look.head(0, batch=(0,)).trace([0]).record(0, top=12)
    assert page.exact("exp", 12) == [record["rest"]["exp"]]
    assert page.exact("weight", 12) == [record["rest"]["weight"]]
    assert page.exact("reads", 13) == record["out"]
    assert page.page.locator("table.grid thead th").all_text_contents() == [
        str(key) for key in record["keys"]
    ]
    for name, value in (("query", 31), ("head", 3), ("batch", 1)):
        page.page.fill(f"input[data-change={name}]", str(value))
        page.press("Enter")
    record = look.head(3, batch=(1,)).trace([31]).record(0, top=12)
    assert page.exact("reads", 13) == record["out"]
    picked = page.page.locator("table.grid tr.picked td").all_text_contents()
    shown = [float(text.replace("−", "-")) for text in picked]
    assert shown == pytest.approx(record["weights"], rel=0.05, abs=0.0005)
    assert page.hash()["h"] == "3"
    assert page.hash()["b"] == "1"
    page.page.fill("input[data-change=head]", "9")
    page.press("Enter")
    assert "0 … 3" in page.text(".notice")
    page.press("Escape", "s")
    assert "12 tokens" in page.text(".notice")


def test_a_lookup_without_values_ends_with_its_weights(open_page):
    page = open_page(sl.Lookup(*drawn((3, 2), (3, 2))))
    assert page.steps()[-1] == "weight"
    assert page.count("button[data-act=edit]") == 0
    assert "no value" in page.text("section.tokens-part")


@pytest.mark.parametrize(
    "sizes",
    [((3, 0), (3, 0), (3, 2)), ((3, 2), (0, 2), (0, 2)), ((3, 2), (3, 2), (3, 0)),
     ((0, 2), (3, 2), (3, 2)), ((1, 2), (1, 2), (1, 1)), ((2, 64), (2, 64), (2, 64))],
)  # fmt: skip
def test_odd_sizes_are_drawn(open_page, sizes):
    page = open_page(sl.Lookup(*drawn(*sizes)))
    assert page.text("header .mark") == "softlookup"
    if sizes[0][0]:
        page.press("r", "ArrowDown", "ArrowRight", "Backspace", "a", "m")
        assert page.count("table.ledger") == 1


def test_numbers_that_are_not_finite(open_page):
    query, key, value = drawn((3, 2), (3, 2), (3, 2))
    query[1, 0] = np.nan
    value[2, 1] = np.inf
    page = open_page(sl.Lookup(query, key, value))
    assert page.row("reads")[-1].endswith("∞]")
    page.press("2")
    assert page.row("weight") == ["NaN"] * 4
    assert "whole row is NaN" in page.text(".note")


def test_the_ramp_of_a_window_ends_at_the_largest_weight_shown(open_page):
    look = sl.Lookup(*drawn((300, 4), (300, 4), (300, 2)))
    page = open_page(look)
    cells = page.page.locator("table.grid td.filled")
    weights = [float(text.replace("−", "-")) for text in cells.locator("span").all_text_contents()]
    shares = cells.evaluate_all("all => all.map(c => Number(c.style.getPropertyValue('--w')))")
    assert max(weights) < 0.2
    assert max(shares) == 1
    assert page.all(".legend > span")[-1] == f"{max(weights):.3f}"
    largest = shares.index(1)
    assert weights[largest] == max(weights)
    assert cells.nth(largest).get_attribute("title").endswith(f"{max(weights):.3f}")
    few = open_page(sl.Lookup(*drawn((3, 2), (3, 2), (3, 2))))
    assert few.all(".legend > span")[-1] == "1"


def test_scores_are_whole_only_where_all_of_a_row_are(open_page):
    look = sl.Lookup([[1.0, 0.5]], [[1.0, 0.0], [1.0, 1.0]], [[1.0], [2.0]])
    assert open_page(look).row("score") == ["1.000", "1.500", ""]
