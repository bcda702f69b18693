"""What a newcomer reads names everything there is, and nothing that is not."""

import re

import pytest
from console import ROOT

import softlookup

PACKAGE = ROOT / "src" / "softlookup"


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def rooms():
    """The modules and packages of the package, named as in CONTRIBUTING's tree."""
    for path in sorted(PACKAGE.iterdir()):
        if path.is_dir() and any(path.glob("*.py")):
            yield f"{path.name}/"
        elif path.suffix == ".py":
            yield path.name


def tree():
    block = re.search(r"## The tree\n+```text\n(.*?)```", text("CONTRIBUTING.md"), re.DOTALL)[1]
    return re.findall(r"^  (\S+)", block.split("src/softlookup/\n")[1], re.MULTILINE)


def test_the_tree_names_every_room():
    assert sorted(set(tree())) == sorted(rooms())


@pytest.mark.parametrize("name", softlookup.__all__)
def test_the_api_page_has_every_public_name(name):
    assert re.search(
        rf"auto\w+:: ({re.escape(name)}|softlookup\.errors)$", text("docs/api.md"), re.MULTILINE
    )


def test_every_page_is_reachable():
    index = text("docs/index.md")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.stem == "index" or re.search(rf"^{page.stem}$", index, re.MULTILINE), page


def test_links_between_pages_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_picture_is_small_enough_to_open_at_once():
    assert (ROOT / "docs" / "images" / "lesson.png").stat().st_size <= 150_000


def test_the_citation_has_the_version():
    assert f"version: {softlookup.__version__}\n" in text("CITATION.cff")
    assert f'version = "{softlookup.__version__}"\n' in text("pyproject.toml")


def test_help_lists_every_target():
    makefile = text("Makefile")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    documented = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    assert sorted(phony) == sorted(documented)
