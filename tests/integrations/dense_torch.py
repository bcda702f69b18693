"""Attention written out in torch over the whole weight matrix, for autograd to differentiate."""

import torch


def dense(query, key, value, *, causal=False, q_offset=0, window=None, mask=None, bias=None,
          kv_lens=None, scale=None, softcap=None, sinks=None):  # fmt: skip
    """Return out and lse; all arrays are (batch, heads, length, dim)."""
    (batch, heads, q_len, head_dim), kv_len = query.shape, key.shape[2]
    key, value = (x.repeat_interleave(heads // x.shape[1], 1) for x in (key, value))
    scores = (query @ key.transpose(-1, -2)) * (head_dim**-0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias
    position = torch.arange(q_len)[:, None] + q_offset
    other = torch.arange(kv_len)[None]
    sees = torch.ones(batch, heads, q_len, kv_len, dtype=torch.bool)
    if causal:
        sees = sees & (other <= position)
    if window is not None:
        sees = sees & (other >= position - window[0]) & (other <= position + window[1])
    if mask is not None:
        sees = sees & mask
    if kv_lens is not None:
        sees = sees & (other < torch.as_tensor(kv_lens)[:, None, None, None])
    scores = scores.masked_fill(~sees, -1e30)  # no row of these tests is empty
    if sinks is not None:
        logits = sinks.to(scores.dtype)[None, :, None, None].expand(batch, heads, q_len, 1)
        scores = torch.cat([scores, logits], -1)
    weights = torch.softmax(scores, -1)[..., :kv_len].masked_fill(~sees, 0)
    return weights @ value, torch.logsumexp(scores, -1)
