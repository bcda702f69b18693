"""What the local page answers to honest, wrong and hostile requests, byte by byte."""

import json
from pathlib import Path

import pytest

from softlookup.shelf import find
from softlookup.viewer import Session
from softlookup.viewer.bundle import page_script
from softlookup.viewer.server import PAGE
from softlookup.viewer.session import OPERATIONS

OPS = tuple(OPERATIONS)
SECURITY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data: blob:; "
        "style-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def test_the_page_and_its_script_hold_no_data_and_need_no_token(wire):
    page, script = wire.ask("/", token=None), wire.ask("/app.js", token=None)
    assert (page.status, page.body.decode()) == (200, PAGE)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert (script.status, script.body) == (200, page_script())
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"


def unframed(body):
    """Return the JSON and the bytes of a framed answer."""
    end = 4 + int.from_bytes(body[:4], "little")
    start = end + -end % 8
    assert body[end:start] == bytes(start - end)
    return json.loads(body[4:end]), body[start:]


@pytest.mark.parametrize("query", [
    "grid", "grid?rows=1:2", "overview", "grid?capture=sentence&layer=mean&head=mean&words=1",
    "overview?capture=causal&layer=3",
])  # fmt: skip
def test_an_answer_with_bytes_is_framed(wire, query):
    answer = wire.ask(f"/api/{query}")
    op, _, text = query.partition("?")
    args = dict(pair.split("=") for pair in text.split("&")) if text else {}
    told, blob = Session(find("lesson")).handle(op, args)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert unframed(answer.body) == (json.loads(json.dumps(told)), blob)
    assert len(answer.body) < len(blob) + 16 + len(json.dumps(told))
    assert {name: answer.headers.get(name) for name in SECURITY} == SECURITY


@pytest.mark.parametrize("op", ["grid", "overview"])
def test_bytes_stand_behind_the_gate_like_everything_else(wire, op):
    assert wire.ask(f"/api/{op}", token=None).status == 401
    assert wire.ask(f"/api/{op}", host="evil.example").status == 421
    assert wire.ask(f"/api/{op}", headers=["Origin: http://evil.example"]).status == 403
    assert wire.ask(f"/api/{op}", headers=["Sec-Fetch-Site: cross-site"]).status == 403
    refused = wire.ask(f"/api/{op}?layer=1")
    assert (refused.status, refused.headers["content-type"]) == (400, "application/json")
    head = wire.ask(f"/api/{op}", method="HEAD")
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize("target", ["/", "/app.js", "/api/info"])
def test_head_is_get_without_a_body(wire, target):
    got, head = wire.ask(target), wire.ask(target, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))


@pytest.mark.parametrize("token", [None, "x", "", " ", "\xff"])
@pytest.mark.parametrize(
    "target",
    [*(f"/api/{op}" for op in OPS), "/api/", "/api/none", "/api", "/none", "/app.js/", "//"],
)
def test_every_data_route_and_every_unknown_one_needs_the_token(wire, target, token):
    answer = wire.ask(target, token=token)
    assert answer.status == 401
    assert answer.body == b"the token is missing or wrong"


def test_the_token_is_taken_from_its_header_alone(wire):
    for target in (f"/api/info?t={wire.token}", f"/api/info?token={wire.token}"):
        assert wire.ask(target, token=None).status == 401
    cookie = f"Cookie: t={wire.token}; token={wire.token}"
    assert wire.ask(token=None, headers=[cookie]).status == 401
    assert wire.ask(token=None, headers=[f"Authorization: {wire.token}"]).status == 401
    assert wire.ask(token=wire.token[:-1]).status == 401
    assert wire.ask(token=wire.token + "x").status == 401
    assert wire.ask(token=wire.token.swapcase()).status == 401


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("localhost.:{port}", 421),
        ("[::1]:{port}", 421),
        ("0.0.0.0:{port}", 421),
        ("127.1:{port}", 421),
        ("2130706433:{port}", 421),
        ("127.0.0.1", 421),
        ("127.0.0.1:1", 421),
        ("127.0.0.1:0{port}", 421),
        ("127.0.0.1.evil.example:{port}", 421),
        ("evil.example", 421),
        ("evil.example:{port}", 421),  # a name that was pointed at this machine afterwards
        ("user@127.0.0.1:{port}", 421),
        ("127.0.0.1:{port},evil.example", 421),
        ("", 421),
    ],
)
@pytest.mark.parametrize("target", ["/", "/app.js", "/api/info"])
def test_only_this_machines_own_names_are_served(wire, host, expected, target):
    answer = wire.ask(target, host=host.format(port=wire.port))
    assert answer.status == expected
    assert wire.token.encode() not in answer.body


def test_a_request_without_a_host_is_refused(wire):
    assert wire.ask(host=False).status == 400
    assert wire.send(b"GET / HTTP/1.0\r\n\r\n").status == 421


@pytest.mark.parametrize("repeated", ["Host: 127.0.0.1:{port}", "Authorization: Bearer {token}"])
def test_repeated_headers_are_refused(wire, repeated):
    line = repeated.format(port=wire.port, token=wire.token)
    assert wire.ask(headers=[line]).status == 400


def test_a_repeated_origin_is_refused(wire):
    own = f"Origin: http://127.0.0.1:{wire.port}"
    assert wire.ask(headers=[own]).status == 200
    assert wire.ask(headers=[own, own]).status == 400
    assert wire.ask(headers=[own, "Origin: http://evil.example"]).status == 400


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://localhost:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port}/",
    ],
)
@pytest.mark.parametrize("target", ["/", "/app.js", "/api/info"])
def test_another_origin_is_refused(wire, origin, target):
    header = f"Origin: {origin.format(port=wire.port)}"
    assert wire.ask(target, headers=[header]).status == 403


@pytest.mark.parametrize(
    ("site", "expected"),
    [("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403), ("x", 403)],
)
def test_another_site_reaches_nothing_but_the_bare_page(wire, site, expected):
    header = f"Sec-Fetch-Site: {site}"
    assert wire.ask("/", headers=[header]).status == 200
    assert wire.ask("/app.js", headers=[header]).status == expected
    assert wire.ask("/api/info", headers=[header]).status == expected


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"])
@pytest.mark.parametrize("target", ["/", "/api/info", "*"])
def test_only_get_and_head(wire, method, target):
    assert wire.ask(target, method=method).status == 405


def test_bodies_are_refused(wire):
    assert wire.ask(headers=["Content-Length: 5"]).status == 413
    assert wire.ask(headers=["Transfer-Encoding: chunked"]).status == 413


def test_websockets_are_refused(wire):
    upgrade = [
        "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ]
    for target in ("/", "/api/info", "/ws"):
        assert wire.ask(target, headers=upgrade).status == 400


@pytest.mark.parametrize(
    "target",
    [
        "/../pyproject.toml",
        "/%2e%2e/pyproject.toml",
        "/..%2fpyproject.toml",
        "/app.js/../../server.py",
        "//etc/passwd",
        "/static/app.js",
        "/static/%00",
        "/api/../app.py",
        "/api/..%2f..%2fserver.py",
        "/api/info/",
        "/api/info%2f",
        "/api//info",
        "/C:/Windows/win.ini",
        "\\..\\server.py",
        "http://evil.example/",
        "/index.html",
        "/favicon.ico",
    ],
)
def test_there_are_no_files_and_no_redirects(wire, target):
    answer = wire.ask(target)
    assert answer.status in {400, 404}
    assert "location" not in answer.headers
    assert b"import" not in answer.body


def test_a_percent_in_a_path_is_decoded_once(wire):
    assert wire.ask("/%61pp.js", token=None).status == 200  # the same constant
    assert wire.ask("/%2561pp.js", token=None).status == 401


@pytest.mark.parametrize(
    ("query", "argument"),
    [
        ("trace?row=-1", "row"),
        ("trace?row=3", "row"),
        ("trace?row=9999999999999999999999", "row"),
        ("trace?row=%EF%BC%91", "row"),  # a full-width digit
        ("trace?row=1.0", "row"),
        ("trace?row=1e0", "row"),
        ("trace?row=%2B1", "row"),
        ("trace?row=%201", "row"),
        ("trace?row=0x1", "row"),
        ("trace?row=1_0", "row"),
        ("trace?row=", "row"),
        ("trace?row=%00", "row"),
        ("trace?row=<b>", "row"),
        ("trace", "row"),
        ("trace?row=0&row=1", "op"),
        ("trace?row=0&rows=1", "trace"),
        ("trace?row=0&top=0", "top"),
        ("trace?row=0&top=257", "top"),
        ("trace?row=0&head=1", "head"),
        ("trace?row=0&batch=1", "batch"),
        ("weights?rows=0", "keys"),
        ("weights?rows=0,,1&keys=0", "rows"),
        ("weights?rows=0&keys=" + ",".join("0" * 65), "keys"),
        ("weights?rows=0&keys=" + "," * 9999, "keys"),
        ("exercise?skill=magic&seed=1", "skill"),
        ("exercise?skill=scores&seed=x", "seed"),
        ("exercise?skill=scores&seed=999999999999999999", "seed"),
        ("check?skill=scores&seed=1", "answer"),
        ("check?skill=scores&seed=1&answer=[1]", "answer"),
        ("check?skill=scores&seed=1&answer={}", "answer"),
        ("check?skill=scores&seed=1&answer=" + "[" * 1999, "answer"),
        ("check?skill=scores&seed=1&answer=" + "9" * 2001, "answer"),
        ("none", "op"),
        ("__class__", "op"),
        ("info?x=1", "info"),
        ("info?capture=none", "capture"),
        ("grid?head=1", "head"),
        ("grid?layer=-1", "layer"),
        ("grid?rows=0:4", "rows"),
        ("grid?rows=%EF%BC%90:1", "rows"),
        ("grid?words=1", "words"),
        ("overview?head=0", "overview"),
        ("facts?like=1&layer=mean", "like"),
        ("everywhere", "query"),
    ],
)
def test_a_wrong_argument_is_a_sentence(wire, query, argument):
    answer = wire.ask(f"/api/{query}")
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    refusal = answer.json
    assert refusal["ok"] is False
    assert refusal["argument"] == argument
    assert refusal["error"].startswith(f"{argument}: ")
    assert len(refusal["error"]) < 300


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("/", {}),
        ("/app.js", {}),
        ("/api/info", {}),
        ("/api/none", {}),
        ("/api/trace?row=x", {}),
        ("/none", {}),
        ("/api/info", {"token": None}),
        ("/", {"host": "evil.example"}),
        ("/", {"method": "POST"}),
        ("/", {"headers": ["Origin: null"]}),
        ("/", {"headers": ["Content-Length: x"]}),
        ("/", {"headers": ["no colon"]}),
        ("/", {"host": False}),
    ],
)
def test_every_answer_has_every_security_header(wire, target, options):
    answer = wire.ask(target, **options)
    assert {name: answer.headers.get(name) for name in SECURITY} == SECURITY
    assert not {"access-control-allow-origin", "set-cookie", "server", "location"} & set(
        answer.headers
    )
    if answer.status >= 400 and not target.startswith("/api/n"):
        assert answer.headers["content-type"].split(";")[0] in {"text/plain", "application/json"}


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",  # a TLS hello: https:// was typed
        b"GET /\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
)
def test_a_malformed_request_is_answered_with_the_headers_too(wire, request_bytes):
    answer = wire.send(request_bytes)
    assert (answer.status, answer.body) == (400, b"malformed request")
    assert {name: answer.headers.get(name) for name in SECURITY} == SECURITY


def test_a_bug_of_ours_is_fixed_words(wire, monkeypatch, caplog):
    monkeypatch.setattr("softlookup.viewer.session.Session.handle", lambda *_: 1 / 0)
    answer = wire.ask()
    assert answer.status == 500
    assert b"Internal Server Error" in answer.body
    assert b"ZeroDivisionError" not in answer.body
    assert {name: answer.headers.get(name) for name in SECURITY} == SECURITY
    assert wire.token not in caplog.text


@pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="hardware: this system lists no sockets in /proc"
)
def test_it_listens_on_the_loopback_address_alone(wire):
    listening = [
        line.split()[1]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).exists()
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]
        if line.split()[3] == "0A"
    ]
    port = f":{wire.port:04X}"
    assert [address for address in listening if address.endswith(port)] == [f"0100007F{port}"]
