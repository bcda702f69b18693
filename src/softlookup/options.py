"""The options of a lookup: what each may be, and what is refused.

Each ``check_*`` takes what the caller gave and returns the one form that `Problem` holds. It raises
a DtypeError where that is of a wrong kind, a ShapeError for a shape, an OptionError for a value.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from softlookup.arrays import (
    FLOAT_DTYPES,
    Array,
    BoolArray,
    IntArray,
    as_array,
    as_floats,
    as_integers,
    as_ndarray,
    bring_rows,
    is_listed,
    without_repeats,
)
from softlookup.errors import DtypeError, OptionError, OptionNameError, ShapeError
from softlookup.tensors import corner_of, is_tensor

P = ParamSpec("P")
T = TypeVar("T")
Window = tuple[int | None, int | None]

# How other libraries call an option, and how the same is said here.
_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "q": "query=",
        "k": "key=",
        "v": "value=",
        "is_causal": "causal=True; where lengths differ with q_offset=, 0 in torch",
        "attn_mask": "mask= for bools (True = may look), bias= for numbers that are added",
        "attention_mask": "mask=, bools over (q_len, kv_len), True = may look; padding: kv_lens=",
        "key_padding_mask": "kv_lens=, or mask= with the inverse (True = may look)",
        "attn_bias": "bias=",
        "window_size": "window=(left, right), both inclusive; an open side is None, not -1",
        "sliding_window": "window=(w - 1, 0), which looks at w keys, the query's own among them",
        "softmax_scale": "scale=",
        "sm_scale": "scale=",
        "logits_soft_cap": "softcap=",
        "enable_gqa": "nothing: fewer key heads than query heads are grouped by themselves",
        "dropout_p": "nothing: there is no dropout here",
    }
)

# Positions stay far from the ends of int64, so that adding a length never wraps.
_FARTHEST = 2**60


def names_checked(verb: Callable[P, T]) -> Callable[P, T]:
    """Let `verb` say which option is meant by a name it does not know; its signature stays.

    Python itself finds such a name, before `verb` begins: the names are read only then.
    """
    known = tuple(name for name in inspect.signature(verb).parameters if name != "self")

    @functools.wraps(verb)
    def checked(*arrays: P.args, **options: P.kwargs) -> T:
        try:
            return verb(*arrays, **options)
        except TypeError:
            for name in options:
                if name not in known:
                    meant = _meant(name, known)
                    raise OptionNameError(name, f"is no option here. {meant}") from None
            raise

    return checked


def _meant(name: str, known: Sequence[str]) -> str:
    if name in _ELSEWHERE:
        return f"Write {_ELSEWHERE[name]}."
    near = difflib.get_close_matches(name.lower(), known, n=1)
    return f"Did you mean {near[0]}=?" if near else f"The names are {', '.join(known)}."


class Overlay(NamedTuple):
    """A mask or a bias laid over the scores, never expanded.

    Attributes
    ----------
    array : ndarray of shape (entries, heads or 1, q_len or 1, kv_len or 1)
        An axis of size 1 counts for all.
    entry : ndarray of shape (batch,)
        Which entry of `array` each batch uses.
    given : tuple of int
        The shape that the caller gave it, repeats counted: what its gradient has.
    """

    array: Array
    entry: IntArray
    given: tuple[int, ...] = ()

    def tile(self, batch: slice, heads: slice, rows: Any, keys: Any) -> Array:
        """Return the part over a tile; axes of size 1 stay 1, `rows` and `keys` may be arrays."""
        chosen = tuple(
            pick if size != 1 else slice(None)
            for pick, size in zip((heads, rows, keys), self.array.shape[1:], strict=True)
        )
        views = tuple(pick if isinstance(pick, slice) else slice(None) for pick in chosen)
        part = self.array[:, *views]
        entry = self.entry[batch]
        alike = entry.size > 0 and (entry == entry[0]).all()
        part = part[entry[0] : entry[0] + 1] if alike else part[entry]
        for axis, pick in enumerate(chosen, start=1):
            if not isinstance(pick, slice):
                part = np.take(part, pick, axis)
        return part

    def of_row(self, row: slice) -> "Overlay":
        """Return the part over one query, sharing memory."""
        if self.array.shape[2] == 1:
            return self
        return Overlay(self.array[:, :, row], self.entry)

    def of_head(self, batch: slice, head: slice) -> "Overlay":
        """Return the part over one head of one batch entry, sharing memory."""
        part = self.tile(batch, head, slice(None), slice(None))
        return Overlay(part, np.zeros(1, np.int64), self.given[-2:])

    def in_memory(self, rows: IntArray | None = None) -> "Overlay":
        """Return it in memory; as `bring_rows`."""
        return self._replace(array=bring_rows(self.array, rows))


def check_flag(given: Any, argument: str) -> bool:
    """Return `given`, a bool."""
    if not isinstance(given, (bool, np.bool_)):
        raise DtypeError(argument, f"must be True or False; got {given!r}. Pass a bool.")
    return bool(given)


def lay_over(array: Array, argument: str, full: tuple[int, ...], plain: bool) -> Overlay:
    """See `array` as an overlay, right-aligned to the shape `full` of the scores.

    Raises
    ------
    ShapeError
        Where it does not fit.
    """
    fits = array.ndim <= len(full) and all(
        size in (1, whole) for size, whole in zip(array.shape[::-1], full[::-1], strict=False)
    )
    if not fits:
        advice = "Axes of size 1 are broadcast."
        if array.ndim == 3 and len(full) == 4 and array.shape == (full[0], full[2], full[3]):
            advice = f"It fits as (batch, q_len, kv_len): add the heads axis, {argument}[:, None]."
        raise ShapeError(
            argument,
            f"must broadcast, right-aligned, to the scores' shape {full}; got "
            f"{array.shape}. {advice}",
        )
    given = array.shape
    array = array[(None,) * (len(full) - array.ndim)]  # a chunk of dask's is not reshaped
    if plain:
        array = array[..., None, :, :]
    array = without_repeats(array)
    lead, batch_shape = array.shape[:-3], full[:-2] if plain else full[:-3]
    count = prod(lead)
    if count == 1:
        entry = np.zeros(prod(batch_shape), np.int64)
    else:
        own = np.arange(count, dtype=np.int64).reshape(lead)
        entry = np.broadcast_to(own, batch_shape).reshape(-1)
    whole = array.reshape(count, *array.shape[-3:]) if lead else array[None]
    return Overlay(whole, entry, given)


def check_mask(mask: Any) -> BoolArray:
    """Return `mask` as an array of bool, of its own shape."""
    array: BoolArray = as_array(mask, "mask")
    if array.dtype.kind in "iu":
        raise DtypeError(
            "mask",
            f"must be bool, True = may look; got {array.dtype}. Write mask.astype(bool), "
            "and mind that nn.MultiheadAttention's masks mean the inverse (True = hidden).",
        )
    if array.dtype != np.bool_:
        raise DtypeError(
            "mask",
            f"must be bool, True = may look; got {array.dtype}. Numbers to be added to the "
            "scores go into bias.",
        )
    return array


def check_bias(bias: Any) -> Array:
    """Return `bias` as an array of floats, of its own shape."""
    array, listed = as_array(bias, "bias"), is_listed(bias)
    if array.dtype.kind in "iub" and not listed:
        raise DtypeError(
            "bias",
            f"must be float, since it is added to the scores; got {array.dtype}. A mask "
            "goes into mask, as bool.",
        )
    return as_floats(bias if listed else array, "bias")


def check_corner(bias: Any, q_offset: Any, q_len: int, kv_len: int) -> int | None:
    """Return the q_offset of a causal rule of torch's in the place of a bias; None for no rule.

    Raises
    ------
    ShapeError, OptionError
        Where it is the rule of other lengths, or another `q_offset` was given beside it.
    """
    rule = corner_of(bias)
    if rule is None:
        return None
    made_for, corner = rule[:2], rule[2]
    if made_for != (q_len, kv_len):
        raise ShapeError(
            "bias",
            f"must be a causal rule of the lookup's {q_len} queries and {kv_len} keys; got one of "
            f"{made_for[0]} and {made_for[1]}. Make it with these lengths.",
        )
    if q_offset is not None and (as_ndarray(q_offset, "q_offset") != corner).any():
        raise OptionError(
            "q_offset",
            f"must be that of the causal rule in bias, {corner}; got {q_offset}. Leave it out.",
        )
    return corner


def check_sinks(sinks: Any, heads: int, plain: bool) -> Array:
    """Return `sinks`, shape (heads,), or () where there is no heads axis."""
    array = as_floats(sinks, "sinks")
    if array.shape != (heads,) and not (plain and array.shape == ()):
        raise ShapeError(
            "sinks",
            f"must be one logit for each of the query's heads, shape ({heads},); got "
            f"{array.shape}. Broadcast it with numpy.broadcast_to.",
        )
    return array


def check_kv_lens(kv_lens: Any, batch_shape: tuple[int, ...], kv_len: int) -> IntArray | None:
    """Return `kv_lens`, shape (batch,)."""
    if kv_lens is None:
        return None
    array = as_integers(kv_lens, "kv_lens", batch_shape, "the batch's shape").reshape(-1)
    if array.size and (array.min() < 0 or array.max() > kv_len):
        wrong = array[(array < 0) | (array > kv_len)][0]
        raise OptionError(
            "kv_lens",
            f"must lie in 0 ... {kv_len}, the length of the key; got {wrong}. "
            "It counts valid keys.",
        )
    return array


def check_q_offset(
    q_offset: Any,
    batch_shape: tuple[int, ...],
    *,
    q_len: int,
    kv_len: int,
    asked: str | None,
    padded: bool,
) -> IntArray | None:
    """Return `q_offset`, shape (batch,); None where no option needs positions."""
    batch = prod(batch_shape)
    if q_offset is None:
        if q_len == kv_len:
            return np.zeros(batch, np.int64)
        if asked is None:
            return None
        corner = "kv_lens - q_len" if padded else f"kv_len - q_len = {kv_len - q_len}"
        raise OptionError(
            "q_offset",
            f"must be given with {asked} where q_len {q_len} and kv_len {kv_len} "
            f"differ; got None. Use 0 for top-left (torch, JAX, Keras) or {corner} for "
            "bottom-right (FlashAttention, MLX).",
        )
    if is_tensor(q_offset):
        q_offset = as_ndarray(q_offset, "q_offset")
    alone = isinstance(q_offset, (int, np.integer)) and not isinstance(q_offset, bool)
    if isinstance(q_offset, np.ndarray) and q_offset.ndim == 0 and q_offset.dtype.kind in "iu":
        q_offset, alone = int(q_offset), True
    if alone and abs(int(q_offset)) > _FARTHEST:
        farthest = int(q_offset)
    else:
        shape = () if alone else batch_shape
        array = as_integers(q_offset, "q_offset", shape, "the batch's shape")
        outside = array[(array < -_FARTHEST) | (array > _FARTHEST)]
        if not outside.size:
            return np.broadcast_to(array.reshape(-1), batch).copy()
        farthest = int(outside[0])
    raise OptionError(
        "q_offset",
        f"must lie within -2**60 ... 2**60; got {farthest}. It positions query 0.",
    )


def check_window(window: Any) -> Window | None:
    """Return `window` as (left, right) in keys, or None where both sides are open."""
    if window is None:
        return None
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise DtypeError(
            "window",
            f"must be (left, right), both inclusive; got {window!r}. Libraries mean w or "
            "w + 1 keys by a bare w: (w, 0) looks at w keys before the query and at its own.",
        )
    sides: list[int | None] = []
    for side in window:
        if side is None:
            sides.append(None)
            continue
        if isinstance(side, (bool, np.bool_)) or not isinstance(side, (int, np.integer)):
            raise DtypeError(
                "window", f"must be two integers or None; got {window!r}. None leaves a side open."
            )
        if side < 0:
            raise OptionError(
                "window",
                f"must be >= 0 on both sides; got {tuple(window)}. Use None for an open side.",
            )
        sides.append(int(side) if side <= _FARTHEST else None)
    return None if sides == [None, None] else (sides[0], sides[1])


def _check_number(given: Any, argument: str) -> float:
    alone = isinstance(given, (int, float, np.generic, np.ndarray)) or is_tensor(given)
    array = as_ndarray(given, argument) if alone else None
    if array is None or array.ndim or not (array.dtype.kind in "iu" or array.dtype in FLOAT_DTYPES):
        raise DtypeError(argument, f"must be one number; got {type(given).__name__}. Pass a float.")
    value = float(array)
    if not np.isfinite(value):
        raise OptionError(argument, f"must be finite; got {value}. Leave it out for the default.")
    return value


def check_scale(scale: Any, head_dim: int) -> float:
    """Return `scale`; where it is None, ``head_dim ** -0.5``, and 1 where head_dim is 0."""
    if scale is None:
        return float(head_dim) ** -0.5 if head_dim else 1.0
    return _check_number(scale, "scale")


def check_softcap(softcap: Any) -> float | None:
    """Return `softcap`; None is off."""
    if softcap is None:
        return None
    value = _check_number(softcap, "softcap")
    if value <= 0:
        raise OptionError("softcap", f"must be > 0; got {softcap}. None turns it off.")
    return value
