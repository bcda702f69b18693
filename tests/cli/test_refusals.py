"""Wrong input is one line on stderr and exit code 2, whatever it is."""

import json

import numpy as np
import pytest

from softlookup.cli import main
from softlookup.errors import OptionError

REFUSALS = {
    "unknown command": (["shwo"], ["shwo", "show"]),
    "unknown option": (["--nope"], ["--nope", "softlookup --help"]),
    "misspelt option": (["trace", "lesson", "--qery", "1"], ["--qery", "--query"]),
    "missing argument": (["trace"], ["lesson|FILE", "softlookup trace --help"]),
    "extra argument": (["show", "a", "b"], ["extra argument", "b"]),
    "option without value": (["trace", "lesson", "--query"], ["--query"]),
    "text for a number": (["trace", "lesson", "--head", "x"], ["--head", "int"]),
    "top 0": (["trace", "lesson", "--top", "0"], ["--top", "1"]),
    "no such token": (["trace", "lesson", "--query", "9"], ["query: ", "'9'", "1, 2, 3"]),
    "no such position": (["trace", "lesson", "--query", "@3"], ["query: ", "@3", "0 ... 2"]),
    "no such head": (["trace", "lesson", "--head", "1"], ["head: ", "0 ... 0", "got 1"]),
    "negative batch": (["trace", "lesson", "--batch", "-1"], ["batch: ", "got -1"]),
    "no such file": (["info", "none.json"], ["none.json: ", "there is none"]),
    "lesson misspelt": (["trace", "leson"], ["leson: ", "Did you mean 'lesson'?"]),
    "lesson in capitals": (["show", "LESSON"], ["Did you mean 'lesson'?"]),
    "folder": (["show", "."], [".: ", "folder"]),
    "other suffix": (["trace", __file__], [".json, .npz or .safetensors", "'.py'"]),
    "empty name": (["info", ""], ["folder"]),
    "no such port": (["show", "--port", "65536"], ["port: ", "0 ... 65535", "65536"]),
    "text port": (["show", "--port", "http"], ["--port", "int"]),
    "no such skill": (["quiz", "--skill", "magic"], ["skill: ", "magic", "softmax"]),
    "control characters": (["info", "\x1b[31m\n.json"], ["there is none"]),
    "control characters in an option": (["--\x1b[31m"], ["No such option"]),
    "control characters in an argument": (["show", "a", "\x1b[31m\n"], ["extra argument"]),
    "lone surrogate": (["info", "\udcff.json"], ["there is none"]),
    "empty command": ([""], ["No such command"]),
}


def refused(capsys, *args):
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err[:-1].isprintable(), "more than one line, or a control character"
    return err


@pytest.mark.parametrize("name", REFUSALS)
def test_wrong_input_is_one_line(capsys, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    args, fragments = REFUSALS[name]
    line = refused(capsys, *args)
    for fragment in fragments:
        assert fragment in line


def test_a_sentence_of_ours_is_one_readable_line(capsys, monkeypatch):
    def refuse(*_):
        raise OptionError("word", "must be\n\x1b[31mshort\u202e.")

    monkeypatch.setattr("softlookup.lesson.as_text", refuse)
    assert refused(capsys, "lesson") == "word: must be ⟨001b⟩[31mshort⟨202e⟩.\n"


def test_a_damaged_file_is_one_line(capsys, tmp_path):
    file = tmp_path / "run.json"
    for content in ("", "{", "[[[", '{"query": 1}', '{"query": [[1]], "key": [[1, 2]]}', "\ud800"):
        file.write_text(content, encoding="utf-8", errors="surrogatepass")
        for command in ("info", "trace", "show"):
            assert refused(capsys, command, str(file)).startswith(f"{file}: ")


def test_many_rows_must_be_chosen_from(capsys, tmp_path):
    np.savez(tmp_path / "run.npz", query=np.ones((65, 1)), key=np.ones((65, 1)))
    line = refused(capsys, "trace", str(tmp_path / "run.npz"))
    assert line.startswith("query: ")
    assert "more than 64 tokens; there are 65" in line
    assert "--query @64" in line


def test_tokens_that_look_alike_must_be_chosen_by_position(capsys, tmp_path):
    file = tmp_path / "run.json"
    eye = np.eye(3).tolist()
    file.write_text(json.dumps({"query": eye, "key": eye, "tokens": ["the", "cat", "the"]}))
    line = refused(capsys, "trace", str(file), "--query", "the")
    assert "@0, @2" in line


def test_a_file_called_lesson_is_reached_by_its_path(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lesson").write_text("{}")
    assert main(["info", "lesson"]) == 0
    assert "worked example" in capsys.readouterr().out
    assert "must end in" in refused(capsys, "info", "./lesson")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("clock", "2 are shown like that. Choose a position: @1, @26"),
        ("clok", "did you mean 'clock'?"),
        ("@" + "9" * 5000, "must be a position 0 ... 36"),
    ],
)
def test_a_token_is_found_as_it_is_shown_or_named_when_it_is_near(capsys, query, words):
    from softlookup.cli import main

    assert main(["trace", "causal", "--query", query]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
