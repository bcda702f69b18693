"""Turns: whoever asks waits until those who asked before have had one turn."""

import threading
from collections import deque


class Turns:
    """A lock that is handed on in the order in which it was asked for.

    A plain lock that is released and taken again at once is not handed on: those who wait may wait
    until the end.

    Examples
    --------
    >>> turns = Turns()
    >>> with turns:
    ...     "nobody else has a turn"
    'nobody else has a turn'
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()  # the first one has the turn

    def __enter__(self) -> None:
        mine = object()
        with self._changed:
            self._waiting.append(mine)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is mine)
            except BaseException:  # Ctrl-C: nobody shall wait for one who left
                self._waiting.remove(mine)
                self._changed.notify_all()
                raise

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._waiting.popleft()
            self._changed.notify_all()

    def __len__(self) -> int:
        """Return how many have a turn or wait for one."""
        return len(self._waiting)
