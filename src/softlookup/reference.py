"""softmax(scale q.k) v in plain NumPy, float64: slow, readable aloud, and what `trace` shows."""

from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.problem import Problem
from softlookup.visibility import Tile, overlay_tile, visible


class Steps(NamedTuple):
    """Every step of chosen rows, float64; (batch, heads, rows, kv_len) unless said.

    Attributes
    ----------
    products, scaled, scores, masked_scores
        ``q . k``; times scale; after softcap and bias; with hidden keys at -inf.
    capped, bias
        ``softcap * tanh(scaled / softcap)`` and what is added; None where not used.
    visible
        Which keys the row may see, bool.
    exp, exp_sum
        ``exp(masked_scores)`` as in the textbook, may overflow; its sum, with the sink's term,
        (batch, heads, rows).
    row_max, shifted_exp, row_sum
        The largest visible score, the sink among them; ``exp(masked_scores - row_max)``; its sum.
    sink_weight
        Share of the sink (batch, heads, rows); None without sinks.
    weights, out, lse
        The answer; out is (batch, heads, rows, value_dim) or None, lse (batch, heads, rows).
    """

    products: Array
    scaled: Array
    capped: Array | None
    bias: Array | None
    scores: Array
    visible: BoolArray
    masked_scores: Array
    exp: Array
    exp_sum: Array
    row_max: Array
    shifted_exp: Array
    row_sum: Array
    sink_weight: Array | None
    weights: Array
    out: Array | None
    lse: Array


def steps(problem: Problem, rows: IntArray) -> Steps:
    """Compute every step of `rows`, one operation of the definition after the other."""
    with np.errstate(all="ignore"):  # NaN and inf are answers here, and shown
        return _steps(problem, rows)


def _steps(problem: Problem, rows: IntArray) -> Steps:
    keys = slice(0, problem.kv_len)
    whole = Tile(slice(0, problem.batch), slice(0, problem.kv_heads), rows, keys)
    products, scaled, capped, bias, scores = _scores(problem, whole)

    sees = visible(problem, whole)
    shown = np.ones(scores.shape, bool) if sees is None else _over_heads(sees, scores.shape)
    masked_scores = np.where(shown, scores, -np.inf)

    exp = np.exp(masked_scores)
    exp_sum = exp.sum(axis=-1)
    row_max = masked_scores.max(axis=-1, initial=-np.inf)
    sinks = None
    if problem.sinks is not None:
        sinks = problem.sinks.astype(np.float64)[:, None]  # (heads, 1)
        exp_sum = exp_sum + np.exp(sinks)
        row_max = np.maximum(row_max, sinks)
    shift = np.where(np.isneginf(row_max), 0.0, row_max)
    shifted_exp = np.where(shown, np.exp(masked_scores - shift[..., None]), 0.0)
    row_sum = shifted_exp.sum(axis=-1)
    if sinks is not None:
        row_sum = row_sum + np.exp(sinks - shift)

    weights = np.where(shown, shifted_exp / row_sum[..., None], 0.0)
    seen = shown.any(axis=-1)
    sink_weight = None
    if sinks is not None:  # what is left when nothing is read is the sink's, however low it is
        sink_weight = np.where(seen, np.exp(sinks - shift) / row_sum, 1.0)
    lse = np.where(seen, row_max + np.log(row_sum), row_max)
    out = _blend(problem, weights, shown)
    return Steps(
        products, scaled, capped, bias, scores, shown, masked_scores, exp, exp_sum, row_max,
        shifted_exp, row_sum, sink_weight, weights, out, lse,
    )  # fmt: skip


def _scores(
    problem: Problem, whole: Tile
) -> tuple[Array, Array, Array | None, Array | None, Array]:
    """Return products, scaled, capped, bias and scores, (batch, heads, rows, kv_len)."""
    products = _products(problem, whole.rows)
    scores = scaled = products * problem.scale
    capped = bias = None
    if problem.softcap is not None:
        scores = capped = problem.softcap * np.tanh(scaled / problem.softcap)
    if problem.bias is not None:
        added = overlay_tile(problem, problem.bias, whole).astype(np.float64)
        bias = _over_heads(added, products.shape)
        scores = scores + bias
    return products, scaled, capped, bias, scores


def _products(problem: Problem, rows: IntArray) -> Array:
    query = problem.query[:, :, rows].astype(np.float64, order="C")
    key = problem.key.astype(np.float64, order="C")
    products = np.empty((*query.shape[:3], problem.kv_len))
    for batch, head, row in np.ndindex(query.shape[:3]):
        # one row at a time: its bits must not depend on which others are asked for
        products[batch, head, row] = key[batch, head // problem.group] @ query[batch, head, row]
    return products


def _blend(problem: Problem, weights: Array, shown: BoolArray) -> Array | None:
    if problem.value is None:
        return None
    value = problem.value.astype(np.float64)
    out = np.zeros((*weights.shape[:3], problem.value_dim))
    for batch, head, row in np.ndindex(weights.shape[:3]):
        sees = shown[batch, head, row]
        out[batch, head, row] = (
            weights[batch, head, row, sees] @ value[batch, head // problem.group, sees]
        )
    return out


def _over_heads(part: Array, shape: tuple[int, ...]) -> Array:
    """Spread (batch, kv_heads, group, rows, keys) to `shape`, (batch, heads, rows, keys)."""
    if part.shape[1:3] == (1, 1):
        return np.broadcast_to(part[:, :, 0], shape)
    return np.broadcast_to(part.reshape(part.shape[0], shape[1], *part.shape[3:]), shape)
