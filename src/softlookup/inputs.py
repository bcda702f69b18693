"""`Inputs`: what a lookup is of, its arrays and options; one head of them, or all in memory."""

from typing import Any, Self

import numpy as np

from softlookup.backends import registry
from softlookup.errors import OptionError
from softlookup.numerals import counted
from softlookup.options import names_checked
from softlookup.problem import Problem, build_problem
from softlookup.tensors import Tensors, is_tensor


class Inputs:
    """What `softlookup.Lookup` is of: it describes the parameters, and says what may be asked.

    Attributes
    ----------
    problem : Problem
        The arrays and options, checked.
    backend : str
        What is to compute, by name.
    tensors : Tensors or None
        What was given where the query is a torch tensor.
    """

    __slots__ = ("backend", "problem", "tensors")

    @names_checked
    def __init__(
        self,
        query: Any,
        key: Any,
        value: Any = None,
        *,
        causal: bool = False,
        q_offset: Any = None,
        window: Any = None,
        mask: Any = None,
        bias: Any = None,
        kv_lens: Any = None,
        scale: Any = None,
        softcap: Any = None,
        sinks: Any = None,
        backend: str = "auto",
    ) -> None:
        self.backend = registry.check_backend(backend)
        self.tensors: Tensors | None = None
        arrays = {
            "query": query,
            "key": key,
            "value": value,
            "bias": bias,
            "sinks": sinks,
            "mask": mask,
        }
        if is_tensor(query):
            self.tensors, arrays = Tensors.seen(**arrays)
        self.problem: Problem = build_problem(
            **arrays,
            causal=causal,
            q_offset=q_offset,
            window=window,
            kv_lens=kv_lens,
            scale=scale,
            softcap=softcap,
        )

    def __repr__(self) -> str:
        p = self.problem
        return (
            f"Lookup({counted(p.heads, 'head')} over {counted(p.kv_heads, 'kv_head')}, "
            f"q_len {p.q_len}, kv_len {p.kv_len}, "
            f"head_dim {p.head_dim}, value_dim {p.value_dim}, batch {p.batch_shape}, {p.dtype})"
        )

    def head(self, head: int = 0, batch: Any = ()) -> Self:
        """Return the plain lookup of one query head, as (length, dim) arrays that share memory.

        Parameters
        ----------
        head : int, default 0
            Query head; it brings its kv head.
        batch : int or tuple of int
            Index into the leading axes.

        Raises
        ------
        OptionError
            Where there is no such head or batch entry.
        """
        p = self.problem
        index = batch if isinstance(batch, tuple) else (batch,)
        if not _inside(index, p.batch_shape):
            raise OptionError(
                "batch",
                f"must be an index into the leading axes {p.batch_shape}; got {index}. "
                "Give one integer for each.",
            )
        if not _inside((head,), (p.heads,)):
            raise OptionError(
                "head", f"must lie in 0 ... {p.heads - 1}; got {head}. Heads count from 0."
            )
        flat = int(np.ravel_multi_index(index, p.batch_shape)) if index else 0
        one = object.__new__(type(self))
        one.backend, one.problem = self.backend, p.one_head(int(head), flat)
        one.tensors = self.tensors and self.tensors.one_head(int(head), p.group, index)
        return one

    def in_numpy(self) -> Self:
        """Return the same lookup, whose answers are NumPy arrays whatever it was given.

        What lies on a GPU, or in the chunks of a dask array, is copied into memory; a backend that
        was asked for by name and reads it there alone is then left to ``"auto"``.
        """
        here = self.problem.in_memory()
        if self.tensors is None and here is self.problem:
            return self
        same = object.__new__(type(self))
        same.backend = self.backend if here is self.problem else "auto"
        same.problem, same.tensors = here, None
        return same


def _inside(index: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    return len(index) == len(shape) and all(
        isinstance(i, (int, np.integer)) and not isinstance(i, bool) and 0 <= i < size
        for i, size in zip(index, shape, strict=True)
    )
