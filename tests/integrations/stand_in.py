"""In the place of a GPU: tensors in memory that count as a GPU's, and a backend that reads them.

The backend computes as `blocked` does, in memory; what it takes and what it returns are arrays as
on a GPU. `Waits` refuses what would wait for a GPU while a model's attention is answered.
"""

import contextlib

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from softlookup import device, plainness, tensors
from softlookup.arrays import MEMORY
from softlookup.backends import blocked, registry
from softlookup.device import DeviceArray, torch_dtype
from softlookup.facts import Findings, room_for
from softlookup.integrations import (
    carrying,
    masks,
    resolving,
    routing,
    seeing,
    sending,
    sharing,
    watcher,
    watching,
)
from softlookup.integrations.watcher import Watcher

WAITING = ("item", "cpu", "numpy", "tolist", "nonzero", "__bool__", "__int__", "__float__",
           "__index__", "__array__", "masked_select", "unique")  # fmt: skip


class StandIn:
    """A backend named "cuda" without a GPU."""

    NAME = "cuda"

    def __init__(self):
        self.facts = []  # of each forward

    def missing(self):
        return None

    def unsupported(self, problem, facts):
        return "It reads arrays on a GPU." if problem.place == MEMORY else None

    def offers(self, problem, *, alone):
        return True

    def forward(self, problem, facts):
        self.facts.append(facts)
        with at_work():
            return there(blocked.forward(problem.in_memory(), facts))

    def weights(self, problem, rows, keys):
        with at_work():
            return there(blocked.weights(problem.in_memory(), rows, keys))

    def residuals(self, problem):
        with at_work():
            return there(blocked.residuals(problem.in_memory()))

    def backward(self, problem, kept, out_grad, lse_grad, *, bias):
        with at_work():
            given = [here(kept), here(out_grad), here(lse_grad)]
            return there(blocked.backward(problem.in_memory(), *given, bias=bias))


def there(found):
    """Return arrays as a GPU's, in tuples of tuples too."""
    if isinstance(found, tuple):
        return type(found)._make(map(there, found))
    return found if found is None else DeviceArray(torch.from_numpy(found.copy()))


def here(found):
    """Return arrays in memory."""
    if isinstance(found, tuple):
        return type(found)._make(map(here, found))
    return found.in_memory() if isinstance(found, DeviceArray) else found


_ALLOWED = []


@contextlib.contextmanager
def at_work():
    """Let the stand-in read what it computes with."""
    _ALLOWED.append(True)
    try:
        yield
    finally:
        _ALLOWED.pop()


class WaitError(AssertionError):
    """A GPU would have been waited for."""


def stand_in(monkeypatch):
    """Let tensors in memory count as a GPU's, until the test ends; return the backend."""
    backend = StandIn()
    monkeypatch.setattr(device, "interpreted", lambda: True)
    monkeypatch.setattr(registry, "backends", lambda: (backend, blocked))
    return backend


def refuse_waits(monkeypatch):
    """Refuse what waits for a GPU inside of attention calls; return the number of those calls."""
    inside, calls = [], []
    real = Watcher._answer

    def answer(self, *given):
        calls.append(None)
        inside.append(True)
        try:
            return real(self, *given)
        finally:
            inside.pop()

    monkeypatch.setattr(Watcher, "_answer", answer)
    for name in WAITING:
        refuse(monkeypatch, name, lambda: inside and not _ALLOWED)
    return calls


def refuse(monkeypatch, name, wrong):
    verb = getattr(torch.Tensor, name)

    def waiting(self, *given, **named):
        if wrong():
            raise WaitError(name)
        return verb(self, *given, **named)

    monkeypatch.setattr(torch.Tensor, name, waiting)


class Empty(StandIn):
    """Answers with tensors that hold nothing, where the problem lies."""

    def forward(self, problem, facts):
        self.facts.append(facts)

        def made(dtype, shape):
            return DeviceArray(torch.empty(shape, dtype=torch_dtype(dtype), device="meta"))

        rows, room = (problem.batch, problem.heads, problem.q_len), room_for(problem, facts)
        keys = (*rows[:2], problem.kv_len)
        return Findings(
            made(problem.dtype, (*rows, problem.value_dim)),
            made(problem.compute_dtype, rows),
            type(room)(*(one if one is None else made(one.dtype, one.shape) for one in room)),
            made(np.dtype(np.float64), keys) if facts.received else None,
        )


class OneDevice(TorchDispatchMode):
    """Refuses what is done to a tensor that holds nothing together with one in memory."""

    def __torch_dispatch__(self, verb, types, args=(), kwargs=None):
        places = {
            one.device.type
            for one in tree_leaves((args, kwargs))
            if isinstance(one, torch.Tensor) and one.ndim
        }
        if len(places) > 1:
            raise WaitError(f"{verb} of {places}")
        return verb(*args, **kwargs or {})


class Said:
    """In the place of `Arriving`: what tensors would have sent to memory."""

    def __init__(self, tensors, *, aside=False):
        self.there, self._tensors = True, tensors

    causal = padded = False

    def arrays(self):
        if any(one.is_floating_point() for one in self._tensors):
            return [one.cpu() for one in self._tensors]  # facts: they hold nothing
        return [self._said(one) for one in self._tensors]

    def _said(self, tensor):
        if tensor.shape == (5,):  # left, right, fits, last, ahead
            return np.array([2**60, 0 if self.causal else 2**60, 1, 0, int(not self.causal)])
        found = np.ones(tensor.shape, bool if tensor.dtype == torch.bool else np.int64)
        if self.padded and tensor.ndim == 2:
            found[1, :3] = 0
        return found


def hold_nothing(monkeypatch, backend, *, causal, padded):
    """Let meta tensors count as a GPU's, which hold nothing; what they would send is said."""
    monkeypatch.setattr(registry, "backends", lambda: (backend,))
    monkeypatch.setattr(Said, "causal", causal)
    monkeypatch.setattr(Said, "padded", padded)
    monkeypatch.setattr(watching, "check_model", lambda _: None)
    monkeypatch.setattr(watching, "_check_device", lambda _: None)
    monkeypatch.setattr(routing, "as_autocast", lambda *given: given)  # no such thing on meta
    for module in (plainness, tensors, routing, masks, seeing, watcher):
        monkeypatch.setattr(module, "is_on_device", lambda one: one.device.type == "meta")
    for module in (carrying, resolving, sending):
        monkeypatch.setattr(module, "Arriving", Said)
    take = torch.Tensor.__getitem__
    monkeypatch.setattr(torch.Tensor, "__getitem__", lambda one, at: take(one, _no_list(at)))
    for module in (seeing, sharing):
        monkeypatch.setattr(
            module, "send", lambda array, _: torch.from_numpy(np.array(array)).to("meta")
        )


def _no_list(at):
    """Refuse positions that lie in memory: torch sends them, and waits until they are there."""
    for pick in at if isinstance(at, tuple) else (at,):
        if isinstance(pick, (list, np.ndarray)):
            raise WaitError(pick)
    return at
