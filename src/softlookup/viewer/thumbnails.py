"""What a view shows of all heads of a layer: a thumbnail each, and a few numbers."""

from collections.abc import Generator
from typing import Any

import numpy as np

from softlookup.arrays import Array
from softlookup.captures import Layer
from softlookup.errors import ViewError
from softlookup.lookup import Lookup
from softlookup.tracing import to_json
from softlookup.viewer import arguments, blocks
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import THUMBNAIL, Json
from softlookup.viewer.opened import Opened, Place
from softlookup.viewer.readings import Means, read

MOST_CELLS = 2**27  # of all heads that are drawn for one answer


def overview(opened: Opened, args: Arguments) -> Generator[None, None, tuple[Json, bytes]]:
    """Return heads of a layer as thumbnails, with a few numbers; yield where others may ask."""
    layers = opened.capture.layers
    position = arguments.whole(args, "layer", len(layers), default=0)
    layer, problem = layers[position], layers[position].look.problem
    batch = arguments.whole(args, "batch", problem.batch, default=0)
    chosen = arguments.span(args, "heads", problem.heads)
    _check_work(layer, len(chosen))
    per = max(1, -(-max(problem.q_len, problem.kv_len) // THUMBNAIL))
    shape = (-(-problem.q_len // per), -(-problem.kv_len // per))
    pictures, heads, backend = np.full((len(chosen), *shape), -1, np.float32), [], ""
    for picture, head in zip(pictures, chosen, strict=True):
        place = Place(layer, head, batch)
        means = yield from _read(place, picture, per)
        backend = means.backend
        heads.append({"number": layer.heads[head], **_numbers(place, means)})
    told = {
        "layer": position,
        "rows": shape[0],
        "columns": shape[1],
        "per": per,
        "heads": to_json(heads),
        "backend": backend,
    }
    return told, pictures.astype("<f4").tobytes()


def _check_work(layer: Layer, heads: int) -> None:
    q_len, kv_len = layer.look.problem.q_len, layer.look.problem.kv_len
    each = f"{q_len:,} x {kv_len:,}"
    if q_len * kv_len > MOST_CELLS:
        raise ViewError(
            "overview", f"must have at most {MOST_CELLS:,} weights a head; {layer.label} has "
            f"{each}. Open one head, a window at a time."
        )  # fmt: skip
    if heads * q_len * kv_len > MOST_CELLS:
        raise ViewError(
            "overview", f"must take at most {MOST_CELLS:,} weights to work out; {heads:,} heads "
            f"of {layer.label}, {each} each, take {heads * q_len * kv_len:,}. Ask for fewer at "
            "once, e.g. heads=0:1."
        )  # fmt: skip


def _read(place: Place, picture: Array, per: int) -> Generator[None, None, Means]:
    """Read one head; fill in the largest weight of each block of its picture (-1: hidden)."""
    look, means = place.look, Means(place)
    labels = np.where(np.arange(look.problem.kv_len) == blocks.first_real(place.keys), 0, -1)
    for rows in blocks.row_blocks(look, per):
        draw(look, rows, picture, per)
        means.add(rows, read(look, rows, labels))
        yield
    return means


def draw(look: Lookup, rows: slice, picture: Array, per: int) -> None:
    """Write the largest weight of each block of some rows into their part of `picture`."""
    part = blocks.of_rows(look, rows)
    weights = part.weights()
    weights[~blocks.sees(part)] = -1
    _pool(weights, picture[rows.start // per : -(-rows.stop // per)], per)


def _pool(weights: Array, picture: Array, per: int) -> None:
    """Write the largest weight of each block into `picture`."""
    if picture.size:
        pooled = np.maximum.reduceat(weights, np.arange(0, weights.shape[1], per), axis=1)
        picture[:] = np.maximum.reduceat(pooled, np.arange(0, len(pooled), per), axis=0)


def _numbers(place: Place, means: Means) -> dict[str, Any]:
    """Return what is said of one head."""
    there = blocks.first_real(place.keys) < len(place.keys.tokens)
    first = means.shares(1) if there else None
    return {
        "entropy": means.of_seeing("entropy"),
        "sink": means.of_seeing("sink"),
        "first_share": None if first is None else first[0],
        "previous_share": means.previous(),
    }
