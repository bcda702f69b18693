"""What a view may ask of a model's heads: a grid, facts, one token everywhere.

Each answer is worked out in steps, and yields where others may ask.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array
from softlookup.captures import Layer
from softlookup.errors import ViewError
from softlookup.numerals import counted
from softlookup.tracing import to_json
from softlookup.viewer import arguments, blocks, rectangles
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import GRID_CELLS, Json, computed_by
from softlookup.viewer.opened import Opened, Place, layer_of

MEAN = "mean"
RULE = "summed over the key word's tokens, averaged over the query word's tokens"
MOST_FACTS = 2**30  # cells of all heads whose facts are worked out for one answer


class _Chosen(NamedTuple):
    """The heads that a grid or its facts speak of, and how they are called."""

    places: list[Place]
    what: str


def grid(opened: Opened, args: Arguments) -> Generator[None, None, tuple[Json, bytes]]:
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
    some, columns = np.arange(rows.start, rows.stop), np.arange(keys.start, keys.stop)
    part = yield from rectangles.exact([place.look for place in chosen.places], some, columns)
    told: Json = {"what": chosen.what, "rows": [rows.start, rows.stop],
                  "keys": [keys.start, keys.stop], "rule": None, "row_labels": None,
                  "key_labels": None, "row_words": None, "key_words": None}  # fmt: skip
    if by_words:
        queries, words = rectangles.words_of(first.queries), rectangles.words_of(first.keys)
        part = rectangles.by_words(part, queries, words)
        told |= {"rule": RULE, "row_labels": queries.texts, "key_labels": words.texts,
                 "row_words": queries.tokens, "key_words": words.tokens}  # fmt: skip
    told |= {"shape": list(part.weights.shape), "sink": to_json(part.sink)}
    return told, part.weights.astype("<f8").tobytes() + part.visible.astype(np.uint8).tobytes()


def _chosen(opened: Opened, args: Arguments) -> _Chosen:
    """Return the heads that `layer` and `head` mean, where each may be "mean".

    A mean over layers is over those that recorded the head of that number, whatever its position.
    """
    over_layers, over_heads = args.get("layer") == MEAN, args.get("head") == MEAN
    like = layer_of(opened, args, "like" if over_layers else "layer")
    batch = arguments.whole(args, "batch", like.look.problem.batch, default=0)
    numbers = set(like.heads)
    if not over_heads:
        numbers = {like.heads[arguments.whole(args, "head", len(like.heads), default=0)]}
    layers = _layers_like(opened, like, batch) if over_layers else [like]
    places = [
        Place(layer, head, batch)
        for layer in layers
        for head, number in enumerate(layer.heads)
        if over_heads or number in numbers
    ]
    if not places:
        raise ViewError("head", "must be there to be looked at; this layer has no heads.")
    return _Chosen(places, _called(like, places, over_layers, over_heads))


def _called(like: Layer, places: list[Place], over_layers: bool, over_heads: bool) -> str:
    """Return what is looked at: of a mean, how many heads it is over."""
    head = f"head {places[0].layer.heads[places[0].head]}"
    heads = counted(len(places), "head")
    layers = counted(len({id(place.layer) for place in places}), "layer")
    return {
        (False, False): f"{like.label}, {head}",
        (False, True): f"mean over {heads} of {like.label}",
        (True, False): f"mean of {head} over {layers}",
        (True, True): f"mean over {heads} of {layers}",
    }[over_layers, over_heads]


def _layers_like(opened: Opened, like: Layer, batch: int) -> list[Layer]:
    """Return the layers that look from the same tokens at the same tokens, in that entry too."""
    return [
        one
        for one in opened.capture.layers
        if (one.queries, one.keys) == (like.queries, like.keys) and batch < one.look.problem.batch
    ]


def facts(opened: Opened, args: Arguments) -> Generator[None, None, Json]:
    """Return the facts of a head, row by row and key by key; for a mean the mean of each number."""
    chosen = _chosen(opened, args)
    problem, heads = chosen.places[0].look.problem, len(chosen.places)
    if heads * problem.q_len * problem.kv_len > MOST_FACTS:
        raise ViewError(
            "facts", f"must take at most {MOST_FACTS:,} weights to work out; {heads:,} x "
            f"{problem.q_len:,} x {problem.kv_len:,} are more. Lookup.inspect has no limit."
        )  # fmt: skip
    found = []
    for place in chosen.places:
        one = yield from _facts_of(place)
        found.append(one)
    told = {name: _mean_of([one.numbers[name] for one in found]) for name in found[0].numbers}
    return {**to_json(told), "what": chosen.what, "backend": found[0].backend}


def _mean_of(arrays: list[Array | None]) -> Array | None:
    """Return the mean over heads; nothing is missing where a head has no sink."""
    there = [array for array in arrays if array is not None]
    return np.sum(there, axis=0) / len(arrays) if there else None


class _Found(NamedTuple):
    """The facts of one head, by name, and what computed them."""

    numbers: dict[str, Array | None]
    backend: str


def _facts_of(place: Place) -> Generator[None, None, _Found]:
    look, real = place.look, blocks.real(place.queries)
    start = blocks.first_real(place.keys)
    labels = np.where(np.arange(look.problem.kv_len) == start, 0, -1)
    received, parts = np.zeros(look.problem.kv_len), []
    for rows in blocks.row_blocks(look):
        part = blocks.of_rows(look, rows)
        found = part.inspect(
            entropy=True, received=True, from_rows=real[rows], max_score=True,
            sink=look.problem.sinks is not None, groups=labels,
        )  # fmt: skip
        received += 0 if found.received is None else found.received
        first = None if found.groups is None else found.groups[:, :1].sum(axis=1)
        parts.append(
            {
                "entropy": found.entropy, "max_score": found.max_score, "sink": found.sink,
                "first_share": first, "visible": blocks.sees(part).sum(axis=1),
            }
        )  # fmt: skip
        yield
    numbers: dict[str, Array | None] = {"received": received}
    for name in parts[0]:
        several = [part[name] for part in parts]
        numbers[name] = None if several[0] is None else np.concatenate(several)
    if start == len(labels):
        numbers["first_share"] = None
    return _Found(numbers, computed_by(found.backend, look))


def everywhere(opened: Opened, args: Arguments) -> Generator[None, None, Json]:
    """Return what one query reads most in every head of every layer over the same tokens."""
    like = layer_of(opened, args)
    problem = like.look.problem
    batch = arguments.whole(args, "batch", problem.batch, default=0)
    query = arguments.whole(args, "query", problem.q_len, default=None)
    alike = {id(layer) for layer in _layers_like(opened, like, batch)}
    told = []
    for position, layer in enumerate(opened.capture.layers):
        if id(layer) not in alike:
            continue
        heads = []
        for head in range(len(layer.heads)):
            strongest = yield from _strongest(Place(layer, head, batch), query)
            heads.append(strongest)
        told.append({"layer": position, "heads": heads})
    return {"query": query, "layers": told}


def _strongest(place: Place, query: int) -> Generator[None, None, Json]:
    """Return the key that one row reads most, its weight, and the row's entropy in nats."""
    look = place.look
    part = yield from rectangles.exact([look], np.array([query]), np.arange(look.problem.kv_len))
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
