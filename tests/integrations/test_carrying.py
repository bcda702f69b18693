"""What a watch holds on a GPU comes when it is asked for, and goes when it is too much."""

import contextlib
import gc

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from softlookup import device  # noqa: E402 (it needs torch)
from softlookup.device import DeviceArray, send  # noqa: E402
from softlookup.inspection import Inspection, Top  # noqa: E402
from softlookup.integrations import sending  # noqa: E402
from softlookup.integrations.carrying import Carried, Hold  # noqa: E402
from softlookup.integrations.sending import Arriving  # noqa: E402

pytestmark = pytest.mark.models


def found(number, rows=5):
    """Return the facts of a call, and what they hold."""
    top = Top(torch.full((1, 2, rows, 3), number), torch.full((1, 2, rows, 3), float(number)))
    lse = torch.full((1, 2, rows), float(number), dtype=torch.float32)
    return Inspection(None, lse, "cuda", top=top, received=lse.double(), received_per_kv_head=lse)


class Call:
    """As `Shown`, what one call showed."""

    def __init__(self, hold, number):
        shares = torch.full((4, 2), number, dtype=torch.float64)
        causal = torch.tensor(number % 2 == 0)
        self.number = number
        self.found, self.shares, self.causal = hold.take_call(found(number), shares, causal)

    def assert_whole(self):
        for carried in (self.found.lse, self.found.received, self.shares, *self.found.top):
            array = carried.in_memory()
            assert (array.shape, array.dtype) == (carried.shape, carried.dtype)
            assert (array == self.number).all()
        assert self.causal.in_memory() == (self.number % 2 == 0)


def test_facts_come_as_they_were():
    call = Call(Hold(), 3)
    assert isinstance(call.found.lse, Carried)
    assert call.found.received_per_kv_head is None  # others say it
    call.assert_whole()


def test_facts_in_memory_stay_as_they_are():
    plain = Inspection(None, np.zeros((1, 2, 3)), "cpu")
    assert Hold().take_call(plain, None, True) == (plain, None, True)


def test_a_pass_becomes_one_array():
    hold = Hold()
    calls = [Call(hold, number) for number in range(7)]
    hold.pack(calls)
    assert len({id(call.found.lse._load) for call in calls}) == 1
    assert calls[0].found.lse.tensor() is None  # those of each call are no more
    for call in calls:
        call.assert_whole()


def test_a_large_pass_stays_apart():
    hold = Hold()
    calls = [Call(hold, number) for number in range(2)]
    large = Call(hold, 2)
    large.shares, _, _ = hold.take_call(Inspection(None, torch.zeros(2**22, 2), "cuda"), None, True)
    large.shares = large.shares.lse
    hold.pack([*calls, large])
    assert calls[0].found.lse._load is not calls[1].found.lse._load


def test_the_oldest_go_where_it_is_too_much():
    hold = Hold(most=10_000)
    calls = [Call(hold, number) for number in range(40)]
    held = [call.found.lse._load.held for call in calls]
    assert held[0] == 0
    assert held[-1] > 0
    assert sum(held) <= 10_000
    for call in calls:
        call.assert_whole()


def test_what_was_read_or_forgotten_takes_no_room():
    hold = Hold(most=10_000)
    for number in range(40):
        call = Call(hold, number)
        if number % 2:
            call.assert_whole()
    last = Call(hold, 41)
    del call
    gc.collect()
    hold._make_room()
    assert hold._bytes == last.found.lse._load.held
    assert len(hold._loads) == 1


class Apart:
    """torch.cuda without a GPU: nothing has arrived until it is waited for."""

    def __init__(self):
        self.waits, self.pins, self.streams, self.pinned = 0, 0, [], []

    def __call__(self, *_):
        self.streams.append(self)
        return self

    def wait_event(self, event):
        assert event.recorded

    def record(self, *_):
        self.recorded = True

    def query(self):
        return self.waits > 0

    def synchronize(self):
        assert self.recorded
        self.waits += 1


@pytest.fixture
def apart(monkeypatch):
    cuda, empty = Apart(), torch.empty

    def pin(tensor):
        cuda.pins += 1
        return tensor.clone()

    def room(*shape, pin_memory=False, device=None, **how):
        assert not pin_memory or device == "cpu"  # else it is asked for on torch's default device
        cuda.pinned.append(pin_memory)
        return empty(*shape, device=device, **how)

    for module in (device, sending):
        monkeypatch.setattr(module, "works_apart", lambda _: True)
    monkeypatch.setattr(torch, "empty", room)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda *_: None)
    monkeypatch.setattr(torch.Tensor, "pin_memory", pin)
    for name in ("current_stream", "Stream", "Event"):
        monkeypatch.setattr(torch.cuda, name, cuda)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: contextlib.nullcontext())
    return cuda


@pytest.mark.parametrize("aside", [False, True])
def test_there_is_one_wait_for_all_that_comes_together(apart, aside):
    given = [torch.arange(6).view(2, 3), torch.ones(4, dtype=torch.bfloat16), torch.tensor(True)]
    arriving = Arriving(given, aside=aside)
    assert (apart.waits, apart.pinned, arriving.there) == (0, [True] * 3, False)
    arrays = arriving.arrays()
    assert arriving.arrays() is arrays
    assert apart.waits == 1
    np.testing.assert_array_equal(arrays[0], [[0, 1, 2], [3, 4, 5]])
    assert (arrays[1].astype(float) == 1).all()
    assert arrays[2]


def test_the_oldest_go_in_the_background(apart):
    hold = Hold(most=10_000)
    calls = [Call(hold, number) for number in range(30)]
    assert apart.waits == 0
    assert calls[0].found.lse._load.held == 0
    apart.waits = 1  # now they have arrived
    last = Call(hold, 30)
    assert calls[0].found.lse._load._arriving is None  # and stand in ordinary memory
    for call in (*calls, last):
        call.assert_whole()


@pytest.mark.parametrize("way", ["send", "beside", "index"])
def test_what_is_sent_goes_through_pinned_memory(way, apart):
    array = np.arange(3)
    beside = DeviceArray(torch.zeros(5))
    sent = {
        "send": lambda: send(array, torch.device("cpu")),
        "beside": lambda: beside.beside(array).tensor,
        "index": lambda: beside[array].tensor,
    }[way]()
    array[:] = 7
    assert sent.tolist() == ([0, 0, 0] if way == "index" else [0, 1, 2])
    assert apart.pins == 1
    assert apart.waits == 0


def test_what_is_brought_is_pinned_in_memory(apart, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device", lambda _: contextlib.nullcontext())
    with torch.device("meta"):  # as where torch makes its tensors on a GPU
        brought = DeviceArray(torch.arange(4, device="cpu")).bringing()()
        (sent,) = Arriving([torch.arange(4, device="cpu")]).arrays()
    assert apart.pinned == [True, True]
    assert brought.tolist() == sent.tolist() == [0, 1, 2, 3]


class Stream:
    """One of a device's streams: what it was given, in order."""

    def __init__(self, *_):
        self.given = []

    def wait_event(self, event):
        self.given.append(("wait", event.of, event.at))


class Event:
    """A place in what a stream was given."""

    def record(self, stream):
        self.of, self.at = stream, len(stream.given)

    def synchronize(self):
        pass

    def query(self):
        return False


@pytest.mark.parametrize("way", ["read", "send", "pack"])
def test_what_one_stream_made_another_waits_for(way, apart, monkeypatch):
    own, other, aside = Stream(), Stream(), Stream()
    current, recorded = [own], []
    monkeypatch.setattr(torch.cuda, "current_stream", lambda *_: current[0])
    monkeypatch.setattr(torch.cuda, "Stream", lambda _: aside)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda _, stream: recorded.append(stream))
    hold = Hold()
    own.given.append("facts")
    calls = [Call(hold, number) for number in range(2)]
    own.given.append("later")
    current[0] = other
    {"read": calls[0].assert_whole, "send": calls[0].found.lse._load.send,
     "pack": lambda: hold.pack(calls)}[way]()  # fmt: skip
    reader = aside if way == "send" else other
    assert reader.given == [("wait", own, 1)] * (2 if way == "pack" else 1)
    assert set(recorded) == {reader}


def test_another_thread_may_take_what_has_arrived_first(apart):
    hold = Hold()
    call = Call(hold, 3)
    load = call.found.lse._load
    load.send()
    arriving = load._arriving

    class Overtaken:
        @property
        def there(self):
            load.arrays()
            return arriving.there

    load._arriving = Overtaken()
    load._arriving.arrays = arriving.arrays
    assert load.settle()
    call.assert_whole()
