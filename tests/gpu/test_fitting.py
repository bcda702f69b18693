"""What is said of a machine that cannot run a kernel, and what it takes to fit on each."""

import importlib.metadata

import compiling
import pytest
import torch
import triton
from looked import look_of
from triton.runtime.errors import OutOfResources

from softlookup.backends import cuda
from softlookup.backends.triton import answers, machine
from softlookup.errors import BackendError
from softlookup.facts import Facts

KILOBYTES = {"sm_89": 99, "sm_90a": 227, "sm_120": 99}  # of shared memory, for a program
LARGEST = [  # what takes most, by target
    ("sm_89", {"head_dim": 256, "dtype": "float32", "mask": True, "bias": True}),
    ("sm_89", {"head_dim": 128, "length": 64, "mask": True, "bias": True}),
    ("sm_90a", {"head_dim": 128, "mask": True, "bias": True}),
    ("sm_89", {"head_dim": 256, "length": 16, "dtype": "float32", "mask": True, "bias": True}),
    ("sm_90a", {"head_dim": 256, "length": 16, "dtype": "float32", "mask": True}),
    ("sm_120", {"head_dim": 128, "causal": True}),
]


@pytest.mark.parametrize(("target", "sizes"), LARGEST)
def test_a_kernel_fits_into_the_shared_memory(target, sizes):
    for kernel in compiling.launches("test_forward:launch_answers", target, **sizes):
        assert kernel.shared <= KILOBYTES[target] * 1024, kernel.name


@pytest.mark.parametrize("lengths", [(2**30, 2**30 - 2**16 + 1), (1, 2**31 - 2**16)])
def test_queries_and_keys_whose_positions_add_up_past_an_int32_are_refused(lengths):
    query, key = (torch.zeros(1, 1).expand(length, 1) for length in lengths)
    reason = cuda.unsupported(look_of(query, key, None).problem, Facts())
    assert "q_len + kv_len of up to 2,147,418,112; here it is 2,147,418,113" in reason
    assert cuda.unsupported(look_of(query, key[1:], None).problem, Facts()) is None


def fail(*given, **options):
    raise OutOfResources(262200, 232448, "shared memory")


def test_a_kernel_that_does_not_fit_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setattr(answers, "answer", fail)
    words = "backend: must fit on .*; a kernel .* needs 262,200 of shared memory, .* has 232,448"
    with pytest.raises(BackendError, match=words):
        look_of(*torch.zeros(3, 1, 4, 16)).attend()


@pytest.fixture
def version(monkeypatch):
    """Return what sets the version that is installed; None where it has another name."""

    def installed(found):
        def version_of(package):
            if found is None:
                raise importlib.metadata.PackageNotFoundError(package)
            return found

        monkeypatch.setattr(importlib.metadata, "version", version_of)
        machine._missing_package.cache_clear()

    yield installed
    monkeypatch.undo()
    machine._missing_package.cache_clear()


@pytest.mark.parametrize("found", ["3.6.0", "3.7rc1", "4.0", "3.6.0+git12ab", "nightly"])
def test_any_way_to_write_a_version_is_read(version, found):
    version(found)
    assert machine._missing_package() is None


def test_an_old_version_is_named(version):
    version("3.5rc2")
    assert "here is 3.5rc2" in machine._missing_package()


def test_triton_under_another_name_is_asked_itself(version, monkeypatch):
    version(None)
    assert machine._missing_package() is None
    monkeypatch.setattr(triton, "__version__", "3.2.0")
    machine._missing_package.cache_clear()
    assert "here is 3.2.0" in machine._missing_package()
