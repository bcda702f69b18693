"""The page's scripts, as they are installed."""

from pathlib import Path

from softlookup.errors import ViewError


def page_script() -> bytes:
    """Return the bundle that draws the page.

    Raises
    ------
    ViewError
        Where the installation lacks it.
    """
    return _read("app.js")


def cell_script() -> str:
    """Return the module that a notebook loads, to put the page into a frame inside a cell.

    Raises
    ------
    ViewError
        Where the installation lacks it.
    """
    return _read("cell.js").decode("utf-8")


def _read(name: str) -> bytes:
    file = Path(__file__).parent / "static" / name
    try:
        return file.read_bytes()
    except OSError as error:
        raise ViewError(
            "page", f"needs {file.name}, which is missing in this installation. Reinstall "
            "softlookup; in a working copy run make web."
        ) from error  # fmt: skip
