"""Whether this machine can run the kernels here, in one sentence; imports nothing heavy."""

import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from softlookup.arrays import DASK, MEMORY
from softlookup.device import interpreted
from softlookup.errors import BackendError
from softlookup.problem import Problem

LEAST_CAPABILITY = (8, 0)
LEAST_TRITON = (3, 6)
MOST_DIM = 256
_MOST_LENGTH = 2**31 - 2**16  # a position, and where a row's keys end, are int32; tiles reach past


def missing() -> str | None:
    """Return why the kernels cannot run on this machine, as a sentence, or None.

    Without a GPU it is that, whatever else is missing: no package would help.
    """
    return _missing_torch() or (None if interpreted() else _missing_gpu()) or _missing_package()


@cache  # every call of a lookup asks
def _missing_torch() -> str | None:
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed here: pip install torch."
    return None


@cache
def _missing_package() -> str | None:
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed here: pip install 'triton>=3.6'."
    version = _version_of_triton()
    release = re.match(r"(\d+)\.(\d+)", version)
    if release is not None and (int(release[1]), int(release[2])) < LEAST_TRITON:
        return f"It needs Triton 3.6 or later; here is {version}: pip install -U triton."
    return None


def _version_of_triton() -> str:
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:  # installed under another name
        return str(importlib.import_module("triton").__version__)


@cache
def _missing_gpu() -> str | None:
    import torch  # noqa: PLC0415 (only where a GPU is asked for)

    if torch.version.cuda is None:
        return f"This torch ({torch.__version__}) is a build without CUDA."
    if not torch.cuda.is_available():
        return "torch finds no NVIDIA GPU here."
    best = max(torch.cuda.get_device_capability(n) for n in range(torch.cuda.device_count()))
    if best < LEAST_CAPABILITY:
        return f"It needs compute capability 8.0 or later; the best GPU here has {_dotted(best)}."
    return None


def unfit(problem: Problem) -> str | None:
    """Return why no kernel here can take a problem, as a sentence, or None.

    Where it lies is looked at last, so that nothing is told to come here that would not be taken.
    """
    if problem.dtype.itemsize > 4:
        return f"It computes in float32; here is {problem.dtype}."
    for name, dim in (("head_dim", problem.head_dim), ("value_dim", problem.value_dim)):
        if dim > MOST_DIM:
            return f"It takes a {name} of up to {MOST_DIM}; here it is {dim}."
    both = problem.q_len + problem.kv_len
    if both > _MOST_LENGTH:
        return f"It takes q_len + kv_len of up to {_MOST_LENGTH:,}; here it is {both:,}."
    return _elsewhere(problem)


def _elsewhere(problem: Problem) -> str | None:
    """Return why the kernels cannot read a problem where it lies, as a sentence, or None."""
    if problem.place == MEMORY:
        return "It reads torch tensors on a GPU; these arrays lie in memory: cuda() sends tensors."
    if problem.place == DASK:
        return "It reads torch tensors on a GPU; these are dask arrays."
    array: Any = problem.query
    return too_old(array.tensor.device)


@contextmanager
def on_device(problem: Problem) -> Iterator[None]:
    """Launch on the device of `problem`; where its memory is full, say so as Python does.

    Raises
    ------
    BackendError
        Where a kernel needs more shared memory or registers than a program can have there.
    """
    import torch  # noqa: PLC0415 (as above)

    array: Any = problem.query
    device = array.tensor.device
    try:
        if device.type == "cuda":
            with torch.cuda.device(device):
                yield
        else:
            yield
    except torch.OutOfMemoryError as error:
        raise MemoryError(str(error)) from error
    except Exception as error:
        if not isinstance(error, _out_of_resources()):
            raise
        raise BackendError("backend", _too_much(error, problem)) from error


def _out_of_resources() -> type[Exception] | tuple[()]:
    """Return what Triton raises where a kernel does not fit; nothing where it is not loaded."""
    module: Any = sys.modules.get("triton.runtime.errors")
    return () if module is None else module.OutOfResources


def _too_much(error: Any, problem: Problem) -> str:
    return (
        f"must fit on {problem.place}; a kernel for this lookup needs {error.required:,} of "
        f"{error.name}, and a program there has {error.limit:,}. Report it, please; "
        'backend="auto" takes cpu() of the tensors.'
    )


@cache
def too_old(device: Any) -> str | None:
    """Return why the kernels cannot run on one of several GPUs, as a sentence, or None."""
    if device.type != "cuda":
        return None
    import torch  # noqa: PLC0415 (as above)

    capability = torch.cuda.get_device_capability(device)
    if capability >= LEAST_CAPABILITY:
        return None
    return f"It needs compute capability 8.0 or later; {device} has {_dotted(capability)}."


def _dotted(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))
