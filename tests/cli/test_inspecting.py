"""``softlookup inspect``: facts of one head as tables, or exactly."""

import json
from pathlib import Path

import numpy as np
import pytest

import softlookup as sl
from softlookup.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed(capsys, *args):
    assert main(["inspect", *args]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.fixture
def many(tmp_path):
    """Return a file of 2 batch entries, 3 heads, 70 tokens, and its arrays."""
    rng = np.random.default_rng(11)
    query, key = rng.standard_normal((2, 2, 3, 70, 4))
    file = tmp_path / "many.npz"
    np.savez(file, query=query, key=key, causal=True, sinks=np.zeros(3))
    return str(file), query, key


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("inspect_lesson.txt", ["lesson"]),
        ("inspect_lesson_all.txt", ["lesson", "--top", "2", "--entropy", "--max-score",
                                    "--distance", "--received"]),
        ("inspect_river.txt", [str(EXAMPLES / "river.json")]),
    ],
)  # fmt: skip
def test_printed_tables(capsys, assert_golden, name, args):
    assert_golden(name, printed(capsys, *args))


def test_the_lesson_shows_its_weights_and_their_entropy(capsys):
    lines = printed(capsys, "lesson").splitlines()
    assert lines[1].split() == ["1", "1.053", "1", "0.401,", "3", "0.401,", "2", "0.198"]
    assert lines[-3].split() == ["3", "1.306"]  # 0.401 + 0.401 + 0.503


def test_only_what_is_named_is_printed(capsys, many):
    text = printed(capsys, many[0], "--sink")
    assert text.splitlines()[2].split() == ["token", "sink"]
    assert "receives" not in text
    text = printed(capsys, many[0], "--received")
    assert "token" not in text
    assert text.splitlines()[2] == "weight that each key receives from all 70 queries together"


def test_a_head_of_a_batch_entry_is_chosen(capsys, many):
    file, query, key = many
    args = ["--head", "2", "--batch", "1", "--entropy", "--top", "4", "--received", "--json"]
    record = json.loads(printed(capsys, file, *args))
    one = sl.Lookup(query[1, 2], key[1, 2], causal=True, sinks=[0.0])
    exact = one.inspect(entropy=True, top=4, received=True)
    assert (record["head"], record["batch"], record["rows"]) == (2, 1, list(range(70)))
    assert record["facts"] == exact.to_dict()
    assert record["key_tokens"] == [str(n) for n in range(70)]
    text = printed(capsys, file, "--head", "2", "--batch", "1", "--entropy")
    assert text.startswith("head 2 of 3, batch entry 1 of 2 (choose with --head, --batch)\n")


def test_json_of_some_rows_keeps_what_keys_receive_from_all(capsys, many):
    every = json.loads(printed(capsys, many[0], "--json"))
    some = json.loads(printed(capsys, many[0], "--json", "--rows", "60:65"))
    assert some["rows"] == list(range(60, 65))
    assert some["tokens"] == every["tokens"][60:65]
    for fact in ("lse", "entropy"):
        assert some["facts"][fact] == every["facts"][fact][60:65]
    assert some["facts"]["top"]["keys"] == every["facts"]["top"]["keys"][60:65]
    assert some["facts"]["received"] == every["facts"]["received"]


def test_many_rows_and_keys_are_cut_and_say_so(capsys, many):
    text = printed(capsys, many[0], "--entropy", "--received")
    assert "and 20 more tokens: choose with --rows 50:70" in text
    head = sl.load(many[0]).lookup(head=0)
    received = np.sort(head.inspect(received=True).received)
    assert f"and 50 more keys, together {received[:50].sum():.3f}" in text
    rows = [line for line in text.splitlines() if line[:1].isdigit()]
    assert len(rows) == 50 + 20
    assert float(rows[50].split()[1]) == pytest.approx(received[-1], abs=5e-4)
    short = printed(capsys, many[0], "--entropy", "--rows", "68:")
    assert [line.split()[0] for line in short.splitlines()[3:]] == ["68", "69"]


def test_tokens_that_repeat_bear_their_position(capsys, tmp_path):
    file = tmp_path / "run.json"
    eye = np.eye(3).tolist()
    file.write_text(json.dumps({"query": eye, "key": eye, "tokens": ["the", "cat", "the"]}))
    text = printed(capsys, str(file), "--top", "1")
    assert [line.split() for line in text.splitlines()[1:]] == [
        ["the", "@0", "the", "@0", "0.471"], ["cat", "@1", "cat", "@1", "0.471"],
        ["the", "@2", "the", "@2", "0.471"],
    ]  # fmt: skip


def test_groups_come_from_a_list_of_labels(capsys, tmp_path):
    file = tmp_path / "labels.json"
    file.write_text("[0, 0, 1]")
    lines = printed(capsys, "lesson", "--groups", str(file)).splitlines()
    assert lines[0] == "share of the weight by group"
    assert lines[1].split() == ["token", "0", "1"]
    assert lines[2].split() == ["1", "0.599", "0.401"]
    record = json.loads(printed(capsys, "lesson", "--groups", str(file), "--json", "--rows", "1:2"))
    assert np.round(record["facts"]["groups"], 3).tolist() == [[0.599, 0.401]]


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (None, ["JSON list", "[0, 0, 1]"]), ("", ["JSON list"]), ("{}", ["JSON list"]),
        ("[" * 10**5, ["JSON list"]), ("[0, 1]", ["groups: ", "(3,)", "(2,)"]),
        ("[0, 1, 0.5]", ["groups: ", "integers"]), ("[0, 1, 256]", ["groups: ", "below 256"]),
        ('["a", "b", "c"]', ["groups: ", "integers"]), ("\udcff", ["JSON list"]),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_file_of_labels_is_one_line(capsys, tmp_path, content, fragments):
    file = tmp_path / "labels.json"
    if content is not None:
        file.write_text(content, encoding="utf-8", errors="surrogateescape")
    assert main(["inspect", "lesson", "--groups", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err[:-1].isprintable()
    for fragment in fragments:
        assert fragment in err


def test_rows_without_keys_or_with_nan_say_so(capsys, tmp_path):
    file = tmp_path / "run.npz"
    query = np.array([[1.0], [np.nan], [1.0]])
    np.savez(file, query=query, key=np.ones((3, 1)), mask=np.array([[False], [True], [True]]))
    text = printed(capsys, str(file), "--top", "1", "--entropy", "--received")
    assert [line.split(maxsplit=2)[1:] for line in text.splitlines()[1:4]] == [
        ["0.000", "no visible keys"], ["NaN", "NaN"], ["1.099", "0 0.333"],
    ]  # fmt: skip
    assert text.splitlines()[-1].split() == ["2", "NaN"]


def test_hostile_texts_are_printed_readably(capsys, tmp_path):
    file = tmp_path / "run.json"
    eye, tokens = np.eye(3).tolist(), ["\x1b[31mred", "\u202eflip", "\n"]
    file.write_text(json.dumps({"query": eye, "key": eye, "tokens": tokens, "title": "\x1b]0;x"}))
    assert printed(capsys, str(file), "--distance", "--received").replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("args", "fragments"),
    [
        (["--rows", "x"], ["rows: ", "START:STOP", "'x'"]),
        (["--rows", "-1:2"], ["rows: ", "'-1:2'"]),
        (["--rows", "3:"], ["rows: ", "0 ... 2", "'3:'"]),
        (["--rows", "2:1"], ["rows: ", "'2:1'"]),
        (["--top", "0"], ["--top", "1"]),
        (["--sink"], ["sink: ", "has none"]),
        (["--head", "1"], ["head: ", "0 ... 0", "got 1"]),
        (["--batch", "1"], ["batch: ", "0 ... 0", "got 1"]),
    ],
)
@pytest.mark.parametrize("json_too", [False, True])
def test_wrong_input_is_one_line(capsys, args, fragments, json_too):
    assert main(["inspect", "lesson", *args, *(["--json"] if json_too else [])]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err[:-1].isprintable()
    for fragment in fragments:
        assert fragment in err
