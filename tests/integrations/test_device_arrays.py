"""Arrays that lie elsewhere: held as they are, taken by no backend of memory, brought when asked.

Where Triton interprets its kernels, tensors on the CPU count as a GPU's: so no GPU is needed here.
"""

import ml_dtypes
import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from softlookup.device import DeviceArray  # noqa: E402
from softlookup.errors import BackendError, DtypeError  # noqa: E402
from softlookup.tensors import tensor_of, view  # noqa: E402

pytestmark = pytest.mark.models


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


def tensor(*shape, dtype=torch.float16):
    return torch.arange(1, 1 + int(np.prod(shape))).reshape(shape).to(dtype) / 64


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool, torch.int64]
)
def test_it_has_the_shape_the_dtype_and_the_numbers_of_its_tensor(dtype):
    given = tensor(2, 3, 4, dtype=dtype)
    array = view(given, "query")
    assert isinstance(array, DeviceArray)
    assert (array.shape, array.ndim, array.size) == ((2, 3, 4), 3, 24)
    assert tensor_of(array).data_ptr() == given.data_ptr()
    brought = array.in_memory()
    assert brought.dtype == array.dtype
    assert brought.itemsize == array.itemsize
    assert np.array_equal(brought.astype(np.float64), given.double().numpy())
    assert array.beside(brought).in_memory().tobytes() == brought.tobytes()


def test_it_is_sliced_and_reduced_as_numpy_does():
    given = tensor(2, 3, 4, dtype=torch.float32)
    array, plain = view(given, "query"), given.numpy()
    for at in (np.s_[1], np.s_[:, 1:], np.s_[..., None, 2], np.s_[np.array([1, 0])], np.int64(1)):
        assert np.array_equal(array[at].in_memory(), plain[at])
    assert np.array_equal(array.reshape(6, 4).in_memory(), plain.reshape(6, 4))
    assert np.array_equal(array.reshape((4, 6)).in_memory(), plain.reshape(4, 6))
    assert np.allclose(array.sum(axis=1).in_memory(), plain.sum(axis=1))
    assert np.array_equal(array.max(axis=-1).in_memory(), plain.max(axis=-1))
    assert np.array_equal((array + array - 0.5).in_memory(), plain + plain - 0.5)
    assert np.array_equal((array.clip(0.2) / array).in_memory(), plain.clip(0.2) / plain)
    assert array.astype(np.float16).dtype == np.float16


def test_what_only_repeats_is_cut_and_what_is_strided_is_laid_out():
    array = view(tensor(1, 4).expand(3, 4), "bias")
    assert array.without_repeats().shape == (1, 4)
    assert array.contiguous().tensor.stride() == (4, 1)


def test_it_never_becomes_a_numpy_array_unseen():
    with pytest.raises(TypeError, match="in_memory"):
        np.asarray(view(tensor(2, 2), "query"))


def test_a_lookup_holds_its_tensors_where_they_lie():
    query, key = tensor(2, 4, 5, 8), tensor(2, 2, 7, 8)
    look = sl.Lookup(
        query, key, key, mask=np.ones(7, bool), bias=torch.zeros(2, 1, 5, 7), sinks=np.zeros(4),
        causal=True, q_offset=torch.tensor([1, 2]), kv_lens=torch.tensor([7, 3]),
    )  # fmt: skip
    problem = look.problem
    held = (problem.query, problem.key, problem.value, problem.sinks, problem.mask.array)
    assert all(isinstance(each, DeviceArray) for each in (*held, problem.bias.array))
    assert isinstance(problem.q_offset, np.ndarray)
    assert isinstance(problem.kv_lens, np.ndarray)
    assert look.head(3, 1).problem.place == problem.place


def test_steps_and_a_lookup_in_numpy_are_those_of_the_same_numbers_in_memory(monkeypatch):
    query, key = tensor(2, 4, 5, 8, dtype=torch.bfloat16), tensor(2, 2, 7, 8, dtype=torch.bfloat16)
    options = {"mask": np.tri(5, 7, 2, dtype=bool), "sinks": torch.ones(4), "softcap": 3.0}
    look = sl.Lookup(query, key, key, **options)
    steps, brought = look.trace(rows=[1, 3]), look.in_numpy()
    monkeypatch.delenv("TRITON_INTERPRET")
    plain = sl.Lookup(query, key, key, **options)
    assert steps.weights.tobytes() == plain.trace(rows=[1, 3]).weights.tobytes()
    assert brought.problem.query.dtype == ml_dtypes.bfloat16
    assert brought.attend().tobytes() == plain.in_numpy().attend().tobytes()


@pytest.mark.parametrize("name", ["cpu", "blocked"])
def test_a_backend_of_memory_refuses_them_by_its_own_reason(name):
    rows = tensor(3, 4)
    with pytest.raises(BackendError, match=f"{name}: .*these lie on .*cpu\\(\\) brings them"):
        sl.attend(rows, rows, rows, backend=name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            (tensor(3, 4), tensor(3, 4).numpy(), None),
            r"key: .*one in memory. Pass torch.as_tensor\(key, device=query.device\)",
        ),
        ((tensor(3, 4).numpy(), tensor(3, 4), None), "key: .*in memory; got one on .*key.cpu"),
    ],
)
def test_arrays_of_two_places_are_refused(arguments, said):
    with pytest.raises(DtypeError, match=said):
        sl.Lookup(*arguments)


def test_a_mask_on_a_device_beside_arrays_in_memory_is_refused():
    rows = tensor(3, 4).numpy()
    with pytest.raises(DtypeError, match=r"mask: .*Pass mask.cpu"):
        sl.Lookup(rows, rows, mask=torch.ones(3, 3, dtype=torch.bool))


@pytest.mark.parametrize("transform", ["vmap", "grad"])
def test_a_transform_of_torch_func_is_refused_with_its_name(transform):
    rows = tensor(2, 3, 4)
    with pytest.raises(DtypeError, match=r"query: .*torch\.func"):
        getattr(torch.func, transform)(lambda one: sl.attend(one, one, one).sum())(rows)
