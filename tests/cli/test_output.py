"""What the commands print, held in tests/golden."""

import json

import numpy as np
import pytest

import softlookup as sl
from softlookup.cli import main
from softlookup.cli.commands import app
from softlookup.lesson import as_text

COMMANDS = [command.callback.__name__ for command in app.registered_commands]


def printed(capsys, *args):
    assert main(args) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.fixture
def long_row(tmp_path):
    file = tmp_path / "long.npz"
    steps = np.arange(101.0)[:, None]
    np.savez(file, query=np.ones((101, 1)), key=steps / 50, value=steps)
    return str(file)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("first_commands.txt", []),
        ("trace_lesson_1.txt", ["trace", "lesson", "--query", "1"]),
        ("trace_lesson_2.txt", ["trace", "lesson", "--query", "2"]),
        ("trace_lesson_all.txt", ["trace", "lesson"]),
        ("trace_lesson_top.txt", ["trace", "lesson", "--query", "@2", "--top", "1"]),
        ("info_lesson.txt", ["info", "lesson"]),
    ],
)
def test_printed_text(capsys, assert_golden, name, args):
    assert_golden(name, printed(capsys, *args))


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("1", ["0.707", "2.028", "5.056", "0.401", "0.198", "[0.802, 0.599]"]),
        ("2", ["0.707", "5.056", "[0.599, 0.802]"]),
    ],
)
def test_the_worked_example_shows_its_numbers_in_order(capsys, query, numbers):
    text = printed(capsys, "trace", "lesson", "--query", query)
    place = 0
    for number in numbers:
        place = text.index(number, place)
    assert text.rstrip().endswith(numbers[-1])


def test_a_position_is_another_name_for_a_token(capsys):
    by_text = printed(capsys, "trace", "lesson", "--query", "3")
    assert printed(capsys, "trace", "lesson", "--query", "@2") == by_text


def test_json_holds_exact_numbers(capsys):
    said = json.loads(printed(capsys, "trace", "lesson", "--query", "1", "--json"))
    trace = sl.Lookup([[1, 0]], np.array([[1, 0], [0, 1], [1, 1.0]])).trace()
    (row,) = said["rows"]
    assert row["weights"] == trace.weights[0].tolist()
    assert (said["head"], said["batch"], row["token"]) == (0, 0, "1")
    everything = json.loads(printed(capsys, "trace", "lesson", "--json"))
    assert [row["token"] for row in everything["rows"]] == ["1", "2", "3"]


def test_a_long_row_is_shortened_and_json_is_not(capsys, long_row):
    text = printed(capsys, "trace", long_row, "--query", "@100")
    assert "and 93 more" in text
    assert "and 98 more" in printed(capsys, "trace", long_row, "--query", "@100", "--top", "3")
    said = json.loads(printed(capsys, "trace", long_row, "--query", "@0", "--json"))
    assert len(said["rows"][0]["keys"]) == 101


def test_a_wide_layer_is_not_written_out(capsys, tmp_path):
    np.savez(tmp_path / "wide.npz", query=np.eye(2, 13), key=np.eye(13))
    text = printed(capsys, "trace", str(tmp_path / "wide.npz"))
    assert "up to 12 keys; here are 13" in text.splitlines()[-1]


def test_one_head_of_one_batch_entry_is_traced(capsys, tmp_path):
    rng = np.random.default_rng(5)
    arrays = {name: rng.normal(size=(2, 3, 5, 2)) for name in ("query", "key", "value")}
    np.savez(tmp_path / "run.npz", **arrays)
    args = ["trace", str(tmp_path / "run.npz"), "--query", "@4", "--json"]
    said = json.loads(printed(capsys, *args, "--head", "2", "--batch", "1"))
    text = printed(capsys, *args[:-1], "--head", "2")
    first, empty, title, *_ = text.splitlines()
    assert first == "head 2 of 3, batch entry 0 of 2 (choose with --head, --batch)"
    assert (empty, title[:7]) == ("", "token 4")
    look = sl.Lookup(*arrays.values()).head(2, batch=1)
    assert said["rows"][0]["out"] == look.trace(rows=[4]).out[0].tolist()


def test_only_what_there_are_several_of_is_said(capsys, tmp_path):
    arrays = {name: np.ones((3, 2, 1)) for name in ("query", "key", "value")}
    np.savez(tmp_path / "run.npz", **arrays)
    text = printed(capsys, "trace", str(tmp_path / "run.npz"))
    assert text.startswith("head 0 of 3 (choose with --head)\n\ntoken 0 asks")
    assert "choose with" not in printed(capsys, "trace", "lesson")


def test_long_tokens_are_shortened_where_they_are_listed(capsys, tmp_path):
    np.savez(tmp_path / "run.npz", query=np.eye(2), key=np.eye(2), tokens=["a" * 999, " "])
    text = printed(capsys, "info", str(tmp_path / "run.npz"))
    assert f"  queries  {'a' * 39}… ⟨space⟩\n" in text
    assert main(["trace", str(tmp_path / "run.npz"), "--query", "b" * 999]) == 2
    said = capsys.readouterr().err
    assert f"'{'b' * 39}…'" in said
    assert f"the tokens are {'a' * 39}…, ⟨space⟩." in said


def test_info_says_what_a_file_holds(capsys, tmp_path):
    rng = np.random.default_rng(5)
    np.savez(
        tmp_path / "run.npz",
        query=rng.normal(size=(2, 4, 14, 3)).astype(np.float16),
        key=rng.normal(size=(2, 2, 17, 3)).astype(np.float16),
        causal=np.array(True), q_offset=np.array([3, 1]), window=np.array([2, np.nan]),
        kv_lens=np.array([17, 15]), softcap=30.0, sinks=np.zeros(4), bias=np.zeros((14, 17)),
    )  # fmt: skip
    text = printed(capsys, "info", str(tmp_path / "run.npz"))
    for part in (
        "batch (2,), heads 4, kv_heads 2, q_len 14, kv_len 17, head_dim 3, value_dim none",
        "float16, 1,080 bytes",
        "softcap 30, causal, window (2, open), q_offset 3, 1, kv_lens 17, 15, bias, sinks",
        "0 1 2 3 4 5 6 7 8 9 10 11 and 2 more",
    ):
        assert part in text


def test_hostile_texts_are_printed_readably(capsys, tmp_path):
    tokens = ["\x1b[31mred", "\u202eflip", "", "\n"]
    eye = np.eye(4).tolist()
    file = tmp_path / "run.json"
    file.write_text(
        json.dumps(
            {"query": eye, "key": eye, "value": eye, "tokens": tokens, "title": "\x1b]0;x\a"}
        )
    )
    for args in (["info"], ["trace", "--query", "@0"], ["trace"]):
        text = printed(capsys, *args, str(file))
        assert text.replace("\n", "").isprintable()
    assert "[31mred" in printed(capsys, "trace", str(file), "--query", "⟨001b⟩[31mred")


def test_lesson_prints_its_text(capsys):
    assert printed(capsys, "lesson") == as_text().rstrip("\n") + "\n"


def test_version(capsys):
    assert printed(capsys, "--version") == f"softlookup {sl.__version__}\n"


def test_doctor_names_versions_backends_and_the_page(capsys):
    text = printed(capsys, "doctor")
    for part in (
        f"softlookup {sl.__version__}", "python     CPython 3.", "numpy ", "ml_dtypes ",
        "safetensors ", "typer ", "starlette ", "uvicorn ", "backend    blocked: can run here",
        "page       ready",
    ):  # fmt: skip
        assert part in text


@pytest.mark.parametrize(("threads", "said"), [(1, " on 1 thread: "), (2, " on 2 threads: ")])
def test_doctor_counts_threads(capsys, monkeypatch, threads, said):
    monkeypatch.setattr("softlookup.machine.threads", lambda: threads)
    (core,) = [line for line in printed(capsys, "doctor").splitlines() if line.startswith("core ")]
    assert said in core


def test_doctor_says_why_a_backend_cannot_run(capsys, monkeypatch):
    monkeypatch.setattr("softlookup.backends.blocked.missing", lambda: "the moon is not full.")
    assert "backend    blocked: the moon is not full." in printed(capsys, "doctor")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_that_is_a_real_command(capsys, command):
    text = printed(capsys, command, "--help")
    assert f"Example: softlookup {command}" in text
    assert text.isascii()  # no drawn boxes
    assert printed(capsys, command, "-h") == text


def test_the_first_screen_names_real_commands(capsys):
    named = [
        line.split()[1] for line in printed(capsys).splitlines() if line.startswith("  softlookup ")
    ]
    assert named == ["show", "trace", "quiz"]
    assert set(named) <= set(COMMANDS)
