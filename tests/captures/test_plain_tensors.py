""".safetensors files without a manifest: a lookup's plain arrays, or a model's weights."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from agreement import assert_same_bits
from captured import assert_same, texts
from softlookup import Lookup, load
from softlookup.captures import label
from softlookup.cli import main
from softlookup.errors import FileError

rng = np.random.default_rng(5)
QUERY, KEY, VALUE = (rng.standard_normal((1, 2, n, 3), dtype=np.float32) for n in (5, 5, 5))
LONG = {"query": QUERY, "key": KEY, "value": VALUE}
SHORT = {"q": QUERY, "k": KEY, "v": VALUE}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.safetensors"


@pytest.mark.parametrize("arrays", [LONG, SHORT, {"q": QUERY, "key": KEY}])
@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_plain_arrays_open_as_in_npz(tmp_path, file, arrays, metadata):
    save_file(arrays, file, metadata)
    np.savez(tmp_path / "run.npz", **arrays)
    found = load(file)
    assert found.title == "run"
    assert_same(found, load(tmp_path / "run.npz"))
    assert_same_bits(found.lookup().weights(), Lookup(QUERY, KEY).weights())


def test_short_names_are_known_in_json(tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"q": [[1, 0]], "k": [[1, 0], [0, 1]], "v": [[1], [2]]}))
    assert_same(load(file), label(Lookup([[1, 0]], [[1, 0], [0, 1]], [[1], [2]]), title="run"))
    file.write_text(json.dumps({"q": [1, 0], "k": [[1, 0]]}))
    with pytest.raises(FileError, match="q must be a list of rows"):
        load(file)


def test_options_are_arrays_or_json_texts_and_none_is_lost(file):
    options = {"scale": np.array(0.3), "causal": np.array(True), "window": np.array([2, np.nan]),
               "mask": np.tri(5, dtype=bool), "sinks": np.zeros(2, np.float32),
               "kv_lens": np.array([4])}  # fmt: skip
    said = {"scale": "0.3", "causal": "true", "window": "[2, null]",
            "mask": json.dumps(np.tri(5, dtype=bool).tolist()), "kv_lens": "[4]"}  # fmt: skip
    expected = Lookup(QUERY, KEY, VALUE, scale=0.3, causal=True, window=(2, None),
                      mask=np.tri(5, dtype=bool), sinks=options["sinks"], kv_lens=[4])  # fmt: skip
    save_file(LONG | options, file)
    assert_same(load(file), label(expected, title="run"))
    more = {"title": "five", "tokens": '["a", "b", "c", "d", "e"]', "framework": "mine"}
    save_file(LONG | {"sinks": options["sinks"]}, file, said | more)
    found = load(file)
    assert (found.title, texts(found)) == ("five", (tuple("abcde"), tuple("abcde")))
    assert_same_bits(found.lookup().attend(), expected.attend())


@pytest.mark.parametrize(
    ("tensors", "metadata", "fragments"),
    [
        (LONG, {"causal": "True"}, ["causal: 'True'", "must be JSON"]),
        (LONG, {"causal": "1"}, ["causal: '1'", "true"]),
        (LONG | {"causal": np.array(True)}, {"causal": "true"}, ["'causal' as a tensor and in"]),
        (LONG | {"query_states": QUERY}, {}, ["'query_states'", "no meaning"]),
        (LONG | {"v": QUERY}, {}, ["'value' and 'v'"]),
        ({"query": QUERY}, {}, ["must hold 'key'"]),
        (LONG | {"causal": np.array(1)}, {}, ["causal must be one bool", "int64"]),
        (LONG | {"key": KEY[..., :2]}, {}, ["key: head_dim"]),
    ],
)
def test_what_does_not_fit_is_one_sentence(file, tensors, metadata, fragments):
    save_file({name: np.array(one, order="C") for name, one in tensors.items()}, file, metadata)
    with pytest.raises(FileError) as caught:
        load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert message.count(str(file)) == 1
    for fragment in fragments:
        assert fragment in message


WEIGHTS = {
    "embeddings.position_ids": np.arange(4),  # a dtype that no lookup has: not what is told
    "encoder.layer.0.attention.self.query.weight": np.ones((4, 4), np.float16),
    "encoder.layer.0.attention.self.query.bias": np.ones(4, np.float16),
}


def test_a_models_weights_are_told_to_be_such(tmp_path):
    files = [tmp_path / name for name in
             ("model.safetensors", "flax.npz", "model.safetensors.index.json")]  # fmt: skip
    save_file(WEIGHTS, files[0], {"format": "pt"})
    np.savez(files[1], **WEIGHTS)
    files[2].write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(WEIGHTS, "a")}))
    for file in files:
        with pytest.raises(FileError) as caught:
            load(file)
        message = str(caught.value)
        assert message.startswith(
            f"{file}: must hold a lookup; it holds a model's weights, such as "
        )
        assert f"softlookup capture --model {tmp_path} --text TEXT -o run.safetensors" in message
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(FileError, match=f"a model's folder. .* show --model {tmp_path} --text"):
        load(tmp_path)


def test_commands_open_plain_arrays(file, capsys):
    save_file(SHORT, file)
    for command in (["info"], ["trace", "--query", "0"], ["inspect"]):
        assert main([command[0], str(file), *command[1:]]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert out
    save_file(WEIGHTS, file)
    for command in ("info", "trace", "inspect", "show", "map", "export"):
        more = ["-o", str(file.with_name("out.html" if command == "export" else "out.png"))]
        assert main([command, str(file), *(more if command in ("map", "export") else [])]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "a model's weights" in err
