"""What was recorded, looked at as `watch` looks at a running model: `watch_capture`."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.captures import Axis, Capture, Layer
from softlookup.errors import DtypeError
from softlookup.inspection import Inspection, Top
from softlookup.options import check_flag, names_checked
from softlookup.problem import Problem
from softlookup.watched.glance import Glance
from softlookup.watched.rules import Rule, rule_of
from softlookup.watched.shares import shares_of
from softlookup.watched.texts import OF_THE_INPUT
from softlookup.watched.watched import Watched


@names_checked
def watch_capture(
    capture: Capture,
    *,
    top: int | None = 8,
    entropy: bool = True,
    received: bool = True,
    sink: bool = False,
    max_score: bool = False,
    distance: bool = False,
    repeats: bool = False,
    groups: Any = None,
) -> Watched:
    """Look at every layer of a capture as `watch` looks at a running model; no model is needed.

    Parameters
    ----------
    capture : Capture
        What was recorded.
    top, entropy, received, max_score, distance, groups
        As for `Lookup.inspect`, of every layer; rows at padding do not count in `received`,
        distances are left out of cross layers, and groups, which label the input's tokens, of a
        decoder's own text.
    sink : bool, default False
        As there, of the layers that have sinks.
    repeats : bool, default False
        As for `watch`: tokens of the same text are the same token.

    Returns
    -------
    Watched
        Of one run; its `capture` is as good as `capture`, and nothing is copied.

    Raises
    ------
    OptionError, ShapeError, DtypeError
        As `Lookup.inspect`, and where `capture` is none.

    Notes
    -----
    Rows stand at the keys of their own text. Those of another text than their keys, and those that
    stand at other keys in each batch entry, count from 0, and no rule says which keys they see.

    Examples
    --------
    >>> from softlookup.captures import shipped
    >>> seen = watch_capture(shipped.load("causal"), top=2)
    >>> seen.rank_heads("@26", reads="@2")[0]  # who reads the first "maker" at " clock" again?
    HeadAtRow(part='', layer=17, head=4, key=2, token='maker', weight=0.95...)
    """
    if not isinstance(capture, Capture):
        raise DtypeError(
            "capture", f"must be a Capture, as sl.load returns; got {type(capture).__name__}. "
            "A model is watched with sl.watch(model)."
        )  # fmt: skip
    check_flag(repeats, "repeats")
    seen = Watched(capture.about, title=capture.title)
    for place, layer in enumerate(capture.layers):
        problem = layer.look.problem
        rows = _padding([layer.query_axis(b) for b in range(problem.batch)], problem.q_len)
        counted = ~rows if received and rows.any() else None
        found = layer.look.inspect(
            top=top,
            entropy=entropy,
            received=received,
            from_rows=None if counted is None else counted.reshape(*problem.batch_shape, -1),
            sink=sink and problem.sinks is not None,
            max_score=max_score,
            distance=distance and layer.part != "cross",
            groups=groups if layer.part in (*OF_THE_INPUT, "cross") else None,
        )
        names = [one.name for one in capture.layers]
        path = layer.name if names.count(layer.name) == 1 else f"{layer.name}@{place}"
        start = _start(layer)
        tokens = _ids(layer.keys, problem.batch) if repeats and start is not None else None
        glance = _glance(layer, found, rows, counted, tokens=tokens, start=start)
        seen.add(path, layer.number, layer.part, glance)
        seen.add_axes(0, path, layer.queries if start is None else layer.keys, layer.keys)
    return seen


def _glance(
    layer: Layer,
    found: Inspection,
    row_padding: BoolArray,
    counted: BoolArray | None,
    *,
    tokens: IntArray | None,
    start: int | None,
) -> Glance:
    problem = layer.look.problem
    padding = _padding([layer.key_axis(b) for b in range(problem.batch)], problem.kv_len)
    reach = _reach(problem)
    return Glance(
        heads=layer.heads,
        kv_heads=tuple(i // problem.group for i in range(problem.heads)),
        run=0,
        start=start or 0,
        key_start=0,
        found=_over_batch(found, problem),
        look=layer.look,
        padding=padding,
        row_padding=row_padding,
        causal=start is not None and reach.right == 0,
        window=None if start is None else reach,
        from_rows=counted,
        keys=problem.kv_len,
        shares=shares_of(
            layer.look.in_numpy(),
            np.asarray(found.lse),
            offset=None if start is None else problem.q_offset,
            first=np.argmin(padding, axis=1),
            row_padding=row_padding,
            tokens=tokens,
        ),
    )


def _over_batch(found: Inspection, problem: Problem) -> Inspection:
    """Return facts over (batch, heads, ...), whatever leading axes the lookup has."""
    lead = len(problem.batch_shape) + (not problem.plain)

    def over(fact: Array) -> Array:
        return fact.reshape(problem.batch, problem.heads, *fact.shape[lead:])

    given: dict[str, Any] = {
        name: Top(*map(over, fact)) if isinstance(fact, Top) else over(fact)
        for name, fact in vars(found).items()
        if isinstance(fact, np.ndarray | Top) and not name.endswith("_head") and name != "out"
    }
    return replace(found, out=None, received_per_kv_head=None, max_score_per_head=None, **given)


def _reach(problem: Problem) -> Rule:
    """Return how far any row sees to each side, by its rules or by its mask."""
    rule = rule_of(problem.window, problem.causal)
    mask, length = problem.mask, problem.q_len
    if mask is None or {*mask.array.shape[-2:], problem.kv_len} != {length} or not length:
        return rule
    shown: BoolArray = np.logical_or.reduce(mask.array, axis=(0, 1))
    rows = np.flatnonzero(shown.any(axis=1))
    first, last = shown.argmax(axis=1)[rows], length - 1 - shown[:, ::-1].argmax(axis=1)[rows]
    back, ahead = (int(side.max(initial=0)) for side in (rows - first, last - rows))
    left, right = rule
    return Rule(back if left is None else min(left, back),
                ahead if right is None else min(right, ahead))  # fmt: skip


def _padding(axes: list[Axis], length: int) -> BoolArray:
    marked = np.zeros((len(axes), length), bool)
    for row, axis in zip(marked, axes, strict=True):
        for start, stop in axis.padding:
            row[start:stop] = True
    return marked


def _start(layer: Layer) -> int | None:
    """Return at which key the first row stands; None where that is another one in each entry.

    None, too, where the keys are of another text.
    """
    problem = layer.look.problem
    if layer.part == "cross":
        return None
    offsets = [] if problem.q_offset is None else np.unique(problem.q_offset).tolist()
    if len(offsets) > 1:
        return None
    start = int(offsets[0]) if offsets else 0
    rows = slice(start, start + problem.q_len)
    entries = range(problem.batch)
    same = all(layer.query_axis(b).tokens == layer.key_axis(b).tokens[rows] for b in entries)
    return start if same and start >= 0 else None


def _ids(axes: tuple[Axis, ...], batch: int) -> IntArray:
    """Return a number for each text, the same for the same one, (batch, length)."""
    words: dict[str, int] = {}
    ids = [[words.setdefault(text, len(words)) for text in axis.tokens] for axis in axes]
    return np.broadcast_to(np.array(ids, np.int64), (batch, len(ids[0])))
