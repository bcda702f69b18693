"""View: a local page that is open, how to wait for it, and how to close it."""

import atexit
import os
import secrets
import signal
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from softlookup.viewer import redirect
from softlookup.viewer.server import HOST, Server, build_app, open_socket
from softlookup.viewer.session import Session

if TYPE_CHECKING:
    from pathlib import Path


class View:
    """An open local page.

    It is served until :meth:`close`, the end of a ``with`` block, or the end of the program.

    Attributes
    ----------
    url : str
        The link with its secret token; whoever has it can read what is shown.
    port : int
        Where it listens, on 127.0.0.1 only.
    """

    def __init__(self, session: Session, port: int | None = None) -> None:
        listener = open_socket(port)
        self.port: int = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)
        self.url = f"http://{HOST}:{self.port}/#t={token}"
        self._closed = threading.Event()
        self._redirect: Path | None = None
        self._lock = threading.Lock()
        try:
            self._server = Server(
                build_app(session, self.port, token, self._forget_redirect), listener
            )
        except BaseException:
            listener.close()
            raise
        self._server.start()
        atexit.register(self.close)

    def open_browser(self) -> None:
        """Open the page in the system's browser; the token stands in no process list."""
        with self._lock:
            if self._redirect is None:
                self._redirect = redirect.write_redirect(self.url)
            redirect.open_in_browser(self._redirect)

    def wait(self) -> None:
        """Return when the view is closed; Ctrl-C and SIGTERM close it."""
        here = threading.current_thread() is threading.main_thread()
        before = {
            number: signal.signal(number, lambda *_: self._closed.set())
            for number in ((signal.SIGINT, signal.SIGTERM) if here else ())
        }
        try:
            while not self._closed.wait(0.5):  # short: Windows runs no handler inside a wait
                pass
        finally:
            self.close()
            for number, handler in before.items():
                if handler is not None:  # None: it was set outside Python
                    signal.signal(number, handler)

    def close(self) -> None:
        """Stop the page; its link is dead from here on. Closing twice does nothing."""
        self._closed.set()
        self._server.stop()
        self._forget_redirect()
        atexit.unregister(self.close)

    def _forget_redirect(self) -> None:
        with self._lock:
            file, self._redirect = self._redirect, None
        if file is not None:
            redirect.remove_redirect(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed.is_set() else "open"
        return f"<View on http://{HOST}:{self.port}/, {state}>"  # without its token


def announce(view: View) -> str:
    """Return the lines that tell a person at a terminal how to open `view`."""
    lines = [f"Open  {view.url}"]
    if not redirect.has_display(os.environ, sys.platform):
        lines += [
            "There is no display here. On the machine with the browser run",
            f"      ssh -L {view.port}:{HOST}:{view.port} this-machine",
            "and open the link there.",
        ]
    return "\n".join(lines)
