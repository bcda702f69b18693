"""An array on a GPU: a torch tensor under those names of a NumPy array that a lookup needs.

Nothing here waits for the device but `DeviceArray.in_memory`, so that a lookup can be prepared,
launched and handed back while the device works.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray


def interpreted() -> bool:
    """Return whether Triton interprets its kernels on the CPU: tensors there count as a GPU's."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def is_on_device(tensor: Any) -> bool:
    """Return whether a torch tensor lies where GPU kernels read it."""
    kind = tensor.device.type
    return kind == "cuda" or (kind == "cpu" and interpreted())


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return a torch dtype as NumPy's.

    Raises
    ------
    TypeError
        Where NumPy has none.
    """
    name = str(dtype).removeprefix("torch.")
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def torch_dtype(dtype: np.dtype[Any]) -> Any:
    """Return a NumPy dtype as torch's."""
    return getattr(sys.modules["torch"], dtype.name)


def works_apart(device: Any) -> bool:
    """Return whether a torch device works through what it is given by itself."""
    return bool(device.type == "cuda")


def pinned(tensor: Any) -> Any:
    """Return pinned memory that a tensor's numbers are copied to; the stream is not waited for."""
    torch: Any = sys.modules["torch"]  # "cpu", whatever device torch makes tensors on
    room = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
    return room.copy_(tensor, non_blocking=True)


def as_numpy(tensor: Any) -> NDArray[Any]:
    """Return a detached tensor of memory as an ndarray that shares it."""
    torch: Any = sys.modules["torch"]
    short = tensor.dtype == torch.bfloat16  # of which NumPy does not know: its bits
    array: NDArray[Any] = (tensor.view(torch.int16) if short else tensor).numpy()
    return array.view(ml_dtypes.bfloat16) if short else array


def as_torch(array: NDArray[Any]) -> Any:
    """Return an ndarray as a tensor that shares its memory."""
    torch: Any = sys.modules["torch"]
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def send(array: NDArray[Any], device: Any) -> Any:
    """Return an array of memory as a tensor on a torch device; what works there is not waited for.

    It goes through pinned memory: a copy from any other would wait until the device has come to it.
    """
    array = np.asarray(array, order="C")
    if not array.flags.writeable:  # torch would warn of it
        array = array.copy()
    tensor = as_torch(array)
    if not works_apart(device):
        return tensor.to(device, copy=True)
    return tensor.pin_memory().to(device, non_blocking=True)


class DeviceArray:
    """A torch tensor on a GPU, seen as an array; slices share its memory.

    Parameters
    ----------
    tensor : Tensor
        Detached; of a dtype that NumPy knows, or bfloat16.
    """

    __slots__ = ("dtype", "tensor")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.dtype = numpy_dtype(tensor.dtype)

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.dtype}, {self.place})"

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise TypeError(f"an array on {self.place} must be brought by in_memory()")

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all axes."""
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.tensor.ndim)

    @property
    def size(self) -> int:
        """The number of items."""
        return int(self.tensor.numel())

    @property
    def itemsize(self) -> int:
        """The bytes of an item."""
        return self.dtype.itemsize

    @property
    def place(self) -> str:
        """The device, e.g. "cuda:0"."""
        return str(self.tensor.device)

    def in_memory(self) -> NDArray[Any]:
        """Return a copy in the machine's memory; waits until the device is done with it."""
        return as_numpy(self.tensor.to("cpu", copy=True))

    def bringing(self) -> Callable[[], NDArray[Any]]:
        """Start a copy into the machine's memory, and return what waits for it and gives it.

        It is behind what the device was given so far, and not behind what it is given from here on.
        """
        torch: Any = sys.modules["torch"]
        tensor = self.tensor
        if not works_apart(tensor.device):
            return self.in_memory
        with torch.cuda.device(tensor.device):
            room = pinned(tensor)
            there = torch.cuda.Event()
            there.record()

        def brought() -> NDArray[Any]:
            there.synchronize()
            return as_numpy(room)

        return brought

    def beside(self, array: NDArray[Any]) -> "DeviceArray":
        """Return an array of the machine's memory, sent to this one's device."""
        return DeviceArray(send(array, self.tensor.device))

    def without_repeats(self) -> "DeviceArray":
        """Return it with every axis that only repeats (stride 0) cut to size 1."""
        strides = self.tensor.stride()
        if 0 not in strides:
            return self
        kept = (
            slice(0, 1) if stride == 0 and size else slice(None)
            for stride, size in zip(strides, self.shape, strict=True)
        )
        return self[tuple(kept)]

    def contiguous(self) -> "DeviceArray":
        """Return it in C order, a copy where it is not."""
        return DeviceArray(self.tensor.contiguous())

    def __getitem__(self, at: Any) -> "DeviceArray":
        picks = at if isinstance(at, tuple) else (at,)
        return DeviceArray(
            self.tensor[
                tuple(
                    send(pick, self.tensor.device)
                    if isinstance(pick, np.ndarray)
                    else int(pick)
                    if isinstance(pick, np.integer)
                    else pick
                    for pick in picks
                )
            ]
        )

    def reshape(self, *shape: Any) -> "DeviceArray":
        """Return it in another shape, a copy only where its strides do not allow a view."""
        return DeviceArray(self.tensor.reshape(*shape))

    def astype(self, dtype: Any, *, copy: bool = True) -> "DeviceArray":
        """Return it in another dtype; a number beyond its range becomes inf."""
        return DeviceArray(self.tensor.to(torch_dtype(np.dtype(dtype)), copy=copy))

    def sum(self, axis: int) -> "DeviceArray":
        """Return the sums along an axis."""
        return DeviceArray(self.tensor.sum(axis))

    def max(self, axis: int) -> "DeviceArray":
        """Return the largest along an axis, NaN where one is."""
        return DeviceArray(self.tensor.amax(axis))

    def clip(self, low: float) -> "DeviceArray":
        """Return it with nothing below `low`."""
        return DeviceArray(self.tensor.clamp(min=low))

    def __add__(self, other: "DeviceArray") -> "DeviceArray":
        return DeviceArray(self.tensor + other.tensor)

    def __sub__(self, number: float) -> "DeviceArray":
        return DeviceArray(self.tensor - number)

    def __truediv__(self, other: "DeviceArray") -> "DeviceArray":
        return DeviceArray(self.tensor / other.tensor)
