"""A tiny model in a folder, and a corpus for it. Nothing is fetched."""

import json
import os

import pytest

from surveyed import TEXTS
from unhurried import no_line_of_progress  # noqa: F401

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before any library reads it


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
    pytest.importorskip("torch", reason="models (make models installs what they need)")
    from integrations.test_tokenization import byte_level
    from integrations.tiny import SMALL, build

    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    options = SMALL | {"vocab_size": 300, "num_key_value_heads": 2, "intermediate_size": 32,
                       "max_position_embeddings": 24}  # fmt: skip
    build(lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**options))).save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return folder


@pytest.fixture
def corpus(tmp_path):
    return write(
        tmp_path / "texts.jsonl", [{"text": text, "id": i} for i, text in enumerate(TEXTS)]
    )


def write(file, lines):
    """Write a corpus; texts as they are, other things as JSON."""
    made = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("".join(f"{line}\n" for line in made), encoding="utf-8")
    return file


def contents(folder):
    """Return the bytes of every file of a survey, by its place in the folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.fixture
def written():
    return write


@pytest.fixture
def assert_same():
    """Assert that two folders hold the same survey, bit for bit."""

    def assert_same(one, other):
        mine, theirs = contents(one), contents(other)
        assert list(mine) == list(theirs)
        assert [name for name, held in mine.items() if held != theirs[name]] == []
        assert any(name.endswith(".parquet") for name in mine)

    return assert_same
