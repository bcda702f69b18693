"""The rules of viewer/gate.py as a table; test_server.py sends the same over a socket."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.viewer.gate import refuse

TOKEN = "t" * 43
HOST = (b"host", b"127.0.0.1:8642")
BEARER = (b"authorization", b"Bearer " + TOKEN.encode())


def status(*headers, method="GET", path="/api/info"):
    refusal = refuse(method, path, headers, 8642, TOKEN)
    return 200 if refusal is None else refusal.status


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([HOST, BEARER], 200),
        ([(b"Host", b"LOCALHOST:8642"), BEARER], 200),
        ([HOST, BEARER, (b"origin", b"http://127.0.0.1:8642")], 200),
        ([HOST, BEARER, (b"origin", b"http://localhost:8642")], 403),  # not the Host it came for
        ([HOST, BEARER, (b"sec-fetch-site", b"same-origin")], 200),
        ([HOST, BEARER, (b"sec-fetch-site", b"same-site")], 403),  # another port of this machine
        ([HOST, BEARER, (b"sec-fetch-site", b"cross-site")], 403),
        ([HOST, BEARER, BEARER], 400),
        ([HOST, HOST, BEARER], 400),
        ([HOST, BEARER, (b"content-length", b"0")], 200),
        ([HOST, BEARER, (b"content-length", b"5")], 413),
        ([HOST, BEARER, (b"transfer-encoding", b"chunked")], 413),
        ([HOST, BEARER, (b"upgrade", b"websocket")], 400),
        ([BEARER], 421),
        ([HOST], 401),
        ([HOST, (b"authorization", TOKEN.encode())], 401),
        ([HOST, (b"authorization", b"Basic " + TOKEN.encode())], 401),
        ([HOST, (b"authorization", b"Bearer \xff\xfe")], 401),
        ([HOST, (b"cookie", b"t=" + TOKEN.encode())], 401),
    ],
)
def test_headers(headers, expected):
    assert status(*headers) == expected


def test_the_page_itself_may_be_reached_from_anywhere_without_the_token():
    site = (b"sec-fetch-site", b"cross-site")
    assert status(HOST, site, path="/") == 200
    assert status(HOST, site, path="/app.js") == 403
    assert status(HOST, path="/app.js") == 200


@pytest.mark.parametrize(
    "path", ["//", "/.", "/index.html", "/app.js/", "/App.js", "/api", "/api/x", ""]
)
def test_every_other_path_needs_the_token(path):
    assert status(HOST, path=path) == 401


@given(
    headers=st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=60)), max_size=5),
    path=st.text(max_size=20),
    method=st.text(max_size=8),
)
def test_nothing_passes_by_chance(headers, path, method):
    refusal = refuse(method, path, headers, 8642, TOKEN)
    assert refusal is not None
    assert TOKEN not in refusal.words
