"""From a GPU to the machine's memory, without waiting for the work that the GPU has been given.

A GPU works through what it is given in order, and reading a number waits for all that comes before
it. What comes here goes through pinned memory, where neither side waits for the other.
"""

import sys
from typing import Any

from softlookup.arrays import Array, in_memory
from softlookup.device import DeviceArray, works_apart


class Arriving:
    """Tensors on their way to memory; waiting for them waits for nothing that was asked later.

    Parameters
    ----------
    tensors : list of Tensor
        Of one device.
    aside : bool
        Whether they go on a stream of their own, beside what the device is given next.
    """

    def __init__(self, tensors: list[Any], *, aside: bool = False) -> None:
        self._pinned: list[Any] = []
        self._event: Any = None
        self._arrays: list[Array] | None = None
        if tensors and works_apart(tensors[0].device):
            self._begin(tensors, aside=aside)
        else:
            self._arrays = [in_memory(DeviceArray(one.detach())) for one in tensors]

    def _begin(self, tensors: list[Any], *, aside: bool) -> None:
        torch: Any = sys.modules["torch"]
        cuda, device = torch.cuda, tensors[0].device
        now = cuda.current_stream(device)
        stream = cuda.Stream(device) if aside else now
        stream.wait_stream(now)
        self._event = cuda.Event()
        with cuda.stream(stream):
            for one in tensors:
                room = torch.empty(one.shape, dtype=one.dtype, pin_memory=True)
                room.copy_(one.detach(), non_blocking=True)
                one.record_stream(stream)  # its memory is not given away before it was read
                self._pinned.append(room)
            self._event.record(stream)

    @property
    def there(self) -> bool:
        """Whether they have arrived."""
        return self._event is None or bool(self._event.query())

    def arrays(self) -> list[Array]:
        """Return them as arrays of their own; waits until they have arrived."""
        if self._arrays is None:
            self._event.synchronize()
            self._arrays = [in_memory(DeviceArray(one)) for one in self._pinned]
            self._pinned, self._event = [], None
        return self._arrays


class Numbers:
    """A tensor's numbers as they are now; from a GPU they come while it goes on."""

    def __init__(self, tensor: Any) -> None:
        self._arriving = Arriving([tensor])

    @property
    def array(self) -> Array:
        """The numbers; waits until they have come."""
        return self._arriving.arrays()[0]
