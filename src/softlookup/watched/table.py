"""Long tables of what was seen: columns over (run, layer, batch entry, head, row or key)."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.errors import OptionError
from softlookup.facts import bin_ranges
from softlookup.tokens import listed

if TYPE_CHECKING:
    from softlookup.watched.layer import LayerSeen

Of = Literal["rows", "keys"]
_NAMING = ("run", "part", "layer", "path", "batch", "head", "position")
_TEXTS = frozenset({"part", "path"})
_PLAIN = ("entropy", "lse", "sink", "max_score")
_NO_KEY = _NO_TEXT = -1


class Words(NamedTuple):
    """A column of texts, each named by its place among `words`; -1 is no text.

    Attributes
    ----------
    codes : ndarray of int32
    words : tuple of str
    """

    codes: Array
    words: tuple[str, ...]


Column = Array | Words


class Columns(NamedTuple):
    """Which columns of facts a table has: those of all its layers together.

    Attributes
    ----------
    plain : tuple of str
        Facts with one number a row.
    top, groups, bins : int
        How many of each; 0 for none.
    dtype : dtype
        Of facts.
    """

    plain: tuple[str, ...]
    top: int
    groups: int
    bins: int
    dtype: np.dtype[Any]


def check_of(of: Any) -> Of:
    """Return what a table is of, checked."""
    if of == "rows":
        return "rows"
    if of == "keys":
        return "keys"
    raise OptionError("of", f"must be 'rows' or 'keys'; got {listed(repr(of))}.")


def columns_of(layers: Sequence["LayerSeen"]) -> Columns:
    """Return which facts any of the layers has, and how wide they are."""
    asked = {name for layer in layers for name in layer.asked}

    def widest(name: str) -> int:
        there = [layer for layer in layers if name in layer.asked]
        parts = [layer.top.keys if name == "top" else getattr(layer, name) for layer in there]
        return max((int(part.shape[-1]) for part in parts), default=0)

    dtypes = [layer.lse.dtype for layer in layers] or [np.dtype(np.float32)]
    return Columns(
        tuple(name for name in _PLAIN if name in asked),
        widest("top"),
        widest("groups"),
        widest("distance"),
        np.result_type(*dtypes),
    )


def chunks(
    layers: Iterable["LayerSeen"], of: Of, columns: Columns, *, padding: bool
) -> Iterable[dict[str, Column]]:
    """Yield the table a layer at a time."""
    for layer in layers:
        yield _of_rows(layer, columns, padding) if of == "rows" else _of_keys(layer, padding)


def _of_rows(layer: "LayerSeen", columns: Columns, padding: bool) -> dict[str, Column]:
    chosen = np.ones_like(layer.padding) if padding else ~layer.padding
    table = _named(layer, chosen, layer.queries)
    table["token"] = _texts([layer.tokens(b) for b in range(len(chosen))], chosen, layer)
    table["written"] = _along(layer.written, chosen, layer)
    table["produces"] = _texts([layer.produced(b) for b in range(len(chosen))], chosen, layer)
    size = len(table["head"])
    for name in columns.plain:
        fact = getattr(layer, name) if name in layer.asked else None
        table[name] = _flat(fact, chosen, size, columns.dtype, np.nan)
    top = layer.top if "top" in layer.asked else None
    for k in range(columns.top):
        there = top is not None and k < top.keys.shape[-1]
        keys, weights = (part[..., k] for part in top) if there and top else (None, None)
        table[f"top_key_{k + 1}"] = _flat(keys, chosen, size, np.dtype(np.int64), _NO_KEY)
        empty = np.nan if top is None else 0.0
        table[f"top_weight_{k + 1}"] = _flat(weights, chosen, size, columns.dtype, empty)
    names = [f"group_{g}" for g in range(columns.groups)]
    table |= _shares(layer, "groups", names, chosen, columns.dtype)
    names = [f"distance_{low}" for low, _ in bin_ranges(columns.bins)]
    return table | _shares(layer, "distance", names, chosen, columns.dtype)


def _of_keys(layer: "LayerSeen", padding: bool) -> dict[str, Column]:
    chosen = np.ones_like(layer.key_padding) if padding else ~layer.key_padding
    table = _named(layer, chosen, layer.keys)
    table["token"] = _texts([layer.key_tokens(b) for b in range(len(chosen))], chosen, layer)
    table["written"] = _along(layer.key_written, chosen, layer)
    kv_heads = np.array(layer.kv_heads, np.int64)
    table["kv_head"] = np.concatenate([np.repeat(kv_heads, n) for n in chosen.sum(axis=1)])
    table["received"] = _flat(layer.received, chosen, len(table["head"]), layer.lse.dtype, np.nan)
    return table


def _named(layer: "LayerSeen", chosen: BoolArray, positions: IntArray) -> dict[str, Column]:
    """Return the columns that say where a line stands: batch entry, head, position."""
    counts, heads = chosen.sum(axis=1), np.array(layer.heads, np.int64)
    size = int(counts.sum()) * len(heads)
    alike = np.zeros(size, np.int32)
    return {
        "run": np.full(size, layer.run, np.int64),
        "part": Words(alike, (layer.part,)),
        "layer": np.full(size, layer.number, np.int64),
        "path": Words(alike, (layer.path,)),
        "batch": np.repeat(np.arange(len(counts)), counts * len(heads)),
        "head": np.concatenate([np.repeat(heads, n) for n in counts] or [heads[:0]]),
        "position": _along(positions, chosen, layer),
    }


def _along(numbers: Array, chosen: BoolArray, layer: "LayerSeen") -> Array:
    """Return what stands along an axis, the same for every head, at the chosen places."""
    parts = [np.tile(numbers[places], len(layer.heads)) for places in chosen]
    return np.concatenate(parts or [numbers[:0]])


def _flat(
    fact: Array | None, chosen: BoolArray, size: int, dtype: np.dtype[Any], empty: float
) -> Array:
    """Return a fact (batch, heads, n) at the chosen places: by batch entry, then by head."""
    if fact is None:
        return np.full(size, empty, dtype)
    return np.concatenate([fact[b][:, rows].ravel() for b, rows in enumerate(chosen)]).astype(
        dtype, copy=False
    )


def _shares(
    layer: "LayerSeen", name: str, names: Sequence[str], chosen: BoolArray, dtype: np.dtype[Any]
) -> dict[str, Column]:
    """Return a column for each group or bin; those that a layer does not have hold 0."""
    fact = getattr(layer, name) if name in layer.asked else None
    size = len(layer.heads) * int(chosen.sum())
    table: dict[str, Column] = {}
    for i, column in enumerate(names):
        there = fact is not None and i < fact.shape[-1]
        empty = np.nan if fact is None else 0.0
        part = fact[..., i] if there and fact is not None else None
        table[column] = _flat(part, chosen, size, dtype, empty)
    return table


def _texts(texts: Sequence[tuple[str, ...] | None], chosen: BoolArray, layer: "LayerSeen") -> Words:
    """Return a column of texts over (batch entry, head, place)."""
    places: dict[str, int] = {}
    parts = []
    for entry, rows in zip(texts, chosen, strict=True):
        codes = np.full(len(rows), _NO_TEXT, np.int32)
        if entry is not None:
            codes[:] = [
                places.setdefault(text, len(places)) if text else _NO_TEXT for text in entry
            ]
        parts.append(np.tile(codes[rows], len(layer.heads)))
    return Words(np.concatenate(parts or [np.zeros(0, np.int32)]), tuple(places))


def whole(layers: Sequence["LayerSeen"], of: Of, *, padding: bool) -> dict[str, Column]:
    """Return the table of all layers, each column made once."""
    columns = columns_of(layers)
    sizes = [_size(layer, of, padding=padding) for layer in layers]
    kinds = kinds_of(of, columns)
    table = {name: np.empty(sum(sizes), dtype or np.int32) for name, dtype in kinds.items()}
    places: dict[str, dict[str, int]] = {name: {} for name, dtype in kinds.items() if not dtype}
    at = 0
    for size, chunk in zip(sizes, chunks(layers, of, columns, padding=padding), strict=True):
        for name, column in chunk.items():
            if isinstance(column, Words):
                known = places[name]
                codes = [known.setdefault(word, len(known)) for word in column.words]
                column = np.array([*codes, _NO_TEXT], np.int32)[column.codes]  # noqa: PLW2901
            table[name][at : at + size] = column
        at += size
    return {
        name: Words(column, tuple(places[name])) if name in places else column
        for name, column in table.items()
    }


def kinds_of(of: Of, columns: Columns) -> dict[str, np.dtype[Any] | None]:
    """Return the names of a table's columns, in order, and their dtypes; None for texts."""
    whole_number, fact = np.dtype(np.int64), columns.dtype
    kinds: dict[str, np.dtype[Any] | None] = {
        name: None if name in _TEXTS else whole_number for name in _NAMING
    }
    kinds |= {"token": None, "written": np.dtype(bool)}
    if of == "keys":
        return kinds | {"kv_head": whole_number, "received": fact}
    kinds |= {"produces": None} | dict.fromkeys(columns.plain, fact)
    for k in range(1, columns.top + 1):
        kinds |= {f"top_key_{k}": whole_number, f"top_weight_{k}": fact}
    names = [f"group_{g}" for g in range(columns.groups)]
    names += [f"distance_{low}" for low, _ in bin_ranges(columns.bins)]
    return kinds | dict.fromkeys(names, fact)


def as_objects(column: Words) -> Array:
    """Return a column of texts as an array of str, None where there is none."""
    return np.array([*column.words, None], object)[column.codes]


def _size(layer: "LayerSeen", of: Of, *, padding: bool) -> int:
    marked = layer.padding if of == "rows" else layer.key_padding
    return len(layer.heads) * int(marked.size if padding else (~marked).sum())
