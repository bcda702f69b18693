"""What a worker holds: keys in files are read by the pieces that use them, and stay nowhere."""

import pickle
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from clusters import cluster
from dask._task_spec import Task, TaskRef
from dask.array.core import getter
from dask.utils import M

import softlookup as sl
from softlookup.backends.graphs import FILE
from softlookup.integrations.dask import open_array

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
MIB = 2**20
CHUNK, DIM = 16_384, 64  # 4 MiB of keys


def saved(folder, *shapes):
    """Write arrays of noise; return them and where they stand."""
    rng = np.random.default_rng(11)
    arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
    paths = [folder / f"{n}.npy" for n in range(len(arrays))]
    for path, array in zip(paths, arrays, strict=True):
        np.save(path, array)
    return arrays, paths


def reads(*asked):
    """Return how many tasks of their own read files, where these arrays are computed."""
    left = {key for each in dask.optimize(*asked) for key in dict(each.dask)}
    return sum(str(key).count(FILE) > 0 for key in left)


@pytest.mark.parametrize("lead", [(2,), (3, 2)], ids=["heads", "batch and heads"])
def test_no_task_keeps_what_a_piece_reads(tmp_path, lead):
    query = np.random.default_rng(0).standard_normal((*lead, 53, 8), dtype=np.float32)
    arrays, paths = saved(tmp_path, (*lead, 97, 8), (*lead, 97, 8), (*lead[:-2], 53, 97))
    cuts = (*[1] * len(lead), 32, 8), (*[1] * len(lead), 32, 8), (*[1] * len(lead[:-2]), 19, 32)
    key, value, bias = (open_array(p, chunks=c) for p, c in zip(paths, cuts, strict=True))
    lazy = da.from_array(query, chunks=(*[1] * len(lead), 19, 8))
    bias = bias[:, None] if bias.ndim > 2 else bias
    options = {"causal": True, "q_offset": 44}
    found = sl.Lookup(lazy, key, value, bias=bias, **options).inspect(received=True)
    assert reads(found.out, found.received) == 0
    assert reads(key, value) > 0
    expected = sl.Lookup(query, *arrays[:2], bias=arrays[2], **options).inspect(received=True)
    for part in ("out", "received"):
        got = getattr(found, part).compute(scheduler="synchronous")
        np.testing.assert_allclose(got, getattr(expected, part), rtol=2e-5, atol=2e-6)


def test_one_array_in_a_file_as_all_three(tmp_path):
    (array,), (path,) = saved(tmp_path, (2, 97, 8))
    lazy = open_array(path, chunks=(1, 32, 8))
    out = sl.attend(lazy, lazy, lazy, causal=True)
    some = lazy[:, 3:83]
    assert reads(out) == reads(sl.attend(some, some, some)) == 0
    expected = sl.attend(array, array, array, causal=True)
    np.testing.assert_allclose(out.compute(), expected, rtol=2e-5, atol=2e-6)


CUTS = {
    "whole": lambda x: x,
    "sliced": lambda x: x[:1, 3:80],
    "anew": lambda x: x.rechunk((2, 50, 8)),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_another_view_of_a_chunk_is_no_task(cut):
    array = np.random.default_rng(3).standard_normal((2, 97, 8), dtype=np.float32)
    lazy = cut(da.from_array(array, chunks=(1, 32, 8))).persist(scheduler="synchronous")
    out = sl.attend(lazy, lazy, lazy, causal=True)
    (left,) = dask.optimize(out)
    names = [str(key[0]) for key in dict(left.dask) if not str(key[0]).startswith("softlookup")]
    made = {lazy.name, out.name}
    assert set(names) == made
    assert names.count(lazy.name) == lazy.npartitions
    here = cut(da.from_array(array, chunks=-1)).compute()
    expected = sl.attend(here, here, here, causal=True)
    np.testing.assert_allclose(out.compute(), expected, rtol=2e-5, atol=2e-6)


def test_a_part_of_a_chunk_travels_without_the_rest():
    array = np.random.default_rng(3).standard_normal((2, 97, 8), dtype=np.float32)
    lazy = da.from_array(array, chunks=(1, 32, 8)).persist(scheduler="synchronous")[:, 3:80]
    layers = sl.attend(lazy, lazy, lazy).dask.layers
    own = (tasks for name, tasks in layers.items() if name.startswith("softlookup-"))
    taken = {key for tasks in own for task in tasks.values() for key in task.dependencies}
    assert sum(key[0] == lazy.name for key in taken) == 4  # of two heads: first, last; one is whole


def test_keys_that_were_read_once_are_not_read_again(tmp_path):
    (array,), (path,) = saved(tmp_path, (2, 97, 8))
    here = open_array(path, chunks=(1, 32, 8)).persist(scheduler="synchronous")
    (there,) = dask.optimize(open_array(path, chunks=(1, 97, 8))[:, :80])
    expected = sl.attend(array[:, :80], array[:, :80], array[:, :80])
    np.testing.assert_allclose(sl.attend(there, there, there), expected, rtol=2e-5, atol=2e-6)
    out = sl.attend(here, here, here)
    path.unlink()
    np.testing.assert_allclose(out, sl.attend(array, array, array), rtol=2e-5, atol=2e-6)


def test_a_piece_is_not_told_of_all_chunks_of_a_file(tmp_path):
    _, (path,) = saved(tmp_path, (1, 2000, 8))
    query, sizes = da.ones((1, 5, 8), dtype=np.float32), []
    for length in (500, 5):
        key = open_array(path, chunks=(1, length, 8))
        tasks = dict(sl.attend(query, key, key).dask).items()
        sizes.append(max(len(pickle.dumps(each)) for name, each in tasks if "-part-" in name[0]))
    assert sizes[1] - sizes[0] < 50


@pytest.mark.parametrize("fused", [True, False])
def test_keys_in_files_that_were_optimized_before_are_read_by_pieces(tmp_path, fused):
    (array,), (path,) = saved(tmp_path, (2, 97, 8))
    with dask.config.set({"optimization.fuse.active": fused}):
        (there,) = dask.optimize(open_array(path, chunks=(1, 32, 8)))
    query = da.from_array(array[:, :53], chunks=(1, 19, 8))
    out = sl.attend(query, there, there)
    assert reads(out) == 0
    expected = sl.attend(array[:, :53], array, array)
    np.testing.assert_allclose(out, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("view", [(getter, (slice(None),) * 3), (M.reshape, (2, 97, 8))])
def test_a_view_of_what_has_a_word_as_its_name(view):
    array = np.random.default_rng(3).standard_normal((2, 97, 8), dtype=np.float32)
    key, (function, how) = ("viewed", 0, 0, 0), view
    tasks = {"made": array, key: Task(key, function, TaskRef("made"), how)}
    lazy = da.Array(tasks, "viewed", ((2,), (97,), (8,)), dtype=array.dtype)
    expected = sl.attend(array, array, array)
    np.testing.assert_allclose(sl.attend(lazy, lazy, lazy), expected, rtol=2e-5, atol=2e-6)


def test_what_is_computed_of_a_file_is_computed_once(tmp_path):
    (array,), (path,) = saved(tmp_path, (1, 97, 8))
    made = []

    def doubled(block):
        made.append(block.shape)
        return block * 2

    key = open_array(path, chunks=(1, 97, 8)).map_blocks(doubled, meta=np.zeros((0, 0, 0), "f4"))
    query = da.from_array(array[:, :53], chunks=(1, 19, 8))
    out = sl.attend(query, key, key).compute(scheduler="synchronous")
    assert made == [(1, 97, 8)]
    expected = sl.attend(array[:, :53], 2 * array, 2 * array)
    np.testing.assert_allclose(out, expected, rtol=2e-5, atol=2e-6)


def highest():
    """Return the most that this process has held, in MiB; it runs on the workers."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split("VmHWM:")[1].split()[0]) / 1024


@pytest.mark.slow
def test_a_worker_does_not_grow_with_the_keys(tmp_path):
    if not Path("/proc/self/status").exists():
        pytest.skip("hardware: no /proc, which tells a process' highest memory")
    keys = 8 * CHUNK
    _, paths = saved(tmp_path, (1, 4 * keys, DIM), (1, 4 * keys, DIM))
    query = da.from_array(np.ones((1, 256, DIM), np.float32), chunks=(1, 64, DIM))
    with cluster(2) as client:
        most = []
        for count in (keys, 4 * keys):
            some = [open_array(path, chunks=(1, CHUNK, DIM))[:, :count] for path in paths]
            client.compute(sl.attend(query, *some)).result()
            most.append(client.run(highest))
    for worker, before in most[0].items():
        # that many more keys and values are 192 MiB, which both workers held, nearly
        assert most[1][worker] - before < 48
