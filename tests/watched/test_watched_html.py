"""What a notebook shows: a table without a script, every text escaped, readable in both schemes."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from feeding import drawn, feed, watched

from captured import HOSTILE
from softlookup.captures import Axis
from softlookup.tokens import listed
from softlookup.watched import Watched

ATTACKS = (
    "<img src=x onerror=alert(1)>",
    "</td></table><script>x()</script>",
    '" onload="x',
    "&lt;",
)


class Found(HTMLParser):
    """What stands in a page: its elements, their attributes, the texts of its cells."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.attributes, self.open, self.texts = set(), set(), [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)
        if tag in ("td", "th"):
            self.texts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "every element is closed in its order"

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.texts[-1] += data


def one_text(texts, title="a model"):
    """Return a Watched of one text with those tokens, each head reading another one most."""
    made = Watched({}, title=title, read=lambda ids, seen: Axis(tuple(texts[i] for i in ids)))
    whole = drawn(batch=1, q_len=len(texts), kv_heads=len(texts), group=1)
    for head, array in enumerate(whole.arrays[1][0]):
        array[:] = 0
        array[head] = 9 * whole.arrays[0][0, head].mean(axis=0)
    return feed(made, whole._replace(group=1), ids=np.arange(len(texts))[None])


@pytest.mark.parametrize("texts", [HOSTILE, ATTACKS], ids=["hostile", "attacks"])
def test_tokens_and_titles_are_texts_and_nothing_else(texts):
    seen = one_text(texts, title=ATTACKS[1])
    for page in (seen._repr_html_(), seen.rank_tokens()._repr_html_()):
        found = Found(page)
        assert found.open == []
        assert found.elements == {"div", "table", "thead", "tbody", "tr", "th", "td"}
        assert found.attributes == {"style", "scope", "title"}
    shown = {text for text in texts if text}
    expected = {repr(listed(t)) if t.strip() != t else listed(t) for t in shown}
    assert expected <= set(found.texts), "each is read as it is printed"


def test_every_head_is_a_line_with_its_numbers():
    seen = one_text([f"w{i}" for i in range(7)])
    found = Found(seen._repr_html_()).texts
    assert found[:8] == ["layer", "head", "entropy", "first", "previous", "key", "token", "share"]
    for record, line in zip(seen.summary(), np.reshape(found[8:], (7, 8)), strict=True):
        assert line[1] == str(record.head)
        assert line[2] == f"{record.entropy:.3f}"
        assert line[6] == record.token


def test_a_bar_is_as_long_as_its_share():
    seen = one_text([f"w{i}" for i in range(3)])
    for record in seen.summary():
        assert f"rgba(90,130,255,.35) {100 * record.share:.1f}%" in seen._repr_html_()


def test_colours_are_the_pages_own():
    """A notebook may be dark or light: text inherits, what is painted is translucent."""
    page = one_text(["a", "b"])._repr_html_()
    assert "color:inherit" in page
    assert "#" not in page
    for part in page.split("rgba(")[1:]:
        assert float(part.partition(")")[0].split(",")[3]) <= 0.35


def test_a_very_long_table_is_cut():
    seen = watched()
    for number in range(100):
        feed(seen, drawn(causal=True, q_len=2, batch=1), number=number)
    page = seen._repr_html_()
    assert page.count("<tr>") == 501
    assert "</table></div><div>and 100 more</div>" in page


def test_nothing_seen_is_a_sentence():
    assert (
        Watched({}, title="<b>")._repr_html_() == "<div>&lt;b&gt;: 0 runs, 0 layers: nothing</div>"
    )


def test_every_column_says_what_it_is():
    """On hover, and under the table for those who cannot."""
    seen = one_text(["a", "b"])
    for listing in (seen.summary(), seen.rank_heads("a"), seen.rank_heads(reads=0)):
        page = listing._repr_html_()
        names = [name for name in listing[0]._fields if name not in ("part", "layer", "head")]
        for name in set(names) & set(listing._telling()):
            told = re.search(f'title="([^"]+)">{name}</th>', page)[1]
            assert f"{name}: {told}" in page.partition("</table>")[2]
    assert listing[:1]._repr_html_().count("title=") == page.count("title=") == 1
