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
