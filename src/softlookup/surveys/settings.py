"""Settings: what a survey measures; two runs into one folder must agree on it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from softlookup.captures.fitting import whole
from softlookup.errors import DtypeError, OptionError
from softlookup.integrations.admission import chosen_numbers

LINES = 16  # what a worker was at is lost where a run is cut short: a few texts, not a file of them
MOST_LINES = 65_536
MOST_TOP = 64


@dataclass(frozen=True)
class Settings:
    """What is measured of each text.

    Attributes
    ----------
    field : str
        Which field of a line holds the text.
    lines : int
        Lines of a partition.
    longest : int or None
        Texts of more tokens are skipped; None: what the model has positions for.
    top : int
        How many keys of each head are named.
    layers, heads : tuple of int or None
        Which; None for all.
    """

    field: str = "text"
    lines: int = LINES
    longest: int | None = None
    top: int = 4
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, as they are read back from JSON."""
        return {
            name: list(given) if isinstance(given, tuple) else given
            for name, given in asdict(self).items()
        }


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Return what a caller asked for, checked.

    Raises
    ------
    OptionError, DtypeError
        Where it has no meaning.
    """
    field = given["field"]
    if not isinstance(field, str) or not field:
        raise DtypeError(
            "field", f"must be the name of a field; got {field!r}. Leave it out: text."
        )
    longest = given["longest"]
    return Settings(
        field,
        _count(given["lines"], "lines", 1, MOST_LINES),
        None if longest is None else _count(longest, "longest", 1, 2**31),
        _count(given["top"], "top", 0, MOST_TOP),
        _numbers(given["layers"], "layers"),
        _numbers(given["heads"], "heads"),
    )


def _count(given: Any, argument: str, low: int, high: int) -> int:
    found = whole(given, argument, "a whole number")
    if not low <= found <= high:
        raise OptionError(argument, f"must lie in {low} ... {high:,}; got {found}.")
    return found


def _numbers(given: Iterable[int] | None, argument: str) -> tuple[int, ...] | None:
    found = chosen_numbers(given, argument)
    return None if found is None else tuple(found)
