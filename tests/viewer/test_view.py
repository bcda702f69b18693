"""The life of a view: opened, handed to a browser without showing its token, closed."""

import gc
import html
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import httpx
import numpy as np
import pytest

import softlookup as sl
from patience import PATIENCE
from softlookup import viewer
from softlookup.captures import label
from softlookup.errors import DtypeError, FileError, OptionError, ViewError
from softlookup.viewer import bundle, redirect, server
from softlookup.viewer.view import announce

posix = pytest.mark.skipif(os.name != "posix", reason="hardware: not a POSIX system")


def opened(*given, **options):
    return sl.show(*given, **{"port": 0, "open_browser": False} | options)


def ask(view, op="info"):
    page, _, token = view.url.partition("#t=")
    return httpx.get(f"{page}api/{op}", headers={"authorization": f"Bearer {token}"}).json()


def is_refused(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_show_serves_the_lesson_and_close_stops_it(capsys):
    view = opened()
    assert re.fullmatch(rf"http://127\.0\.0\.1:{view.port}/#t=[\w-]{{43}}", view.url)
    assert view.url in capsys.readouterr().out
    assert ask(view)["source"] == "lesson"
    view.close()
    view.close()
    assert is_refused(view.port)
    assert not [t for t in threading.enumerate() if t.name.startswith("softlookup")]


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_script_is_told_that_the_page_goes_with_it(capsys, monkeypatch, goes_on):
    monkeypatch.setattr(viewer, "_is_interactive", lambda: goes_on)
    with opened():
        printed = capsys.readouterr().out
    last = "The page closes when this program ends; show(...).wait() keeps it open.\n"
    assert printed.endswith(last) != goes_on


def test_a_prompt_and_a_notebook_go_on_by_themselves(monkeypatch):
    monkeypatch.delattr("sys.ps1", raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert not viewer._is_interactive()
    with monkeypatch.context() as prompt:
        prompt.setattr("sys.ps1", ">>> ", raising=False)
        assert viewer._is_interactive()
    with monkeypatch.context() as notebook:
        notebook.setitem(sys.modules, "ipykernel", threading)
        assert viewer._is_interactive()
    with monkeypatch.context() as dash_i:
        dash_i.setattr("sys.flags", SimpleNamespace(interactive=1))
        assert viewer._is_interactive()


def test_a_with_block_closes_the_view():
    with opened() as view:
        assert ask(view)["title"]
    assert is_refused(view.port)


def test_a_view_nobody_holds_stays_open():
    port = opened().port
    gc.collect()
    assert not is_refused(port)
    for one in list(gc.get_objects()):
        if type(one) is sl.viewer.View and one.port == port:
            one.close()
    assert is_refused(port)


def test_views_have_their_own_tokens_and_ports():
    with opened() as one, opened() as other:
        assert one.port != other.port
        token = one.url.partition("#t=")[2]
        answer = httpx.get(
            f"http://127.0.0.1:{other.port}/api/info", headers={"authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 401


def test_the_token_is_not_in_the_repr_nor_in_the_log(caplog):
    with caplog.at_level(0), opened() as view:
        token = view.url.partition("#t=")[2]
        ask(view)
        httpx.get(f"http://127.0.0.1:{view.port}/?t={token}")
        assert token not in repr(view)
        ours = [record for record in caplog.records if not record.name.startswith("http")]
        assert not [record for record in ours if token in record.getMessage()]
    assert "closed" in repr(view)


def test_what_can_be_shown(tmp_path):
    look = sl.Lookup(np.eye(2), np.eye(2), np.eye(2))
    np.savez(tmp_path / "run.npz", query=np.eye(3), key=np.eye(3))
    with opened(look, tokens=["a", "b"], title="two") as view:
        info = ask(view)
        assert (info["source"], info["title"]) == ("lookup", "two")
        assert [axis["tokens"] for axis in info["axes"]] == [["a", "b"]]
    with opened(label(look, title="held")) as view:
        assert ask(view)["title"] == "held"
    with opened(tmp_path / "run.npz") as view:
        assert (ask(view)["source"], ask(view)["title"]) == ("file", "run")


@pytest.mark.parametrize(
    ("given", "options", "error"),
    [
        (3, {}, DtypeError),
        (np.eye(2), {}, DtypeError),
        ("none.json", {}, FileError),
        (None, {"tokens": ["a"]}, OptionError),
        (None, {"port": -1}, ViewError),
        (None, {"port": 65_536}, ViewError),
        (None, {"port": "8642"}, ViewError),
        (None, {"port": True}, ViewError),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(given, options, error):
    with pytest.raises(error):
        opened(given, **options)


def test_a_taken_port_is_a_sentence():
    with (
        opened() as view,
        pytest.raises(ViewError, match=rf"^port: .*{view.port}.*in use") as caught,
    ):
        opened(port=view.port)
    assert caught.value.argument == "port"


def test_the_next_free_port_is_taken(monkeypatch):
    with opened() as view:
        monkeypatch.setattr(server, "FIRST_PORT", view.port)
        with opened(port=None) as other:
            assert view.port < other.port < view.port + server.PORTS_TRIED
        monkeypatch.setattr(server, "PORTS_TRIED", 1)
        with pytest.raises(ViewError, match="in use"):
            opened(port=None)


def test_a_port_can_be_used_again_at_once():
    with opened() as view, socket.create_connection(("127.0.0.1", view.port)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        while connection.recv(4096):  # the server hangs up first: its side of the port lingers
            pass
    with opened(port=view.port) as again:
        assert ask(again)["title"]


def test_the_port_people_bookmark():
    assert server.FIRST_PORT == 8642


def test_a_missing_bundle_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(bundle, "__file__", str(tmp_path / "bundle.py"))
    with pytest.raises(ViewError, match=r"app\.js, which is missing"):
        opened()


# ---- the browser


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "a b c d"}, "linux", False),
        ({}, "darwin", True),
        ({"SSH_TTY": "/dev/tty"}, "darwin", False),
        ({}, "win32", True),
    ],
)
def test_is_there_a_display(environ, platform, expected):
    assert redirect.has_display(environ, platform) is expected


def test_without_a_display_the_tunnel_is_printed(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    with opened() as view:
        assert f"ssh -L {view.port}:127.0.0.1:{view.port} this-machine" in announce(view)
        monkeypatch.setenv("DISPLAY", ":0")
        monkeypatch.delenv("SSH_CONNECTION", raising=False)
        monkeypatch.delenv("SSH_CLIENT", raising=False)
        monkeypatch.delenv("SSH_TTY", raising=False)
        assert announce(view) == f"Open  {view.url}"


@pytest.fixture
def asked(monkeypatch):
    """What the system's browser was asked to open; nothing is opened."""
    links = []
    done = threading.Event()

    def record(link):
        links.append(link)
        done.set()
        return True

    monkeypatch.setattr("webbrowser.open", record)
    return lambda: done.wait(PATIENCE) and links[0]


def path_of(link):
    assert link.startswith("file://")
    return Path(httpx.URL(link).path)


@posix
def test_the_browser_gets_a_private_file_that_goes_once_it_is_used(asked):
    with opened(open_browser=True) as view:
        link = asked()
        token = view.url.partition("#t=")[2]
        assert token not in link
        file = path_of(link)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert file.stat().st_uid == os.getuid()
        text = file.read_text(encoding="utf-8")
        assert html.unescape(re.search(r"url=([^\"]+)\"", text)[1]) == view.url
        httpx.get(f"http://127.0.0.1:{view.port}/")
        httpx.get(f"http://127.0.0.1:{view.port}/api/info")  # without the token
        assert file.exists()
        ask(view)
        assert not file.exists()
        assert not file.parent.exists()
        ask(view)


def test_an_unused_file_goes_with_the_view(asked):
    with opened(open_browser=True):
        file = path_of(asked())
        assert file.exists()
    assert not file.parent.exists()


def test_names_of_redirect_files_cannot_be_foreseen():
    files = [redirect.write_redirect("http://127.0.0.1:1/#t=x") for _ in range(3)]
    assert len({file.parent.name for file in files}) == 3
    for file in files:
        redirect.remove_redirect(file)
        redirect.remove_redirect(file)
        assert not file.parent.exists()


def test_a_browser_that_cannot_be_opened_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    with opened(open_browser=True):
        for thread in threading.enumerate():
            if thread.name == "softlookup-browser":
                thread.join(PATIENCE)
    assert capsys.readouterr().err == "No browser could be opened; open the link yourself.\n"


# ---- as a program

PROGRAM = """
import sys, softlookup as sl
view = sl.show(port=0, open_browser=False)
sys.stdin.readline()
{then}
print("left", flush=True)
"""


def run(then, **options):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(then=then)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip
    url = re.search(r"http\S+", process.stdout.readline())[0]
    return process, url


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_cleanly(number):
    process, url = run("print('waiting', flush=True); view.wait()")
    go_on(process)
    while process.stdout.readline() != "waiting\n":
        pass
    deadline = time.monotonic() + PATIENCE
    while not handles(process.pid, number) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "left\n", "")
    assert is_refused(httpx.URL(url).port)


def handles(pid, number):
    """Say whether the program has its own handler for SIGTERM, which wait() sets last."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        time.sleep(0.5)
        return True
    caught = int(re.search(r"SigCgt:\s*(\w+)", status.read_text(encoding="ascii"))[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1) and bool(caught >> (number - 1) & 1)


def test_a_program_that_does_not_wait_ends():
    process, _ = run("")
    out, err = process.communicate("\n", timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert out.endswith("left\n")


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="hardware: no /proc on this system"
)
def test_the_process_list_does_not_hold_the_token(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\nexec > "{tmp_path}/said" 2>&1\necho "$@" > "{tmp_path}/arguments"\n'
        f'while [ ! -e "{tmp_path}/done" ]; do sleep 0.05; done\n'
    )
    browser.chmod(0o700)
    program = PROGRAM.replace("open_browser=False", "open_browser=True")
    process = subprocess.Popen(
        [sys.executable, "-c", program.format(then="")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "BROWSER": str(browser), "DISPLAY": ":0", "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    try:
        url = re.search(r"http\S+", process.stdout.readline())[0]
        token = url.partition("#t=")[2]
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / "arguments").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        shown = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                shown += [(entry / name).read_bytes() for name in ("cmdline", "environ")]
            except OSError:  # another user's, or gone
                continue
        assert any(b"softlookup-" in text for text in shown), "the browser was not seen"
        assert not [text for text in shown if token.encode() in text]
        assert token not in (tmp_path / "arguments").read_text()
        assert list(tmp_path.glob("softlookup-*/open.html"))
    finally:
        (tmp_path / "done").touch()
        _, err = process.communicate("\n", timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert not list(tmp_path.glob("softlookup-*"))
