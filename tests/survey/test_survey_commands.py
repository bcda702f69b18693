"""``softlookup survey`` and ``softlookup heads`` in a terminal."""

import re
import time

import pytest

from softlookup.cli import main, terminal
from softlookup.surveys import open_survey, surveying
from surveyed import TEXTS, made

pytestmark = pytest.mark.models


def run(capsys, *words):
    code = main([*map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def survey(model, texts, out, *more):
    return ("survey", "--model", model, "--texts", texts, "-o", out, "--workers", "0", *more)


def test_what_is_printed(tiny_model, here, written, capsys, assert_golden):
    tmp_path = here
    lines = [{"text": text} for text in TEXTS] + ["bad", {"text": ""}, {"no\u202e": 1}]
    written(tmp_path / "texts.jsonl", lines)
    code, out, err = run(capsys, *survey(tiny_model, "texts.jsonl", "out", "--lines", "3"))
    assert code == 0
    assert_golden("survey_tiny.txt", f"{err}{out}")
    again = run(capsys, *survey(tiny_model, "texts.jsonl", "out", "--lines", "3"))
    assert again == (0, out, err), "what is whole says the same"
    (tmp_path / "out" / "rows" / "part-000001.parquet").write_bytes(b"")
    _, _, err = run(capsys, *survey(tiny_model, "texts.jsonl", "out", "--lines", "3"))
    assert err.startswith(
        "goes on: 5 of 8 lines are there\n"
        "rows/part-000001.parquet: was damaged, and is made again\n"
    )


def test_a_log_is_told_how_far_it_is(tiny_model, tmp_path, corpus, capsys, monkeypatch):
    write = surveying.write_partition

    def slow(*args):
        time.sleep(0.3)
        write(*args)

    monkeypatch.setattr(surveying, "write_partition", slow)
    monkeypatch.setattr(terminal, "_FIRST", 0.02)
    monkeypatch.setattr(terminal, "_EVERY", 0.02)
    code, out, err = run(capsys, *survey(tiny_model, corpus, tmp_path / "out", "--lines", "2"))
    assert (code, out[:5]) == (0, "wrote")
    said = [
        re.fullmatch(r"(\d) of 5 lines(, about \d:\d\d:\d\d left)?", one) for one in err.split("\n")
    ]
    assert all(said[:-1]), err
    told = [(one[1], bool(one[2])) for one in said[:-1]]
    assert {("0", False), ("2", False)} <= set(told), "nothing is guessed from the start alone"
    assert "4" in dict(told)
    assert told == sorted(told)


MANY = ["bad"] * 14 + [{"t": "the bank"}] * 3
FIRST = [f"line {n}: must be JSON; it is not, at character 0; skipped" for n in range(1, 11)]


def test_many_skipped_lines_are_counted(tiny_model, here, written, capsys):
    written(here / "t.jsonl", MANY)
    code, out, err = run(capsys, *survey(tiny_model, "t.jsonl", "out", "--field", "t"))
    assert code == 0
    *first, last = err.splitlines()
    assert first == FIRST
    assert (
        last == "and 4 more lines skipped; softlookup.surveys.open_survey('out').skipped names all"
    )
    assert [one.line for one in open_survey("out").skipped] == list(range(1, 15))
    assert "3 texts, 24 rows in 2 files; 14 lines skipped" in out


def test_a_run_that_is_interrupted_names_what_it_skipped(
    tiny_model, here, written, capsys, monkeypatch
):
    written(here / "t.jsonl", MANY)
    write = surveying.write_partition

    def interrupted(folder, part, block):
        if part == 3:
            raise KeyboardInterrupt
        write(folder, part, block)

    monkeypatch.setattr(surveying, "write_partition", interrupted)
    words = survey(tiny_model, "t.jsonl", "out", "--field", "t", "--lines", "4")
    code, out, err = run(capsys, *words)
    assert (code, out) == (130, "")
    *first, more, whole = err.splitlines()
    assert first == FIRST
    assert more.startswith("and 2 more lines skipped; ")
    assert whole == "3 of 5 files are whole; run the same line again, it goes on"


REFUSED = {
    "--lines 0": "lines: must lie in 1 ... 65,536; got 0.",
    "--top 65": "top: must lie in 0 ... 64; got 65.",
    "--workers -1": "workers: must lie in 0 ... 1,024; got -1.",
    "--layers a": "layers: must be numbers; got 'a'. Write 0,3-5.",
    "--longest 0": "longest: must lie in 1 ... 2,147,483,648; got 0.",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused_is_one_line(tiny_model, corpus, tmp_path, capsys, words):
    found = run(capsys, *survey(tiny_model, corpus, tmp_path / "out", *words.split()))
    assert found == (2, "", f"{REFUSED[words]}\n")
    assert not (tmp_path / "out").exists()


def test_heads_of_what_is_no_survey(tmp_path, capsys):
    code, _, err = run(capsys, "heads", tmp_path, "--no-browser")
    assert code == 2
    said = "must be the folder of a survey; it holds no manifest. Make one with softlookup survey."
    assert err == f"{tmp_path}: {said}\n"


def test_heads_opens_the_page(tmp_path, capsys):
    from softlookup.cli.surveying import open_heads

    made(tmp_path / "out")
    with open_heads(str(tmp_path / "out"), 0, open_browser=False) as view:
        assert f"http://127.0.0.1:{view.port}/#t=" in capsys.readouterr().out
