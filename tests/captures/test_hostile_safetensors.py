"""Whatever stands in a .safetensors file, it is read or refused by one sentence: nothing else."""

import copy
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from captured import (
    ENTRY,
    captured,
    knows_small_floats,
    parts,
    raw,
    two_stacks,
    with_manifest,
)
from softlookup import Lookup, load
from softlookup.captures import manifest_reading
from softlookup.cli.description import describe
from softlookup.errors import FileError
from softlookup.viewer import Session

MARK = "@@@"
WRONG = (
    "5", "-1", "null", "{}", "[]", "[[0]]", '"x"', "true", "1.5", "1e999", "NaN", "1" + "0" * 4000,
    "1" + "0" * 5000, str(2**62), str(2**64 - 1), '"\\ud800"', "[" * 99_999,
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture
def file(folder):
    """A good file with everything in it."""
    file = folder / "run.safetensors"
    two_stacks().save(file)
    return file


def refusal(file):
    """Return the sentence that refuses a file, None where it is read and everything in it works."""
    try:
        capture = load(file)
    except FileError as error:
        message = str(error)
        assert message.startswith(f"{file}: ")
        assert message.count(str(file)) == 1, "a fault within a fault"
        assert message.isprintable()
        assert message.endswith((".", "?"))
        assert len(message) < 500 + len(str(file))
        return message
    assert describe(capture, "x")
    session = Session(capture)
    for op in ("info", "grid"):
        json.dumps(session.handle(op, {})[0], allow_nan=False)
    return None


def places(part, path=()):
    """Yield the path of every entry within nested lists and objects."""
    yield path
    if isinstance(part, dict | list):
        for name, one in part.items() if isinstance(part, dict) else enumerate(part):
            yield from places(one, (*path, name))


def replaced(manifest, path, new):
    """Return `manifest` as text, the JSON text `new` at `path`; None takes the entry out."""
    whole = {"": copy.deepcopy(manifest)}
    *way, last = ("", *path)
    part = whole
    for name in way:
        part = part[name]
    if new is None:
        del part[last]
        return json.dumps(whole[""]) if path else None
    part[last] = MARK
    return json.dumps(whole[""]).replace(f'"{MARK}"', new)


def few(manifest):
    """Return the paths in `manifest`, of long lists the first and last entries only."""
    for path in places(manifest):
        if "tokens" not in path[:-1] or path[-1] in (0, 2):
            yield path


@pytest.mark.parametrize("wrong", [None, *WRONG], ids=lambda wrong: str(wrong)[:12])
def test_any_entry_of_a_manifest_may_be_wrong(file, wrong):
    _, manifest, _ = parts(file)
    refused = 0
    for path in few(manifest):
        text = replaced(manifest, path, wrong)
        if text is not None:
            file_of = with_manifest(file, text)
            file.with_name("wrong.safetensors").write_bytes(file_of)
            refused += refusal(file.with_name("wrong.safetensors")) is not None
    assert refused > 40


def test_a_good_manifest_is_no_fault(file):
    _, manifest, _ = parts(file)
    file.write_bytes(with_manifest(file, manifest))
    assert refusal(file) is None


def test_a_file_may_end_anywhere(folder):
    file = folder / "small.safetensors"
    captured(Lookup(*np.ones((3, 1, 2)), mask=[[True]])).save(file)
    content = file.read_bytes()
    for end in range(len(content)):
        file.write_bytes(content[:end])
        assert "whole .safetensors file" in refusal(file), end
    file.write_bytes(content + b"\0")
    assert refusal(file) is not None


def tensor(dtype="F32", shape=(1, 2), offsets=(0, 8)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def header(**tensors):
    layer = {"query": "q", "key": "k", "queries": [0], "keys": [0]}
    manifest = {"version": 1, "axes": [{"tokens": ["a"]}], "layers": [layer]}
    good = {"q": tensor(), "k": tensor(offsets=(8, 16))}
    return {"__metadata__": {ENTRY: json.dumps(manifest)}} | good | tensors


def nested(depth):
    return b'{"q":' * depth + b"1" + b"}" * depth


HEADERS = {
    "beyond the end": (header(k=tensor(offsets=(8, 24), shape=(1, 4))), "whole"),
    "far beyond": (header(k=tensor(offsets=(8, 2**62), shape=(1, 2**60 - 2))), "whole"),
    "overlap": (header(k=tensor(offsets=(4, 12))), "whole"),
    "the same twice": (header(k=tensor()), "whole"),
    "a gap": (header(k=tensor(offsets=(12, 20))), "whole"),
    "negative offsets": (header(k=tensor(offsets=(-8, 0))), "whole"),
    "backwards": (header(k=tensor(offsets=(16, 8))), "whole"),
    "offsets that are texts": (header(k=tensor(offsets=("8", "16"))), "whole"),
    "three offsets": (header(k=tensor(offsets=(8, 16, 24))), "whole"),
    "shape and bytes differ": (header(k=tensor(offsets=(8, 16), shape=(1, 3))), "whole"),
    "negative shape": (header(k=tensor(offsets=(8, 16), shape=(-1, -2))), "whole"),
    "an overflowing shape": (header(k=tensor(offsets=(8, 16), shape=(2**63, 2**63, 2))), "whole"),
    "a shape that wraps to fit": (header(k=tensor(offsets=(8, 16), shape=(2**62, 2, 2))), "whole"),
    "a vast empty shape": (header(z=tensor(offsets=(16, 16), shape=(2**40, 0, 2**20))), "empty"),
    "too vast an empty shape": (header(z=tensor(offsets=(16, 16), shape=(2**62, 0, 4))), "empty"),
    "a float shape": (header(k=tensor(shape=(1.0, 2), offsets=(8, 16))), "whole"),
    "integers": (header(k=tensor(dtype="I64", shape=(1, 1), offsets=(8, 16))), "I64"),
    "bytes for numbers": (header(k=tensor(dtype="U8", shape=(1, 8), offsets=(8, 16))), "U8"),
    "bools": (header(k=tensor(dtype="BOOL", shape=(1, 8), offsets=(8, 16))), "BOOL"),
    "8-bit floats": (header(k=tensor(dtype="F8_E4M3", shape=(1, 8), offsets=(8, 16))), "F8_E4M3"),
    "no dtype known": (header(k=tensor(dtype="X9", offsets=(8, 16))), "whole"),
    "mixed dtypes": (header(k=tensor(dtype="F64", shape=(1, 1), offsets=(8, 16))), "dtype"),
    "one axis": (header(k=tensor(shape=(2,), offsets=(8, 16))), "axes"),
    "no axes": (header(k=tensor(dtype="F64", shape=(), offsets=(8, 16))), "2 axes"),
    "no metadata": ({"q": tensor(), "k": tensor(offsets=(8, 16))}, None),
    "null metadata": (header(__metadata__=None), None),
    "no metadata, another name": ({"q": tensor(), "Key": tensor(offsets=(8, 16))}, "'key'"),
    "no metadata, a key is missing": ({"q": tensor(), "v": tensor(offsets=(8, 16))}, "'key'"),
    "no metadata, twice": ({"q": tensor(), "query": tensor(offsets=(8, 16))}, "'q'"),
    "no metadata, 4-bit floats": (
        {"q": tensor(), "k": tensor("F4", (1, 16), (8, 16))}, "it is F4"),
    "no metadata, a vast empty shape": (
        header(__metadata__=None, v=tensor(offsets=(16, 16), shape=(2**40, 0, 2**20))), "empty"),
    "an option that is no JSON": (header(__metadata__={"causal": "yes"}), "json.dumps"),
    "nested options": (header(__metadata__={"causal": "[" * 99_999}), "json.dumps"),
    "metadata of numbers": (header(__metadata__={ENTRY: 1}), "whole"),
    "a list": ([1], "whole"),
    "another name": (header(K=tensor(offsets=(16, 16), shape=(0, 2))), "'K', which is in the file"),
    "a tensor is missing": (header(), None),
    "nested": (nested(500), "whole"),
    "deeply nested": (nested(200_000), "whole"),
    "a tensor twice": (json.dumps(header()).replace('"k":', '"q":').encode(), "q"),
    "metadata twice": (b'{"__metadata__":{},' + json.dumps(header()).encode()[1:], "whole"),
    "an entry twice": (json.dumps(header()).encode().replace(b'"dtype"', b'"dtype":"F64","dtype"'),
        "whole"),
    "no text": (b"\xff" * 40, "whole"),
    "a lone surrogate": (b'{"\\ud800":1}', "whole"),
    "empty": (b"", "whole"),
    "NaN": (json.dumps(header()).encode().replace(b"[8, 16]", b"[NaN, 16]"), "whole"),
    "1e999": (json.dumps(header()).encode().replace(b"[8, 16]", b"[8, 1e999]"), "whole"),
    "10^4000": (json.dumps(header()).encode().replace(b"[8, 16]", b"[8, 1%s]" % (b"0" * 4000)),
        "whole"),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_a_lying_header_is_one_sentence(folder, name):
    given, fragment = HEADERS[name]
    if "-bit floats" in name and not knows_small_floats():
        fragment = "whole .safetensors file"  # what an old release says of a dtype it does not know
    file = folder / "lying.safetensors"
    file.write_bytes(raw(given, bytes(16)))
    message = refusal(file)
    assert (message is None) == (fragment is None)
    assert fragment is None or fragment in message


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**63, 2**64 - 1, 2**62 - 4])
def test_a_lying_header_length_is_one_sentence(file, length):
    content = file.read_bytes()
    file.write_bytes(length.to_bytes(8, "little") + content[8:])
    assert "whole .safetensors file" in refusal(file)


def layer(i=0, **change):
    return lambda manifest: manifest["layers"][i].update(change)


def axis(**change):
    return lambda manifest: manifest["axes"][0].update(change)


def mask(**change):
    return lambda manifest: manifest["layers"][0]["mask"].update(change)


FAULTS = {
    "tensor missing": (layer(query="none"), ["layers[0].query", "'none'", "not in the file"]),
    "a long name": (layer(query="n" * 9999), ["layers[0].query", "n" * 40]),
    "tensor unused": (layer(2, bias=None), ["layers[2].bias", "a text", "null"]),
    "too few bits": (mask(shape=[2, 1, 5, 9]), ["layers[0].mask", "one bit", "7 bytes"]),
    "too many bits": (mask(shape=[2, 1, 5, 4]), ["layers[0].mask", "7 bytes"]),
    "negative mask": (mask(shape=[-2, -1, 5, 5]), ["layers[0].mask"]),
    "vast mask": (mask(shape=[2**60, 2**60, 5, 5]), ["layers[0].mask"]),
    "mask over floats": (mask(tensor="layers.0.query"), ["list of bytes", "float32"]),
    "mask of another shape": (mask(shape=[2, 5, 5]), ["layers[0]", "mask", "[:, None]"]),
    "bits for numbers": (layer(query="mask.0"), ["layers[0].query", "floats", "U8"]),
    "span out of range": (axis(padding=[[0, 6]]), ["padding", "0 ... 5", "[0, 6]"]),
    "span backwards": (axis(padding=[[2, 1]]), ["padding", "[2, 1]"]),
    "span of three": (axis(padding=[[0, 1, 2]]), ["axes[0].padding[0]", "[start, stop]"]),
    "span 5": (axis(padding=5), ["axes[0].padding", "a list", "5"]),
    "span null": (axis(padding=None), ["axes[0].padding", "a list", "null"]),
    "span object": (axis(padding={}), ["axes[0].padding", "a list", "an object"]),
    "spans 5": (axis(padding=[5]), ["axes[0].padding[0]", "a list", "5"]),
    "few words": (axis(words=[0]), ["words", "5 tokens", "got 1"]),
    "words below -1": (axis(words=[-2] * 5), ["words", "-2"]),
    "prompt out of range": (axis(prompt=6), ["prompt", "0 ... 5", "got 6"]),
    "prompt below 0": (axis(prompt=-1), ["prompt", "0 ... 5", "got -1"]),
    "prompt a text": (axis(prompt="3"), ["axes[0].prompt", "a whole number", '"3"']),
    "few tokens": (axis(tokens=["a"], words=None, padding=[]), ["tokens", "5", "got 1"]),
    "a number for a token": (axis(tokens=[1] * 5), ["axes[0].tokens[0]", "a text", "1"]),
    "heads twice": (layer(heads=[1, 1, 2, 3]), ["layers[0].heads", "twice"]),
    "few heads": (layer(heads=[1]), ["layers[0].heads", "4 numbers", "got 1"]),
    "negative head": (layer(heads=[-1, 0, 1, 2]), ["layers[0].heads", "from 0"]),
    "axes out of range": (layer(queries=[3]), ["layers[0].queries", "one of 3 axes", "3"]),
    "negative axes": (layer(queries=[-1]), ["layers[0].queries", "-1"]),
    "three axes of two": (layer(queries=[0, 1, 0]), ["layers[0].queries", "2 batch", "got 3"]),
    "axes swapped": (layer(2, queries=[2], keys=[0, 1]), ["tokens"]),
    "text scale": (layer(scale="0.3"), ["layers[0].scale", "a number", '"0.3"']),
    "infinite scale": (layer(scale=float("inf")), ["scale", "finite"]),
    "huge scale": (layer(scale=10**4000), ["layers[0].scale", "float64"]),
    "softcap 0": (layer(softcap=0), ["softcap", "> 0"]),
    "truth 1": (layer(causal=1), ["layers[0].causal", "true or false", "1"]),
    "window -1": (layer(window=[-1, 0]), ["window", ">= 0"]),
    "window of three": (layer(window=[1, 2, 3]), ["layers[0].window", "[left, right]"]),
    "kv_lens too long": (layer(kv_lens=[6, 5]), ["kv_lens", "0 ... 5", "6"]),
    "kv_lens of three": (layer(kv_lens=[1, 1, 1]), ["kv_lens", "(2,)", "(3,)"]),
    "kv_lens ragged": (layer(kv_lens=[[1], 1]), ["layers[0].kv_lens", "equal length"]),
    "kv_lens true": (layer(kv_lens=[True, 1]), ["layers[0].kv_lens[0]", "true"]),
    "q_offset wraps": (layer(q_offset=[2**64 - 1, 0]), ["layers[0].q_offset[0]", "2**62"]),
    "q_offset far": (layer(q_offset=2**61), ["q_offset", "2**60"]),
    "no layers": (lambda manifest: manifest.update(layers=[]), ["layers", "at least one"]),
    "about a number": (lambda manifest: manifest.update(about={"a": 1}), ["about.a", "a text"]),
    "unknown name": (layer(colour="red"), ["layers[0]", "'colour'", "no meaning"]),
    "a hostile name": (layer(**{"\x1b[31m\u202e\n": 1}), ["no meaning"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_manifest_names_its_place(file, name):
    change, fragments = FAULTS[name]
    _, manifest, _ = parts(file)
    change(manifest)
    file.write_bytes(with_manifest(file, manifest))
    message = refusal(file)
    assert message is not None
    for fragment in fragments:
        assert fragment in message


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "manifest"),
        ("{", "manifest"),
        ("[]", "an object"),
        ("[" * 200_000, "deep"),
        ('{"version": 1, "version": 1}', "'version' twice"),
        ('{"version": 1, "axes": [], "layers": [{"query": "a", "query": "b"}]}', "'query' twice"),
        ('{"version": 1%s}' % ("0" * 5000), "digits"),
        ('{"version": "1"}', "whole number"),
        ('{"version": true}', "whole number"),
        ('{"version": 1.0}', "whole number"),
        ('{"version": 1}', "'axes'"),
    ],
)
def test_a_manifest_that_is_none_is_one_sentence(file, text, fragment):
    file.write_bytes(with_manifest(file, text))
    assert fragment in refusal(file)


def test_many_layers_may_name_one_mask_without_much_memory(folder):
    cells = 2**20
    q, k = tensor("F16", (1024, 1), (0, 2048)), tensor("F16", (1024, 1), (2048, 4096))
    layer = {"query": "q", "key": "k", "queries": [0], "keys": [0],
             "mask": {"tensor": "m", "shape": [1024, 1024]}}  # fmt: skip
    manifest = {"version": 1, "axes": [{"tokens": [""] * 1024}], "layers": [layer] * 500}
    given = {"__metadata__": {ENTRY: json.dumps(manifest)}, "q": q, "k": k,
             "m": tensor("U8", (cells // 8,), (4096, 4096 + cells // 8))}  # fmt: skip
    file = folder / "many.safetensors"
    file.write_bytes(raw(given, bytes(4096 + cells // 8)))
    masks = [layer.look.problem.mask.array for layer in load(file).layers]
    assert all(np.shares_memory(mask, masks[0]) for mask in masks)


def test_too_many_heads_are_refused_before_they_are_counted(folder):
    heads = 2**19
    shape = (1, heads, 0, 1)
    given = header(q=tensor("F32", shape, (0, 0)), k=tensor("F32", shape, (0, 0)))
    manifest = {"version": 1, "axes": [{"tokens": []}],
                "layers": [{"query": "q", "key": "k", "queries": [0], "keys": [0]}]}  # fmt: skip
    given["__metadata__"] = {ENTRY: json.dumps(manifest)}
    file = folder / "heads.safetensors"
    file.write_bytes(raw(given))
    assert "at most 65,536 heads" in refusal(file)


@pytest.mark.parametrize(("count", "fault"), [
    (4096, None), (4097, "layers must be at most 4,096; there are 4,097"),
    (60_001, "layers must be at most 4,096; there are 60,001"),
])  # fmt: skip
def test_too_many_layers_are_refused_before_one_is_read(folder, monkeypatch, count, fault):
    made = []

    def counted(*args, **options):
        made.append(args)
        return Lookup(*args, **options)

    monkeypatch.setattr(manifest_reading, "Lookup", counted)
    given = header()
    manifest = json.loads(given["__metadata__"][ENTRY])
    given["__metadata__"] = {ENTRY: json.dumps(manifest | {"layers": manifest["layers"] * count})}
    file = folder / "layers.safetensors"
    file.write_bytes(raw(given, bytes(16)))
    if fault is None:
        assert len(load(file).layers) == count
    else:
        assert fault in refusal(file)
    assert len(made) == (0 if fault else count)


class Boom:
    def __reduce__(self):
        return os._exit, (3,)


@pytest.mark.parametrize("form", ["safetensors", "json", "npz"])
def test_another_form_under_this_name_is_refused(folder, form):
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("query.npy", b"x")
    contents = {
        "pickle": pickle.dumps(Boom()),
        "zip": zipped.getvalue(),
        "json": b'{"query": [[1]], "key": [[1]]}',
        "text": "héllo".encode(),
    }
    captured(Lookup(*np.ones((2, 1, 1)))).save(folder / "good.safetensors")
    contents["safetensors"] = (folder / "good.safetensors").read_bytes()
    for name, content in contents.items():
        if name != form:
            file = folder / f"{name}.{form}"
            file.write_bytes(content)
            assert refusal(file) is not None
