"""Capture: recorded lookups, one a layer, with the texts of their queries and keys."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from softlookup.captures.fitting import as_tuple, check_capture, check_kinds, plain, whole
from softlookup.errors import DtypeError, OptionError
from softlookup.lookup import Lookup
from softlookup.numerals import counted
from softlookup.tokens import label_axes, listed
from softlookup.tracing import Trace

_LISTED = 8  # layers, or heads, that an error names
_LONGEST_NUMBER = 19  # digits


@dataclass(frozen=True)
class Axis:
    """What the tokens along one axis say; lists become tuples.

    Parameters
    ----------
    tokens : tuple of str
        Their texts, as they came.
    words : tuple of int or None
        The word that each token is a part of, counted from 0; -1 for a token of no word.
    padding : tuple of (start, stop)
        Spans of tokens that only fill up the batch.
    prompt : int or None
        Where a model went on writing: how many of the tokens it was given.
    """

    tokens: tuple[str, ...]
    words: tuple[int, ...] | None = None
    padding: tuple[tuple[int, int], ...] = ()
    prompt: int | None = None

    def __post_init__(self) -> None:
        spans = as_tuple(self.padding)
        if isinstance(spans, tuple):
            spans = tuple(as_tuple(span) for span in spans)
        object.__setattr__(self, "tokens", as_tuple(self.tokens))
        object.__setattr__(self, "words", as_tuple(self.words))
        object.__setattr__(self, "padding", spans)


@dataclass(frozen=True)
class Layer:
    """One recorded lookup of a capture.

    Parameters
    ----------
    look : Lookup
        The lookup itself, all recorded heads.
    queries, keys : tuple of Axis
        Along the queries and along the keys; one for each batch entry, or one for all.
    name : str
        Where it stands in its model, e.g. ``"encoder.layer.0.attention.self"``.
    number : int
        Its number in the model, from 0.
    part : str
        Which of several stacks it belongs to, e.g. ``"decoder"`` or ``"cross"``; "" where there is
        but one.
    heads : tuple of int
        The numbers of the recorded heads in the model, in the order of the arrays.

    Raises
    ------
    DtypeError
        Where `look` is no Lookup, or what stands along it no axes.
    """

    look: Lookup
    queries: tuple[Axis, ...]
    keys: tuple[Axis, ...]
    name: str = ""
    number: int = 0
    part: str = ""
    heads: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.look, Lookup):
            raise DtypeError(
                "look", f"must be a Lookup; got {type(self.look).__name__}. Build one with "
                "Lookup(query, key, value)."
            )  # fmt: skip
        object.__setattr__(self, "look", self.look.in_numpy())
        for name in ("queries", "keys", "heads"):
            object.__setattr__(self, name, as_tuple(getattr(self, name)))
        check_kinds(self.queries, "queries", Axis, "Pass [Axis(tokens)].")
        check_kinds(self.keys, "keys", Axis, "Pass [Axis(tokens)].")
        object.__setattr__(self, "number", plain(self.number))
        if not self.heads:
            object.__setattr__(self, "heads", tuple(range(self.look.problem.heads)))

    def __repr__(self) -> str:
        return f"<{self.label}: {self.look!r}>"

    @property
    def label(self) -> str:
        """What a person calls it, e.g. ``"layer 3"`` or ``"decoder layer 0"``."""
        return f"{self.part} layer {self.number}".lstrip()

    def query_axis(self, batch: int = 0) -> Axis:
        """Return what stands along the queries of one batch entry, counted over all axes."""
        return self.queries[batch if len(self.queries) > 1 else 0]

    def key_axis(self, batch: int = 0) -> Axis:
        """Return what stands along the keys of one batch entry, counted over all axes."""
        return self.keys[batch if len(self.keys) > 1 else 0]

    def head(self, head: int = 0, batch: int = 0) -> Lookup:
        """Return one head of one batch entry, as a lookup over plain 2-D arrays.

        Parameters
        ----------
        head : int
            Its number in the model, one of `heads`.
        batch : int
            Counted over all leading axes together, the last one fastest.

        Raises
        ------
        OptionError, DtypeError
            Where there is no such head or batch entry.
        """
        problem, batch = self.look.problem, whole(batch, "batch")
        if not 0 <= batch < problem.batch:
            raise OptionError("batch", f"{_there(problem.batch)}; got {batch}. It counts from 0.")
        where = tuple(int(i) for i in np.unravel_index(batch, problem.batch_shape or (1,)))
        return self.look.head(self.place(head), batch=where if problem.batch_shape else ())

    def place(self, head: int) -> int:
        """Return where the head of that number stands in the arrays.

        Raises
        ------
        OptionError, DtypeError
            Where it was not recorded, or is no number.
        """
        head = whole(head, "head")
        if head in self.heads:
            return self.heads.index(head)
        if self.heads == tuple(range(len(self.heads))):
            raise OptionError("head", f"{_there(len(self.heads))}; got {head}. It counts from 0.")
        some = ", ".join(str(number) for number in self.heads[:_LISTED])
        more = f" and {len(self.heads) - _LISTED} more" if len(self.heads) > _LISTED else ""
        raise OptionError(
            "head",
            f"must be one of the recorded {some}{more} of {listed(self.label)}; got {head}.",
        )

    def trace(self, rows: Any = None, head: int = 0, batch: int = 0) -> Trace:
        """Return every step of chosen rows of one head, which knows its tokens."""
        return self.head(head, batch).trace(
            rows, tokens=self.query_axis(batch).tokens, key_tokens=self.key_axis(batch).tokens
        )


def _there(count: int) -> str:
    return f"must lie in 0 ... {count - 1}" if count else "has nothing to choose from"


@dataclass(frozen=True)
class Capture:
    """Recorded lookups: arrays, everything that shaped them, what their rows and columns say.

    Parameters
    ----------
    title : str
        What it is, in a few words.
    layers : tuple of Layer
        At least one.
    about : mapping of str to str
        Where it comes from: ``model``, ``license``, ``origin``, ``made``, ``versions``.

    Raises
    ------
    ShapeError, OptionError, DtypeError
        Where there is no layer, heads and axes do not fit a layer's arrays, or a text is none.
    """

    title: str
    layers: tuple[Layer, ...]
    about: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", as_tuple(self.layers))
        check_kinds(self.layers, "layers", Layer, "Pass [Layer(look, queries, keys)].")
        check_capture(self)

    def __repr__(self) -> str:
        count = counted(len(self.layers), "layer")
        return f"<Capture {listed(self.title)!r}: {count}, {self.layers[0]!r}>"

    def layer(self, layer: int | str | None = None) -> Layer:
        """Return a recorded layer.

        Parameters
        ----------
        layer : int or str, optional
            Its number in the model, its label, its name, or ``"@POSITION"`` in `layers`; the first
            where left out. A text that is a label or a name means that one before a number.

        Raises
        ------
        OptionError, DtypeError
            Where there is none, or several are called so; the message names the choices.
        """
        if layer is None:
            return self.layers[0]
        found = self._places(layer)
        if len(found) == 1:
            return self.layers[found[0]]
        if found:
            names = ", ".join(repr(listed(self._told_apart(i))) for i in found[:_LISTED])
            raise OptionError(
                "layer", f"must be one layer; {len(found)} are called {listed(str(layer))}. Choose "
                f"one of {names}."
            )  # fmt: skip
        names = ", ".join(listed(one.label) for one in self.layers[:_LISTED])
        more = len(self.layers) - _LISTED
        raise OptionError(
            "layer", f"must be a recorded one; got {listed(str(layer))}. "
            f"There {'is' if len(self.layers) == 1 else 'are'} {names}"
            f"{f' and {more} more' if more > 0 else ''}."
        )  # fmt: skip

    def _places(self, layer: int | str) -> list[int]:
        """Return the positions of the layers that are called so."""
        if isinstance(layer, str):
            called = [
                i for i, one in enumerate(self.layers) if layer in (one.label, one.name or None)
            ]
            digits = layer.removeprefix("@")
            if called or not digits.isdecimal() or len(digits) >= _LONGEST_NUMBER:
                return called
            if digits != layer:
                return [int(digits)] if int(digits) < len(self.layers) else []
            layer = int(digits)
        number = whole(layer, "layer", "a number, a label or a name")
        return [i for i, one in enumerate(self.layers) if one.number == number]

    def _told_apart(self, place: int) -> str:
        """Return what only the layer at that position is called."""
        one = self.layers[place]
        if self._places(one.label) == [place]:
            return one.label
        typed = one.name and listed(one.name) == one.name
        return one.name if typed and self._places(one.name) == [place] else f"@{place}"

    def lookup(
        self, layer: int | str | None = None, head: int | None = None, batch: int | None = None
    ) -> Lookup:
        """Return a recorded lookup: a whole layer, or one head of one batch entry.

        Parameters
        ----------
        layer : int or str, optional
            As for :meth:`layer`.
        head : int, optional
            The head's number in the model; where left out, the layer with all its heads and its
            whole batch.
        batch : int, optional
            Goes with `head`; 0 where left out. Counted over all leading axes together, the last one
            fastest.

        Raises
        ------
        OptionError, DtypeError
            Where there is no such layer, head or batch entry, or a batch entry without a head.
        """
        one = self.layer(layer)
        if head is not None:
            return one.head(head, 0 if batch is None else batch)
        if batch is not None:
            raise OptionError(
                "batch", f"goes with head: without it the lookup has the whole batch; got "
                f"{listed(repr(batch))}. Add head=, or leave batch out."
            )  # fmt: skip
        return one.look

    def trace(
        self, rows: Any = None, head: int = 0, batch: int = 0, layer: int | str | None = None
    ) -> Trace:
        """Return every step of chosen rows of one head, which knows its tokens.

        Parameters
        ----------
        rows : slice, range, int, list of int or bools, optional
            Which queries; default all.
        head, batch, layer
            As for :meth:`lookup`.

        Raises
        ------
        OptionError, DtypeError
            Where there is no such row, head, batch entry or layer, or the rows are too many.
        """
        return self.layer(layer).trace(rows, head, batch)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.safetensors`` file, which :func:`softlookup.load` reads.

        Raises
        ------
        FileError
            Where the name ends in anything else, or the file cannot be written.
        """
        from softlookup.captures import tensorform  # noqa: PLC0415 (it reads captures, too)

        tensorform.write(self, path)


def short_name(about: Mapping[str, str]) -> str:
    """Return what a title calls the model of a capture: its name, not whose it is.

    Examples
    --------
    >>> short_name({"model": "org/tiny"}), short_name({})
    ('tiny', 'a watched model')
    """
    return about.get("model", "").rstrip("/").rpartition("/")[2] or "a watched model"


def label(
    look: Lookup,
    *,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    title: str | None = None,
) -> Capture:
    """Name the queries and keys of `look`.

    Parameters
    ----------
    look : Lookup
        What to show.
    tokens : iterable of str, optional
        One text for each query; positions where left out.
    key_tokens : iterable of str, optional
        One text for each key; where left out, `tokens` if there are as many keys as queries,
        else positions.
    title : str, optional
        A few words; "a lookup" where left out.

    Raises
    ------
    DtypeError, ShapeError
        Where there are too many texts, too few, or something that is no text.
    """
    problem = look.problem
    names, key_names = label_axes(tokens, key_tokens, problem.q_len, problem.kv_len)
    return Capture(title or "a lookup", (Layer(look, (Axis(names),), (Axis(key_names),)),))
