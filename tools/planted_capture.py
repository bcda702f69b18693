"""Write a synthetic capture of any length, with facts planted at known places.

    python tools/planted_capture.py [TOKENS] -o planted.safetensors

Layer 0 is causal noise with three facts in it: a needle (one query reads one key far away), a
copied span (each of its queries reads the key a fixed distance back) and a first token that most
queries read. Layer 1 is noise that sees a window only. The same length and seed give the same file.
"""

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer
from softlookup.errors import SoftlookupError
from softlookup.writing import check_writable

LENGTH = 100_000
SHORTEST = 256  # below it the facts would touch one another
DIM, VALUE_DIM = 64, 8
NEEDLE, COPY, FIRST = 0.99, 0.8, 0.3  # the weights that are aimed at
SYLLABLES = ["ba", "do", "ke", "li", "mu", "na", "po", "ri", "su", "ta", "ve", "zo"]
WORDS = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


class Places(NamedTuple):
    """Where the facts lie.

    Attributes
    ----------
    needle : (query, key)
    weight : float
        Of the needle, in float64 from the float32 numbers.
    copy : range
        The queries of the copied span.
    distance : int
        How far back each of them reads.
    window : (left, right)
        Of layer 1.
    """

    needle: tuple[int, int]
    weight: float
    copy: range
    distance: int
    window: tuple[int, int]

    @property
    def about(self) -> str:
        """The same, as a person reads it."""
        query, key = self.needle
        first, last, (left, _) = self.copy[0], self.copy[-1], self.window
        return (
            f"layer 0: query {query} reads key {key} with weight {self.weight:.4f}; queries "
            f"{first} ... {last} each read the key {self.distance} back, about {COPY}; the others "
            f"read key 0, about {FIRST}. Layer 1: each query sees its own key and the {left} "
            "before it."
        )


def plant(length: int = LENGTH, seed: int = 7) -> tuple[Capture, Places]:
    """Return a capture of `length` tokens, and where its facts lie."""
    if length < SHORTEST:
        raise SystemExit(f"tokens: must be at least {SHORTEST}; got {length}. Ask for more.")
    rng = np.random.default_rng(seed)
    key = _keys(rng, length)
    query, other = (rng.standard_normal((1, length, DIM), dtype=np.float32) for _ in range(2))
    value = rng.standard_normal((1, length, VALUE_DIM), dtype=np.float32)
    places = _plant(query[0], key[0])
    looks = [
        sl.Lookup(query, key, value, causal=True),
        sl.Lookup(other, key, value, causal=True, window=places.window),
    ]
    axis = (Axis(_tokens(rng, length, places)),)
    names = ("needle, copy, first token", "window")
    layers = [
        Layer(look, axis, axis, number=number, name=name)
        for number, (look, name) in enumerate(zip(looks, names, strict=True))
    ]
    about = {
        "license": "Apache-2.0",
        "origin": "Random numbers and made-up words; no text, no model.",
        "made": f"tools/planted_capture.py {length}, seed {seed}, float32",
        "planted": places.about,
    }
    return Capture(f"{length:,} tokens with planted facts", tuple(layers), about), places


def _keys(rng: np.random.Generator, length: int) -> Numbers:
    """Return keys of one length; the first entry of each is 0, of key 0 all but the first are."""
    key = rng.standard_normal((1, length, DIM), dtype=np.float32)
    key[..., 0] = 0
    key *= math.sqrt(DIM) / np.linalg.norm(key, axis=-1, keepdims=True)
    key[0, 0] = 0
    key[0, 0, 0] = math.sqrt(DIM)  # times `scale` that is 1: a query's first entry is the score
    return key


def _plant(query: Numbers, key: Numbers) -> Places:
    """Change what the queries of layer 0 ask for, and return where."""
    length = len(query)
    visible = np.arange(1, length + 1)
    query[:, 0] = np.log(FIRST / (1 - FIRST) * visible) + 0.5  # of noise, exp is e^(1/2) on average
    needle = int(0.87654 * length), int(0.12345 * length)
    copy, distance = range(length // 2, length // 2 + 3 * length // 20), 3 * length // 10
    copied = slice(copy.start, copy.stop)
    source = slice(copy.start - distance, copy.stop - distance)
    query[copied] = _reading(key[source], visible[copied], COPY)
    query[needle[0]] = _reading(key[needle[1]], visible[needle[0]], NEEDLE)
    weight = _weight(query[needle[0]], key[: needle[0] + 1], needle[1])
    return Places(needle, weight, copy, distance, (max(15, length // 100 - 1), 0))


def _reading(key: Numbers, visible: np.ndarray, share: float) -> Numbers:
    """Return queries that read `key` with about that share, among so many others.

    Of a query that is c times a key, the score there is c * sqrt(DIM), and elsewhere normal with
    deviation c, so that exp is e^(c c / 2) on average.
    """
    need = np.log(share / (1 - share) * visible)
    times = math.sqrt(DIM) - np.sqrt(DIM - 2 * need)
    return (times[..., None] * key).astype(np.float32)


def _weight(query: Numbers, keys: Numbers, place: int) -> float:
    scores = keys.astype(np.float64) @ query.astype(np.float64) / math.sqrt(DIM)
    weights = np.exp(scores - scores.max())
    return float(weights[place] / weights.sum())


def _tokens(rng: np.random.Generator, length: int, places: Places) -> tuple[str, ...]:
    """Return made-up words; the copied span says again what stood where it reads."""
    words = [WORDS[n] for n in rng.integers(len(WORDS), size=length)]
    words[0] = "<start>"
    words[places.needle[1]], words[places.needle[0]] = "needle", "needle?"
    for place in places.copy:
        words[place] = words[place - places.distance]
    return tuple(words)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file, and say what it holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tokens", type=int, nargs="?", default=LENGTH, help="default: 100,000")
    parser.add_argument("--output", "-o", type=Path, required=True, help="ends in .safetensors")
    parser.add_argument("--seed", type=int, default=7, help="default: 7")
    options = parser.parse_args(arguments)
    if options.seed < 0:
        raise SystemExit(f"seed: must be 0 or more; got {options.seed}. Leave it out: 7.")
    start = time.perf_counter()
    try:
        check_writable(options.output)  # before the work, not after
        capture, places = plant(options.tokens, options.seed)
        capture.save(options.output)
    except SoftlookupError as error:
        raise SystemExit(str(error)) from error
    seconds = time.perf_counter() - start
    print(f"wrote {options.output}: {options.output.stat().st_size:,} bytes in {seconds:.1f} s")
    print(places.about)


if __name__ == "__main__":
    main()
