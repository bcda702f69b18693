"""The page's one script, as it is installed."""

from pathlib import Path

from softlookup.errors import ViewError


def page_script() -> bytes:
    """Return the bundle that draws the page.

    Raises
    ------
    ViewError
        Where the installation lacks it.
    """
    file = Path(__file__).parent / "static" / "app.js"
    try:
        return file.read_bytes()
    except OSError as error:
        raise ViewError(
            "page", f"needs {file.name}, which is missing in this installation. Reinstall "
            "softlookup; in a working copy run make web."
        ) from error  # fmt: skip
