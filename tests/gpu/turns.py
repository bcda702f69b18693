"""Whose turn it is: partitions of an emulated kernel as threads, of which one runs at a time."""

import random
import threading

import numpy as np

_MOST_STEPS = 50_000  # several times what the tests need


class StandstillError(Exception):
    """Every partition waits and nothing is under way, or they go on without an end."""


class Turns:
    """Who runs: one partition at a time; and what is under way, in the order of each queue."""

    def __init__(self, seed, haste):
        self.random = random.Random(seed)
        self.haste = haste
        self.change = threading.Condition()
        self.waiting = {}  # partition to what it waits for, None for nothing
        self.running = None
        self.under_way = []  # (queue, act)
        self.failure = None
        self.steps = 0

    def start(self, queue, act):
        """Begin an act that ends by itself, after those begun before in its queue."""
        self.under_way.append((queue, act))

    def step(self, until=None):
        """Let others run until it is this partition's turn again and `until()` holds."""
        me = threading.current_thread()
        with self.change:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise StandstillError("no end")
            self.waiting[me] = until
            self._choose()
            self.change.notify_all()
            self._wait_for_turn(me)
            self.waiting[me] = None

    def run(self, partitions):
        """Run functions (name to function), each as a thread, to their ends."""
        threads = [
            threading.Thread(target=self._run_one, args=(function,), name=name, daemon=True)
            for name, function in partitions.items()
        ]
        self.waiting = dict.fromkeys(threads)
        self._choose()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while self.under_way:
            self.under_way.pop(0)[1]()
        if self.failure:
            raise self.failure

    def _run_one(self, function):
        with np.errstate(all="ignore"):  # which is each thread's own
            self._run_to_the_end(function)

    def _run_to_the_end(self, function):
        me = threading.current_thread()
        try:
            with self.change:
                self._wait_for_turn(me)
            function()
        except BaseException as failure:  # noqa: BLE001 (it is raised where the run was asked for)
            self.failure = self.failure or failure
        with self.change:
            self.waiting.pop(me, None)
            if not self.failure:
                self._choose()
            self.change.notify_all()

    def _wait_for_turn(self, me):
        while self.running is not me and not self.failure:
            self.change.wait()
        if self.failure:
            raise self.failure

    def _choose(self):
        while True:
            ready = [one for one, until in self.waiting.items() if until is None or until()]
            if self.under_way and (not ready or self.random.random() < self.haste):
                self._end_one()
            elif ready:
                self.running = self.random.choice(sorted(ready, key=lambda one: one.name))
                return
            else:
                if self.waiting:
                    names = ", ".join(sorted(one.name for one in self.waiting))
                    self.failure = self.failure or StandstillError(f"all wait: {names}")
                self.running = None
                return

    def _end_one(self):
        queue = self.random.choice(sorted({queue for queue, _ in self.under_way}))
        place = next(i for i, (name, _) in enumerate(self.under_way) if name == queue)
        try:
            self.under_way.pop(place)[1]()
        except AssertionError as failure:
            self.failure = self.failure or failure
