"""Texts: what stands at the token positions of each run, read from token ids when it is shown."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.arrays import IntArray
from softlookup.captures import Axis
from softlookup.errors import DtypeError, ShapeError
from softlookup.tokens import check_tokens, listed

if TYPE_CHECKING:
    from softlookup.watched.calls import Calls

INPUT, DECODER = "", "decoder"
OF_THE_INPUT = ("", "encoder", "language", "text")
_OF_THE_DECODER = ("decoder", "cross")
GROWING = ("", "language", "text", *_OF_THE_DECODER)  # parts whose rows generate() adds to
_UNKNOWN = -1
_BEGINNING = 40  # characters
Read = Callable[[list[int], list[bool] | None], Axis]


class Texts:
    """The token ids of each run, of its input and of a decoder's own text.

    Parameters
    ----------
    read : callable, optional
        From one text's ids, and which of them are no padding (None where all are), to its axis.
    given : list of str, or one list for each batch entry, optional
        Texts of the first run's input; ids go on where they end.
    """

    def __init__(self, read: Read | None, given: Any) -> None:
        self._read = read
        self._given = None if given is None else _check_given(given)
        self._ids: dict[tuple[int, str], IntArray] = {}
        self._axes: dict[tuple[int, str, int, int], Axis | None] = {}
        self._prompts: dict[int, int] = {}
        self._recorded: dict[tuple[int, str], tuple[tuple[Axis, ...], ...]] = {}

    def add(self, run: int, side: str, start: int, ids: Any) -> None:
        """Keep the ids (batch, n) at positions from `start`; later ones replace earlier ones.

        Raises
        ------
        ShapeError
            Where the texts that the caller gave are not as many.
        """
        side = DECODER if side in _OF_THE_DECODER else INPUT
        array = np.atleast_2d(np.asarray(ids)).astype(np.int64)
        known = self._ids.get((run, side))
        if known is None:
            if run == 0 and side == INPUT and start == 0:
                self._check_length(*array.shape)
            known = np.full((len(array), 0), _UNKNOWN)
        stop = start + array.shape[1]
        if known.shape[1] < stop:
            known = np.pad(known, [(0, 0), (0, stop - known.shape[1])], constant_values=_UNKNOWN)
        known[:, start:stop] = array
        self._ids[run, side] = known
        self._axes.clear()

    def _check_length(self, batch: int, length: int) -> None:
        if self._given is None:
            return
        if len(self._given) not in {1, batch}:
            raise ShapeError(
                "tokens", f"must be a list of texts, or one for each of {batch} batch entries; got "
                f"{len(self._given)} lists. Or pass tokenizer=."
            )  # fmt: skip
        for texts in self._given:
            check_tokens(texts, length, "tokens", "the input's tokens,")

    def ids(self, run: int, side: str) -> IntArray | None:
        """Return the ids (batch, n) of a text from position 0 on, -1 where one is not known."""
        return self._ids.get((run, DECODER if side in _OF_THE_DECODER else INPUT))

    def add_prompt(self, run: int, length: int) -> None:
        """Keep how long the text of a run was that generate() went on from."""
        self._prompts[run] = length

    def record(
        self, run: int, path: str, queries: tuple[Axis, ...], keys: tuple[Axis, ...]
    ) -> None:
        """Keep what stands along a layer's positions, one for each batch entry or for all."""
        self._recorded[run, path] = queries, keys

    def prompt(self, calls: "Calls", which: int) -> int | None:
        """Return from which position on a layer's rows, or keys, are what generate() wrote."""
        recorded = self._recorded.get((calls.run, calls.path))
        if calls.part not in GROWING or (which and calls.part == "cross"):
            return None
        if recorded is None:
            return self._prompts.get(calls.run)
        prompts = {axis.prompt for axis in recorded[which]}
        return prompts.pop() if len(prompts) == 1 else None

    def along(self, calls: "Calls", which: int, batch: int, entries: int) -> Axis | None:
        """Return what stands at positions 0, 1, ... along a layer's rows or keys, or None."""
        recorded = self._recorded.get((calls.run, calls.path))
        if recorded is not None:
            axes = recorded[which]
            return axes[batch if len(axes) > 1 else 0]
        side = self.sides(calls.run, calls.part)[which]
        return None if side is None else self.axis(calls.run, side, batch, entries)

    def sides(self, run: int, part: str) -> tuple[str | None, str | None]:
        """Return whose texts stand at the queries and at the keys of a part; None for nobody's."""
        own = DECODER if (run, DECODER) in self._ids else INPUT
        if part == "decoder":
            return own, own
        if part == "cross":
            return own, INPUT if own == DECODER else None
        return (INPUT, INPUT) if part in OF_THE_INPUT else (None, None)

    def axis(self, run: int, side: str, batch: int, entries: int) -> Axis | None:
        """Return what stands at positions 0, 1, ... of one batch entry; None where nothing does.

        Of more entries than texts, as where each text is continued several times, those of one text
        stand together.
        """
        given: Sequence[Sequence[str]] = ()
        if run == 0 and side == INPUT and self._given is not None:
            given = self._given
        ids = self._ids.get((run, side))
        own = _text_of(batch, entries, len(given)), _text_of(batch, entries, _count(ids))
        place = run, side, *own
        if place not in self._axes:
            texts = given[own[0]] if given else ()
            self._axes[place] = self._make(texts, None if ids is None else ids[own[1]])
        return self._axes[place]

    def beginning(self, run: int) -> str:
        """Return how the input of a run begins, its first text; "" where none is known.

        Special tokens are left out where it is known which tokens make a word.
        """
        axis = self.axis(run, INPUT, 0, 1)
        if axis is None:
            return ""
        spaced = any(text.startswith(" ") for text in axis.tokens)
        said, last = "", None
        for text, word in zip(axis.tokens, axis.words or range(len(axis.tokens)), strict=True):
            if word < 0:
                continue
            if len(said) > _BEGINNING:
                break
            said += text.removeprefix("##") if spaced or word == last else f" {text}"
            last = word
        return listed(said.strip(), _BEGINNING) if said.strip() else ""

    def _make(self, given: Sequence[str], row: IntArray | None) -> Axis | None:
        if row is None or self._read is None:
            return Axis(tuple(given)) if given else None
        known = row != _UNKNOWN
        axis = self._read(np.where(known, row, 0).tolist(), None)
        texts = [text if there else "" for text, there in zip(axis.tokens, known, strict=True)]
        return Axis((*given[: len(texts)], *texts[len(given) :]), axis.words)


def _count(ids: IntArray | None) -> int:
    return 0 if ids is None else len(ids)


def _text_of(batch: int, entries: int, texts: int) -> int:
    """Return which of `texts` a batch entry has.

    Examples
    --------
    >>> [_text_of(batch, 4, 2) for batch in range(4)], _text_of(3, 4, 1), _text_of(3, 4, 4)
    ([0, 0, 1, 1], 0, 3)
    """
    return min(batch // max(entries // max(texts, 1), 1), max(texts - 1, 0))


def _check_given(given: Any) -> list[tuple[str, ...]]:
    """Return the caller's texts as one tuple for each batch entry, or for all.

    Raises
    ------
    DtypeError
        Where they are no list of texts, or of lists of texts.
    """
    if not isinstance(given, (list, tuple)):
        raise DtypeError(
            "tokens", "must be a list of texts, or one for each batch entry; got "
            f"{type(given).__name__}. Or pass tokenizer=."
        )  # fmt: skip
    nested = bool(given) and isinstance(given[0], (list, tuple))
    lists = list(given) if nested else [given]
    return [check_tokens(texts, len(texts), "tokens", "length") for texts in lists]
