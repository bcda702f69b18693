"""The tasks of a lookup over chunks: what names them, what they read, how much they merge."""

import itertools

import dask
import dask.array as da
import numpy as np
import pytest
from chunking import drawn
from dask.callbacks import Callback

import softlookup as sl
from agreement import assert_same_bits
from softlookup.backends import blocked, cpu, graphs
from softlookup.backends.cutting import cut
from softlookup.backends.dask import pooled

ROWS, KEYS = 12, 20
core = pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")


@pytest.fixture(autouse=True, scope="module")
def _here():
    with dask.config.set(scheduler="synchronous"):
        yield


def look_of(**options):
    """Return a lookup over chunks; its arrays may be drawn anew."""
    shapes = {"query": (2, 2, 4, ROWS, 6), "key": (2, 2, 2, KEYS, 6), "value": (2, 2, 2, KEYS, 3)}
    arrays = [da.from_array(drawn(shape, seed=options.pop(name, n)), chunks=(1, 1, 2, 5, -1))
              for n, (name, shape) in enumerate(shapes.items())]  # fmt: skip
    return sl.Lookup(*arrays, **options)


MASK = drawn((2, 1, 1, ROWS, KEYS), seed=9) > 0
LOOKS = [
    {}, {"query": 7}, {"key": 7}, {"value": 7}, {"causal": True, "q_offset": 0}, {"scale": 2.0},
    {"causal": True, "q_offset": 3}, {"causal": True, "q_offset": np.array([[3, 3], [3, 4]])},
    {"window": (3, 2), "q_offset": 3}, {"window": (2, 3), "q_offset": 3}, {"softcap": 2.0},
    {"kv_lens": np.array([[9, 3], [9, 3]])}, {"kv_lens": np.array([[9, 3], [9, 4]])},
    {"mask": MASK}, {"mask": ~MASK}, {"mask": np.swapaxes(MASK, 0, 1)}, {"bias": MASK * 1.0},
    {"mask": da.from_array(MASK, name="given")}, {"mask": da.from_array(~MASK, name="another")},
    {"sinks": np.zeros(4)}, {"sinks": np.ones(4)}, {"sinks": da.ones(4)}, {"sinks": da.zeros(4)},
]  # fmt: skip
FACTS = [
    {"groups": np.arange(KEYS) % 3}, {"groups": np.arange(KEYS) % 3 - 1}, {"top": 2}, {"top": 3},
    {"received": True}, {"received": True, "from_rows": np.arange(3)},
    {"received": True, "from_rows": np.arange(4)}, {"received": True, "normalised": True},
    {"entropy": True}, {"max_score": True}, {"distance": True},
]  # fmt: skip


def test_all_that_differs_has_tasks_of_its_own():
    made = [look_of(**options) for options in LOOKS]
    names = [look.attend().name for look in made]
    names += [look_of(q_offset=0).inspect(**facts).lse.name for facts in FACTS]
    names += [made[0].weights(*some).name for some in ([[1]], [[2]], [[1], [2]], [[1], [3]])]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("seed", range(200))
def test_chunks_of_keys_have_tasks_where_a_query_may_see_one_of_them(seed):
    rng = np.random.default_rng(seed)
    batch, rows, keys = rng.integers(1, [4, 10, 31])
    sizes = [int(rng.integers(1, most + 1)) for most in (batch, rows, keys)]
    options = {}
    if seed % 2:
        options["kv_lens"] = rng.integers(0, keys + 1, batch)
    if seed % 3:
        left, right = (None if side > 9 else int(side) for side in rng.integers(0, 14, 2))
        options["q_offset"] = rng.integers(-12, 41, batch)
        options["window"], options["causal"] = (left, right), bool(seed % 4 > 1)
    shapes = (batch, 1, rows, 1), (batch, 1, keys, 1)
    sees = sl.Lookup(*(np.zeros(shape) for shape in shapes), **options).weights()[:, 0] > 0
    query, key = (da.zeros(shape, chunks=(sizes[0], 1, size, 1))
                  for shape, size in zip(shapes, sizes[1:], strict=True))  # fmt: skip
    found = cut(sl.Lookup(query, key, **options).problem)
    for (b, entries), (q, some) in itertools.product(
        enumerate(found.spans[0]), enumerate(found.spans[2])
    ):
        seen = found.seen(b, q)
        there = [k for k, span in enumerate(found.spans[3]) if sees[entries, some, span].any()]
        assert set(there) <= set(seen)
        if sizes[0] == 1:  # a window may begin behind the last key that is no padding
            assert there == list(seen) or (len(options) > 1 and not there and len(seen) == 1)


class Kept(Callback):
    """All that tasks return, by their keys, while it is open."""

    def __init__(self):
        self.results = {}

    def _posttask(self, key, result, dsk, state, worker_id):
        self.results[key] = result


def nbytes(part):
    """Return the size of a part."""
    tally = part.tally
    more = [] if tally is None else [tally.peak, tally.moments, tally.groups, tally.distance]
    best = () if tally is None or tally.best is None else tally.best
    return sum(each.nbytes for each in (*part[:4], *best, *more) if each is not None)


def tasks_of(array, name):
    """Return the tasks of that name behind an array, by their keys."""
    layers = array.dask.layers.values()
    return {key: task for layer in layers for key, task in layer.items()
            if str(key[0]).startswith(f"softlookup-{name}-")}  # fmt: skip


@core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [700, 4096, 3 * 4096])
@pytest.mark.parametrize("asked", [{}, {"top": 40}, {"groups": ...}, {"distance": True}], ids=str)
def test_a_task_merges_as_many_parts_as_are_small_together(dtype, length, asked, monkeypatch):
    keys = 11 * length - 3
    asked = {name: np.arange(keys) % 60 if x is ... else x for name, x in asked.items()}
    arrays = [drawn((n, 4), dtype, seed) for seed, n in enumerate((2, keys, keys))]
    query, *others = (da.from_array(x, chunks=(n, -1)) for x, n in
                      zip(arrays, (2, length, length), strict=True))  # fmt: skip
    look, held = sl.Lookup(query, *others, q_offset=keys), Kept()
    found = look.inspect(**asked)
    with held:
        whole = dask.compute(found, optimize_graph=False)[0]
    part = max(sum(map(nbytes, held.results[key])) for key in tasks_of(found.out, "part"))
    for limit, least, most in ((4.9 * part, 3, 5), (1, 1, 2)):
        monkeypatch.setattr(graphs, "_AT_ONCE", limit)
        monkeypatch.setattr(graphs, "_SMALL", limit)
        found = look.inspect(**asked)
        merges, ends = tasks_of(found.out, "merge"), tasks_of(found.out, "end")
        counts = [sum("-part-" in key[0] for key in task.dependencies)
                  for task in (*merges.values(), *ends.values())]  # fmt: skip
        assert sum(counts) == 11
        assert max(counts) <= most
        assert min(counts[: len(merges)]) >= least
        if length % 4096 == 0:
            assert_same_bits(dask.compute(found.out)[0], whole.out)


def test_what_many_chunks_of_rows_give_is_added_up_a_few_at_a_time():
    arrays = [drawn((2, 1, n, 5), seed=seed) for seed, n in enumerate((75, 30, 30))]
    from_rows = np.random.default_rng(4).random((2, 75)) > 0.5
    from_rows[:, 50:54] = False
    asked = {"received": True, "from_rows": from_rows, "normalised": True}
    whole = sl.Lookup(*arrays, causal=True, q_offset=-20, backend="blocked").inspect(**asked)
    query, key, value = (da.from_array(x, chunks=(1, 1, n, 5)) for x, n in
                         zip(arrays, (2, 11, 11), strict=True))  # fmt: skip
    found = sl.Lookup(query, key, value, causal=True, q_offset=-20).inspect(**asked)
    np.testing.assert_allclose(found.received.compute(), whole.received, atol=1e-13)
    sums = [len(task.dependencies) for task in tasks_of(found.received, "sum").values()]
    assert max(sums) == 16
    receive = tasks_of(found.received, "receive")
    places = {(key[3], key[4]) for key in receive}
    assert places == {(q, k) for q in range(38) for k in range(3)
                      if q not in (25, 26) and 2 * q - 19 >= 11 * k}  # fmt: skip


def test_what_no_row_sees_and_what_is_received_reads_no_more_than_it_needs():
    look = look_of(causal=True, q_offset=0)
    names = {each: getattr(cut(look.problem).problem, each).name for each in ("key", "value")}

    def readers(array, name, given):
        return sum(any(before[0] == names[given] for before in task.dependencies)
                   for task in tasks_of(array, name).values())  # fmt: skip

    weights, received = look.weights(), look.inspect(received=True).received
    assert readers(received, "receive", "value") == 0 < readers(received, "part", "value")
    assert readers(received, "receive", "key") == readers(received, "part", "value")
    assert readers(weights, "weights", "key") == readers(weights, "part", "key")
    assert 0 < readers(weights, "weights", "key") < len(tasks_of(weights, "weights"))


@pytest.mark.parametrize("bands", [[0, 2, 3], [1], [5, 0], [6, 4, 3, 1]], ids=str)
def test_any_bands_of_a_map_are_those_of_one_machine(bands):
    arrays = [drawn((n, 6), seed=seed) for seed, n in enumerate((200, 150))]
    mask = drawn((200, 150), seed=8) > 0.3
    query, key = (da.from_array(x, chunks=(n, 6)) for x, n in zip(arrays, (128, 64), strict=True))
    own, one = (sl.Lookup(*some, mask=mask).problem for some in ((query, key), arrays))
    found, whole = pooled(own, np.array(bands)), blocked.pooled(one, np.array(bands))
    for name in ("max", "total", "lse", "entropy"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(whole, name), atol=1e-13, err_msg=name
        )


@pytest.mark.parametrize("chunks", [4, (3, 1), (1, 1, 2)], ids=str)
def test_sinks_may_be_in_chunks_of_any_size(chunks):
    arrays = [drawn((4, n, 5), seed=seed) for seed, n in enumerate((7, 30, 30))]
    sinks = drawn(4, seed=3)
    whole = sl.attend(*arrays, sinks=sinks, backend="blocked")
    given = [da.from_array(x, chunks=(2, 9, 5)) for x in arrays]
    out = sl.attend(*given, sinks=da.from_array(sinks, chunks=(chunks,)))
    np.testing.assert_allclose(out.compute(), whole, atol=1e-13)


@core
@pytest.mark.parametrize(("chunks", "expected"), [
    ((8192, 9000), [1, 3]), ((4096, 4096), [1, 1]), ((5000, 9000, 8192), [1, 1, 1]),
], ids=str)  # fmt: skip
def test_parts_are_handed_on_one_by_one_where_chunks_begin_with_one(chunks, expected):
    query, key = drawn((2, 3)), drawn((sum(chunks), 3), seed=1)
    keys = da.from_array(key, chunks=(chunks, 3))
    look, held = sl.Lookup(da.from_array(query), keys, keys), Kept()
    out = look.attend()
    with held:
        out.compute(optimize_graph=False)
    assert [len(held.results[key]) for key in sorted(tasks_of(out, "part"))] == expected


@pytest.mark.parametrize("sizes", [(0, 7, 9), (2, 0, 9), (2, 7, 0)], ids=str)
def test_an_axis_of_no_length_makes_no_parts(sizes):
    batch, rows, keys = sizes
    arrays = [drawn((batch, 2, n, 5), seed=seed) for seed, n in enumerate((rows, keys, keys))]
    asked = {"entropy": True, "top": 2, "received": True, "groups": np.zeros(keys, int)}
    whole = sl.Lookup(*arrays, backend="blocked").inspect(**asked)
    lazy = sl.Lookup(*(da.from_array(x) for x in arrays)).inspect(**asked)
    assert not tasks_of(lazy.out, "part")
    found = dask.compute(lazy)[0]
    for name in ("out", "lse", "entropy", "received", "groups"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    np.testing.assert_array_equal(found.top.keys, whole.top.keys)


@pytest.mark.parametrize("labels", [np.arange(30) % 3 - 1, np.arange(90).reshape(3, 30) % 4 - 1])
def test_groups_are_those_of_each_batch_entry(labels):
    arrays = [drawn((3, 2, n, 5), seed=seed) for seed, n in enumerate((7, 30, 30))]
    whole = sl.Lookup(*arrays, backend="blocked").inspect(groups=labels).groups
    look = sl.Lookup(*(da.from_array(x, chunks=(1, 1, 9, 5)) for x in arrays))
    np.testing.assert_allclose(look.inspect(groups=labels).groups.compute(), whole, atol=1e-13)


@pytest.mark.parametrize(("heads", "kv_heads", "expected"), [
    ((2, 2, 2, 2), (4,), (2, 2, 2, 2)), ((8,), (1, 3), (2, 6)),
    ((3, 5), (4,), (8,)), ((3, 1, 4), (4,), (4, 4)),
], ids=str)  # fmt: skip
def test_no_chunk_grows_but_where_heads_end_within_a_group(heads, kv_heads, expected):
    query = da.zeros((1, 8, 5, 3), chunks=(1, heads, 5, 3))
    key = da.zeros((1, 4, 9, 3), chunks=(1, kv_heads, 9, 3))
    found = cut(sl.Lookup(query, key, key).problem)
    assert found.heads == expected
    assert found.kv_heads == tuple(size // 2 for size in expected)


@pytest.mark.parametrize(("name", "dtype"), [
    *((name, dtype) for name in ("query", "key", "value") for dtype in (None, np.uint8)),
    ("mask", np.uint8),
], ids=str)  # fmt: skip
def test_any_chunk_that_does_not_hold_what_it_should_is_named(name, dtype):
    shapes = {"query": (12, 4), "key": (12, 4), "value": (12, 4), "mask": (12, 12)}
    given = {each: drawn(shape) for each, shape in shapes.items()}
    given["mask"] = given["mask"] > 0
    given = {each: da.from_array(array, chunks=(5, -1)) for each, array in given.items()}

    def spoilt(block, block_info=None):
        if block_info[0]["chunk-location"][0] != 1:
            return block
        return block[:-1] if dtype is None else block.astype(dtype)

    given[name] = given[name].map_blocks(spoilt, dtype=given[name].dtype)
    arrays = [given.pop(each) for each in ("query", "key", "value")]
    out = sl.attend(*arrays, **given)
    with pytest.raises(sl.errors.SoftlookupError, match=rf"{name}: chunk \(0, 0, 1.* must hold"):
        out.compute()
