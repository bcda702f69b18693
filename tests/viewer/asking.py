"""Ask a session, and read the bytes of its answers."""

import json
import math

import numpy as np


def ask(session, op, **args):
    """Return what is answered, refusals included."""
    answer, blob = session.handle(op, {name: str(given) for name, given in args.items()})
    json.dumps(answer, allow_nan=False)
    return answer if blob is None else (answer, blob)


def grid(session, **args):
    """Return the JSON, the weights and what is visible."""
    told, blob = ask(session, "grid", **args)
    cells = math.prod(told["shape"])
    assert len(blob) == 9 * cells
    weights, visible = (
        np.frombuffer(blob, "<f8", cells),
        np.frombuffer(blob, "u1", cells, 8 * cells),
    )
    assert set(visible.tolist()) <= {0, 1}
    return told, weights.reshape(told["shape"]), visible.reshape(told["shape"]).astype(bool)


def overview(session, **args):
    """Return the JSON and the pictures, (heads, rows, columns)."""
    told, blob = ask(session, "overview", **args)
    shape = len(told["heads"]), told["rows"], told["columns"]
    assert len(blob) == 4 * math.prod(shape)
    return told, np.frombuffer(blob, "<f4").reshape(shape)


def finish(session, op="map", **args):
    """Ask with work=1 until all is done; return the last answer, and how often was asked."""
    for asked in range(1, 10_000):
        told = ask(session, op, work=1, **args)
        assert told.get("ok") is not False, told
        if told["done"] == told["of"]:
            return told, asked
    raise AssertionError("it never ends")


def tile(session, **args):
    """Return the JSON and the codes of each pool, (pools, rows, columns)."""
    told, blob = ask(session, "tile", **args)
    shape = 2, told["rows"], told["columns"]
    assert len(blob) == math.prod(shape)
    return told, np.frombuffer(blob, np.uint8).reshape(shape)


def strip(session, **args):
    """Return the JSON and the largest, smallest and mean numbers, (3, buckets)."""
    told, blob = ask(session, "strip", **args)
    assert len(blob) == 12 * told["buckets"]
    return told, np.frombuffer(blob, "<f4").reshape(3, told["buckets"])
