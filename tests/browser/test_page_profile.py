"""The extremes beside a map: which keys receive most, which queries spread their weight, picked."""

import numpy as np
import pytest

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LENGTH = 1100
FIRST = ".extremes details:nth-of-type(1)"
TAKEN, SHARP = 77, 1003  # a key that everyone reads, a query that reads one key


def long(seed=3):
    """Return a capture of one long head, with extremes at known places."""
    numbers = np.random.default_rng(seed).standard_normal((2, LENGTH, 8)).astype(np.float32)
    query, key = numbers
    query[:, 0], key[:, 0] = 4, 0
    key[TAKEN] = 0
    key[TAKEN, 0] = 6
    query[SHARP] = 40 * key[5]
    axis = (Axis(tuple(f"t{i}" for i in range(LENGTH))),)
    return Capture("long", (Layer(sl.Lookup(query[None], key[None], causal=True), axis, axis),))


@pytest.fixture
def page(open_page):
    opened = open_page(long(), hash="v=map&L=0&h=0", size=(1280, 1000))
    opened.page.wait_for_selector(FIRST)
    return opened


def lines(page, number):
    """Return a list as (position, exact number)."""
    rows = page.page.locator(f".extremes details:nth-of-type({number}) tbody tr")
    return rows.evaluate_all(
        "all => all.map(row => [Number(row.dataset.key), Number(row.lastElementChild.title)])"
    )


def test_the_lists_are_those_of_inspect(page):
    (layer,) = long().layers
    facts = layer.head().inspect(entropy=True, received=True)
    each = facts.received / np.arange(LENGTH, 0, -1)  # a key is seen by the queries from it on
    keys = np.argsort(-each[:-11])[:12]  # twelve or more of them
    assert keys[0] == TAKEN
    assert [key for key, _ in lines(page, 1)] == keys.tolist()
    assert dict(lines(page, 1))[TAKEN] == pytest.approx(each[TAKEN], rel=1e-5)
    spread = facts.entropy[1:] / np.log(np.arange(2, LENGTH + 1))  # the first has no choice
    lowest, highest = np.argsort(spread)[:12] + 1, np.argsort(-spread)[:12] + 1
    assert lowest[0] == SHARP
    assert lines(page, 2)[0][0] == SHARP
    assert {query for query, _ in lines(page, 2)} == set(lowest.tolist())
    numbers = [number for _, number in lines(page, 3)]
    assert numbers == pytest.approx(facts.entropy[highest], rel=1e-5)


def test_a_click_picks_a_key_or_a_query_and_the_map_moves_to_it(page):
    page.page.click(f"{FIRST} tbody tr:first-child button")
    page.wait()
    assert page.hash()["k"] == str(TAKEN)
    assert "z" not in page.hash()  # the whole is in view: nothing has to move
    page.page.wait_for_selector("#map-by")
    page.page.evaluate("location.hash = 'v=map&L=0&h=0&x=100&y=100&z=-3'")
    page.page.wait_for_selector("[data-softlookup][data-map=settled]", state="attached")
    page.page.click(".extremes details:nth-of-type(2) summary")
    page.page.click(".extremes details:nth-of-type(2) tbody tr:first-child button")
    page.page.wait_for_function(
        "(at) => Math.abs(Number(new URLSearchParams(location.hash.slice(1)).get('y')) - at) < 1",
        arg=SHARP,
    )
    assert page.hash()["q"] == str(SHARP)
    assert (page.hash()["x"], page.hash()["z"]) == ("100", "-3")


def test_a_clicked_line_stays_under_the_pointer(page):
    line = page.page.locator(f"{FIRST} tbody tr:nth-child(3) button")
    before = line.bounding_box()["y"]
    line.click()
    page.page.wait_for_selector("#map-by + table")  # a list, put above
    page.wait()
    # at the top of the page a list that is first shorter leaves no room to scroll
    assert line.bounding_box()["y"] == pytest.approx(before, abs=20)
    assert "see the key" in page.text(f"{FIRST} .means")


def test_a_list_stays_as_it_was_opened_and_is_walked_by_keys(page):
    page.page.focus(f"{FIRST} summary")
    assert page.page.locator(FIRST).evaluate("list => list.open")
    page.page.focus(f"{FIRST} tbody button")
    page.press("ArrowDown", "ArrowDown", "Enter")
    assert page.hash()["k"] == str(lines(page, 1)[2][0])
    page.page.click(f"{FIRST} summary")
    page.page.click(".extremes details:nth-of-type(3) summary")
    page.page.click(".extremes details:nth-of-type(3) tbody button")
    page.wait()
    opened = page.page.locator(".extremes details").evaluate_all("all => all.map(one => one.open)")
    assert opened == [False, False, True]
