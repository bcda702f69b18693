"""README and the pages on models: their examples run, and print what the page says."""

import pytest

from documented import ROOT, run_examples

pytest.importorskip("transformers", reason="models (make models installs what they need)")
pytest.importorskip("torch", reason="models (make models installs what they need)")

pytestmark = pytest.mark.models
PAGES = {  # and how many examples there are at least
    "README.md": 9,
    "docs/models.md": 8,
    "docs/torch.md": 15,
    "docs/watch.md": 12,
    "docs/watched.md": 7,
    "docs/survey.md": 5,
}


@pytest.mark.parametrize("page", PAGES)
def test_its_examples_run(page, minilm, tmp_path, monkeypatch):  # the model has to be there
    monkeypatch.chdir(tmp_path)
    run_examples(ROOT / page, PAGES[page])
