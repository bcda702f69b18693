"""``softlookup survey`` and ``softlookup heads`` in a terminal."""

import pytest

from softlookup.cli import main
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


def test_many_skipped_lines_are_counted(tiny_model, tmp_path, written, capsys):
    written(tmp_path / "t.jsonl", ["bad"] * 14 + [{"t": "the bank"}])
    code, out, err = run(
        capsys, *survey(tiny_model, tmp_path / "t.jsonl", tmp_path / "out", "--field", "t")
    )
    assert code == 0
    assert err.splitlines()[-2:] == [
        "line 10: must be JSON; it is not, at character 0; skipped",
        "and 4 more lines skipped",
    ]
    assert "1 text, 8 rows in 1 file; 14 lines skipped" in out


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
