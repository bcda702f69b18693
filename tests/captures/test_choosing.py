"""Which layer, head and batch entry is meant: nothing is ignored, and each can be reached."""

import re

import numpy as np
import pytest

from captured import numbered
from softlookup import Lookup
from softlookup.captures import Capture, Layer
from softlookup.cli import main
from softlookup.errors import DtypeError, OptionError

ONE = (numbered(2),)


def layer(number=0, name="", part=""):
    return Layer(Lookup(*np.full((3, 3, 2, 2, 2), number + 1.0)), ONE, ONE, name, number, part)


def capture(*layers):
    return Capture("x", layers)


SIX = capture(*(layer(number) for number in range(6)))


WHOLE = "must be a whole number; got"
CALLED = "layer: must be a number, a label or a name; got"
ALONE = "batch: goes with head: without it the lookup has the whole batch; got"


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda: SIX.lookup(5, batch=7), OptionError, f"{ALONE} 7. Add head=, or leave batch out."),
        (lambda: SIX.lookup(5, batch=-1), OptionError, f"{ALONE} -1."),
        (lambda: SIX.lookup(5, batch=0), OptionError, f"{ALONE} 0."),
        (lambda: SIX.lookup(5, 0, "0"), DtypeError, f"batch: {WHOLE} '0'. Pass e.g. 0."),
        (lambda: SIX.lookup(5, 0, True), DtypeError, f"batch: {WHOLE} True."),
        (lambda: SIX.lookup(5, 0, 0.0), DtypeError, f"batch: {WHOLE} 0.0."),
        (lambda: SIX.trace(batch=None), DtypeError, f"batch: {WHOLE} None."),
        (lambda: SIX.layer(5.0), DtypeError, f"{CALLED} 5.0."),
        (lambda: SIX.layer(True), DtypeError, f"{CALLED} True."),
        (lambda: SIX.layer([5]), DtypeError, f"{CALLED} [5]."),
        (lambda: SIX.lookup(5, True), DtypeError, f"head: {WHOLE} True."),
        (lambda: SIX.lookup(5, 1.0), DtypeError, f"head: {WHOLE} 1.0."),
        (lambda: SIX.trace(head="1"), DtypeError, f"head: {WHOLE} '1'."),
        (lambda: SIX.lookup(5, 2), OptionError, "head: must lie in 0 ... 1; got 2."),
        (lambda: SIX.lookup(5, 1, 3), OptionError, "batch: must lie in 0 ... 2; got 3."),
    ],
)
def test_what_is_wrong_is_one_sentence(ask, error, sentence):
    with pytest.raises(error, match=re.escape(sentence)):
        ask()


def test_numbers_of_numpy_are_numbers():
    one = SIX.lookup(np.int64(5), np.int32(1), np.uint8(2))
    np.testing.assert_array_equal(one.weights(), SIX.lookup(5, 1, 2).weights())
    assert SIX.lookup(5, 1).problem.query[0, 0, 0, 0] == 6, "batch entry 0 where it is left out"


def test_a_layer_named_by_a_number_is_reached_by_its_name():
    seven, other = layer(0, "7"), layer(7, "b")
    found = capture(seven, other)
    assert found.layer("7") is seven
    assert found.layer(7) is other
    assert found.layer("layer 7") is other
    assert capture(layer(0, "7")).layer("7").number == 0
    assert capture(layer(3, "@1"), layer(4)).layer("@1").number == 3


def test_a_name_of_digits_is_reached_in_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    capture(layer(0, "7"), layer(1, "b")).save("run.safetensors")
    assert main(["trace", "run.safetensors", "--layer", "7", "--query", "@0"]) == 0
    assert capsys.readouterr().out.startswith("layer 0 (7), head 0")
    assert main(["export", "run.safetensors", "-o", "page.html", "--layers", "7"]) == 0
    assert "x, 2 heads" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("layers", "choices"),
    [
        ([layer(), layer()], ["@0", "@1"]),
        ([layer(), layer(1), layer()], ["@0", "@2"]),
        ([layer(0, "a"), layer(0, "b")], ["a", "b"]),
        ([layer(0, "a"), layer(0, "a"), layer(0, "b")], ["@0", "@1", "b"]),
        ([layer(0, "a", "encoder"), layer(0, "a", "decoder")], ["encoder layer 0",
            "decoder layer 0"]),
        ([layer(0, "a" * 99), layer(0, "\x1b")], ["@0", "@1"]),
    ],
    ids=["alike", "alike, apart", "names", "some names", "labels", "names nobody can type"],
)  # fmt: skip
def test_layers_that_are_called_alike_are_told_apart(layers, choices):
    found = capture(*layers)
    with pytest.raises(OptionError) as told:
        found.layer(0)
    assert re.findall(r"'(.+?)'", str(told.value)) == choices
    alike = [one for one in layers if one.number == 0]
    assert [found.layer(choice) for choice in choices] == alike
    assert all(found.layer(choice) is one for choice, one in zip(choices, alike, strict=True))


@pytest.mark.parametrize("name", ["@6", "@", "@x", "@-1", "@" + "9" * 5000])
def test_a_position_that_is_not_there_is_refused(name):
    with pytest.raises(OptionError, match=r"must be a recorded one; got @.*There are layer 0,"):
        SIX.layer(name)
