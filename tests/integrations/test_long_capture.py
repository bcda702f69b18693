"""The tool that captures a real model over a long text, here over a short beginning of it."""

import platform

import numpy as np
import pytest

pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from planted_places import load_tool
from softlookup.captures import load

pytestmark = pytest.mark.models


@pytest.fixture
def tool(smollm2, monkeypatch):
    tool = load_tool("long_capture")
    monkeypatch.setattr(tool, "load_model", lambda name: {tool.MODEL: smollm2}[name])
    return tool


@pytest.mark.slow
def test_the_file_says_what_it_is_and_holds_the_model_s_own_lookups(tool, tmp_path, capsys):
    file = tmp_path / "long.safetensors"
    tool.main(["90", "-o", str(file)])
    assert f"wrote {file}: {file.stat().st_size:,} bytes" in capsys.readouterr().out
    found = load(file)
    assert found.title == "90 tokens of the Python language reference"
    assert "PSF-2.0" in found.about["license"]
    assert f"The Python {platform.python_version()} language reference" in found.about["origin"]
    assert [layer.number for layer in found.layers] == list(tool.LAYERS)
    for layer in found.layers:
        problem = layer.look.problem
        sizes = problem.heads, problem.kv_heads, problem.q_len, problem.head_dim
        assert sizes == (9, 3, 90, 64)
        assert problem.causal
        np.testing.assert_allclose(layer.look.weights().sum(axis=-1), 1, atol=1e-5)
    text = "".join(found.layers[0].query_axis().tokens)
    assert text.startswith("Execution model")
    assert tool.text().startswith("Execution model")


@pytest.mark.slow
def test_the_whole_text_is_long_enough(tool, smollm2):
    there = len(smollm2.tokenizer(tool.text())["input_ids"])
    assert there >= tool.LENGTH
    with pytest.raises(SystemExit, match=f"must lie in 1 ... {there:,}, all of the text; got 9"):
        tool.make(9_999_999)


def test_a_wrong_place_is_told_before_the_model_runs(tmp_path, monkeypatch):
    tool = load_tool("long_capture")
    monkeypatch.setattr(tool, "load_model", None)
    with pytest.raises(SystemExit, match="cannot be written: No such file or directory"):
        tool.main(["90", "-o", str(tmp_path / "none" / "a.safetensors")])
