"""Take the README's picture: the lesson with its first row unfolded, as Chromium draws it.

make picture writes docs/images/lesson.png.
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

import softlookup as sl

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "lesson.png"
LARGEST = 150_000  # bytes; a README should open at once
SIZE = {"width": 1280, "height": 640}
ALL_STEPS = 5  # score, scaled, exp, weight, reads
CELL = "td[data-arg='exp:0']"
READY = "[data-softlookup][data-state=ready]"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def main():
    """Open the page, unfold token 1's row key by key, and take its picture."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("picture: needs Chromium; run 'make browser'.")
    PICTURE.parent.mkdir(exist_ok=True)
    with sl.show(port=0, open_browser=False) as view, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(view.url)
        page.wait_for_selector(READY, state="attached")
        for _ in range(ALL_STEPS):
            page.keyboard.press("Space")
            page.wait_for_selector(READY, state="attached")
        page.hover(CELL)
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(300)  # transitions end
        page.screenshot(path=PICTURE)
        browser.close()
    size = PICTURE.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"picture: must be at most {LARGEST:,} bytes; it has {size:,}.")
    print(f"{PICTURE} ({size:,} bytes)")


if __name__ == "__main__":
    main()
