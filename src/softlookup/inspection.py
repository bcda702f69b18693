"""Inspection: what comes back from a look at the facts of a lookup."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, IntArray, as_ndarray, is_lazy
from softlookup.device import DeviceArray
from softlookup.facts import Facts, Findings, bin_ranges
from softlookup.numerals import fixed
from softlookup.partials import RowFacts
from softlookup.problem import Problem
from softlookup.tensors import is_tensor, tensor_of
from softlookup.tracing import to_json


class Top(NamedTuple):
    """The keys with the largest scores in each row, best first.

    Attributes
    ----------
    keys : ndarray of int64 of shape (..., heads, q_len, top)
        Positions; -1 where the row sees fewer keys, and in a row that is NaN.
    weights : ndarray of shape (..., heads, q_len, top)
        Their weights; 0 where there is no key, NaN in a row that is NaN.
    """

    keys: IntArray
    weights: Array


@dataclass(frozen=True, eq=False, repr=False)
class Inspection:
    """The answer of a lookup and the facts that were asked for; None is what was not.

    Facts are float32 (float64 for float64 inputs), positions int64, all C-contiguous, with the
    lookup's leading axes; plain (length, dim) arrays have no heads axis. w stands for the weights
    of a row. A row that sees no key has entropy, shares and top weights 0 and max_score -inf; a row
    with a visible score of NaN or +inf has NaN in all its facts.

    Attributes
    ----------
    out : ndarray of shape (..., heads, q_len, value_dim) or None
        The answer, bit for bit that of `Lookup.attend` on the same backend; None where the lookup
        has no value.
    lse : ndarray of shape (..., heads, q_len)
        Natural logarithm of the sum of ``exp(score)`` over visible keys and the sink; -inf for an
        empty row without a sink.
    backend : str
        Which backend computed it.
    entropy : ndarray of shape (..., heads, q_len), nats
        ``-sum(w * ln w)``, between 0 (one key is read) and ``ln(number of visible keys)``; the
        sink's own term is left out [1]_.
    sink : ndarray of shape (..., heads, q_len)
        Share of the sink, ``1 - sum(w)``; 1 for an empty row.
    max_score : ndarray of shape (..., heads, q_len)
        Largest visible score, before softmax, sinks not among them.
    max_score_per_head : ndarray of shape (..., heads)
        Largest of them over the rows, which is what a clip of query and key weights looks at [2]_.
    top : Top
        Positions and weights, each (..., heads, q_len, top).
    received : ndarray of shape (..., heads, kv_len)
        Sum of w over the rows that count: how much each key is read, in rows; a mean where
        `normalised`. Cache eviction ranks keys by it [3]_.
    received_per_kv_head : ndarray of shape (..., kv_heads, kv_len)
        The same over all query heads of a kv head.
    groups : ndarray of shape (..., heads, q_len, groups)
        Sum of w over the keys of each label 0, 1, ...; all labels, the keys without one and the
        sink make 1.
    distance : ndarray of shape (..., heads, q_len, bins)
        Sum of w over the keys of each bin of ``abs(i + q_offset - j)``; the bins and the sink
        make 1 [4]_.
    distance_bins : tuple of (int, int)
        Smallest and largest distance of each bin: (0, 0), (1, 1), (2, 3), (4, 7), ...

    References
    ----------
    .. [1] Clark et al., "What Does BERT Look At?", 2019, section 3.4.
    .. [2] Kimi Team, "Kimi K2: Open Agentic Intelligence", 2025, section 2.1 (QK-Clip).
    .. [3] Zhang et al., "H2O: Heavy-Hitter Oracle for Efficient Generative Inference of Large
       Language Models", 2023, section 4.
    .. [4] Dosovitskiy et al., "An Image is Worth 16x16 Words", 2020, section 4.5 (mean attention
       distance).
    """

    out: Array | None
    lse: Array
    backend: str
    entropy: Array | None = None
    sink: Array | None = None
    max_score: Array | None = None
    max_score_per_head: Array | None = None
    top: Top | None = None
    received: Array | None = None
    received_per_kv_head: Array | None = None
    groups: Array | None = None
    distance: Array | None = None
    distance_bins: tuple[tuple[int, int], ...] | None = None

    def __repr__(self) -> str:
        asked = {name: fact for name, fact in vars(self).items() if fact is not None}
        arrays = {name: fact for name, fact in asked.items() if hasattr(fact, "shape")}
        if "top" in asked:
            arrays |= {f"top.{name}": part for name, part in asked["top"]._asdict().items()}
        arrays = {name: x if is_lazy(x) else _brought(x) for name, x in arrays.items()}
        width, shapes = max(map(len, arrays)), {n: str(a.shape) for n, a in arrays.items()}
        wide = max(map(len, shapes.values()))
        lines = [
            f"  {name.ljust(width)}  {shapes[name].ljust(wide)}  {_range(array)}"
            for name, array in arrays.items()
        ]
        return "\n".join([f"Inspection by {self.backend}, {arrays['lse'].dtype}", *lines])

    def to_dict(self, *, out: bool = False) -> dict[str, Any]:
        """Return what was asked for as plain lists and numbers, ready for JSON.

        NaN and inf are the texts "NaN", "Infinity" and "-Infinity", as in a trace.

        Parameters
        ----------
        out : bool, default False
            Also the answer itself.

        Returns
        -------
        dict
            `top` is a dict of keys and weights; what was not asked for is left out.

        Examples
        --------
        >>> from softlookup import Lookup
        >>> Lookup([[0.0]], [[1.0], [2.0]]).inspect(top=1).to_dict()
        {'lse': [0.69...], 'backend': '...', 'top': {'keys': [[0]], 'weights': [[0.5]]}}
        """
        asked = self._asked()
        if not out:
            asked.pop("out", None)
        if "top" in asked:
            asked["top"] = asked["top"]._asdict()
        plain: dict[str, Any] = to_json(asked)
        return plain

    def _asked(self) -> dict[str, Any]:
        """Return the fields that hold something, by name, as NumPy arrays."""
        found = self if not is_lazy(self.lse) else sys.modules["dask"].compute(self)[0]
        held = {name: fact for name, fact in vars(found).items() if fact is not None}
        return {name: _each(fact, _lies_elsewhere, _brought) for name, fact in held.items()}


def as_tensors(found: Inspection) -> Inspection:
    """Return `found` with a tensor for every array."""
    held = {
        name: _each(fact, lambda x: isinstance(x, (np.ndarray, DeviceArray)), tensor_of)
        for name, fact in vars(found).items()
    }
    return Inspection(**held)


def _lies_elsewhere(fact: Any) -> bool:
    return is_tensor(fact) or isinstance(fact, DeviceArray)


def _brought(fact: Any) -> Array:
    return as_ndarray(fact, "fact")


def _each(fact: Any, chosen: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    """Return `fact` changed where it is chosen; of the top keys, each part."""
    if isinstance(fact, Top):
        return Top(*(change(part) if chosen(part) else part for part in fact))
    return change(fact) if chosen(fact) else fact


def _range(array: Array) -> str:
    """Write the smallest and the largest number of `array`, NaN counted apart.

    Examples
    --------
    >>> _range(np.array([0.5, 2.0, np.nan])), _range(np.array([3, 3])), _range(np.zeros(0))
    ('0.500 ... 2.000, 1 NaN', '3', 'empty')
    """
    if is_lazy(array):
        return "not computed yet"
    write = str if array.dtype.kind == "i" else fixed
    numbers = array.ravel() if array.dtype.kind == "i" else array.astype(np.float64).ravel()
    known = numbers[~np.isnan(numbers)]
    missing = f"{numbers.size - known.size:,} NaN"
    if not known.size:
        return missing if numbers.size else "empty"
    low, high = write(known.min()), write(known.max())
    words = low if low == high else f"{low} ... {high}"
    return words if known.size == numbers.size else f"{words}, {missing}"


def build_inspection(
    problem: Problem, facts: Facts, findings: Findings, backend: str
) -> Inspection:
    """Give what a backend found the caller's axes."""
    rows = RowFacts(*(None if x is None else problem.restore(x) for x in findings.rows))
    top = peak = received = per_kv_head = None
    if rows.top_keys is not None and rows.top_weights is not None:
        top = Top(rows.top_keys, rows.top_weights)
    if findings.rows.max_score is not None:
        peak = problem.restore(_largest(findings.rows.max_score))
    if findings.received is not None:
        received, per_kv_head = _received(problem, findings.received, findings.readers)
    return Inspection(
        out=None if problem.value is None else problem.restore(findings.out),
        lse=problem.restore(findings.lse),
        backend=backend,
        entropy=rows.entropy,
        sink=rows.sink,
        max_score=rows.max_score,
        max_score_per_head=peak,
        top=top,
        received=received,
        received_per_kv_head=per_kv_head,
        groups=rows.groups,
        distance=rows.distance,
        distance_bins=None if facts.bins is None else bin_ranges(facts.bins),
    )


def _largest(scores: Array) -> Array:
    """Return the largest of each head's rows, NaN where one is; -inf where there is no row."""
    found: Array = scores.max(axis=-1) if scores.size else scores.sum(axis=-1) - np.inf
    return found


def _received(problem: Problem, sums: Array, readers: IntArray | None) -> tuple[Array, Array]:
    """Return what keys receive per query head and per kv head, divided where readers are given."""
    found = [sums, _of_kv_heads(problem, sums)]
    if readers is not None:
        counts = [readers, _of_kv_heads(problem, readers)]
        found = [each / count.clip(1) for each, count in zip(found, counts, strict=True)]
    per_head, per_kv_head = (problem.restore(x.astype(problem.compute_dtype)) for x in found)
    return per_head, per_kv_head


def _of_kv_heads(problem: Problem, sums: Array) -> Array:
    """Return sums (batch, heads, kv_len) over the heads of each group, in their order.

    No axis is split, which may chunk a dask array anew.
    """
    group = problem.group
    if group <= 1:
        return sums
    total: Array = sum((sums[:, n::group] for n in range(1, group)), sums[:, ::group])
    return total
