"""What a capture file may hold, and how its faults are told."""

import difflib
from collections.abc import Iterable
from pathlib import Path

from softlookup.errors import FileError
from softlookup.tokens import readable

OPTIONS = (
    "scale", "causal", "q_offset", "window", "softcap", "sinks", "mask", "bias", "kv_lens",
)  # fmt: skip
NAMES = ("title", "tokens", "key_tokens", "query", "key", "value", *OPTIONS)


def fault(file: Path, message: str) -> FileError:
    """Return the error that names `file` and says what is wrong with it, in one line."""
    return FileError(readable(str(file)), readable(message))


def check_names(file: Path, names: Iterable[str]) -> None:
    """Refuse a file that holds anything but the known names, and suggest the nearest one."""
    for name in names:
        if name in NAMES:
            continue
        near = difflib.get_close_matches(name.lower(), NAMES, n=1)
        advice = f"Did you mean {near[0]!r}?" if near else f"The names are {', '.join(NAMES)}."
        raise fault(file, f"holds {name[:40]!r}, which has no meaning here. {advice}")
