"""How long from a click to the drawn head of a long text, and does the pointer keep up?

A capture of 2 x 4 heads is served and opened in Chromium. A click on a thumbnail is timed inside
the page, from the click to the frame after the page says that it is drawn; a move of the pointer
over the grid is the work that its event causes. Sizes of exported files stand beside them.
"""

import shutil
import statistics
import tempfile
from pathlib import Path

import measure
import numpy as np
from playwright.sync_api import Page, sync_playwright

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer
from softlookup.viewer import Session, View

QUESTION = "page: from a click to the drawn head, and from a move of the pointer to its frame"
LENGTHS, JUDGED = (128, 512, 1_024), 512  # tokens
CLICK_BAR = 0.3
HOVER_BAR = 0.016
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
READY = "[data-softlookup][data-state=ready]"
HEADS = [f"{layer}.{head}" for layer in range(2) for head in range(4)]
CLICK = """(name) => new Promise((done) => {
  const root = document.querySelector("[data-softlookup]");
  const start = performance.now();
  root.shadowRoot.querySelector(`.thumb[data-arg='${name}']`).click();
  const look = () => root.dataset.state === "ready" && root.shadowRoot.querySelector("canvas")
    ? requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)))
    : setTimeout(look);
  setTimeout(look);
})"""
MOVE = """([x, y]) => new Promise((done) => {
  const box = document.querySelector("[data-softlookup]").shadowRoot.querySelector(".heat-cells");
  const { left, top } = box.getBoundingClientRect();
  const start = performance.now();
  box.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, composed: true,
    pointerType: "mouse", clientX: left + x, clientY: top + y }));
  done((performance.now() - start) / 1000);
})"""


def capture(length: int) -> Capture:
    """Return 2 x 4 heads of 32 dims over so many tokens."""
    rng = np.random.default_rng(0)
    axis = (Axis(tuple(f"word{i}" for i in range(length))),)
    looks = [
        sl.Lookup(*rng.standard_normal((3, 4, length, 32), dtype=np.float32), causal=True)
        for _ in range(2)
    ]
    layers = [Layer(look, axis, axis, number=number) for number, look in enumerate(looks)]
    return Capture(f"{length} tokens", tuple(layers))


def figures(page: Page, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds of clicks on heads, and of moves of the pointer."""
    page.wait_for_selector(READY, state="attached")
    page.wait_for_timeout(3_000 if rounds > measure.QUICK_ROUNDS else 0)  # for every thumbnail
    clicks = [page.evaluate(CLICK, HEADS[i % len(HEADS)]) for i in range(rounds)]
    rng = np.random.default_rng(1)
    moves = [page.evaluate(MOVE, (20 + 300 * rng.random(2)).tolist()) for _ in range(10 * rounds)]
    return clicks, moves


def main() -> None:
    """Print medians and worst cases, and the bars."""
    options = measure.parsed(measure.arguments(QUESTION, rounds=8))
    measure.announce(QUESTION, options, f"{options.rounds} clicks, ten times as many moves")
    rows, verdicts = [], []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        lengths, judged = (LENGTHS[:1], LENGTHS[0]) if options.quick else (LENGTHS, JUDGED)
        for length in lengths:
            shown = capture(length)
            with View(Session(shown), port=0) as view:
                page = browser.new_page()
                page.goto(view.url)
                clicks, moves = figures(page, options.rounds)
                page.close()
            size = sl.export_html(shown, Path(folder) / "page.html").stat().st_size
            for name, values in (("click to drawn", clicks), ("pointer", moves)):
                times = [measure.milliseconds(pick(values)) for pick in (statistics.median, max)]
                rows.append([f"{length} tokens, {name}", *times])
            rows.append([f"{length} tokens, exported file", f"{size / 1e6:.2f} MB", ""])
            if length == judged:
                verdicts = [(f"median click, {length} tokens", clicks, CLICK_BAR),
                            (f"median move, {length} tokens", moves, HOVER_BAR)]  # fmt: skip
        browser.close()
    measure.table(["what", "median", "worst"], rows)
    for name, values, bar in verdicts:
        measure.verdict(name, statistics.median(values), bar, " s")


if __name__ == "__main__":
    main()
