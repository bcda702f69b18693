"""What a view shows of all heads of a layer: a thumbnail each, and a few numbers."""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray
from softlookup.captures import Layer
from softlookup.errors import ViewError
from softlookup.tracing import to_json
from softlookup.viewer import arguments, blocks
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import THUMBNAIL, Json, computed_by
from softlookup.viewer.opened import Opened, Place

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
        rows, backend = yield from _read(place, picture, per)
        heads.append({"number": layer.heads[head], **_means(place, rows)})
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


class _Rows(NamedTuple):
    """What the rows of one head come to, each of shape (rows,)."""

    counts: Array  # of the keys that a row sees
    entropy: Array | None
    sink: Array | None
    first: Array
    previous: Array


def _read(place: Place, picture: Array, per: int) -> Generator[None, None, tuple[_Rows, str]]:
    """Read one head; fill in the largest weight of each block of its picture (-1: hidden)."""
    look, offset = place.look, place.look.problem.q_offset
    position = 0 if offset is None else int(offset[0])
    start = blocks.first_real(place.keys)
    found = []
    for rows in blocks.row_blocks(look, per):
        part = blocks.of_rows(look, rows)
        facts = part.inspect(entropy=True, sink=look.problem.sinks is not None)
        seen, weights = blocks.sees(part), part.weights()
        weights[~seen] = -1
        _pool(weights, picture[rows.start // per : -(-rows.stop // per)], per)
        before = np.arange(rows.start, rows.stop) + position - 1
        first, previous = (_at(weights, keys) for keys in (np.full(len(before), start), before))
        found.append(_Rows(seen.sum(axis=1), facts.entropy, facts.sink, first, previous))
        del part, seen, weights  # nothing large is kept while others ask
        yield
    numbers = [None if one[0] is None else np.concatenate(one) for one in zip(*found, strict=True)]
    return _Rows._make(numbers), computed_by(facts.backend, look)


def _pool(weights: Array, picture: Array, per: int) -> None:
    """Write the largest weight of each block into `picture`."""
    if picture.size:
        pooled = np.maximum.reduceat(weights, np.arange(0, weights.shape[1], per), axis=1)
        picture[:] = np.maximum.reduceat(pooled, np.arange(0, len(pooled), per), axis=0)


def _at(weights: Array, keys: Array) -> Array:
    """Return what each row reads of one key; 0 where that key is hidden or not there."""
    there = np.flatnonzero((keys >= 0) & (keys < weights.shape[1]))
    found = np.zeros(len(weights))
    found[there] = np.maximum(weights[there, keys[there]], 0)
    return found


def _means(place: Place, rows: _Rows) -> dict[str, Any]:
    """Return means over rows: padding reads nothing, and one visible key leaves no choice."""
    real = blocks.real(place.queries)
    seeing, several = real & (rows.counts > 0), real & (rows.counts > 1)
    paired = place.queries == place.keys  # else the key before is none of the text's
    return {
        "entropy": _mean(rows.entropy, seeing),
        "sink": _mean(rows.sink, seeing),
        "first_share": _mean(rows.first, several),
        "previous_share": _mean(rows.previous, several) if paired else None,
    }


def _mean(numbers: Array | None, chosen: BoolArray) -> float | None:
    if numbers is None or not chosen.any():
        return None
    return float(numbers[chosen].mean(dtype=np.float64))
