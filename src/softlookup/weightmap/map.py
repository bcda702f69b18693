"""WeightMap: what may be asked of the weights of one head, at every size of cell."""

import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.arrays import MEMORY, Array, BoolArray
from softlookup.errors import DtypeError, OptionError
from softlookup.pooling import BAND
from softlookup.problem import Problem
from softlookup.reference import steps
from softlookup.weightmap import files, rectangles
from softlookup.weightmap.answers import Block, Estimate, Link, MapTile, Received, Row
from softlookup.weightmap.bands import Bands
from softlookup.weightmap.checks import (
    POOLS,
    check_integer,
    check_one_head,
    check_pools,
    check_seconds,
    check_span,
    duration,
)
from softlookup.weightmap.search import Rectangle
from softlookup.weightmap.tiles import tile

if TYPE_CHECKING:
    from softlookup.lookup import Lookup

LIMIT = 2**30
_STEP = 0.2
_MOST_CELLS = 2**26
_NO_LIMIT = 2**62
_MOST_LINKS = 2**20
_MOST_SECONDS = 3600
_ROWS, _ROW_KEYS = 8, 2**21  # that are kept: so many, and of so many keys together


class WeightMap:
    """The weights of one head, pooled exactly into levels; see `softlookup.Lookup.map`.

    A cell of level L is a square of ``2**L`` by ``2**L`` weights, aligned to absolute positions:
    queries ``i * 2**L`` on, keys ``j * 2**L`` on. Level 0 is single weights; at the last level
    everything is one cell. Levels from 5 on are stored, finer ones computed where they are looked
    at. ``max`` is the largest weight of a cell; ``share`` its weights summed over the keys and
    averaged over the queries, so that a row of shares sums to 1 (less the sink's part) at every
    level.

    A map is of the arrays as they were: they must not be changed while it is used, and `save`
    refuses where they were.

    Attributes
    ----------
    shape : tuple of int
        (q_len, kv_len).
    pools : tuple of str
        What is kept of each cell.
    levels : range
        0 ... the last.
    bytes : int
        What the whole map takes in memory.
    by : str
        The backend and the dtype of the numbers, e.g. ``"cpu, float32"``.
    done, of : int
        How many bands of 32 queries are computed, and how many there are.
    lse, entropy : ndarray of shape (q_len,)
        Of each query, NaN until it is computed; read-only.
    known_rows : ndarray of bool of shape (q_len,)
        Which queries are computed.
    received : Received or None
        What each key receives, where that was worked out and put here; `save` keeps it.
    """

    def __init__(
        self,
        problem: Problem,
        backend: str = "auto",
        *,
        pools: Any = POOLS,
        limit: Any = LIMIT,
    ) -> None:
        check_one_head(problem)
        self.pools, self.limit = check_pools(pools), check_integer(limit, "limit", 0)
        self.shape = problem.q_len, problem.kv_len
        self.levels = range(max(max(self.shape) - 1, 0).bit_length() + 1)
        self._bands = Bands(replace(problem, value=None), backend, self.levels[-1], self.pools)
        self._bands.stored = self.bytes <= self.limit
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self.received: Received | None = None

    def __repr__(self) -> str:
        q_len, kv_len = self.shape
        return (
            f"WeightMap({q_len} x {kv_len}, levels 0 ... {self.levels[-1]}, "
            f"{' and '.join(self.pools)}, {self.done} of {self.of} bands, {self.by})"
        )

    @property
    def bytes(self) -> int:
        """What the whole map takes in memory."""
        return self._bands.bytes

    @property
    def by(self) -> str:
        """The backend and the dtype of the numbers."""
        return self._bands.by

    @property
    def done(self) -> int:
        """How many bands of 32 queries are computed."""
        return int(np.count_nonzero(self._bands.done))

    @property
    def of(self) -> int:
        """How many bands there are."""
        return len(self._bands.done)

    @property
    def lse(self) -> Array:
        """The log-sum-exp of each query, NaN until it is computed."""
        return _read_only(self._bands.lse)

    @property
    def entropy(self) -> Array:
        """The entropy of each query in nats, NaN until it is computed."""
        return _read_only(self._bands.entropy)

    @property
    def known_rows(self) -> BoolArray:
        """Which queries are computed."""
        return np.repeat(self._bands.done, BAND)[: self.shape[0]]

    @property
    def refused(self) -> str | None:
        """Why the whole map is not built: it takes more than `limit`; None where it does not."""
        if self._bands.stored:
            return None
        return str(self._too_large())

    def estimate(self) -> Estimate:
        """Return how long the rest takes, and what the whole map takes in memory.

        Where nothing is computed yet, a few queries are, to know how fast it goes.
        """
        return Estimate(self._bands.seconds_left(), self.bytes)

    def build(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Compute all that is not.

        Parameters
        ----------
        progress : callable, optional
            Called after each step with `done` and `of`. What it raises ends the work and leaves the
            map as far as it got; `build` goes on from there.

        Raises
        ------
        OptionError
            Where the map takes more memory than `limit`.
        """
        finished = False
        while not finished:
            finished = self.step(_STEP)
            if progress is not None:
                progress(self.done, self.of)

    def step(self, seconds: float = _STEP) -> bool:
        """Compute for about `seconds`, spread evenly over the picture; return whether all is done.

        Raises
        ------
        OptionError
            Where the map takes more memory than `limit`.
        """
        if not self._bands.stored:
            raise self._too_large()
        return self._bands.work(check_seconds(seconds))

    def prepare(self, rows: Any, seconds: float = _STEP) -> bool:
        """Compute what weights of some queries need, for about `seconds`; return whether it is.

        Parameters
        ----------
        rows : slice or int
            Neighbouring queries.
        """
        some = check_span(rows, "rows", self.shape[0])
        return self._bands.prepare(some, check_seconds(seconds))

    def tile(self, level: int, i: int, j: int, size: int = 256, *, compute: bool = True) -> MapTile:
        """Return cells ``i * size`` on by ``j * size`` on of a level, cut at the edges.

        Levels up to 4 need no more of the map than their own queries.

        Parameters
        ----------
        level : int
            One of `levels`.
        i, j : int
            Which tile, along the queries and along the keys.
        size : int, default 256
            How many cells a side, 1 ... 4096.
        compute : bool, default True
            Up to level 4: whether queries that are not known yet are computed first, and kept;
            see `prepare`. Where not, their cells hold NaN, as what is not built from level 5 on.

        Returns
        -------
        MapTile

        Raises
        ------
        OptionError
            Where there is no such tile.
        """
        level = check_integer(level, "level", 0, self.levels[-1])
        size = check_integer(size, "size", 1, 4096)
        spans = []
        for argument, given, length, along in zip(
            "ij", (i, j), self.shape, ("queries", "keys"), strict=True
        ):
            cells = -(-length // 2**level)
            tiles = f", the tiles of {size} cells a side that level {level} has along its {along}"
            at = check_integer(given, argument, 0, max(-(-cells // size) - 1, 0), tiles)
            spans.append(slice(at * size, min((at + 1) * size, cells)))
        return tile(self._bands, level, *spans, compute=compute)

    def level(self, level: int) -> MapTile:
        """Return the whole of a level; from level 5 on NaN where nothing is built.

        Raises
        ------
        OptionError
            Where it has more than 67,108,864 cells.
        """
        level = check_integer(level, "level", 0, self.levels[-1])
        rows, columns = (-(-length // 2**level) for length in self.shape)
        if rows * columns > _MOST_CELLS:
            raise OptionError(
                "level",
                f"must have at most {_MOST_CELLS:,} cells; level {level} has {rows:,} x "
                f"{columns:,}. Take a coarser one, or tiles.",
            )
        return tile(self._bands, level, slice(0, rows), slice(0, columns), compute=True)

    def row(self, query: int) -> Row:
        """Return all scores and weights of one query, float64 as in `trace`; the last are kept."""
        query = check_integer(query, "query", 0, self.shape[0] - 1)
        if query not in self._rows:
            problem, place = self._bands.problem, query
            if problem.place != MEMORY:  # what a row needs is brought, and no more
                problem, place = problem.one_row(query).in_memory(), 0
            made = steps(problem, np.array([place]))
            scores, sees, weights = (
                _read_only(part[0, 0, 0]) for part in (made.scores, made.visible, made.weights)
            )
            self._rows[query] = Row(scores, sees, weights, float(made.lse[0, 0, 0]))
            most = min(_ROWS, max(_ROW_KEYS // max(self.shape[1], 1), 1))
            while len(self._rows) > most:
                self._rows.popitem(last=False)
        self._rows.move_to_end(query)
        return self._rows[query]

    def at(self, query: int, key: int) -> float:
        """Return one weight in float64, as in `trace`."""
        key = check_integer(key, "key", 0, self.shape[1] - 1)
        return float(self.row(query).weights[key])

    def block(self, rows: Any = None, keys: Any = None) -> Block:
        """Return the strongest weight of a rectangle, its place, its share and what is visible.

        Parameters
        ----------
        rows, keys : slice or int, optional
            Neighbouring queries and keys; default all.

        Raises
        ------
        OptionError
            As `strongest`.
        """
        where = self._rectangle(rows, keys)
        share = rectangles.share(self._bands, where)
        links = [] if np.isnan(share) else rectangles.strongest(self._bands, where, 1)
        best = links[0] if links else Link(-1, -1, float("nan") if np.isnan(share) else 0.0)
        seen = rectangles.seen(self._bands, where)
        return Block(best.weight, best.query, best.key, share, seen)

    def strongest(
        self, rows: Any = None, keys: Any = None, k: int = 1, *, so_far: bool = False
    ) -> list[Link]:
        """Return the `k` largest weights of a rectangle, falling; fewer where fewer are above 0.

        Exact: cells are opened, best first, until none can hold a larger weight. NaN takes no part.
        Which of several that differ by less than a rounding of float32 come last may depend on the
        order of cells.

        Parameters
        ----------
        rows, keys : slice or int, optional
            Neighbouring queries and keys; default all.
        k : int, default 1
        so_far : bool, default False
            Only of those queries that `known_rows` names: nothing is computed for it.

        Returns
        -------
        list of Link

        Raises
        ------
        OptionError
            Where what is not yet computed takes more than 17,179,869,184 weights.
        """
        where = self._rectangle(rows, keys)
        search = rectangles.strongest_so_far if so_far else rectangles.strongest
        return search(self._bands, where, check_integer(k, "k", 1, _MOST_LINKS))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map, as far as it is built, as a ``.safetensors`` file.

        Raises
        ------
        FileError
            Where it cannot be written.
        OptionError
            Where it takes more than `limit`, so that there is nothing to write; where the arrays
            have changed since the first of it was computed.
        """
        if not self._bands.stored:
            raise self._too_large()
        files.write(self._bands, path, self.received)

    @classmethod
    def open(cls, path: str | os.PathLike[str], look: "Lookup | None" = None) -> "WeightMap":
        """Return the map of `look` that was saved in a file; its arrays stay in the file.

        One that was saved half built goes on with `build`, which leaves the file as it is.

        Raises
        ------
        FileError
            Where it is damaged, no map, or the map of another lookup.
        DtypeError
            Where `look` is no lookup, or left out.
        """
        if look is None or not isinstance(getattr(look, "problem", None), Problem):
            raise DtypeError(
                "look",
                f"must be a Lookup; got {type(look).__name__}. Pass the one that the map was made "
                "of, e.g. capture.lookup(layer, head).",
            )
        manifest, tensors = files.read(path)
        opened = cls(look.problem, look.backend, pools=manifest["pools"], limit=_NO_LIMIT)
        files.fill(opened._bands, manifest, tensors, path)
        opened.received = files.received(opened.shape, manifest, tensors, path)
        return opened

    def _too_large(self) -> OptionError:
        q_len, kv_len = self.shape
        seconds = self._bands.seconds_left()
        return OptionError(
            "limit",
            f"must hold the whole map; it has {self.limit:,} bytes, and {q_len:,} x {kv_len:,} "
            f"weights take {self.bytes:,} and {duration(seconds)}. Raise limit, or pass "
            "build=False: tiles up to level 4 work at once.",
        )

    def _rectangle(self, rows: Any, keys: Any) -> Rectangle:
        q_len, kv_len = self.shape
        return Rectangle(check_span(rows, "rows", q_len), check_span(keys, "keys", kv_len))


def check_buildable(look_map: WeightMap) -> None:
    """Refuse to build at once what takes very long."""
    seconds = look_map.estimate().seconds
    if seconds > _MOST_SECONDS:
        q_len, kv_len = look_map.shape
        raise OptionError(
            "build",
            f"must be False where the whole takes over {_MOST_SECONDS / 60:.0f} minutes; "
            f"{q_len:,} x {kv_len:,} weights take {duration(seconds)} here. Then call step() or "
            "build() of the map, which may be stopped and go on.",
        )


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
