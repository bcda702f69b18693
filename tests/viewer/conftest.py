"""A served lesson, and a way to send it bytes that no HTTP library would send."""

import contextlib
import json
import socket
from typing import NamedTuple

import pytest

from patience import PATIENCE
from softlookup.shelf import find
from softlookup.viewer import Session
from softlookup.viewer.view import View
from strangers import stranger  # noqa: F401


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Wire:
    """A served view, asked by raw requests."""

    def __init__(self, view):
        self.port = view.port
        self.token = view.url.partition("#t=")[2]

    def ask(self, target="/api/info", *, method="GET", host=None, token=True, headers=()):
        """Send one request; `token` True is the right one, None none, a text that one."""
        lines = [f"{method} {target} HTTP/1.1"]
        if host is not False:
            lines.append(f"Host: {host if host is not None else f'127.0.0.1:{self.port}'}")
        if token:
            lines.append(f"Authorization: Bearer {self.token if token is True else token}")
        lines += [*headers, "Connection: close"]
        return self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")

    def send(self, request):
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            received = b""
            # a server that hangs up before it has read everything resets what it answered
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(65_536):
                    received += part
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        names = [line.partition(":")[0].lower() for line in lines]
        assert len(names) == len(set(names)), f"a header is there twice: {names}"
        headers = {name: line.partition(": ")[2] for name, line in zip(names, lines, strict=True)}
        return Answer(int(first.split()[1]), headers, body)


@pytest.fixture(scope="module")
def view():
    with View(Session(find("lesson")), port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def wire(view):
    return Wire(view)
