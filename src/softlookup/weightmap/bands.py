"""The work of a weight map: bands of queries, computed in any order, in pieces of chosen length."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from softlookup.arrays import MEMORY, Array, BoolArray, IntArray, in_memory
from softlookup.backends import registry
from softlookup.facts import Facts
from softlookup.pooling import BAND, Normaliser, Pooled
from softlookup.problem import Problem
from softlookup.weightmap.identity import begun
from softlookup.weightmap.levels import Levels, cell_spans, row_spans

GROUP = 4  # bands that are computed together: kernels take their rows by 128
_GROUPS_AT_ONCE = 64  # of one call at most
_DEVICE_CALLS = 4  # that a backend is given at once which computes elsewhere than in memory
_DEVICE_BANDS = 256  # of each: fewer would leave it idle
_DEVICE_GROUPS = _DEVICE_CALLS * _DEVICE_BANDS // GROUP
_AT_ONCE = 0.15  # seconds of one call: so soon can work be stopped
_SHORTEST = 0.02
_MOST_BLOCKS = 2**22  # of one call: a backend returns whole rows of blocks
_OF_ROWS = ("shift", "factor", "lse", "entropy")


class Bands:
    """What is known of each band, and where what it gives is kept.

    Attributes
    ----------
    problem : Problem
        Of one head, without its value.
    backend : Backend
    spans : Spans
        What each query sees.
    levels : Levels
        Filled as bands are done, unless `stored` is false.
    done : ndarray of bool of shape (bands,)
    shift, factor, lse, entropy : ndarray of shape (q_len,)
        The latter two are NaN until their band is done.
    saved_by : str or None
        What computed what a file gave.
    """

    def __init__(self, problem: Problem, name: str, top: int, pools: tuple[str, ...]) -> None:
        self.problem = problem
        self.backend = registry.choose(problem, Facts(), name)
        self.spans = row_spans(problem)
        self.levels = Levels(problem, self.spans, top, pools)
        self.stored = True
        count = -(-problem.q_len // BAND)
        self.done: BoolArray = np.zeros(count, bool)
        self.merged: BoolArray = np.zeros(count, bool)
        self.shift, self.factor = np.zeros((2, problem.q_len), problem.compute_dtype)
        self.lse, self.entropy = np.full((2, problem.q_len), np.nan, problem.compute_dtype)
        base = cell_spans(self.spans, BAND, slice(0, problem.q_len))
        self.cost: IntArray = (base.stop - base.start + 1) * BAND**2  # weights of each band
        self._recent = np.zeros(2)  # weights and seconds, those of earlier calls fading
        self.saved_by: str | None = None
        self._identity: Callable[[], str] | None = None
        self._order = _spread(-(-count // GROUP))
        self._next = 0
        self._one = threading.RLock()  # of those who fill
        self._cold = problem.place != MEMORY  # what computes elsewhere prepares itself first

    @property
    def fingerprint(self) -> str | None:
        """Return that of the lookup when the first band was computed.

        None before, and where nothing is stored.
        """
        return None if self._identity is None else self._identity()

    @property
    def rate(self) -> float | None:
        """Return weights a second, by the last calls; None before the first."""
        weights, seconds = self._recent.tolist()
        return weights / max(seconds, 1e-6) if weights else None

    @property
    def by(self) -> str:
        """Return what computes, and what computed the levels where that was another."""
        own = by_whom(self.backend.NAME, self.problem)
        return own if self.saved_by in (None, own) else f"{own}; saved levels by {self.saved_by}"

    @property
    def bytes(self) -> int:
        """Return how much memory the map takes: its levels, and what is kept of each row."""
        rows = (self.shift, self.factor, self.lse, self.entropy, *self.spans)
        return self.levels.bytes + sum(array.nbytes for array in rows)

    def of(self, rows: slice) -> IntArray:
        """Return the bands that these rows lie in."""
        return np.arange(rows.start // BAND, -(-rows.stop // BAND) if rows.stop > rows.start else 0)

    def missing(self, rows: slice) -> IntArray:
        """Return those of their bands that are not done."""
        bands = self.of(rows)
        return bands[~self.done[bands]]

    def ensure(self, rows: slice) -> None:
        """Compute what is not known of these rows."""
        for bands in self.pieces(self.missing(rows)):
            self.compute(bands)

    def prepare(self, rows: slice, seconds: float) -> bool:
        """Compute for about so long what is not known of these rows; return whether all is."""
        until = time.perf_counter() + seconds
        missing = self.missing(rows)
        while missing.size:
            some = self._fitting(missing, min(seconds, _AT_ONCE))
            self.compute(some)
            missing = missing[len(some) :]
            if time.perf_counter() >= until:
                break
        return not missing.size

    def pieces(self, bands: IntArray) -> Iterator[IntArray]:
        """Yield `bands` in pieces of about one call's work."""
        start = 0
        while start < len(bands):
            some = self._fitting(bands[start:], _AT_ONCE)
            yield some
            start += len(some)

    def compute(self, bands: IntArray) -> Pooled:
        """Compute some bands and keep what they give; a band may be computed again."""
        with self._one:
            self._prepare_itself(bands)
            began = time.perf_counter()
            pooled = self.backend.pooled(self.problem, bands).in_memory()
            self._keep(bands, pooled, time.perf_counter() - began)
        return pooled

    def _compute_ahead(self, bands: IntArray) -> None:
        """Compute as `compute`; what computes elsewhere does the next ones while some are kept."""
        if self.problem.place == MEMORY:
            self.compute(bands)
            return
        with self._one:
            self._prepare_itself(bands)
            began = time.perf_counter()
            step = self._first()
            some = [bands[at : at + step] for at in range(0, len(bands), step)]
            on_their_way = [self.backend.pooled(self.problem, each).bringing() for each in some]
            for each, brought in zip(some, on_their_way, strict=True):
                pooled, until = brought(), time.perf_counter()
                self._keep(each, pooled, until - began)
                began = until

    def _prepare_itself(self, bands: IntArray) -> None:
        """Take note of the lookup as it is, and let what computes elsewhere compile its kernels."""
        if self.stored:
            self._identified()
        if self._cold:  # which tells nothing of how fast they are
            self.backend.pooled(self.problem, bands[:GROUP]).in_memory()
            self._cold = False

    def _keep(self, bands: IntArray, pooled: Pooled, seconds: float) -> None:
        rows = (bands[:, None] * BAND + np.arange(BAND)).reshape(-1)
        real = rows < self.problem.q_len
        rows = rows[real]
        self.shift[rows], self.factor[rows] = (part[real] for part in pooled.normaliser)
        self.lse[rows], self.entropy[rows] = pooled.lse[real], pooled.entropy[real]
        if self.stored:
            self.levels.allocate()
            self.levels.put(bands, pooled)
        self.done[bands] = True
        self._recent = self._recent / 2 + (max(float(self.cost[bands].sum()), 1.0), seconds)

    def identify(self) -> str:
        """Return the fingerprint of the lookup as it was when it was first asked for."""
        return self._identified()()

    def _identified(self) -> Callable[[], str]:
        if self._identity is None:
            self._identity = begun(self.problem)
        return self._identity

    def work(self, seconds: float) -> bool:
        """Compute for about so long, spread evenly over the rows; return whether all is done."""
        until = time.perf_counter() + seconds
        while True:
            with self._one:  # else another thread may leave nothing to wait for
                if self.done.all():
                    break
                left = until - time.perf_counter()
                some = self._fitting(self._waiting(), min(max(left, _SHORTEST), _AT_ONCE))
                self._compute_ahead(some)
            if time.perf_counter() >= until:
                break
        whole = bool(self.done.all())
        if whole:
            self.merge()
        return whole

    def merge(self) -> None:
        """Bring the coarser levels up to what is done; needed before they are read."""
        with self._one:
            fresh = np.flatnonzero(self.done & ~self.merged)
            if fresh.size and self.stored:
                self.levels.merge(fresh)
            self.merged[fresh] = True

    def seconds_left(self) -> float:
        """Return how long the rest takes; the dearest bands are tried where nothing is known yet.

        They count as done: nothing is computed twice.
        """
        if self.done.all():
            return 0.0
        if self.rate is None:
            at_once = self._first()
            last = max(-(-(len(self.cost) - at_once) // GROUP) * GROUP, 0)
            dearest = min(int(self.cost.argmax()) // GROUP * GROUP, last)
            self.compute(np.arange(dearest, min(dearest + at_once, len(self.cost))))
        return float(self.cost[~self.done].sum()) / (self.rate or 1.0)

    def tensors(self) -> dict[str, Array]:
        """Return all that a file keeps, by name."""
        rows = {name: getattr(self, name) for name in _OF_ROWS}
        return {"done": self.done, **rows, **self.levels.tensors()}

    def take(self, tensors: Mapping[str, Array], by: object) -> None:
        """Go on from the `tensors` of the same lookup, computed by a backend."""
        names = [by_whom(backend.NAME, self.problem) for backend in registry.backends()]
        self.saved_by = by if isinstance(by, str) and by in names else None
        self.done, self.merged = tensors["done"].copy(), tensors["done"].copy()
        for name in _OF_ROWS:
            setattr(self, name, tensors[name])
        self.levels.take(tensors, self.done)

    def normaliser(self, rows: slice) -> Normaliser:
        """Return that of some rows, which must be known."""
        return Normaliser(self.shift[rows], self.factor[rows])

    def exact(self, rows: slice, keys: slice) -> Array:
        """Return the weights of a rectangle of known rows."""
        return self.cells(rows, keys, 1)[0]

    def cells(self, rows: slice, keys: slice, size: int) -> tuple[Array, Array]:
        """Return the largest weight and the sum of each block of known rows, in memory."""
        most, total = self.backend.cells(self.problem, rows, keys, size, self.normaliser(rows))
        here = in_memory(most)
        return here, here if total is most else in_memory(total)

    def alive(self, rows: slice) -> bool:
        """Return whether any of these rows has weights other than NaN and 0."""
        factor = self.factor[rows]
        return bool((np.isfinite(factor) & (factor > 0)).any())

    def _waiting(self) -> IntArray:
        """Return the bands that are not done, in the order in which they are computed."""
        count = len(self.done)
        step = _GROUPS_AT_ONCE if self.problem.place == MEMORY else _DEVICE_GROUPS
        while True:
            some = self._order[self._next : self._next + step]
            bands = (some[:, None] * GROUP + np.arange(GROUP)).reshape(-1)
            waiting: IntArray = bands[bands < count]
            waiting = waiting[~self.done[waiting]]
            if waiting.size:
                return waiting
            self._next = self._next + step if self._next + step < len(self._order) else 0

    def _first(self) -> int:
        """Return how many bands are computed together where nothing is known of their speed."""
        if self.problem.place == MEMORY:
            return GROUP
        blocks = -(-self.problem.kv_len // BAND)
        return max(min(_DEVICE_BANDS, _MOST_BLOCKS // max(blocks, 1) // GROUP * GROUP), GROUP)

    def _fitting(self, bands: IntArray, seconds: float) -> IntArray:
        """Return the first of `bands` that take about so long together: one group at least."""
        if self.rate is None:
            return bands[: self._first()]
        blocks = -(-self.problem.kv_len // BAND)
        at_once = 1 if self.problem.place == MEMORY else _DEVICE_CALLS
        bands = bands[: max(at_once * _MOST_BLOCKS // max(blocks, 1), GROUP)]
        most = int(np.searchsorted(np.cumsum(self.cost[bands]), self.rate * seconds, side="right"))
        return bands[: max(most // GROUP * GROUP, GROUP)]


def by_whom(name: str, problem: Problem) -> str:
    """Return how a backend and its numbers are named."""
    return f"{name}, {problem.compute_dtype}"


def _spread(count: int) -> IntArray:
    """Return 0 ... count - 1 such that the first so many, however many, lie evenly."""
    bits = max(count - 1, 0).bit_length()
    number, turned = np.arange(2**bits), np.zeros(2**bits, np.int64)
    for _ in range(bits):
        turned, number = turned << 1 | (number & 1), number >> 1
    return turned[turned < count]
