"""What is said of the backends for a GPU where there is none: that, before any package."""

import importlib.util

import pytest

from softlookup.backends import cuda, cuda_hopper, cuda_torch
from softlookup.backends.triton import machine
from softlookup.cli.diagnosis import diagnose

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
ASKED = (machine._missing_torch, machine._missing_gpu, machine._missing_package)


@pytest.fixture
def without(monkeypatch):
    """Return what hides packages; nothing is interpreted, and nothing remembered."""
    found = importlib.util.find_spec
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)

    def without(*packages):
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name in packages else found(name)
        )
        for asked in ASKED:
            asked.cache_clear()

    yield without
    for asked in ASKED:
        asked.cache_clear()


def test_a_build_without_cuda_is_named_before_triton(without, monkeypatch):
    without("triton")
    monkeypatch.setattr(torch.version, "cuda", None)
    said = f"This torch ({torch.__version__}) is a build without CUDA."
    assert [one.missing() for one in (cuda, cuda_torch, cuda_hopper)] == [said] * 3
    assert f"backend    cuda: {said}" in diagnose()


def test_no_gpu_is_named_before_triton(without, monkeypatch):
    without("triton")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert machine.missing() == "torch finds no NVIDIA GPU here."


def test_with_a_gpu_it_is_triton(without, monkeypatch):
    without("triton")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    assert machine.missing() == "Triton is not installed here: pip install 'triton>=3.6'."


def test_without_torch_it_is_torch(without):
    without("torch", "triton")
    assert machine.missing() == "torch is not installed here: pip install torch."


def test_a_bug_report_names_every_package_that_matters():
    packages = next(line for line in diagnose().splitlines() if line.startswith("packages"))
    for name in ("dask", "distributed", "pyarrow", "torch", "triton", "transformers"):
        assert f", {name} " in packages
