"""The tests' NumPy arrays as tensors, which count as a GPU's where kernels are interpreted."""

import ml_dtypes
import numpy as np
import torch

import softlookup as sl
from softlookup.gradients import Gradients
from softlookup.tensors import view


def sent(array):
    """Return an array as a tensor of its own, contiguous; anything else as it is."""
    if not isinstance(array, np.ndarray):
        return array
    array = np.array(array.astype(array.dtype.newbyteorder("="), copy=False), order="C")
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def as_it_lies(array):
    """Return an array as a tensor of the same strides, none of which is negative."""
    if 0 not in array.strides:
        return torch.from_numpy(array)
    once = tuple(slice(0, 1) if step == 0 else slice(None) for step in array.strides)
    return sent(array[once]).expand(array.shape)


def brought(tensor):
    """Return a tensor as an array; anything else as it is."""
    return view(tensor.detach(), "x").in_memory() if isinstance(tensor, torch.Tensor) else tensor


class Lookup:
    """A lookup of tensors that takes and gives arrays, in the place of `softlookup.Lookup`."""

    def __init__(self, *arrays, **options):
        self.look = sl.Lookup(*map(sent, arrays), **options)

    def gradients(self, out_grad, *, lse_grad=None):
        found = self.look.gradients(sent(out_grad), lse_grad=sent(lse_grad))
        return Gradients(*map(brought, found))

    def head(self, head, batch=()):
        one = object.__new__(Lookup)
        one.look = self.look.head(head, batch)
        return one

    def __getattr__(self, name):
        return getattr(self.look, name)
