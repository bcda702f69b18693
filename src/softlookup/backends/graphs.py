"""The tasks of a lookup over chunks, and the dask arrays that stand for what they compute.

A task is named by what it computes: the same lookup of the same arrays has the same names. The
parts of a chunk of queries are merged in the order of their keys. The first piece begins: it merges
its own. Of the others as many go into one task as are small together. One that has several parts is
larger than the state so far: it does not travel, unless it is small, the state comes to it.

What is no more than another view of one chunk is done by the piece itself. So is reading a chunk of
keys, where it stands in a file: it neither travels nor waits on a worker, and memory does not grow
with the number of keys. Chunks of queries are read once, each is for all keys.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from softlookup.arrays import IntArray
from softlookup.backends import shards
from softlookup.backends.cutting import cut
from softlookup.backends.pieces import STATE_KEYS
from softlookup.errors import ShapeError
from softlookup.facts import Facts
from softlookup.pooling import BAND
from softlookup.problem import Problem

FILE = "softlookup-file-"  # how the names of arrays in files begin
_AT_ONCE, _SMALL = 2**24, 2**22  # bytes of parts that one task merges; of such as are several

Rows = tuple[int, int, int]  # which chunk of the batch, the heads and the queries


class Graph:
    """The tasks of a lookup while they are made; they are named by what they compute."""

    def __init__(self, problem: Problem, facts: Facts, what: str, *given: Any) -> None:
        from dask.base import tokenize  # noqa: PLC0415 (whoever holds dask arrays has it)

        self.cut, self.asked = cut(problem), facts
        p: Any = self.cut.problem  # its arrays are dask's
        laid = [None if each is None else (each.array.name, each.entry)
                for each in (self.cut.mask, self.cut.bias)]  # fmt: skip
        self.token = tokenize(
            what, p.query.name, p.key.name, None if p.value is None else p.value.name, laid,
            tuple(self.cut.options), p.q_offset, p.kv_lens, tuple(facts), given, problem.sinks,
        )  # fmt: skip
        self.tasks: dict[Any, Any] = {}
        self.sinks = self._cut_sinks()
        own = self._arrays(p.key, p.value)
        self.taken = _taken(p.query, read=False)
        for array in own:
            self.taken |= _taken(array, read=True)
        self.given = [_behind(array, self.taken) for array in (p.query, *own)]

    def _arrays(self, *some: Any) -> list[Any]:
        """Return those of some arrays, the mask and the bias that there are."""
        laid = [each.array for each in (self.cut.mask, self.cut.bias) if each is not None]
        return [array for array in some if array is not None] + laid

    def _cut_sinks(self) -> Any:
        sinks = self.cut.problem.sinks
        if sinks is None or isinstance(sinks, np.ndarray):
            return sinks
        return sinks.rechunk((self.cut.heads,))

    def add(self, name: str, at: tuple[Any, ...], function: Any, *given: Any) -> tuple[Any, ...]:
        """Add a task, and return its key; a given key of `refer` stands for what it computes."""
        return self.put((f"softlookup-{name}-{self.token}", *at), function, *given)

    def put(self, key: tuple[Any, ...], function: Any, *given: Any) -> tuple[Any, ...]:
        """Add a task under a key."""
        from dask._task_spec import Task  # noqa: PLC0415 (as above)

        if key not in self.tasks:
            self.tasks[key] = Task(key, function, *given)
        return key

    def blocks(self, at: tuple[int, int, int, int], *, with_value: bool = True) -> list[Any]:
        """Return what a piece reads: its chunks of query, key, value, mask and bias."""
        p: Any = self.cut.problem
        b, h, q, k = at
        value = p.value if with_value else None
        found = [self.taken[p.query.name, b, h, q, 0], self.taken[p.key.name, b, h, k, 0]]
        found.append(None if value is None else self.taken[value.name, b, h, k, 0])
        return found + [
            None if laid is None else self.taken[(laid.array.name, *laid.chunk(at))]
            for laid in (self.cut.mask, self.cut.bias)
        ]

    def end(self, at: Rows, rows: IntArray | None) -> tuple[Any, ...]:
        """Add what the answers of a chunk of queries, or of some of its rows, take."""
        (b, h, q), c, p = at, self.cut, self.cut.problem
        count = c.rows[q] if rows is None else len(rows)
        shape, which = (c.batch[b], c.heads[h], count), _named(at, rows)
        facts = c.facts(self.asked, b, None)
        state: list[Any] = []
        size = 0
        for k in c.seen(b, q):
            here = (b, h, q, k)
            options = c.options if state else c.options._replace(apart=False)
            part = self.add(
                "part",
                (*which, k),
                shards.gathered,
                options,
                c.facts(self.asked, b, k),
                c.place(here, rows),
                *self.blocks(here),
            )
            count = -(-c.keys[k] // STATE_KEYS) if options.apart else 1
            each = self._bytes(shape, facts, count)
            if len(state) > 1 and size + each > (_AT_ONCE if count == 1 else _SMALL):
                merged = self.add("merge", (*which, k), shards.merged, facts, *state)
                state, size = [refer(*merged)], 0
            state.append(refer(*part))
            size += each
        sinks = self.sinks
        if isinstance(sinks, np.ndarray):
            sinks = sinks[c.spans[1][h]]
        elif sinks is not None:
            sinks = refer(sinks.name, h)
        return self.add(
            "end", which, shards.ended, c.options, facts, shape, p.value_dim, sinks, *state
        )

    def _bytes(self, rows: Sequence[int], facts: Facts, count: int) -> int:
        """Return the bytes of so many parts of some rows."""
        p = self.cut.problem
        top = facts.top * (1 + 8 // p.compute_dtype.itemsize)
        width = p.value_dim + 4 + top + (facts.bins or 0) + facts.groups
        return prod(rows) * width * p.compute_dtype.itemsize * count

    def known(self, end: tuple[Any, ...]) -> Any:
        """Add what makes the weights of these rows, without their answers."""
        return refer(*self.add("known", end[1:], shards.known, refer(*end)))

    def weigh(
        self, key: Any, at: tuple[int, int, int, int], rows: IntArray, keys: IntArray, known: Any
    ) -> None:
        """Add a block of weights."""
        (b, h, q, k), c = at, self.cut
        if k not in c.seen(b, q):
            shape = (c.batch[b], c.heads[h], len(rows), len(keys))
            self.put(key, shards.zeros, shape, c.problem.compute_dtype)
            return
        given = (c.options, c.place(at, rows), keys, known, *self.blocks(at))
        self.put(key, shards.weighed, *given)

    def cells(self, at: tuple[int, int, int, int], ends: tuple[int, ...], known: Any) -> Any:
        """Add blocks of a rectangle of a piece."""
        given = (self.cut.options, self.cut.place(at), ends, known, *self.blocks(at))
        return self.add("cells", (*at, *ends), shards.celled, *given)

    def rows(self, ends: dict[Rows, Any], name: str, width: int | None, dtype: Any) -> Any:
        """Return one of the answers as an array (batch, heads, q_len), or with an axis more."""
        made, last = f"softlookup-{name}-{self.token}", () if width is None else (0,)
        graph = {(made, *at, *last): (shards.picked, refer(*end), name) for at, end in ends.items()}
        chunks = (self.cut.batch, self.cut.heads, self.cut.rows)
        return self.array(made, graph, chunks if width is None else (*chunks, (width,)), dtype)

    def received(self, ends: dict[Rows, Any]) -> tuple[Any, Any]:
        """Return what keys receive, and how many rows may see them where that is asked for."""
        c, facts = self.cut, self.asked
        counted = facts.normalised
        names = [f"softlookup-{name}-{self.token}" for name in ("received", "readers")]
        graphs: list[dict[Any, Any]] = [{}, {}]
        for b, h in product(range(len(c.batch)), range(len(c.heads))):
            totals = self._received(ends, b, h)
            for (k, size), (n, dtype) in product(
                enumerate(c.keys), enumerate((np.float64, np.int64))
            ):
                made: tuple[Any, ...] = (shards.zeros, (c.batch[b], c.heads[h], size), dtype)
                if k in totals:
                    made = (shards.one_of, refer(*totals[k]), n, dtype)
                graphs[n][names[n], b, h, k] = made
        chunks = (c.batch, c.heads, c.keys)
        sums = self.array(names[0], graphs[0], chunks, np.float64)
        return sums, self.array(names[1], graphs[1], chunks, np.int64) if counted else None

    def _received(self, ends: dict[Rows, Any], b: int, h: int) -> dict[int, Any]:
        """Add what chunks of keys receive from every chunk of queries, added up in order."""
        c, facts = self.cut, self.asked
        states: dict[int, list[Any]] = {}
        for q, span in enumerate(c.spans[2]):
            rows = facts.from_rows
            if rows is not None:
                rows = rows[c.spans[0][b], span]
                if not rows.any():
                    continue
            for k in c.seen(b, q):
                here, known = (b, h, q, k), self.known(ends[b, h, q])
                given = (c.options, c.place(here), rows, facts.normalised, known)
                part = self.add("receive", here, shards.received, *given,
                                *self.blocks(here, with_value=False))  # fmt: skip
                state = states.setdefault(k, [])
                state.append(refer(*part))
                if len(state) == 16:
                    state[:] = [refer(*self.add("sum", here, shards.summed, *state))]
        return {k: self.add("sum", (b, h, k, "whole"), shards.summed, *state)
                for k, state in states.items()}  # fmt: skip

    def array(self, name: str, graph: dict[Any, Any], chunks: Any, dtype: Any) -> Any:
        """Return a dask array of these tasks, which come after all others here."""
        import dask.array  # noqa: PLC0415 (as above)
        from dask._task_spec import Task  # noqa: PLC0415
        from dask.highlevelgraph import HighLevelGraph  # noqa: PLC0415

        own = {key: Task(key, *made) for key, made in graph.items()}
        whole = self.highlevel(name if not own else None)
        if own:
            layers = dict(whole.layers) | {name: own}
            before = dict(whole.dependencies) | {name: {f"softlookup-{self.token}"}}
            whole = HighLevelGraph(layers, before)
        return dask.array.Array(whole, name, chunks, dtype=dtype)

    def highlevel(self, name: str | None = None) -> Any:
        """Return all tasks behind those of the arrays that they read."""
        from dask.highlevelgraph import HighLevelGraph  # noqa: PLC0415 (as above)

        layer = name or f"softlookup-{self.token}"
        layers: dict[str, Any] = {layer: self.tasks}
        before: dict[str, set[str]] = {layer: set()}
        sinks = [] if self.sinks is None or isinstance(self.sinks, np.ndarray) else [self.sinks]
        own = [(each.dask, set(each.__dask_layers__())) for each in sinks]
        for graph, names in (*self.given, *own):
            layers |= graph.layers
            before |= graph.dependencies
            before[layer] |= names
        return HighLevelGraph(layers, before)

    def computed(self, keys: Sequence[Any]) -> Sequence[Any]:
        """Return what some tasks give, computed at once."""
        import dask  # noqa: PLC0415 (as above)
        from dask.delayed import Delayed  # noqa: PLC0415

        whole = self.highlevel()
        layer = f"softlookup-{self.token}"
        found: Sequence[Any] = dask.compute(*(Delayed(key, whole, layer=layer) for key in keys))
        return found

    def check_blocks(self) -> None:
        """Refuse chunks that a map's blocks do not fit into."""
        for argument, sizes in (("query", self.cut.rows), ("key", self.cut.keys)):
            if any(size % BAND for size in sizes[:-1]):
                raise ShapeError(
                    argument,
                    f"must be chunked at multiples of {BAND} along its length for a map; got "
                    f"chunks of {', '.join(map(str, sizes[:4]))} ... Use {argument}.rechunk(...).",
                )


def refer(*key: Any) -> Any:
    """Return what stands for the result of a task, among the arguments of another."""
    from dask._task_spec import TaskRef  # noqa: PLC0415 (whoever holds dask arrays has it)

    return TaskRef(key)


def _named(at: Rows, rows: IntArray | None) -> tuple[Any, ...]:
    return at if rows is None else (*at, len(rows), int(rows[0]) if rows.size else 0)


def _taken(array: Any, *, read: bool) -> dict[Any, Any]:
    """Return what stands for each chunk of an array among the arguments of a piece."""
    from dask.core import flatten  # noqa: PLC0415 (as above)

    layers = array.dask.layers
    return {key: _through(key, layers, read) for key in flatten(array.__dask_keys__())}


def _through(key: Any, layers: Mapping[str, Any], read: bool) -> Any:
    """Return the views of one chunk, one in the other, from where it is made, or read."""
    from dask._task_spec import Alias, DataNode, Task, TaskRef  # noqa: PLC0415 (as above)
    from dask.array.optimization import GETTERS  # noqa: PLC0415
    from dask.utils import M  # noqa: PLC0415

    if not isinstance(key, tuple):  # what others make an array of
        return TaskRef(key)
    task = layers.get(key[0], {}).get(key)
    if isinstance(task, Alias) and task.target[0] in layers:  # a slice that takes a whole chunk
        return _through(task.target, layers, read)
    if not isinstance(task, Task) or len(task.dependencies) != 1:
        return refer(*key)
    (before,) = task.dependencies
    if key[0].startswith(FILE):
        own = layers.get(before, layers[key[0]])  # after dask.optimize all stand in one layer
        if not read or before not in own:
            return refer(*key)
        held = own[before]
        held = held if isinstance(held, DataNode) else DataNode(before, held)
        return task.substitute({before: held})
    if task.func is not M.reshape and task.func not in GETTERS:
        return refer(*key)
    inner = _through(before, layers, read)
    whole = task.func is M.reshape or _is_whole(task.args[1])
    if isinstance(inner, TaskRef):
        return task.substitute({before: inner.key}) if whole else refer(*key)
    return task.substitute({before: inner}) if whole or not inner.dependencies else refer(*key)


def _is_whole(index: Any) -> bool:
    """Return whether an index adds axes, if anything."""
    return isinstance(index, tuple) and all(
        each is None or (isinstance(each, slice) and each == slice(None)) for each in index
    )


def _behind(array: Any, taken: Mapping[Any, Any]) -> tuple[Any, set[str]]:
    """Return the graph without the views of an array, and which of its layers pieces refer to."""
    from dask._task_spec import TaskRef  # noqa: PLC0415 (as above)
    from dask.core import flatten  # noqa: PLC0415

    some = [taken[key] for key in flatten(array.__dask_keys__())]
    before = [[each.key] if isinstance(each, TaskRef) else each.dependencies for each in some]
    names = {key[0] for keys in before for key in keys}
    if not names <= array.dask.layers.keys():
        names = set(array.__dask_layers__())
    return array.dask.cull_layers(names), names
