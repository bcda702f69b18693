"""Two captures of real models that come with the package.

``sentence``
    An English sentence through all 6 layers of a small sentence encoder, 12 heads each.
``causal``
    A short text with a repeated phrase through 6 layers of a small language model, 9 heads each.

`about` of each names model, licence, text and how it was made; ``tools/shipped_captures.py`` makes
them again.

>>> load("sentence").layer(3).heads
(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from softlookup.captures.capture import Capture
from softlookup.errors import OptionError
from softlookup.tokens import listed

FOLDER = Path(__file__).parent
WORDS: Mapping[str, str] = MappingProxyType(
    {"sentence": "a sentence", "causal": "a repeated phrase"}
)


def names() -> tuple[str, ...]:
    """Return the words that stand for the captures that come with the package."""
    return tuple(WORDS)


def words(name: str) -> str:
    """Return what the capture called `name` is, for a button that opens it."""
    return WORDS[_checked(name)]


def load(name: str) -> Capture:
    """Return a capture that comes with the package.

    Parameters
    ----------
    name : str
        One of `names`.

    Raises
    ------
    OptionError
        Where there is none of that name.
    FileError
        Where its file is damaged: install the package again.
    """
    from softlookup.captures.tensorform import read  # noqa: PLC0415 (needs safetensors)

    return read(FOLDER / f"{_checked(name)}.safetensors")


def _checked(name: str) -> str:
    if name not in WORDS:
        raise OptionError(
            "name", f"must be one of {', '.join(WORDS)}; got {listed(str(name))!r}. Other captures "
            "are read with load(path)."
        )  # fmt: skip
    return name
