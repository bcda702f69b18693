"""The program as a shell runs it: terminals of any encoding, closed pipes, signals."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from patience import PATIENCE
from softlookup.cli.terminal import SPELLINGS, spell

PROGRAM = [sys.executable, "-m", "softlookup"]
posix = pytest.mark.skipif(os.name != "posix", reason="hardware: not a POSIX system")


def run(*args, env=None, **options):
    return subprocess.run(
        [*PROGRAM, *args],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ | (env or {}),
        **options,
    )


ASCII = {"PYTHONIOENCODING": "ascii"}


EVERY = """
from softlookup.cli import main
for words in (["lesson"], ["trace", "lesson"], ["--help"]):
    assert main(words) == 0
"""


@pytest.mark.parametrize(
    "env",
    [ASCII, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "ascii:strict"},
     {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)  # fmt: skip
def test_any_encoding_can_be_written_to(env):
    done = subprocess.run(
        [sys.executable, "-c", EVERY],
        capture_output=True, timeout=PATIENCE, check=False, env=os.environ | env,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"Usage") == 1


def test_signs_are_spelt_in_ascii():
    text = run("trace", "lesson", "--query", "1", env=ASCII).stdout.decode("ascii")
    assert "1*1 + 0*0 = 1" in text
    assert "(/ sqrt(2) = 1.414)" in text
    assert text.rstrip().endswith("[0.802, 0.599]")


def test_headings_are_underlined_as_they_are_spelt():
    lines = run("lesson", env=ASCII).stdout.decode("ascii").splitlines()
    titles = [(lines[i - 1], line) for i, line in enumerate(lines) if line and not line.strip("=")]
    assert "Why divide by sqrt(d_k)" in [title for title, _ in titles]
    assert [len(title) for title, _ in titles] == [len(line) for _, line in titles]
    head = next(line for line in lines if "sqrt(d_k)      scores" in line)
    assert len(head) == len(lines[lines.index(head) + 1])  # columns are as wide as they are spelt


def test_every_spelling_is_ascii():
    for sign, spelling in SPELLINGS.items():
        assert spelling.isascii()
        assert not sign.isascii()
    assert spell("é ☃ √ √d_k") == "\\xe9 \\u2603 sqrt sqrt(d_k)"


def test_an_unprintable_error_is_still_one_line():
    done = run("info", "é√.json", env=ASCII)
    assert done.returncode == 2
    assert done.stderr.decode("ascii").count("\n") == 1


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("args", [["lesson"], []])
def test_a_reader_that_has_seen_enough_is_no_error(args, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [*PROGRAM, *args],
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert done.stderr == b""


@posix
def test_no_standard_output_at_all_is_no_error():
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM],
        stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.stderr == b""


def start(*args, **options):
    process = subprocess.Popen(
        [*PROGRAM, "show", "--port", "0", *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip
    lines = []
    while not lines or not lines[-1].startswith("Stop"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        lines.append(line)
    return process, "".join(lines)


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_show_serves_until_it_is_stopped(number):
    process, said = start("--no-browser", env={**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": ""})
    url = re.search(r"^Open  (http://127\.0\.0\.1:(\d+)/)#t=([\w-]+)$", said, re.MULTILINE)
    assert f"ssh -L {url[2]}:127.0.0.1:{url[2]} this-machine" in said
    assert "wait()" not in said  # it waits itself
    info = httpx.get(f"{url[1]}api/info", headers={"authorization": f"Bearer {url[3]}"})
    assert info.json()["source"] == "lesson"
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "", "")


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_end_from_outside_leaves_no_file_behind(number, tmp_path):
    process, _ = start(
        env=os.environ | {"DISPLAY": ":0", "BROWSER": "true", "TMPDIR": str(tmp_path)}
        | dict.fromkeys(("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"), "")
    )  # fmt: skip
    assert list(tmp_path.glob("softlookup-*/open.html"))
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert not list(tmp_path.glob("softlookup-*"))


@posix
def test_a_taken_port_is_one_line():
    process, said = start("--no-browser")
    port = re.search(r":(\d+)/", said)[1]
    done = run("show", "--no-browser", "--port", port)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"port: must be free")
    assert done.stderr.count(b"\n") == 1


def test_the_quiz_ends_when_its_input_does(tmp_path):
    done = run(
        "quiz", "--seed", "1", stdin=subprocess.DEVNULL,
        env={"XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path), **ASCII},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"1 of 4" in done.stdout


def test_commands_load_only_what_they_need():
    program = (
        "import sys; from softlookup.cli import main; main(['info', 'lesson']);"
        "print(sorted({'starlette', 'uvicorn', 'asyncio', 'rich', 'anyio'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_console_script_is_this_program():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'softlookup = "softlookup.cli:main"' in text
