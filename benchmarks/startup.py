"""How long from the command to the drawn page, and how long does the import take?

The import is timed in fresh processes, after NumPy. The page is timed from starting the command
`softlookup show` to the moment Chromium has drawn the ledger; Chromium itself is already running,
as a person's browser is.
"""

import re
import shutil
import statistics
import subprocess
import sys
import time

import measure
from playwright.sync_api import sync_playwright

QUESTION = "start: import beyond NumPy, and the drawn page after `softlookup show`"
IMPORT_BAR = 0.15
PAGE_BAR = 2.0
IMPORT = (
    "import time, numpy; t = time.perf_counter(); import softlookup; print(time.perf_counter() - t)"
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
DRAWN = "[data-softlookup][data-state=ready]"


def import_seconds():
    """Return how long `import softlookup` takes in a fresh process that has NumPy."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def page_seconds(browser):
    """Return the seconds from the command to its link, and to the drawn page."""
    page = browser.new_page()
    start = time.perf_counter()
    command = subprocess.Popen(
        [sys.executable, "-m", "softlookup", "show", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        link = next(found[0] for line in command.stdout if (found := re.search(r"http\S+", line)))
        linked = time.perf_counter()
        page.goto(link)
        page.wait_for_selector(DRAWN, state="attached")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return linked - start, time.perf_counter() - start
    finally:
        command.terminate()
        command.wait()
        page.close()


def main():
    """Print medians and worst cases, and the bars."""
    options = measure.parsed(measure.arguments(QUESTION, rounds=9))
    how = f"{options.rounds} fresh processes each, after one that is not counted"
    measure.announce(QUESTION, options, how)
    import_seconds()
    imports = [import_seconds() for _ in range(options.rounds)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page_seconds(browser)
        links, pages = zip(*(page_seconds(browser) for _ in range(options.rounds)), strict=True)
        browser.close()
    rows = [
        [name, *(measure.milliseconds(pick(values)) for pick in (statistics.median, max))]
        for name, values in (
            ("import softlookup, after numpy", imports),
            ("command to link", links),
            ("command to drawn page", pages),
        )
    ]
    measure.table(["what", "median", "worst"], rows)
    measure.verdict("median import", statistics.median(imports), IMPORT_BAR, " s")
    measure.verdict("median drawn page", statistics.median(pages), PAGE_BAR, " s")


if __name__ == "__main__":
    main()
