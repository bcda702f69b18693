"""Tests that stand elsewhere, run here with tensors in the place of arrays."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sent

import cases
from softlookup.arrays import in_memory
from softlookup.backends import cuda

TESTS = Path(__file__).parent.parent

# The interpreter computes wrongly in bfloat16; float64 is refused; 5-D arrays are 4-D ones by then.
NAMES = [
    name
    for name, case in cases.NAMED.items()
    if np.dtype(cases.DTYPES.get(case.dtype, case.dtype)).itemsize <= 4
    and case.dtype != "bfloat16"
    and "5-D" not in name
]


def module(name):
    """Return a test file as a module of its own."""
    path = TESTS / name
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)  # what stands beside it
        spec.loader.exec_module(loaded)
    return loaded


class Kernels:
    """The backend, whose results are brought into memory."""

    NAME = cuda.NAME

    @staticmethod
    def weights(problem, rows, keys):
        return in_memory(cuda.weights(problem, rows, keys))

    @staticmethod
    def pooled(problem, bands):
        return cuda.pooled(problem, bands).in_memory()

    @staticmethod
    def cells(problem, rows, keys, size, normaliser):
        return tuple(map(in_memory, cuda.cells(problem, rows, keys, size, normaliser)))


TENSORS = SimpleNamespace(Lookup=sent.Lookup)  # for the `sl` of such a module
