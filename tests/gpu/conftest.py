"""The tests of what runs on a GPU: interpreted, emulated or only compiled, since none is needed.

They run where TRITON_INTERPRET=1 is set from the start, in an environment of their own (make
test-gpu): every torch tensor then counts as one on a GPU. What must be compiled instead is
compiled in another process (compiling.py).
"""

import os

import numpy as np
import pytest

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
collect_ignore_glob = [] if INTERPRETED else ["test_*.py"]


@pytest.fixture(autouse=True, scope="session")
def _patched_once():
    """The interpreter patches Triton's language at every call of a device function, half its time.

    Once for each launch is enough: what is patched stays so until the launch ends.
    """
    import triton.language as tl
    from triton.runtime import interpreter

    patch = interpreter._patch_lang

    def patch_what_is_not(function):
        if any(tl.core.is_builtin(language.load) for language in (tl, tl.core)):
            return patch(function)
        return interpreter._LangPatchScope()

    with pytest.MonkeyPatch.context() as context:
        context.setattr(interpreter, "_patch_lang", patch_what_is_not)
        yield


@pytest.fixture(autouse=True)
def _quiet_interpreter():
    """NumPy warns where the interpreter computes with infinities, as a GPU does without a word."""
    with np.errstate(all="ignore"):
        yield


def pytest_collection_modifyitems(items):
    """NumPy warns where the interpreter counts by arrays of one item, and of NaN alone."""
    for item in items:
        if "gpu" in item.path.parts:
            for warning in ("Conversion of an array with ndim > 0", "All-NaN"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{warning}"))
