"""softlookup: compute attention exactly, and see every number of it.

>>> import softlookup as sl
>>> out = sl.attend([[1, 0]], [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]])

Importing it loads NumPy, ml_dtypes and the package's own core; the viewer and the file readers are
loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from softlookup.attending import attend
from softlookup.errors import SoftlookupError
from softlookup.inspection import Inspection
from softlookup.lookup import Lookup
from softlookup.tracing import Trace
from softlookup.weightmap import WeightMap

if TYPE_CHECKING:
    from softlookup.captures import Capture
    from softlookup.integrations.watching import watch
    from softlookup.surveys import survey
    from softlookup.viewer import export_html, show
    from softlookup.watched import load

__version__ = "0.1.0"

__all__ = [
    "Capture",
    "Inspection",
    "Lookup",
    "SoftlookupError",
    "Trace",
    "WeightMap",
    "attend",
    "export_html",
    "load",
    "show",
    "survey",
    "watch",
]

_LATER = {
    "Capture": "captures",
    "load": "watched",
    "show": "viewer",
    "export_html": "viewer",
    "survey": "surveys",
    "watch": "integrations.watching",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"softlookup.{_LATER[name]}"), name)
    raise AttributeError(f"module 'softlookup' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
