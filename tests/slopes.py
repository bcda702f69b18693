"""Gradients of a lookup by the chain rule over its whole weight matrix, beside the oracle.

`gradients` works in any dtype: wide for the exact answer, the inputs' own for what naive code would
make of it. `assert_slopes` holds it to finite differences of the oracle.
"""

import gc
import weakref

import numpy as np

import cases
import oracle
import softlookup as sl
from budget import assert_within_budget, loudest


def _sum_to(array, shape):
    extra = array.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + axis
        for axis, size in enumerate(shape)
        if size == 1 and array.shape[extra + axis] != 1
    )
    return array.sum(axis=axes).reshape(shape)


def gradients(arrays, out_grad, lse_grad, dtype, **options):
    """Return the gradients of query, key, value, bias and sinks, by name."""
    found = oracle.lookup(*arrays, **options, dtype=dtype)
    plain, dtype = arrays[0].ndim == 2, np.dtype(dtype).newbyteorder("=").type
    q, k, v, g = ((x[None] if plain else x).astype(dtype) for x in (*arrays, out_grad))
    out, weights, _, visible, lse = ((x[None] if plain else x) for x in found)
    group = q.shape[-3] // max(k.shape[-3], 1)
    many_k, many_v = (np.repeat(x, group, axis=-3) for x in (k, v))
    scale = options.get("scale")
    scale = dtype((q.shape[-1] or 1) ** -0.5 if scale is None else scale)
    delta = (g * out).sum(-1, dtype=dtype)
    if lse_grad is not None:
        delta = delta - (lse_grad[None] if plain else lse_grad).astype(dtype)
    flow = np.where(visible, weights * (g @ many_v.swapaxes(-1, -2) - delta[..., None]), 0)
    result = {"value": weights.swapaxes(-1, -2) @ g}
    if options.get("bias") is not None:
        result["bias"] = _sum_to(flow[0] if plain else flow, options["bias"].shape)
    if options.get("sinks") is not None:
        logits = options["sinks"].astype(dtype)[:, None]
        terms = -np.exp(logits - lse) * delta
        result["sinks"] = terms.sum(axis=(*range(terms.ndim - 2), -1), dtype=dtype)
    if options.get("softcap") is not None:
        cap = dtype(options["softcap"])
        steep = np.tanh(scale * (q @ many_k.swapaxes(-1, -2)) / cap)
        flow = flow * (dtype(1) - steep * steep)
    result["query"] = scale * (flow @ many_k)
    result["key"] = scale * (flow.swapaxes(-1, -2) @ q)
    for name in ("key", "value"):
        each = result[name]
        grouped = (*each.shape[:-3], k.shape[-3], group, *each.shape[-2:])
        result[name] = each.reshape(grouped).sum(-3, dtype=dtype)
    for name in ("query", "key", "value") if plain else ():
        result[name] = result[name][0]
    return result


def draw(call, rng, *, lse=True):
    """Return random gradients of the output, in the inputs' dtype, and of the lse."""
    shape, dtype = call.query.shape[:-1], call.query.dtype.newbyteorder("=")
    out_grad = rng.standard_normal((*shape, call.value.shape[-1])).astype(dtype)
    lse_grad = rng.standard_normal(shape).astype(cases.accumulator(dtype)) if lse else None
    return out_grad, lse_grad


def largest_delta(call, out_grad, lse_grad):
    """Return the largest of the rows' ``out_grad . out`` less the gradient of the lse, exactly."""
    out = oracle.lookup(*call.arrays, **call.options).out
    return float(np.abs((out_grad.astype(out.dtype) * out).sum(-1) - lse_grad).max(initial=0.0))


def assert_gradients(found, call, out_grad, lse_grad, *, size=1.0, rounded=False):
    """Assert that `found` are the gradients of `call` within the budget, of the right dtypes.

    `size` is the largest number on the way: what a rounding of a score or of a row's delta meets.
    Inputs of 16 bits are added up in float32 by naive code, too, and each sum is rounded once;
    where `rounded` every step is, as kernels of a GPU do it with what reaches the scores.
    """
    dtype = call.query.dtype
    exact, naive = (
        gradients(call.arrays, out_grad, lse_grad, each, **call.options)
        for each in (oracle.wide(dtype), dtype if rounded else cases.accumulator(dtype))
    )
    # before the cap: there a rounding moves the steepness, too
    scores = oracle.lookup(*call.arrays, **{**call.options, "softcap": None})
    size = size * loudest(scores)
    given = {**dict(zip(("query", "key", "value"), call.arrays, strict=True)), **call.options}
    for name in ("query", "key", "value", "bias", "sinks"):
        actual = getattr(found, name)
        if name not in exact:
            assert actual is None, name
            continue
        own = given[name].dtype.newbyteorder("=")
        assert actual.dtype == own, name
        assert actual.flags.c_contiguous, name
        rough = naive[name].astype(min(own, dtype.newbyteorder("="), key=lambda x: x.itemsize))
        assert_within_budget(actual, exact[name], rough, name, size)


def assert_slopes(call, rng, step=1e-5):
    """Assert that `gradients` is how the oracle's out and lse change, along random directions."""
    out_grad, lse_grad = draw(call, rng)
    names = ("query", "key", "value", *(n for n in ("bias", "sinks") if n in call.options))
    given = {**dict(zip(names[:3], call.arrays, strict=True)), **call.options}
    given = {n: x.astype(float) if n in names else x for n, x in given.items()}
    exact = gradients(
        [given[n] for n in names[:3]], out_grad, lse_grad, np.float64,
        **{n: x for n, x in given.items() if n not in names[:3]},
    )  # fmt: skip

    def loss(**changed):
        found = oracle.lookup(**{**given, **changed})
        seen = np.isfinite(found.lse)
        return (found.out * out_grad).sum() + (found.lse * lse_grad)[seen].sum()

    for name in names:
        along = rng.standard_normal(given[name].shape)
        slope = loss(**{name: given[name] + step * along})
        slope = (slope - loss(**{name: given[name] - step * along})) / (2 * step)
        expected = (exact[name] * along).sum()
        assert abs(slope - expected) <= 1e-6 * max(1, abs(expected)), name


def assert_freed(query, key, value, **options):
    """Assert that what a lookup of tensors keeps for its gradients goes with the last output.

    At once: memory of a GPU that waits for Python's collector is missing elsewhere.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        out = sl.attend(query.requires_grad_(), key, value, **options)
        kept = weakref.ref(out.grad_fn)
        assert kept() is not None
        del out
        assert kept() is None
    finally:
        if collecting:
            gc.enable()
