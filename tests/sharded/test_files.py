"""Arrays in files as dask arrays, and files that are damaged."""

import itertools
import os
import shutil
import sys
import time

import dask
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import softlookup as sl
from agreement import assert_same_bits
from softlookup.backends import cpu
from softlookup.errors import FileError, PackageError
from softlookup.integrations.dask import Stored, open_array

zarr = pytest.importorskip("zarr")


@pytest.fixture(autouse=True)
def _here():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def arrays():
    rng = np.random.default_rng(3)
    return {name: rng.standard_normal((2, 5000, 8)).astype(np.float32) for name in ("key", "value")}


def written(folder, kind, arrays):
    """Write both arrays in one kind of file, over what is there; return what opens each."""
    if kind == "npy":
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        return {name: (folder / f"{name}.npy",) for name in arrays}
    if kind == "safetensors":
        safetensors.numpy.save_file(arrays, folder / "all.safetensors")
        return {name: (folder / "all.safetensors", name) for name in arrays}
    for name, array in arrays.items():
        zarr.create_array(
            str(folder / f"{name}.zarr"), data=array, chunks=(1, 1024, 8), overwrite=True
        )
    return {name: (folder / f"{name}.zarr",) for name in arrays}


@pytest.mark.parametrize("kind", ["npy", "safetensors", "zarr"])
def test_a_lookup_of_files(tmp_path, arrays, kind):
    files = written(tmp_path, kind, arrays)
    chunks = {} if kind == "zarr" else {"chunks": (1, 1024, 8)}
    key, value = (open_array(*files[name], **chunks) for name in arrays)
    assert key.chunks == ((1, 1), (1024,) * 4 + (904,), (8,))
    query = dask.array.from_array(arrays["key"][:, :70], chunks=(1, 32, 8))
    out = sl.attend(query, key, value, causal=True, q_offset=4000).compute()
    whole = sl.attend(arrays["key"][:, :70], *arrays.values(), causal=True, q_offset=4000)
    np.testing.assert_allclose(out, whole, atol=1e-6)
    if cpu.missing() is None:
        by_chunk = (each.rechunk((1, 4096, 8)) for each in (key, value))
        assert_same_bits(sl.attend(query, *by_chunk, causal=True, q_offset=4000).compute(), whole)


def test_default_chunks_hold_65536_along_the_length(tmp_path):
    np.save(tmp_path / "k.npy", np.zeros((3, 70000, 2), np.float16))
    assert open_array(tmp_path / "k.npy").chunks == ((1, 1, 1), (65536, 4464), (2,))
    mask = np.zeros(9, bool)
    np.save(tmp_path / "m.npy", mask)
    assert_same_bits(open_array(tmp_path / "m.npy").compute(), mask)


@pytest.mark.parametrize("at", [
    np.s_[1], np.s_[1, :9], np.s_[..., 2], np.s_[-1, 30, 3], np.s_[:, [41, 5, 5]], np.s_[:, ::-3],
    np.s_[None, 0], np.s_[:, 7:30:4, 1],
], ids=str)  # fmt: skip
def test_a_part_of_an_array_in_a_file(tmp_path, at):
    numbers = np.arange(3 * 50 * 4.0).reshape(3, 50, 4)
    np.save(tmp_path / "k.npy", numbers)
    assert_same_bits(open_array(tmp_path / "k.npy", chunks=(1, 20, 4))[at].compute(), numbers[at])


@pytest.mark.parametrize("kind", ["npy", "safetensors"])
def test_a_link_to_a_file_of_any_name(tmp_path, arrays, kind):
    path, *name = written(tmp_path, kind, arrays)["key"]
    path.rename(tmp_path / "0f3a")  # as a cache of models keeps its files
    path.symlink_to("0f3a")
    lazy = open_array(path, *name)
    assert (lazy.compute() == arrays["key"]).all()
    (tmp_path / "new").write_bytes((tmp_path / "0f3a").read_bytes())
    path.unlink()
    path.symlink_to("new")
    with pytest.raises(FileError, match=rf"{path.name}: chunk .* must be as it was when"):
        lazy.compute()


def test_bfloat16_of_safetensors(tmp_path):
    numbers = np.arange(24).reshape(2, 3, 4).astype(ml_dtypes.bfloat16)
    safetensors.numpy.save_file({"k": numbers}, tmp_path / "k.safetensors")
    assert_same_bits(open_array(tmp_path / "k.safetensors", "k").compute(), numbers)


def test_a_file_that_changed_has_other_tasks(tmp_path):
    np.save(tmp_path / "k.npy", np.zeros((30, 2)))
    first = open_array(tmp_path / "k.npy").name
    assert open_array(tmp_path / "k.npy").name == first
    assert open_array(tmp_path / "k.npy", chunks=(7, 2)).name != first
    np.save(tmp_path / "k.npy", np.ones((30, 2)))
    assert open_array(tmp_path / "k.npy").name != first


def test_a_damaged_chunk_is_named(tmp_path, arrays):
    files = written(tmp_path, "zarr", arrays)
    key, value = (open_array(*files[name]) for name in arrays)
    damaged = next((tmp_path / "value.zarr" / "c" / "1" / "3").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:50])
    query = dask.array.from_array(arrays["key"][:, :9], chunks=(1, 9, 8))
    with pytest.raises(FileError, match=r"value\.zarr: chunk \(1, 3, 0\) cannot be read"):
        sl.attend(query, key, value).compute()


@pytest.mark.parametrize("kind", ["npy", "safetensors"])
def test_a_file_that_is_cut_off_later_is_named(tmp_path, arrays, kind):
    files = written(tmp_path, kind, arrays)
    key, value = (open_array(*files[name], chunks=(1, 1024, 8)) for name in arrays)
    file = files["value"][0]
    file.write_bytes(file.read_bytes()[:200_000])
    with pytest.raises(FileError, match=rf"{file.name}: chunk \(\d, \d, 0\).* must be as it was"):
        sl.attend(key[:, :9], key.rechunk(-1)[:, :1], value[:, :1]).compute()


def later():
    """Let a moment pass, that a file written now has another time."""
    time.sleep(0.03)


@pytest.mark.parametrize("kind", ["npy", "safetensors", "zarr"])
def test_a_file_that_is_written_over_is_named(tmp_path, arrays, kind):
    file = written(tmp_path, kind, arrays)["value"]
    value = open_array(*file)
    assert_same_bits(value.compute(), arrays["value"])
    later()
    other = {name: array + 1 for name, array in arrays.items()}
    written(tmp_path, kind, other)
    with pytest.raises(FileError, match=rf"{file[0].name}: chunk \(1, \d, 0\).* must be as it was"):
        value[1].compute()
    value = open_array(*file)
    assert_same_bits(value.compute(), other["value"])
    file[0].rename(tmp_path / "elsewhere")
    with pytest.raises(
        FileError, match=r"chunk \(1, \d, 0\).* must be there; it is not\. Check the p"
    ):
        value[1].compute()


def test_a_file_that_is_written_over_while_it_is_read_is_named(tmp_path, arrays, monkeypatch):
    (file,), _ = written(tmp_path, "npy", arrays).values()
    key, opened = open_array(file), Stored.opened

    def meanwhile(self):
        whole = opened(self)
        with file.open("r+b") as stream:
            stream.seek(-1, os.SEEK_END)
            stream.write(b"0")
        return whole

    later()
    monkeypatch.setattr(Stored, "opened", meanwhile)
    with pytest.raises(FileError, match=r"key\.npy: chunk \(1, 0, 0\) must be as it was"):
        key[1, :9].compute()


@pytest.mark.parametrize("kind", ["npy", "safetensors"])
def test_a_file_that_is_cut_off_while_it_is_read_is_named(tmp_path, arrays, monkeypatch, kind):
    name, opened = written(tmp_path, kind, arrays)["key"], Stored.opened
    key = open_array(*name)

    def meanwhile(self):
        whole = opened(self)
        os.truncate(name[0], 4096)
        return whole

    monkeypatch.setattr(Stored, "opened", meanwhile)
    with pytest.raises(
        FileError, match=r"chunk \(1, 0, 0\).* cannot be read: it ends too soon\. W"
    ):
        key[1].compute()


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("kind", ["npy", "safetensors"])
def test_any_part_of_a_mapped_file_is_what_stands_there(tmp_path, monkeypatch, kind, order):
    monkeypatch.setattr("softlookup.integrations.dask._AT_ONCE", 100)
    array = np.asarray(np.random.default_rng(5).standard_normal((3, 40, 50)), order=order)
    if kind == "npy":
        np.save(tmp_path / "x.npy", array)
        lazy = open_array(tmp_path / "x.npy", chunks=-1)
    else:
        safetensors.numpy.save_file(
            {"y": np.ones(3), "x": array.copy("C")}, tmp_path / "x.safetensors"
        )
        lazy = open_array(tmp_path / "x.safetensors", "x", chunks=-1)
    (held,) = (each for each in dict(lazy.dask).values() if hasattr(each, "stored"))
    whole = slice(0, 3), slice(0, 40), slice(0, 50)
    few = slice(1, 3, 2), slice(39, 2, -3), slice(4, 5), slice(0, 50, 9), slice(7, 7)
    for at in (whole, *itertools.product(few, repeat=3)):
        assert_same_bits(held.stored.read(at), array[at])


def test_a_copy_with_its_time_is_the_same_file(tmp_path, arrays):
    (file,), _ = written(tmp_path, "npy", arrays).values()
    key, copy = open_array(file), tmp_path / "copy.npy"
    later()
    for like in (shutil.copy2, shutil.copy):
        like(file, copy)
        copy.replace(file)
        if like is shutil.copy2:
            assert_same_bits(key.compute(), arrays["key"])
    with pytest.raises(FileError, match=r"another size or time of change.*\(cp -p\)\.$"):
        key.compute()


@pytest.mark.parametrize(("options", "name", "file"), [
    ({"chunks": (1, 1024, 8)}, None, "c/1/3/0"),
    ({"chunks": (1, 1024, 8), "zarr_format": 2}, None, "1.3.0"),
    ({"chunks": (1, 512, 8), "shards": (1, 1024, 8)}, None, "c/1/3/0"),
    ({"chunks": (1, 1024, 8), "name": "value"}, "/value", "c/1/3/0"),
], ids=["zarr 3", "zarr 2", "shards", "of a group"])  # fmt: skip
def test_a_zarr_chunk_that_is_gone_is_named(tmp_path, arrays, options, name, file):
    folder = tmp_path / "all.zarr"
    zarr.create_array(str(folder), data=arrays["value"], fill_value=7, **options)
    value, sparse = (open_array(folder, name, sparse=each) for each in (False, True))
    (folder / (name or "").strip("/") / file).unlink()
    at = 6 if "shards" in options else 3
    gone = np.s_[1, 3072:4096]
    with pytest.raises(
        FileError, match=rf"all\.zarr: chunk \(1, {at}, 0\).* must be there; {file} is not\. "
        r"Write it again, or pass sparse=True, if it was left out since it holds 7\.0 alone\.$"
    ):  # fmt: skip
        value[1, 3072:3500].compute()
    assert_same_bits(value[1, 4096:].compute(), arrays["value"][1, 4096:])
    assert value.name != sparse.name
    arrays["value"][gone] = 7
    assert_same_bits(sparse.compute(), arrays["value"])


def test_what_zarr_leaves_out_by_itself_is_told(tmp_path):
    mask = np.zeros((2, 30, 50), bool)
    mask[0] = True
    zarr.create_array(str(tmp_path / "m.zarr"), data=mask, chunks=(1, 30, 50))
    with pytest.raises(FileError, match=r"chunk \(1, 0, 0\) must be there.* holds False alone"):
        open_array(tmp_path / "m.zarr").compute()
    assert_same_bits(open_array(tmp_path / "m.zarr", sparse=True).compute(), mask)


def test_a_flipped_bit_under_a_checksum_is_named(tmp_path, arrays):
    compressors = [zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()]
    zarr.create_array(
        str(tmp_path / "key.zarr"), data=arrays["key"], chunks=(1, 1024, 8), compressors=compressors
    )
    key, file = open_array(tmp_path / "key.zarr"), tmp_path / "key.zarr" / "c" / "1" / "2" / "0"
    right = file.read_bytes()
    for at in range(0, len(right), len(right) // 20):
        flipped = bytearray(right)
        flipped[at] ^= 4
        file.write_bytes(flipped)
        with pytest.raises(FileError, match=r"key\.zarr: chunk \(1, 2, 0\) cannot be read: "):
            key.compute()
    file.write_bytes(right)
    assert_same_bits(key.compute(), arrays["key"])


def test_what_cannot_be_opened(tmp_path, arrays):
    (tmp_path / "bad.npy").write_bytes(b"nothing")
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ("bad.npy", "pickled.npy"):
        with pytest.raises(FileError, match=f"{name}: must be an array that can be read"):
            open_array(tmp_path / name)
    for name in ("none.npy", "none.safetensors", "none.zarr"):
        with pytest.raises(
            FileError, match=rf"{name}: must be there; it is not\. Check the path\.$"
        ):
            open_array(tmp_path / name)
    group = zarr.create_group(str(tmp_path / "group.zarr"))
    with pytest.raises(FileError, match=r"holds a group, of no array\. Pass name=, one of them\.$"):
        open_array(tmp_path / "group.zarr")
    for name in ("value", "key"):
        group.create_array(name, shape=(4,), dtype="f4")
    with pytest.raises(FileError, match="holds a group, of key, value"):
        open_array(tmp_path / "group.zarr")
    with pytest.raises(FileError, match=r"must be an array that can be read; .*[^.]\.$"):
        open_array(tmp_path / "group.zarr", "keys")
    files = written(tmp_path, "safetensors", arrays)
    with pytest.raises(FileError, match=r"holds no tensor 'keys'; it has key, value"):
        open_array(files["key"][0], "keys")


def test_what_is_no_array_or_another_one_is_told(tmp_path, arrays):
    (npy,), (folder, script) = (
        written(tmp_path, "npy", arrays)["key"],
        (tmp_path, tmp_path / "a.py"),
    )
    script.write_text("")
    for path in (folder, script):
        with pytest.raises(
            FileError, match=r"must be a \.npy or \.safetensors file, or the direct"
        ):
            open_array(path)
    with pytest.raises(FileError, match=r"holds one array, not 'key'\. Leave name out\."):
        open_array(npy, "key")
    with pytest.raises(FileError, match=r"holds several tensors; it has key, value\. Pass name=\."):
        open_array(written(tmp_path, "safetensors", arrays)["key"][0])


def test_zarr_that_is_missing_here_or_on_a_worker_is_told(tmp_path, arrays, monkeypatch):
    (key,), _ = written(tmp_path, "zarr", arrays).values()
    there = open_array(key)
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(PackageError, match=r"pip install zarr\.$"):
        open_array(key)
    with pytest.raises(PackageError, match=r"pip install zarr\.$"):
        there.compute()
    monkeypatch.setitem(sys.modules, "zarr", zarr)
    monkeypatch.setattr(zarr, "__version__", "2.18.7")
    with pytest.raises(PackageError, match=r"must be 3 or newer; it is 2\.18\.7\. pip install -U"):
        open_array(key)
