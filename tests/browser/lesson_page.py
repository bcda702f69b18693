"""The page as a person meets it: keys, what stands where, what was said on the console."""

import json
import re
import time
from urllib.parse import parse_qs, urlsplit

from patience import PATIENCE
from softlookup.lesson import exercises

ROOT = "[data-softlookup]"


class LessonPage:
    def __init__(self, page, view):
        self.page = page
        self.view = view
        self.origin = f"http://127.0.0.1:{view.port}"
        self.errors = []
        self.foreign = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._asked)

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _asked(self, request):
        if not request.url.startswith((self.origin + "/", "data:,")):
            self.foreign.append(request.url)

    def open(self, hash="", ready="ready"):  # noqa: A002
        self.page.goto(self.view.url + (f"&{hash}" if hash else ""))
        self.wait(ready)

    def wait(self, state="ready"):
        self.page.wait_for_selector(f"{ROOT}[data-state={state}]", state="attached")

    def until(self, holds):
        """Wait until something holds, however slow the machine is."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "it never came to hold"
            self.page.wait_for_timeout(20)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            self.wait()

    def click(self, selector):
        self.page.click(selector)
        self.wait()

    def text(self, selector):
        return self.page.inner_text(selector)

    def all(self, selector):
        return self.page.locator(selector).all_inner_texts()

    def count(self, selector):
        return self.page.locator(selector).count()

    def focused(self):
        """Return what has the focus: its tag, and the action or the text it stands for."""
        return self.page.evaluate(
            """() => {
              const element = document.querySelector("[data-softlookup]").shadowRoot.activeElement;
              return element && [element.localName, element.getAttribute("data-arg") ?? ""];
            }"""
        )

    def row(self, step):
        """Return the ledger's row with this name: the cells' numbers, the small notes left out."""
        return self.page.evaluate(
            """(step) => {
              const shadow = document.querySelector("[data-softlookup]").shadowRoot;
              const rows = [...shadow.querySelectorAll("table.ledger tbody tr")];
              const row = rows.find((row) => row.querySelector("th b").textContent === step);
              return row && [...row.querySelectorAll("td")].map((cell) =>
                [...cell.querySelectorAll("span:not(.label):not(.bar), b")]
                  .map((part) => part.textContent).join(""));
            }""",
            step,
        )

    def steps(self):
        return self.all("table.ledger tbody tr.unfolded th b")

    def grid(self):
        rows = self.page.locator("table.grid tbody tr").all()
        return [row.locator("td").all_inner_texts() for row in rows]

    def exact(self, step, column):
        """Move the pointer to a cell and return the exact numbers that its line ends with."""
        self.page.hover(f"table.ledger td[data-arg='{step}:{column}']")
        text = self.page.text_content("section.ledger-part .exactly")
        return read_numbers(text.rpartition("exactly ")[2])

    def hash(self):
        found = parse_qs(urlsplit(self.page.url).fragment, keep_blank_values=True)
        return {name: values[0] for name, values in found.items()}

    def edited(self):
        """Return the changed numbers as the address keeps them."""
        return json.loads(self.hash()["n"])

    def change(self, side, row, col, text):
        self.page.click(f"button[data-arg='{side}:{row}:{col}']")
        self.page.keyboard.type(text)
        self.press("Enter")


def right_answer(skill, seed):
    """Return what a learner types: one text a field, or the position of the right explanation."""
    asked = exercises.question(skill, seed)
    if hasattr(asked, "options"):
        return asked.options.index(asked.right)
    return [f"{float(blank.by_hand):.3f}" for blank in asked.blanks]


def spoken(text):
    """Write a text of the lesson as the page does: d with an index, and a minus before numbers."""
    return re.sub(r"(?<![\w)])-(?=\d)", "−", text.replace("d_k", "dk"))


def read_numbers(text):
    """Read what the page writes as exact numbers: one, or a vector in brackets."""
    words = {"∞": "inf", "−∞": "-inf", "NaN": "nan"}
    parts = re.sub(r"[\[\]\s]", "", text).split(",")
    return [float(words.get(part, part.replace("−", "-"))) for part in parts if part]
