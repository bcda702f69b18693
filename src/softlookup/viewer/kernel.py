"""Where this program runs: in the kernel of a notebook, or not. Nothing is imported for it."""

import sys
from typing import Literal

Notebook = Literal["jupyter", "colab", "marimo"]


def notebook() -> Notebook | None:
    """Return the kind of notebook whose kernel this is; VS Code's are Jupyter's.

    A terminal, also IPython's, is none.
    """
    marimo = sys.modules.get("marimo")
    if marimo is not None and getattr(marimo, "running_in_notebook", bool)():
        return "marimo"
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    return "colab" if "google.colab" in sys.modules else "jupyter"
