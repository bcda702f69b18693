"""The commands on captures of many layers: which layer and head they mean, and how they say it."""

import json

import numpy as np
import pytest

from captured import captured, two_stacks
from softlookup import Lookup
from softlookup.captures import Capture, shipped
from softlookup.cli import main


@pytest.fixture(autouse=True)
def two(tmp_path, monkeypatch):
    """A capture with several stacks, in the folder where the commands run."""
    monkeypatch.chdir(tmp_path)
    capture = two_stacks()
    capture.save("two.safetensors")
    return capture


def printed(capsys, *args):
    assert main(args) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.replace("\n", "").isprintable()
    return out


def test_info_tells_layers_that_are_alike_at_once(capsys, assert_golden):
    assert_golden("info_two_stacks.txt", printed(capsys, "info", "two.safetensors"))


def test_info_tells_what_comes_with_the_package(capsys):
    text = printed(capsys, "info", "sentence")
    for line in (
        "  layers   0, 1, 2, 3, 4, 5 (encoder.layer.0.attention.self, ...)",
        "  license  Apache-2.0",
        "  next     softlookup show sentence",
    ):
        assert f"{line}\n" in text
    assert "kv_heads 3," in printed(capsys, "info", "causal")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ([], "decoder layer 0 (decoder.0.self), head 1, batch entry 0 of 2"),
        (["--layer", "2", "--head", "7"],
            "decoder layer 2 (decoder.2.self), head 7, batch entry 0 of 2"),
        (["--layer", "cross layer 0", "--head", "2", "--batch", "1"],
            "cross layer 0 (decoder.0.cross), head 2, batch entry 1 of 2"),
        (["--layer", "encoder layer 0"], "encoder layer 0, head 0, batch entry 0 of 2"),
    ],
)  # fmt: skip
def test_a_trace_says_first_which_head_it_shows(capsys, args, line):
    text = printed(capsys, "trace", "two.safetensors", "--query", "@1", *args)
    assert text.splitlines()[0] == f"{line} (choose with --layer, --head, --batch)"


def test_layers_without_a_batch_are_told_by_layer_and_head(capsys):
    text = printed(capsys, "trace", "sentence", "--layer", "3", "--head", "5", "--query", "@6")
    first, empty, title, *_ = text.splitlines()
    assert first == (
        "layer 3 (encoder.layer.3.attention.self), head 5 (choose with --layer, --head)"
    )
    assert (empty, title[:10]) == ("", "token bank")


@pytest.mark.parametrize("name", ["2", "decoder layer 2", "decoder.2.self"])
def test_a_layer_has_a_number_a_label_and_a_name(capsys, two, name):
    args = ("--layer", name, "--head", "5", "--batch", "1", "--query", "b3", "--json")
    said = json.loads(printed(capsys, "trace", "two.safetensors", *args))
    assert (said["layer"], said["head"], said["batch"]) == ("decoder layer 2", 5, 1)
    exact = two.trace([3], head=5, batch=1, layer=name)
    assert said["rows"][0]["weights"] == exact.weights[0].tolist()
    assert exact.tokens == ("b0", "b1", "b2", "b3", "b4")
    np.testing.assert_array_equal(
        exact.weights[0], two.layers[1].look.head(2, 1).trace([3]).weights[0]
    )


def test_layer_and_head_of_a_shipped_capture_are_the_models_numbers(capsys):
    args = ("--layer", "17", "--head", "8", "--query", "@36", "--json")
    said = json.loads(printed(capsys, "trace", "causal", *args))
    exact = shipped.load("causal").trace([36], layer=17, head=8)
    assert said["rows"][0]["weights"] == exact.weights[0].tolist()


STACKS = "There are decoder layer 0, decoder layer 2, cross layer 0, encoder layer 0."
SOME = "There are layer 0, layer 5, layer 16, layer 17, layer 18, layer 29."
CHOICE = "Choose one of 'decoder layer 0', 'cross layer 0', 'encoder layer 0'."
WORDS = "'lesson', 'sentence', 'causal'"
REFUSALS = {
    "a number of three stacks": (["two.safetensors", "--layer", "0"],
        f"layer: must be one layer; 3 are called 0. {CHOICE}"),
    "no such layer": (["two.safetensors", "--layer", "1"],
        f"layer: must be a recorded one; got 1. {STACKS}"),
    "a layer of the lesson": (["lesson", "--layer", "x"],
        "layer: must be a recorded one; got x. There is layer 0."),
    "no name": (["two.safetensors", "--layer", ""],
        f"layer: must be a recorded one; got ⟨empty⟩. {STACKS}"),
    "an endless number": (["causal", "--layer", "9" * 5000],
        f"layer: must be a recorded one; got {'9' * 39}…. {SOME}"),
    "a layer that was not recorded": (["causal", "--layer", "1"],
        f"layer: must be a recorded one; got 1. {SOME}"),
    "a head that was not recorded": (["two.safetensors", "--head", "3"],
        "head: must be one of the recorded 1, 2, 5, 7 of decoder layer 0; got 3."),
    "no such head": (["sentence", "--head", "12"],
        "head: must lie in 0 ... 11; got 12. It counts from 0."),
    "a shipped capture misspelt": (["sentense"],
        f"sentense: must be {WORDS} or a file; there is no such file. Did you mean 'sentence'?"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_names_what_there_is(capsys, name):
    args, line = REFUSALS[name]
    assert main(["trace", *args, "--query", "@0"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{line}\n")


def test_many_layers_and_heads_are_not_all_listed(capsys):
    look = Lookup(*np.ones((2, 12, 1, 1)))
    captured(look, heads=tuple(range(5, 17))).save("heads.safetensors")
    assert main(["trace", "heads.safetensors", "--head", "0"]) == 2
    assert "5, 6, 7, 8, 9, 10, 11, 12 and 4 more of layer 0; got 0." in capsys.readouterr().err


def test_hostile_names_are_printed_readably(capsys):
    hostile = captured(Lookup(*np.ones((2, 2, 1))), name="\x1b[31m", part="\u202e")
    layers = (*hostile.layers, *two_stacks().layers)
    Capture("\x1b]0;x\a", layers, {"\x1b[31m": "\n"}).save("hostile.safetensors")
    for args in (["info"], ["trace", "--query", "@0"], ["trace", "--query", "@0", "--json"]):
        printed(capsys, *args, "hostile.safetensors")
    assert main(["trace", "hostile.safetensors", "--layer", "0"]) == 2
    err = capsys.readouterr().err
    assert err[:-1].isprintable()
    assert "⟨202e⟩ layer 0" in err


def test_a_damaged_file_is_one_line(capsys, tmp_path):
    content = (tmp_path / "two.safetensors").read_bytes()
    for end in (0, 7, 8, 100, len(content) - 1):
        (tmp_path / "cut.safetensors").write_bytes(content[:end])
        for command in ("info", "trace", "show"):
            assert main([command, "cut.safetensors"]) == 2
            out, err = capsys.readouterr()
            assert (out, err.count("\n")) == ("", 1)
            assert err.startswith("cut.safetensors: must be a whole .safetensors file; ")
