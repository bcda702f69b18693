"""Take the README's pictures as Chromium draws them: the lesson, a model's heads, a long map.

make picture writes docs/images/lesson.png, heads.png and map.png; ARGS="map" takes that one alone,
and ARGS="--quick" shows few tokens in the map: whether it runs.
"""

import argparse
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from planted_capture import LENGTH, SHORTEST, plant
from playwright.sync_api import Browser, Page, sync_playwright

import softlookup as sl
from softlookup.captures import Capture

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
LARGEST = 350_000  # bytes; a README should open at once
ALL_STEPS = 5  # score, scaled, exp, weight, reads
READY = "[data-softlookup][data-state=ready]"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
PLACE = "c=sentence&v=heads&L=5&h=4&q=17"  # where "she" reads "anna"


def lesson(page: Page, _: int) -> None:
    """Unfold token 1's row step by step."""
    for _ in range(ALL_STEPS):
        page.keyboard.press("Space")
        page.wait_for_selector(READY, state="attached")
    page.hover("td[data-arg='exp:0']")


def heads(page: Page, _: int) -> None:
    """Open one head of the sentence, with one token picked."""
    page.evaluate(f"location.hash = '{PLACE}'")
    page.wait_for_selector("canvas", state="attached")
    page.wait_for_timeout(3_000)  # thumbnails come one layer after the other


def long_map(page: Page, length: int) -> None:
    """Show all of a long head, and the number of its one strongest link."""
    query, key = plant(length)[1].needle
    page.evaluate(f"location.hash = 'v=map&L=0&h=0&lock={query}.{key}'")
    page.wait_for_selector("text=Keys that receive most", timeout=300_000)  # the last to be there
    page.wait_for_timeout(2_000)  # the finer tiles


class Picture(NamedTuple):
    """What is shown beside what comes along, what is done with it, how high the page is.

    Both are told how many tokens a long text has.
    """

    capture: Callable[[int], Capture | None]
    prepare: Callable[[Page, int], None]
    height: int


PICTURES = {
    "lesson": Picture(lambda _: None, lesson, 640),
    "heads": Picture(lambda _: None, heads, 860),
    "map": Picture(lambda length: plant(length)[0], long_map, 860),
}


def take(browser: Browser, url: str, name: str, length: int) -> None:
    """Write one picture, and say how large it is."""
    size = {"width": 1280, "height": PICTURES[name].height}
    page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
    page.goto(url)
    page.wait_for_selector(READY, state="attached")
    PICTURES[name].prepare(page, length)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)  # transitions end
    file = FOLDER / f"{name}.png"
    page.screenshot(path=file)
    page.close()
    bytes_there = file.stat().st_size
    if bytes_there > LARGEST:
        raise SystemExit(f"{name}: must be at most {LARGEST:,} bytes; it has {bytes_there:,}.")
    print(f"{file} ({bytes_there:,} bytes)")


def main(arguments: Sequence[str] | None = None) -> None:
    """Open the page and take the pictures that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(PICTURES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="few tokens: whether it runs")
    options = parser.parse_args(arguments)
    names = options.names or list(PICTURES)
    length = SHORTEST if options.quick else LENGTH
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("picture: needs Chromium; run 'make browser'.")
    unknown = set(names) - set(PICTURES)
    if unknown:
        raise SystemExit(f"picture: must be of {', '.join(PICTURES)}; got {', '.join(unknown)}.")
    FOLDER.mkdir(exist_ok=True)
    with ExitStack() as opened:
        playwright = opened.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        opened.callback(browser.close)
        for name in names:
            with sl.show(PICTURES[name].capture(length), port=0, open_browser=False) as view:
                take(browser, view.url, name, length)


if __name__ == "__main__":
    main()
