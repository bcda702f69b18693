"""Machine: the compiled core, the instruction sets that this processor runs, and its threads.

``SOFTLOOKUP_ISA`` names an instruction set and ``SOFTLOOKUP_THREADS`` a number of threads; both are
read at every call, and a name that does not fit is an error, never replaced.
"""

import os
from functools import cache
from importlib import import_module
from types import ModuleType

from softlookup.errors import BackendError, OptionError

ISA = "SOFTLOOKUP_ISA"
THREADS = "SOFTLOOKUP_THREADS"
MOST_THREADS = 1024
_PAIRS = "x86-64-v4-bf16"


@cache
def core() -> ModuleType | None:
    """Return the compiled core, or None where there is none that this machine can load."""
    try:
        return import_module("softlookup._core")
    except ImportError:  # it is not there, or was built for another system
        return None


def needed_core() -> ModuleType:
    """Return the compiled core.

    Raises
    ------
    BackendError
        Where there is none.
    """
    module = core()
    if module is None:
        raise BackendError("backend", "cpu: needs the compiled core, which is not installed.")
    return module


def compiled() -> tuple[str, ...]:
    """Return the instruction sets that the core was compiled for, best first."""
    module = core()
    return () if module is None else tuple(module.compiled())


@cache
def supported() -> tuple[str, ...]:
    """Return those that this processor and its operating system can run, best first."""
    module = core()
    return () if module is None else tuple(module.supported())


def active() -> str:
    """Return the instruction set that is used: the best one, or what ``SOFTLOOKUP_ISA`` names.

    Raises
    ------
    OptionError
        Where that cannot run here; the message names the choices.
    BackendError
        Where none can.
    """
    names, asked = supported(), os.environ.get(ISA)
    if not names:
        raise BackendError("backend", "cpu: this processor runs none of the core's sets.")
    if not asked:
        return names[0]
    if asked not in names:
        known = asked in compiled()
        why = "which this processor cannot run" if known else "which is none"
        raise OptionError(
            ISA, f"must be one of {', '.join(names)}; it is {asked[:40]!r}, {why}. Unset it for "
            f"{names[0]}."
        )  # fmt: skip
    return asked


def why_active() -> str:
    """Return why the active instruction set is the one, in a few words."""
    if os.environ.get(ISA):
        return f"{ISA} names it"
    if _PAIRS in supported()[1:]:
        return "the best one here; this processor's dots of bfloat16 are slower"
    return "the best one here"


def threads() -> int:
    """Return how many threads may compute: the processors of this process, or what is asked for.

    Raises
    ------
    OptionError
        Where ``SOFTLOOKUP_THREADS`` is no whole number from 1.
    """
    asked = os.environ.get(THREADS)
    if not asked:
        return int(needed_core().processors())
    digits = asked.isascii() and asked.isdecimal() and len(asked) <= len(str(MOST_THREADS))
    if not digits or not 1 <= int(asked) <= MOST_THREADS:
        raise OptionError(
            THREADS, f"must be a whole number 1 ... {MOST_THREADS}; it is {asked[:40]!r}. Unset it "
            "to use every processor."
        )  # fmt: skip
    return int(asked)
