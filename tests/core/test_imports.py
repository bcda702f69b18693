"""Importing softlookup and attending once loads NumPy, ml_dtypes and our own core, nothing else."""

import subprocess
import sys

from patience import PATIENCE

HEAVY = ("torch", "transformers", "triton", "dask", "anywidget", "typer", "click", "starlette",
         "uvicorn", "rich", "safetensors", "onnx", "asyncio", "http.server", "PIL")  # fmt: skip
PROGRAM = """
import sys
import numpy as np
import softlookup as sl
one = np.ones((1, 2), np.float32)
assert sl.attend(one, one, one).shape == (1, 2)
print(*sorted(sys.modules))
"""


def _loaded():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return set(ran.stdout.split())


def test_import_and_one_attend_load_no_framework():
    loaded = _loaded()
    assert {"softlookup", "numpy", "ml_dtypes"} <= loaded
    assert loaded.isdisjoint(HEAVY)


def test_import_loads_no_viewer_no_lesson_and_no_command_line():
    ours = {name for name in _loaded() if name.startswith("softlookup.")}
    assert not {n for n in ours if n.startswith(("softlookup.viewer", "softlookup.lesson",
                                                 "softlookup.cli"))}  # fmt: skip


def test_public_names_are_listed_and_there():
    import softlookup as sl

    assert {"attend", "Lookup", "load", "show", "SoftlookupError"} <= set(sl.__all__)
    for name in sl.__all__:
        assert getattr(sl, name) is not None
    assert dir(sl) == sorted([*sl.__all__, "__version__"])
