"""Feeds a Watched as a model would: a whole lookup cut into steps, each looked at on its own."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import oracle
import softlookup as sl
from softlookup.captures import Axis
from softlookup.watched import Glance, Watched
from softlookup.watched.shares import shares_of

PATH = "model.layers.{}.self_attn"
ASKED = {"entropy": True, "max_score": True, "top": 3, "received": True}


class Whole(NamedTuple):
    """A lookup of a whole text; `heads` are the numbers of its heads in their model."""

    arrays: tuple[np.ndarray, np.ndarray, np.ndarray]
    options: dict[str, Any]
    group: int = 2

    @property
    def heads(self):
        return tuple(range(self.arrays[0].shape[1]))


def drawn(seed=7, *, batch=2, kv_heads=3, group=2, q_len=13, kv_len=None, **options):
    """Return a whole lookup of random numbers."""
    rng = np.random.default_rng(seed)
    kv_len = q_len if kv_len is None else kv_len
    shapes = (kv_heads * group, q_len, 5), (kv_heads, kv_len, 5), (kv_heads, kv_len, 7)
    arrays = tuple(rng.standard_normal((batch, *shape), dtype=np.float32) for shape in shapes)
    return Whole(arrays, options, group)


def cut(options, rows, keys):
    """Return the options of a step: the rows and keys (start, stop) of a whole lookup."""
    step = dict(options)
    for name in ("mask", "bias"):
        if name in step:
            array = step[name]
            over_rows = slice(*rows) if array.shape[-2] > 1 else slice(None)
            step[name] = array[..., over_rows, slice(*keys)]
    if step.get("causal") or step.get("window"):
        step["q_offset"] = rows[0] - keys[0]
    return step


def steps_of(whole, cuts=None, crop=None):
    """Yield (rows, keys, lookup) of each step; of single rows only the last `crop` keys."""
    query, key, value = whole.arrays
    q_len, kv_len = query.shape[2], key.shape[2]
    for start, stop in pairwise(cuts or (0, q_len)):
        last = stop if whole.options.get("causal") else kv_len
        first = max(0, last - crop) if crop and stop - start == 1 else 0
        options = cut(whole.options, (start, stop), (first, last))
        parts = query[:, :, start:stop], key[:, :, first:last], value[:, :, first:last]
        yield (start, stop), (first, last), sl.Lookup(*parts, **options)


def feed(seen, whole, cuts=None, *, crop=None, run=0, number=0, part="", path=None, asked=ASKED,
         heads=None, padding=None, keep=False, ids=None, shares=True, tokens=None):  # fmt: skip
    """Add every step of a whole lookup; `groups` and `from_rows` are over the whole text."""
    numbers = whole.heads if heads is None else heads
    causal = bool(whole.options.get("causal"))
    for rows, keys, look in steps_of(whole, cuts, crop):
        facts, counted = dict(asked), None
        if "groups" in facts:
            facts["groups"] = facts["groups"][..., slice(*keys)]
        if "from_rows" in facts:
            facts["from_rows"] = counted = facts["from_rows"][..., slice(*rows)]
        padded = None if padding is None else padding[:, slice(*rows)]
        found = look.inspect(**facts)
        glance = Glance(
            heads=numbers,
            kv_heads=tuple(head // whole.group for head in numbers),
            run=run,
            start=rows[0],
            key_start=keys[0],
            found=found,
            look=look if keep else None,
            padding=None if padding is None else padding[:, slice(*keys)],
            row_padding=padded,
            causal=causal,
            window=whole.options.get("window"),
            from_rows=counted,
            keys=keys[1] - keys[0],
            shares=shares_of(
                look,
                found.lse,
                offset=None if part == "cross" else rows[0] - keys[0],
                first=first_real(whole, padding) - keys[0],
                row_padding=padded,
                tokens=None if tokens is None else tokens[:, : keys[1]],
            )
            if shares
            else None,
        )
        seen.add(path or PATH.format(number), number, part, glance)
        if ids is not None:
            seen.add_ids(run, part, rows[0], ids[:, slice(*rows)])
    return seen


def first_real(whole, padding):
    """Return the first token of each text that is no padding."""
    if padding is None:
        return np.zeros(len(whole.arrays[0]), np.int64)
    return np.argmin(padding, axis=1)


def spelt(ids, seen):
    """Return the axis of token ids, as a tokenizer would spell them: word 5 is " w5"."""
    return Axis(tuple(f" w{one}" for one in ids), tuple(range(len(ids))))


def watched(**options):
    """Return an empty Watched that can spell."""
    return Watched({"model": "made up"}, title="a model", read=spelt, **options)


def as_found(layer):
    """Return a layer as `Lookup.inspect` returns facts: None for what was not looked at."""
    names = ("lse", "entropy", "sink", "max_score", "top", "received", "groups", "distance")
    found = {name: getattr(layer, name) if name in layer.asked else None for name in names}
    peak = None if found["max_score"] is None else found["max_score"].max(axis=-1)
    per_kv_head = layer.received_per_kv_head if "received" in layer.asked else None
    bins = layer.distance_bins if "distance" in layer.asked else None
    return SimpleNamespace(
        **found, max_score_per_head=peak, received_per_kv_head=per_kv_head, distance_bins=bins
    )


def left_padding(lengths, length):
    """Return which tokens are padding where texts of `lengths` end together."""
    return np.arange(length) < (length - np.array(lengths))[:, None]


STEPS = (0, 7, 8, 9, 10, 11, 12, 13)  # a prompt of seven tokens, and six that were generated
IDS = np.array([range(13), range(100, 113)])
PADDED = left_padding([13, 9], 13)


def generated(whole):
    """Return two layers of thirteen tokens, read step by step; the last step made token 13."""
    made = feed(watched(), whole, STEPS, ids=IDS)
    feed(made, drawn(8, causal=True), STEPS, number=3, ids=IDS)
    made.add_ids(0, "", 0, np.column_stack([IDS, [13, 113]]))
    return made


def exact_weights(whole, **more):
    """Return the exact weights of a whole lookup."""
    return oracle.lookup(*whole.arrays, **{**whole.options, **more}).weights
