"""Attention once more, as loops over batch, heads and queries and a vector over the keys.

It is written from the semantics and imports nothing of softlookup. ``dtype`` is what every step
is computed in: wide for the exact answer, the inputs' own for what naive code would make of it.
"""

from typing import NamedTuple

import numpy as np


class Expected(NamedTuple):
    out: np.ndarray  # (..., heads, q_len, value_dim)
    weights: np.ndarray  # (..., heads, q_len, kv_len)
    scores: np.ndarray  # (..., heads, q_len, kv_len), hidden keys too
    visible: np.ndarray  # (..., heads, q_len, kv_len) bool
    lse: np.ndarray  # (..., heads, q_len)


def wide(dtype):
    """Return the dtype that is exact beside `dtype`."""
    double = np.dtype(dtype).newbyteorder("=") == np.float64
    return np.dtype(np.longdouble if double else np.float64)


def _spread(given, default, shape):
    return np.broadcast_to(default if given is None else given, tuple(shape))


def lookup(query, key, value, *, causal=False, q_offset=None, window=None, mask=None, bias=None,
           kv_lens=None, scale=None, softcap=None, sinks=None, dtype=None):  # fmt: skip
    """Return everything a lookup gives, in `dtype` (default: exact for the inputs)."""
    plain, dtype = query.ndim == 2, np.dtype(dtype or wide(query.dtype)).newbyteorder("=").type
    q, k, v = ((x[None] if plain else x).astype(dtype) for x in (query, key, value))
    (*batch, heads, _, head_dim), (kv_heads, kv_len) = q.shape, k.shape[-3:-1]
    full = (*q.shape[:-1], kv_len)
    mask, bias = _spread(mask, True, full), _spread(bias, 0.0, full)
    offsets, lens = _spread(q_offset, 0, batch), _spread(kv_lens, kv_len, batch)
    sinks = _spread(sinks, -np.inf, [heads]).astype(dtype)
    left, right = (np.inf if side is None else side for side in window or (None, None))
    scale = dtype((head_dim or 1) ** -0.5 if scale is None else scale)
    scores, weights = np.zeros((2, *full), dtype)
    visible, lse = np.zeros(full, bool), np.full(q.shape[:-1], -np.inf, dtype)
    out, j = np.zeros((*q.shape[:-1], v.shape[-1]), dtype), np.arange(kv_len)
    with np.errstate(all="ignore"):
        for *b, h, i in np.ndindex(q.shape[:-1]):
            row, kv, position = (*b, h, i), (*b, h // (heads // kv_heads)), i + offsets[*b]
            extra = bias[row].astype(dtype)
            seen = mask[row] & ~np.isneginf(extra) & (j < lens[*b])
            seen &= (j >= position - left) & (j <= position + (min(right, 0) if causal else right))
            s = scale * (k[kv] @ q[row])
            s = (s if softcap is None else dtype(softcap) * np.tanh(s / dtype(softcap))) + extra
            scores[row], visible[row], lse[row] = s, seen, sinks[h]
            if not seen.any():
                continue
            top = np.maximum(s[seen].max(), sinks[h])
            exp = np.exp(s[seen] - top)
            total = exp.sum() + np.exp(sinks[h] - top)
            weights[row][seen] = exp / total
            lse[row] = top if np.isneginf(top) else top + np.log(total)
            out[row] = weights[row][seen] @ v[kv][seen]
    result = Expected(out, weights, scores, visible, lse)
    return Expected(*(x[0] for x in result)) if plain else result


def facts(found, kv_heads, *, groups=None, q_offset=0, from_rows=True):
    """Return what there is to say of a lookup, each as a plain reduction of its weights or scores.

    `q_offset` is (...,), `groups` (..., kv_len) and `from_rows` (..., q_len), or less where it is
    the same for all. A row with a NaN weight is NaN throughout; `received` is NaN where it sees.
    """
    plain = found.weights.ndim == 2
    w, scores, seen = (x[None] if plain else x for x in found[1:4])
    *lead, heads, q_len, kv_len = w.shape
    nan = np.where(np.isnan(w).any(-1), np.nan, 0)
    wrong = (seen & ~(scores < np.inf)).any(-1)  # all of -inf is a number, the largest is -inf
    peak = np.where(wrong, np.nan, np.where(seen, scores, -np.inf).max(-1, initial=-np.inf))
    i = np.arange(q_len)[:, None] + np.asarray(q_offset)[..., None, None, None]
    steps = np.broadcast_to(abs(i - np.arange(kv_len)), (*lead, 1, q_len, kv_len))
    bins = np.ceil(np.log2(steps + 1.0)).astype(int)  # 0, 1, 2-3, 4-7, ...
    labels = np.broadcast_to(-1 if groups is None else groups, (*lead, kv_len))[..., None, None, :]
    from_rows = np.broadcast_to(from_rows, (*lead, q_len))[..., None, :, None]
    received, readers = (np.where(from_rows & seen, x, 0).sum(-2) for x in (w, np.ones_like(w)))
    group = (*lead, kv_heads, heads // max(kv_heads, 1), kv_len)

    def shares(label):
        parts = [np.where(label == n, w, 0).sum(-1) for n in range(label.max(initial=-1) + 1)]
        return np.stack([nan, *(part + nan for part in parts)], -1)[..., 1:]

    result = {
        "entropy": nan - np.where(w > 0, w * np.log(np.where(w > 0, w, 1)), 0).sum(-1),
        "sink": 1 - w.sum(-1), "max_score": peak,
        "max_score_per_head": peak.max(-1, initial=-np.inf),
        "groups": shares(labels), "distance": shares(bins),
        "received": received, "received_per_kv_head": received.reshape(group).sum(-2),
        "normalised": received / np.maximum(readers, 1),
        "normalised_per_kv_head": received.reshape(group).sum(-2)
        / np.maximum(readers.reshape(group).sum(-2), 1),
    }  # fmt: skip
    return {name: fact[0] for name, fact in result.items()} if plain else result
