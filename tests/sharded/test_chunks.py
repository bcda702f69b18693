"""What chunks may and may not change, and what is refused."""

import sys

import dask
import dask.array as da
import numpy as np
import pytest
from chunking import chunked, drawn
from hypothesis import given
from hypothesis import strategies as st

import softlookup as sl
from agreement import assert_out, assert_same_bits, expect
from properties.drawing import calls
from softlookup.arrays import not_beside
from softlookup.backends import cpu
from softlookup.errors import DtypeError, OptionError, ShapeError, SoftlookupError

core = pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")
EVERY = {"entropy": True, "max_score": True, "top": 7, "received": True, "distance": True}


@pytest.fixture(autouse=True, scope="module")
def _here():
    with dask.config.set(scheduler="synchronous"):
        yield


def split(draw, length):
    """Draw the sizes of chunks along an axis."""
    ends = draw(st.sets(st.integers(1, max(length - 1, 1)), max_size=4))
    ends = sorted({end for end in ends if end < length} | {length})
    return tuple(np.diff([0, *ends]).tolist())


@given(st.data())
def test_any_chunks_give_what_any_other_do(data):
    call = data.draw(calls())
    lead = call.query.ndim - 2
    found = []
    for _ in range(2):
        query, key, value = (
            da.from_array(x, chunks=(*(split(data.draw, n) for n in x.shape[:lead]),
                                     split(data.draw, x.shape[-2]), split(data.draw, x.shape[-1])))
            for x in call.arrays
        )  # fmt: skip
        look = sl.Lookup(query, key, value, **call.options)
        out = look.attend().compute()
        assert_out(out, *expect(*call.arrays, **call.options)[:2])
        assert_same_bits(out, dask.compute(look.attend(), scheduler="threads", num_workers=3)[0])
        found.append(out)
    assert found[0].shape == found[1].shape


@core
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("options", [
    {}, {"causal": True, "q_offset": 16000}, {"window": (9000, 5), "q_offset": 12000},
    {"sinks": np.array([-3.0, 0.0, 2.0, 9.0])}, {"softcap": 2.0, "scale": -0.5},
    {"kv_lens": np.array([8200, 17000])},
], ids=str)  # fmt: skip
def test_keys_cut_at_multiples_of_4096_give_the_bits_of_one_machine(dtype, options):
    arrays = [drawn(shape, dtype, seed) for seed, shape in
              enumerate([(2, 4, 19, 24), (2, 2, 17001, 24), (2, 2, 17001, 20)])]  # fmt: skip
    whole = sl.Lookup(*arrays, **options, backend="cpu").inspect(**{**EVERY, "distance": False})
    for rows, keys in ((7, 4096), (None, (8192, 4096, 4713)), (19, 12288)):
        query, key, value = (
            chunked(arrays[0], 1, 2, rows),
            *(da.from_array(x, chunks=(1, 1, keys, -1)) for x in arrays[1:]),
        )
        look = sl.Lookup(query, key, value, **options)
        found = dask.compute(look.inspect(**{**EVERY, "distance": False}))[0]
        for part in ("out", "lse", "entropy", "max_score"):
            assert_same_bits(getattr(found, part), getattr(whole, part))
        assert_same_bits(found.top.weights, whole.top.weights)
        np.testing.assert_array_equal(found.top.keys, whole.top.keys)


@core
def test_bits_depend_on_the_chunks_and_not_on_who_computes_them():
    arrays = [drawn((2, 3001, 8), np.float32, seed) for seed in range(3)]
    look = sl.Lookup(*(da.from_array(x, chunks=(1, 700, -1)) for x in arrays), causal=True)
    lazy = look.inspect(**EVERY, groups=np.arange(3001) % 5)
    first = dask.compute(lazy)[0]
    for workers in (1, 2, 5):
        again = dask.compute(lazy, scheduler="threads", num_workers=workers)[0]
        for part in ("out", "lse", "entropy", "max_score", "received", "distance", "groups"):
            assert_same_bits(getattr(first, part), getattr(again, part))
        assert_same_bits(first.top.weights, again.top.weights)


@core
def test_numbers_that_are_not_finite_stay_where_they_belong():
    query, key, value = (drawn((2, n, 6), np.float32, seed)
                         for seed, n in enumerate((40, 9000, 9000)))  # fmt: skip
    key[0, 50, 2], key[1, 8195, 0], key[1, 17] = np.inf, np.nan, -np.inf
    value[0, 4100, 3], value[0, 8999, 1], value[1, 60, 5] = np.inf, np.nan, -np.inf
    mask = np.ones((40, 9000), bool)
    mask[:20, [50, 8195, 17, 4100, 8999, 60]] = False
    whole = sl.Lookup(query, key, value, mask=mask, q_offset=8960, backend="cpu").inspect(**EVERY)
    key, value = (da.from_array(x, chunks=(1, 4096, 6)) for x in (key, value))
    look = sl.Lookup(da.from_array(query, chunks=(1, 25, 6)), key, value, mask=mask, q_offset=8960)
    found = dask.compute(look.inspect(**EVERY))[0]
    assert np.isfinite(whole.out[:, :20]).all()
    assert not np.isfinite(whole.out[:, 20:]).all()
    for part in ("out", "lse", "entropy", "max_score"):
        assert_same_bits(getattr(found, part), getattr(whole, part))
    for part in ("received", "distance"):
        np.testing.assert_allclose(getattr(found, part), getattr(whole, part), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found.top.keys, whole.top.keys)


def test_no_task_takes_two_chunks_of_keys():
    arrays = [da.from_array(drawn((2, 40, 4), seed=seed), chunks=(1, 8, 4)) for seed in range(3)]
    look = sl.Lookup(*arrays, causal=True)
    found = look.inspect(received=True, distance=True, top=2)
    taken = {}
    for array in (found.out, found.received, look.weights([3, 30], [1, 39])):
        for name, layer in array.dask.layers.items():
            if name.startswith("softlookup-"):
                taken |= {key: task.dependencies for key, task in layer.items()}
    keys = arrays[1].name
    counts = [sum(each[0] == keys for each in before) for before in taken.values()]
    assert max(counts) == 1
    assert sum(counts) > 30


def keys_of(array):
    """Return the keys of the array's own tasks, without those that made its inputs."""
    names = [name for name in array.dask.layers if name.startswith("softlookup-")]
    return [key for name in names for key in array.dask.layers[name]]


def tasks_of(array):
    """Return what the array's own tasks are."""
    return [key[0].split("-")[1] for key in keys_of(array)]


@core
def test_the_state_so_far_goes_to_large_parts():
    rows, keys, dim = 4096, 5 * 8192, 64
    query, key, value = (da.zeros((n, dim), np.float32, chunks=(4096 if n == rows else 8192, dim))
                         for n in (rows, keys, keys))  # fmt: skip
    out = sl.attend(query, key, value)
    found = dict(zip(keys_of(out), dask.get(out.dask, keys_of(out)), strict=True))
    named = {name: [made for key, made in found.items() if key[0].split("-")[1] == name]
             for name in ("part", "merge")}  # fmt: skip
    assert [len(parts) for parts in named["part"]] == [1, 2, 2, 2, 2]
    assert [len(parts) for parts in named["merge"]] == [1, 1, 1]
    assert all(len(dict(out.dask)[key].dependencies) == 2
               for key in found if key[0].split("-")[1] in ("merge", "end"))  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), [
    ({}, 16), ({"causal": True}, 10), ({"causal": True, "window": (5, None)}, 7),
    ({"window": (0, 0)}, 4), ({"causal": True, "q_offset": -1000}, 0),
    ({"kv_lens": np.array([11])}, 8), ({"kv_lens": np.array([0])}, 0),
    ({"window": (0, None), "q_offset": 25}, 3), ({"window": (0, None), "q_offset": 1000}, 0),
], ids=str)  # fmt: skip
def test_hidden_chunks_make_no_tasks(options, expected):
    arrays = [drawn((1, 1, 40, 4), np.float32, seed) for seed in range(3)]
    out = sl.attend(*(da.from_array(x, chunks=(1, 1, 10, 4)) for x in arrays), **options)
    assert tasks_of(out).count("part") == expected
    assert_out(out.compute(), *expect(*arrays, **options)[:2])


def made_with(make):
    """Return how many calls of functions it takes to make an array, for each of its tasks."""
    calls = 0

    def count(_frame, event, _what):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        array = make()
    finally:
        sys.setprofile(None)
    return calls / len(tasks_of(array))


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"window": (5, 0)}], ids=str)
@pytest.mark.parametrize("make", [
    lambda look: look.attend(),
    lambda look: look.inspect(received=True).received,
    lambda look: look.inspect(received=True, from_rows=np.arange(2)).received,
    lambda look: look.weights(),
], ids=["attend", "received", "received from two rows", "weights"])  # fmt: skip
def test_a_task_takes_as_long_to_make_in_a_large_graph_as_in_a_small_one(make, options):
    looks = []
    for chunks in (6, 30):
        blocks = da.zeros((10 * chunks, 4), dtype=np.float32, chunks=(10, 4))
        looks.append(sl.Lookup(blocks, blocks, blocks, **options))
    made_with(lambda: make(looks[0]))  # imports what it needs
    few, many = (made_with(lambda look=look: make(look)) for look in looks)
    assert many < 1.2 * few


def test_answers_are_lazy_and_go_on_as_dask_arrays():
    def burst(*_):
        raise AssertionError("computed too early")

    key = da.map_blocks(burst, da.zeros((30, 4), chunks=(10, 4)), meta=np.zeros((0, 0)))
    query = da.from_array(drawn((20, 4)), chunks=(5, 4))
    look = sl.Lookup(query, key, key, causal=True, q_offset=3)
    found = look.inspect(top=2, received=True)
    assert "not computed yet" in repr(found)
    (look.attend() + 1).sum(axis=0)
    with pytest.raises(AssertionError, match="too early"):
        look.attend().compute()


def noted(array, computed):
    """Return a dask array that notes whenever it is computed."""

    def note(block):
        computed.append(block.shape)
        return block

    return da.from_array(array).map_blocks(note, dtype=array.dtype, meta=array[:0])


@pytest.mark.parametrize(("make", "array", "times"), [
    (lambda x, some: sl.attend(x, x, x, kv_lens=some), np.array([9, 3]), 1),
    (lambda x, some: sl.attend(x, x, x, causal=True, q_offset=some), np.array([0, 2]), 1),
    (lambda x, some: sl.Lookup(x, x).inspect(groups=some), np.arange(30) % 3, 1),
    (lambda x, some: sl.Lookup(x, x).inspect(received=True, from_rows=some), np.arange(4), 1),
    (lambda x, some: sl.Lookup(x, x).weights(some), np.arange(4), 1),
    (lambda x, some: sl.attend(x, x, x, sinks=some), np.zeros(2), 0),
    (lambda x, some: sl.attend(x, x, x, mask=some), np.ones((30, 30), bool), 0),
    (lambda x, some: sl.attend(x, x, x, bias=some), np.ones((30, 30)), 0),
], ids=["kv_lens", "q_offset", "groups", "from_rows", "rows", "sinks", "mask", "bias"])  # fmt: skip
def test_small_integers_are_computed_once_and_nothing_else_is(make, array, times):
    x, computed = da.from_array(drawn((2, 2, 30, 4)), chunks=(1, 1, 9, 4)), []
    make(x, noted(array, computed))
    assert len(computed) == times


def test_the_same_lookup_has_the_same_tasks():
    arrays = [da.from_array(drawn((12, 4), seed=seed), chunks=(5, 4)) for seed in range(3)]
    first, again = (sl.attend(*arrays, causal=True) for _ in range(2))
    assert first.name == again.name
    assert set(first.dask) == set(again.dask)
    assert sl.attend(*arrays, causal=True, scale=2.0).name != first.name
    assert sl.attend(*arrays).name != first.name


def test_a_part_of_the_answer_computes_what_it_needs():
    arrays = [da.from_array(drawn((40, 4), seed=seed), chunks=(10, 4)) for seed in range(3)]
    out = sl.attend(*arrays, causal=True)
    some = out[:10].__dask_optimize__(out[:10].dask, out[:10].__dask_keys__())
    assert sum("part" in str(key[0]) for key in some if isinstance(key, tuple)) == 1


def test_chosen_rows_and_keys_in_any_order():
    arrays = [drawn((3, 50, 6), seed=seed) for seed in range(2)]
    look = sl.Lookup(*(da.from_array(x, chunks=(2, 7, 3)) for x in arrays), causal=True)
    rows, keys = [44, 3, 3, -1, 20], [49, 0, 13, 13, 1]
    whole = sl.Lookup(*arrays, causal=True).weights()
    found = look.weights(rows, keys)
    np.testing.assert_allclose(found.compute(), whole[:, rows][:, :, keys], atol=1e-15)
    assert look.weights([], keys).compute().shape == (3, 0, 5)
    np.testing.assert_allclose(
        look.weights(7, slice(2, 5)).compute(), whole[:, [7], 2:5], atol=1e-15
    )


def test_weights_compute_the_chosen_rows_alone():
    arrays = [drawn((64, 4), seed=seed) for seed in range(2)]
    look = sl.Lookup(*(da.from_array(x, chunks=(16, 4)) for x in arrays))
    assert tasks_of(look.weights([5], [60])).count("part") == 4  # one chunk of rows, all keys


def test_a_trace_brings_its_rows_and_the_keys():
    arrays = [drawn((2, 30, 6), seed=seed) for seed in range(3)]
    mask = np.random.default_rng(9).random((30, 30)) > 0.3
    whole = sl.Lookup(*arrays, mask=mask)
    look = sl.Lookup(*(da.from_array(x, chunks=(1, 7, 6)) for x in arrays),
                     mask=da.from_array(mask, chunks=9))  # fmt: skip
    assert str(look.trace([3, 17])) == str(whole.trace([3, 17]))
    assert_same_bits(look.trace([3, 17]).weights, whole.trace([3, 17]).weights)
    assert_same_bits(look.trace().out, whole.trace().out)


def test_a_map_is_that_of_one_machine():
    arrays = [drawn((300, 8), seed=seed) for seed in range(2)]
    one = sl.Lookup(*arrays, causal=True).map()
    query, key = (da.from_array(x, chunks=(n, 8)) for x, n in zip(arrays, (96, 64), strict=True))
    two = sl.Lookup(query, key, causal=True).map()
    for level in one.levels:
        for pool in one.pools:
            a, b = (getattr(each.level(level), pool) for each in (one, two))
            np.testing.assert_allclose(a, b, atol=1e-14)
    np.testing.assert_allclose(one.lse, two.lse)
    np.testing.assert_allclose(one.strongest(k=5), two.strongest(k=5), atol=1e-14)
    assert one.row(77).weights.tobytes() == two.row(77).weights.tobytes()


def test_one_head_of_several():
    arrays = [drawn((2, 4, 30, 6), seed=seed) for seed in range(3)]
    look = sl.Lookup(*(da.from_array(x, chunks=(1, 2, 7, 6)) for x in arrays))
    np.testing.assert_array_equal(
        look.head(3, batch=1).attend().compute(), look.attend().compute()[1, 3]
    )


@pytest.mark.parametrize(("refused", "argument", "words"), [
    (lambda x: sl.attend(x, x[x[:, 0] > 0], x), "key", "must have chunks of known sizes"),
    (lambda x: sl.attend(x, x, x.compute()), "value", "Pass dask.array.from_array(value)."),
    (lambda x: sl.attend(x.compute(), x, x), "key", "too: dask.array.from_array(query)."),
    (lambda x: sl.Lookup(x.compute(), x.compute(), mask=da.ones((50, 50), dtype=bool)),
     "mask", "Pass mask.compute()."),
    (lambda x: sl.attend(x, x, x, backend="cpu"), "backend", "these are dask arrays"),
    (lambda x: sl.attend(x, x, x, backend="cuda"), "backend", 'backend="dask" takes this lookup.'),
    (lambda x: sl.attend(*[x.compute()] * 3, backend="dask"), "backend", "from_array"),
    (lambda x: sl.Lookup(x, x, x).gradients(x.compute()), "backend", "gradients are of arrays in"),
    (lambda x: sl.Lookup(x, x).map(), "query", "multiples of 32"),
])  # fmt: skip
def test_what_is_refused(refused, argument, words):
    x = da.from_array(drawn((50, 4)), chunks=(20, 4))
    with pytest.raises(SoftlookupError) as error:
        refused(x)
    assert error.value.argument == argument
    assert words in str(error.value)


@pytest.mark.parametrize(("argument", "here", "there", "advice"), [
    ("key", "dask", "cuda:0", "too: dask.array.from_array(query.cpu().numpy())."),
    ("key", "cuda:0", "dask", "Pass dask.array.from_array(key.cpu().numpy())."),
    ("bias", "dask", "cuda:0", "Pass bias.compute()."),
    ("key", "memory", "cuda:0", "Pass torch.as_tensor(key, device=query.device)."),
    ("value", "cuda:0", "memory", "Pass value.cpu()."),
    ("value", "cuda:1", "cuda:0", "Pass value.to(query.device)."),
])  # fmt: skip
def test_the_advice_for_arrays_at_two_places_is_a_call_that_they_have(
    argument, here, there, advice
):
    assert str(not_beside(argument, here, there)).endswith(advice)


def test_what_is_too_large_to_be_brought_is_refused_with_its_size():
    keys = da.zeros((2**24, 80), dtype=np.float32, chunks=(2**22, 80))
    look = sl.Lookup(da.zeros((4, 80), dtype=np.float32), keys, keys)
    with pytest.raises(OptionError, match=r"key: must fit into 4 GiB.* 10\.0 GiB"):
        look.in_numpy()
    with pytest.raises(OptionError, match=r"Take a part of the keys"):
        look.trace([0])
    rows = da.zeros((2**21, 640), dtype=np.float32, chunks=(2**13, 640))
    look = sl.Lookup(rows, rows[:4], rows[:4], mask=da.ones((2**21, 4), dtype=bool, chunks=2**16))
    with pytest.raises(OptionError, match=r"query: must fit into 4 GiB.* 5\.0 GiB.*the queries"):
        look.in_numpy()
    assert look.trace([2**20]).scaled.shape == (1, 4)


def spoilt(chunk, at=20):
    return chunk[:-1] if chunk[0, 0] == at else chunk


@pytest.mark.parametrize("axes", [0, 1])
@pytest.mark.parametrize(("argument", "dtype"), [("mask", bool), ("bias", np.float32)])
def test_a_chunk_of_a_mask_or_a_bias_that_lacks_a_row_is_named(argument, dtype, axes):
    rows = np.repeat(np.arange(40)[:, None], 6, axis=1).astype(np.float32)
    laid = da.from_array(rows, chunks=(10, 6)).map_blocks(spoilt, dtype=np.float32).astype(dtype)
    query, key = (da.zeros((n, 4), dtype=np.float32, chunks=(10, 4)) for n in (40, 6))
    out = sl.attend(query[(None,) * axes], key[(None,) * axes], key[(None,) * axes],
                    **{argument: laid})  # fmt: skip
    with pytest.raises(
        ShapeError, match=rf"{argument}: chunk \(0, 0, 2, 0\) must hold \(1, 1, 10, "
    ):
        out.compute()


def test_a_chunk_that_does_not_hold_what_it_should_is_named():
    whole = np.repeat(np.arange(40, dtype=np.float32)[:, None], 4, axis=1)
    key = da.from_array(whole, chunks=(10, 4)).map_blocks(spoilt, dtype=np.float32)
    query = da.zeros((3, 4), dtype=np.float32)
    with pytest.raises(ShapeError, match=r"key: chunk \(0, 0, 2\) must hold \(1, 1, 10, 4\)"):
        sl.attend(query, key, key).compute()
    wide = da.from_array(whole, chunks=(40, 4)).astype(np.float64)
    wide._meta = np.zeros((0, 0), np.float32)
    with pytest.raises(DtypeError, match=r"chunk \(0, 0, 0\) must hold float32; it holds float64"):
        sl.attend(query, wide, wide).compute()
