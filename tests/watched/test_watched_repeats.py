"""What earlier occurrences of a row's token get, and the tokens after: loops over all pairs."""

import numpy as np
import pytest
from feeding import STEPS, drawn, feed, left_padding, watched

import oracle
from softlookup.captures import shipped
from softlookup.errors import DtypeError
from softlookup.watched import watch_capture
from softlookup.watched.measures import duplicate_share, induction_share

LENGTH = 13
RNG = np.random.default_rng(3)
IDS = np.array([[4, 1, 2, 4, 4, 1, 2, 3, 2, 2, 2, 1, 4], [0, 1, 0, 1, 0, 1, 2, 3, 4, 5, 5, 0, 1]])
CHUNKS = np.arange(LENGTH)[:, None] // 4 == np.arange(LENGTH) // 4
CASES = {
    "causal": {"causal": True},
    "two sides": {},
    "window": {"causal": True, "window": (3, None)},
    "softcap and sinks": {"causal": True, "softcap": 0.7, "sinks": np.ones(6, np.float32)},
    "bias that hides": {"bias": np.where(CHUNKS, np.float32(0.5), -np.inf).astype(np.float32)},
    "a mask a head": {"mask": RNG.random((1, 6, LENGTH, LENGTH)) < 0.3},
    "kv_lens": {"kv_lens": [13, 6]},
}


def expected(whole, ids, padding=None):
    """Return both means of each head, by their definition."""
    found = oracle.lookup(*whole.arrays, **whole.options)
    got = {1: [[] for _ in whole.heads], 0: [[] for _ in whole.heads]}
    for b, h, i in np.ndindex(found.weights.shape[:3]):
        if padding is not None and padding[b, i]:
            continue
        weight, seen = found.weights[b, h, i], found.visible[b, h, i]
        for after, parts in got.items():
            keys = [j + after for j in range(i) if ids[b, j] == ids[b, i] and j + after < i]
            keys = [j for j in keys if seen[j]]
            if keys and seen.sum() > 1:
                parts[h].append(weight[keys].sum())
    return [[np.mean(part) if part else np.nan for part in got[after]] for after in (1, 0)]


def assert_repeats(layer, whole, ids=IDS, padding=None):
    for share, mean in zip(
        (induction_share, duplicate_share), expected(whole, ids, padding), strict=True
    ):
        np.testing.assert_allclose(share(layer).value, mean, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_both_are_exact_under_every_rule(options):
    whole = drawn(**options)
    assert_repeats(feed(watched(), whole, tokens=IDS)[0], whole)


@pytest.mark.parametrize("options", [CASES["causal"], CASES["window"]])
def test_steps_add_up(options):
    whole = drawn(**options)
    assert_repeats(feed(watched(), whole, STEPS, tokens=IDS)[0], whole)


def test_an_occurrence_that_a_cache_let_go_counts_for_the_key_after_it():
    whole = drawn(causal=True)
    made = feed(watched(), whole, STEPS, crop=4, tokens=IDS)
    cropped = np.tril(np.ones((LENGTH, LENGTH), bool))
    for row in STEPS[1:-1]:
        cropped[row, : row - 3] = False
    assert_repeats(made[0], whole._replace(options={"mask": cropped}))


def test_padding_repeats_nothing():
    padding = left_padding([13, 9], LENGTH)
    whole = drawn(causal=True, mask=~padding[:, None, None])
    ids = np.where(padding, 4, IDS)
    assert_repeats(feed(watched(), whole, padding=padding, tokens=ids)[0], whole, ids, padding)


def test_a_text_of_one_token_alone_is_worked_out_in_parts(monkeypatch):
    monkeypatch.setattr("softlookup.watched.repeats._NUMBERS", 6 * 5 * 7)
    monkeypatch.setattr("softlookup.watched.shares._ROWS", 4)
    whole, ids = drawn(causal=True), np.zeros((2, LENGTH), np.int64)
    assert_repeats(feed(watched(), whole, tokens=ids)[0], whole, ids)


def test_where_nothing_repeats_there_is_no_mean():
    seen = feed(watched(), drawn(causal=True), tokens=np.tile(np.arange(LENGTH), (2, 1)))
    assert np.isnan(induction_share(seen[0]).value).all()
    assert "induction" not in repr(seen.summary())


def test_without_tokens_nothing_is_told():
    seen = feed(watched(), drawn(causal=True))
    assert induction_share(seen[0]) is None
    assert seen.summary()[0].duplicate is None
    feed(seen, drawn(causal=True), tokens=IDS, run=1)
    assert seen.summary()[0].duplicate is None, "one run that does not know leaves the column out"


def test_a_capture_whose_text_repeats_has_an_induction_head():
    seen = watch_capture(shipped.load("causal"), top=None, repeats=True)
    best = seen.summary().by("induction")[:2]
    assert [one.layer for one in best] == [17, 17]  # where docs/watched.md finds it by one row
    assert best[1].induction > 0.3
    assert watch_capture(shipped.load("causal"), top=None).summary()[0].induction is None
    with pytest.raises(DtypeError, match="repeats: must be True or False"):
        watch_capture(shipped.load("causal"), repeats=1)
