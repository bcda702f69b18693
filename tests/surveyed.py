"""A survey that no model made: random numbers of a few heads over a few texts, in a folder.

And a few texts for a tiny model.
"""

import re

import numpy as np

from softlookup.surveys import open_survey
from softlookup.surveys.block import MEASURES, Ragged, Rows, Told, block_of
from softlookup.surveys.manifest import Manifest
from softlookup.surveys.partitions import make_room, write_partition

TEXTS = [
    "the bank of the river",
    "walking walked walks the the bank",
    "café naïve the bank bank",
    "a",
    "the river the river the river",
]


def made(folder, *, texts=11, layers=2, heads=3, lines=4, words=("a", "the"), skipped=(), seed=5,
         part="", model="tiny", repeats=True):  # fmt: skip
    """Write a survey of `texts` lines, and return it as it is read."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    manifest = Manifest(
        {"name": model, "sha256": "0" * 64},
        {"name": "texts.jsonl", "bytes": 99, "lines": texts, "sha256": "1" * 64},
        {"lines": lines},
        {},
    )
    make_room(folder)
    manifest.write(folder)
    for number in range(manifest.partitions):
        told = []
        for line in range(number * lines + 1, min((number + 1) * lines, texts) + 1):
            if line in dict(skipped):
                continue
            has = repeats and line % 3 > 0
            layered = tuple(_rows(rng, (part, n), heads, words, has) for n in range(layers))
            told.append(Told(line, f"text {line}", 7, layered))
        here = [one for one in skipped if number * lines < one[0] <= (number + 1) * lines]
        write_partition(folder, number, block_of(told, here))
    return open_survey(folder)


def without_progress(err):
    """Return what a log holds beside the lines of every minute, where a machine is that slow."""
    return re.sub(r"(?m)^[0-9,]+ of [0-9,]+ lines(, about .* left)?\n", "", err)


def _rows(rng, place, heads, words, has):
    numbers = {name: rng.random(heads).astype(np.float32) for name in MEASURES}
    numbers["entropy"] *= 3
    for name in () if has else ("induction", "duplicate"):
        numbers[name][:] = np.nan
    two = np.full(heads, 2)
    lists = {
        "distance": Ragged(rng.random(4 * heads).astype(np.float32), np.full(heads, 4)),
        "groups": Ragged(rng.random(2 * heads).astype(np.float32), two),
        "top_keys": Ragged(np.tile(np.array([3, 0], np.int32), heads), two),
        "top_shares": Ragged(rng.random(2 * heads).astype(np.float32), two),
    }
    rows = np.full(heads, 6, np.int32)
    return Rows(
        *place, tuple(range(heads)), rows, rows // 2 * has, numbers, lists,
        tuple(words[at % len(words)] for at in rng.integers(0, len(words), 2 * heads)),
    )  # fmt: skip
