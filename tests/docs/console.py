"""Console blocks of the documentation: find them, run them, compare, or write them anew.

In a ```` ```console ```` block a line that starts with ``$`` is run, at the checkout's root; what
follows is what it prints. A line ``...`` stands for any number of lines. After a change that is
meant: ``python tests/docs/console.py --write``.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GAP = "..."


@dataclass(frozen=True)
class Step:
    """One command and the text the page shows under it."""

    command: str
    shown: str


def documents():
    """Return the Markdown files that a reader may copy from."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages()]


def pages():
    """Return the pages of the documentation, recipes among them."""
    return [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/recipes").glob("*.md"))]


def steps(block):
    """Split the text of a block into its commands and what follows each."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return [Step(parts[i], parts[i + 1]) for i in range(1, len(parts), 2)]


def run(command):
    """Run a softlookup command as a reader would; return what it prints on both streams."""
    words = shlex.split(command)
    if words[0] != "softlookup":
        raise ValueError(f"only softlookup commands are run in console blocks; got {command!r}")
    with tempfile.TemporaryDirectory() as data:  # a reader who has solved nothing yet
        plain = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "XDG_DATA_HOME": data}
        done = subprocess.run(
            [sys.executable, "-m", "softlookup", *words[1:]],
            cwd=ROOT,
            env=os.environ | plain,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            timeout=240,
            check=False,
        )
    return trimmed(done.stdout)


def trimmed(text):
    """Drop spaces at line ends and empty lines around the text."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "".join(line + "\n" for line in lines)


def matches(shown, printed):
    """Whether `printed` is what `shown` promises, gaps allowed."""
    parts = re.split(rf"^{re.escape(GAP)}\n", trimmed(shown), flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, printed) is not None


def written(text):
    """Return the document with the output of every block without gaps written anew."""

    def renewed(block):
        body = "".join(
            f"$ {step.command}\n" + (step.shown if has_gap(step.shown) else run(step.command))
            for step in steps(block[1])
        )
        return f"```console\n{body}```"

    return BLOCK.sub(renewed, text)


def has_gap(shown):
    """Whether a person shortened this output."""
    return GAP in shown.splitlines()


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    for path in documents():
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
