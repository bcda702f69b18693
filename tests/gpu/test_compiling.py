"""The compiling process itself: what it reports of a kernel, and how it fails."""

import os

import compiling
import pytest
import triton
import triton.language as tl


@triton.jit
def double(source, target, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    numbers = tl.load(source + places, places < count)
    tl.store(target + places, numbers * 2, places < count)


@triton.jit
def crowded(source, target, SIZE: tl.constexpr):
    """Keep so many numbers that no register file holds them."""
    rows, columns = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    first = tl.load(source + rows * SIZE + columns)
    second = tl.load(source + columns * SIZE + rows)
    total = first
    for _ in range(4):
        total = tl.exp(total + second) * first
    tl.store(target + rows * SIZE + columns, total + second)


@triton.jit
def wrong(source):
    tl.store(source, tl.arange(0, 3))


def call_double(block):
    import torch

    numbers = torch.empty(1024, dtype=torch.bfloat16)
    double[(4,)](numbers, numbers, 1000, BLOCK=block, num_warps=4)
    double[(4,)](numbers, numbers, 1000, BLOCK=2 * block, num_warps=4)


def call_crowded():
    import torch

    numbers = torch.empty(1 << 14)
    crowded[(1,)](numbers, numbers, SIZE=128, num_warps=1)


def call_wrong():
    import torch

    wrong[(1,)](torch.empty(4))


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_every_launch_is_compiled_for_the_target(target):
    kernels = compiling.launches("test_compiling:call_double", target, block=256)
    assert [kernel.name for kernel in kernels] == ["double", "double"]
    for kernel in kernels:
        assert f".target {target}" in kernel.ptx
        assert 0 < kernel.registers < 64
        assert (kernel.stack, kernel.spill_stores, kernel.spill_loads) == (0, 0, 0)
        assert kernel.count(r"\bLDG\b") > 0
        assert kernel.count(r"\bSTG\b") > 0


def test_spills_are_seen():
    kernel = compiling.launched("test_compiling:call_crowded", "sm_80")
    assert kernel.registers >= 64
    assert kernel.stack > 0
    assert kernel.spill_stores > 0
    assert kernel.spill_loads > 0


def test_what_the_compiler_refuses_is_said_and_the_next_call_works():
    with pytest.raises(compiling.CannotCompileError, match="power of 2"):
        compiling.launches("test_compiling:call_wrong", "sm_80")
    assert compiling.launches("test_compiling:call_double", "sm_80", block=128)


def test_kernels_here_are_interpreted():
    assert os.environ["TRITON_INTERPRET"] == "1"
    assert not isinstance(double, triton.runtime.JITFunction)
