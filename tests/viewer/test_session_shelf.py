"""What a view is told about layers, axes and the shelf, what it is refused, and what it costs."""

import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from asking import ask, grid, overview
from hypothesis import example, given
from hypothesis import strategies as st

from captured import HOSTILE, captured, drawn, numbered, two_stacks
from softlookup import Lookup
from softlookup.captures import Capture, Layer, shipped
from softlookup.shelf import find
from softlookup.viewer import Session
from softlookup.viewer.session import OPERATIONS

CAPTURE = two_stacks()
SESSION = Session(CAPTURE)


def traced(layer, head, batch):
    """Return the trace of the head at that place of a layer of `CAPTURE`."""
    return CAPTURE.layers[layer].look.head(head, batch).trace()


@pytest.fixture
def session():
    return SESSION


SIZES = ("batch", "heads", "q_len", "kv_len", "head_dim", "value_dim")
ROWS = {"everywhere": {"query": 0}, "weights": {"rows": 0, "keys": 0}, "trace": {"row": 0}}


@pytest.mark.parametrize("zero", SIZES)
@pytest.mark.parametrize(
    "op", ["info", "overview", "grid", "facts", "everywhere", "weights", "trace"]
)
def test_axes_of_size_zero_have_answers_or_refusals(zero, op):
    size = {"batch": 2, "heads": 3, "q_len": 4, "kv_len": 5, "head_dim": 6, "value_dim": 7} | {
        zero: 0
    }
    lead = size["batch"], size["heads"]
    session = Session(captured(Lookup(
        np.ones((*lead, size["q_len"], size["head_dim"])),
        np.ones((*lead, size["kv_len"], size["head_dim"])),
        np.ones((*lead, size["kv_len"], size["value_dim"])),
    )))  # fmt: skip
    answer = ask(session, op, **ROWS.get(op, {}))
    told = answer[0] if isinstance(answer, tuple) else answer
    refused = {
        "batch": {"overview", "grid", "facts", "everywhere", "weights", "trace"},
        "heads": {"grid", "facts", "weights", "trace"},
        "q_len": {"everywhere", "weights", "trace"},
        "kv_len": {"weights"},
    }.get(zero, set())
    assert (told.get("ok") is False) == (op in refused), told
    if op == "everywhere" and zero == "kv_len":
        assert told["layers"][0]["heads"][0]["key"] == -1
    if op == "grid" and zero == "kv_len":
        assert told["shape"] == [4, 0]


def test_info_tells_layers_and_the_axes_they_share(session):
    info = ask(session, "info")
    assert (info["capture"], info["source"], info["modes"]) == (
        "given",
        "lookup",
        ["steps", "heads", "map", "table"],
    )
    assert info["title"] == "two stacks ⟨d800⟩"
    assert info["about"] == {
        "model": "made up", "license": HOSTILE[0], "origin": "⟨d800⟩⟨202e⟩", "⟨empty⟩": "nothing",
    }  # fmt: skip
    first, second, third = info["axes"]
    assert (first["tokens"][0], second["tokens"][0]) == ("a0", "b0")
    assert (first["words"], first["padding"]) == ([-1, 0, 1, 1, -1], [[0, 2]])
    assert (third["words"], third["padding"]) == (None, [[2, 3]])
    told = [
        (
            one["label"],
            one["name"],
            one["number"],
            one["part"],
            one["heads"],
            one["queries"],
            one["keys"],
        )
        for one in info["layers"]
    ]
    assert told == [
        ("decoder layer 0", "decoder.0.self", 0, "decoder", [1, 2, 5, 7], [0, 1], [0, 1]),
        ("decoder layer 2", "decoder.2.self", 2, "decoder", [1, 2, 5, 7], [0, 1], [0, 1]),
        ("cross layer 0", "decoder.0.cross", 0, "cross", [0, 1, 2, 3], [0, 1], [2]),
        ("encoder layer 0", "", 0, "encoder", [0, 1, 2, 3], [2], [2]),
    ]
    decoder, _, cross, encoder = info["layers"]
    assert (decoder["sizes"]["kv_heads"], decoder["sizes"]["group"]) == (2, 2)
    assert (cross["dtype"], encoder["dtype"]) == ("bfloat16", "float64")
    assert cross["options"]["kv_lens"] == [3, 2]
    assert encoder["options"]["q_offset"] == [3, -1]
    assert (encoder["sizes"]["value_dim"], encoder["editable"]) == (None, False)
    assert info["limits"]["grid_cells"] == 2**20


def test_every_op_takes_a_layer_and_the_axes_of_its_batch_entry(session):
    record = ask(session, "trace", layer=2, head=3, batch=1, row=4, top=3)
    assert (record["token"], record["key_tokens"]) == ("b4", ["<script>window.pwned=1</script>",
        "</script>", "<!--"])  # fmt: skip
    exact = traced(2, 3, 1)
    assert record["weights"] == exact.weights[4].tolist()
    found = ask(session, "weights", layer=2, head=3, batch=1, rows="4", keys="0,2")
    assert found["weights"] == [exact.weights[4, [0, 2]].tolist()]
    arrays = ask(session, "arrays", layer=2, head=3, batch=1)
    assert arrays["query"] == exact.query.astype(float).tolist()
    assert "no value" in ask(session, "arrays", layer=3)["error"]


def test_the_shelf_holds_what_was_brought_and_what_comes_along(session):
    shelf = ask(session, "info")["shelf"]
    assert [item["id"] for item in shelf] == ["given", "lesson", *shipped.names()]
    assert shelf[0]["title"] == "two stacks ⟨d800⟩"
    assert [item["source"] for item in shelf] == ["lookup", "lesson", "file", "file"]
    taught = ask(session, "info", capture="lesson")
    assert (taught["capture"], taught["source"], len(taught["layers"])) == ("lesson", "lesson", 1)
    assert [item["id"] for item in ask(Session(find("causal")), "info")["shelf"]] == [
        "causal", "lesson", "sentence",
    ]  # fmt: skip


def test_a_capture_of_the_shelf_is_asked_by_its_id(session):
    capture = shipped.load("sentence")
    _, weights, _ = grid(session, capture="sentence", layer=3, head=7)
    np.testing.assert_array_equal(weights, capture.layers[3].look.head(7, 0).trace().weights)
    assert len(overview(session, capture="causal", layer=2)[0]["heads"]) == 9


LARGE = Session(captured(Lookup(*[np.broadcast_to(np.float16(1), (3, 2**15, 1))] * 2)))
REFUSALS = {
    "no such capture": ("info", {"capture": "x"}, "capture", ["given, lesson", "got 'x'"]),
    "capture by place": ("grid", {"capture": "0"}, "capture", ["given", "got '0'"]),
    "no such layer": ("grid", {"layer": "4"}, "layer", ["0 ... 3", "got '4'"]),
    "layer by name": ("overview", {"layer": "decoder layer 0"}, "layer", ["0 ... 3"]),
    "mean layer": ("overview", {"layer": "mean"}, "layer", ["0 ... 3", "got 'mean'"]),
    "mean layer of a trace": ("trace", {"layer": "mean", "row": "0"}, "layer", ["got 'mean'"]),
    "mean head of a trace": ("trace", {"head": "mean", "row": "0"}, "head", ["0 ... 3"]),
    "head by number": ("grid", {"head": "7"}, "head", ["0 ... 3", "got '7'"]),
    "no such batch": ("facts", {"batch": "2"}, "batch", ["0 ... 1", "got '2'"]),
    "no such like": ("grid", {"layer": "mean", "like": "4"}, "like", ["0 ... 3"]),
    "no such query": ("everywhere", {"query": "5"}, "query", ["0 ... 4", "got '5'"]),
    "no query": ("everywhere", {}, "query", ["must be given", "0 ... 4"]),
    "no such rows": ("grid", {"rows": "0:6"}, "rows", ["0:5", "got '0:6'"]),
    "no rows": ("grid", {"rows": "2:2"}, "rows", ["0:5", "one wide"]),
    "rows backwards": ("grid", {"rows": "3:1"}, "rows", ["0:5"]),
    "one row": ("grid", {"rows": "3"}, "rows", ["start:stop", "got '3'"]),
    "keys of a longer axis": ("grid", {"layer": "2", "keys": "0:4"}, "keys", ["0:3"]),
    "words yes": ("grid", {"words": "yes"}, "words", ["0, 1", "got 'yes'"]),
    "words of a part": ("grid", {"words": "1", "rows": "0:1"}, "words", ["whole grid"]),
    "words unknown": ("grid", {"words": "1", "layer": "3"}, "words", ["does not say"]),
}
VAST = (
    ("grid", {}, "grid", ["1,048,576 cells", "32,768 x 32,768", "1,073,741,824", "rows=0:512"]),
    ("grid", {"rows": "0:16384", "keys": "0:64"}, "rows",
        ["268,435,456", "16,384 rows of 32,768 keys", "536,870,912"]),
    ("grid", {"head": "mean", "rows": "0:8192", "keys": "0:2"}, "rows", ["in 3 heads"]),
    ("overview", {}, "overview", ["134,217,728", "32,768 x 32,768", "a window"]),
    ("facts", {"head": "mean"}, "facts", ["1,073,741,824", "3 x 32,768 x 32,768"]),
)  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_has_the_real_numbers(session, name):
    op, args, argument, fragments = REFUSALS[name]
    assert_refused(ask(session, op, **args), argument, fragments)


@pytest.mark.parametrize(("op", "args", "argument", "fragments"), VAST)
def test_what_would_take_too_long_is_refused(op, args, argument, fragments):
    assert_refused(ask(LARGE, op, **args), argument, fragments)


def assert_refused(told, argument, fragments):
    assert told["ok"] is False
    assert told["argument"] == argument
    assert told["error"].startswith(f"{argument}: ")
    for fragment in fragments:
        assert fragment in told["error"]


def most_memory(session, **args):
    """Return what a grid needed at most, and its answer."""
    tracemalloc.start()
    answer = grid(session, **args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, answer


def test_a_strip_of_a_long_row_needs_little_memory():
    length = 100_000
    rng = np.random.default_rng(2)
    look = Lookup(drawn(rng, 4, 64, 4), *[drawn(rng, 4, length, 4) for _ in range(2)])
    session = Session(Capture("long", (Layer(look, (numbered(64),), (numbered(length),)),)))
    most, (_, weights, visible) = most_memory(session, head="mean", rows="5:6")
    assert weights.shape == (1, length)
    assert weights.sum() == pytest.approx(1)
    assert visible.all()
    assert most < 64 * 2**20
    few, (_, corner, _) = most_memory(session, rows="0:8", keys="0:8")
    most, (_, many, _) = most_memory(session, rows="0:64", keys="0:8")
    np.testing.assert_array_equal(many[:8], corner)
    assert most < 4 * few, "8 x as many rows are worked out in blocks"


def test_the_mean_of_many_heads_needs_the_memory_of_a_few():
    few, most = (
        most_memory(Session(captured(Lookup(*np.ones((2, n, 256, 4), np.float32)))), head="mean")[0]
        for n in (3, 60)
    )
    assert most < 1.5 * few


def test_many_threads_get_the_same_answers(session):
    questions = [
        (op, {"layer": layer, "batch": batch} | args)
        for op, args in (("grid", {"head": "mean"}), ("overview", {}), ("facts", {"head": 3}))
        for layer in range(4) for batch in range(2)
    ]  # fmt: skip
    alone = [ask(session, op, **args) for op, args in questions]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda one: ask(Session(CAPTURE), one[0], **one[1]), questions))
        shared = list(threads.map(lambda one: ask(session, one[0], **one[1]), questions))
    assert alone == together == shared


NAMES = (
    "capture",
    "layer",
    "batch",
    "head",
    "like",
    "row",
    "rows",
    "keys",
    "words",
    "query",
    "top",
    "key",
    "level",
    "i",
    "j",
    "count",
    "axis",
    "span",
    "buckets",
    "work",
)
GIVEN = ("queries", "keys", "0", "1", "2", "mean", "0:2", "1:3", "0,1", "given", "lesson", "causal")


@given(
    op=st.sampled_from(sorted(OPERATIONS)),
    args=st.dictionaries(
        st.sampled_from(NAMES), st.one_of(st.sampled_from(GIVEN), st.text(max_size=5)), max_size=4
    ),
)
@example(op="grid", args={"layer": "mean", "head": "mean", "words": "1"})
def test_nothing_asked_raises(op, args):
    answer, blob = SESSION.handle(op, args)
    json.dumps(answer, allow_nan=False)
    assert blob is None or isinstance(blob, bytes)
    if answer.get("ok") is False:
        assert answer["error"].isprintable()
