"""Packages that only surveys need, loaded when they are used."""

from importlib import metadata
from typing import Any

from softlookup import packages

NAMED = ("softlookup", "torch", "transformers", "tokenizers", "numpy", "pyarrow")


def needed(name: str) -> Any:
    """Return a module of a package that surveys need.

    Raises
    ------
    PackageError
        Where it is not installed.
    """
    return packages.load(name, "for a survey", 'pip install "softlookup[survey]".')


def versions() -> dict[str, str]:
    """Return the versions that the numbers of a survey may depend on."""
    found = {}
    for name in NAMED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found
