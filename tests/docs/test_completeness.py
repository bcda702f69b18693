"""What a newcomer reads names everything there is, and nothing that is not."""

import re
import shlex

import pytest
import typer
from console import ROOT, pages

import softlookup
from softlookup.cli.commands import app

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
    for page in pages():
        index = (page.parent / "index.md").read_text(encoding="utf-8")
        assert page.stem == "index" or re.search(rf"^{page.stem}$", index, re.MULTILINE), page
    assert re.search(r"^recipes/index$", text("docs/index.md"), re.MULTILINE)


def test_the_page_of_commands_has_every_command_and_option():
    root = typer.main.get_command(app)
    page = text("docs/commands.md")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert "`--version`" in page
    for name, command in root.commands.items():
        assert f"| `softlookup {name}" in page
        written = set(re.findall(r"`(--[a-z-]+)", sections[name]))
        options = {word for param in command.params for word in param.opts if word[:2] == "--"}
        assert written == options, name


def test_links_between_pages_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *pages()]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_what_a_reader_is_told_to_run_is_there():
    """Targets of the Makefile, scripts and records that pages name."""
    makefile = text("Makefile")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    targets |= {f"bench-{path.stem}" for path in (ROOT / "benchmarks").glob("*.py")}
    for page in [*ROOT.glob("*.md"), *pages()]:
        said = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```sh\n(.*?)^```", said, re.MULTILINE | re.DOTALL)
        code = "\n".join([*blocks, *re.findall(r"`([^`\n]+)`", said)])
        for line in re.findall(r"^make ([^#&;|\n]*)", code, re.MULTILINE):
            asked = {word for word in shlex.split(line) if "=" not in word}
            assert asked <= targets, f"{page.name}: make {line}"
        for path in re.findall(r"\b(?:tools|benchmarks|examples)/[\w./-]*\w", said):
            assert (ROOT / path).exists(), f"{page.name}: {path}"


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


def test_one_blas_thread_is_for_tests_only():
    makefile = text("Makefile")
    assert re.findall(r"^.*OPENBLAS_NUM_THREADS.*$", makefile, re.MULTILINE) == [
        "PYTEST := OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -p tests.left_out -n 2 --dist worksteal"
    ]
