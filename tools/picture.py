"""Take the README's pictures as Chromium draws them: the lesson unfolded, and a real model's heads.

make picture writes docs/images/lesson.png and docs/images/heads.png.
"""

import shutil
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import softlookup as sl

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
LARGEST = 250_000  # bytes; a README should open at once
ALL_STEPS = 5  # score, scaled, exp, weight, reads
READY = "[data-softlookup][data-state=ready]"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
PLACE = "c=sentence&v=heads&L=5&h=4&q=17"  # where "she" reads "anna"


def lesson(page: Page) -> None:
    """Unfold token 1's row step by step."""
    for _ in range(ALL_STEPS):
        page.keyboard.press("Space")
        page.wait_for_selector(READY, state="attached")
    page.hover("td[data-arg='exp:0']")


def heads(page: Page) -> None:
    """Open one head of the sentence, with one token picked."""
    page.evaluate(f"location.hash = '{PLACE}'")
    page.wait_for_selector("canvas", state="attached")
    page.wait_for_timeout(3_000)  # thumbnails come one layer after the other


PICTURES = {"lesson": (lesson, 640), "heads": (heads, 860)}


def take(browser: Browser, url: str, name: str) -> None:
    """Write one picture, and say how large it is."""
    prepare, height = PICTURES[name]
    size = {"width": 1280, "height": height}
    page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
    page.goto(url)
    page.wait_for_selector(READY, state="attached")
    prepare(page)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)  # transitions end
    file = FOLDER / f"{name}.png"
    page.screenshot(path=file)
    page.close()
    bytes_there = file.stat().st_size
    if bytes_there > LARGEST:
        raise SystemExit(f"{name}: must be at most {LARGEST:,} bytes; it has {bytes_there:,}.")
    print(f"{file} ({bytes_there:,} bytes)")


def main() -> None:
    """Open the page and take every picture."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("picture: needs Chromium; run 'make browser'.")
    FOLDER.mkdir(exist_ok=True)
    with sl.show(port=0, open_browser=False) as view, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for name in PICTURES:
            take(browser, view.url, name)
        browser.close()


if __name__ == "__main__":
    main()
