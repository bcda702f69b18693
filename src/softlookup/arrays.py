"""Recognise what the caller holds and see it as a NumPy array.

- By type: an ``ndarray`` is taken as it is (any strides, never copied), lists and numbers become
  float64, everything else is refused by name, so that no framework's array is converted unseen.
- Byte order is the only thing mended: a byte-swapped array is copied once.
"""

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from softlookup.errors import DtypeError, ShapeError

Array: TypeAlias = NDArray[Any]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT_DTYPES = (np.dtype(np.float16), BFLOAT16, np.dtype(np.float32), np.dtype(np.float64))


def compute_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return what inputs of `dtype` accumulate in: float64 for float64, else float32."""
    return np.dtype(np.float64) if dtype == np.float64 else np.dtype(np.float32)


def as_ndarray(given: Any, argument: str) -> Array:
    """View `given` as an ndarray of native byte order, whatever it holds.

    Raises
    ------
    DtypeError
        Where `given` is neither an ndarray nor a (nested) list of numbers.
    ShapeError
        Where a list is ragged.
    """
    if isinstance(given, np.ma.MaskedArray):
        raise DtypeError(
            argument,
            "must be a plain array; got a masked array, whose mask would be lost. "
            "Pass array.data, and mask=~array.mask where that is meant.",
        )
    if isinstance(given, (list, tuple, int, float, np.generic)):
        try:
            array = np.asarray(given)
        except ValueError as error:
            raise ShapeError(
                argument,
                "must be rectangular; the rows of the list differ in length. Make them equal.",
            ) from error
    elif isinstance(given, np.ndarray):
        array = np.asarray(given)
    else:
        kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__qualname__}"
        raise DtypeError(
            argument,
            f"must be a NumPy array or a list of numbers; got {kind}. "
            "Convert it with numpy.asarray(...) first.",
        )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_floats(given: Any, argument: str) -> Array:
    """View `given` as float16, bfloat16, float32 or float64; lists and integers become float64.

    Raises
    ------
    DtypeError
        Where the numbers are bool, complex, wider than float64, or no numbers at all.
    """
    array = as_ndarray(given, argument)
    listed = not isinstance(given, np.ndarray)
    if array.dtype.kind in "iu" or (listed and array.dtype in FLOAT_DTYPES):
        return array.astype(np.float64)
    if array.dtype in FLOAT_DTYPES:
        return array
    raise DtypeError(
        argument,
        f"must hold float16, bfloat16, float32, float64 or integers; got {array.dtype}. "
        "Cast it with .astype(...).",
    )


def as_integers(given: Any, argument: str, shape: tuple[int, ...], meaning: str) -> IntArray:
    """Return `given` as int64 of `shape`; `meaning` says in the error what the shape stands for.

    Raises
    ------
    DtypeError
        Where the numbers are not integers, or do not fit into int64.
    ShapeError
        Where the shape is another one.
    """
    array = as_ndarray(given, argument)
    if array.dtype.kind not in "iu" and array.size:
        raise DtypeError(
            argument, f"must hold integers; got {array.dtype}. Cast it with .astype(numpy.int64)."
        )
    if array.shape != shape:
        raise ShapeError(
            argument, f"must have {meaning} {shape}; got {array.shape}. Pass one integer for each."
        )
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise DtypeError(
            argument, f"must fit into int64; got {array.max()}. Check where it comes from."
        )
    return array.astype(np.int64)
