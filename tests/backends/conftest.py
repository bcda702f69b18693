from every_backend import backend, pytest_pyfunc_call  # noqa: F401
