"""What every backend on a GPU does alike: weights, maps, and gradients by our kernels.

The kernels are loaded, with torch, when they are called for.
"""

from typing import cast

from softlookup.arrays import Array, IntArray
from softlookup.backends.triton import machine
from softlookup.gradients import Gradients, Residuals
from softlookup.pooling import Normaliser, Pooled
from softlookup.problem import Problem


def weights(problem: Problem, rows: IntArray, keys: IntArray) -> Array:
    """Return the weights of a rectangle, (batch, heads, len(rows), len(keys))."""
    from softlookup.backends.triton import rectangle

    with machine.on_device(problem):
        return cast("Array", rectangle.weights_of_pairs(problem, rows, keys))


def pooled(problem: Problem, bands: IntArray) -> Pooled:
    """Return whole bands of one head's rows, pooled."""
    from softlookup.backends.triton import pooled as kernels

    with machine.on_device(problem):
        return kernels.pooled_bands(problem, bands)


def cells(
    problem: Problem, rows: slice, keys: slice, size: int, normaliser: Normaliser
) -> tuple[Array, Array]:
    """Return the largest weight and the sum of each `size` x `size` block of one head's rectangle.

    `rows` and `keys` begin at multiples of `size`; the normaliser is that of these rows, and may
    lie in memory.
    """
    from softlookup.backends.triton import pooled as kernels

    with machine.on_device(problem):
        found = kernels.cells_of(problem, rows, keys, size, normaliser)
    return cast("tuple[Array, Array]", found)


def backward(
    problem: Problem,
    kept: Residuals,
    out_grad: Array,
    lse_grad: Array | None,
    *,
    bias: bool,
) -> Gradients:
    """Return what reaches the inputs; the bias' gradient only where it is asked for."""
    from softlookup.backends.triton.backward import gradients_of

    with machine.on_device(problem):
        return gradients_of(problem, kept, out_grad, lse_grad, bias=bias)
