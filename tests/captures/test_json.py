import json
import math

import numpy as np
import pytest

from captured import texts
from softlookup import load
from softlookup.captures import jsonform
from softlookup.errors import FileError

LOOKUP = {
    "query": [[1, 0], [0.5, -2]],
    "key": [[1, 0], [0, 1], [1, 1]],
    "value": [[1], [2], [3]],
}


def write(tmp_path, content, name="run.json"):
    file = tmp_path / name
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_lookup_is_read_as_float64_with_all_its_options(tmp_path):
    file = write(
        tmp_path,
        LOOKUP
        | {
            "title": "two over three",
            "tokens": ["a", "b"],
            "key_tokens": ["x", "y", "z"],
            "scale": 0.5,
            "causal": True,
            "q_offset": 1,
            "window": [2, None],
            "softcap": 30,
            "sinks": [-1],
            "mask": [[True, True, False], [True, True, True]],
            "bias": [[0, None, 1], ["-inf", 0, "-Infinity"]],
            "kv_lens": 3,
        },
    )
    capture = load(file)
    problem = capture.lookup().problem
    assert (capture.title, texts(capture)) == ("two over three", (("a", "b"), ("x", "y", "z")))
    assert problem.dtype == np.float64
    assert (problem.scale, problem.causal, problem.softcap) == (0.5, True, 30.0)
    assert problem.window == (2, None)
    assert problem.q_offset.tolist() == [1]
    assert problem.kv_lens.tolist() == [3]
    assert problem.sinks.tolist() == [-1.0]
    assert problem.mask.array.reshape(2, 3).tolist() == [[True, True, False], [True] * 3]
    assert problem.bias.array.reshape(2, 3).tolist() == [
        [0.0, -math.inf, 1.0], [-math.inf, 0.0, -math.inf],
    ]  # fmt: skip


def test_only_query_and_key_are_needed(tmp_path):
    capture = load(write(tmp_path, {"query": [[1]], "key": [[1], [2]], "value": None}))
    assert capture.lookup().problem.value is None
    assert (capture.title, texts(capture)) == ("run", (("0",), ("0", "1")))


def test_keys_are_named_like_queries_where_there_are_as_many(tmp_path):
    square = {"query": [[1], [2]], "key": [[1], [2]], "tokens": ["a", "b"]}
    assert texts(load(write(tmp_path, square))) == (("a", "b"), ("a", "b"))


def test_numbers_that_json_lacks_are_texts_or_the_words_of_python(tmp_path):
    text = '{"query": [[NaN, "Infinity"]], "key": [["NaN", -Infinity]]}'
    problem = load(write(tmp_path, text)).lookup().problem
    assert np.isnan(problem.query[0, 0, 0, 0])
    assert problem.query[0, 0, 0, 1] == math.inf
    assert np.isnan(problem.key[0, 0, 0, 0])
    assert problem.key[0, 0, 0, 1] == -math.inf


def test_a_byte_order_mark_and_an_uppercase_suffix_are_no_faults(tmp_path):
    text = "\ufeff" + json.dumps(LOOKUP)
    assert load(write(tmp_path, text, "RUN.JSON")).lookup().problem.kv_len == 3


def test_float64_survives_exactly(tmp_path):
    numbers = [0.1, 1e-320, -1.7976931348623157e308, 1 / 3, 2**53]
    problem = load(write(tmp_path, {"query": [numbers], "key": [numbers]})).lookup().problem
    assert problem.query.ravel().tolist() == numbers


def lookup_with(**fields):
    return json.dumps(LOOKUP | fields)


FAULTS = {
    "empty": ("", ["JSON", "line 1"]),
    "cut short": ('{"query": [[1', ["JSON", "line 1"]),
    "a list": ("[1]", ["object", "a list"]),
    "null": ("null", ["object", "null"]),
    "no query": ('{"key": [[1]]}', ["query"]),
    "null query": ('{"query": null, "key": [[1]]}', ["query"]),
    "no key": ('{"query": [[1]]}', ["key"]),
    "twice": ('{"query": [[1]], "query": [[2]], "key": [[1]]}', ["'query' twice"]),
    "near name": (lookup_with(quer=[[1]]), ["'quer'", "Did you mean 'query'"]),
    "near option": (lookup_with(soft_cap=3), ["'soft_cap'", "Did you mean 'softcap'"]),
    "far name": (lookup_with(zzz=1), ["'zzz'", "tokens"]),
    "ragged": (lookup_with(key=[[1, 0], [1], [1, 1]]), ["key[1]", "2 items", "has 1"]),
    "ragged depth": (lookup_with(key=[[1, 0], 3, [1, 1]]), ["key[1]", "the number 3"]),
    "text number": (lookup_with(key=[[1, "2"], [1, 0], [1, 1]]), ["key[0][1]", "'2'"]),
    "bool number": (lookup_with(key=[[1, True], [1, 0], [1, 1]]), ["key[0][1]", "true"]),
    "null number": (lookup_with(key=[[1, None], [1, 0], [1, 1]]), ["key[0][1]", "null"]),
    "object": (lookup_with(key={"a": 1}), ["key must be a number", "object"]),
    "one number": (lookup_with(key=3), ["key must be a list of rows", "one number", "[[1]]"]),
    "one row": (lookup_with(query=[1, 0]), ["query must be", "one row", "brackets", "[[1, 0]]"]),
    "one row of values": (lookup_with(value=[1, 0, 2]), ["value must be", "one row"]),
    "huge float": ('{"query": [[1e999]], "key": [[1]]}', ["1e999", "float64"]),
    "huge int": ('{"query": [[1%s]], "key": [[1]]}' % ("0" * 400), ["query", "float64"]),
    "endless int": ('{"query": [[1%s]], "key": [[1]]}' % ("0" * 5000), ["digits"]),
    "deep": (f'{{"query": {"[" * 17}{"]" * 17}, "key": [[1]]}}', ["16 deep", "17"]),
    "far too deep": ("[" * 200_000, ["deep"]),
    "int mask": (lookup_with(mask=[[0, 1, 1], [1, 1, 1]]), ["mask[0][0]", "true", "number 0"]),
    "text scale": (lookup_with(scale="big"), ["scale", "'big'"]),
    "huge scale": (lookup_with(scale=10**400), ["scale", "float64"]),
    "int causal": (lookup_with(causal=1), ["causal", "true or false", "number 1"]),
    "bare window": (lookup_with(window=3), ["window", "[left, right]", "number 3"]),
    "half a window": (lookup_with(window=[1.5, 2]), ["window", "whole number"]),
    "negative window": (lookup_with(window=[-1, 0], q_offset=0), ["window", ">= 0"]),
    "float kv_lens": (lookup_with(kv_lens=1.5), ["kv_lens", "whole number", "1.5"]),
    "long kv_lens": (lookup_with(kv_lens=4), ["kv_lens", "0 ... 3", "4"]),
    "huge q_offset": (lookup_with(q_offset=2**70), ["q_offset", "int64"]),
    "no q_offset": (lookup_with(causal=True), ["q_offset", "kv_len"]),
    "few tokens": (lookup_with(tokens=["a"]), ["tokens", "q_len 2", "got 1"]),
    "number token": (lookup_with(tokens=["a", 1]), ["tokens[1]", "text", "number 1"]),
    "one text": (lookup_with(tokens="ab"), ["tokens", "list of texts", "'ab'"]),
    "list title": (lookup_with(title=["a"]), ["title", "a text", "a list"]),
    "shapes": (lookup_with(key=[[1, 0, 0]]), ["head_dim", "2", "3"]),
    "control in name": (lookup_with(**{"a\nb\x1b[31m": 1}), ["no meaning"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence_that_names_file_and_place(tmp_path, fault):
    text, fragments = FAULTS[fault]
    file = write(tmp_path, text)
    with pytest.raises(FileError) as caught:
        load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert message.isprintable(), "a control character would reach the terminal"
    assert len(message) < 400 + len(str(file))
    for fragment in fragments:
        assert fragment in message


def test_bytes_that_are_no_text_are_named(tmp_path):
    file = tmp_path / "run.json"
    file.write_bytes(b'{"query": "\xff"}')
    with pytest.raises(FileError, match=r"UTF-8.*byte 11 is 0xff"):
        load(file)


def test_a_zip_under_a_json_name_is_recognised(tmp_path):
    file = tmp_path / "run.json"
    np.savez(tmp_path / "run.npz", query=np.ones((1, 1)))
    (tmp_path / "run.npz").rename(file)
    with pytest.raises(FileError, match="zip file"):
        load(file)


def test_too_much_text_is_refused_before_it_is_read(tmp_path):
    file = tmp_path / "run.json"
    with file.open("wb") as stream:
        stream.truncate(jsonform.LARGEST + 1)  # a hole: takes no room on disk
    with pytest.raises(FileError, match=r"at most 67108864 bytes.*numpy\.savez"):
        load(file)
