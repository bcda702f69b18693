"""softlookup export: the size first, then the file; what is wrong is one line."""

import json
import re

import pytest

from softlookup.cli import main
from softlookup.viewer import export


def run(capsys, *args):
    code = main(["export", *args])
    return code, *capsys.readouterr()


def test_the_size_is_printed_before_anything_is_written(capsys, tmp_path, monkeypatch):
    file = tmp_path / "page.html"
    printed = []
    write = export.Export.write

    def late(made, path):
        printed.append(capsys.readouterr().out)
        return write(made, path)

    monkeypatch.setattr(export.Export, "write", late)
    code, out, err = run(capsys, "lesson", "-o", str(file))
    assert (code, err) == (0, "")
    assert re.fullmatch(r"\d+ kB  the worked example, 1 head\n", printed[0])
    size = int(printed[0].split()[0])
    assert size == round(file.stat().st_size / 1000)
    assert out == f"{file} opens by a double click; it needs no network and no softlookup.\n"


def test_layers_and_heads_are_chosen(capsys, tmp_path):
    file = tmp_path / "page.html"
    code, out, _ = run(
        capsys, "sentence", "-o", str(file), "--layers", "0, 3-4,layer 5", "--heads", "1,2-3"
    )
    assert code == 0
    assert "4 layers of 3 heads" in out
    data = json.loads(re.search(r'id="softlookup-data">(.*)</script>', file.read_text("utf-8"))[1])
    assert [layer["number"] for layer in data["info"]["layers"]] == [0, 3, 4, 5]
    assert {tuple(layer["heads"]) for layer in data["info"]["layers"]} == {(1, 2, 3)}
    assert data["info"]["about"]["part"] == "4 of 6 layers, 12 of 48 heads"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["lesson"], "Missing option '--output' / '-o'"),
        (["lesson", "-o", "{0}/page.pdf"], "page.pdf: must end in .html; it ends in '.pdf'"),
        (["lesson", "-o", "{0}/none/page.html"], "cannot be written: No such file or directory"),
        (["none.npz", "-o", "{0}/page.html"], "none.npz: must be a file; there is none"),
        (["sentence", "-o", "{0}/page.html", "--layers", "9"], "must be a recorded one; got 9"),
        (["sentence", "-o", "{0}/page.html", "--layers", ","], "layers: must name at least one"),
        (["sentence", "-o", "{0}/page.html", "--layers", "3-1"], "spans forwards"),
        (["sentence", "-o", "{0}/page.html", "--layers", "0-99999"], "at most 4096 long"),
        (["sentence", "-o", "{0}/page.html", "--heads", "x"], "heads: must be numbers; got 'x'"),
        (["sentence", "-o", "{0}/page.html", "--heads", "12"], "must lie in 0 ... 11; got 12"),
        (["sentence", "-o", "{0}/page.html", "--batch", "1"], "batch: must lie in 0 ... 0; got 1"),
        (["sentence", "-o", "{0}/page.html", "--largest", "0.9"], "12 heads; got 900 kB"),
        (["sentence", "-o", "{0}/page.html", "--largest", "-1"], "Invalid value for '--largest'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(capsys, tmp_path, args, words):
    code, out, err = run(capsys, *(arg.format(tmp_path) for arg in args))
    assert code == 2
    assert err.count("\n") == 1
    assert words in err
    assert list(tmp_path.iterdir()) == []
    assert "opens by" not in out
