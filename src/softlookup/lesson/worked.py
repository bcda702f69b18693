"""The worked example: three tokens in two dimensions, small enough to follow with a pencil."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from softlookup.captures import Capture, label
from softlookup.lookup import Lookup
from softlookup.tracing import Trace

TOKENS = ("1", "2", "3")
ABOUT: Mapping[str, str] = MappingProxyType(
    {
        "license": "Apache-2.0",
        "origin": "Three tokens made up for softlookup's lesson; no text, no model.",
        "made": "By hand: query, key and value are all [1, 0], [0, 1], [1, 1], in float64.",
    }
)
_ROWS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))


def example() -> Capture:
    """Return the worked example as a capture.

    Queries, keys and values are all [1, 0], [0, 1], [1, 1]; the scale is the usual 1/√2.

    Examples
    --------
    >>> example().lookup().attend()[0].round(3)
    array([0.802, 0.599])
    """
    query, key, value = (np.array(_ROWS) for _ in range(3))
    made = label(Lookup(query, key, value), tokens=TOKENS, title="the worked example")
    return replace(made, about=ABOUT)


def steps(rows: list[int] | None = None) -> Trace:
    """Return the traced rows of the worked example, all of them by default."""
    return example().lookup().trace(rows, tokens=TOKENS, key_tokens=TOKENS)
