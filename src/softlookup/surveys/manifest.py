"""The manifest of a survey: which model read which texts, how, and with which versions.

Two runs into one folder must agree in all of it, or their rows could not stand together.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softlookup.errors import FileError
from softlookup.tokens import listed, readable
from softlookup.writing import write_whole

NAME = "manifest.json"
VERSION = 1
_LARGEST = 2**20  # bytes
_FIELDS = {"version": int, "model": dict, "texts": dict, "settings": dict, "versions": dict}


@dataclass(frozen=True)
class Manifest:
    """What pins a survey.

    Attributes
    ----------
    model : dict
        ``name``, ``sha256``.
    texts : dict
        ``name``, ``bytes``, ``lines``, ``sha256``.
    settings : dict
        As `Settings.as_json` gives it.
    versions : dict of str to str
    """

    model: Mapping[str, Any]
    texts: Mapping[str, Any]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]

    @property
    def partitions(self) -> int:
        """How many files its rows go to."""
        return -(-int(self.texts["lines"]) // int(self.settings["lines"]))

    def write(self, folder: Path) -> None:
        """Put it into `folder`."""
        fields = {name: getattr(self, name) for name in _FIELDS if name != "version"}
        text = json.dumps({"version": VERSION, **fields}, indent=1, ensure_ascii=True) + "\n"
        write_whole(folder / NAME, lambda fresh: fresh.write_text(text, encoding="ascii"))

    def check_same(self, other: "Manifest", folder: Path) -> None:
        """Refuse to go on in a folder where `other` was begun.

        Raises
        ------
        FileError
            Saying what differs.
        """
        for what, here, there in (
            ("model", self.model, other.model), ("texts", self.texts, other.texts)
        ):  # fmt: skip
            if here["sha256"] != there["sha256"]:
                raise _other(
                    folder, f"{what} {listed(str(there['name']))} ({there['sha256'][:12]})",
                    f"{listed(str(here['name']))} ({here['sha256'][:12]})",
                )  # fmt: skip
        for what, mine, theirs in (
            ("", self.settings, other.settings), ("version of ", self.versions, other.versions)
        ):  # fmt: skip
            for name in {**mine, **theirs}:
                if mine.get(name) != theirs.get(name):
                    was, now = (listed(repr(one.get(name))) for one in (theirs, mine))
                    raise _other(folder, f"{what}{name} {was}", now)


def _other(folder: Path, was: str, now: str) -> FileError:
    return FileError(
        readable(str(folder)), f"must go on as it began, with {was}; this is {now}. Choose "
        "another folder, or go on as before."
    )  # fmt: skip


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in a folder; None where there is none.

    Raises
    ------
    FileError
        Where it is damaged, or of a newer version.
    """
    file = folder / NAME
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            return _checked(json.loads(stream.read(_LARGEST)))
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, FileError):
            raise
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:100]
        raise FileError(
            readable(str(file)), f"must be the manifest of a survey; it is damaged: "
            f"{readable(reason)}. Survey into another folder."
        ) from error  # fmt: skip


def _checked(found: Any) -> Manifest:
    if not isinstance(found, dict) or set(found) != set(_FIELDS):
        raise ValueError("its fields are others")
    for name, kind in _FIELDS.items():
        if not isinstance(found[name], kind):
            raise ValueError(f"{name} is of another kind")  # noqa: TRY004 (a wrong value of the file)
    if found["version"] != VERSION:
        raise ValueError(f"it is of version {found['version']}, this softlookup reads {VERSION}")
    counts = found["texts"].get("lines"), found["settings"].get("lines")
    hashes = found["texts"].get("sha256"), found["model"].get("sha256")
    names = found["texts"].get("name"), found["model"].get("name")
    if not all(isinstance(one, int) and 0 < one < 2**53 for one in counts):
        raise ValueError("its lines are no numbers")
    if not all(isinstance(one, str) for one in (*hashes, *names)):
        raise ValueError("it does not name its model and texts")
    return Manifest(found["model"], found["texts"], found["settings"], found["versions"])
