"""What the first token and the token before get: exact, whatever else is looked at, and the page's.

The expected values are loops over the oracle's weights, and over what the page works out itself.
"""

import numpy as np
import pytest
from feeding import drawn, feed, first_real, left_padding, watched

import oracle
from softlookup.captures import shipped
from softlookup.viewer import blocks, kinds
from softlookup.viewer.opened import Place
from softlookup.viewer.readings import Means, read
from softlookup.watched import watch_capture
from softlookup.watched.measures import first_share, previous_share

LENGTH = 13
STEPS = (0, 7, 8, 9, 10, 11, 12, 13)
LEFT, RIGHT = left_padding([13, 9], LENGTH), np.arange(LENGTH) >= np.array([13, 9])[:, None]
RNG = np.random.default_rng(5)
CHUNKS = np.arange(LENGTH)[:, None] // 4 == np.arange(LENGTH) // 4
CASES = {
    "causal": {"causal": True},
    "two sides": {},
    "window": {"causal": True, "window": (3, None)},
    "window of one": {"causal": True, "window": (1, None)},
    "sees itself alone": {"causal": True, "window": (0, None)},
    "window on both sides": {"window": (2, 1)},
    "softcap and sinks": {"causal": True, "softcap": 0.7, "sinks": np.ones(6, np.float32)},
    "bias": {"causal": True, "bias": RNG.standard_normal((1, 6, LENGTH, LENGTH)).astype("f")},
    "bias that hides": {"bias": np.where(CHUNKS, np.float32(0.5), -np.inf).astype(np.float32)},
    "chunks": {"causal": True, "mask": CHUNKS},
    "a mask a head": {"mask": RNG.random((1, 6, LENGTH, LENGTH)) < 0.15},
    "a mask over keys": {"mask": RNG.random((2, 1, 1, LENGTH)) < 0.2},
    "kv_lens": {"kv_lens": [13, 4]},
}


def assert_shares(layer, whole, *, padding=None):
    """Assert both means by loops over rows that see several keys."""
    found = oracle.lookup(*whole.arrays, **whole.options)
    first = first_real(whole, padding)
    got = {0: [[] for _ in layer.heads], 1: [[] for _ in layer.heads]}
    seen = found.visible
    for batch, head, row in np.ndindex(found.weights.shape[:3]):
        if (found.weights[batch, head, row] > 0).sum() < 2:
            continue
        if padding is not None and padding[batch, row]:
            continue
        weight = found.weights[batch, head, row]
        got[0][head].append(weight[first[batch]])
        if row and seen[batch, head, row, row - 1]:
            got[1][head].append(weight[row - 1])
    for share, parts in ((first_share, got[0]), (previous_share, got[1])):
        mean = [np.mean(part) if part else np.nan for part in parts]
        np.testing.assert_allclose(share(layer).value, mean, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_both_are_exact_under_every_rule(options):
    whole = drawn(**options)
    assert_shares(feed(watched(), whole, asked={"top": 1})[0], whole)


@pytest.mark.parametrize("options", [CASES["causal"], CASES["window"], CASES["bias"]])
def test_steps_add_up(options):
    whole = drawn(**options)
    assert_shares(feed(watched(), whole, STEPS, asked={"top": 1})[0], whole)


def test_a_key_that_a_cache_let_go_gets_nothing():
    whole = drawn(causal=True)
    made = feed(watched(), whole, STEPS, crop=4, asked={"top": 1})
    cropped = np.tril(np.ones((LENGTH, LENGTH), bool))
    for row in STEPS[1:-1]:
        cropped[row, : row - 3] = False
    assert_shares(made[0], whole._replace(options={"mask": cropped}))


@pytest.mark.parametrize(("padding", "causal"), [(LEFT, True), (LEFT, False), (RIGHT, False)])
def test_padding_is_no_token_and_its_rows_do_not_count(padding, causal):
    whole = drawn(causal=causal, mask=~padding[:, None, None])
    made = feed(watched(), whole, padding=padding, asked={"top": 1})
    assert_shares(made[0], whole, padding=padding)


def test_a_long_text_is_worked_out_in_blocks(monkeypatch):
    monkeypatch.setattr("softlookup.watched.shares._ROWS", 3)
    monkeypatch.setattr("softlookup.watched.shares._CELLS", 40)
    for name in ("causal", "chunks"):
        whole = drawn(**CASES[name])
        assert_shares(feed(watched(), whole, asked={"top": 1})[0], whole)


def test_a_call_that_does_not_say_leaves_the_columns_out():
    """A number that is not exact is none: the column of both is left out."""
    whole = drawn(causal=True)
    made = feed(watched(), whole, shares=False)
    assert made.summary()[0].previous is None
    assert "previous" not in repr(made.summary())
    mixed = feed(watched(), whole, (0, 7))
    feed(mixed, whole, (7, 13), shares=False)
    assert mixed.summary()[0].first is None


def test_keys_of_another_text_have_no_previous():
    made = feed(watched(), drawn(kv_len=5), part="cross")
    assert made.summary()[0].previous is None
    assert made.summary()[0].first is not None


@pytest.mark.parametrize("name", ["sentence", "causal"])
def test_the_page_says_the_same(name):
    """The numbers that the page's tooltip and its table of heads show of the same quantities."""
    capture = shipped.load(name)
    layers = {layer.number: layer for layer in capture.layers}
    for record in watch_capture(capture, top=2).summary():
        layer = layers[record.layer]
        place = Place(layer, layer.heads.index(record.head), 0)
        means = Means(place)
        for rows in blocks.row_blocks(place.look):
            means.add(rows, read(place.look, rows, kinds.labels(place.keys)))
        (first, *_) = means.shares(len(kinds.KINDS))
        assert record.previous == pytest.approx(means.previous(), abs=2e-6)
        assert record.first == pytest.approx(first, abs=2e-6)
        assert record.entropy == pytest.approx(means.of_seeing("entropy"), abs=2e-6)
