"""What stands along the rows and columns of recorded lookups: texts, or positions."""

from collections.abc import Mapping
from itertools import starmap
from typing import Any

from softlookup.captures.capture import Axis
from softlookup.errors import DtypeError, ShapeError
from softlookup.integrations.tokenization import axis_reader, padding_of
from softlookup.numerals import counted
from softlookup.problem import Problem
from softlookup.tokens import check_tokens

READS_TOKENS = ("", "encoder", "decoder", "cross", "language", "text")  # not a stack of images


class Axes:
    """The axes of one pass: of its input, and of a decoder's own text.

    Parameters
    ----------
    given : mapping of str to tensor
        What the model is called with.
    tokens : list of str, or one for each batch entry, optional
        Texts that the caller gives.
    tokenizer : transformers tokenizer, optional
        Reads the texts from token ids.
    encodings : list of tokenizers.Encoding, optional
        A fast tokenizer's own account of each text.

    Raises
    ------
    DtypeError, ShapeError
        Where `tokens` are no texts, or not as many as there are tokens.
    """

    def __init__(
        self, given: Mapping[str, Any], tokens: Any, tokenizer: Any, encodings: Any
    ) -> None:
        ids, seen = _sides(given, "")
        self._input: tuple[Axis, ...] | None = None
        if tokens is not None:
            self._input = _shared(_named(tokens, ids, seen))
        elif ids is not None:
            self._input = _shared(_read(tokenizer, ids, seen, encodings))
        ids, seen = _sides(given, "decoder_")
        self._decoder = None if ids is None else _shared(_read(tokenizer, ids, seen, None))

    @property
    def said(self) -> str:
        """How many tokens there are, for a title; "" where that is not known."""
        return "" if self._input is None else f", {counted(len(self._input[0].tokens), 'token')}"

    def of(self, part: str, problem: Problem) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
        """Return what stands along queries and keys; positions where the texts do not fit."""
        beside = self._decoder is not None
        queries = self._decoder if beside and part in {"decoder", "cross"} else self._input
        keys = self._decoder if beside and part == "decoder" else self._input
        if part == "cross" and not beside:
            keys = None  # they come from what the caller computed before
        reads = part in READS_TOKENS
        return (
            _fitting(queries if reads else None, problem.q_len, problem.batch),
            _fitting(keys if reads else None, problem.kv_len, problem.batch),
        )


def _fitting(axes: tuple[Axis, ...] | None, length: int, batch: int) -> tuple[Axis, ...]:
    if axes is None or len(axes[0].tokens) != length or len(axes) not in {1, batch}:
        return (Axis(check_tokens(None, length, "tokens", "length")),)
    return axes


def _sides(given: Mapping[str, Any], side: str) -> tuple[Any, list[list[bool]] | None]:
    """Return the token ids of one side, and which of them its attention mask lets be seen."""
    ids, mask = given.get(f"{side}input_ids"), given.get(f"{side}attention_mask")
    if mask is None or mask.ndim != 2 or (ids is not None and mask.shape != ids.shape):
        return ids, None
    return ids, mask.bool().tolist()


def _shared(axes: list[Axis]) -> tuple[Axis, ...]:
    return tuple(axes[:1]) if all(axis == axes[0] for axis in axes) else tuple(axes)


def _read(tokenizer: Any, ids: Any, seen: list[list[bool]] | None, encodings: Any) -> list[Axis]:
    """Return the axes of token ids: their texts, or their positions without a tokenizer."""
    rows = ids.tolist()
    own = encodings if encodings and len(encodings) == len(rows) else [None] * len(rows)
    visible = [None] * len(rows) if seen is None else seen
    if tokenizer is not None:
        return [*starmap(axis_reader(tokenizer), zip(rows, visible, own, strict=True))]
    return [
        Axis(check_tokens(None, len(row), "tokens", "length"), None, padding_of(some or ()))
        for row, some in zip(rows, visible, strict=True)
    ]


def _named(tokens: Any, ids: Any, seen: list[list[bool]] | None) -> list[Axis]:
    """Return the axes of texts that the caller gave."""
    batch = 1 if ids is None else len(ids)
    if not isinstance(tokens, (list, tuple)):
        raise DtypeError(
            "tokens", "must be a list of texts, or one for each batch entry; got "
            f"{type(tokens).__name__}. Or pass tokenizer=."
        )  # fmt: skip
    nested = bool(tokens) and isinstance(tokens[0], (list, tuple))
    lists = list(tokens) if nested else [tokens] * batch
    if len(lists) != batch:
        raise ShapeError(
            "tokens", f"must be a list of texts, or one for each of {batch} batch entries; got "
            f"{len(lists)} lists. Or pass tokenizer=."
        )  # fmt: skip
    length = len(lists[0]) if ids is None else int(ids.shape[1])
    visible = [None] * batch if seen is None else seen
    return [
        Axis(check_tokens(one, length, "tokens", "length"), None, padding_of(some or ()))
        for one, some in zip(lists, visible, strict=True)
    ]
