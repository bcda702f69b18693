"""How long from a turn of the wheel to its frame, and until a view that was never seen is whole?

One causal head of noise is served and opened in Chromium as a map. The wheel turns in and out at
one place whose tiles are there; each turn is timed inside the page, to the frame after it. Then the
address leads to places where nobody was before; each is timed until every tile of it is drawn.
"""

import shutil
import statistics

import measure
import numpy as np
from map_speed import LENGTH, QUICK, lookup
from playwright.sync_api import Page, sync_playwright

from softlookup.captures import label
from softlookup.viewer import Session, View

QUESTION = __doc__.splitlines()[0]
WHEEL_BAR, COLD_BAR = 0.033, 0.3
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
SETTLED = "[data-softlookup][data-map=settled]"
TURNS = 12  # of the wheel, in and then out
ZOOMS = (0, 2, 4, 6, 8)  # log2 of weights along a pixel
WHEEL = """([x, y, by]) => new Promise((done) => {
  const cells = document.querySelector("[data-softlookup]").shadowRoot.querySelector(".map-cells");
  const { left, top, width, height } = cells.getBoundingClientRect();
  const start = performance.now();
  cells.dispatchEvent(new WheelEvent("wheel", { bubbles: true, composed: true, cancelable: true,
    deltaY: by, clientX: left + x * width, clientY: top + y * height }));
  requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)));
})"""
GO = """(hash) => new Promise((done) => {
  const root = document.querySelector("[data-softlookup]");
  const start = performance.now();
  const look = () => root.dataset.map === "settled"
    ? requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)))
    : setTimeout(look);
  const soon = () => requestAnimationFrame(() => setTimeout(look));
  addEventListener("hashchange", soon, { once: true });
  location.hash = hash;
})"""


def turns(page: Page, rounds: int) -> list[float]:
    """Return the seconds of turns of the wheel, in and out at one place."""
    found = []
    for number in range(rounds + 1):
        for by in [-120] * TURNS + [120] * TURNS:
            seconds = page.evaluate(WHEEL, [0.4, 0.8, by])
            if number:  # the first time tiles are fetched
                found.append(seconds)
        page.wait_for_selector(SETTLED, state="attached")
    return found


def arrivals(page: Page, zoom: int, length: int, rounds: int) -> list[float]:
    """Return the seconds until views of this zoom are whole, each at a place of its own."""
    rng = np.random.default_rng(zoom)
    found = []
    for _ in range(rounds):
        y = int(rng.uniform(0.3, 0.9) * length)
        x = int(rng.uniform(0.1, 0.9) * y)
        found.append(page.evaluate(GO, f"v=map&L=0&h=0&x={x}&y={y}&z={zoom}"))
    return found


def main() -> None:
    """Print medians and worst cases, and the bars."""
    parser = measure.arguments(QUESTION, rounds=8)
    parser.add_argument("--length", type=int, help=f"tokens (default: {LENGTH:,})")
    options = measure.parsed(parser)
    length = options.length or (QUICK if options.quick else LENGTH)
    how = (
        f"{length:,} tokens; {options.rounds} rounds of {2 * TURNS} turns, {options.rounds} places"
    )
    measure.announce(QUESTION, options, how)
    rows = []
    with (
        View(Session(label(lookup(length))), port=0) as view,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(f"{view.url}&v=map")
        page.wait_for_selector("text=Keys that receive most", timeout=300_000)  # all is computed
        page.wait_for_selector(SETTLED, state="attached")
        wheel = turns(page, options.rounds)
        rows.append(["a turn of the wheel to its frame", *times(wheel)])
        cold = {zoom: arrivals(page, zoom, length, options.rounds) for zoom in ZOOMS}
        for zoom, seconds in cold.items():
            side = 2**zoom
            rows.append([f"a new view, {side} x {side} weights a pixel", *times(seconds)])
        browser.close()
    measure.table(["what", "median", "worst"], rows)
    measure.verdict("median turn of the wheel", statistics.median(wheel), WHEEL_BAR, " s")
    slowest = max(statistics.median(seconds) for seconds in cold.values())
    measure.verdict("median new view, slowest zoom", slowest, COLD_BAR, " s")


def times(seconds: list[float]) -> list[str]:
    """Return the median and the worst, for the table."""
    return [measure.milliseconds(pick(seconds)) for pick in (statistics.median, max)]


if __name__ == "__main__":
    main()
