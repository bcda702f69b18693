"""What a person may type as a number, and what it is read as.

Tolerant where the meaning is plain: ``0.40``, ``.4``, ``0,40``, ``+2``, a typographic minus sign,
``1/2``, ``4e-1``, brackets around it. No answer of the lesson reaches a thousand, so the comma in
``1,000`` is a decimal comma; a comma and a point in one number are refused, because they could mean
either. Everything is kept as an exact fraction.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from softlookup.errors import OptionError
from softlookup.tokens import readable

_UNSIGNED = r"(?:[0-9]{1,40}(?:[.,][0-9]{0,40})?|[.,][0-9]{1,40})"
_NUMBER = re.compile(rf"([+-]?)\s*({_UNSIGNED})(?:[eE]([+-]?[0-9]{{1,4}}))?")
_FRACTION = re.compile(rf"([+-]?)\s*({_UNSIGNED})\s*/\s*({_UNSIGNED})")
_FORMULA = re.compile(r"[0-9)]\s*[-+*/·×÷^(]|[√^*]|sqrt|exp|log", re.IGNORECASE)
_LARGEST = 10**9


@dataclass(frozen=True)
class Typed:
    """One number as typed: its exact value, and how many decimals it was given with.

    ``decimals`` is None for a fraction such as 1/3, which is exact.
    """

    value: Fraction
    decimals: int | None


def read_number(text: str, label: str = "answer") -> Typed:
    """Read what was typed into the field called `label`.

    Raises
    ------
    OptionError
        With one sentence that quotes the text, where it is empty, not a number, not finite, or
        beyond a thousand million.

    Examples
    --------
    >>> read_number("0,401").value == read_number(" [.401] ").value
    True
    >>> read_number("-1/2").value
    Fraction(-1, 2)
    """
    cleaned = text.translate(str.maketrans("\u2212\u2013\u2044", "--/")).strip()
    if re.fullmatch(r"[\[(].*[\])]", cleaned, re.DOTALL):
        cleaned = cleaned[1:-1].strip()
    if not cleaned:
        raise _refusal(label, "is empty")
    if found := _FRACTION.fullmatch(cleaned):
        return Typed(_quotient(found, label, text), None)
    if found := _NUMBER.fullmatch(cleaned):
        return _decimal(found, label, text)
    if _FORMULA.search(cleaned):
        raise _refusal(label, f"must be worked out to one number; got {_quoted(text)}")
    raise _refusal(label, f"must be a number; got {_quoted(text)}")


def split_numbers(text: str, count: int) -> list[str]:
    """Cut a typed row such as ``[0.401, 0.198, 0.401]`` into its numbers.

    Spaces, semicolons and commas separate. A comma inside a number is a decimal comma only where
    that reading gives `count` numbers: ``0,4 0,2`` are two, and so are ``[1,0]``.

    Examples
    --------
    >>> split_numbers("[0.4, 0.2]", 2), split_numbers("0,4 0,2", 2), split_numbers("[1,0]", 2)
    (['0.4', '0.2'], ['0,4', '0,2'], ['1', '0'])
    """
    inside = re.sub(r"[\[\]()]", " ", text)
    inside = re.sub(r"([-+\u2212\u2013])\s+(?=[0-9.,])", r"\1", inside)
    inside = re.sub(r"\s*([/\u2044])\s*", r"\1", inside)
    spaced = [piece.strip(",") for piece in re.split(r"[\s;]+", inside)]
    spaced = [piece for piece in spaced if piece]
    if len(spaced) == count:
        return spaced
    return [piece for piece in re.split(r"[\s;,]+", inside) if piece]


def read_row(answer: str | Sequence[object], needed: Sequence[bool]) -> list[str] | None:
    """Return one text for each number asked for; None where there are not so many.

    Those that are not `needed` may be left out together: they are empty then.

    Examples
    --------
    >>> read_row("0.4 0.6", [False, True, True]), read_row("1 0.4 0.6", [False, True, True])
    (['', '0.4', '0.6'], ['1', '0.4', '0.6'])
    """
    for places in (range(len(needed)), [i for i, one in enumerate(needed) if one]):
        given = split_numbers(answer, len(places)) if isinstance(answer, str) else answer
        if len(given) == len(places):
            texts = dict(zip(places, map(str, given), strict=True))
            return [texts.get(i, "") for i in range(len(needed))]
    return None


def _decimal(found: re.Match[str], label: str, text: str) -> Typed:
    sign, digits, exponent = found.groups()
    digits = digits.replace(",", ".")
    number = Decimal(f"{sign}{digits}e{exponent or 0}")
    if number and number.adjusted() >= len(str(_LARGEST)):
        raise _refusal(label, f"must be a number below {_LARGEST:,}; got {_quoted(text)}")
    decimals = len(digits.partition(".")[2]) - int(exponent or 0)
    return Typed(Fraction(number), max(decimals, 0))


def _quotient(found: re.Match[str], label: str, text: str) -> Fraction:
    sign, top, bottom = found.groups()
    divisor = Fraction(Decimal(bottom.replace(",", ".")))
    if not divisor:
        raise _refusal(label, f"must not divide by zero; got {_quoted(text)}")
    value = Fraction(Decimal(top.replace(",", "."))) / divisor
    if value > _LARGEST:
        raise _refusal(label, f"must be a number below {_LARGEST:,}; got {_quoted(text)}")
    return -value if sign == "-" else value


def _quoted(text: str) -> str:
    cut = text if len(text) <= 40 else text[:40] + "…"
    return f'"{readable(cut)}"'


def _refusal(label: str, trouble: str) -> OptionError:
    return OptionError("answer", f"{label} {trouble}. Type a number such as 0.401 or 1/2.")
