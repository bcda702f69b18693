"""Which keys may a cache drop? The scores of two eviction rules, exact, without the weight matrix.

A full cache drops the keys that are read least. The rules differ in whose reading counts; here A is
the weights of a causal layer with n tokens, whose query heads share kv heads in groups of g:

observed attention   mean over the queries that see key j, and over the group:
                     ``score[j] = sum_{heads of the group, i >= j} A[i, j] / (g * (n - j))``
SnapKV               mean over the last w queries and the group, for the keys before them, then the
                     mean over each key and its neighbours, zeros outside; the last w keys get the
                     largest of these scores, so that they stay

The first is what kvpress calls ObservedAttentionPress, a normalised form of H2O's sum (Zhang et
al., 2023); the second is of Li et al., "SnapKV: LLM Knows What You are Looking for Before
Generation", 2024, with the average pooling of kvpress' SnapKVPress. Both take ``received``, the
column sums of A, and need memory that grows with n, not with n x n.
"""

import numpy as np

import softlookup as sl


def observed_attention(look):
    """Return what each key receives from a query that sees it: (..., kv_heads, n)."""
    return look.inspect(received=True, normalised=True).received_per_kv_head


def snapkv(look, window=64, kernel=5):
    """Return SnapKV's scores, (..., kv_heads, n), with an odd number of neighbours."""
    length = look.problem.q_len
    last = range(length - window, length)
    facts = look.inspect(received=True, from_rows=last, normalised=True)
    return smoothed(facts.received_per_kv_head, window, kernel)


def smoothed(means, window, kernel):
    """Return means of neighbours for the keys before the window, their largest for those in it."""
    before = means[..., :-window]
    edge = [(0, 0)] * (before.ndim - 1) + [(kernel // 2, kernel // 2)]
    sums = np.lib.stride_tricks.sliding_window_view(np.pad(before, edge), kernel, axis=-1)
    scores = np.empty_like(means)
    scores[..., :-window] = sums.mean(axis=-1)
    scores[..., -window:] = scores[..., :-window].max()
    return scores


def kept(scores, count):
    """Return the positions of the `count` best keys of each kv head, in their order."""
    return np.sort(np.argsort(-scores, axis=-1, kind="stable")[..., :count], axis=-1)


if __name__ == "__main__":
    rng = np.random.default_rng(7)
    heads, kv_heads, length, dim = 4, 2, 4096, 64
    query = rng.standard_normal((heads, length, dim), dtype=np.float32)
    key, value = rng.standard_normal((2, kv_heads, length, dim), dtype=np.float32)
    direction = np.full(dim, 0.7, np.float32)
    key[:, 100] = 2 * direction  # read by whatever points its way: the first half of the queries
    query[:, :2048] += direction
    key[:, 1500] = -2 * direction  # and this one by the last 64
    query[:, -64:] -= direction

    look = sl.Lookup(query, key, value, causal=True)
    observed, recent = observed_attention(look), snapkv(look)
    print(observed.shape, recent.shape)  # prints: (2, 4096) (2, 4096)
    print(observed.argmax(-1))  # prints: [100 100]
    print(recent[:, :-64].argmax(-1))  # prints: [1500 1500]
    print(kept(recent, 69)[0, :6])  # prints: [1498 1499 1500 1501 1502 4032]
