"""What is found again of a launch: never a kernel that Triton would have compiled otherwise."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import compiling
import numpy as np
import pytest
import torch
from aloft import problem_of

HERE = Path(__file__).parent
FACTS = {"none": {}, "facts": {"entropy": True, "max_score": True, "top": 8}}


def arguments():
    """Return arguments of every sort, some of which Triton tells apart."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    from softlookup.backends.triton.running import Room

    some = torch.zeros(4, 64, 64, dtype=torch.bfloat16)
    dtypes = [some.float(), some.half(), some.bool(), some.byte(), some.int(), some.long()]
    large = [2**31 - 1, 2**31, 2**31 + 1, 2**33, 2**33 + 3]
    tiles = [(some, 16), (some, 32), (some.half(), 16)]
    return [
        0, 1, 2, 3, 8, 15, 16, 17, 32, 48, 100, *large, -1, -3, -16, -(2**31), -(2**31) - 3,
        None, True, False, np.int64(16), np.int64(3), 0.5, 3.0, 16.0, 1e300, float("inf"),
        (1, 16), (2, 16), (3, 32), (16, (2, 3)), (16, (2, 1)),
        some, some[1:], some[..., 1:], some[..., 8:], *dtypes, dtypes[4][..., 4:],
        Room(), Room(out=some), Room(lse=some), Room(out=some[1:]), Room(out=some[..., 1:]),
        *(TensorDescriptor(of, [4, 64, 64], [4096, 64, 1], [1, rows, 64]) for of, rows in tiles),
    ]  # fmt: skip


def test_what_triton_tells_apart_is_of_another_kind():
    from triton.backends.compiler import BaseBackend
    from triton.runtime.jit import native_specialize_impl

    from softlookup.backends.triton.kinds import kinds_of

    alike = 0
    for one, other in itertools.combinations(arguments(), 2):
        if kinds_of([one]) == kinds_of([other]):
            first, second = (
                native_specialize_impl(BaseBackend, each, False, True, True)
                for each in (one, other)
            )
            assert first == second, (one, other)
            alike += 1
    assert alike > 30  # so lengths that change are found again


@pytest.mark.parametrize("length", [1, 300])
@pytest.mark.parametrize("asked", list(FACTS))
def test_a_second_call_is_launched_as_the_first_was_and_binds_nothing(length, asked):
    """Without this, Triton takes 10 us a launch to bind what a kernel was compiled for before."""
    first, second, bound = recorded(length, asked)
    assert [launch["name"] for launch in first] == [launch["name"] for launch in second]
    assert first == second
    assert len(first) == {(1, "none"): 3, (300, "none"): 2}.get((length, asked), len(first))
    assert set(bound) <= {"segments_kernel"}, "launched past Launch.start"


def recorded(length, asked):
    """Return the launches of two calls, and what Triton bound in the second; nothing runs."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    paths = [str(HERE), str(HERE.parent), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    done = subprocess.run(
        [sys.executable, __file__, str(length), asked],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# What follows runs in that process.


class Recorder(compiling.StandIn):
    """In place of a GPU's driver: kernels are compiled and loaded, and launches are listed."""

    def __init__(self, capability):
        super().__init__(capability)
        self.utils, self.launches = self, []

    def get_device_properties(self, _):
        return {"max_shared_mem": 227 * 1024}

    def load_binary(self, name, *_):
        return None, name, 0, 0, 1024  # its name is its handle

    def launcher_cls(self, *_):
        return self.launch

    def launch(self, x, y, z, _stream, name, _packed, _metadata, _enter, _exit, *given):
        self.launches.append({"name": name, "grid": [x, y, z], "given": _shown(given)})


def _shown(given):
    """Return arguments of a launch as JSON has them: of a tensor what is not a place in memory."""
    if isinstance(given, tuple):
        return [_shown(each) for each in given]
    if hasattr(given, "block_shape"):
        return [_shown(given.base), given.shape, given.strides, given.block_shape]
    if isinstance(given, torch.Tensor):
        return [str(given.dtype), list(given.shape), given.data_ptr() % 16]
    return given


def record(length, asked):
    """Print what `recorded` returns."""
    import triton
    from triton.runtime.jit import JITFunction

    driver, bound = Recorder(90), []
    triton.runtime.driver.set_active(driver)

    from softlookup.backends.triton import answers, forward
    from softlookup.backends.triton.launch import launch_of
    from softlookup.facts import Facts

    binds = JITFunction.run

    def run(kernel, *given, **options):
        bound.append(kernel.fn.__name__)
        return binds(kernel, *given, **options)

    JITFunction.run = run
    found = []
    for _ in range(2):
        bound.clear()
        answers.run(launch_of(problem(length)), Facts(**FACTS[asked]), forward)
        found.append(list(driver.launches))
        driver.launches.clear()
    print(json.dumps([*found, bound]))


def problem(length):
    """Return some queries over 2,048 keys."""
    import dataclasses

    from softlookup.device import DeviceArray

    whole = problem_of(length=2048, head_dim=64, heads=2)
    query = DeviceArray(whole.query.tensor[:, :, :length].clone())
    return dataclasses.replace(whole, query=query, q_offset=np.array([2048 - length]))


if __name__ == "__main__":
    record(int(sys.argv[1]), sys.argv[2])
