"""Packages that only surveys need, loaded when they are used."""

from importlib import import_module, metadata
from typing import Any

from softlookup.errors import PackageError

NAMED = ("softlookup", "torch", "transformers", "tokenizers", "numpy", "pyarrow")


def needed(name: str) -> Any:
    """Return a module of a package that surveys need.

    Raises
    ------
    PackageError
        Where it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise PackageError(
            package, 'must be installed for a survey; it is not. pip install "softlookup[survey]".'
        ) from error  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions that the numbers of a survey may depend on."""
    found = {}
    for name in NAMED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found
