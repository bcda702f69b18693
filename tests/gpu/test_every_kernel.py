"""Every kernel compiles for every kind of GPU that it is for; each one's own tests look closer."""

import ast
from pathlib import Path

import compiling
import pytest

from softlookup.backends import triton

FOLDER = Path(triton.__file__).parent
LAUNCHES = [  # a function of a test file, and its arguments; together they launch every kernel
    ("test_forward:launch_answers", {"causal": True, "top": 8, "length": 16384}),
    ("test_forward:launch_answers", {"length": 1, "heads": 1, "top": 3}),
    ("test_forward:launch_calls", {"calls": [[4096, 4095]]}),
    ("test_forward:launch_answers", {"dtype": "float16", "head_dim": 64, "top": 70}),
    ("test_forward:launch_answers", {"dtype": "float32", "facts": False, "window": [100, 0]}),
    ("test_received:launch_received", {"causal": True}),
    ("test_received:launch_readers", {"mask": True}),
    ("test_received:launch_shares", {"groups": 8, "bins": 11}),
    ("test_rectangle:launch_pairs", {"causal": True}),
    ("test_pooled:launch_pooled", {"causal": True}),
    ("test_backward:launch_backward", {"causal": True, "bias": [4, 17, 33]}),
]
HOPPER = (
    "test_hopper_compiled:launch_hopper",
    {"head_dim": 64, "causal": True, "entropy": True, "maxima": True, "dtype": "float16"},
)
LAUNCHES_OF = {"sm_80": LAUNCHES, "sm_90a": [*LAUNCHES, HOPPER]}
MOST_SHARED = {"sm_80": 163 * 1024, "sm_90a": 227 * 1024}


def kernels():
    """Return (file, name) of every kernel, by its source: what is decorated and so named."""
    found = set()
    for file in FOLDER.glob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.endswith("_kernel"):
                assert "jit" in ast.unparse(node.decorator_list[0])
                found.add((file.stem, node.name))
    return found


@pytest.mark.parametrize("target", list(LAUNCHES_OF))
def test_every_kernel_compiles(target):
    compiled = [
        kernel
        for function, arguments in LAUNCHES_OF[target]
        for kernel in compiling.launches(function, target, **arguments)
    ]
    only_elsewhere = set() if target == "sm_90a" else {("hopper", "look_up_kernel")}
    assert {(kernel.module, kernel.name) for kernel in compiled} == kernels() - only_elsewhere
    for kernel in compiled:
        assert f".target {target}" in kernel.ptx
        assert kernel.shared <= MOST_SHARED[target], kernel.name
