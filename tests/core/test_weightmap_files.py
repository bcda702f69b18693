"""A saved map comes back as it was, for its own lookup and no other; damage is told."""

import json
import os
import struct

import ml_dtypes
import numpy as np
import pytest

import softlookup as sl
from agreement import assert_same_bits
from captured import two_stacks
from softlookup.errors import DtypeError, FileError, OptionError
from softlookup.weightmap import Received, WeightMap

RNG = np.random.default_rng(6)
QUERY, KEY = RNG.standard_normal((2, 193, 4)).astype(np.float32)
MASK = RNG.random((193, 193)) > 0.5
OPTIONS = {"causal": True, "mask": MASK, "sinks": np.array([0.5]), "softcap": 3.0}


def lookup(query=QUERY, key=KEY, **options):
    return sl.Lookup(query, key, **{**OPTIONS, **options})


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "run.safetensors"
    lookup().map().save(file)
    return file


def assert_same_map(one, other):
    for level in one.levels:
        for left, right in zip(one.level(level), other.level(level), strict=True):
            np.testing.assert_array_equal(left, right)
    assert_same_bits(one.lse, other.lse)
    assert_same_bits(one.entropy, other.entropy)
    assert one.strongest(k=9) == other.strongest(k=9)
    assert (one.done, one.of, one.pools) == (other.done, other.of, other.pools)


def test_a_map_comes_back(file):
    made = WeightMap.open(file, lookup())
    assert_same_map(made, lookup().map())
    assert made.estimate().seconds == 0
    assert made.step()
    assert made._bands.levels[5].max.base is not None  # it lies in the file


@pytest.mark.parametrize("pools", ["max", "share"])
def test_a_map_of_one_pool_comes_back(pools, tmp_path):
    look = lookup()
    made = look.map(pools=pools)
    made.save(tmp_path / "m.safetensors")
    assert_same_map(WeightMap.open(tmp_path / "m.safetensors", look), made)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_any_dtype_comes_back(dtype, tmp_path):
    look = lookup(QUERY.astype(dtype), KEY.astype(dtype))
    look.map().save(tmp_path / "m.safetensors")
    assert_same_map(WeightMap.open(tmp_path / "m.safetensors", look), look.map())


def test_no_queries_come_back(tmp_path):
    look = sl.Lookup(np.ones((0, 2)), np.ones((3, 2)))
    look.map().save(tmp_path / "m.safetensors")
    assert WeightMap.open(tmp_path / "m.safetensors", look).of == 0


def test_a_half_built_map_goes_on_and_leaves_the_file(tmp_path):
    file, look = tmp_path / "half.safetensors", lookup()
    half = look.map(build=False)
    half.step(0)
    half.save(file)
    before = file.read_bytes()
    again = WeightMap.open(file, look)
    assert 0 < again.done == half.done < again.of
    again.build()
    assert_same_map(again, look.map())
    assert file.read_bytes() == before
    again.save(file)
    assert_same_map(WeightMap.open(file, look), look.map())


@pytest.mark.parametrize("begin", ["step", "build", "tile", "estimate", "open"])
def test_a_map_of_arrays_that_have_changed_is_not_saved(begin, tmp_path):
    file = tmp_path / "m.safetensors"
    query, mask = QUERY.copy(), MASK.copy()
    look = lookup(query, mask=mask)
    look.map().save(file)
    before = file.read_bytes()
    made = WeightMap.open(file, look) if begin == "open" else look.map(build=False)
    {
        "step": lambda: made.step(0), "build": made.build, "tile": lambda: made.tile(0, 0, 0),
        "estimate": made.estimate, "open": lambda: None,
    }[begin]()  # fmt: skip
    for array in (query, mask):
        kept = array[192, 3].copy()
        array[192, 3] = 1 - kept
        with pytest.raises(OptionError, match=r"look: must be as it was.*Build a new one"):
            made.save(file)
        assert file.read_bytes() == before
        array[192, 3] = kept
    made.build()
    made.save(file)
    assert_same_map(WeightMap.open(file, lookup()), lookup().map())


def test_a_map_begun_after_the_change_is_saved(tmp_path):
    query = QUERY.copy()
    look = lookup(query)
    made = look.map(build=False)
    query[5] = 0
    made.save(tmp_path / "m.safetensors")
    made.build()
    made.save(tmp_path / "m.safetensors")
    assert WeightMap.open(tmp_path / "m.safetensors", lookup(query)).done == made.of


def test_strides_and_head_do_not_matter_but_every_option_does(file):
    spread = np.zeros((193, 8), np.float32)
    spread[:, ::2] = QUERY
    heads = np.stack([KEY, QUERY, KEY])
    same = [
        lookup(spread[:, ::2], KEY[::-1].copy()[::-1]),
        lookup(np.asfortranarray(QUERY), np.asfortranarray(KEY)),
        lookup(mask=np.broadcast_to(MASK, (1, 193, 193))[0]),
        sl.Lookup(heads, KEY[None], **{**OPTIONS, "sinks": np.array([9.0, 0.5, 9.0])}).head(1),
        lookup(backend="blocked"),
        sl.Lookup(QUERY, KEY, KEY, **OPTIONS),
    ]  # fmt: skip
    for look in same:
        assert WeightMap.open(file, look).done == 7
    other_query, other_mask = QUERY.copy(), MASK.copy()
    other_query[192, 3] += 1
    other_mask[192, 0] ^= True
    others = [
        lookup(other_query), lookup(key=other_query), lookup(mask=other_mask), lookup(mask=None),
        lookup(causal=False), lookup(sinks=np.array([0.25])), lookup(sinks=None),
        lookup(softcap=2.0), lookup(softcap=None), lookup(scale=0.25), lookup(window=(99, None)),
        lookup(bias=np.zeros((193, 193))), lookup(kv_lens=np.array(192)), lookup(q_offset=1),
        lookup(QUERY.astype(np.float64), KEY.astype(np.float64)), lookup(QUERY[:-1], q_offset=0,
                                                                         mask=MASK[:-1]),
        lookup(KEY, QUERY),
    ]  # fmt: skip
    for look in others:
        with pytest.raises(FileError, match=r"must be the map of this lookup.*build a new one\."):
            WeightMap.open(file, look)


def test_which_backend_made_it_is_told(tmp_path, backend):
    file = tmp_path / "m.safetensors"
    lookup(backend=backend).map().save(file)
    assert WeightMap.open(file, lookup(backend=backend)).by == f"{backend}, float32"
    other = WeightMap.open(file, lookup(backend="blocked")).by
    assert other == (
        "blocked, float32" if backend == "blocked"
        else f"blocked, float32; saved levels by {backend}, float32"
    )  # fmt: skip


def rewritten(file, change):
    """Write the header of `file` again, changed."""
    data = file.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    manifest = json.loads(header["__metadata__"]["softlookup map"])
    change(header, manifest)
    if "__metadata__" in header:
        header["__metadata__"]["softlookup map"] = json.dumps(manifest)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


def wrong(name, **about):
    return lambda header, manifest: header[name].update(about)


DAMAGE = {
    "no metadata": (lambda header, manifest: header.pop("__metadata__"), "must be a weight map"),
    "another format": (lambda header, manifest: manifest.update(format=2), "format 1; it says '2'"),
    "no fingerprint": (lambda header, manifest: manifest.pop("fingerprint"), "another one"),
    "no pools": (lambda header, manifest: manifest.pop("pools"), "which pools"),
    "strange pools": (lambda header, manifest: manifest.update(pools={"max": 1}), "which pools"),
    "unknown pools": (lambda header, manifest: manifest.update(pools=["mean"]), "which pools"),
    "a missing pool": (lambda header, manifest: manifest.update(pools=["max"]), "were written"),
    "no digest": (lambda header, manifest: manifest.pop("digest"), "were written"),
    "another shape": (wrong("5.max", shape=[2, 14]), "must hold '5.max', float32 of shape (28,)"),
    "another dtype": (wrong("5.seen", dtype="U8"), "'5.seen', bool of shape (28,); it holds uint8"),
    "another name": (
        lambda header, manifest: header.update({"6.most": header.pop("6.max")}),
        "must hold '6.max', float32 of shape (10,); it holds none",
    ),
    "no object": (lambda header, manifest: header["__metadata__"].update(x=1), "whole weight map"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_in_one_sentence(kind, file):
    change, meant = DAMAGE[kind]
    rewritten(file, change)
    with pytest.raises(FileError) as refused:
        WeightMap.open(file, lookup())
    assert meant in str(refused.value)
    assert str(refused.value).startswith(f"{file}: ")
    assert str(refused.value).endswith(".")


def test_a_file_may_end_anywhere(file):
    data, look = file.read_bytes(), lookup()
    for length in [*range(0, 64, 7), *range(64, len(data), 997), len(data) - 1]:
        file.write_bytes(data[:length])
        with pytest.raises(FileError, match="whole weight map"):
            WeightMap.open(file, look)


def test_other_files_are_no_maps(tmp_path):
    capture = tmp_path / "capture.safetensors"
    two_stacks().save(capture)
    with pytest.raises(FileError, match="must be a weight map"):
        WeightMap.open(capture, lookup())
    (tmp_path / "text.safetensors").write_text("hello, there is nothing to see here")
    with pytest.raises(FileError, match="whole weight map"):
        WeightMap.open(tmp_path / "text.safetensors", lookup())
    with pytest.raises(FileError, match=r"nowhere.safetensors: [^/]*there is none"):
        WeightMap.open(tmp_path / "nowhere.safetensors", lookup())
    with pytest.raises(FileError, match=r"it is a folder\. Name a file"):
        WeightMap.open(tmp_path, lookup())
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.safetensors")
        with pytest.raises(FileError, match=r"cannot be read: Not a regular file\. Check"):
            WeightMap.open(tmp_path / "pipe.safetensors", lookup())
    for other in (QUERY, None, two_stacks()):
        with pytest.raises(DtypeError, match=r"look: must be a Lookup; got \w+\."):
            WeightMap.open(capture, other)


def test_where_it_cannot_be_written(tmp_path):
    made = lookup().map(build=False)
    with pytest.raises(FileError, match=r"must end in \.safetensors"):
        made.save(tmp_path / "map.npz")
    with pytest.raises(FileError, match="cannot be written"):
        made.save(tmp_path / "nowhere" / "map.safetensors")
    with pytest.raises(OptionError, match="limit"):
        lookup().map(build=False, limit=0).save(tmp_path / "map.safetensors")


def received():
    """Return what the keys receive of the queries from the ninth on."""
    weights = lookup().weights()
    sees = weights > 0
    rows = np.arange(193) >= 9
    return Received(
        rows, sees.sum(axis=1), weights[rows].sum(axis=0, dtype=np.float64),
        sees[rows].sum(axis=0), "cpu",
    )  # fmt: skip


def test_what_keys_receive_is_kept_with_the_map(file):
    made = WeightMap.open(file, lookup())
    assert made.received is None
    made.received = received()
    made.save(file)
    again = WeightMap.open(file, lookup())
    assert_same_map(again, made)
    for one, other in zip(again.received[:4], received()[:4], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert again.received.by == "cpu"


@pytest.mark.parametrize(("change", "meant"), [
    (lambda header, told: told["received"].pop("digest"), "were written"),
    (lambda header, told: header.pop("received.sums"), "whole weight map"),
    (lambda header, told: header["received.readers"].update(dtype="F64"), "'received.readers', i"),
])  # fmt: skip
def test_damage_to_what_keys_receive_is_told(file, change, meant):
    made = lookup().map()
    made.received = received()
    made.save(file)
    rewritten(file, change)
    with pytest.raises(FileError, match=meant):
        WeightMap.open(file, lookup())


@pytest.mark.parametrize("part", [0.3, 0.5, 0.7, 0.9, 0.999])
def test_a_bit_that_flipped_in_the_numbers_is_noticed(tmp_path, part):
    look = sl.Lookup(*np.random.default_rng(3).standard_normal((2, 200, 8)), causal=True)
    look.map().save(tmp_path / "map.safetensors")
    data = bytearray((tmp_path / "map.safetensors").read_bytes())
    header = 8 + int.from_bytes(data[:8], "little")
    data[header + int(part * (len(data) - header))] ^= 1
    (tmp_path / "map.safetensors").write_bytes(data)
    with pytest.raises(FileError, match="numbers that were written"):
        sl.WeightMap.open(tmp_path / "map.safetensors", look)
