"""What a view may ask of a model's heads: the overview, a grid, facts, one token everywhere."""

from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray
from softlookup.captures import Axis, Layer
from softlookup.errors import ViewError
from softlookup.lookup import Lookup
from softlookup.tracing import to_json
from softlookup.viewer import arguments, rectangles
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import GRID_CELLS, THUMBNAIL, Json
from softlookup.viewer.opened import Opened, Place, layer_of
from softlookup.visibility import Tile, visible

MEAN = "mean"
RULE = "summed over the key word's tokens, averaged over the query word's tokens"
MOST_CELLS = 2**27  # of a head that is drawn as a thumbnail
MOST_FACTS = 2**30  # cells of all heads whose facts are worked out for one answer
BLOCK_CELLS = 2**22

Framed = tuple[Json, bytes]


class _Chosen(NamedTuple):
    """The heads that a grid or its facts speak of, and how they are called."""

    places: list[Place]
    what: str


def overview(opened: Opened, args: Arguments) -> Framed:
    """Return every head of a layer as a thumbnail, with a few numbers."""
    layers = opened.capture.layers
    position = arguments.whole(args, "layer", len(layers), default=0)
    layer, problem = layers[position], layers[position].look.problem
    batch = arguments.whole(args, "batch", problem.batch, default=0)
    if problem.q_len * problem.kv_len > MOST_CELLS:
        raise ViewError(
            "overview", f"must have at most {MOST_CELLS:,} weights a head; {layer.label} has "
            f"{problem.q_len:,} x {problem.kv_len:,}. Open one head, a window at a time."
        )  # fmt: skip
    per = max(1, -(-max(problem.q_len, problem.kv_len) // THUMBNAIL))
    shape = (-(-problem.q_len // per), -(-problem.kv_len // per))
    pictures, heads = np.empty((problem.heads, *shape), np.float32), []
    backend = ""
    for head in range(problem.heads):
        place = Place(layer, head, batch)
        found = place.look.inspect(entropy=True, sink=problem.sinks is not None)
        pictures[head], shares = _picture(place, per)
        seen = shares.pop("seen")
        heads.append(
            {
                "number": layer.heads[head],
                "entropy": _mean(found.entropy, seen),
                "sink": None if found.sink is None else _mean(found.sink, seen),
                **shares,
            }
        )
        backend = _named(found.backend, layer.look)
    told = {
        "layer": position,
        "rows": shape[0],
        "columns": shape[1],
        "per": per,
        "heads": to_json(heads),
        "backend": backend,
    }
    return told, pictures.astype("<f4").tobytes()


def _mean(numbers: Array | None, chosen: BoolArray) -> float | None:
    if numbers is None or not chosen.any():
        return None
    return float(numbers[chosen].mean(dtype=np.float64))


def _picture(place: Place, per: int) -> tuple[Array, dict[str, Any]]:
    """Return the largest weight of each block (-1: hidden), and shares that need single weights."""
    problem = place.look.problem
    columns = -(-problem.kv_len // per)
    edges = np.arange(columns) * per
    picture = np.full((-(-problem.q_len // per), columns), -1, np.float32)
    counts = np.zeros(problem.q_len, np.int64)
    first, previous = np.zeros((2, problem.q_len))
    start = _first_real(place.keys)
    step = max(per, BLOCK_CELLS // max(problem.kv_len, 1) // per * per)
    for begin in range(0, problem.q_len if problem.kv_len else 0, step):
        rows = slice(begin, min(begin + step, problem.q_len))
        weights = place.look.weights(rows=rows)
        sees = _sees(place.look, rows)
        weights[~sees] = -1
        pooled = np.maximum.reduceat(weights, edges, axis=1)
        picture[begin // per : -(-rows.stop // per)] = np.maximum.reduceat(
            pooled, np.arange(0, len(pooled), per), axis=0
        )
        counts[rows] = sees.sum(axis=1)
        if start < problem.kv_len:
            first[rows] = np.where(sees[:, start], weights[:, start], 0)
        index = np.arange(begin, rows.stop)
        has = (index >= 1) & (index <= problem.kv_len)
        at = np.flatnonzero(has), index[has] - 1
        previous[index[has]] = np.where(sees[at], weights[at], 0)
    several = counts >= 2
    square = problem.q_len == problem.kv_len
    return picture, {
        "seen": counts > 0,
        "first_share": _mean(first, several),
        "previous_share": _mean(previous, several) if square else None,
    }


def _first_real(keys: Axis) -> int:
    """Return the position of the first key that is no padding."""
    start = 0
    for begin, stop in sorted(keys.padding):
        if begin <= start:
            start = max(start, stop)
    return start


def _sees(look: Lookup, rows: slice) -> BoolArray:
    """Return which keys some rows of one head see, (rows, keys)."""
    shape = (rows.stop - rows.start, look.problem.kv_len)
    tile = Tile(slice(0, 1), slice(0, 1), rows, slice(0, look.problem.kv_len))
    shown = visible(look.problem, tile)
    return np.ones(shape, bool) if shown is None else np.broadcast_to(shown[0, 0, 0], shape)


def grid(opened: Opened, args: Arguments) -> Framed:
    """Return a rectangle of exact weights: of one head, a mean over heads or layers, of words."""
    chosen = _chosen(opened, args)
    first = chosen.places[0]
    by_words = arguments.word(args, "words", ("0", "1"), default="0") == "1"
    if by_words and ("rows" in args or "keys" in args):
        raise ViewError("words", "are summed over the whole grid. Leave out rows and keys.")
    problem = first.look.problem
    rows = arguments.span(args, "rows", problem.q_len)
    keys = arguments.span(args, "keys", problem.kv_len)
    if len(rows) * len(keys) > GRID_CELLS:
        raise ViewError(
            "grid", f"must have at most {GRID_CELLS:,} cells; {len(rows):,} x {len(keys):,} are "
            f"{len(rows) * len(keys):,}. Give rows and keys, e.g. rows=0:512."
        )  # fmt: skip
    rectangles.check_work(len(rows), problem.kv_len, len(chosen.places))
    some, columns = np.arange(rows.start, rows.stop), np.arange(keys.start, keys.stop)
    part = rectangles.mean(rectangles.exact(place.look, some, columns) for place in chosen.places)
    told: Json = {"what": chosen.what, "rows": [rows.start, rows.stop],
                  "keys": [keys.start, keys.stop], "rule": None, "row_labels": None,
                  "key_labels": None, "row_words": None, "key_words": None}  # fmt: skip
    if by_words:
        queries, words = rectangles.words_of(first.queries), rectangles.words_of(first.keys)
        part = rectangles.by_words(part, queries, words)
        told |= {"rule": RULE, "row_labels": queries.texts, "key_labels": words.texts,
                 "row_words": queries.tokens, "key_words": words.tokens}  # fmt: skip
    told["shape"] = list(part.weights.shape)
    return told, part.weights.astype("<f8").tobytes() + part.visible.astype(np.uint8).tobytes()


def _chosen(opened: Opened, args: Arguments) -> _Chosen:
    """Return the heads that `layer` and `head` mean, where each may be "mean"."""
    over_layers, over_heads = args.get("layer") == MEAN, args.get("head") == MEAN
    like = layer_of(opened, args, "like" if over_layers else "layer")
    batch = arguments.whole(args, "batch", like.look.problem.batch, default=0)
    layers = [one for one in opened.capture.layers if _alike(one, like)] if over_layers else [like]
    if over_heads:
        places = [Place(layer, head, batch) for layer in layers for head in range(len(layer.heads))]
    else:
        heads = min(len(layer.heads) for layer in layers)
        head = arguments.whole(args, "head", heads, default=0)
        places = [Place(layer, head, batch) for layer in layers]
    if not places:
        raise ViewError("head", "must be there to be looked at; this layer has no heads.")
    number = f"head {like.heads[places[0].head]}"
    several = f"{len(like.heads)} heads"
    what = {
        (False, False): f"{like.label}, {number}",
        (False, True): f"mean over {several} of {like.label}",
        (True, False): f"mean of {number} over {len(layers)} layers",
        (True, True): f"mean over {several} and {len(layers)} layers",
    }[over_layers, over_heads]
    return _Chosen(places, what)


def _alike(one: Layer, other: Layer) -> bool:
    """Say whether two layers look from the same tokens at the same tokens."""
    return (one.queries, one.keys) == (other.queries, other.keys)


def facts(opened: Opened, args: Arguments) -> Json:
    """Return the facts of a head, row by row and key by key; for a mean the mean of each number."""
    chosen = _chosen(opened, args)
    problem, heads = chosen.places[0].look.problem, len(chosen.places)
    if heads * problem.q_len * problem.kv_len > MOST_FACTS:
        raise ViewError(
            "facts", f"must take at most {MOST_FACTS:,} weights to work out; {heads:,} x "
            f"{problem.q_len:,} x {problem.kv_len:,} are more. Lookup.inspect has no limit."
        )  # fmt: skip
    found = [_facts_of(place) for place in chosen.places]
    told = {name: _mean_of([one.numbers[name] for one in found]) for name in found[0].numbers}
    return {**to_json(told), "what": chosen.what, "backend": found[0].backend}


def _mean_of(arrays: list[Array | None]) -> Array | None:
    there = [array for array in arrays if array is not None]
    return np.mean(there, axis=0) if there else None


class _Found(NamedTuple):
    """The facts of one head, by name, and what computed them."""

    numbers: dict[str, Array | None]
    backend: str


def _facts_of(place: Place) -> _Found:
    look = place.look
    labels = np.full(look.problem.kv_len, -1)
    labels[_first_real(place.keys) :][:1] = 0
    found = look.inspect(
        entropy=True,
        received=True,
        max_score=True,
        sink=look.problem.sinks is not None,
        groups=labels,
    )
    first = found.groups
    counts = [_sees(look, rows).sum(axis=1) for rows in _row_blocks(look)]
    numbers = {
        "entropy": found.entropy,
        "received": found.received,
        "sink": found.sink,
        "max_score": found.max_score,
        "first_share": None if first is None or not first.shape[1] else first[:, 0],
        "visible": np.concatenate(counts) if counts else np.zeros(0),
    }
    return _Found(numbers, _named(found.backend, look))


def _named(backend: str, look: Lookup) -> str:
    """Return what is said to have computed a number."""
    return f"{backend}, {look.problem.compute_dtype}"


def _row_blocks(look: Lookup) -> list[slice]:
    step = max(1, BLOCK_CELLS // max(look.problem.kv_len, 1))
    q_len = look.problem.q_len
    return [slice(start, min(start + step, q_len)) for start in range(0, q_len, step)]


def everywhere(opened: Opened, args: Arguments) -> Json:
    """Return what one query reads most in every head of every layer over the same tokens."""
    like = layer_of(opened, args)
    problem = like.look.problem
    batch = arguments.whole(args, "batch", problem.batch, default=0)
    query = arguments.whole(args, "query", problem.q_len, default=None)
    told = [
        {
            "layer": position,
            "heads": [
                _strongest(Place(layer, head, batch), query) for head in range(len(layer.heads))
            ],
        }
        for position, layer in enumerate(opened.capture.layers)
        if _alike(layer, like)
    ]
    return {"query": query, "layers": told}


def _strongest(place: Place, query: int) -> Json:
    """Return the key that one row reads most, its weight, and the row's entropy in nats."""
    part = rectangles.exact(place.look, np.array([query]), np.arange(place.look.problem.kv_len))
    weights, seen = part.weights[0], part.visible[0]
    if not seen.any():
        return {"key": -1, "weight": 0.0, "entropy": 0.0}
    if np.isnan(weights).any():
        return {"key": -1, "weight": "NaN", "entropy": "NaN"}
    key = int(np.argmax(np.where(seen, weights, -1)))
    some = weights[weights > 0]
    return {
        "key": key,
        "weight": float(weights[key]),
        "entropy": float(-(some * np.log(some)).sum()),
    }
