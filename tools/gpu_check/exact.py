"""Lookups once more, as matrices on the device: the exact answer, and what naive code makes."""

from typing import Any, NamedTuple

import torch

Tensor = Any
Options = dict[str, Any]
COARSE = 2.0**-16  # of a sum in float32, in units of what is summed: exp2 and its tables included
FINE = 2.0**-19  # of a number in float32, relatively; on a GPU its products are made of three
ROW, HEAD = (-1,), (-2, -1)  # the axes of results in 16 bits that are held against each other


class Exact(NamedTuple):
    """A lookup with all its weights, (batch, heads, q_len, ...); `scores` are -inf where hidden."""

    out: Tensor
    weights: Tensor
    scores: Tensor
    visible: Tensor
    lse: Tensor
    sinks: Tensor | None


def visible_pairs(query: Tensor, key: Tensor, options: Options) -> Tensor:
    """Return which pairs are visible, (batch, heads, q_len, kv_len), masks and biases included."""
    batch, heads, q_len, _ = query.shape
    kv_len, device = key.shape[-2], query.device
    offset = torch.as_tensor(options.get("q_offset", 0), device=device).reshape(-1, 1, 1, 1)
    position = torch.arange(q_len, device=device)[:, None] + offset
    column = torch.arange(kv_len, device=device)
    seen = torch.ones(batch, heads, q_len, kv_len, dtype=torch.bool, device=device)
    if options.get("causal"):
        seen &= column <= position
    left, right = options.get("window") or (None, None)
    if left is not None:
        seen &= column >= position - left
    if right is not None:
        seen &= column <= position + right
    if options.get("kv_lens") is not None:
        lengths = torch.as_tensor(options["kv_lens"], device=device).reshape(-1, 1, 1, 1)
        seen &= column < lengths
    if options.get("mask") is not None:
        seen &= options["mask"]
    if options.get("bias") is not None:
        seen &= options["bias"] != -torch.inf
    return seen


def lookup(query: Tensor, key: Tensor, value: Tensor, options: Options, dtype: Any) -> Exact:
    """Return everything a lookup gives, each step in `dtype`; gradients flow through it."""
    group = query.shape[1] // key.shape[1]
    seen = visible_pairs(query, key, options)
    q, k, v = query.to(dtype), *(x.to(dtype).repeat_interleave(group, 1) for x in (key, value))
    scale = options.get("scale")
    scores = q @ k.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if options.get("softcap") is not None:
        scores = options["softcap"] * torch.tanh(scores / options["softcap"])
    if options.get("bias") is not None:
        bias = options["bias"].to(dtype)
        scores = scores + torch.where(bias == -torch.inf, 0, bias)
    scores = torch.where(seen, scores, -torch.inf)
    sinks = options.get("sinks")
    logits = scores
    if sinks is not None:
        sinks = sinks.to(dtype)
        column = sinks[None, :, None, None].expand(*scores.shape[:-1], 1)
        logits = torch.cat([scores, column], -1)
    peak = logits.detach().amax(-1, keepdim=True).clamp(min=torch.finfo(dtype).min)
    exp = torch.exp(logits - peak)
    total = exp.sum(-1, keepdim=True)
    divisor = torch.where(total == 0, 1, total)
    lse = torch.where(total == 0, -torch.inf, peak + torch.log(divisor))[..., 0]
    weights = exp[..., : key.shape[-2]] / divisor
    wrong = v.isnan()  # it reaches the rows that see it, and no other
    reached = seen.to(dtype) @ wrong.to(dtype) > 0
    read = seen.any(-2)[..., None] & ~wrong  # what no query sees counts for nothing
    out = torch.where(reached, torch.nan, weights @ torch.where(read, v, 0))
    return Exact(out, weights, scores, seen, lse, sinks)


def facts(found: Exact, kv_heads: int, options: Options, asked: Options) -> dict[str, Tensor]:
    """Return the facts that are asked for, each as a plain reduction of the weights or scores."""
    w, made = found.weights, {}
    if asked.get("entropy"):
        made["entropy"] = -torch.special.xlogy(w, w).sum(-1)
    if asked.get("sink"):
        made["sink"] = 1 - w.sum(-1)
    if asked.get("max_score"):
        made["max_score"] = found.scores.amax(-1)
    if asked.get("groups") is not None:
        made["groups"] = _shares(w, asked["groups"].to(w.device))
    if asked.get("distance"):
        offset = torch.as_tensor(options.get("q_offset", 0), device=w.device)
        position = torch.arange(w.shape[-2], device=w.device)[:, None] + offset.reshape(-1, 1, 1, 1)
        steps = (position - torch.arange(w.shape[-1], device=w.device)).abs()
        made["distance"] = _shares(w, torch.ceil(torch.log2(steps.double() + 1)).long())
    if asked.get("received"):
        sums = w[..., asked.get("from_rows", slice(None)), :].sum(-2)
        made |= {"received": sums, "received_per_kv_head": _of_kv_heads(sums, kv_heads)}
    return made


def readers(found: Exact, kv_heads: int, rows: slice) -> dict[str, Tensor]:
    """Return how many of the rows may see each key, at least 1; what `normalised` divides by."""
    counts = found.visible[..., rows, :].sum(-2)
    both = {"received": counts, "received_per_kv_head": _of_kv_heads(counts, kv_heads)}
    return {name: count.clamp(min=1) for name, count in both.items()}


def _of_kv_heads(sums: Tensor, kv_heads: int) -> Tensor:
    return sums.unflatten(1, (kv_heads, -1)).sum(2)


def _shares(weights: Tensor, label: Tensor) -> Tensor:
    """Return the sum of each row's weights over the keys of each label, (..., labels)."""
    parts = [torch.where(label == n, weights, 0).sum(-1) for n in range(int(label.max()) + 1)]
    return torch.stack(parts, -1)


def rounding(dtype: Any) -> float:
    """Return what a number of `dtype` is rounded by, relatively."""
    return 2 * torch.finfo(dtype).eps if dtype.itemsize < 4 else FINE


def loudest(found: Exact) -> float:
    """Return the largest visible score, at least 1: what its rounding is measured by."""
    scores = torch.where(found.visible, found.scores, 0)
    return max(1.0, largest(scores))


def budget(exact: Tensor, naive: Tensor, rounding: float, size: float = 1.0) -> float:
    """Return what an error in float32 may be: twice that of naive code, plus a rounding.

    A rounding of the largest number, or of a score of `size` on the way, which is at least 1.
    """
    off = largest(naive.double() - exact.double())
    return 2 * off + rounding * max(1.0, size, largest(exact))


def budgets(
    dtype: Any, exact: Tensor, naive: Tensor, size: float, axes: tuple[int, ...]
) -> Tensor | float:
    """Return what the errors of results in `dtype` may be.

    In 16 bits those along `axes` (`ROW`, `HEAD`) have a budget of their own: twice the largest
    error of naive code there, plus a rounding of the largest number there; nothing of `size`, which
    would let small answers be anything. In float32 it is `budget`.
    """
    if dtype.itemsize > 2:
        return budget(exact, naive, rounding(dtype), size)
    axes = axes[-exact.ndim :]  # a number a head: all of them
    off, number = (x.amax(axes, keepdim=True) for x in (_off(naive, exact), _sizes(exact)))
    return 2 * off + rounding(dtype) * number


def largest(numbers: Tensor) -> float:
    """Return the largest finite number's size."""
    return float(_sizes(numbers).max()) if numbers.numel() else 0.0


def _sizes(numbers: Tensor) -> Tensor:
    return numbers.double().nan_to_num(0.0, 0.0, 0.0).abs()


def _off(actual: Tensor, exact: Tensor) -> Tensor:
    """Return how far numbers are off, 0 where either is not finite."""
    return _sizes(actual.double() - exact.double())


def error(actual: Tensor, exact: Tensor, allowed: Tensor | float = 1.0) -> float:
    """Return the largest error, in what is allowed; inf where shape, NaN or infinities differ."""
    if actual.shape != exact.shape:
        return float("inf")
    actual, exact = actual.double(), exact.double()
    for kind in (torch.isnan, torch.isposinf, torch.isneginf):
        if not torch.equal(kind(actual), kind(exact)):
            return float("inf")
    off = _off(actual, exact)
    shares = torch.where(off == 0, 0.0, off / allowed)
    return float(shares.max()) if off.numel() else 0.0
