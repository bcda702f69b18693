"""From a GPU to the machine's memory, without waiting for the work that the GPU has been given.

A GPU works through what it is given in order, and reading a number waits for all that comes before
it. What comes here goes through pinned memory, where neither side waits for the other.
"""

import sys
from typing import Any

from softlookup.arrays import Array, in_memory
from softlookup.device import DeviceArray, pinned, works_apart


def made_now(tensors: list[Any]) -> Any:
    """Return an event on the current stream, behind what made tensors of one device.

    None where nothing works apart.
    """
    if not tensors or not works_apart(tensors[0].device):
        return None
    cuda: Any = sys.modules["torch"].cuda
    made = cuda.Event()
    made.record(cuda.current_stream(tensors[0].device))
    return made


def follow(tensors: list[Any], made: Any, stream: Any = None) -> None:
    """Let a stream, else the current one, read tensors: behind the event, and before they go."""
    if stream is None:
        stream = sys.modules["torch"].cuda.current_stream(tensors[0].device)
    stream.wait_event(made)
    for one in tensors:
        one.record_stream(stream)


class Arriving:
    """Tensors on their way to memory; waiting for them waits for nothing that was asked later.

    Parameters
    ----------
    tensors : list of Tensor
        Of one device.
    aside : bool
        Whether they go on a stream of their own, beside what the device is given next.
    made : Event, optional
        What `made_now` told when they were made; None: they are made here, by the current stream.
    """

    def __init__(self, tensors: list[Any], *, aside: bool = False, made: Any = None) -> None:
        self._pinned: list[Any] = []
        self._event: Any = None
        self._arrays: list[Array] | None = None
        if tensors and works_apart(tensors[0].device):
            self._begin(tensors, made or made_now(tensors), aside=aside)
        else:
            self._arrays = [in_memory(DeviceArray(one.detach())) for one in tensors]

    def _begin(self, tensors: list[Any], made: Any, *, aside: bool) -> None:
        cuda: Any = sys.modules["torch"].cuda
        device = tensors[0].device
        stream = cuda.Stream(device) if aside else cuda.current_stream(device)
        follow(tensors, made, stream)
        self._event = cuda.Event()
        with cuda.stream(stream):
            self._pinned = [pinned(one.detach()) for one in tensors]
            self._event.record(stream)

    @property
    def there(self) -> bool:
        """Whether they have arrived."""
        event = self._event  # None from when another thread has what arrived
        return event is None or bool(event.query())

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
