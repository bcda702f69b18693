"""Which backend computes a lookup: the first that can and offers to, or the one asked for by name.

Compiled in, able to run here, able to take this problem are three different questions. A backend
asked for by name is used or refused with its own reason, never replaced.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from softlookup.arrays import DASK, Array, BoolArray, IntArray
from softlookup.backends import (
    blocked,
    blocked_parts,
    cpu,
    cpu_parts,
    cuda,
    cuda_hopper,
    cuda_torch,
    dask,
)
from softlookup.errors import BackendError, OptionError
from softlookup.facts import NO_FACTS, Facts, Findings
from softlookup.gradients import Gradients, Residuals
from softlookup.partials import Part
from softlookup.pooling import Normaliser, Pooled
from softlookup.problem import Problem


class Backend(Protocol):
    """The names that every backend file has.

    What comes in has been checked. `out` is of the inputs' dtype; weights, and facts but for
    `Findings.received`, are of the problem's `compute_dtype`.
    """

    NAME: str

    def missing(self) -> str | None:
        """Return why it cannot run on this machine, as a sentence, or None."""

    def unsupported(self, problem: Problem, facts: Facts) -> str | None:
        """Return why it cannot take this problem, as a sentence, or None."""

    def offers(self, problem: Problem, *, alone: bool) -> bool:
        """Return whether ``"auto"`` may take it for this problem, which it can compute.

        `alone`: nothing but the answer will be asked for, so no look at it has to have its bits.
        """

    def forward(self, problem: Problem, facts: Facts) -> Findings:
        """Return the output and the facts."""

    def weights(self, problem: Problem, rows: IntArray, keys: IntArray) -> Array:
        """Return the weights of a rectangle, (batch, heads, len(rows), len(keys))."""

    def pooled(self, problem: Problem, bands: IntArray) -> Pooled:
        """Return whole bands of one head's rows, pooled.

        `bands`: their numbers (bands,), in any order; band b holds `BAND` rows from ``b * BAND``.
        """

    def cells(
        self, problem: Problem, rows: slice, keys: slice, size: int, normaliser: Normaliser
    ) -> tuple[Array, Array]:
        """Return the largest weight and the sum of each block of one head's rectangle.

        Each (row_blocks, key_blocks), of `size` rows and keys; the last ones may hold fewer. `rows`
        and `keys` begin at multiples of `size`; the normaliser is that of these rows.
        """

    def residuals(self, problem: Problem) -> Residuals:
        """Return the output and what its gradients need of it."""

    def backward(
        self,
        problem: Problem,
        kept: Residuals,
        out_grad: Array,
        lse_grad: Array | None,
        *,
        bias: bool,
    ) -> Gradients:
        """Return what reaches the inputs; the bias' gradient only where it is asked for.

        `out_grad` is (batch, heads, q_len, value_dim), `lse_grad` (batch, heads, q_len) or None for
        zeros.
        """


class Gatherer(Protocol):
    """The names that every file has that computes a lookup in parts."""

    def parts(self, problem: Problem, facts: Facts, rows: IntArray | None = None) -> list[Part]:
        """Return the states of rows over the keys, in the keys' order, without sinks.

        Over (batch, heads, rows); of all rows where none are chosen.
        """

    def merged(self, some: Sequence[Part], facts: Facts) -> Part:
        """Return the state over the keys of all parts."""

    def ended(
        self, some: Sequence[Part], facts: Facts, dtype: np.dtype[Any], sinks: Array | None
    ) -> tuple[Findings, Normaliser]:
        """Return the answers of rows whose parts are all there, and what makes their weights.

        `out` is of `dtype`; `sinks` are (heads,).
        """

    def received(
        self, problem: Problem, from_rows: BoolArray | None, normaliser: Normaliser
    ) -> Array:
        """Return what keys receive from rows whose sums over all keys are known.

        float64 (batch, heads, kv_len); `from_rows` is bool (batch, q_len), None for all.
        """

    def rectangle(
        self, problem: Problem, rows: IntArray, keys: IntArray, normaliser: Normaliser
    ) -> Array:
        """Return weights of such rows, (batch, heads, len(rows), len(keys))."""


def backends() -> tuple[Backend, ...]:
    """Return all backends, best first."""
    return (cpu, cuda_torch, cuda_hopper, cuda, dask, blocked)


def gatherer(problem: Problem | None) -> Gatherer:
    """Return what computes in parts on this machine: the core where it can, else NumPy."""
    if cpu.missing() is None and (problem is None or cpu.unsupported(problem, NO_FACTS) is None):
        return cpu_parts
    return blocked_parts


def check_backend(name: object) -> str:
    """Return `name`, ``"auto"`` or a backend's.

    Raises
    ------
    OptionError
        Where there is none of that name; the message names the choices.
    """
    if isinstance(name, str) and name == "auto":
        return name
    names = ["auto", *(backend.NAME for backend in backends())]
    if not isinstance(name, str) or name not in names:
        raise OptionError("backend", f"must be one of {', '.join(names)}; got {name!r}.")
    return name


def choose(problem: Problem, facts: Facts, name: str, *, alone: bool = False) -> Backend:
    """Return the backend that computes `problem`; `alone` as `Backend.offers` has it.

    Raises
    ------
    BackendError
        Where the one asked for cannot, with its reason and what can; for ``"auto"``, where none
        can, with all.
    """
    found, reasons = _first(problem, facts, name, alone=alone)
    if found is None:
        raise BackendError("backend", " ".join([*reasons, _way_out(problem, facts)]))
    return found


def _first(
    problem: Problem, facts: Facts, name: str, *, alone: bool
) -> tuple[Backend | None, list[str]]:
    """Return the first backend of this name that computes `problem`, or why each cannot."""
    reasons = []
    for backend in backends():
        named = name == backend.NAME
        if not named and name != "auto":
            continue
        reason = _reason(backend, problem, facts, named=named)
        if reason is not None:
            reasons.append(f"{backend.NAME}: {reason}")
        elif named or backend.offers(problem, alone=alone):
            return backend, []
    return None, reasons


def _way_out(problem: Problem, facts: Facts) -> str:
    """Return what takes a problem that was refused, as a sentence: it was asked whether it does.

    Where none does, the same arrays in memory are taken: `blocked` refuses none.
    """
    other, _ = _first(problem, facts, "auto", alone=False)
    if other is not None:
        return f'backend="{other.NAME}" takes this lookup.'
    brought = "compute() of the arrays" if problem.place == DASK else "cpu() of the tensors"
    return f'backend="auto" takes {brought}.'


def _reason(backend: Backend, problem: Problem, facts: Facts, *, named: bool) -> str | None:
    """Return why a backend cannot compute a problem; whether it runs here first, if it was named.

    Else last, so that arrays in memory never make one that reads a GPU look for it.
    """
    if named:
        return backend.missing() or backend.unsupported(problem, facts)
    return backend.unsupported(problem, facts) or backend.missing()
