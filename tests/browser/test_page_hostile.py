"""Texts, addresses and hosts that mean harm, or that are gone."""

import json
from pathlib import Path

import numpy as np
import pytest

import softlookup as sl
from softlookup.tokens import readable

pytestmark = pytest.mark.browser

READABLE = json.loads((Path(__file__).parent / "readable_cases.json").read_text("utf-8"))
SCRIPT = "<img src=x onerror='window.pwned=1'>"
TOKENS = [
    "</script><script>window.pwned=1</script>", SCRIPT, "<!--", "a\u2028b", "nul\0nul", "\ud83d",
    "\u202eabc\u202c", "\u05d0\u05d1", "&lt;b&gt;", "\"'`${1}", "", "javascript:window.pwned=1",
]  # fmt: skip
NOTHING_RAN = """() => {
  const shadow = document.querySelector("[data-softlookup]").shadowRoot;
  return [typeof window.pwned, shadow.querySelectorAll("img, script, iframe, a, object").length];
}"""


def identity(n):
    return np.eye(n)


def test_hostile_tokens_and_titles_stay_text(open_page):
    page = open_page(sl.Lookup(*[identity(12)[:, :4]] * 3), tokens=TOKENS, title=SCRIPT)
    titles = page.page.locator("table.tokens .chip").evaluate_all("all => all.map(c => c.title)")
    assert titles == [readable(token) for token in TOKENS]
    assert page.text("header .title") == SCRIPT
    page.press("m", "?")
    assert page.page.evaluate(NOTHING_RAN) == ["undefined", 0]


@pytest.mark.parametrize("name", [SCRIPT, "</script>", "a\u202eb\u2028c\u200b"])
def test_a_hostile_name_that_is_typed_stays_text(open_page, name):
    page = open_page()
    page.press("e", "n")
    page.page.keyboard.insert_text(name)
    page.press("Enter")
    kept = name.replace("\u2028", "")  # a field of one line drops line separators, or keeps them
    titles = page.page.locator("table.tokens .chip").evaluate_all("all => all.map(c => c.title)")
    assert titles[0] in (readable(name), readable(kept))
    assert page.page.evaluate(NOTHING_RAN) == ["undefined", 0]


def test_tokens_are_shown_as_python_shows_them():
    for token, shown in READABLE:
        assert readable(token) == shown


def test_hostile_addresses_change_nothing(open_page):
    page = open_page()
    before = page.text("main")
    hashes = [
        "q=99&h=1e9&b=-1&step=__proto__&at=constructor.1&in=1e3.x&s=-2",
        "n=%7B%22tokens%22%3A%5B%22" + SCRIPT + "%22%5D%7D",
        "n=" + "[" * 5000,
        "n=null&read=<script>&scale=maybe&all=2",
        "%00%ff%E0%A4%A&=&&&==",
        "__proto__[x]=1&constructor=1&toString=1",
    ]
    for hostile in hashes:
        page.page.goto("about:blank")
        page.open(hostile)
        assert page.text("main") == before, hostile
    assert page.page.evaluate(NOTHING_RAN) == ["undefined", 0]


def test_trusted_types_refuse_markup(open_page):
    page = open_page(quiet=False)
    for line in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.querySelector('[data-softlookup]').shadowRoot.firstChild.innerHTML = '<b>x</b>'",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
        "document.body.setAttribute('onclick', 'x()')",
        "document.createElement('script').src = '/app.js'",
    ):
        refused = page.page.evaluate(
            f"() => {{ try {{ {line}; return false; }} catch (e) {{ return true; }} }}"
        )
        assert refused, line


def test_the_token_is_kept_for_this_tab_only_and_leaves_the_address(open_page):
    page = open_page()
    token = page.view.url.partition("#t=")[2]
    assert token not in page.page.url
    assert page.page.evaluate("sessionStorage.getItem('softlookup-token')") == token
    assert token not in page.page.evaluate("JSON.stringify({...localStorage})")
    assert page.page.evaluate("document.cookie") == ""
    page.page.reload()
    page.wait()


def test_without_the_token_there_is_one_sentence(open_page, chromium):
    view = open_page().view
    context = chromium.new_context()
    other = context.new_page()
    other.goto(f"http://127.0.0.1:{view.port}/")
    other.wait_for_selector("[data-softlookup][data-state=refused]", state="attached")
    words = other.inner_text("[role=alert]")
    context.close()
    assert words == "This page needs its key: open the link that the terminal printed."


def test_a_server_that_is_gone_loses_nothing(open_page):
    page = open_page(quiet=False)
    page.press("a")
    page.change("query", 0, 0, "2")
    page.press("x")
    fields = page.page.locator("form input")
    for i in range(fields.count()):
        fields.nth(i).fill("12.5")
    page.view.close()
    page.press("Enter")
    page.page.wait_for_selector(".offline")
    assert "Start it again" in page.text(".offline")
    assert fields.first.input_value() == "12.5"
    page.press("Escape")
    page.change("query", 0, 1, "3")
    assert page.row("score")[0] == "2"
    assert page.row("score")[1] == "3"


def test_the_right_link_in_a_tab_that_was_refused(open_page):
    page = open_page(quiet=False)
    link = page.view.url
    page.page.goto("about:blank")
    page.page.goto(page.origin + "/")
    page.wait()  # the tab still knows the token
    page.page.evaluate("sessionStorage.clear()")
    page.page.reload()
    page.wait("refused")
    page.page.goto(link)
    page.wait()
    assert page.text("header .mark") == "softlookup"


def test_a_viewer_that_was_started_again(open_page):
    """A new link in the same tab changes only the fragment: the place and what is typed stay."""
    page = open_page(quiet=False)
    page.press("a", "2", "x")
    page.page.locator("form input").first.fill("1.5")
    page.page.evaluate("sessionStorage.setItem('softlookup-token', 'old')")
    page.page.locator("form input").nth(1).fill("2.5")
    page.press("Enter")
    page.page.wait_for_selector(".offline")
    assert "open the link" in page.text(".offline")
    page.page.goto(page.view.url)
    page.page.wait_for_selector(".offline", state="detached")
    assert page.page.locator("form input").first.input_value() == "1.5"
    assert page.hash()["q"] == "1"
    page.click("form button[type=submit]")
    page.page.wait_for_selector(".verdict")
