"""The tool that plants facts, for tests that must find them."""

import functools
import importlib.util
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1] / "tools"


def load_tool(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@functools.cache
def planted(length):
    """Return a capture of so many tokens, and where its facts lie."""
    return load_tool("planted_capture").plant(length)
