"""No script rots unseen: each runs in its smallest form, and none leans on a private name of ours.

A benchmark's smallest form is `--quick`; those of tools stand below. They run in a copy of the
checkout, where they may write what they write. Shell scripts are run by targets of the Makefile
that `.ci/run` calls.
"""

import ast
import filecmp
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "tools")
TOOLS = {  # the words of each in its smallest form
    "floors.py": [],
    "gpu_table.py": [],
    "long_capture.py": ["1", "-o", "long.safetensors"],
    "looks_table.py": [],
    "picture.py": ["--quick"],
    "planted_capture.py": ["256", "-o", "planted.safetensors"],
    "scaling.py": ["--quick"],
    "shipped_captures.py": [".", "sentence"],  # the other one needs a large model
    "speed_table.py": [],
    "sweep_families.py": ["--quick"],
}
TARGETS = {  # the target of the Makefile that runs it, and what it says there
    "browser.sh": ("browser", "sh tools/browser.sh"),
    "core_guards.sh": ("test-asan", "sh tools/core_guards.sh"),
    "gpu_check.sh": ("interpreted", "tests/gpu"),  # which make test-gpu makes
    "install.py": ("$(MADE)/show", "$(RUN) tools/install.py"),  # which make setup makes
}
WRITERS = ("gpu_table.py", "looks_table.py", "speed_table.py")  # of pages that are up to date
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
TOP = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).iterdir()
    if path.is_file() and path.name != "__init__.py"
)


def named(path):
    return str(path.relative_to(ROOT))


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def is_script(path):
    return path.suffix == ".py" and 'if __name__ == "__main__":' in path.read_text("utf-8")


SCRIPTS = [path for path in TOP if is_script(path)]


@pytest.mark.parametrize("path", TOP, ids=named)
def test_every_script_has_a_smallest_form(path):
    name, source = path.name, path.read_text(encoding="utf-8")
    if name in TARGETS or name == "environment.sh":
        return
    assert path.suffix != ".sh", (
        f"{name}: say in TARGETS which target of the Makefile runs it, so that CI does."
    )
    if path.parent.name == "tools":
        assert name in TOOLS, f"{name}: write into TOOLS how it runs in a few seconds."
    else:
        assert path.suffix == ".py", f"{name}: a benchmark is a Python script."
        assert not is_script(path) or "measure.parsed(" in source, (
            f"{name}: take its flags from measure.parsed, and let --quick end in a few seconds."
        )


def test_what_is_listed_is_there():
    there = {path.name for path in TOP}
    assert TOOLS.keys() <= there
    assert TARGETS.keys() <= there


def recipes():
    """Return the lines of each target of the Makefile, by name."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.findall(r"^([\w$()/-]+):(?!=).*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    return dict(found)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_that_ci_calls_runs_each_of_these(name):
    target, words = TARGETS[name]
    rules = recipes()
    assert words in rules[target]
    if target.startswith("$(MADE)"):  # a file that every target needs
        return
    outer = next((each for each, lines in rules.items() if lines.rstrip().endswith(target)), target)
    assert re.search(rf"^house {outer}$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def test_the_makefile_asks_environment_sh_before_anything():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for question in ("stale", "missing"):
        assert f"$(shell sh tools/environment.sh {question} " in makefile


def test_the_check_of_a_gpu_runs_dry_there():
    dry = (ROOT / "tests" / "gpu" / "test_gpu_check.py").read_text(encoding="utf-8")
    assert 'COMMAND = ["sh", str(ROOT / "tools" / "gpu_check.sh")]' in dry
    assert 'check("--dry", ' in dry
    assert "for part in parts.PARTS" in dry


def modules_of(path):
    """Return the modules that a file imports, by their whole names."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_module_beside_them_is_used():
    """One of them imports it, or starts it as a process of its own (python -m)."""
    imported = {module for path in FILES for module in modules_of(path)}
    sources = "".join(path.read_text(encoding="utf-8") for path in (*FILES, *TOP))
    for path in set(FILES) - set(SCRIPTS):
        parts = path.relative_to(ROOT).with_suffix("").parts[1:]
        module = ".".join(part for part in parts if part not in ("__init__", "__main__"))
        started = f'"{module}"' in sources or f"-m {module} " in sources
        assert module in imported or started, f"{named(path)}: no script needs it; remove it."


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


PUBLIC = {"_asdict", "_fields", "_make", "_replace"}  # of a named tuple, for everyone
THEIRS = {"_from_config", "_attn_implementation"}  # of a model of transformers


def private_names(source):
    """Yield (line, name) for what no script may use: names of ours with an underscore before them.

    Of an object nobody knows here whose it is: an attribute counts as ours where it is not one of
    `self`, unless its object is a module of another package.
    """
    whole = ast.parse(source)
    others = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(whole)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.partition(".")[0] != "softlookup"
    }
    for node in ast.walk(whole):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("softlookup"):
            parts = [*node.module.split("."), *(alias.name for alias in node.names)]
            yield from ((node.lineno, part) for part in parts if is_private(part))
        elif isinstance(node, ast.Import):
            ours = [a.name for a in node.names if a.name.startswith("softlookup.")]
            parts = [part for name in ours for part in name.split(".")]
            yield from ((node.lineno, part) for part in parts if is_private(part))
        elif (
            isinstance(node, ast.Attribute)
            and is_private(node.attr)
            and node.attr not in PUBLIC | THEIRS
        ):
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            name = root.id if isinstance(root, ast.Name) else ""
            if name not in others | {"self", "cls"}:
                yield node.lineno, node.attr


@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_private_name_of_the_package_is_used(path):
    source = path.read_text(encoding="utf-8")
    compile(source, path, "exec")
    assert list(private_names(source)) == []


@pytest.mark.parametrize(("source", "found"), [
    ("from softlookup.backends.cpu import _call_of", ["_call_of"]),
    ("from softlookup._hidden import name", ["_hidden"]),
    ("import softlookup._hidden", ["_hidden"]),
    ("import softlookup as sl\nsl.machine._core()", ["_core"]),
    ("from softlookup.backends import cpu\ncpu._run(problem)", ["_run"]),
    ("sl.Lookup(q, k)._problem", ["_problem"]),
    ("import torch\ntorch.cuda._sleep(1)", []),
    ("from dask._task_spec import Task", []),
    ("made._replace(query=query), self._mine, sl.__version__", []),
])  # fmt: skip
def test_a_private_name_is_seen(source, found):
    assert [name for _, name in private_names(source)] == found


def marked(path):
    """Return the script with the marks of what it needs."""
    wanted = {module.partition(".")[0] for module in modules_of(path)}
    marks = [pytest.mark.browser] if "playwright" in wanted else []
    marks += [pytest.mark.models] if wanted & {"torch", "transformers"} else []
    return pytest.param(path, marks=marks, id=named(path))


def skip_without_what_it_needs(path):
    """Name what is not here; make test-all refuses that."""
    folder = {each.stem for each in path.parent.iterdir()}
    wanted = {module.partition(".")[0] for module in modules_of(path)} - folder
    wanted |= {"threadpoolctl"} if path.parent.name == "benchmarks" else set()
    wanted |= {"jax", "onnxruntime", "openvino", "torch"} if path.name == "core_speed.py" else set()
    missing = sorted(name for name in wanted if not find_spec(name))
    if missing:
        pytest.skip(f"{', '.join(missing)}: make peers and make models install what scripts need")
    if "playwright" in wanted and shutil.which("chromium") is None:
        pytest.skip("chromium is missing: make browser installs it")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of what scripts read and write; the package is the one that is installed."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    for name in ("docs", *FOLDERS):
        ignored = shutil.ignore_patterns("__pycache__", "_build")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    return copy


def run(command, checkout):
    return subprocess.run(
        [sys.executable, *command],
        cwd=checkout,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", [marked(path) for path in SCRIPTS if path.name not in TARGETS])
def test_the_smallest_form_runs(path, checkout):
    skip_without_what_it_needs(path)
    benchmark = path.parent.name == "benchmarks"
    words = ["--quick", "--record"] if benchmark else TOOLS[path.name]
    done = run([named(path), *words], checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    if benchmark:
        assert "they say that it runs" in done.stdout
        assert "\n  missing " not in done.stdout
        kept = list((checkout / "docs" / "measured").glob(f"{path.stem}*.txt"))
        assert done.stdout in [file.read_text(encoding="utf-8") for file in kept]
    if path.name in WRITERS:
        for page in ("README.md", "docs/benchmarks.md", "docs/gpu.md"):
            assert filecmp.cmp(ROOT / page, checkout / page, shallow=False), page


SPOILT = """
import runpy, sys
import softlookup
whole = {name}
{name} = lambda *given, **options: whole(*given, **options) * 1.5
sys.path.insert(0, "benchmarks")
sys.argv = ["benchmarks/{script}.py", "--quick", *{words}]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("script", "name", "words"), [
    ("blocked_vs_plain", "softlookup.attend", []),
    ("mask_cost", "softlookup.attend", []),
    pytest.param("gradients_speed", "softlookup.attend", [], marks=pytest.mark.models),
    ("core_speed", "softlookup.Lookup.attend", ["--parts", "forward"]),
])  # fmt: skip
def test_wrong_numbers_are_not_measured(script, name, words, checkout):
    skip_without_what_it_needs(ROOT / "benchmarks" / f"{script}.py")
    program = SPOILT.format(name=name, script=script, words=words)
    done = run(["-c", program], checkout)
    assert done.returncode != 0
    assert "AssertionError" in done.stderr, done.stderr
