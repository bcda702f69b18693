"""The licence of a model, from what lies beside its weights: nothing is fetched or guessed."""

import re
from pathlib import Path
from typing import Any

UNSTATED = "not stated"
_LONGEST = 100  # characters
_MOST_BYTES = 2**16  # of a README, whose front matter comes first
_FRONT = re.compile(r"\ufeff?---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)


def license_of(where: str, gguf: str | None = None, config: Any = None) -> str:
    """Return the licence that a model states, or `UNSTATED`.

    Asked in turn: the metadata of the ``.gguf`` file, the front matter of the README, the
    configuration.

    Parameters
    ----------
    where : str
        A folder, or a hub name that is in the local cache.
    gguf : str, optional
        The file in that folder that holds the model; where left out, the only one there.
    config : transformers.PreTrainedConfig, optional
        The model's configuration.
    """
    folder = _folder(where)
    if folder is not None and gguf is None and not (folder / "config.json").is_file():
        files = [file.name for file in folder.glob("*.gguf")]
        gguf = files[0] if len(files) == 1 else None
    found = None if folder is None or gguf is None else _of_gguf(folder / gguf)
    if found is None:
        readme = _cached_readme(where) if folder is None else folder / "README.md"
        found = None if readme is None else _of_readme(readme)
    if found is None:
        stated = getattr(config, "license", None)
        found = stated.strip() if isinstance(stated, str) else None
    return (found or UNSTATED)[:_LONGEST]


def _folder(where: str) -> Path | None:
    try:
        return Path(where) if where and Path(where).is_dir() else None
    except (OSError, ValueError):
        return None


def _cached_readme(name: str) -> Path | None:
    """Return the README of a hub name, if it is in the local cache."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "README.md")
    except (HFValidationError, OSError, ValueError):
        return None
    return Path(found) if isinstance(found, str) else None


def _of_readme(file: Path) -> str | None:
    """Return what the front matter of a model card says under ``license``."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    front = _FRONT.match(text.replace("\r\n", "\n"))
    if front is None:
        return None
    license_, name = (_said(front[1], field) for field in ("license", "license_name"))
    return f"{license_}: {name}" if license_ == "other" and name else license_


def _said(front: str, field: str) -> str | None:
    """Return the text of a field of YAML, several of a list with commas between them."""
    found = re.search(rf"^{field}:(.*\n(?:[ \t]*-[ \t].*\n)*)", front, re.MULTILINE)
    if found is None:
        return None
    first, *rest = (re.sub(r"(^|\s)#.*", "", line).strip() for line in found[1].splitlines())
    listed = (
        [line.removeprefix("-") for line in rest] if not first else first.strip("[]").split(",")
    )
    texts = [one.strip().strip("\"'") for one in listed]
    return ", ".join(one for one in texts if one) or None


def _of_gguf(file: Path) -> str | None:
    """Return what the metadata of a ``.gguf`` file says under ``general.license``."""
    try:
        from gguf import GGUFReader

        field = GGUFReader(file).get_field("general.license")
        if field is None:
            return None
        return bytes(field.parts[field.data[0]]).decode("utf-8", "replace").strip() or None
    except (ImportError, OSError, ValueError, LookupError):  # the model's loader tells of those
        return None
