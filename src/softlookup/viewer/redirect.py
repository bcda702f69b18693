"""Hand the link to a browser without showing its token to anyone else.

A browser's arguments stand in the process list, which every user of the machine may read. So the
browser is given a private file, and the file leads to the link.
"""

import contextlib
import html
import os
import shutil
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Mapping
from pathlib import Path


def has_display(environ: Mapping[str, str], platform: str) -> bool:
    """Say whether a browser opened here would be seen by the person who started this."""
    if any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")):
        return False
    if platform in ("win32", "darwin"):
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def write_redirect(url: str) -> Path:
    """Write a page that leads to `url`, readable by this user alone, and return its path."""
    folder = Path(tempfile.mkdtemp(prefix="softlookup-"))  # 0700, a name nobody can foresee
    file = folder / "open.html"
    link = html.escape(url, quote=True)
    text = (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={link}"><title>softlookup</title>'
        f'<p><a href="{link}">Open softlookup</a></p>\n'
    )
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    return file


def remove_redirect(file: Path) -> None:
    """Delete the page and its folder; once it is gone there is nothing left to do."""
    shutil.rmtree(file.parent, ignore_errors=True)


def open_in_browser(file: Path) -> None:
    """Ask the system's browser for `file`, in a thread: some return only when they are closed."""

    def ask() -> None:
        opened = False
        with contextlib.suppress(webbrowser.Error, OSError):
            opened = webbrowser.open(file.as_uri())
        if not opened:
            print("No browser could be opened; open the link yourself.", file=sys.stderr)

    threading.Thread(target=ask, name="softlookup-browser", daemon=True).start()
