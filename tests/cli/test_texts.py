"""What ``--text`` may be, and what small things are called."""

import pytest

from softlookup import load
from softlookup.captures import shipped
from softlookup.cli.capturing import read_text
from softlookup.cli.exporting import numbers
from softlookup.errors import FileError, OptionError


@pytest.mark.parametrize("text", ["", "  \n", "\t"])
def test_an_empty_text_is_refused(text, tmp_path):
    with pytest.raises(OptionError, match="text: must hold a few words; it is empty"):
        read_text(text)
    file = tmp_path / "empty.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match="text: must hold a few words; it is empty"):
        read_text(str(file))


def test_a_folder_is_no_text(tmp_path):
    with pytest.raises(FileError, match="must be a text, or a file; it is a folder"):
        read_text(str(tmp_path))


@pytest.mark.parametrize("text", ["the bank", "a\0b", "x" * 5000, "dir/that is not there"])
def test_what_is_no_file_is_the_text_itself(text):
    assert read_text(text) == text


@pytest.mark.parametrize("span", ["5-3", "99999-0"])
def test_a_span_that_runs_backwards_is_turned_round_in_the_advice(span):
    first, last = span.split("-")
    with pytest.raises(OptionError, match=f"got {span}. Write {last}-{first}."):
        numbers(span, "layers")


def test_a_capture_and_a_layer_say_what_they_are_in_one_line():
    capture = shipped.load("causal")
    for said in (repr(capture), repr(capture.layers[0]), repr(load)):
        assert "\n" not in said
        assert len(said) < 220
    assert "6 layers" in repr(capture)
    assert "layer 0" in repr(capture.layers[0])
