"""Trace: every step of chosen rows, with the numbers to follow from q . k to the output."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from softlookup import ledger
from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.errors import OptionError
from softlookup.numerals import counted
from softlookup.problem import Problem, pick
from softlookup.reference import steps
from softlookup.tokens import given_axes, label_axes

_MOST_CELLS = 2**22
_MOST_NUMBERS = 2**25


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """All steps of chosen rows, float64 of the given inputs. ``print()`` shows them as a ledger.

    Leading axes are the lookup's own (batch axes, then heads; none for plain arrays). Shapes are
    (..., rows, kv_len) unless said.

    Attributes
    ----------
    rows : ndarray of int64, shape (rows,)
        Which queries.
    position : ndarray of int64, shape (batch axes..., rows), or None
        ``row + q_offset``; None where the lookup has no positions.
    texts : tuple of two tuples of str
        Texts of all queries and of all keys, as they were given; None where none were.
    tokens, key_tokens : tuple of str
        The same, with positions where none were given.
    query : ndarray of shape (..., rows, head_dim)
    key, value : ndarray of shape (..., kv_heads, kv_len, dim)
        value is None where the lookup has none.
    scale : float
    softcap : float or None
    sinks : ndarray of shape (heads,) or None
    products, scaled, scores, masked_scores : ndarray
        ``q . k``; times scale; after softcap and bias; hidden keys at -inf.
    capped, bias : ndarray or None
        None where not used.
    visible : ndarray of bool
    exp : ndarray
        Textbook form, ``exp(masked_scores)``; may overflow to inf.
    exp_sum : ndarray of shape (..., rows)
        Sum of `exp`, with the sink's term.
    row_max : ndarray of shape (..., rows)
        Largest visible score, the sink among them; -inf for an empty row without a sink.
    shifted_exp, row_sum : ndarray
        The form kernels use, ``exp(masked_scores - row_max)``, and its sum with the sink's term.
    sink_weight : ndarray of shape (..., rows) or None
    weights : ndarray
        ``shifted_exp / row_sum``; 0 where hidden.
    out : ndarray of shape (..., rows, value_dim) or None
    lse : ndarray of shape (..., rows)
        Natural logarithm.
    """

    rows: IntArray
    position: IntArray | None
    texts: tuple[tuple[str, ...] | None, tuple[str, ...] | None]
    query: Array
    key: Array
    value: Array | None
    scale: float
    softcap: float | None
    sinks: Array | None
    products: Array
    scaled: Array
    capped: Array | None
    bias: Array | None
    scores: Array
    visible: BoolArray
    masked_scores: Array
    exp: Array
    exp_sum: Array
    row_max: Array
    shifted_exp: Array
    row_sum: Array
    sink_weight: Array | None
    weights: Array
    out: Array | None
    lse: Array
    problem: Problem

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Texts of all queries."""
        return label_axes(*self.texts, self.problem.q_len, self.problem.kv_len)[0]

    @cached_property
    def key_tokens(self) -> tuple[str, ...]:
        """Texts of all keys."""
        return label_axes(*self.texts, self.problem.q_len, self.problem.kv_len)[1]

    @property
    def contributions(self) -> Array | None:
        """``weights[..., j] * value[j]``, (..., rows, kv_len, value_dim), 0 where hidden.

        Raises
        ------
        OptionError
            Where they would be more than 33,554,432 numbers (256 MiB).
        """
        p = self.problem
        if p.value is None:
            return None
        if self.weights.size * p.value_dim > _MOST_NUMBERS:
            raise OptionError(
                "contributions",
                f"must be at most {_MOST_NUMBERS:,} numbers; {self.weights.size:,} weights of "
                f"value_dim {p.value_dim} are more. Trace fewer rows, or take record(row).",
            )
        weights = self.weights.reshape(p.batch, p.kv_heads, p.group, len(self.rows), p.kv_len, 1)
        value = p.value.astype(np.float64)[:, :, None, None]
        with np.errstate(all="ignore"):  # NaN and inf are answers
            blended = weights * value
        seen = self.visible.reshape(weights.shape)
        return np.where(seen, blended, 0.0).reshape(*self.weights.shape, p.value_dim)

    def record(
        self,
        row_index: int = 0,
        *,
        head: int = 0,
        batch: tuple[int, ...] = (),
        top: int | None = None,
    ) -> dict[str, Any]:
        """Return the steps of one row as plain numbers, ready for JSON.

        Parameters
        ----------
        row_index : int
            Which of `rows`.
        head, batch : int, tuple of int
            Which head and batch entry.
        top : int, optional
            Keep only the `top` keys of largest score (ties: lower index); the others are summed up
            under ``"rest"``. Default: all keys.

        Returns
        -------
        dict
            Numbers are float; NaN and infinities are the texts ``"NaN"``, ``"Infinity"`` and
            ``"-Infinity"``, which JSON can carry.

        Raises
        ------
        OptionError
            Where this trace has no such row, head or batch entry.
        """
        at = (row_index,) if self.problem.plain else (*batch, head, row_index)
        lead = self.weights.shape[:-1]
        if len(at) != len(lead) or not all(0 <= i < n for i, n in zip(at, lead, strict=True)):
            raise OptionError(
                "record",
                f"must be of one row: (batch axes, head, row) within {lead}; got {at}. "
                "Rows count within this trace.",
            )
        kv_at = () if self.problem.plain else (*batch, head // max(self.problem.group, 1))
        keys = self._largest(at, top)
        values = None if self.value is None else self.value[kv_at]  # (kv_len, value_dim)
        value = None if values is None else values[keys].astype(np.float64)
        weights = self.weights[at]
        row = int(self.rows[row_index])
        record = {
            "row": row,
            "token": self._text(0, row),
            "position": None if self.position is None else self.position[(*batch, row_index)],
            "query": self.query[at].astype(np.float64),
            "keys": keys,
            "key_tokens": [self._text(1, key) for key in keys],
            "key": self.key[kv_at][keys].astype(np.float64),
            "value": value,
            **{name: self._cells(name, at, keys) for name in _BY_KEY},
            "exp_sum": self.exp_sum[at],
            "row_max": self.row_max[at],
            "row_sum": self.row_sum[at],
            "sink": self._sink(at, head),
            "weights_sum": weights.sum(),
            "contributions": self._contributions(at, keys, value),
            "out": None if self.out is None else self.out[at],
            "lse": self.lse[at],
            "scale": self.scale,
            "softcap": self.softcap,
            "visible_count": self.visible[at].sum(),
            "rest": self._rest(at, keys, values),
        }
        plain: dict[str, Any] = to_json(record)
        return plain

    def layer(self) -> str:
        """Return all traced queries of a one-head trace at once, as matrices in text.

        Raises
        ------
        OptionError
            Where the trace is of several heads.
        """
        lead = self.weights.shape[:-2]
        if prod(lead) != 1:
            raise OptionError(
                "trace",
                f"must be of one head; this one has leading axes {lead}. "
                "Take look.head(...).trace(...).",
            )
        return ledger.layer_text(self)

    def __str__(self) -> str:
        shown: list[str] = []
        heads, total = prod(self.weights.shape[:-2]), prod(self.weights.shape[:-1])
        for index in np.ndindex(*self.weights.shape[:-1]):
            if len(shown) == _MOST_LEDGERS:
                shown.append(
                    f"... and {counted(total - _MOST_LEDGERS, 'more row')}: choose with "
                    "rows=[...] and look.head(...)"
                )
                break
            *batch, head = index[:-1] or (0,)
            record = self.record(index[-1], head=head, batch=tuple(batch), top=MOST_KEYS)
            title = f"head {head}" + (f" of batch {tuple(batch)}" if batch else "")
            text = ledger.row_text(record)
            shown.append(f"{title}: {text}" if heads > 1 else text)
        return "\n\n".join(shown)

    def __repr__(self) -> str:
        rows, kv_len = self.weights.shape[-2:]
        return (
            f"Trace({counted(rows, 'row')} over {counted(kv_len, 'key')}, leading axes "
            f"{self.weights.shape[:-2]})"
        )

    def _text(self, side: int, position: int) -> str:
        texts = self.texts[side]
        return str(position) if texts is None else texts[position]

    def _largest(self, at: tuple[int, ...], top: int | None) -> IntArray:
        scores = self.masked_scores[at]
        if top is None or top >= len(scores):
            return np.arange(len(scores))
        order = np.argsort(-scores, kind="stable")  # NaN last, ties to the lower index
        seen = order[self.visible[at][order]]
        return np.sort(seen[: max(top, 0)])

    def _cells(self, name: str, at: tuple[int, ...], keys: IntArray) -> Array | None:
        array = getattr(self, name)
        return None if array is None else array[at][keys]

    def _contributions(
        self, at: tuple[int, ...], keys: IntArray, value: Array | None
    ) -> Array | None:
        if value is None:
            return None
        with np.errstate(all="ignore"):  # NaN and inf are answers
            return np.where(self.visible[at][keys, None], self.weights[at][keys, None] * value, 0.0)

    def _sink(self, at: tuple[int, ...], head: int) -> dict[str, Any] | None:
        if self.sinks is None or self.sink_weight is None:
            return None
        logit = np.float64(self.sinks[head])
        shift = self.row_max[at] if self.row_max[at] > -np.inf else 0.0
        with np.errstate(all="ignore"):  # exp may overflow, and shows it
            return {
                "logit": logit,
                "exp": np.exp(logit),
                "shifted_exp": np.exp(logit - shift),
                "weight": self.sink_weight[at],
            }

    def _rest(
        self, at: tuple[int, ...], keys: IntArray, value: Array | None
    ) -> dict[str, Any] | None:
        others = np.ones(self.weights.shape[-1], bool)
        others[keys] = False
        if not others.any():
            return None
        seen = others & self.visible[at]
        contribution = None
        if value is not None:
            with np.errstate(all="ignore"):  # NaN and inf are answers
                contribution = self.weights[at][seen] @ value[seen].astype(np.float64)
        return {
            "count": others.sum(),
            "visible": seen.sum(),
            "exp": self.exp[at][others].sum(),
            "shifted_exp": self.shifted_exp[at][others].sum(),
            "weight": self.weights[at][others].sum(),
            "contribution": contribution,
        }


_BY_KEY = (
    "visible", "products", "scaled", "capped", "bias", "scores", "exp", "shifted_exp", "weights",
)  # fmt: skip
_MOST_LEDGERS = 16
MOST_KEYS = 8  # of one row, where nobody says how many


def trace_rows(
    problem: Problem,
    rows: Any,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
) -> Trace:
    """Compute the trace of `rows`; see `softlookup.Lookup.trace`."""
    chosen = pick(rows, problem.q_len, "rows")
    cells = problem.batch * problem.heads * len(chosen) * problem.kv_len
    if cells > _MOST_CELLS and cells > problem.kv_len:
        raise OptionError(
            "rows",
            f"must leave a trace of at most {_MOST_CELLS:,} cells; {len(chosen)} rows of "
            f"{problem.batch * problem.heads} heads over {problem.kv_len} keys are {cells:,}. "
            "Choose fewer rows, e.g. rows=[0], or one head, look.head(...).",
        )
    problem = problem.in_memory(chosen)
    texts = given_axes(tokens, key_tokens, problem.q_len, problem.kv_len)
    made = steps(problem, chosen)
    shaped = {
        name: None if array is None else problem.restore(array)
        for name, array in made._asdict().items()
    }
    position = None
    if problem.q_offset is not None:
        position = (problem.q_offset[:, None] + chosen).reshape(*problem.batch_shape, len(chosen))
    return Trace(
        rows=chosen,
        position=position,
        texts=texts,
        query=problem.restore(problem.query[:, :, chosen]),
        key=problem.restore(problem.key),
        value=None if problem.value is None else problem.restore(problem.value),
        scale=problem.scale,
        softcap=problem.softcap,
        sinks=problem.sinks,
        problem=problem,
        **shaped,  # type: ignore[arg-type]
    )


def to_json(thing: Any) -> Any:
    """Return `thing` as JSON can carry it: plain numbers, non-finite ones as texts.

    Examples
    --------
    >>> to_json({"weights": np.array([0.5, np.inf])})
    {'weights': [0.5, 'Infinity']}
    """
    if isinstance(thing, dict):
        return {name: to_json(part) for name, part in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [to_json(part) for part in thing]
    if isinstance(thing, np.ndarray):
        return to_json(thing.tolist())
    if isinstance(thing, np.generic):
        return to_json(thing.item())
    if isinstance(thing, float) and not np.isfinite(thing):
        return "NaN" if np.isnan(thing) else "Infinity" if thing > 0 else "-Infinity"
    return thing
