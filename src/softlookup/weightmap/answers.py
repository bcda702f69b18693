"""What a weight map answers."""

from typing import NamedTuple

from softlookup.arrays import Array, BoolArray, IntArray


class MapTile(NamedTuple):
    """A rectangle of cells of one level.

    Attributes
    ----------
    max, share : ndarray of float32 of shape (rows, columns) or None
        Of each cell the largest weight, and its weights summed over the keys and averaged over the
        queries; None for a pool that was not asked for. 0 where hidden, NaN where a weight in it
        is, and where nothing is computed yet.
    seen : ndarray of bool of shape (rows, columns) or None
        Whether any pair of the cell is visible; None where all are.
    known : ndarray of bool of shape (rows, columns) or None
        Whether any query of the cell is computed; None where all are. A coarse cell of which only
        some are holds the largest and the average of those.
    whole : bool
        Whether every query of every cell is computed: these numbers will not change.
    """

    max: Array | None
    share: Array | None
    seen: BoolArray | None
    known: BoolArray | None
    whole: bool


class Link(NamedTuple):
    """One weight and its place."""

    query: int
    key: int
    weight: float


class Block(NamedTuple):
    """What there is to say of a rectangle of weights.

    Attributes
    ----------
    max : float
        The largest weight; NaN where any is.
    query, key : int
        Where it stands; -1 where none is above 0.
    share : float
        Weights summed over the keys and averaged over the queries.
    seen : int or bool
        How many pairs are visible; only whether any is, where a mask or a bias makes it a long
        count.
    """

    max: float
    query: int
    key: int
    share: float
    seen: int | bool


class Row(NamedTuple):
    """One query in float64, as in a trace; each of shape (kv_len,), lse the log-sum-exp."""

    scores: Array
    visible: BoolArray
    weights: Array
    lse: float


class Received(NamedTuple):
    """What each key receives of some queries; a view works it out, the map's file keeps it.

    Attributes
    ----------
    rows : ndarray of bool of shape (q_len,)
        Of which queries.
    seen : ndarray of int64 of shape (q_len,)
        How many keys each query sees.
    sums : ndarray of float64 of shape (kv_len,)
        The weights of these queries on each key, summed.
    readers : ndarray of int64 of shape (kv_len,)
        How many of these queries see each key.
    by : str
        The backend that computed the sums.
    """

    rows: BoolArray
    seen: IntArray
    sums: Array
    readers: IntArray
    by: str


class Estimate(NamedTuple):
    """What is left to do, in seconds, and what the whole map takes, in bytes."""

    seconds: float
    bytes: int
