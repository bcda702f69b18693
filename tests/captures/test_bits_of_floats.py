"""Numbers that NumPy has no dtype for: bfloat16 is read, what may be bits is asked about."""

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

import oracle
from agreement import assert_same_bits
from captured import knows_small_floats
from softlookup import Lookup, attend, load
from softlookup.errors import DtypeError, FileError

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
rng = np.random.default_rng(3)
QUERY, KEY, VALUE = (rng.standard_normal((2, n, 3)) for n in (5, 7, 7))
ARRAYS = {"query": QUERY, "key": KEY, "value": VALUE}
FORMS = ("run.npz", "run.safetensors")


def saved(folder, name, **arrays):
    file = folder / name
    if file.suffix == ".npz":
        np.savez(file, **arrays)
    else:
        save_file(arrays, file)
    return file


def as_type(dtype):
    return {name: array.astype(dtype) for name, array in ARRAYS.items()}


@pytest.mark.parametrize("name", FORMS)
def test_bfloat16_is_read_as_it_was(tmp_path, name):
    arrays = as_type(BFLOAT16) | {"bias": rng.standard_normal((5, 7)).astype(BFLOAT16),
                                  "scale": np.array(0.5, BFLOAT16)}  # fmt: skip
    look = load(saved(tmp_path, name, **arrays)).lookup()
    assert look.problem.dtype == BFLOAT16
    assert_same_bits(look.problem.query[0], arrays["query"])
    assert_same_bits(look.attend(), Lookup(**arrays | {"scale": 0.5}).attend())


def test_bits_that_are_viewed_before_they_are_saved_are_what_they_were(tmp_path):
    bits = {name: array.view(np.uint16) for name, array in as_type(BFLOAT16).items()}
    viewed = {name: array.view(BFLOAT16) for name, array in bits.items()}
    look = load(saved(tmp_path, "run.npz", **viewed)).lookup()
    exact = oracle.lookup(*(array.astype(float) for array in as_type(BFLOAT16).values())).out
    np.testing.assert_allclose(look.attend().astype(float), exact, atol=0.02)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("field", ["query", "key", "value", "sinks", "bias"])
@pytest.mark.parametrize("dtype", ["uint16", "int16", "uint8", "int8"])
def test_what_may_be_bits_is_asked_about(tmp_path, name, field, dtype):
    others = {"sinks": np.ones(2), "bias": np.ones((5, 7))}
    file = saved(
        tmp_path, name, **ARRAYS | others | {field: (ARRAYS | others)[field].astype(dtype)}
    )
    with pytest.raises(FileError) as caught:
        load(file)
    way = ".view(ml_dtypes." + ("bfloat16)" if "16" in dtype else "float8_e4m3fn).astype(")
    for part in (f"{file}: {field} must be floats", f"it is {dtype}", f"Save {field}{way}",
                 f"{field}.astype(float) if they are numbers"):  # fmt: skip
        assert part in str(caught.value)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_wider_whole_numbers_are_numbers(tmp_path, name, dtype):
    whole = {field: np.abs(array * 3).astype(dtype) for field, array in ARRAYS.items()}
    look = load(saved(tmp_path, name, **whole, kv_lens=np.array(6, np.uint8))).lookup()
    np.testing.assert_allclose(
        look.attend(),
        oracle.lookup(
            *(array.astype(float) for array in whole.values()), mask=np.arange(7) < 6
        ).out,
        rtol=1e-12,
    )


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_8_bit_floats_need_their_scale(tmp_path, name, dtype):
    if name.endswith("safetensors") and not knows_small_floats():
        pytest.skip("this release of safetensors knows no floats of 8 bits")
    file = saved(tmp_path, name, **ARRAYS | {"key": KEY.astype(getattr(ml_dtypes, dtype))})
    with pytest.raises(FileError) as caught:
        load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: key must be float16, bfloat16, float32 or float64; it is ")
    assert message.endswith("Save key.astype(numpy.float32), times its scale where it has one.")


def test_what_numpy_reads_of_bfloat16_is_told_what_it_is(tmp_path):
    with np.load(saved(tmp_path, "run.npz", **as_type(BFLOAT16))) as file:
        arrays = [file[name] for name in ARRAYS]
    with pytest.raises(DtypeError, match=r"query: .*got \|V2. Pass query.view\(ml_dtypes.bfloat16"):
        attend(*arrays)
    assert attend(*(array.view(BFLOAT16) for array in arrays)).dtype == BFLOAT16
