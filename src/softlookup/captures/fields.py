"""What a capture file may hold, and how its faults are told."""

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from softlookup.captures.capture import Capture, label
from softlookup.errors import FileError, SoftlookupError
from softlookup.lookup import Lookup
from softlookup.tokens import readable

OPTIONS = (
    "scale", "causal", "q_offset", "window", "softcap", "sinks", "mask", "bias", "kv_lens",
)  # fmt: skip
NAMES = ("title", "tokens", "key_tokens", "query", "key", "value", *OPTIONS)
SHORT: Mapping[str, str] = MappingProxyType({"q": "query", "k": "key", "v": "value"})
WEIGHTS = (".weight", ".bias")  # how the names of a model's weights end


def fault(file: Path, message: str) -> FileError:
    """Return the error that names `file` and says what is wrong with it, in one line."""
    return FileError(readable(str(file)), readable(message))


def meant_by(file: Path, names: Collection[str]) -> dict[str, str]:
    """Return what each name in a file means: one of `NAMES`.

    Raises
    ------
    FileError
        Where one has no meaning, with the nearest that has, or two have the same.
    """
    meant = {name: SHORT.get(name, name) for name in names}
    for name, meaning in meant.items():
        if meaning not in NAMES:
            raise _meaningless(file, name, names)
        if name != meaning and meaning in names:
            raise fault(file, f"holds {meaning!r} and {name!r}, which mean the same. Keep one.")
    return meant


def _meaningless(file: Path, name: str, names: Collection[str]) -> FileError:
    weights = [each for each in names if each.endswith(WEIGHTS) or each == "weight_map"]
    if weights:
        return fault(
            file, f"must hold a lookup; it holds a model's weights, such as {weights[0][:60]!r}. "
            f"Let the model read a text: softlookup capture --model {file.parent} --text TEXT "
            "-o run.safetensors."
        )  # fmt: skip
    near = difflib.get_close_matches(name.lower(), NAMES, n=1)
    advice = f"Did you mean {near[0]!r}?" if near else f"The names are {', '.join(NAMES)}."
    return fault(file, f"holds {name[:40]!r}, which has no meaning here. {advice}")


def one_lookup(file: Path, fields: Mapping[str, Any]) -> Capture:
    """Return the capture of a file that holds one lookup, its fields named as in `Lookup`.

    Raises
    ------
    FileError
        Where one is missing, or they do not fit together.
    """
    for name in ("query", "key"):
        if fields.get(name) is None:
            raise fault(file, f"must hold {name!r}; it is not there. Add it.")
    try:
        look = Lookup(
            fields["query"],
            fields["key"],
            fields.get("value"),
            **{name: fields[name] for name in OPTIONS if fields.get(name) is not None},
        )
        return label(
            look,
            tokens=fields.get("tokens"),
            key_tokens=fields.get("key_tokens"),
            title=fields.get("title") or file.stem,
        )
    except SoftlookupError as error:
        raise fault(file, str(error)) from error
