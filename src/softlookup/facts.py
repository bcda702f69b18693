"""Facts: what is asked of a lookup beside its output, checked once, and what a backend returns.

`received` is a sum over rows and needs their final state, so it takes a second pass; every other
fact is counted beside the output, as a `Tally`.
"""

from math import prod
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray, as_integers, as_ndarray
from softlookup.errors import DtypeError, OptionError, ShapeError
from softlookup.options import check_flag, check_q_offset
from softlookup.partials import RowFacts
from softlookup.problem import Problem, pick, too_large
from softlookup.tallies import Wanted

MOST_GROUPS = 256
_MOST_TOP = 2**31 - 1
_UNTHINKABLE = 2**59  # cells that NumPy cannot even refuse as memory


class Facts(NamedTuple):
    """What is asked of a lookup beside its output and lse, over the axes of a `Problem`.

    Attributes
    ----------
    entropy, sink, max_score, received, normalised : bool
    top : int
        How many of the best keys; 0 for none.
    from_rows : ndarray of bool of shape (batch, q_len) or None
        Whose reading counts as received; None for all rows.
    labels : ndarray of int of shape (batch or 1, kv_len) or None
        The group of each key; negative for none.
    bins : int or None
        Number of bins of distance; None where not asked.
    kinds : int or None
        Number of groups, where the labels are those of some keys alone.
    """

    entropy: bool = False
    sink: bool = False
    max_score: bool = False
    top: int = 0
    received: bool = False
    from_rows: BoolArray | None = None
    normalised: bool = False
    labels: IntArray | None = None
    bins: int | None = None
    kinds: int | None = None

    @property
    def groups(self) -> int:
        """Number of groups: the largest label and one."""
        if self.kinds is not None:
            return self.kinds
        return 0 if self.labels is None else int(self.labels.max(initial=-1)) + 1

    @property
    def tallied(self) -> bool:
        """Whether a part of the lookup has to keep anything for them."""
        asked = self.entropy or self.max_score or self.top > 0
        return asked or self.labels is not None or self.bins is not None


NO_ROW_FACTS = RowFacts()


NO_FACTS = Facts()


class Findings(NamedTuple):
    """What a backend returns: the answer and its facts, with (batch, heads, ...) in front.

    Attributes
    ----------
    out, lse
        (batch, heads, q_len, value_dim) and (batch, heads, q_len).
    rows : RowFacts
        Over (batch, heads, q_len).
    received : ndarray of float64 of shape (batch, heads, kv_len) or None
        Sum of the weights over the rows asked for.
    readers : ndarray of int64 of shape (batch, heads, kv_len) or None
        How many of those rows may see the key.
    """

    out: Array
    lse: Array
    rows: RowFacts = NO_ROW_FACTS
    received: Array | None = None
    readers: IntArray | None = None


def build_facts(
    problem: Problem,
    *,
    entropy: Any = False,
    sink: Any = False,
    max_score: Any = False,
    top: Any = None,
    received: Any = False,
    from_rows: Any = None,
    normalised: Any = False,
    groups: Any = None,
    distance: Any = False,
) -> Facts:
    """Check everything that can be wrong with what is asked, and return it in one form.

    Raises
    ------
    ShapeError, OptionError, DtypeError
        One sentence with the real numbers and the next step; `.argument` names the culprit.
    """
    share, counted = check_flag(sink, "sink"), check_flag(received, "received")
    divided = check_flag(normalised, "normalised")
    if share and problem.sinks is None:
        raise OptionError(
            "sink",
            "must be asked of a lookup with sinks; this one has none. Pass sinks= to Lookup, or "
            "leave it out.",
        )
    for argument, given in (("from_rows", from_rows is not None), ("normalised", divided)):
        if given and not counted:
            raise OptionError(
                argument,
                "must come with received=True, which it shapes; got received=False. Ask for both.",
            )
    return Facts(
        entropy=check_flag(entropy, "entropy"),
        sink=share,
        max_score=check_flag(max_score, "max_score"),
        top=0 if top is None else _check_top(top, problem),
        received=counted,
        from_rows=None if from_rows is None else _check_rows(from_rows, problem),
        normalised=divided,
        labels=None if groups is None else _check_labels(groups, problem),
        bins=_count_bins(problem) if check_flag(distance, "distance") else None,
    )


def _check_top(top: Any, problem: Problem) -> int:
    if isinstance(top, (bool, np.bool_)) or not isinstance(top, (int, np.integer)):
        raise DtypeError("top", f"must be an integer; got {top!r}. It counts keys, e.g. top=8.")
    if not 1 <= top <= _MOST_TOP:
        raise OptionError(
            "top", f"must lie in 1 ... {_MOST_TOP}; got {top}. Leave it out to ask for no keys."
        )
    shape = (problem.batch, problem.heads, problem.q_len, int(top))
    if prod(shape) >= _UNTHINKABLE:
        raise too_many(shape, problem)
    return int(top)


def too_many(shape: tuple[int, ...], problem: Problem) -> OptionError:
    """Return the error for best keys of `shape`, with positions and weights."""
    each = 8 + problem.compute_dtype.itemsize
    return too_large("top", shape, each, "keys", "Ask for fewer.")


def _check_rows(from_rows: Any, problem: Problem) -> BoolArray:
    """Return flags (batch, q_len)."""
    q_len, rows = problem.q_len, from_rows
    if not isinstance(rows, (slice, range)):
        rows = np.atleast_1d(as_ndarray(from_rows, "from_rows"))
        each = (*problem.batch_shape, q_len)
        if rows.dtype == np.bool_ and rows.shape == each:
            return np.array(rows).reshape(problem.batch, q_len)
        if rows.dtype == np.bool_ and rows.shape != (q_len,):
            or_each = f" or {each}" if problem.batch_shape else ""
            raise ShapeError(
                "from_rows",
                f"must hold one bool for each query, shape ({q_len},){or_each}; got "
                f"{rows.shape}. Or pass positions, e.g. from_rows=[0].",
            )
    chosen = np.zeros((problem.batch, q_len), bool)
    chosen[:, pick(rows, q_len, "from_rows")] = True
    return chosen


def _check_labels(groups: Any, problem: Problem) -> IntArray:
    """Return labels (1, kv_len), or (batch, kv_len) where given for each batch entry."""
    kv_len, array = problem.kv_len, as_ndarray(groups, "groups")
    each = (*problem.batch_shape, kv_len)
    shape, meaning = (each, "one label for each key of the batch,")
    if array.ndim <= 1 or not problem.batch_shape:
        shape, meaning = ((kv_len,), "one label for each key,")
    labels = as_integers(array, "groups", shape, meaning)
    if labels.size and labels.max() >= MOST_GROUPS:
        raise OptionError(
            "groups",
            f"must be labels below {MOST_GROUPS}, negative for none; got {labels.max()}. "
            "Number the groups from 0, and merge some where there are more.",
        )
    return labels.reshape(1 if len(shape) == 1 else problem.batch, kv_len)


def _count_bins(problem: Problem) -> int:
    """Return the number of bins up to the largest distance of the call, hidden pairs included."""
    offsets = problem.q_offset
    if offsets is None:
        offsets = check_q_offset(
            None,
            problem.batch_shape,
            q_len=problem.q_len,
            kv_len=problem.kv_len,
            asked="distance",
            padded=problem.kv_lens is not None,
        )
    if offsets is None or not (offsets.size and problem.q_len and problem.kv_len):
        return 0
    first, last = int(offsets.min()) - (problem.kv_len - 1), int(offsets.max()) + problem.q_len - 1
    return max(abs(first), abs(last)).bit_length() + 1


def bin_ranges(bins: int) -> tuple[tuple[int, int], ...]:
    """Return the smallest and the largest distance of each bin.

    Examples
    --------
    >>> bin_ranges(4)
    ((0, 0), (1, 1), (2, 3), (4, 7))
    """
    return tuple((2**n // 2, 2**n - 1) for n in range(bins))


def room_for(problem: Problem, facts: Facts) -> RowFacts:
    """Return arrays (batch, heads, q_len, ...) for the facts of rows that are asked for."""
    if not (facts.tallied or facts.sink):
        return NO_ROW_FACTS
    rows, dtype = (problem.batch, problem.heads, problem.q_len), problem.compute_dtype
    return RowFacts(
        np.empty(rows, dtype) if facts.entropy else None,
        np.empty(rows, dtype) if facts.sink else None,
        np.empty(rows, dtype) if facts.max_score else None,
        np.empty((*rows, facts.top), np.int64) if facts.top else None,
        np.empty((*rows, facts.top), dtype) if facts.top else None,
        None if facts.labels is None else np.empty((*rows, facts.groups), dtype),
        None if facts.bins is None else np.empty((*rows, facts.bins), dtype),
    )


def wanted(
    facts: Facts, problem: Problem, batch: slice, rows: IntArray, keys: slice
) -> Wanted | None:
    """Return what a part over `rows` and `keys` keeps; None where that is nothing.

    Leading axes of what is returned broadcast against (batch, kv_heads, group, rows).
    """
    if not facts.tallied:
        return None
    first, length = keys.start, keys.stop - keys.start
    members = starts = None
    if facts.labels is not None:
        labels = facts.labels[batch if len(facts.labels) > 1 else slice(None), None, None, keys]
        members = (labels[..., None] == np.arange(facts.groups)).astype(problem.compute_dtype)
    if facts.bins is not None:
        edges = _bin_edges(facts.bins)
        starts = np.zeros((1, 1, 1, 1, len(edges)), np.int64)
        if len(edges) and problem.q_offset is not None:
            position = rows + problem.q_offset[batch, None]  # (batch, rows)
            starts = np.clip(position[:, None, None, :, None] + (edges - first), 0, length)
    return Wanted(facts.entropy, facts.max_score, facts.top, first, members, starts)


def _bin_edges(bins: int) -> IntArray:
    """Return where bins begin, seen from the row's position: far left ... near left, 0, right."""
    lows = [low for low, _ in bin_ranges(bins)]
    highs = [high for _, high in bin_ranges(bins)]
    return np.array([-high for high in highs[:0:-1]] + lows, np.int64)
