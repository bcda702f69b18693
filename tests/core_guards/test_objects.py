"""What the kernels' object files hold: one instruction set each, one symbol, nothing shared.

A processor without AVX-512 must never meet an instruction of it. So an object file holds no
function that the linker may share between instruction sets (`std::` templates would be such), and
exports nothing but its table of kernels.
"""

import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
LISTED = (HOME / "CMakeLists.txt").read_text(encoding="utf-8")
PLAIN = {"memset", "memcpy", "memmove", "log", "logf", "__stack_chk_fail"}  # of libc and libm
# of an x86-64-v2 object no instruction may be VEX or EVEX encoded: their names begin with v
NEVER = {
    "unit_x86_64_v2": r"^v",
    "unit_x86_64_v3": r"%zmm|%[xy]mm(1[6-9]|2\d|3[01])|%k[0-7]|dpbf16|bf16",
    "unit_x86_64_v4": r"bf16",
}
ALWAYS = {
    "unit_x86_64_v2": r"^mulps",
    "unit_x86_64_v3": r"^vfmadd\d+ps .*%ymm",
    "unit_x86_64_v4": r"^vfmadd\d+ps .*%zmm",
    "unit_x86_64_v4_bf16": r"^vdpbf16ps",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64",
        reason="hardware: the objects that are looked at are those of Linux on x86-64",
    ),
]


def flags():
    standard = re.search(r"set\(CMAKE_CXX_STANDARD (\d+)\)", LISTED).group(1)
    shared = re.search(r"set\(UNIT_FLAGS ([^)]*)\)", LISTED).group(1).split()
    own = dict(re.findall(r"add_unit\((unit_x86_64\w*) ([^)]*)\)", LISTED))
    return {unit: [f"-std=c++{standard}", "-fPIC", *shared, *own[unit].split()] for unit in own}


def words(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Each unit compiled as CMake does, two at a time."""
    folder = tmp_path_factory.mktemp("objects")
    compiler = shutil.which("c++") or shutil.which("g++")

    def made(unit):
        words(compiler, *flags()[unit], "-c", HOME / f"cpp/{unit}.cpp", "-o", folder / f"{unit}.o")
        return unit, folder / f"{unit}.o"

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(made, flags()))


def instructions(file):
    """Every instruction of an object file, once, with its registers."""
    text = words("objdump", "-d", "--no-show-raw-insn", file)
    return {line.split("\t", 1)[1].strip() for line in text.splitlines() if "\t" in line}


def problems_of_symbols(unit, file):
    defined, called = [], []
    for line in words("nm", file).splitlines():
        kind, name = line.split()[-2:]
        (called if kind == "U" else defined).append((kind, name))
    for kind, name in defined:
        if kind.isupper() and name != unit.replace("unit", "softlookup"):
            yield f"{unit} defines {name} ({kind}) for others"
        if kind in "uvwVW":
            yield f"{unit} may share {name} ({kind})"
    if not any(name == unit.replace("unit", "softlookup") for _, name in defined):
        yield f"{unit} does not define its table"
    for _, name in called:
        if name not in PLAIN and name != "_GLOBAL_OFFSET_TABLE_":
            yield f"{unit} calls {name}"


def problems_of_instructions(unit, file):
    used = instructions(file)
    for line in used:
        if unit in NEVER and re.search(NEVER[unit], line):
            yield f"{unit} has {line}"
    if not any(re.search(ALWAYS[unit], line) for line in used):
        yield f"{unit} has no {ALWAYS[unit]}: is anything looked at?"


def test_each_object_holds_one_instruction_set_and_one_symbol(objects):
    assert set(objects) == set(ALWAYS)
    problems = []
    for unit, file in objects.items():
        problems += [*problems_of_symbols(unit, file), *problems_of_instructions(unit, file)]
    assert not problems, "\n".join(problems[:20])


def test_contraction_is_off():
    """No `a * b + c` becomes an FMA unless it is written as one."""
    assert all("-ffp-contract=off" in unit_flags for unit_flags in flags().values())
    assert not any("fast-math" in flag for unit_flags in flags().values() for flag in unit_flags)
