"""The fixture `backend`: a test that takes it runs on every backend that reads NumPy arrays.

What reads arrays elsewhere has the same cases in folders of its own: gpu/ and sharded/.
"""

import numpy as np
import pytest

from softlookup import Lookup
from softlookup.backends import registry
from softlookup.errors import BackendError
from softlookup.facts import NO_FACTS

_PLAIN = Lookup(*np.ones((3, 1, 1))).problem
IN_MEMORY = [each for each in registry.backends() if each.unsupported(_PLAIN, NO_FACTS) is None]


@pytest.fixture(scope="session", params=IN_MEMORY, ids=lambda backend: backend.NAME)
def backend(request):
    """Name one backend; skip it, with its own reason, where it cannot run."""
    reason = request.param.missing()
    if reason is not None:
        pytest.skip(f"hardware: {request.param.NAME}: {reason}")
    return request.param.NAME


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Count a backend's named refusal as a result; `blocked` takes everything."""
    try:
        return (yield)
    except BackendError as refusal:
        name = pyfuncitem.funcargs.get("backend")
        if name in (None, "blocked") or name not in str(refusal):
            raise
        return True
