"""The benchmark judges each bar by its worst row, and says so where there is none."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("bars", ROOT / "benchmarks" / "races" / "bars.py")
BARS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(BARS)
DECODE = {"kind": "decode", "dtype": "float32", "quiet": True}


def rows(*shares):
    return [DECODE | {"name": str(share), "share": share, "peers": {}} for share in shares]


def told(work, given):
    return next(each for each in BARS.judged(given) if each["work"] == work)


@pytest.mark.parametrize(("shares", "row", "met", "stretch"), [
    ((0.9, 0.86), "0.86", True, True),
    ((0.9, 0.76), "0.76", True, False),
    ((0.74, 0.9), "0.74", False, False),
])  # fmt: skip
def test_at_least_is_judged_by_the_smallest(shares, row, met, stretch):
    found = told("float32 decode: of read bandwidth", rows(*shares))
    assert (found["row"], found["met"], found["stretch_met"]) == (row, met, stretch)
    assert found["rows"] == 2


def test_at_most_is_judged_by_the_largest():
    given = [{"kind": "facts", "facts": "received", "name": str(more), "more": more, "quiet": False}
             for more in (0.03, 0.07)]  # fmt: skip
    found = told("received: more", given)
    assert (found["row"], found["met"], found["quiet"]) == ("0.07", False, False)
    assert BARS.written(found)[3:5] == ["7 %", "NOT MET (machine busy)"]


def test_a_peer_that_is_missing_is_not_measured():
    found = told("float32 decode: PyTorch", rows(0.9))
    assert found["met"] is None
    assert BARS.written(found)[4] == "not measured"


def test_rows_of_another_kind_do_not_count():
    other = DECODE | {"dtype": "bfloat16", "name": "other", "share": 0.1, "peers": {}}
    assert told("float32 decode: of read bandwidth", [*rows(0.9), other])["row"] == "0.9"


def test_the_best_peer_is_the_one_that_takes_least():
    row = {"kind": "forward", "dtype": "float32", "mask": "causal", "length": 128, "name": "row",
           "quiet": True, "share": 1.0,
           "peers": {"A": {"times": 3.0}, "B": {"times": 1.2}}}  # fmt: skip
    found = told("float32 causal: the best peer", [row])
    assert (found["figure"], found["met"]) == (1.2, False)
