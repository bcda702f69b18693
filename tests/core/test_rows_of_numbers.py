"""The numbers of one row of a ledger keep one form, and show two digits of the smallest."""

import re

import numpy as np
import pytest

import oracle
from softlookup import Lookup
from softlookup.numerals import alike, evenly


def row_of(text, label):
    lines = [line for line in text.splitlines() if line.startswith(f"{label} ")]
    return re.findall(r"-?\d+\.\d+(?:e[-+]\d+)?", " ".join(lines))


def small_weights():
    """Return 3,000 keys, of which none gets much, and the weights by the oracle."""
    rng = np.random.default_rng(3)
    query, key, value = (rng.standard_normal((n, 4)) for n in (1, 3000, 3000))
    query *= 0.3  # no key gets much
    weights = oracle.lookup(query[None], key[None], value[None]).weights[0, 0]
    return Lookup(query, key, value), weights.astype(float)


def test_small_weights_of_one_row_are_written_alike():
    look, weights = small_weights()
    text = str(look.trace())
    *listed, _, total = row_of(text, "weight")
    largest = np.sort(weights)[::-1][: len(listed)]
    assert largest[0] < 0.01
    assert sorted(map(float, listed), reverse=True) == pytest.approx(largest, abs=5.1e-5)
    assert len({len(one.partition(".")[2]) for one in (*listed, total)}) == 1
    (step,) = [line for line in text.splitlines() if line.startswith("normalise ")]
    assert step.split("= ")[1].startswith(max(listed))


@pytest.mark.parametrize(
    ("numbers", "written"),
    [
        ([0.401, 0.198, 0.401], ["0.401", "0.198", "0.401"]),
        ([0.001, 0.0009, 4.1e-4], ["0.00100", "0.00090", "0.00041"]),
        ([963.979, 0.5], ["963.979", "0.500"]),
        ([0.5, 1e-5], ["0.500000", "0.000010"]),
        ([0.5, 9.9e-6, 0.0], ["0.500", "9.9e-06", "0.000"]),
        ([-0.25, 0.0996], ["-0.250", "0.100"]),
        ([np.nan, np.inf, 0.004], ["NaN", "inf", "0.0040"]),
        ([2e9, 0.5], ["2.000e+09", "0.500"]),
        ([], []),
    ],
)
def test_numbers_of_a_row(numbers, written):
    assert list(map(alike(numbers), numbers)) == written


def test_whole_numbers_stay_bare_where_all_are():
    assert list(map(evenly([2, -1]), [2, -1])) == ["2", "-1"]
    assert list(map(evenly([2, -0.5]), [2, -0.5])) == ["2.000", "-0.500"]
