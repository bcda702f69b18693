"""Packages that only some of this one needs, loaded when that is asked for."""

from importlib import import_module
from typing import Any

from softlookup.errors import PackageError


def load(name: str, purpose: str, advice: str) -> Any:
    """Return a module of a package that may not be installed.

    Parameters
    ----------
    name : str
        Of the module, e.g. ``"pyarrow.parquet"``.
    purpose : str
        What it must be installed for, e.g. ``"for a survey"``.
    advice : str
        The next step, a sentence.

    Raises
    ------
    PackageError
        Where it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise PackageError(package, f"must be installed {purpose}; it is not. {advice}") from error
