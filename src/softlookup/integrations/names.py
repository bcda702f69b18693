"""What a person calls a model: a hub name, or the folder that it lies in; never the way there."""

import re
from pathlib import Path

_HUB = re.compile(r"[\w.-]+/[\w.-]+|[\w.-]+", re.ASCII)
_CACHED = re.compile(r"models--(.+)")  # a hub's cache: models--OWNER--NAME/snapshots/COMMIT
_NOT_NAMES = re.compile(
    r"(models?|weights|checkpoints?|snapshots|final|best|last|latest|outputs?|results?)"
    r"|checkpoint-\d+|[0-9a-f]{40}|tmp\w{8}|"
)  # folders that many have, and those that a program called so


def name_of(where: str) -> str | None:
    """Return what the model at `where` is called; None where the place does not say.

    Parameters
    ----------
    where : str
        As ``from_pretrained`` takes it: a hub name, or a folder. Of a folder only its own name is
        told, or that of the package or of the hub's cache that it lies in: the rest is its owner's.

    Examples
    --------
    >>> name_of("org/tiny"), name_of("/home/me/tiny/"), name_of("/home/me/tiny/checkpoint-500")
    ('org/tiny', 'tiny', None)
    >>> name_of("/cache/models--org--tiny/snapshots/" + "0f" * 20)
    'org/tiny'
    """
    if _HUB.fullmatch(where) and not where.startswith(".") and not Path(where).exists():
        return where
    folder = Path(where).resolve()
    for one in (folder, *folder.parents):
        cached = _CACHED.fullmatch(one.name)
        if cached is not None:
            return cached[1].replace("--", "/")
    if folder == Path.home() or not where:
        return None
    name = folder.name
    if _NOT_NAMES.fullmatch(name.lower()):
        parent = folder.parent
        return parent.name if (parent / "__init__.py").is_file() else None
    return name
