"""The means of one head, step by step, beside plain reductions of a dense softmax in float64."""

import threading
import time

import numpy as np
import pytest
from asking import ask, overview

import oracle
from cases import BFLOAT16
from patience import PATIENCE
from softlookup import Lookup
from softlookup.captures import Axis, Capture, Layer
from softlookup.viewer import Session, blocks, kinds, summaries

KINDS = ("first token", "special", "punctuation", "spaces", "words")
TEXTS = {  # of tokens, and what kind each is
    "[CLS]": "special", "the": "words", " bank": "words", ",": "punctuation", "##ly": "words",
    "\n": "spaces", "  ": "spaces", "7": "words", " …": "punctuation", "<|end|>": "special",
    "": "special", "é": "words", "</s>": "special", "...\n": "punctuation", "😀": "punctuation",
}  # fmt: skip


def axis(length, padding=()):
    texts = list(TEXTS)
    return Axis(tuple(texts[(2 * i) % len(texts)] for i in range(length)), None, tuple(padding))


def test_every_text_is_of_one_kind():
    assert kinds.KINDS == KINDS
    one = Axis(("x", *TEXTS))
    found = [KINDS[kind] for kind in kinds.labels(one)]
    assert found == ["first token", *TEXTS.values()]
    padded = Axis(("", "a", "b", "c"), padding=((0, 1), (3, 4)))
    found = [KINDS[kind] for kind in kinds.labels(padded)]
    assert found == ["special", "first token", "words", "special"]
    assert kinds.labels(Axis(())).shape == (0,)


def drawn(seed, q_len, kv_len, *, kv_heads=1, dtype=np.float32, size=1.5):
    rng = np.random.default_rng(seed)
    shapes = (2, q_len, 5), (kv_heads, kv_len, 5), (kv_heads, kv_len, 3)
    return [(size * rng.standard_normal(shape)).astype(dtype) for shape in shapes]


def spoilt(seed, q_len, kv_len, **how):
    """Draw arrays of which some rows come to NaN, some to -inf throughout."""
    query, key, value = drawn(seed, q_len, kv_len, **how)
    key[0, 2, 0] = np.nan
    key[0, :, 1] = np.abs(key[0, :, 1])
    query[0, 3] = [0, np.inf, 0, 0, 0]
    query[1, 4] = [0, -np.inf, 0, 0, 0]
    return query, key, value


def masked(q_len, kv_len, seed=5, share=0.6, empty=()):
    mask = np.random.default_rng(seed).random((2, q_len, kv_len)) < share
    mask[:, list(empty)] = False
    return mask


def biased(q_len, kv_len):
    rng = np.random.default_rng(6)
    bias = rng.standard_normal((1, q_len, kv_len)).astype(np.float32)
    bias[rng.random(bias.shape) < 0.3] = -np.inf
    return bias


SINKS = np.array([0.5, -1.0], np.float32)
NO_KEY_2 = np.arange(29) != 2
CASES = {
    "plain": (drawn(1, 41, 41), {}),
    "causal": (drawn(2, 41, 41), {"causal": True}),
    "float64": (drawn(3, 41, 41, dtype=np.float64), {"causal": True}),
    "bfloat16": (drawn(4, 41, 41, dtype=BFLOAT16), {"causal": True}),
    "float16": (drawn(5, 41, 41, dtype=np.float16), {}),
    "big-endian": (drawn(5, 41, 41, dtype=">f4"), {}),
    "own key heads": (drawn(6, 23, 23, kv_heads=2), {"causal": True}),
    "a window both ways": (drawn(7, 41, 41), {"window": (3, 5)}),
    "a causal window": (drawn(8, 41, 41), {"window": (7, None), "causal": True}),
    "only itself": (drawn(9, 17, 17), {"window": (0, 0)}),
    "a mask with empty rows": (drawn(10, 37, 37), {"mask": masked(37, 37, empty=(0, 5, 36))}),
    "a bias": (drawn(11, 29, 29), {"bias": biased(29, 29), "softcap": 2.0}),
    "kv_lens": (drawn(12, 29, 29), {"kv_lens": np.array(13), "causal": True}),
    "no keys at all": (drawn(13, 11, 11), {"kv_lens": np.array(0)}),
    "sinks": (drawn(14, 41, 41), {"sinks": SINKS, "causal": True}),
    "queries at the end": (drawn(15, 11, 41), {"causal": True, "q_offset": 30}),
    "queries before and behind": (drawn(16, 41, 11), {"window": (9, 9), "q_offset": -5}),
    "far behind": (drawn(17, 13, 7), {"q_offset": 1000}),
    "far before": (drawn(18, 13, 7), {"q_offset": -1000}),
    "no positions": (drawn(19, 13, 7), {}),
    "steep": (drawn(20, 41, 41, size=9.0), {"causal": True}),
    "NaN rows": (spoilt(21, 29, 29), {"mask": NO_KEY_2, "sinks": SINKS}),
    "NaN keys": (spoilt(22, 29, 29), {"causal": True}),
    "one query": (drawn(23, 1, 1), {}),
    "everything": (
        drawn(24, 41, 47),
        {"causal": True, "q_offset": 7, "window": (30, 2), "kv_lens": np.array(43), "scale": -0.7,
         "softcap": 1.9, "sinks": SINKS, "mask": masked(41, 47, share=0.8), "bias": biased(41, 47)},
    ),
}  # fmt: skip


def captured(name):
    """Return a capture of one case; where lengths are equal queries and keys are one text."""
    (query, key, value), options = CASES[name]
    q_len, kv_len = query.shape[-2], key.shape[-2]
    keys = axis(kv_len, [(0, 2)] if kv_len > 12 else ())
    queries = keys if q_len == kv_len else axis(q_len, [(0, 2)] if q_len > 12 else ())
    layer = Layer(Lookup(query, key, value, **options), (queries,), (keys,), heads=(3, 8))
    return Capture(name, (layer,))


def expected(name, head):
    """Return what a head comes to, from its dense weights."""
    (query, key, value), options = CASES[name]
    (layer,) = captured(name).layers
    queries, keys = layer.query_axis(), layer.key_axis()
    found = oracle.lookup(query, key, value, **options)
    weights, seen = found.weights[head].astype(np.float64), found.visible[head]
    real, counts = blocks.real(queries), seen.sum(axis=1)
    seeing, choosing = real & (counts > 0), real & (counts > 1)
    offset = options.get("q_offset", 0 if len(queries.tokens) == len(keys.tokens) else None)
    told = dict.fromkeys(("distance", "previous_share", "sink"))
    lost = np.where(np.isnan(weights).any(axis=1), np.nan, 0.0)
    with np.errstate(all="ignore"):
        entropy = lost - np.where(weights > 0, weights * np.log(weights), 0).sum(axis=1)
    told["entropy"] = mean(entropy, seeing)
    if options.get("sinks") is not None:
        told["sink"] = mean(1 - weights.sum(axis=1), seeing)
    if offset is not None:
        steps = np.arange(len(weights))[:, None] + offset - np.arange(weights.shape[1])
        told["distance"] = mean((weights * abs(steps)).sum(axis=1), seeing)
        if queries == keys:
            before = np.where(steps == 1, weights, 0).sum(axis=1)
            told["previous_share"] = mean(before, choosing & (seen & (steps == 1)).any(axis=1))
    named = [KINDS[label] for label in kinds.labels(keys)]
    for kind in KINDS:
        of_kind = np.array([one == kind for one in named])
        told[kind] = mean(np.where(of_kind, weights + lost[:, None], 0).sum(axis=1), choosing)
    return told


def mean(numbers, rows):
    return float(numbers[rows].mean()) if rows.any() else None


def summed_up(session, **args):
    """Return the last answer of a head that is asked until it is whole, and its picture."""
    for _ in range(1000):
        told = ask(session, "head", work=1, **args)
        if isinstance(told, tuple):
            break
        assert told["summary"] is None
        assert 0 <= told["done"] < told["of"]
    told, blob = told
    summary = told["summary"]
    assert told["done"] == told["of"]
    assert told["seconds_left"] == 0
    assert len(blob) == 4 * summary["rows"] * summary["columns"]
    return told, np.frombuffer(blob, "<f4").reshape(summary["rows"], summary["columns"])


def assert_comes_to(summary, wanted):
    """Assert that a head's numbers are those wanted, to within a float32 kernel's precision."""
    found = {name: summary[name] for name in ("entropy", "distance", "previous_share", "sink")}
    found |= {group["name"]: group["share"] for group in summary["groups"]}
    assert summary["first_share"] == found["first token"]
    assert found.keys() == wanted.keys()
    for name, number in wanted.items():
        if number is None:
            assert found[name] is None, name
        else:
            given = float(found[name])
            assert given == pytest.approx(number, rel=2e-5, abs=2e-6, nan_ok=True), name


@pytest.mark.parametrize("long", [False, True], ids=["from weights", "from a map"])
@pytest.mark.parametrize("step", [3, 512])
@pytest.mark.parametrize("name", CASES)
def test_a_head_comes_to_what_its_dense_weights_come_to(monkeypatch, name, step, long):
    monkeypatch.setattr(summaries, "STEP_ROWS", (step,))
    monkeypatch.setattr(summaries, "LONG", 0 if long else 48)
    session = Session(captured(name))
    for head, number in enumerate((3, 8)):
        told, _ = summed_up(session, head=head)
        assert told["summary"]["number"] == number
        assert told["by"].endswith("float64" if name == "float64" else "float32")
        assert_comes_to(told["summary"], expected(name, head))


@pytest.mark.parametrize("name", CASES)
def test_a_table_and_the_thumbnails_say_the_same(name):
    session = Session(captured(name))
    seen, pictures = overview(session)
    for head, shown in enumerate(seen["heads"]):
        told, picture = summed_up(session, head=head)
        for fact in ("number", "entropy", "sink", "previous_share"):
            assert_near(told["summary"][fact], shown[fact])
        assert_near(told["summary"]["first_share"], shown["first_share"])
        np.testing.assert_allclose(picture, pictures[head], rtol=1e-5, atol=1e-7)
        assert told["summary"]["per"] == seen["per"]


def assert_near(found, shown):
    if isinstance(shown, float):
        assert found == pytest.approx(shown, rel=1e-5, abs=1e-6)
    else:
        assert found == shown


def test_nothing_is_worked_out_unless_it_is_asked_for():
    session = Session(captured("causal"))
    for args in ({}, {"work": 0}):
        told = ask(session, "head", **args)
        assert (told["done"], told["summary"], told["seconds_left"]) == (0, None, None)
    summed_up(session, head=1)
    assert ask(session, "head")["done"] == 0
    told, blob = ask(session, "head", head=1)  # what is whole is kept
    assert (told["done"], len(blob)) == (told["of"], 4 * 41 * 41)


def test_each_step_goes_on_from_the_one_before(monkeypatch):
    """With no time at all a request takes one step of rows at most, and never none."""
    monkeypatch.setattr(summaries, "SLICE", 1e-9)
    monkeypatch.setattr(summaries, "SLICES", 1)
    monkeypatch.setattr(summaries, "STEP_ROWS", (4,))
    session, done = Session(captured("causal")), []
    while not isinstance(told := ask(session, "head", work=1), tuple):
        done.append(told["done"])
        assert told["seconds_left"] > 0
    costs = np.cumsum(np.arange(41) + 2)  # a row of n keys costs n + 1
    assert done == costs[3::4].tolist()
    assert told[0]["of"] == costs[-1]


def test_a_long_head_leaves_its_map_behind(monkeypatch):
    monkeypatch.setattr(summaries, "LONG", 40)
    session = Session(captured("causal"))
    summed_up(session)
    told = ask(session, "map")
    assert told["done"] == told["of"] > 0
    told, _ = summed_up(Session(captured("causal")))
    assert told["of"] == 2 * np.sum(np.arange(41) + 2)  # the map, and the rows


def test_a_head_whose_map_is_refused_starts_at_nothing(monkeypatch):
    monkeypatch.setattr(summaries, "LONG", 40)
    session = Session(captured("causal"))
    ask(session, "map")
    (one,) = session.kept._heads.values()
    one.refused = "too much"
    told = ask(session, "head")
    assert (told["done"], told["of"]) == (0, np.sum(np.arange(41) + 2))
    told, picture = summed_up(session)
    assert told["done"] == told["of"]
    assert picture.size == 0


def test_a_step_is_cut_by_what_its_rows_see(monkeypatch):
    monkeypatch.setattr(summaries, "SLICE", 1e-9)
    monkeypatch.setattr(summaries, "SLICES", 1)
    monkeypatch.setattr(summaries, "STEP_ROWS", (1, 2, 4, 8, 16))
    monkeypatch.setattr(summaries, "STEP_CELLS", 60)
    session, done = Session(captured("causal")), [0]
    while not isinstance(told := ask(session, "head", work=1), tuple):
        done.append(told["done"])
    costs = np.concatenate([[0], np.cumsum(np.arange(41) + 2)])
    steps = np.diff(np.searchsorted(costs, done)).tolist()
    assert steps[:5] == [8, 4, 2, 2, 2]
    assert set(steps[5:]) == {1, 2}


def test_few_heads_are_under_way_at_a_time(monkeypatch):
    monkeypatch.setattr(summaries, "MOST_UNDER_WAY", 1)
    monkeypatch.setattr(summaries, "SLICE", 1e-9)
    monkeypatch.setattr(summaries, "SLICES", 1)
    monkeypatch.setattr(summaries, "STEP_ROWS", (4,))
    session = Session(captured("causal"))
    first = ask(session, "head", work=1)["done"]
    assert ask(session, "head")["done"] == first
    ask(session, "head", head=1, work=1)
    assert ask(session, "head")["done"] == 0  # forgotten, and begun anew


def test_a_head_without_queries_or_keys_comes_to_nothing():
    for q_len, kv_len in ((0, 3), (3, 0)):
        look = Lookup(np.ones((1, q_len, 2)), np.ones((1, kv_len, 2)))
        layer = Layer(look, (axis(q_len),), (axis(kv_len),))
        told, picture = summed_up(Session(Capture("nothing", (layer,))))
        summary = told["summary"]
        facts = ("entropy", "first_share", "previous_share", "distance", "sink")
        assert [summary[name] for name in facts] == [None] * 5
        assert [group["share"] for group in summary["groups"]] == [None] * 5
        assert picture.size == 0


def test_a_head_that_is_not_there_is_refused():
    session = Session(captured("causal"))
    for args, argument in (
        ({"head": 2}, "head"),
        ({"work": 2}, "work"),
        ({"layer": "mean"}, "layer"),
    ):
        told = ask(session, "head", **args)
        assert (told["ok"], told["argument"]) == (False, argument)


def test_others_have_their_turns_between_two_steps(monkeypatch):
    """While a head is summed up another question is answered after each slice of work."""
    monkeypatch.setattr(summaries, "SLICE", 1e-9)
    session, answered = Session(captured("causal")), []
    real = summaries.Summary.work

    def work(summary, seconds):
        asking = threading.Thread(
            target=lambda: answered.append(ask(session, "trace", row=3)["row"])
        )
        asking.start()
        while len(session._turns) < 2:  # until it waits
            time.sleep(0.001)
        return real(summary, seconds)

    monkeypatch.setattr(summaries.Summary, "work", work)
    monkeypatch.setattr(summaries, "STEP_ROWS", (4,))
    ask(session, "head", work=1)
    assert len(answered) >= summaries.SLICES - 1


def test_others_are_answered_while_tokens_are_sorted(monkeypatch):
    session, answered = Session(captured("causal")), threading.Event()
    real, in_time = kinds.labels, []

    def labels(axis):
        asking = threading.Thread(target=lambda: ask(session, "trace", row=3) and answered.set())
        asking.start()
        in_time.append(answered.wait(PATIENCE))
        return real(axis)

    monkeypatch.setattr(summaries.kinds, "labels", labels)
    ask(session, "head")
    assert in_time == [True]


@pytest.mark.parametrize("causal", [True, False])
def test_a_small_distance_far_from_the_first_key_is_exact(causal):
    """The token before, at position 20,000: float32 leaves no digit of 20,000 less 19,999."""
    length, rows = 20_000, 600
    frequencies = np.exp(-np.arange(8) / 2)
    angles = np.arange(length)[:, None] * frequencies
    place = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    query = 60 * np.roll(place, 1, axis=0)[-rows:]  # each looks for the position before its own
    arrays = [array[None].astype(np.float32) for array in (query, place)]
    look = Lookup(*arrays, scale=1.0, causal=causal, q_offset=length - rows)
    capture = Capture("before", (Layer(look, (axis(rows),), (axis(length),)),))
    told, _ = summed_up(Session(capture))
    weights = oracle.lookup(
        *arrays, arrays[1], scale=1.0, causal=causal, q_offset=length - rows
    ).weights[0]
    steps = abs(np.arange(length - rows, length)[:, None] - np.arange(length))
    exact = float((weights * steps).sum(axis=1).mean())
    assert exact < 5
    assert told["summary"]["distance"] == pytest.approx(exact, rel=1e-4)
