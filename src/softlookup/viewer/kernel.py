"""Where this program runs: in a notebook's cell, or not. Nothing is imported for it."""

import sys
from typing import Literal

Notebook = Literal["jupyter", "colab", "marimo"]


def notebook() -> Notebook | None:
    """Return the kind of notebook whose cell this runs in; VS Code's are Jupyter's.

    A terminal, also IPython's, is none. A marimo notebook that is run as a script has cells, too:
    what it does with a widget must go on there, though nobody looks.
    """
    if _marimo_mode() in ("edit", "run", "script"):
        return "marimo"
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    return "colab" if "google.colab" in sys.modules else "jupyter"


def _marimo_mode() -> str | None:
    """Return how the marimo notebook whose cell this is runs; None where it is none's."""
    meta = getattr(sys.modules.get("marimo"), "app_meta", None)  # half imported: not there yet
    return None if meta is None else meta().mode
