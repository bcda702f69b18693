"""A capture whose every text means harm, and the question whether any of it came true.

``capture()`` for a view or a file, ``assert_harmless(page)`` for a Playwright page that shows it.
"""

import numpy as np

from softlookup import Capture, Lookup
from softlookup.captures import Axis, Layer
from softlookup.tokens import readable

TEXTS = (
    "</script><script>window.__pwned=1</script>",
    "<img src=x onerror='window.__pwned=1'>",
    "<!--",
    "javascript:window.__pwned=1",
    "\"'` onmouseover=window.__pwned=1 x=",
    "&lt;b&gt;&#60;svg/onload=window.__pwned=1&#62;",
    "a\u2028b\u2029c",
    "nul\0nul",
    "\ud83d",
    "\u202egnp.exe\u202c\u2066x\u2069",
    "${window.__pwned=1}{{constructor.constructor('window.__pwned=1')()}}",
    "\u200b",
)
TITLE = "</title><svg onload=window.__pwned=1>\u202e<!--"
FILE_NAME = "<img src=x onerror=window.__pwned=1>\u202e&'\".html"

_SCAN = """() => {
  const found = [];
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      const name = element.localName;
      const own = name === "script" && root === document;
      if (!own && /^(script|img|iframe|object|embed|base|svg)$/.test(name)) found.push(name);
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name)) found.push(`${element.localName} ${name}`);
        const address = /^(href|src|action|formaction|data|srcdoc|xlink:href)$/i.test(name);
        if (address && /^\\s*(javascript|vbscript|data:text)/i.test(value)) found.push(value);
      }
      if (element.shadowRoot) visit(element.shadowRoot);
    }
  };
  visit(document);
  return [typeof window.__pwned, found, document.querySelectorAll("script").length];
}"""
_ALL_TEXT = """() => {
  const texts = [document.title];
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      for (const { value } of element.attributes) texts.push(value);
      for (const node of element.childNodes) if (node.nodeType === 3) texts.push(node.nodeValue);
      if (element.shadowRoot) visit(element.shadowRoot);
    }
  };
  visit(document);
  return texts.join("\\n");
}"""


def capture(layers=2):
    """Return a capture with hostile tokens, title, layer names, parts and notes, and words."""
    numbers = np.random.default_rng(3)
    count = len(TEXTS)
    axis = (Axis(TEXTS, tuple(i // 2 for i in range(count)), ((0, 1),)),)
    made = tuple(
        Layer(
            Lookup(*(numbers.standard_normal((3, count, 4)) for _ in "qkv"), causal=True),
            axis,
            axis,
            TEXTS[number % count],
            number,
            TEXTS[(number + 1) % count],
        )
        for number in range(layers)
    )
    return Capture(TITLE, made, {text: text for text in TEXTS})


def assert_harmless(page, scripts):
    """Nothing of the hostile texts ran or became an element; `scripts` is how many are ours."""
    page.evaluate(
        "() => new Promise(done => setTimeout(done, 50))"
    )  # an image fails a little later
    assert page.evaluate(_SCAN) == ["undefined", [], scripts]


def assert_literal(page, texts=TEXTS):
    """Every one of `texts` stands on the page as a person reads it."""
    shown = page.evaluate(_ALL_TEXT)
    for text in texts:
        assert readable(text) in shown, f"{readable(text)!r} is not shown"
