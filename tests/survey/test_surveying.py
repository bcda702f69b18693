"""A survey of a tiny model, in this process: its numbers, its lines, and how it goes on."""

import contextlib
import json
import subprocess
import sys

import numpy as np
import pytest

import softlookup as sl
from softlookup.errors import FileError, OptionError
from softlookup.integrations.models import find_model
from softlookup.surveys import open_survey, surveying, work
from softlookup.surveys.corpus import Line
from softlookup.surveys.partitions import read_record
from softlookup.surveys.prompts import load_reader, read_lines
from softlookup.surveys.settings import Settings
from surveyed import TEXTS

pytestmark = pytest.mark.models


def run(model, texts, out, **options):
    return sl.survey(model, texts, out, **{"workers": 0, "lines": 2} | options)


def eager(model, text):
    """Return ids, and the weights (layers, heads, rows, keys) of the model's eager attention."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    loaded = AutoModelForCausalLM.from_pretrained(model, attn_implementation="eager").eval()
    inputs = AutoTokenizer.from_pretrained(model)(text, return_tensors="pt")
    with torch.no_grad():
        found = loaded(**inputs, output_attentions=True).attentions
    return inputs["input_ids"][0].tolist(), torch.cat(found).double().numpy()


def mean(parts):
    return np.mean(parts) if parts else np.nan


def expected(ids, weights):
    """Return each measure of one head, by its definition."""
    n = len(ids)
    entropy = -np.where(weights > 0, weights * np.log(np.where(weights > 0, weights, 1)), 0)
    before = {i: [j for j in range(i) if ids[j] == ids[i]] for i in range(n)}
    after = {i: [j + 1 for j in keys if j + 1 < i] for i, keys in before.items()}
    return {
        "entropy": entropy.sum(axis=1).mean(),
        "first": mean([weights[i, 0] for i in range(1, n)]),
        "previous": mean([weights[i, i - 1] for i in range(1, n)]),
        "induction": mean([weights[i, keys].sum() for i, keys in after.items() if keys]),
        "duplicate": mean([weights[i, keys].sum() for i, keys in before.items() if keys]),
    }


def test_each_row_is_what_one_head_does_with_one_text(tiny_model, corpus, tmp_path):
    import pandas as pd

    found = run(tiny_model, corpus, tmp_path / "out", top=2)
    rows = pd.concat(pd.read_parquet(file) for file in found.files)
    assert len(rows) == found.rows == len(TEXTS) * 2 * 4
    assert (found.texts, found.skipped, found.whole) == (5, (), True)
    for line, text in enumerate(TEXTS, 1):
        ids, weights = eager(tiny_model, text)
        for layer, head in np.ndindex(2, 4):
            (row,) = rows[
                (rows.line == line) & (rows.layer == layer) & (rows["head"] == head)
            ].to_dict("records")
            grid = weights[layer, head]
            for name, number in expected(ids, grid).items():
                got = np.nan if row[name] is None else row[name]
                assert got == pytest.approx(number, abs=3e-5, nan_ok=True), (name, line)
            assert (row["id"], row["tokens"], row["part"]) == (str(line - 1), len(ids), "")
            assert row["rows"] == len(ids) - 1
            steps = abs(np.arange(len(ids))[:, None] - np.arange(len(ids)))
            assert row["distance"][0] == pytest.approx(np.diag(grid).mean(), abs=3e-5)
            assert row["distance"].sum() == pytest.approx(1, abs=1e-5)
            if len(row["distance"]) > 1:
                share = np.where(steps == 1, grid, 0).sum(axis=1).mean()
                assert row["distance"][1] == pytest.approx(share, abs=3e-5)
            received = grid.sum(axis=0)
            best = np.argsort(-received, kind="stable")[:2]
            assert row["top_keys"].tolist() == best.tolist()
            share = received[best] / (len(ids) - best)
            np.testing.assert_allclose(row["top_shares"], share, atol=3e-5)
            assert row["groups"] is None


def test_labels_come_by_token_or_by_characters(tiny_model, tmp_path, written):
    text = "the bank of"  # three tokens
    file = written(tmp_path / "t.jsonl", [
        {"text": text, "groups": [0, 1, -1]},
        {"text": text, "groups": [[0, 3, 0], [4, 8, 1]]},
        {"text": text, "groups": [0, 1]},
        {"text": text},
    ])  # fmt: skip
    found = run(tiny_model, file, tmp_path / "out")
    rows = found.to_pandas(["line", "layer", "head", "groups", "distance"])
    tokens, spans, none = (rows[rows.line == line].reset_index() for line in (1, 2, 4))
    _, weights = eager(tiny_model, text)
    for one, two, three in zip(tokens.groups, spans.groups, none.groups, strict=True):
        assert one.tolist() == two.tolist()
        assert three is None
    for row in tokens.to_dict("records"):
        share = weights[row["layer"], row["head"]][:, :2].mean(axis=0)
        np.testing.assert_allclose(row["groups"], share, atol=3e-5)
    assert [one.line for one in found.skipped] == [3]
    assert "must have a label for each of 3 tokens; it has 2" in found.skipped[0].reason


class Misplacing:
    """A fast tokenizer that says of most tokens that they stand at no character."""

    is_fast = True

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer

    def __call__(self, text, **options):
        found = self._tokenizer(text, **options)
        if "offset_mapping" in found:
            found["offset_mapping"] = [(0, 0), (0, 0), (4, 8)][: len(found["offset_mapping"])]
        return found


def test_a_span_without_a_token_is_a_reason_to_skip(tiny_model):
    reader = load_reader(find_model(str(tiny_model)))
    reader = reader._replace(tokenizer=Misplacing(reader.tokenizer))
    spans = {1: [[4, 8, 1]], 2: [[0, 3, 0]], 3: [[4, 8, 1], [8, 9, 0]]}
    lines = [Line(i, json.dumps({"text": "the bank of", "groups": spans[i]}).encode())
             for i in spans]  # fmt: skip
    found = read_lines(reader, Settings(), lines)
    assert found.lines.tolist() == [1]
    assert dict(found.skipped) == {
        2: "'groups' must name characters of tokens; [0, 3, 0] has none of any",
        3: "'groups' must name characters of tokens; [8, 9, 0] has none of any",
    }


def test_a_span_whose_tokens_have_other_labels_is_a_reason_to_skip(tiny_model):
    reader = load_reader(find_model(str(tiny_model)))
    spans = {1: [[4, 6, 0], [6, 8, 1]], 2: [[4, 8, 0], [4, 8, 1]], 3: [[4, 8, 0], [4, 6, 0]]}
    lines = [Line(i, json.dumps({"text": "the bank of", "groups": spans[i]}).encode())
             for i in spans]  # fmt: skip
    found = read_lines(reader, Settings(), lines)
    assert found.lines.tolist() == [3]
    assert "other spans have those of [6, 8, 1]" in dict(found.skipped)[1]
    assert "other spans have those of [4, 8, 1]" in dict(found.skipped)[2]


def test_lines_that_cannot_be_read_are_told_and_stay_told(tiny_model, tmp_path, written):
    long = " ".join(["river"] * 40)
    lines = [{"text": "the bank"}, "nonsense", {"text": long}, {"text": 3}, {"text": "walks"}, ""]
    file = written(tmp_path / "t.jsonl", lines)
    found = run(tiny_model, file, tmp_path / "out")
    assert [one.line for one in found.skipped] == [2, 3, 4, 6]
    assert "must have at most 24 tokens; it has" in found.skipped[1].reason
    assert found.texts == 2
    assert run(tiny_model, file, tmp_path / "out").skipped == found.skipped
    assert open_survey(tmp_path / "out").skipped == found.skipped
    shorter = run(tiny_model, file, tmp_path / "other", longest=2)
    assert "must have at most 2 tokens; it has" in shorter.skipped[1].reason


def test_rows_do_not_depend_on_how_lines_are_cut(tiny_model, corpus, tmp_path):
    one, other = (
        run(tiny_model, corpus, tmp_path / str(lines), lines=lines).to_pandas() for lines in (2, 5)
    )
    assert one.to_json() == other.to_json()


class CutError(Exception):
    pass


def cut_after(partitions):
    """Return a progress that ends the run once so many partitions were written."""
    calls = []

    def progress(done, of):
        calls.append((done, of))
        if len(calls) > partitions:
            raise CutError

    return progress


@pytest.mark.parametrize("where", ["here", "on a worker"])
def test_a_process_loads_the_model_once(tiny_model, corpus, tmp_path, monkeypatch, where):
    """A worker with two threads that work at once, too."""
    distributed = pytest.importorskip("distributed", reason="models (make models installs it)")
    loaded = []

    def load(found):
        loaded.append(found)
        return load_reader(found)

    monkeypatch.setattr(work, "load_reader", load)
    work.forget()
    with contextlib.ExitStack() as stack:
        options = {}
        if where == "on a worker":
            there = stack.enter_context(distributed.LocalCluster(
                n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
            ))  # fmt: skip
            options["scheduler"] = there.scheduler_address
        found = run(tiny_model, corpus, tmp_path / "out", lines=1, **options)
    assert (len(found.files), len(loaded)) == (5, 1)
    work.forget()


def test_a_run_that_was_cut_short_goes_on(tiny_model, corpus, tmp_path, assert_same, monkeypatch):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run(tiny_model, corpus, whole)
    with pytest.raises(CutError):
        run(tiny_model, corpus, cut, progress=cut_after(1))
    part = open_survey(cut)
    assert not part.whole
    assert part.texts == 2
    assert "not whole yet" in repr(part)
    (cut / "rows" / ".part-000001-abc.parquet").write_bytes(b"half")
    (cut / "rows" / "part-000001.parquet").write_bytes(b"written, but not recorded")
    worked = []
    monkeypatch.setattr(surveying, "write_partition", noting(worked))
    told = []
    run(tiny_model, corpus, cut, progress=lambda *one: told.append(one))
    assert worked == [1, 2]
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert_same(whole, cut)


def noting(worked):
    """Return what writes a partition, and notes its number."""
    write = surveying.write_partition

    def write_and_note(folder, number, block):
        worked.append(number)
        return write(folder, number, block)

    return write_and_note


@pytest.mark.parametrize("damage", [
    lambda rows, done: rows.write_bytes(rows.read_bytes()[:-1]),
    lambda rows, done: rows.write_bytes(b"\0" + rows.read_bytes()[1:]),
    lambda rows, done: rows.unlink(),
    lambda rows, done: done.write_text(done.read_text().replace("texts", "texto")),
    lambda rows, done: done.write_bytes(b"\xff"),
], ids=["shorter", "a byte", "gone", "record", "no text"])  # fmt: skip
def test_what_is_damaged_is_named_and_made_again(tiny_model, corpus, tmp_path, assert_same, damage):
    whole, other = tmp_path / "whole", tmp_path / "other"
    run(tiny_model, corpus, whole)
    run(tiny_model, corpus, other)
    rows, done = other / "rows" / "part-000001.parquet", other / "done" / "part-000001.json"
    damage(rows, done)
    before = open_survey(other)
    if read_record(other, 1) is not None:
        with pytest.raises(FileError, match=r"part-000001.parquet: .*Run the survey again"):
            list(before.tables())
    found = run(tiny_model, corpus, other)
    assert found.remade == ("rows/part-000001.parquet",)
    assert_same(whole, other)
    assert run(tiny_model, corpus, other).remade == ()


def test_another_survey_in_the_same_folder_is_refused(tiny_model, corpus, tmp_path, written):
    out = tmp_path / "out"
    run(tiny_model, corpus, out)
    more = written(tmp_path / "more.jsonl", [{"text": "the bank"}])
    with pytest.raises(FileError, match=r"must go on as it began, with texts texts.jsonl \("):
        run(tiny_model, more, out)
    with pytest.raises(FileError, match="with top 4; this is 3"):
        run(tiny_model, corpus, out, top=3)
    with pytest.raises(FileError, match=r"with layers None; this is \[1\]"):
        run(tiny_model, corpus, out, layers=[1])


def test_another_model_or_version_is_refused(tiny_model, corpus, tmp_path, monkeypatch):
    import shutil

    out, other = tmp_path / "out", tmp_path / "tiny-llama"
    run(tiny_model, corpus, out)
    shutil.copytree(tiny_model, other)
    run(other, corpus, out)  # the same model elsewhere
    file = other / "tokenizer_config.json"
    file.write_text(file.read_text().replace("{", "{ ", 1))
    with pytest.raises(FileError, match=r"with model tiny-llama \(\w+\); this is tiny-llama \("):
        run(other, corpus, out)
    monkeypatch.setattr(surveying, "versions", lambda: {"torch": "1.0"})
    with pytest.raises(FileError, match="with version of"):
        run(tiny_model, corpus, out)


def test_a_mistake_is_mended_in_the_same_folder(tiny_model, corpus, tmp_path):
    """Nothing was measured with it, so nothing has to agree with it."""
    out = tmp_path / "out"
    with pytest.raises(OptionError, match="layers: must"):
        run(tiny_model, corpus, out, layers=[7])
    assert run(tiny_model, corpus, out, layers=[1]).whole


def test_a_folder_that_cannot_be_locked_is_one_sentence(tiny_model, corpus, tmp_path):
    pytest.importorskip("fcntl")
    out = tmp_path / "out"
    out.mkdir()
    (out / ".running").symlink_to(tmp_path / "nowhere" / "file")
    with pytest.raises(FileError, match=r"out: cannot be written: No such file or directory\."):
        run(tiny_model, corpus, out)


def test_a_manifest_of_too_many_lines_is_no_long_wait(tiny_model, corpus, tmp_path):
    out = tmp_path / "out"
    run(tiny_model, corpus, out)
    file = out / "manifest.json"
    file.write_text(file.read_text().replace('"lines": 5', f'"lines": {2**52}'))
    found = open_survey(out)
    assert (found.texts, found.whole) == (5, False)


def test_a_folder_of_something_else_is_left_alone(tiny_model, corpus, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match="must be empty, or hold a survey; it holds other files"):
        run(tiny_model, corpus, tmp_path)
    with pytest.raises(FileError, match="must be a folder; it is a file"):
        run(tiny_model, corpus, tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


def test_two_runs_never_share_a_folder(tiny_model, corpus, tmp_path):
    pytest.importorskip("fcntl")
    out, refused = tmp_path / "out", []

    def progress(*_):
        with pytest.raises(FileError, match="one run at a time; another one is at work"):
            run(tiny_model, corpus, out)
        refused.append(True)

    run(tiny_model, corpus, out, progress=progress)
    assert refused
    assert not (out / ".running").exists()


def test_a_lock_that_was_removed_meanwhile_is_none(tiny_model, corpus, tmp_path, monkeypatch):
    """The run that held it has ended, and a third one has made it anew."""
    fcntl = pytest.importorskip("fcntl")

    def flock(held, how):
        place = tmp_path / "out" / ".running"
        place.unlink()
        place.touch()

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(FileError, match="one run at a time; another one is at work"):
        run(tiny_model, corpus, tmp_path / "out")
    assert (tmp_path / "out" / ".running").exists()


def test_an_interruption_loses_little_unasked(tiny_model, tmp_path, written):
    file = written(tmp_path / "t.jsonl", [{"text": "the bank"}] * 30)
    with pytest.raises(CutError):
        sl.survey(tiny_model, file, tmp_path / "out", workers=0, progress=cut_after(1))
    assert open_survey(tmp_path / "out").texts == 16


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
from softlookup.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_the_run_goes_on(tiny_model, corpus, tmp_path, assert_same):
    """A limit on the size of files stands for the disk: the manifest fits, no rows do."""
    pytest.importorskip("resource")
    whole, out = tmp_path / "whole", tmp_path / "out"
    run(tiny_model, corpus, whole)
    words = ["survey", "--model", str(tiny_model), "--texts", str(corpus), "-o", str(out),
             "--workers", "0", "--lines", "2"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", FULL, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"{out}: cannot be written on: File too large; 0 of 3 partitions are whole. Make room, and "
        "run the same again: it goes on.\n"
    )
    assert [file.name for file in out.rglob("*") if file.is_file()] == ["manifest.json"]
    run(tiny_model, corpus, out)
    assert_same(whole, out)


def test_only_chosen_layers_and_heads_are_measured(tiny_model, corpus, tmp_path):
    found = run(tiny_model, corpus, tmp_path / "out", layers=[1], heads=[0, 3])
    rows = found.to_pandas(["layer", "head"])
    assert set(zip(rows.layer, rows["head"], strict=True)) == {(1, 0), (1, 3)}
    with pytest.raises(OptionError, match="layers: must"):
        run(tiny_model, corpus, tmp_path / "other", layers=[7])


def test_a_model_with_a_decoder_beside_is_refused(tmp_path, corpus):
    from integrations.tiny import build, t5

    build(t5).save_pretrained(tmp_path / "t5")
    with pytest.raises(OptionError, match="model: must read one text; this one has a decoder"):
        run(tmp_path / "t5", corpus, tmp_path / "out")


@pytest.mark.parametrize("spoil", [
    lambda text: "{", lambda text: text.replace('"version": 1', '"version": 9'),
    lambda text: "[]", lambda text: text.replace('"lines": 5', '"lines": "x"'),
    lambda text: "[" * 10**5,
])  # fmt: skip
def test_a_damaged_manifest_is_refused(tiny_model, corpus, tmp_path, spoil):
    out = tmp_path / "out"
    run(tiny_model, corpus, out)
    file = out / "manifest.json"
    file.write_text(spoil(file.read_text()))
    with pytest.raises(FileError, match="must be the manifest of a survey; it is damaged: "):
        run(tiny_model, corpus, out)
