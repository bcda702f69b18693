"""What Triton makes of a kernel for a GPU that is not here: registers, spills, PTX and SASS.

A kernel is either interpreted or compiled in a process, by TRITON_INTERPRET when it is decorated.
So one process without that variable compiles for all tests of a session. `launches` names a
function of a test file, which calls launchers or kernels on CPU tensors; every launch in it is
compiled for the target and handed back, and nothing runs.
"""

import functools
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
TARGETS = {"sm_80": 80, "sm_89": 89, "sm_90a": 90, "sm_100a": 100, "sm_120": 120}


class Compiled(NamedTuple):
    """One kernel as compiled for one target.

    `module` is the last part of its file's name. `registers` are those at entry; `stack` is in
    bytes, `spill_stores` and `spill_loads` count instructions; `shared` is in bytes a program.
    """

    module: str
    name: str
    target: str
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int
    warps: int
    ptx: str
    sass: str

    def count(self, pattern: str) -> int:
        """Return how many lines of the SASS match a regular expression."""
        return sum(1 for line in self.sass.splitlines() if re.search(pattern, line))


class CannotCompileError(Exception):
    """What the compiler, or the function that launches, said."""


def launches(function: str, target: str, **arguments: Any) -> list[Compiled]:
    """Return every kernel that ``"file:function"`` launches, compiled for `target`.

    `arguments` go to the function; they are numbers, strings, bools, None or lists of them.
    """
    return list(_launches(function, target, json.dumps(arguments, sort_keys=True)))


def launched(function: str, target: str, **arguments: Any) -> Compiled:
    """Return the only kernel that the function launches."""
    (kernel,) = launches(function, target, **arguments)
    return kernel


@functools.cache
def _launches(function: str, target: str, arguments: str) -> tuple[Compiled, ...]:
    worker = _worker()
    request = {"function": function, "target": target, "arguments": json.loads(arguments)}
    worker.stdin.write(json.dumps(request) + "\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        raise CannotCompileError(f"the compiling process ended with {worker.wait()}")
    answer = json.loads(line)
    if "error" in answer:
        raise CannotCompileError(answer["error"])
    return tuple(Compiled(**kernel) for kernel in answer["kernels"])


@functools.cache
def _worker() -> subprocess.Popen[str]:
    """Start the process that compiles; it ends with its standard input, so with this one."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    folders = [str(HERE), str(HERE.parent), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    return subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


# What follows runs in the compiling process.


def serve() -> None:
    """Answer requests, a line of JSON each, until there are no more."""
    answers = sys.stdout
    for line in sys.stdin:
        printed = io.StringIO()
        with redirect_stdout(printed):
            try:
                answer = {"kernels": [kernel._asdict() for kernel in _compile(json.loads(line))]}
            except Exception:  # noqa: BLE001 (whatever it is, the test that asked shows it)
                answer = {"error": f"{printed.getvalue()}\n{traceback.format_exc()}"}
        print(json.dumps(answer), file=answers, flush=True)


def _compile(request: dict[str, Any]) -> list[Compiled]:
    import triton
    from triton.runtime.jit import JITFunction

    module, _, name = request["function"].partition(":")
    triton.runtime.driver.set_active(StandIn(TARGETS[request["target"]]))
    made = []

    def run(kernel, *arguments, grid, warmup, **options):
        found = compiles(kernel, *arguments, grid=None, warmup=True, **options)
        made.append((kernel.fn.__module__.rpartition(".")[2], found))

    compiles, JITFunction.run = JITFunction.run, run
    try:
        getattr(importlib.import_module(module), name)(**request["arguments"])
    finally:
        JITFunction.run = compiles
    return [_described(module, kernel, request["target"]) for module, kernel in made]


class StandIn:
    """In place of a GPU's driver: it names the target, and compiling needs no more."""

    def __init__(self, capability):
        self.capability = capability

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self):
        return self.capability  # kernels are kept by device, so each target is one

    def get_current_stream(self, device=None):
        return 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def map_python_to_cpp_type(self, name):
        return name


def _described(module: str, kernel: Any, target: str) -> Compiled:
    sass = _cuobjdump("-sass", kernel.asm["cubin"])
    usage = _cuobjdump("-res-usage", kernel.asm["cubin"])
    used = dict(re.findall(r"(REG|STACK):(\d+)", usage))
    return Compiled(
        module=module,
        name=kernel.metadata.name,
        target=target,
        registers=int(used["REG"]),
        stack=int(used["STACK"]),
        spill_stores=len(re.findall(r"\bSTL\b", sass)),
        spill_loads=len(re.findall(r"\bLDL\b", sass)),
        shared=kernel.metadata.shared,
        warps=kernel.metadata.num_warps,
        ptx=kernel.asm["ptx"],
        sass=sass,
    )


def _cuobjdump(flag: str, cubin: bytes) -> str:
    import triton

    program = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        shown = subprocess.run(
            [program, flag, file.name], capture_output=True, text=True, check=True
        )
    return shown.stdout


if __name__ == "__main__":
    serve()
