"""Kinds of key tokens: what a head reads, told without a look at each token."""

import re
import unicodedata

import numpy as np

from softlookup.arrays import IntArray
from softlookup.captures import Axis
from softlookup.viewer import blocks

KINDS = ("first token", "special", "punctuation", "spaces", "words")

# What tokenizers put around a text: [CLS], <s>, </s>, <|endoftext|>, <unk>.
_SPECIAL = re.compile(r"\[[A-Z][A-Z0-9_]*\]|</?[A-Za-z0-9_]+>|<[|｜][^<>|｜]+[|｜]>")


def labels(axis: Axis) -> IntArray:
    """Return the kind of each token along an axis, as a position in `KINDS`.

    The first token that is no padding is a kind of its own, whatever it says; padding is special.

    Examples
    --------
    >>> [KINDS[kind] for kind in labels(Axis(("[CLS]", "a", " ", "...", "7th", "[SEP]")))]
    ['first token', 'words', 'spaces', 'punctuation', 'words', 'special']
    """
    known: dict[str, int] = {}  # a long text has few different tokens
    found = np.empty(len(axis.tokens), np.int64)
    for position, text in enumerate(axis.tokens):
        if text not in known:
            known[text] = KINDS.index(_kind(text))
        found[position] = known[text]
    found[~blocks.real(axis)] = KINDS.index("special")
    found[blocks.first_real(axis) : blocks.first_real(axis) + 1] = KINDS.index("first token")
    return found


def _kind(text: str) -> str:
    if text == "" or _SPECIAL.fullmatch(text.strip()):
        return "special"
    if text.isspace():
        return "spaces"
    if all(unicodedata.category(sign)[0] in "PSZC" for sign in text):
        return "punctuation"
    return "words"
