"""What holds for the gradients of every lookup, whatever its sizes and options."""

import numpy as np
import pytest
from drawing import calls
from hypothesis import given

import oracle
import slopes
import softlookup as sl
from budget import loudest
from every_backend import IN_MEMORY


def _gradients(call, backend, *, lse=True):
    out_grad, lse_grad = slopes.draw(call, np.random.default_rng(call.query.size), lse=lse)
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    return look.gradients(out_grad, lse_grad=lse_grad), out_grad, lse_grad


def _largest(*arrays):
    return max(1.0, *(float(np.abs(x.astype(float)).max(initial=0)) for x in arrays))


@given(call=calls())
def test_they_agree_with_the_chain_rule_written_out(backend, call):
    found, out_grad, lse_grad = _gradients(call, backend)
    ways = (out_grad, call.value), (call.query, call.key)
    size = np.prod([_largest(*way) for way in ways]) * call.value.shape[-1]
    slopes.assert_gradients(found, call, out_grad, lse_grad, size=float(size))


@given(call=calls(without=("bias", "sinks")))
def test_what_reaches_the_scores_of_a_row_sums_to_the_gradient_of_its_lse(backend, call):
    """The output hangs on the weights, and their sum does not move."""
    shape = (*call.query.shape[:-1], call.key.shape[-2])
    options = {**call.options, "bias": np.zeros(shape, np.float64)}
    found, _, lse_grad = _gradients(call._replace(options=options), backend)
    exact = oracle.lookup(*call.arrays, **call.options)
    rows = np.where(exact.visible.any(-1), lse_grad, 0)
    room = 1e-4 * _largest(call.value) * loudest(exact)
    np.testing.assert_allclose(found.bias.sum(-1), rows, atol=room)


@given(call=calls(always=("sinks",)))
def test_sinks_and_scores_share_the_lses_gradient(backend, call):
    """With no gradient of the output, all of the lse's reaches the scores and the sinks."""
    shape = (*call.query.shape[:-1], call.key.shape[-2])
    bias = np.broadcast_to(np.asarray(call.options.get("bias", 0.0), np.float64), shape).copy()
    look = sl.Lookup(*call.arrays, **{**call.options, "bias": bias}, backend=backend)
    nothing = np.zeros((*shape[:-1], call.value.shape[-1]), call.query.dtype)
    found = look.gradients(nothing, lse_grad=np.ones(shape[:-1], np.float32))
    rows = float(np.prod(shape[:-1]))
    assert found.bias.sum() + found.sinks.sum() == pytest.approx(rows, rel=1e-4)


@given(call=calls())
def test_the_backends_agree(call):
    names = [each.NAME for each in IN_MEMORY if each.missing() is None]
    results = [_gradients(call, name)[0] for name in names]
    size = _largest(call.value) * _largest(call.query, call.key) ** 2 * 40
    room = size * float(np.finfo(np.float32).eps) * 40
    if call.query.dtype.itemsize == 2:
        room = size * 2.0**-8
    for parts in zip(*results, strict=True):
        for part in parts[1:]:
            assert (part is None) == (parts[0] is None)
            if part is not None:
                one, other = (np.asarray(x, np.float64) for x in (parts[0], part))
                np.testing.assert_allclose(one, other, rtol=0.02, atol=room)
