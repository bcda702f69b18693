"""The plugin that says what a run left out, tried on small suites of its own."""

import os
import subprocess
import sys

import pytest

import left_out

SUITE = """
import pytest

def test_runs():
    pass

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.hardware
def test_hardware():
    pytest.skip("hardware: no NVIDIA GPU")

@pytest.mark.excuse
def test_excuse():
    pytest.skip("did not feel like it")
"""
SETTINGS = "[pytest]\nmarkers =\n    slow\n    browser\n    hardware\n    excuse\n"


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "test_small.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "left_out.py").symlink_to(left_out.__file__)
    return tmp_path


def run(suite, *words):
    plugins = ["left_out", "no:cacheprovider", *(["xdist"] if "-n" in words else [])]
    named = [word for name in plugins for word in ("-p", name)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *named, *words], cwd=suite,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # each would load zarr, and more
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
    assert len(said) == 1, done.stdout + done.stderr
    return done.returncode, said[0], done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_quick_leaves_out_slow_tests_and_says_so(suite, workers):
    code, said, _ = run(suite, "--quick", "-m", "not excuse", *workers)
    assert code == 0
    assert "1 slow" in said
    assert "1 skipped (hardware: no NVIDIA GPU)" in said


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_complete_refuses_a_skip_that_is_an_excuse(suite, workers):
    code, said, printed = run(suite, "--complete", *workers)
    assert code == 1
    assert "refused: test_small.py::test_excuse was skipped: did not feel like it" in printed
    assert "slow" not in said


def test_complete_accepts_missing_hardware(suite):
    code, said, _ = run(suite, "--complete", "-m", "not excuse")
    assert code == 0
    assert said == "left out: 1 skipped (hardware: no NVIDIA GPU)"


def test_a_module_that_skips_itself_is_refused_too(suite):
    (suite / "test_whole.py").write_text("import pytest\npytest.importorskip('nowhere')\n")
    code, _, printed = run(suite, "--complete", "-m", "not excuse")
    assert code == 1
    assert "refused: test_whole.py" in printed


def test_nothing_left_out(suite):
    assert run(suite, "--complete", "-k", "test_runs")[:2] == (0, "left out: nothing")


@pytest.mark.parametrize("needed", ["no_such_package", "pytest"])
def test_quick_leaves_out_models_where_a_package_is_missing(suite, needed):
    (suite / "pytest.ini").write_text(SETTINGS + "    models\n", encoding="utf-8")
    (suite / "conftest.py").write_text(
        f"import left_out\nleft_out.NEEDED_BY_MODELS = ('pytest', '{needed}')\n", encoding="utf-8"
    )
    (suite / "test_more.py").write_text(
        "import pytest\n\n@pytest.mark.models\ndef test_model():\n    pass\n", encoding="utf-8"
    )
    code, said, _ = run(suite, "--quick", "-m", "not excuse")
    assert code == 0
    assert ("1 of models (not all packages are here" in said) == (needed == "no_such_package")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize("interpreted", ["0", "1"])
def test_the_tests_of_the_gpu_run_where_kernels_are_interpreted(
    suite, workers, interpreted, monkeypatch
):
    monkeypatch.setenv("TRITON_INTERPRET", interpreted)
    folder = suite / "tests" / "gpu"
    folder.mkdir(parents=True)
    (folder / "test_kernel.py").write_text(f"def test_it():\n    assert {interpreted}\n")
    code, said, _ = run(suite, "--complete", "-k", "test_runs or test_it", *workers)
    expected = {"0": "tests/gpu (make test-gpu runs it)", "1": "nothing"}[interpreted]
    assert (code, said) == (0, f"left out: {expected}")


def test_what_was_not_asked_for_is_not_left_out(suite):
    (suite / "tests" / "gpu").mkdir(parents=True)
    (suite / "tests" / "gpu" / "test_kernel.py").write_text("def test_it():\n    assert 0\n")
    (suite / "tests" / "test_other.py").write_text("def test_it():\n    pass\n")
    assert run(suite, "--complete", "tests/test_other.py")[:2] == (0, "left out: nothing")
