"""What ``softlookup doctor`` prints: what can run here, what cannot, and why."""

import os
import platform
import sys
from importlib import metadata

from softlookup import machine
from softlookup.backends import registry
from softlookup.errors import SoftlookupError, ViewError
from softlookup.numerals import counted

PACKAGES = (
    "numpy", "ml_dtypes", "safetensors", "typer", "rich", "starlette", "uvicorn", "platformdirs",
    "pillow", "pyarrow", "dask", "distributed", "torch", "triton", "transformers",
)  # fmt: skip


def diagnose() -> str:
    """Return versions, backends and the page's state, in lines for a bug report."""
    from softlookup.viewer.redirect import has_display

    python = f"{platform.python_implementation()} {platform.python_version()}"
    display = has_display(os.environ, sys.platform)
    encoding = getattr(sys.stdout, "encoding", None) or "none"
    lines = [
        f"softlookup {_version('softlookup')}",
        f"python     {python}",
        f"machine    {platform.platform()}, {counted(os.cpu_count() or 1, 'CPU')}",
        "packages   " + ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        f"terminal   {encoding}",
        f"page       {_page()}",
        f"display    {'yes' if display else 'no: the link is printed, no browser is opened'}",
        *_backends(),
        "Paste these lines into a bug report.",
    ]
    return "\n".join(lines)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _page() -> str:
    try:
        from softlookup.viewer.bundle import page_script

        return f"ready, a script of {len(page_script()):,} bytes"
    except ImportError as error:
        return f"cannot be served: {error}"
    except ViewError as error:
        return error.message


def _backends() -> list[str]:
    lines = []
    for backend in registry.backends():
        reason = backend.missing()
        lines.append(f"backend    {backend.NAME}: {reason or 'can run here'}")
    lines.append(f"core       {_core()}")
    return lines


def _core() -> str:
    """Say which instruction sets are compiled in, which can run here, and which is used."""
    if not machine.compiled():
        return "not compiled"
    try:
        threads = counted(machine.threads(), "thread")
        used = f"{machine.active()} on {threads}: {machine.why_active()}"
    except SoftlookupError as error:
        used = f"none: {error}"
    return (
        f"compiled {', '.join(machine.compiled())}; supported {', '.join(machine.supported())}; "
        f"active {used}"
    )
