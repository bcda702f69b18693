"""What .safetensors files keep: everything, bit for bit, in place."""

import json
import math
import mmap
import os
import tracemalloc
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
from captured import (
    ENTRY,
    HOSTILE,
    assert_same,
    captured,
    drawn,
    numbered,
    parts,
    raw,
    two_stacks,
    with_manifest,
)
from properties.drawing import calls
from softlookup import Lookup, load
from softlookup.captures import Axis, Capture, Layer, label
from softlookup.errors import DtypeError, FileError, OptionError, ShapeError


def again(capture, folder):
    """Return `capture`, written and read."""
    file = folder / "run.safetensors"
    capture.save(file)
    return load(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("captures")


@pytest.mark.parametrize("name", cases.NAMED)
def test_every_case_comes_back_bit_for_bit(folder, name):
    call = cases.build(name)
    capture = captured(Lookup(*call.arrays, **call.options))
    assert_same(capture, again(capture, folder))


@given(call=calls(), with_value=st.booleans())
def test_any_lookup_comes_back_bit_for_bit(folder, call, with_value):
    query, key, value = call.arrays
    capture = captured(Lookup(query, key, value if with_value else None, **call.options))
    assert_same(capture, again(capture, folder))


def test_stacks_chosen_heads_words_padding_and_hostile_texts_come_back(folder):
    capture = two_stacks()
    found = again(capture, folder)
    assert_same(capture, found)
    assert [layer.label for layer in found.layers] == [
        "decoder layer 0", "decoder layer 2", "cross layer 0", "encoder layer 0",
    ]  # fmt: skip
    texts = label(Lookup(*[np.eye(len(HOSTILE))] * 2), tokens=HOSTILE, title="".join(HOSTILE))
    assert_same(texts, again(texts, folder))


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (1, 1), (0,), (0, 3), (2, 0)])
@pytest.mark.parametrize("heads", [(6, 3), (0, 0)])
def test_masks_of_every_rank_stay_broadcast(folder, batch, heads):
    rng = np.random.default_rng(0)
    q_len, kv_len = 2, 11
    full = (*batch, heads[0], q_len, kv_len)
    arrays = [
        drawn(rng, *batch, *lead, 5)
        for lead in ((heads[0], q_len), (heads[1], kv_len), (heads[1], kv_len))
    ]
    shapes = (
        {full[i:] for i in range(len(full) + 1)}
        | {tuple(1 if i == axis else n for i, n in enumerate(full)) for axis in range(len(full))}
        | {tuple(n if i == axis else 1 for i, n in enumerate(full)) for axis in range(len(full))}
    )
    for shape in shapes:
        look = Lookup(*arrays, mask=rng.random(shape) > 0.4, kv_lens=np.full(batch, 7),
                      q_offset=np.arange(np.prod(batch, dtype=int)).reshape(batch))  # fmt: skip
        capture = captured(look)
        assert_same(capture, again(capture, folder))
        if 0 not in full:
            stored = parts(folder / "run.safetensors")[0]["mask.0"]["shape"]
            assert stored == [-(-math.prod(shape) // 8)], "one bit for each cell that was given"


@pytest.mark.parametrize("sizes", [
    {"q_len": 0}, {"kv_len": 0}, {"head_dim": 0}, {"value_dim": 0}, {"heads": 0}, {"batch": 0},
])  # fmt: skip
@pytest.mark.parametrize("dtype", cases.DTYPES)
def test_axes_of_size_zero_come_back(folder, sizes, dtype):
    given = {"batch": 2, "heads": 3, "q_len": 5, "kv_len": 7, "head_dim": 4, "value_dim": 6} | sizes
    batch, heads, q_len, kv_len, head_dim, value_dim = given.values()
    arrays = [
        np.ones((batch, heads, n, d), cases.DTYPES[dtype])
        for n, d in ((q_len, head_dim), (kv_len, head_dim), (kv_len, value_dim))
    ]
    capture = captured(Lookup(*arrays))
    assert_same(capture, again(capture, folder))


def test_one_mask_of_six_layers_is_stored_once_and_unpacked_once(folder):
    rng = np.random.default_rng(0)
    mask = rng.random((1, 1, 37, 41)) > 0.5
    bias = drawn(rng, 37, 41)
    axes = (numbered(37),), (numbered(41),)
    layers = tuple(
        Layer(
            Lookup(*[drawn(rng, 1, 2, n, 8) for n in (37, 41)], mask=mask.copy(), bias=bias.copy()),
            *axes, number=i,
        )
        for i in range(6)
    )  # fmt: skip
    found = again(Capture("six", layers), folder)
    assert_same(Capture("six", layers), found)
    header, manifest, _ = parts(folder / "run.safetensors")
    assert header["mask.0"]["shape"] == [-(-37 * 41 // 8)]
    assert sum(name.startswith(("mask", "bias")) for name in header) == 2
    assert len(manifest["axes"]) == 2
    first, *others = (layer.look.problem.mask.array for layer in found.layers)
    assert all(np.shares_memory(first, other) for other in others)


def sharing(layers=12):
    """Layers that each hold a copy of the same keys and values."""
    rng = np.random.default_rng(0)
    key, value = drawn(rng, 1, 2, 41, 8), drawn(rng, 1, 2, 41, 8)
    axes = (numbered(37),), (numbered(41),)
    looks = [Lookup(drawn(rng, 1, 4, 37, 8), key.copy(), value.copy()) for _ in range(layers)]
    return Capture("sharing", tuple(Layer(look, *axes, number=i) for i, look in enumerate(looks)))


def test_keys_and_values_that_layers_share_are_stored_once(folder):
    capture = sharing()
    found = again(capture, folder)
    assert_same(capture, found)
    header, manifest, data = parts(folder / "run.safetensors")
    queries = [f"layers.{i}.query" for i in range(12)]
    assert set(header) - {"__metadata__"} == {*queries, "layers.0.key", "layers.0.value"}
    assert {layer["value"] for layer in manifest["layers"]} == {"layers.0.value"}
    assert len(data) == 4 * (12 * 4 * 37 + 2 * 2 * 41) * 8
    first, *others = (layer.look.problem.key for layer in found.layers)
    assert all(np.shares_memory(first, other) for other in others)


def test_files_that_store_them_once_a_layer_are_read(folder):
    """As version 1 was written at first: each layer names tensors of its own."""
    capture, file = sharing(2), folder / "run.safetensors"
    capture.save(file)
    header, manifest, data = parts(file)
    tensors = {"__metadata__": None}
    for side in ("key", "value"):
        begin, end = header[f"layers.0.{side}"]["data_offsets"]
        copy = [len(data), len(data) + end - begin]
        manifest["layers"][1][side] = f"layers.1.{side}"
        tensors[f"layers.1.{side}"] = header[f"layers.0.{side}"] | {"data_offsets": copy}
        data += data[begin:end]
    tensors["__metadata__"] = {ENTRY: json.dumps(manifest)}
    file.write_bytes(raw(header | tensors, data))
    assert_same(load(file), capture)


def test_arrays_that_differ_only_in_the_sign_of_zero_or_in_dtype_are_two(folder):
    zeros = np.zeros((1, 3, 2), np.float32)
    half, brain = zeros.astype(np.float16), zeros.astype(ml_dtypes.bfloat16)  # of the same bytes
    looks = [Lookup(*[array] * 3) for array in (zeros, -zeros, half, brain)]
    axes = (numbered(3),), (numbered(3),)
    capture = Capture("zeros", tuple(Layer(look, *axes, number=i) for i, look in enumerate(looks)))
    assert_same(capture, again(capture, folder))
    assert len(parts(folder / "run.safetensors")[0]) == 4 + 1


def test_arrays_are_views_of_the_file(folder):
    capture = captured(Lookup(*np.ones((3, 2, 4, 4), np.float32)))
    query = again(capture, folder).lookup().problem.query
    assert not query.flags.writeable
    base = query
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)
    file = folder / "run.safetensors"
    header, _, data = parts(file)
    start = file.stat().st_size - len(data) + header["layers.0.query"]["data_offsets"][0]
    with file.open("r+b") as stream:
        stream.seek(start)
        stream.write(np.float32(7).tobytes())
    assert query.flat[0] == 7


def test_a_file_larger_than_what_it_takes_to_open_it(tmp_path):
    dim = 2**27  # 1 GiB in all, a hole on disk
    tensors = {
        name: {"dtype": "F32", "shape": [1, dim], "data_offsets": [4 * dim * i, 4 * dim * (i + 1)]}
        for i, name in enumerate(("q", "k"))
    }
    layer = {"query": "q", "key": "k", "queries": [0], "keys": [0]}
    manifest = {"version": 1, "axes": [{"tokens": ["a"]}], "layers": [layer]}
    file = tmp_path / "vast.safetensors"
    content = raw({"__metadata__": {ENTRY: json.dumps(manifest)}, **tensors})
    with file.open("wb") as stream:
        stream.write(content)
        stream.truncate(len(content) + 8 * dim)
    tracemalloc.start()
    problem = load(file).lookup().problem
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.query.nbytes == 2**29
    assert most < 2**23


@pytest.mark.skipif(os.name != "posix", reason="hardware: not a POSIX system")
def test_a_file_may_be_replaced_while_it_is_mapped(folder):
    first = captured(Lookup(*np.ones((3, 2, 4, 4))))
    opened = again(first, folder)
    opened.save(folder / "run.safetensors")  # over itself
    again(captured(Lookup(*np.zeros((3, 1, 4, 4)))), folder)
    assert_same(first, opened)


@pytest.mark.parametrize("name", ["\x1b[31m\u202e", "a b'\"", "é" * 80])
def test_a_file_may_have_any_name(tmp_path, name):
    file = tmp_path / f"{name}.safetensors"
    capture = captured(Lookup(*np.ones((2, 1, 1))))
    capture.save(file)
    assert_same(load(file), capture)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def small():
    """A capture that is the same on every machine."""
    look = Lookup(
        [[[1, 0.5]], [[0, -2]]], [[[1, 0], [0, 1]], [[3, 4], [5, 6]]], causal=True, q_offset=1,
        mask=[[True, False]], window=(2, None), sinks=[0.25, -1],
    )  # fmt: skip
    layer = Layer(look, (Axis(("é",), (0,)),), (Axis(("<b>", "\ud800"), None, ((0, 1),)),),
                  "model.layers.3", 3, "decoder", (4, 9))  # fmt: skip
    return Capture("small", (layer,), {"model": "none"})


def test_the_bytes_of_version_1(tmp_path, request):
    file = tmp_path / "small.safetensors"
    golden = Path(__file__).parents[1] / "golden" / "capture_version_1.safetensors"
    small().save(file)
    if request.config.getoption("rewrite_golden"):
        golden.write_bytes(file.read_bytes())
    assert file.read_bytes() == golden.read_bytes()
    assert_same(load(golden), small())


def test_only_softlookups_entry_and_known_names_are_read(folder):
    file = folder / "run.safetensors"
    small().save(file)
    header, manifest, data = parts(file)
    header["__metadata__"]["format"] = "pt"  # other programs' entries are no fault
    file.write_bytes(raw(header, data))
    assert_same(load(file), small())
    for change, message in (
        ({"version": 2}, r"version must be at most 1; it is 2\. Get a newer softlookup"),
        ({"version": 0}, r"version must be 1; it is 0"),
        ({"colour": "red"}, r"holds 'colour', which has no meaning"),
    ):
        small().save(file)
        file.write_bytes(with_manifest(file, manifest | change))
        with pytest.raises(FileError, match=message):
            load(file)
    for place in (manifest["layers"][0], manifest["axes"][0], manifest["layers"][0]["mask"]):
        place["colour"] = "red"
        small().save(file)
        file.write_bytes(with_manifest(file, manifest))
        with pytest.raises(FileError, match="holds 'colour', which has no meaning"):
            load(file)
        del place["colour"]


def test_a_third_dtype_and_an_odd_place_in_the_file_are_read(folder):
    """Other writers align nothing: a tensor may start at any byte."""
    query = np.arange(6, dtype=ml_dtypes.bfloat16).reshape(2, 3)
    layer = {"query": "q", "key": "q", "queries": [0], "keys": [0], "scale": 1}
    manifest = json.dumps({"version": 1, "axes": [{"tokens": ["a", "b"]}], "layers": [layer]})
    tensors = {"q": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}
    for spaces in range(8):
        text = json.dumps({"__metadata__": {ENTRY: manifest}, **tensors}).encode() + b" " * spaces
        (folder / "odd.safetensors").write_bytes(raw(text, query.tobytes()))
        found = load(folder / "odd.safetensors")
        assert found.title == "odd"
        np.testing.assert_array_equal(found.lookup().problem.query[0, 0], query)
        np.testing.assert_array_equal(
            found.lookup().weights(), Lookup(query, query, scale=1).weights()
        )


def test_numbers_of_numpy_are_numbers(folder):
    look = Lookup(*np.ones((2, 3, 2, 4)))
    axis = (Axis(("a", "b"), tuple(np.arange(2)), ((np.int64(0), np.int64(1)),)),)
    capture = Capture(
        "np", (Layer(look, axis, axis, number=np.int64(3), heads=tuple(np.arange(3))),)
    )
    assert_same(capture, again(capture, folder))


@pytest.mark.parametrize(
    ("change", "error", "fragments"),
    [
        ({"heads": (0,)}, OptionError, ["layers[0].heads", "2 numbers", "got 1: 0"]),
        ({"heads": (0, 1, 1)}, OptionError, ["2 numbers", "got 3: 0, 1, 1"]),
        ({"heads": (3, 3)}, OptionError, ["layers[0].heads", "twice"]),
        ({"heads": (-1, 0)}, OptionError, ["layers[0].heads", "from 0"]),
        ({"queries": ()}, ShapeError, ["layers[0].queries", "one axis", "got 0"]),
        ({"keys": (numbered(4),) * 2}, ShapeError, ["layers[0].keys", "each of 3", "got 2"]),
        ({"keys": (numbered(4),) * 2 + (numbered(5),)}, ShapeError,
            ["layers[0].keys[2].tokens", "4 tokens", "got 5"]),
        ({"keys": (Axis(("a",) * 4, (0,)),)}, ShapeError, ["keys[0].words", "got 1"]),
        ({"keys": (Axis(("a",) * 4, (0, -2, 0, 0)),)}, OptionError, ["keys[0].words", "got -2"]),
        ({"keys": (Axis(("a",) * 4, None, ((3, 5),)),)}, OptionError,
            ["keys[0].padding", "0 ... 4", "[3, 5]"]),
        ({"keys": (Axis(("a",) * 4, None, ((3, 2),)),)}, OptionError, ["padding", "[3, 2]"]),
    ],
)  # fmt: skip
def test_a_capture_fits_together_or_is_refused(change, error, fragments):
    look = Lookup(*[np.ones((3, 2, n, 5)) for n in (6, 4)])
    with pytest.raises(error) as caught:
        Capture("x", (Layer(look, **{"queries": (numbered(6),), "keys": (numbered(4),)} | change),))
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"title": 3}, "title"),
        ({"about": {"model": None}}, "about"),
        ({"about": {1: "a"}}, "about"),
        ({"tokens": ("a", 1)}, "layers[0].queries[0].tokens"),
    ],
)
def test_texts_are_texts(given, place):
    axis = (Axis(given.pop("tokens", ("a", "b"))),)
    with pytest.raises(DtypeError) as caught:
        Capture(
            **{"title": "x", "layers": (Layer(Lookup(*np.ones((2, 2, 1))), axis, axis),)} | given
        )
    assert caught.value.argument == place


def test_a_capture_has_a_layer():
    with pytest.raises(ShapeError, match="at least one layer"):
        Capture("x", ())


def test_a_saved_map_is_told_from_a_damaged_file(tmp_path):
    file = tmp_path / "map.safetensors"
    look = Lookup(np.ones((3, 2)), np.ones((5, 2)))
    look.map().save(file)
    with pytest.raises(FileError) as refused:
        load(file)
    assert str(refused.value) == (
        f"{file}: must be a capture; it is a saved weight map. Open the capture that it was made "
        "of, or take softlookup.WeightMap.open(path, look)."
    )
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(FileError, match=r"must be a whole \.safetensors file"):
        load(file)
