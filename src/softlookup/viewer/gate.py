"""The rules that every request must pass before anything looks at its path.

One pure function: no framework, no state, so that a table can test it. A page of another site, or
of another program on this machine, can send requests to a local port; what it cannot do is choose
the Host, Origin and Authorization that its browser sends.
"""

import hmac
from collections.abc import Iterable
from typing import NamedTuple

PUBLIC = ("/", "/app.js")  # they hold no data
_SINGLE = (b"host", b"origin", b"authorization", b"sec-fetch-site", b"content-length")


class Refusal(NamedTuple):
    """A status and fixed words: nothing of the request is ever echoed."""

    status: int
    words: str


def refuse(
    method: str, path: str, headers: Iterable[tuple[bytes, bytes]], port: int, token: str
) -> Refusal | None:
    """Say why a request is refused, or None where it may pass.

    Parameters
    ----------
    method, path : str
        As they came, the path unquoted.
    headers : iterable of (bytes, bytes)
        Names in any case.
    port : int
        Where this server listens.
    token : str
        What every request but those for the bare page must carry.
    """
    one: dict[bytes, bytes] = {}
    for spelt, given in headers:
        name = spelt.lower()
        if name in one and name in _SINGLE:
            return Refusal(400, "repeated header")
        one[name] = given.strip()
    host = one.get(b"host", b"").lower()
    if host not in (f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()):
        return Refusal(421, "unknown host")
    if method not in ("GET", "HEAD"):
        return Refusal(405, "only GET and HEAD")
    if one.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in one:
        return Refusal(413, "no request bodies")
    if b"upgrade" in one:
        return Refusal(400, "no upgrades")
    if b"origin" in one and one[b"origin"].lower() != b"http://" + host:
        return Refusal(403, "another origin")
    if path != "/" and one.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        return Refusal(403, "another site")
    shown = one.get(b"authorization", b"")
    if path not in PUBLIC and not hmac.compare_digest(shown, b"Bearer " + token.encode()):
        return Refusal(401, "the token is missing or wrong")
    return None
