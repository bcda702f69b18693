"""Finding a model on this machine: folders, files, packages, the cache; nothing else."""

import sys
from types import SimpleNamespace

import pytest

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, build  # noqa: E402 (it needs torch)

from softlookup.errors import FileError, OptionError, PackageError  # noqa: E402
from softlookup.integrations import models  # noqa: E402
from softlookup.integrations.models import find_model, load_weights, sizes  # noqa: E402
from softlookup.integrations.names import name_of  # noqa: E402

pytestmark = pytest.mark.models


@pytest.fixture
def folder(tmp_path):
    build(FAMILIES["gpt2"]).save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
def package(tmp_path, monkeypatch, folder):
    """A package that ships a model, and that must not be imported."""
    root = tmp_path / "site" / "shipping_model"
    root.mkdir(parents=True)
    (root / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    folder.rename(root / "model")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return root


def refusal(call, kind=FileError):
    with pytest.raises(kind) as refused:
        call()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_package_or_a_cache_gives_its_name_to_what_lies_in_it(tmp_path):
    package = tmp_path / "tiny_package"
    (package / "model").mkdir(parents=True)
    assert name_of(str(package / "model")) is None
    (package / "__init__.py").touch()
    assert name_of(str(package / "model")) == "tiny_package"
    held = tmp_path / "models--org--tiny" / "snapshots" / ("0f" * 20)
    held.mkdir(parents=True)
    (held / "config.json").write_text("{}")
    (held / "model.safetensors").touch()
    assert find_model(str(held)).name == "org/tiny"


def test_a_folder_is_loaded_as_the_class_that_it_names(folder):
    found = find_model(str(folder))
    assert (found.where, found.gguf, found.name) == (str(folder), None, "tiny")
    model = load_weights(found)
    assert type(model) is hf.GPT2LMHeadModel
    assert not model.training


@pytest.mark.parametrize("name", ["shipping_model", "shipping-model"])
def test_a_package_is_looked_into_without_being_imported(package, name):
    found = find_model(name)
    assert (found.where, found.name) == (str(package / "model"), "shipping_model")
    assert "shipping_model" not in sys.modules


@pytest.mark.parametrize("name", ["numpy", "no_such_package", "org/no-such-model", "."])
def test_what_holds_no_model_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert "must be a folder" in refusal(lambda: find_model(name))


def test_what_is_not_in_the_cache_is_not_fetched(monkeypatch):
    import socket

    def refuse(*_, **__):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    said = refusal(lambda: find_model("org/no-such-model"))
    assert "hf download org/no-such-model" in said


def test_a_name_in_the_cache_is_found(monkeypatch, folder):
    import huggingface_hub

    asked = []

    def snapshot(name, **options):
        asked.append((name, options))
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert find_model("org/tiny").name == "org/tiny"
    assert asked == [("org/tiny", {"local_files_only": True})]


def test_pickled_weights_are_refused(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04")
    assert "pickled ones are never loaded" in refusal(lambda: find_model(str(folder)))


def test_a_models_own_code_is_never_run(folder):
    (folder / "config.json").write_text(
        '{"model_type": "mine", "auto_map": {"AutoConfig": "code.Config"}}', encoding="utf-8"
    )
    (folder / "code.py").write_text("raise SystemExit('run')", encoding="utf-8")
    said = refusal(lambda: models.load_config(find_model(str(folder))))
    assert "without running the model's own code" in said


@pytest.mark.parametrize(
    ("files", "fragments"),
    [
        ([], ["config.json", ".gguf"]),
        (["a.gguf", "b.gguf"], ["holds 2", "a.gguf"]),
        (["config.json"], [".safetensors"]),
    ],
)
def test_folders_that_are_no_model(tmp_path, files, fragments):
    for file in files:
        (tmp_path / file).touch()
    said = refusal(lambda: find_model(str(tmp_path)))
    for fragment in fragments:
        assert fragment in said


def test_a_gguf_file_is_found_alone_and_in_its_folder(tmp_path):
    (tmp_path / "small.gguf").touch()
    assert find_model(str(tmp_path / "small.gguf"))[1:] == ("small.gguf", "small")
    assert find_model(str(tmp_path)).gguf == "small.gguf"
    (tmp_path / "notes.txt").touch()
    assert ".txt file" in refusal(lambda: find_model(str(tmp_path / "notes.txt")))


def test_reading_gguf_needs_its_packages(tmp_path, monkeypatch):
    (tmp_path / "small.gguf").touch()
    monkeypatch.setattr(
        models.importlib, "util", SimpleNamespace(find_spec=lambda name: None)
    )  # fmt: skip
    said = refusal(lambda: models.load_config(find_model(str(tmp_path))), PackageError)
    assert 'pip install "softlookup[gguf]"' in said


def test_sizes_are_those_of_the_arrays(folder):
    from softlookup.integrations.transformers import capture

    for family in ("gpt2", "llama"):
        model = build(FAMILIES[family])
        ids = torch.ones(1, 7, dtype=torch.long)
        for chosen in ({}, {"layers": [1], "heads": [0, 2]}):
            told = sizes(model.config, 7, **chosen)
            layers = [layer.look.problem for layer in capture(model, ids, **chosen).layers]
            arrays = [one for p in layers for one in (p.query, p.key, p.value)]
            assert told.calls == len(layers)
            assert told.bytes == sum(array.nbytes for array in arrays)


def test_sizes_are_told_in_a_line():
    config = build(FAMILIES["llama"]).config
    assert str(sizes(config, 1)) == "1 token, 2 layers, about 0 kB"
    assert str(sizes(config, 100_000, [0])) == "100,000 tokens, 1 layer, about 19.2 MB"
    assert sizes(build(FAMILIES["t5"]).config, 7).calls == 6


def test_sizes_of_layers_that_differ_are_those_of_the_largest():
    text = SimpleNamespace(num_hidden_layers=2, num_attention_heads=[2, 4], head_dim=3,
                           num_key_value_heads=[1, 2])  # fmt: skip
    config = SimpleNamespace(get_text_config=lambda: text, is_encoder_decoder=False)
    assert sizes(config, 1).bytes == 2 * (4 + 2 * 2) * 3 * 4
    del text.num_hidden_layers
    assert "num_hidden_layers" in refusal(lambda: sizes(config, 1), OptionError)


@pytest.mark.parametrize("chosen", [{"layers": [2]}, {"heads": [4]}])
def test_sizes_refuse_what_is_not_there(chosen):
    config = build(FAMILIES["llama"]).config
    said = refusal(lambda: sizes(config, 1, **chosen), OptionError)
    assert f"0 ... {1 if 'layers' in chosen else 3}" in said
