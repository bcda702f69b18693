"""Real notebooks for the browser tests: a JupyterLab and a marimo, each on a free port, offline."""

import contextlib
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from patience import PATIENCE

PLUGINS = {
    "fetchNews": "@jupyterlab/apputils-extension:notification",
    "theme": "@jupyterlab/apputils-extension:themes",
    "commsOverSubshells": "@jupyterlab/apputils-extension:kernels-settings",
}
QUIET = {"fetchNews": "false"}


def needs(*packages):
    """Skip where one of these is not installed."""
    for name in packages:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is missing: make notebooks installs it")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command, url, folder, **environ):
    """Start a program in a folder of its own, wait until it answers, and end it afterwards."""
    log = Path(folder) / "log.txt"
    with log.open("wb") as out:
        program = subprocess.Popen(
            command,
            cwd=folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=os.environ | environ,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - our own program
                break
            assert program.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield log
    finally:
        program.terminate()
        try:
            program.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


@contextlib.contextmanager
def jupyter_lab(folder, **settings):
    """Serve a folder of notebooks with JupyterLab; yields what gives a notebook's address.

    Settings are those of the plugins in `PLUGINS`.
    """
    port, token = free_port(), secrets.token_hex(16)
    own = Path(folder) / "overrides"
    own.mkdir()
    (own / "overrides.json").write_text(
        json.dumps({PLUGINS[name]: {name: given} for name, given in (QUIET | settings).items()})
    )
    for name in ("config", "data", "runtime", "ipython"):
        (Path(folder) / name).mkdir()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--allow-root", "--no-browser"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"),
        *("--LabApp.extension_manager=readonly", f"--LabApp.app_settings_dir={own}"),
        "--ServerApp.terminals_enabled=False",
    ]
    environ = {
        "JUPYTER_CONFIG_DIR": f"{folder}/config",
        "JUPYTER_DATA_DIR": f"{folder}/data",
        "JUPYTER_RUNTIME_DIR": f"{folder}/runtime",
        "IPYTHONDIR": f"{folder}/ipython",
        "OPENBLAS_NUM_THREADS": "1",
    }
    base = f"http://127.0.0.1:{port}"
    with running(command, f"{base}/api?token={token}", folder, **environ):
        yield lambda name: f"{base}/lab/tree/{name}?token={token}&reset"


@contextlib.contextmanager
def marimo(folder, name):
    """Edit one marimo notebook in dark colours; yields its address."""
    port = free_port()
    own = folder / "config" / "marimo"
    own.mkdir(parents=True)
    (own / "marimo.toml").write_text('[display]\ntheme = "dark"\n', encoding="utf-8")
    command = [
        *(sys.executable, "-m", "marimo", "--yes", "edit", name, "--headless", "--no-token"),
        *("--host=127.0.0.1", f"--port={port}", "--skip-update-check"),
    ]
    environ = {"XDG_CONFIG_HOME": f"{folder}/config", "OPENBLAS_NUM_THREADS": "1"}
    url = f"http://127.0.0.1:{port}"
    with running(command, f"{url}/health", folder, **environ):
        yield url


def write_notebook(path, *cells):
    """Write an .ipynb of code cells for the python3 kernel of this environment."""
    code = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = {
        "cells": [code | {"id": f"cell-{n}", "source": cell} for n, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(notebook), encoding="utf-8")


class LabPage:
    """A notebook in JupyterLab, as its reader uses it."""

    def __init__(self, page, address):
        self.page = page
        page.goto(address)
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        # what is run before Lab is connected is dropped
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def cell(self, number):
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def prompt(self, number):
        return self.cell(number).locator(".jp-InputPrompt").inner_text()

    def run(self, number, *, wait=True):
        """Run a cell, and wait until it has run, or at least has begun."""
        before = self.prompt(number)
        self.cell(number).locator(".jp-InputPrompt").click()
        self.page.keyboard.press("Shift+Enter")
        self.until(lambda: self.prompt(number) != before)
        if wait:
            self.until(lambda: "*" not in self.prompt(number), 60)

    def until(self, is_so, seconds=30):
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {seconds} seconds")
            self.page.wait_for_timeout(50)

    def view(self, number):
        """Return the page in a cell, once it is ready."""
        frame = self.cell(number).frame_locator("iframe")
        frame.locator('[data-softlookup][data-state="ready"]').wait_for()
        return frame
