"""Tests that need dask: left out, as a whole, where it is not installed."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("dask") else ["test_*.py"]
