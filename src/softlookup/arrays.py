"""Recognise what the caller holds and see it as an array.

- By type: an ``ndarray``, a torch tensor and a dask array are taken as they are (any strides, never
  copied), lists and numbers become float64, everything else is refused by name, so that no other
  framework's array is converted unseen.
- Where an array lies, in memory, on a GPU or in the chunks of a cluster, is its `place`; a backend
  says which places it reads.
- Byte order is the only thing mended: a byte-swapped array is copied once.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from softlookup.device import DeviceArray
from softlookup.errors import DtypeError, ShapeError
from softlookup.tensors import is_tensor, view

Array: TypeAlias = NDArray[Any]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
FLOAT_DTYPES = frozenset({np.dtype(np.float16), BFLOAT16, FLOAT32, FLOAT64})


MEMORY, DASK = "memory", "dask"


def is_lazy(thing: object) -> bool:
    """Return whether `thing` is a dask array, whose chunks may lie anywhere."""
    dask = sys.modules.get("dask.array")
    kind = getattr(dask, "Array", None)
    return kind is not None and isinstance(thing, kind)


def is_listed(thing: object) -> bool:
    """Return whether `thing` is a list or a number, which has no dtype that the caller chose."""
    return isinstance(thing, (list, tuple, int, float, np.generic))


def place_of(array: Any) -> str:
    """Return where an array lies: "memory", a device such as "cuda:0", or "dask"."""
    if isinstance(array, np.ndarray):
        return MEMORY
    return array.place if isinstance(array, DeviceArray) else DASK


def in_memory(array: Any) -> Array:
    """Return an array in memory; one that lies elsewhere is copied, or computed."""
    if isinstance(array, np.ndarray):
        return array
    brought: Array = array.in_memory() if isinstance(array, DeviceArray) else array.compute()
    return brought


def bring_rows(array: Any, rows: IntArray | None) -> Array:
    """Return an array of four axes in memory; of its third only `rows` are brought, if given.

    The others are zeros, which take no memory until they are written to.
    """
    if rows is None or isinstance(array, np.ndarray) or array.shape[2] == 1:
        return in_memory(array)
    room = np.zeros(array.shape, array.dtype)
    room[:, :, rows] = in_memory(array[:, :, rows])
    return room


def bringing(array: Any) -> Callable[[], Array]:
    """Return what gives an array in memory; a copy from a device starts at once."""
    return array.bringing() if isinstance(array, DeviceArray) else lambda: in_memory(array)


def contiguous(array: Any) -> Any:
    """Return an array in C order, a copy where it is not; a dask array as it is."""
    if isinstance(array, np.ndarray):
        return np.ascontiguousarray(array)
    return array.contiguous() if isinstance(array, DeviceArray) else array


def beside(array: Any, other: Any, argument: str) -> Any:
    """Return `array` where `other` lies: what lies in memory can be sent to a device.

    Raises
    ------
    DtypeError
        Where it lies at a third place.
    """
    here, there = place_of(array), place_of(other)
    if here == there or (here, there) == (MEMORY, DASK):
        return array
    if here == MEMORY:
        return other.beside(array)
    raise not_beside(argument, here, there)


def not_beside(argument: str, here: str, there: str) -> DtypeError:
    """Return the error for an array that lies elsewhere than the query."""
    return DtypeError(
        argument,
        f"must lie where the query lies, {_named(there)}; got one {_named(here)}. "
        f"{_brought(argument, here, there)}",
    )


def _brought(argument: str, here: str, there: str) -> str:
    """Return how both come to one place; no keys or values in chunks are called into memory."""
    if there == DASK:
        source = argument if here == MEMORY else f"{argument}.cpu().numpy()"
        return f"Pass dask.array.from_array({source})."
    if here == DASK and argument in ("key", "value"):
        query = "query" if there == MEMORY else "query.cpu().numpy()"
        return f"Make the query a dask array, too: dask.array.from_array({query})."
    if here == DASK:
        return f"Pass {argument}.compute()."
    if here == MEMORY:  # an ndarray or a tensor
        return f"Pass torch.as_tensor({argument}, device=query.device)."
    return f"Pass {argument}.cpu()." if there == MEMORY else f"Pass {argument}.to(query.device)."


def _named(place: str) -> str:
    return {MEMORY: "in memory", DASK: "in the chunks of a dask array"}.get(place, f"on {place}")


def compute_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return what inputs of `dtype` accumulate in: float64 for float64, else float32."""
    return FLOAT64 if dtype == FLOAT64 else FLOAT32


def cast_finite(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return `array` in `dtype`; a finite number beyond its range becomes its nearest one."""
    cast = array.astype(dtype)
    if array.dtype.itemsize <= dtype.itemsize:
        return cast
    largest = np.finfo(dtype).max
    return np.where(np.isfinite(array), np.clip(array, -largest, largest), array).astype(dtype)


def without_repeats(array: Array) -> Array:
    """Return `array` with every axis that only repeats (stride 0) cut to size 1, sharing memory."""
    if isinstance(array, DeviceArray):
        return array.without_repeats()
    if place_of(array) != MEMORY or 0 not in array.strides:
        return array
    return array[
        tuple(
            slice(0, 1) if stride == 0 and size else slice(None)
            for stride, size in zip(array.strides, array.shape, strict=True)
        )
    ]


def as_ndarray(given: Any, argument: str) -> Array:
    """View `given` as an ndarray in memory, whatever it holds; a GPU's numbers are copied.

    Raises
    ------
    DtypeError, ShapeError
        As `as_array`.
    """
    here: Array = in_memory(as_array(given, argument))
    return here


def as_array(given: Any, argument: str) -> Any:
    """View `given` as an array of native byte order, where it lies and whatever it holds.

    Raises
    ------
    DtypeError
        Where `given` is no ndarray, no tensor, no dask array and no (nested) list of numbers.
    ShapeError
        Where a list is ragged.
    """
    if isinstance(given, np.ma.MaskedArray):
        raise DtypeError(
            argument,
            "must be a plain array; got a masked array, whose mask would be lost. "
            "Pass array.data, and mask=~array.mask where that is meant.",
        )
    if is_listed(given):
        try:
            array = np.asarray(given)
        except ValueError as error:
            raise ShapeError(
                argument,
                "must be rectangular; the rows of the list differ in length. Make them equal.",
            ) from error
    elif isinstance(given, np.ndarray):
        array = np.asarray(given)
    elif isinstance(given, DeviceArray):
        return given
    elif is_lazy(given):
        return _known_chunks(given, argument)
    elif is_tensor(given):
        return view(given, argument)
    else:
        raise _not_numbers(given, argument)
    if array.dtype.isnative:
        return array
    native = without_repeats(array).astype(array.dtype.newbyteorder("="))
    return np.broadcast_to(native, array.shape)


def _known_chunks(given: Any, argument: str) -> Any:
    """Return a dask array in native byte order, or refuse one whose chunks' sizes are not known."""
    unknown = np.isnan(np.array(given.shape, float))
    if unknown.any():
        shape = ", ".join("?" if no else str(n) for n, no in zip(given.shape, unknown, strict=True))
        raise ShapeError(
            argument,
            f"must have chunks of known sizes; got a dask array of shape ({shape}). Call "
            f"{argument}.compute_chunk_sizes() first.",
        )
    if given.dtype.isnative:
        return given
    return given.astype(given.dtype.newbyteorder("="))


def _not_numbers(given: Any, argument: str) -> DtypeError:
    """Return the error for what is no array here, with the step that makes it one."""
    if given is None:
        return DtypeError(
            argument, "must be an array of shape (length, dim) or (..., heads, length, dim); "
            "got None. Pass one."
        )  # fmt: skip
    library = type(given).__module__.partition(".")[0]
    advice = "Convert it with numpy.asarray(...) first."
    if library == "torch":  # known by its name alone: torch is not imported for a sentence
        advice = f"Pass {argument}.detach().cpu().numpy()."
        if type(given).__name__ == "Proxy":
            advice = "Keep the lookup out of what torch.fx traces, by torch.fx.wrap."
    return DtypeError(
        argument,
        f"must be a NumPy array or a list of numbers; got {library}.{type(given).__qualname__}. "
        f"{advice}",
    )


def as_floats(given: Any, argument: str) -> Array:
    """View `given` as float16, bfloat16, float32 or float64; lists and integers become float64.

    So does a number of Python's; one of NumPy's has a dtype and keeps it.

    Raises
    ------
    DtypeError
        Where the numbers are bool, complex, wider than float64, or no numbers at all.
    """
    if type(given) is np.ndarray and given.dtype in FLOAT_DTYPES:  # nothing is left to be seen to
        return given
    array: Array = as_array(given, argument)
    chosen = isinstance(given, np.generic) or not is_listed(given)
    if array.dtype.kind in "iu" or (array.dtype in FLOAT_DTYPES and not chosen):
        return array.astype(np.float64)
    if array.dtype in FLOAT_DTYPES:
        return array
    advice = "Cast it with .astype(...)."
    if array.dtype == np.dtype("V2"):  # what NumPy reads of a file into which it wrote bfloat16
        advice = f"Pass {argument}.view(ml_dtypes.bfloat16) where it is that."
    raise DtypeError(
        argument, f"must hold float16, bfloat16, float32, float64 or integers; got {array.dtype}. "
        f"{advice}"
    )  # fmt: skip


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
