"""The local page: one session on 127.0.0.1, behind the gate, with three fixed routes.

There is no file route and no redirect: the page and its script are two constants, everything else
is ``/api/OP``. The security headers are set by the server itself, so that no answer, refusals and
malformed requests included, leaves without them.
"""

import json
import socket
import threading
from collections.abc import Callable

import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from softlookup.errors import ViewError
from softlookup.viewer.bundle import page_script
from softlookup.viewer.gate import refuse
from softlookup.viewer.session import Session

HOST = "127.0.0.1"
FIRST_PORT = 8642
PORTS_TRIED = 100

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data: blob:; "
    "style-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
)

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>softlookup</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
</head>
<body>
<div data-softlookup></div>
<noscript>softlookup draws this page with its own script; allow scripts for this address.</noscript>
<script type="module" src="/app.js"></script>
</body>
</html>
"""

_HEADER_LINES = "".join(f"{name}: {text}\r\n" for name, text in HEADERS)
_MALFORMED = (
    "HTTP/1.1 400 Bad Request\r\n"
    f"{_HEADER_LINES}"
    "content-type: text/plain; charset=utf-8\r\ncontent-length: 17\r\nconnection: close\r\n\r\n"
    "malformed request"
).encode("ascii")


def open_socket(port: int | None) -> socket.socket:
    """Listen on `port`, or on the first free one from 8642 where it is None (0: any free one).

    Raises
    ------
    ViewError
        Where the port is in use or not allowed.
    """
    whole = isinstance(port, int) and not isinstance(port, bool)
    if port is not None and not (whole and 0 <= port <= 65_535):
        raise ViewError("port", f"must be a whole number 0 ... 65535; got {port!r}.")
    ports = range(FIRST_PORT, FIRST_PORT + PORTS_TRIED) if port is None else (port,)
    for candidate in ports:
        # IPPROTO_TCP, not 0: only where asyncio sees it does it turn Nagle's delay off (44 ms)
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows: nobody may bind beside us
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            else:  # a restart need not wait for the connections of the last run
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((HOST, candidate))
            listener.listen(128)
        except OSError as error:
            listener.close()
            reason = error.strerror
        else:
            return listener
    where = port if port is not None else f"{ports[0]} ... {ports[-1]}"
    raise ViewError(
        "port", f"must be free on this machine; {where}: {reason}. "
        "Choose another, or 0 for any free one."
    )  # fmt: skip


def build_app(
    session: Session, port: int, token: str, on_authorised: Callable[[], None]
) -> ASGIApp:
    """Return the ASGI app: the gate, then `/`, `/app.js` and `/api/{op}`."""
    script = page_script()

    def page(_: Request) -> Response:
        return Response(PAGE, media_type="text/html")

    def app_js(_: Request) -> Response:
        return Response(script, media_type="text/javascript")

    def api(request: Request) -> Response:  # not async: runs in a worker thread
        on_authorised()
        pairs = request.query_params.multi_items()
        args = dict(pairs)
        if len(args) != len(pairs):
            words = {"ok": False, "error": "op: an argument came twice.", "argument": "op"}
            return _json(words, 400)
        answer, blob = session.handle(request.path_params["op"], args)
        if blob is not None:
            return Response(framed(answer, blob), media_type="application/octet-stream")
        return _json(answer, 400 if answer.get("ok") is False else 200)

    router = Router(
        [Route("/", page), Route("/app.js", app_js), Route("/api/{op}", api)],
        redirect_slashes=False,
    )

    async def gated(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = refuse(scope["method"], scope["path"], scope["headers"], port, token)
        if refusal is None:
            await router(scope, receive, send)
        else:
            await PlainTextResponse(refusal.words, refusal.status)(scope, receive, send)

    return gated


def _json(answer: object, status: int) -> Response:
    return Response(_text(answer), status, media_type="application/json")


def _text(answer: object) -> str:
    return json.dumps(answer, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def framed(answer: object, blob: bytes) -> bytes:
    """Return JSON and bytes as one body: four bytes of length, the JSON, zeros to 8, the bytes."""
    text = _text(answer).encode("ascii")
    head = len(text).to_bytes(4, "little") + text
    return head + bytes(-len(head) % 8) + blob


class _Protocol(H11Protocol):
    """HTTP as uvicorn speaks it, whose answer to a malformed request has our headers too."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words have no place
        self.transport.write(_MALFORMED)
        self.transport.close()


class Server(uvicorn.Server):
    """The server in its own daemon thread, with a start that can be waited for and a clean stop."""

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http=_Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",  # what is left is a bug of ours; requests are never logged
                access_log=False,
                proxy_headers=False,
                server_header=False,
                headers=list(HEADERS),
                timeout_graceful_shutdown=1,
            )
        )
        self._listening = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name="softlookup-page", daemon=True
        )

    def _run(self, listener: socket.socket) -> None:
        try:
            self.run(sockets=[listener])
        finally:
            listener.close()
            self._listening.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, as uvicorn does, and say so to the thread that waits in `start`."""
        await super().startup(sockets=sockets)
        self._listening.set()

    def start(self) -> None:
        """Return once requests are answered."""
        self._thread.start()
        self._listening.wait()
        if not self.started:
            raise ViewError("page", "could not be served on this machine. Run softlookup doctor.")

    def stop(self) -> None:
        """Close the port and the connections, and wait for the thread to end."""
        self.should_exit = True
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=5)
