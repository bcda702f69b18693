"""What a tokenizer's tokens say to a person, which words they make up, and which only pad.

A token's spelling inside a tokenizer is not its text: byte-level ones write a space as ``Ġ``,
SentencePiece writes it as ``▁``. Here each becomes its text. What is no whole character stays told
apart: bytes of a split one are ``<F0><9F>``, a fallback byte is its character and its code.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from softlookup.captures.capture import Axis

_FALLBACK = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_END_OF_WORD = "</w>"
_PIECE = "▁"


def _byte_letters() -> dict[str, int]:
    """Return the letters that byte-level tokenizers write for bytes.

    Printable Latin-1 bytes stand for themselves; the others take letters from 256 on, in order.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTES = _byte_letters()


def decode_bytes(data: bytes) -> str:
    r"""Decode UTF-8; bytes that are no whole character are written out.

    Examples
    --------
    >>> decode_bytes(b" a\xf0\x9f"), decode_bytes("é".encode())
    (' a<F0><9F>', 'é')
    """
    text = ""
    while data:
        try:
            return text + data.decode()
        except UnicodeDecodeError as error:
            bad = data[error.start : error.end]
            text += data[: error.start].decode() + "".join(f"<{byte:02X}>" for byte in bad)
            data = data[error.end :]
    return text


def _from_bytes(token: str) -> str:
    if not token or any(letter not in _BYTES for letter in token):
        return token
    return decode_bytes(bytes(_BYTES[letter] for letter in token))


def _from_pieces(token: str) -> str:
    found = _FALLBACK.fullmatch(token)
    if found is None:
        return token.replace(_PIECE, " ")
    byte = int(found[1], 16)
    return f"{chr(byte)}{token}" if byte < 128 else f"<{byte:02X}>"


def _from_words(token: str) -> str:
    return token


def spelling_of(tokenizer: Any) -> tuple[str, Callable[[str], str]]:
    """Return how `tokenizer` spells its tokens, and what turns a spelling into text.

    The first is "bytes", "pieces" (SentencePiece), "wordpiece" or "words".
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    parts = {}
    if backend is not None:
        said = json.loads(backend.to_str())
        parts = {name: said.get(name) for name in ("pre_tokenizer", "normalizer", "decoder")}
    decoder = json.dumps(parts, ensure_ascii=False)
    if "ByteLevel" in decoder or hasattr(tokenizer, "byte_decoder"):
        return "bytes", _from_bytes
    if "Metaspace" in decoder or _PIECE in decoder or hasattr(tokenizer, "sp_model"):
        return "pieces", _from_pieces
    if '"WordPiece"' in decoder or hasattr(tokenizer, "wordpiece_tokenizer"):
        return "wordpiece", _from_words
    return "words", _from_words


def texts_of(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """Return the readable text of each token; special and added tokens as they are."""
    return speller(tokenizer)(ids)


def speller(tokenizer: Any) -> Callable[[Sequence[int]], tuple[str, ...]]:
    """Return what does so for many texts: a large tokenizer is slow to tell its kind."""
    return _speller(tokenizer, spelling_of(tokenizer)[1])


def _ids(tokenizer: Any, name: str) -> set[int]:
    """Return the ids that a tokenizer has under a name; none where it does not tell.

    Many a tokenizer leaves ``added_tokens_decoder`` out, raises, or has a method of that name. Its
    added tokens are then spelt as its others are.
    """
    found: set[int] = set()
    with suppress(Exception):  # any: it is somebody else's
        told = getattr(tokenizer, name)
        found.update(int(i) for i in (told() if callable(told) else told))
    return found


def _speller(
    tokenizer: Any, as_text: Callable[[str], str]
) -> Callable[[Sequence[int]], tuple[str, ...]]:
    added = _ids(tokenizer, "added_tokens_decoder") | _ids(tokenizer, "all_special_ids")

    def text_of(i: int, token: str | None) -> str:
        if token is None:  # an id beyond the vocabulary, as in padded embeddings
            return f"<{i}>"
        if i in added:
            return str(token)
        if token.endswith(_END_OF_WORD):
            return as_text(token.removesuffix(_END_OF_WORD)) + " "
        return as_text(token)

    def spell(ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(map(text_of, ids, tokenizer.convert_ids_to_tokens(list(ids))))

    return spell


def words_of(
    tokenizer: Any, ids: Sequence[int], texts: Sequence[str], encoding: Any = None
) -> tuple[int, ...] | None:
    """Return the word of each token, counted from 0; -1 for special tokens and padding.

    Taken from the tokenizer's own account where it has one that tells words apart, else from
    leading spaces or ``##``; None where neither says anything.
    """
    return _words(tokenizer, spelling_of(tokenizer)[0], ids, texts, encoding)


def _words(
    tokenizer: Any, kind: str, ids: Sequence[int], texts: Sequence[str], encoding: Any
) -> tuple[int, ...] | None:
    special = _ids(tokenizer, "all_special_ids")
    spaced = [i for i, text in enumerate(texts) if text.startswith(" ") and ids[i] not in special]
    own = _own_words(encoding, len(ids))
    if own is not None and (len(set(own) - {None}) > 1 or len(spaced) < 2):
        marks = [None if ids[i] in special else mark for i, mark in enumerate(own)]
        return _counted(marks)
    if kind == "words":
        return None
    mark = 0
    guessed: list[int | None] = []
    for token, text in zip(ids, texts, strict=True):
        if token in special:
            guessed.append(None)
            mark += 1
            continue
        mark += not text.startswith("##") if kind == "wordpiece" else text.startswith(" ")
        guessed.append(mark)
    return _counted(guessed)


def _own_words(encoding: Any, length: int) -> list[tuple[int, int] | None] | None:
    """Return (text, word) of each token as a fast tokenizer tells it; pairs of texts both count."""
    if encoding is None or len(encoding.word_ids) != length:
        return None
    return [
        None if word is None else (0 if part is None else part, word)
        for part, word in zip(encoding.sequence_ids, encoding.word_ids, strict=True)
    ]


def _counted(marks: Iterable[Any]) -> tuple[int, ...]:
    """Give equal neighbours one number, from 0; None is -1."""
    words: list[int] = []
    word, before = -1, None
    for mark in marks:
        if mark is not None and mark != before:
            word += 1
        words.append(-1 if mark is None else word)
        before = mark
    return tuple(words)


def padding_of(seen: Sequence[bool]) -> tuple[tuple[int, int], ...]:
    """Return the spans that an attention mask leaves out.

    Examples
    --------
    >>> padding_of([False, False, True, True, False])
    ((0, 2), (4, 5))
    """
    edges = [i for i in range(1, len(seen)) if bool(seen[i]) != bool(seen[i - 1])]
    cuts = [0, *edges, len(seen)]
    return tuple(
        (start, stop)
        for start, stop in itertools.pairwise(cuts)
        if start < stop and not seen[start]
    )


def axis_of(
    tokenizer: Any, ids: Sequence[int], seen: Sequence[bool] | None = None, encoding: Any = None
) -> Axis:
    """Return the axis of one text: what its tokens say, their words, the padding."""
    return axis_reader(tokenizer)(ids, seen, encoding)


def axis_reader(tokenizer: Any) -> Callable[..., Axis]:
    """Return what does so for many texts, and asks the tokenizer once what kind it is."""
    kind, as_text = spelling_of(tokenizer)
    spell = _speller(tokenizer, as_text)

    def read(ids: Sequence[int], seen: Sequence[bool] | None = None, encoding: Any = None) -> Axis:
        texts = spell(ids)
        words = _words(tokenizer, kind, ids, texts, encoding)
        padding = () if seen is None else padding_of(seen)
        if words is not None and padding:
            outside = {i for start, stop in padding for i in range(start, stop)}
            words = _counted([None if i in outside or w < 0 else w for i, w in enumerate(words)])
        return Axis(texts, words, padding)

    return read
