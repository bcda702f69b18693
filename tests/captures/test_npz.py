import io
import math
import struct
import zipfile

import ml_dtypes
import numpy as np
import pytest

from captured import texts
from softlookup import load
from softlookup.captures import npzform
from softlookup.errors import FileError

QUERY = np.arange(10, dtype=np.float32).reshape(5, 2)
KEY = np.arange(14, dtype=np.float32).reshape(7, 2)
VALUE = np.arange(21, dtype=np.float32).reshape(7, 3)


def save(tmp_path, **fields):
    file = tmp_path / "run.npz"
    np.savez(file, **({"query": QUERY, "key": KEY, "value": VALUE} | fields))
    return file


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def npy_header(descr, shape):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n"


def zipped(tmp_path, members, compression=zipfile.ZIP_STORED):
    file = tmp_path / "run.npz"
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file


def test_arrays_keep_their_dtype_and_options_their_meaning(tmp_path):
    capture = load(
        save(
            tmp_path,
            title=np.array("seven keys"),
            tokens=np.array(["a", "b", "c", "d", "e"]),
            scale=0.5,
            causal=np.array(True),
            q_offset=2,
            window=np.array([3, math.nan]),
            softcap=30.0,
            sinks=np.array([0.5], np.float32),
            mask=np.ones((5, 7), bool),
            bias=np.zeros((5, 7), np.float32),
            kv_lens=6,
        )
    )
    problem = capture.lookup().problem
    assert capture.title == "seven keys"
    assert texts(capture) == (("a", "b", "c", "d", "e"), tuple("0123456"))
    assert problem.dtype == np.float32
    assert (problem.scale, problem.causal, problem.softcap) == (0.5, True, 30.0)
    assert problem.window == (3, None)
    assert problem.q_offset.tolist() == [2]
    assert problem.kv_lens.tolist() == [6]
    np.testing.assert_array_equal(problem.value[0, 0], VALUE)


def test_compressed_and_fortran_order_are_read(tmp_path):
    file = tmp_path / "run.npz"
    np.savez_compressed(file, query=np.asfortranarray(QUERY), key=KEY.astype(">f4"))
    problem = load(file).lookup().problem
    np.testing.assert_array_equal(problem.query[0, 0], QUERY)
    np.testing.assert_array_equal(problem.key[0, 0], KEY)


def test_batches_and_heads_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    file = save(
        tmp_path,
        query=rng.normal(size=(2, 3, 4, 5, 7)),
        key=rng.normal(size=(2, 3, 2, 11, 7)),
        value=rng.normal(size=(2, 3, 2, 11, 13)),
    )
    capture = load(file)
    assert capture.lookup().problem.batch_shape == (2, 3)
    one = capture.lookup(head=3, batch=4)  # entry (1, 1)
    np.testing.assert_array_equal(one.attend(), capture.lookup().attend()[1, 1, 3])


@pytest.mark.parametrize(
    ("fields", "fragments"),
    [
        ({"query": np.array([object()])}, ["query", "never unpickled"]),
        ({"tokens": np.array(["a", 1], dtype=object)}, ["tokens", "never unpickled"]),
        ({"quer": QUERY}, ["'quer'", "Did you mean 'query'"]),
        ({"tokens": np.array([b"a"] * 5)}, ["tokens", "texts", "|S1"]),
        ({"tokens": np.array(["a", "b"])}, ["tokens", "q_len 5", "got 2"]),
        ({"tokens": np.array("abcde")}, ["tokens", "shape ()"]),
        ({"title": np.array(3)}, ["title", "one text", "int64"]),
        ({"scale": np.array([1.0])}, ["scale", "one number", "(1,)"]),
        ({"causal": np.array(1)}, ["causal", "one bool"]),
        ({"window": np.array([1.5, 2])}, ["window", "two whole numbers"]),
        ({"window": np.array(3)}, ["window", "two whole numbers"]),
        ({"kv_lens": np.array(1.5)}, ["kv_lens", "whole numbers"]),
        ({"query": QUERY.astype(complex)}, ["query", "complex128"]),
        ({"query": QUERY.astype(np.float64)}, ["key", "float64", "float32"]),
        ({"query": np.array("a")}, ["query", "<U1"]),
        ({"query": QUERY.astype(ml_dtypes.bfloat16)}, ["key", "bfloat16", "float32"]),
        ({"query": np.zeros((5, 2), "V4")}, ["query", "V4"]),
        ({"mask": np.zeros((5, 7), "V2")}, ["mask", "bool", "bfloat16"]),
        ({"q": QUERY}, ["'query' and 'q'", "Keep one"]),
        ({"mask": np.ones((5, 7), np.int8)}, ["mask", "bool", "int8"]),
        ({"key": KEY[:, :1]}, ["head_dim", "2", "1"]),
    ],
)
def test_a_wrong_field_is_one_sentence(tmp_path, fields, fragments):
    file = save(tmp_path, **fields)
    with pytest.raises(FileError) as caught:
        load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert message.count(str(file)) == 1, "a fault within a fault"
    assert "whole .npz" not in message
    assert message.isprintable()
    for fragment in fragments:
        assert fragment in message


@pytest.mark.parametrize(
    ("header", "fragments"),
    [
        (npy_header("<f8", (2**62, 2)), ["promises", str(2**62)]),
        (npy_header("<f8", (10**9,)), ["promises 8000000000 bytes"]),
        (npy_header("<f8", (3,)), ["promises 24 bytes", "8 follow"]),
        (npy_header("<f8", (0,)), ["promises 0 bytes", "8 follow"]),
        (npy_header("<f8", (-1,)), ["whole .npz"]),
        (npy_header("<f8", "x"), ["whole .npz"]),
        (npy_header("|O", (1,)), ["never unpickled"]),
        (npy_header([("a", "|O")], (1,)), ["never unpickled"]),
        (npy_header("bogus", (1,)), ["whole .npz"]),
        (b"\x93NUMPY\x01\x00" + struct.pack("<H", 9) + b"import os", ["whole .npz"]),
        (b"\x93NUMPY\x03\x00" + struct.pack("<I", 2) + b"{}", ["whole .npz", "(3, 0)"]),
        (b"\x93NUMPY\x01\x00" + struct.pack("<H", 60_000) + b"(" * 60_000, ["whole .npz"]),
        (b"not an array", ["whole .npz"]),
        (b"", ["whole .npz"]),
    ],
)
def test_a_lying_header_takes_no_memory(tmp_path, header, fragments):
    file = zipped(tmp_path, [("query.npy", header + bytes(8)), ("key.npy", npy(KEY))])
    with pytest.raises(FileError) as caught:
        load(file)
    message = str(caught.value)
    for fragment in fragments:
        assert fragment in message
    assert ("whole .npz" in message) == ("whole .npz" in fragments)
    assert message.count(str(file)) == 1, "a fault within a fault"


def test_a_zip_bomb_is_refused_by_its_directory(tmp_path, monkeypatch):
    monkeypatch.setattr(npzform, "LARGEST", 2**20)
    zeros = npy(np.zeros(2**18))
    file = zipped(tmp_path, [("query.npy", zeros)], zipfile.ZIP_DEFLATED)
    assert file.stat().st_size < 2**16
    with pytest.raises(
        FileError, match=r"run\.npz: must unpack to at most 1048576 bytes"
    ) as caught:
        load(file)
    assert "whole .npz" not in str(caught.value)


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_named(tmp_path, at):
    file = save(tmp_path)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * at)])
    with pytest.raises(FileError, match=r"whole \.npz file"):
        load(file)


def test_a_damaged_number_is_found_by_its_checksum(tmp_path):
    file = save(tmp_path)
    content = bytearray(file.read_bytes())
    place = content.find(QUERY.tobytes())
    content[place + 5] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileError, match="CRC"):
        load(file)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("numbers", [0, 1, 4096])
def test_a_wrong_checksum_is_found_at_every_size(tmp_path, compression, numbers):
    file = zipped(tmp_path, [("query.npy", npy(np.ones(numbers)))], compression)
    content = bytearray(file.read_bytes())
    place = content.index(b"PK\1\2") + 16  # the checksum in the zip's directory
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileError, match="CRC"):
        load(file)


def test_a_repeated_member_is_named(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        file = zipped(tmp_path, [("query.npy", npy(QUERY)), ("query.npy", npy(QUERY))])
    with pytest.raises(FileError, match=r": holds 'query' twice\. Keep one of them\.$"):
        load(file)


def test_a_name_without_a_meaning_is_named_with_all_that_have_one(tmp_path):
    file = tmp_path / "run.npz"
    np.savez(file, x=QUERY)
    with pytest.raises(FileError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: holds 'x', which has no meaning here. The names ")
    assert str(caught.value).endswith("bias, kv_lens.")


@pytest.mark.parametrize("name", ["../query.npy", "/etc/passwd", "query/a.npy", "query\n.npy"])
def test_a_members_name_is_only_a_name(tmp_path, name):
    with pytest.raises(FileError, match="no meaning") as caught:
        load(zipped(tmp_path, [(name, npy(QUERY))]))
    assert str(caught.value).isprintable()


def test_no_zip_at_all(tmp_path):
    file = tmp_path / "run.npz"
    file.write_bytes(b"hello")
    with pytest.raises(FileError, match=r"whole \.npz file"):
        load(file)
