"""The backend around the Hopper kernel: what it refuses, when it offers itself, all its facts."""

from dataclasses import replace

import emulation
import numpy as np
import pytest
import torch
from hopper_runs import Kind

import softlookup as sl
from softlookup.backends import cuda_hopper
from softlookup.backends.triton import hopper, machine, records
from softlookup.backends.triton.matrices import Matrix, as_matrix, matrix_of
from softlookup.errors import BackendError

KIND = Kind(causal=True, batch=2, heads=(2, 2))
SMALL = Kind(q_len=128, heads=(1, 1))  # the kernels beside it are interpreted, which is slow


@pytest.fixture
def emulated(monkeypatch):
    """Let the backend run here, its kernel emulated."""
    monkeypatch.setattr(cuda_hopper, "missing", lambda: None)
    monkeypatch.setattr(hopper, "look_up_kernel", emulation.Emulated(3))


def lookup(tensors, backend="cuda-hopper", **options):
    return sl.Lookup(*tensors, **options, backend=backend)


def test_it_says_that_it_is_not_interpreted():
    query = torch.zeros(1, 128, 64, dtype=torch.float16)
    with pytest.raises(BackendError, match="written in Gluon"):
        sl.attend(query, query, query, backend="cuda-hopper")


def test_it_says_which_gpu_it_needs(monkeypatch):
    monkeypatch.setattr(machine, "missing", lambda: None)
    monkeypatch.setattr(cuda_hopper, "interpreted", lambda: False)
    for capabilities, best in (([(8, 0)], "8.0"), ([(8, 9), (12, 0)], "12.0")):
        monkeypatch.setattr(torch.cuda, "device_count", lambda all_=capabilities: len(all_))
        monkeypatch.setattr(
            torch.cuda, "get_device_capability", lambda n, all_=capabilities: all_[n]
        )
        assert f"capability 9; the best one here has {best}" in cuda_hopper.missing()
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda n: (9, 0))
    assert cuda_hopper.missing() is None


REFUSED = {
    "float32": (replace(KIND, dtype="float32"), {}, "float16 and bfloat16; here is float32"),
    "head_dim": (replace(KIND, head_dim=96), {}, "64 or of 128; here they are 96 and 96"),
    "q_len": (replace(KIND, causal=False, q_len=100), {}, "whole tiles of 128; here it is 100"),
    "no keys": (replace(KIND, causal=False, kv_len=0), {}, "kv_len of whole tiles of 128"),
    "no head": (replace(KIND, batch=0), {}, "one head or more; here is none"),
    "offset": (replace(KIND, kv_len=512), {"q_offset": 100}, "q_offset of whole tiles of 128"),
    "far": (replace(KIND, kv_len=512), {"q_offset": 384}, "from 0 to kv_len - q_len = 256"),
    "offsets": (replace(KIND, kv_len=512), {"q_offset": [0, 128]}, "one q_offset for the whole"),
    "scale": (KIND, {"scale": -0.5}, "a positive scale; here it is -0.5"),
    "mask": (KIND, {"mask": np.ones((256, 256), bool)}, "takes no mask"),
    "bias": (KIND, {"bias": np.ones((256, 256), np.float16)}, "takes no bias"),
    "window": (KIND, {"window": (5, None)}, "takes no window"),
    "kv_lens": (KIND, {"kv_lens": [256, 1]}, "takes no kv_lens"),
    "softcap": (KIND, {"softcap": 2.0}, "takes no softcap"),
    "sinks": (KIND, {"sinks": np.zeros(4, np.float32)}, "takes no sinks"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_it_refuses_by_name_and_says_what_takes_it(emulated, name):
    kind, options, words = REFUSED[name]
    options = {"causal": kind.causal, **options}
    with pytest.raises(BackendError) as refusal:
        lookup(kind.tensors(), **options).attend()
    assert words in str(refusal.value)
    assert str(refusal.value).endswith('. backend="cuda" takes this lookup.')


def test_it_refuses_values_of_another_width_none_and_rows_out_of_step(emulated):
    query, key, value = KIND.tensors()
    with pytest.raises(BackendError, match="here they are 64 and 32"):
        lookup((query, key, value[..., :32])).attend()
    with pytest.raises(BackendError, match="needs values"):
        sl.Lookup(query, key, causal=True, backend="cuda-hopper").inspect(entropy=True)
    odd = torch.zeros(2, 2, 256, 65, dtype=torch.float16)[..., :64]
    for wrong in (odd, key.flip(-1).transpose(2, 3).contiguous().transpose(2, 3)):
        with pytest.raises(BackendError, match=r"key has the strides .* pass key.contiguous\(\)\."):
            lookup((query, wrong, value)).attend()
        assert matrix_of(wrong.contiguous()) is not None
    late = torch.zeros(key.numel() + 1, dtype=torch.float16)[1:].view(key.shape)
    with pytest.raises(BackendError, match=r"key has the strides .* pass key.clone\(\)\."):
        lookup((query, late, value)).attend()
    assert matrix_of(late.contiguous()) is None
    assert matrix_of(late.clone()) is not None


def test_it_refuses_the_best_of_more_keys_than_it_can_number(emulated, monkeypatch):
    monkeypatch.setattr(cuda_hopper, "_MOST_KEYS", 128)
    look = lookup(KIND.tensors(), causal=True)
    with pytest.raises(BackendError, match="the best keys of up to 128; here are 256"):
        look.inspect(top=1)
    assert look.attend().isfinite().all()


def test_auto_takes_it_only_where_a_record_shows_it_faster(monkeypatch):
    assert records.RECORDS == ()
    problem = lookup(KIND.tensors(), causal=True).problem
    monkeypatch.setattr(cuda_hopper, "_capability", lambda problem: (9, 0))
    assert not cuda_hopper.offers(problem, alone=True)
    record = records.Record((9, 0), 64, True, False, 256, 512, 1.1, "nowhere.json")
    for known, offered in (
        (record, True),
        (record._replace(capability=(9, 1)), False),
        (record._replace(head_dim=128), False),
        (record._replace(causal=False), False),
        (record._replace(looking=True), False),
        (record._replace(shortest=512), False),
        (record._replace(longest=128), False),
        (record._replace(speed=0.99), False),
    ):
        monkeypatch.setattr(records, "RECORDS", (known,))
        assert cuda_hopper.offers(problem, alone=True) is offered
    monkeypatch.setattr(records, "RECORDS", (record._replace(looking=True),))
    assert cuda_hopper.offers(problem, alone=False)


def test_every_fact_is_what_cuda_finds(emulated):
    tensors, place = SMALL.tensors(), {"causal": True, "q_offset": 128}
    asked = {"top": 5, "entropy": True, "max_score": True, "received": True, "distance": True}
    asked["groups"] = np.arange(256) // 100
    found = lookup(tensors, **place).inspect(**asked)
    other = lookup(tensors, "cuda", **place).inspect(**asked)
    assert found.backend == "cuda-hopper"
    assert torch.equal(found.out, lookup(tensors, **place).attend())
    assert (found.out - other.out).abs().max() < 2e-3
    for fact in ("lse", "entropy", "max_score", "received", "groups", "distance"):
        one, two = getattr(found, fact), getattr(other, fact)
        assert one.shape == two.shape
        assert (one - two).abs().max() < 2e-5 * max(1, float(two.abs().max())), fact
    assert (found.top.weights - other.top.weights).abs().max() < 2e-5
    assert (found.top.keys == other.top.keys).double().mean() > 0.999


def test_gradients_and_weights_are_those_of_cuda(emulated):
    tensors, place = SMALL.tensors(), {"causal": True, "q_offset": 128}
    out_grad = torch.ones_like(tensors[0])
    look, other = lookup(tensors, **place), lookup(tensors, "cuda", **place)
    rows, keys = [0, 77], slice(0, 50)
    assert torch.equal(look.weights(rows=rows, keys=keys), other.weights(rows=rows, keys=keys))
    for one, two in zip(look.gradients(out_grad)[:3], other.gradients(out_grad)[:3], strict=True):
        assert (one - two).abs().max() <= 4e-3 * two.abs().max()


def test_arrays_as_matrices():
    assert as_matrix((2, 3, 5, 64), (960, 320, 64, 1)) == Matrix(30, 64, 64, 15, 5, 0)
    assert as_matrix((2, 3, 5, 64), (960, 64, 192, 1)) == Matrix(10, 192, 192, 5, 0, 64)
    assert as_matrix((1, 1, 5, 64), (7, 7, 80, 1)) == Matrix(5, 64, 80, 0, 0, 0)
    for strides in (
        (960, 320, 64, 2),  # numbers apart
        (960, 320, 0, 1),  # a row repeated
        (960, 320, -64, 1),
        (970, 320, 64, 1),  # batch entries out of step
        (64, 128, 384, 1),  # batch entries side by side
        (960, 32, 192, 1),  # heads that overlap
        (960, -64, 192, 1),
    ):
        assert (as_matrix((2, 3, 5, 64), strides) is None) == (strides != (960, 32, 192, 1))
    whole = torch.zeros(2, 3, 5, 64, dtype=torch.float16)
    assert matrix_of(whole) == Matrix(30, 64, 64, 15, 5, 0)
    assert matrix_of(torch.zeros(1, 1, 5, 68, dtype=torch.float16)[..., 4:]) is None
