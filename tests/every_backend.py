"""The fixture `backend`: a test that takes it runs on every backend the registry knows."""

import pytest

from softlookup.backends import registry
from softlookup.errors import BackendError


@pytest.fixture(scope="session", params=registry.backends(), ids=lambda backend: backend.NAME)
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
