"""What a view is told first: the shelf, and what a capture holds."""

from importlib.metadata import version
from typing import Any

import numpy as np

from softlookup.captures import Axis, Layer
from softlookup.lookup import Lookup
from softlookup.shelf import Item
from softlookup.tokens import readable
from softlookup.tracing import to_json
from softlookup.viewer.opened import Opened

EDIT_TOKENS = 12
EDIT_DIMS = 8
LEDGER_KEYS = 12
GRID_CELLS = 2**20
THUMBNAIL = 48  # blocks a side
MAP_TILE = 256  # cells a side
MAP_LINKS = 64  # of one list of the strongest
MAP_BUCKETS = 2048  # of one strip

Json = dict[str, Any]


def information(opened: Opened, shelf: tuple[Item, ...]) -> Json:
    """Return what there is to see in `opened`, and what else stands on the shelf."""
    return {
        "version": version("softlookup"),
        "modes": ["steps", "heads", "map", "table"],
        "capture": opened.item.id,
        "shelf": [
            {"id": item.id, "title": readable(item.title), "source": item.source} for item in shelf
        ],
        "title": opened.title,
        "source": opened.item.source,
        "about": {readable(name): readable(said) for name, said in opened.capture.about.items()},
        "axes": [_axis(opened, axis) for axis in opened.axes],
        "layers": [_layer(opened, layer) for layer in opened.capture.layers],
        "limits": {
            "edit_tokens": EDIT_TOKENS,
            "edit_dims": EDIT_DIMS,
            "ledger_keys": LEDGER_KEYS,
            "grid_cells": GRID_CELLS,
            "thumbnail": THUMBNAIL,
            "map_tile": MAP_TILE,
            "map_links": MAP_LINKS,
            "map_buckets": MAP_BUCKETS,
        },
    }


def _axis(opened: Opened, axis: Axis) -> Json:
    return {
        "tokens": list(opened.readable(axis)),
        "words": None if axis.words is None else list(axis.words),
        "padding": [list(span) for span in axis.padding],
        "prompt": axis.prompt,
    }


def _layer(opened: Opened, layer: Layer) -> Json:
    problem = layer.look.problem
    reason = why_not_editable(layer.look)
    return {
        "label": readable(layer.label),
        "name": readable(layer.name) if layer.name else "",
        "number": layer.number,
        "part": readable(layer.part) if layer.part else "",
        "heads": list(layer.heads),
        "queries": [opened.axes[axis] for axis in layer.queries],
        "keys": [opened.axes[axis] for axis in layer.keys],
        "batch_shape": list(problem.batch_shape),
        "sizes": {
            "batch": problem.batch,
            "heads": problem.heads,
            "kv_heads": problem.kv_heads,
            "group": problem.group,
            "q_len": problem.q_len,
            "kv_len": problem.kv_len,
            "head_dim": problem.head_dim,
            "value_dim": None if problem.value is None else problem.value_dim,
        },
        "dtype": str(problem.dtype),
        "options": _options(layer.look),
        "editable": reason is None,
        "editable_reason": reason,
    }


def _options(look: Lookup) -> Json:
    problem = look.problem
    return {
        "scale": to_json(problem.scale),
        "softcap": to_json(problem.softcap),
        "causal": problem.causal,
        "window": None if problem.window is None else list(problem.window),
        "q_offset": whole_numbers(problem.q_offset),
        "mask": problem.mask is not None,
        "bias": problem.bias is not None,
        "kv_lens": whole_numbers(problem.kv_lens),
        "sinks": problem.sinks is not None,
    }


def why_not_editable(look: Lookup) -> str | None:
    """Return why the numbers of `look` cannot be edited on the page, or None where they can."""
    problem = look.problem
    if problem.value is None:
        return "There is no value to blend."
    longest = max(problem.q_len, problem.kv_len)
    if longest > EDIT_TOKENS:
        return f"Numbers can be edited up to {EDIT_TOKENS} tokens; here are {longest}."
    widest = max(problem.head_dim, problem.value_dim)
    if widest > EDIT_DIMS:
        return f"Numbers can be edited up to {EDIT_DIMS} dimensions; here are {widest}."
    return None


def whole_numbers(given: Any) -> int | list[int] | None:
    """Return one number where all batch entries share it, else one for each."""
    if given is None:
        return None
    numbers = [int(number) for number in np.ravel(given)]
    return numbers[0] if len(set(numbers)) == 1 else numbers


def computed_by(backend: str, look: Lookup) -> str:
    """Return what is said to have computed a number."""
    return f"{backend}, {look.problem.compute_dtype}"
