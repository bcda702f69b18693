"""What the compiler makes of the Hopper kernel, offline: what its design counts on is there."""

import functools
import re
from collections import Counter

import compiling
import pytest

MOST_SHARED = 227 * 1024  # bytes a program, on a Hopper GPU
VARIANTS = [  # head_dim, causal, entropy, maxima
    (64, False, False, False),
    (64, True, True, True),
    (128, False, False, False),
    (128, True, False, False),
    (128, True, True, False),
    (128, False, True, True),
    (128, True, True, True),
]
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\d+\s+)?(.*?);")


class Unfused:
    """A kernel that is compiled without fusing a product and a sum that the source keeps apart."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __getitem__(self, grid):
        return functools.partial(self.kernel[grid], enable_fp_fusion=False)


def launch_hopper(head_dim, causal, entropy, maxima, *, dtype="bfloat16", fuses=True):
    import aloft
    import torch

    from softlookup.backends.triton import forward, hopper, hopper_launch
    from softlookup.backends.triton.launch import launch_of
    from softlookup.backends.triton.maxima import Strip

    launch = launch_of(aloft.problem_of(dtype, 512, head_dim, heads=4, causal=causal))
    room = hopper_launch.room_for(launch, forward.Asked(entropy=entropy))
    held = torch.empty(4, 16, 512, 4) if maxima else None
    kernel = hopper.look_up_kernel
    try:
        hopper.look_up_kernel = kernel if fuses else Unfused(kernel)
        hopper_launch.run(launch, room, Strip(0, 4, 0, 512, held))
    finally:
        hopper.look_up_kernel = kernel


def compiled(head_dim, causal, entropy, maxima, **more):
    return compiling.launched(
        "test_hopper_compiled:launch_hopper",
        "sm_90a",
        head_dim=head_dim,
        causal=causal,
        entropy=entropy,
        maxima=maxima,
        **more,
    )


def instructions(sass):
    found = filter(None, map(INSTRUCTION.match, sass.splitlines()))
    return [(int(match[1], 16), match[2].strip()) for match in found]


def step_loops(sass):
    """Return the loop over keys of each consumer, as lists of instructions.

    It is the smallest loop with a block's 64 powers of 2 a thread, and 2 for the rows.
    """
    lines = instructions(sass)
    places = {address: i for i, (address, _) in enumerate(lines)}
    loops = []
    for i, (address, text) in enumerate(lines):
        target = re.match(r"BRA\S* .*?(0x[0-9a-f]+)", text)
        if target and int(target[1], 16) <= address:
            body = [text for _, text in lines[places[int(target[1], 16)] : i + 1]]
            if sum("MUFU.EX2" in text for text in body) == 66 and "SHFL" not in names_of(
                body[-40:]
            ):
                loops.append(body)
    shortest = min(map(len, loops))
    return [body for body in loops if len(body) < shortest + 32]


def names_of(body):
    return Counter(re.split(r"[ .]", text)[0] for text in body)


@pytest.mark.parametrize(("head_dim", "causal", "entropy", "maxima"), VARIANTS)
def test_registers_and_shared_memory_suffice(head_dim, causal, entropy, maxima):
    kernel = compiled(head_dim, causal, entropy, maxima)
    assert kernel.warps == 12
    assert kernel.registers == 168
    assert kernel.shared <= MOST_SHARED
    if maxima and head_dim == 128:  # outside the loop over keys, see below
        assert kernel.stack <= 32
    else:
        assert (kernel.stack, kernel.spill_stores, kernel.spill_loads) == (0, 0, 0)
    counts = re.findall(r"setmaxnreg\.(inc|dec)\.sync\.aligned\.u32\s+(\d+)", kernel.ptx)
    assert {number for _, number in counts} >= {"240", "24"}


@pytest.mark.parametrize(("head_dim", "causal", "entropy", "maxima"), VARIANTS)
def test_the_machine_is_used_as_meant(head_dim, causal, entropy, maxima):
    kernel = compiled(head_dim, causal, entropy, maxima)
    # two consumers; products of the first block, of the next ones, values in the loop and after it
    products = 2 * (2 * (head_dim // 16) + 2 * (128 // 16))
    assert kernel.count(r"\bHGMMA\b") == products
    assert kernel.count(r"\bUTMALDG\b") == 4 * head_dim // 64  # twice queries, keys, values
    assert kernel.count(r"\bUTMASTG\b") == 2
    assert kernel.count(r"\bUSETMAXREG\b") >= 3
    assert kernel.count(r"\bHMMA\b") == 0


@pytest.mark.parametrize(("head_dim", "causal", "entropy", "maxima"), VARIANTS)
def test_the_loop_over_keys_overlaps(head_dim, causal, entropy, maxima):
    loops = step_loops(compiled(head_dim, causal, entropy, maxima).sass)
    assert len(loops) == 2
    for body in loops:
        names = names_of(body)
        assert names["HGMMA"] == head_dim // 16 + 8
        # weights reach the second product as registers, and nothing spills
        assert not names.keys() & {"LDS", "STS", "STSM", "LDSM", "LDL", "STL"}
        order = "".join(
            "e" if "MUFU.EX2" in text else "w" if "DEPBAR" in text and "gsb0" in text else ""
            for text in body
        )
        assert re.fullmatch("we{66}w", order), order  # no power of 2 after the values' product
        assert len(body) < 480 + 90 * entropy + 75 * maxima


@pytest.mark.parametrize("causal", [False, True])
def test_no_compiler_chooses_how_out_is_rounded(causal):
    """Why facts change no bit of out: what is rounded once there is an fma of the source.

    Without the right to fuse, the kernel that finds no facts has the same multiply-adds. The one
    that finds all loses those of the entropy alone, of p * t: about 64 a thread in each of two
    blocks (in one if causal: the first block takes hidden keys out between product and sum).
    """
    plain, unfused = (
        multiply_adds(compiled(128, causal, False, False, fuses=fuses)) for fuses in (True, False)
    )
    assert plain == unfused > 0
    with_all, unfused = (
        multiply_adds(compiled(128, causal, True, True, fuses=fuses)) for fuses in (True, False)
    )
    blocks = 1 if causal else 2
    assert abs(with_all - unfused - 2 * 64 * blocks) <= 2 * 8


def test_the_place_of_a_fact_of_many_rows_is_no_int32():
    """So many rows times 4 are up to 2**33; `each`, how many they are, comes after `rows_of`."""
    ptx = compiled(64, True, True, False).ptx
    (rows_of,) = re.findall(r"ld\.param\.b64\s+\S+, \[look_up_kernel_param_(20)\]", ptx)
    (each,) = re.findall(rf"ld\.param\.b32\s+(\S+), \[\w+_param_{int(rows_of) + 1}\]", ptx)
    uses = re.findall(rf"^\s+(\S+)\s.*{each}\b", ptx, re.MULTILINE)
    assert set(uses) <= {"ld.param.b32", "mul.wide.s32", "mad.wide.s32", "cvt.s64.s32"}


def multiply_adds(kernel):
    return len(re.findall(r"\bfma\.rn\.f32\b", kernel.ptx))
