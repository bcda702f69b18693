"""A capture is made of lists, tuples or arrays alike; what it cannot hold is one sentence."""

import re

import numpy as np
import pytest

import softlookup as sl
from captured import assert_same, numbered
from softlookup import Lookup, load
from softlookup.captures import Axis, Capture, Layer
from softlookup.captures.fitting import MOST_LAYERS
from softlookup.cli.description import describe
from softlookup.errors import DtypeError, ShapeError
from softlookup.viewer import Session

LOOK = Lookup(*np.ones((3, 2, 4, 3)))
FOUR = numbered(4)


def made(axis, **options):
    return Capture("x", [Layer(LOOK, [axis], [axis], **options)])


@pytest.mark.parametrize(
    "axis",
    [
        Axis(list("abcd"), [-1, 0, 0, 1], [[0, 1], [3, 4]]),
        Axis(np.array(list("abcd")), np.array([-1, 0, 0, 1]), np.array([[0, 1], [3, 4]])),
        Axis(iter("abcd"), iter([-1, 0, 0, 1]), iter([(0, 1), [3, 4]])),
    ],
    ids=["lists", "arrays", "iterators"],
)
def test_lists_are_as_good_as_tuples(tmp_path, axis):
    plain = Axis(tuple("abcd"), (-1, 0, 0, 1), ((0, 1), (3, 4)))
    assert axis == plain
    assert hash(axis) == hash(plain)
    capture = made(axis, number=np.int64(7), heads=np.array([3, 5]))
    assert capture == Capture("x", (Layer(LOOK, (plain,), (plain,), "", 7, heads=(3, 5)),))
    capture.save(tmp_path / "run.safetensors")
    assert_same(load(tmp_path / "run.safetensors"), capture)
    assert Session(capture).handle("info", {})[0]["axes"][0]["words"] == [-1, 0, 0, 1]
    assert "heads    3, 5" in describe(capture, "x")
    sl.export_html(capture, tmp_path / "page.html")


WRONG = {
    "one string": (lambda: made(Axis("abcd")), "layers[0].queries[0].tokens", "got one string"),
    "no list": (lambda: made(Axis(np.array("abcd"))), "layers[0].queries[0].tokens", "one string"),
    "a number": (lambda: made(Axis(5)), "layers[0].queries[0].tokens", "got int. Pass a list"),
    "none": (lambda: made(Axis(None)), "layers[0].queries[0].tokens", "got NoneType"),
    "words 5": (lambda: made(Axis(FOUR.tokens, 5)), "layers[0].queries[0].words", "got int"),
    "half words": (lambda: made(Axis(FOUR.tokens, [0, 1, 1.5, 2])), "layers[0].queries[0].words",
        "one is 1.5"),
    "no words": (lambda: made(Axis(FOUR.tokens, [0, None, 1, 2])), "layers[0].queries[0].words",
        "one is None"),
    "true words": (lambda: made(Axis(FOUR.tokens, [True] * 4)), "layers[0].queries[0].words",
        "one is True"),
    "padding 5": (lambda: made(Axis(FOUR.tokens, None, 5)), "layers[0].queries[0].padding",
        "(start, stop); got 5"),
    "a prompt of 0.5": (lambda: made(Axis(FOUR.tokens, prompt=0.5)), "layers[0].queries[0].prompt",
        "one is 0.5"),
    "a span 5": (lambda: made(Axis(FOUR.tokens, None, [5])), "layers[0].queries[0].padding",
        "got (5,)"),
    "a span of three": (lambda: made(Axis(FOUR.tokens, None, [(0, 1, 2)])),
        "layers[0].queries[0].padding", "got ((0, 1, 2),)"),
    "a span of texts": (lambda: made(Axis(FOUR.tokens, None, ["ab"])),
        "layers[0].queries[0].padding", "got ('ab',)"),
    "a span of halves": (lambda: made(Axis(FOUR.tokens, None, [(0, 0.5)])),
        "layers[0].queries[0].padding", "one is 0.5"),
    "texts for axes": (lambda: made(list("abcd")), "queries", "must hold Axis; one is a list"),
    "a lone axis": (lambda: Layer(LOOK, FOUR, (FOUR,)), "queries", "got one Axis. Pass [Axis("),
    "no axes": (lambda: Layer(LOOK, (FOUR,), None), "keys", "got one NoneType"),
    "arrays": (lambda: Layer(np.ones((2, 4, 3)), (FOUR,), (FOUR,)), "look", "got ndarray"),
    "heads 5": (lambda: made(FOUR, heads=5), "layers[0].heads", "must be a list; got int"),
    "heads of floats": (lambda: made(FOUR, heads=(0.0, 1.0)), "layers[0].heads", "one is 0.0"),
    "heads of truths": (lambda: made(FOUR, heads=(False, True)), "layers[0].heads", "is False"),
    "a number that is text": (lambda: made(FOUR, number="3"), "layers[0].number", "got '3'"),
    "a name that is none": (lambda: made(FOUR, name=None), "layers[0].name", "got NoneType"),
    "a part that is none": (lambda: made(FOUR, part=3), "layers[0].part", "got int"),
    "a lone layer": (lambda: Capture("x", Layer(LOOK, (FOUR,), (FOUR,))), "layers",
        "got one Layer. Pass [Layer("),
    "lookups": (lambda: Capture("x", [LOOK]), "layers", "one is a Lookup"),
    "about a list": (lambda: Capture("x", made(FOUR).layers, ["model"]), "about", "got list"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_a_capture_cannot_hold_is_one_sentence(name):
    make, place, words = WRONG[name]
    with pytest.raises(DtypeError, match=re.escape(words)) as told:
        make()
    assert told.value.argument == place
    assert str(told.value).endswith(".")


def test_no_capture_has_more_layers_than_a_file_may():
    layer = Layer(LOOK, (FOUR,), (FOUR,))
    assert len(Capture("x", [layer] * MOST_LAYERS).layers) == MOST_LAYERS
    with pytest.raises(ShapeError, match=r"layers: must be at most 4,096; got 4,097\. Leave some"):
        Capture("x", [layer] * (MOST_LAYERS + 1))
