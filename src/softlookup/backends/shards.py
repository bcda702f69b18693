"""What a worker does with the chunks of a lookup that it is given; each function is a task.

A task sees one chunk of the queries and one of the keys, as a lookup of its own. What a chunk holds
is checked against what its array says it does, so that a damaged one is named.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.backends.pieces import nothing_seen
from softlookup.errors import DtypeError, ShapeError
from softlookup.facts import NO_FACTS, Facts, Findings
from softlookup.options import Overlay, Window
from softlookup.partials import Part
from softlookup.pooling import Normaliser
from softlookup.problem import Problem
from softlookup.visibility import readers


class Options(NamedTuple):
    """What all pieces of a lookup share.

    `apart` says that all chunks of keys begin at multiples of 4,096: then parts are handed on as
    they are, to be merged in the order of a lookup that was never cut. Else, and where a row's keys
    begin, a piece is one part.
    """

    apart: bool
    dtype: np.dtype[Any]
    causal: bool
    window: Window | None
    scale: float
    softcap: float | None


class Place(NamedTuple):
    """Where a piece lies, and what is its own.

    Attributes
    ----------
    chunk : tuple of int
        Which chunk of the batch, the heads, the queries and the keys.
    first_key : int
    shapes : dict
        What each chunk must hold, by the name of its argument.
    q_offset, kv_lens : ndarray or None
        Counted from the first row and the first key.
    mask_entry, bias_entry : ndarray or None
        Which entry of the mask's or the bias' chunk each batch entry uses.
    rows : ndarray or None
        The rows of the chunk that are asked for; None for all.
    """

    chunk: tuple[int, int, int, int]
    first_key: int
    shapes: dict[str, tuple[int, ...]]
    q_offset: IntArray | None
    kv_lens: IntArray | None
    mask_entry: IntArray | None
    bias_entry: IntArray | None
    rows: IntArray | None


class Blocks(NamedTuple):
    """The chunks of a piece; what its lookup has not is None."""

    query: Any
    key: Any
    value: Any
    mask: Any
    bias: Any


def gathered(options: Options, facts: Facts, place: Place, *blocks: Any) -> list[Part]:
    """Return the parts of a piece; their best keys are positions among all keys."""
    problem = _piece(options, place, Blocks(*blocks))
    gatherer = _gatherer(problem)
    found = gatherer.parts(problem, facts, place.rows)
    if not options.apart:
        found = [gatherer.merged(found, facts)]
    return [_placed(part, place.first_key) for part in found]


def merged(facts: Facts, *some: Sequence[Part]) -> list[Part]:
    """Return one part over the keys of all, merged from the first to the last."""
    every = [part for parts in some for part in parts]
    return [_gatherer(None).merged(every, facts)]


def ended(
    options: Options,
    facts: Facts,
    rows: tuple[int, int, int],
    value_dim: int,
    sinks: Any,
    *some: Sequence[Part],
) -> tuple[Findings, Normaliser]:
    """Return the answers of rows whose parts are all there, and what their weights are made by."""
    every = [part for parts in some for part in parts]
    wide = np.dtype(np.float64 if options.dtype == np.float64 else np.float32)
    if not every:  # no key is seen
        every = [nothing_seen(rows, value_dim, wide, facts)]
    logits = None if sinks is None else np.asarray(sinks)
    found: tuple[Findings, Normaliser]
    found = _gatherer(None).ended(every, facts, options.dtype, logits)
    return found


def picked(found: tuple[Findings, Normaliser], name: str) -> Any:
    """Return one array of the answers."""
    findings, _ = found
    return getattr(findings.rows if hasattr(findings.rows, name) else findings, name)


def known(found: tuple[Findings, Normaliser]) -> Normaliser:
    """Return what weights are made by, without the answers."""
    return found[1]


def received(
    options: Options,
    place: Place,
    from_rows: BoolArray | None,
    counted: bool,
    normaliser: Normaliser,
    *blocks: Any,
) -> list[Array]:
    """Return what a piece's keys receive from its rows and, if counted, how many may see them."""
    problem = _piece(options, place, Blocks(*blocks))
    sums = _gatherer(problem).received(problem, from_rows, normaliser)
    return [sums, readers(problem, from_rows)] if counted else [sums]


def summed(*some: Sequence[Array]) -> list[Array]:
    """Return the sums of the first, the second, ... of all, from the first to the last."""
    total = [array.copy() for array in some[0]]
    for arrays in some[1:]:
        for room, array in zip(total, arrays, strict=True):
            np.add(room, array, out=room)
    return total


def one_of(some: Sequence[Array], at: int, dtype: np.dtype[Any]) -> Array:
    """Return one of several arrays."""
    return some[at].astype(dtype, copy=False)


def weighed(
    options: Options, place: Place, keys: IntArray, normaliser: Normaliser, *blocks: Any
) -> Array:
    """Return the weights of a piece's chosen rows at chosen keys."""
    problem = _piece(options, place, Blocks(*blocks))
    rows = np.arange(problem.q_len) if place.rows is None else place.rows
    found: Array = _gatherer(problem).rectangle(problem, rows, keys, normaliser)
    return found


def celled(
    options: Options,
    place: Place,
    ends: tuple[int, int, int, int, int],
    normaliser: Normaliser,
    *blocks: Any,
) -> tuple[Array, Array]:
    """Return the largest weight and the sum of each block of a rectangle of a piece."""
    row, row_end, key, key_end, size = ends
    problem = _piece(options, place, Blocks(*blocks))
    own = Normaliser(*(part[0, 0] for part in normaliser))
    found: tuple[Array, Array]
    found = _backend(problem).cells(problem, slice(row, row_end), slice(key, key_end), size, own)
    return found


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return what nobody sees."""
    return np.zeros(shape, dtype)


def _gatherer(problem: Problem | None) -> Any:
    from softlookup.backends import registry  # noqa: PLC0415 (which names what cuts, too)

    return registry.gatherer(problem)


def _backend(problem: Problem) -> Any:
    from softlookup.backends import registry  # noqa: PLC0415 (as above)

    return registry.choose(problem, NO_FACTS, "auto")


def _placed(part: Part, first_key: int) -> Part:
    """Return a part whose best keys are counted from the first of all keys."""
    if part.tally is None or part.tally.best is None or not first_key:
        return part
    best = part.tally.best
    keys = np.where(best.keys < 0, best.keys, best.keys + first_key)
    return part._replace(tally=part.tally._replace(best=best._replace(keys=keys)))


def _piece(options: Options, place: Place, blocks: Blocks) -> Problem:
    """Return a piece as a lookup of its own."""
    mask = _checked(blocks.mask, "mask", place, np.dtype(bool))
    bias = _checked(blocks.bias, "bias", place, None)
    return Problem(
        query=_checked(blocks.query, "query", place, options.dtype),
        key=_checked(blocks.key, "key", place, options.dtype),
        value=_checked(blocks.value, "value", place, options.dtype),
        batch_shape=(place.shapes["query"][0],),
        plain=False,
        causal=options.causal,
        q_offset=place.q_offset,
        window=options.window,
        mask=_laid(mask, place.mask_entry),
        bias=_laid(bias, place.bias_entry),
        kv_lens=place.kv_lens,
        scale=options.scale,
        softcap=options.softcap,
        sinks=None,
    )


def _laid(array: Any, entry: IntArray | None) -> Overlay | None:
    return None if array is None or entry is None else Overlay(array, entry)


def _checked(block: Any, argument: str, place: Place, dtype: np.dtype[Any] | None) -> Any:
    """Return what a chunk holds, in memory, where it is what its array says it is."""
    if block is None:
        return None
    array, shape = np.asarray(block), place.shapes[argument]
    batch, heads, rows, keys = place.chunk
    at = {"query": (batch, heads, rows), "key": (batch, heads, keys), "value": (batch, heads, keys)}
    where = f"chunk {at.get(argument, place.chunk)}"
    if array.shape != shape:
        raise ShapeError(
            argument,
            f"{where} must hold {shape}; it holds {array.shape}. Write that chunk again, or mend "
            "what makes it.",
        )
    if dtype is not None and array.dtype != dtype:
        raise DtypeError(
            argument,
            f"{where} must hold {dtype}; it holds {array.dtype}. Write that chunk again, or mend "
            "what makes it.",
        )
    return array
