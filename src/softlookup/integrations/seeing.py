"""One attention call of a watched model: its answer, and the facts of the heads that are watched.

Where all heads are watched and no gradient is wanted, facts come with the answer in one pass of the
kernels; else the facts come in a pass of their own, without the values.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import MEMORY, Array
from softlookup.device import is_on_device, send
from softlookup.errors import OptionError
from softlookup.inspection import Inspection
from softlookup.integrations.keeping import Apart, set_apart
from softlookup.integrations.masks import LazyMask, Sight
from softlookup.integrations.routing import Call, Overlays
from softlookup.lookup import Lookup
from softlookup.tensors import is_tensor, tensor_of

ON_A_GPU = "cuda"  # the backend there, with facts and without: looking changes no bit


class Seen(NamedTuple):
    """What one call, or a band of its rows, showed.

    Attributes
    ----------
    rows : slice
        Which of the call's rows.
    found : Inspection or Apart
        In NumPy, or tensors on the model's GPU; without the answer.
    look : Lookup
        Over these rows of the watched heads, on the model's own memory.
    asked : dict
        What was asked of it.
    lse : ndarray of shape (batch, heads, rows)
        As `found` has it.
    """

    rows: slice
    found: Inspection | Apart
    look: Lookup
    asked: Mapping[str, Any]
    lse: Array


def sight_of(call: Call, start: int, overlays: Overlays, *, cross: bool) -> Sight:
    """Return what the queries of `call` see; `start` is known where its mask does not say it."""
    if not isinstance(call.mask, LazyMask):
        return _sight_of_tensors(call, start, overlays, cross=cross)
    _check_lengths(call, call.mask)
    sight = call.mask.sight
    options = dict(sight.options)
    if cross:  # its keys are of another text
        options.pop("q_offset", None)
        sight = sight._replace(start=start, key_start=0, causal=False)
    stop = min(sight.stop, int(call.key.shape[2]))
    for name, laid in overlays.of(call.bias).items():
        both = options.get(name)
        options[name] = laid[..., :stop] if both is None else _as_tensor(both) & laid[..., :stop]
    return sight._replace(stop=stop, options=options)


def _check_lengths(call: Call, mask: LazyMask) -> None:
    over, given = (mask.q_len, mask.kv_len), (int(call.query.shape[2]), int(call.key.shape[2]))
    if over != given:
        raise OptionError(
            "model", f"must mask the keys that it gives to its attention; its mask is over "
            f"{over[0]} x {over[1]}, its queries and keys are {given[0]} x {given[1]}, as where "
            "keys are compressed. Choose another model."
        )  # fmt: skip


def _sight_of_tensors(call: Call, start: int, overlays: Overlays, *, cross: bool) -> Sight:
    """Return what the queries see by a mask over pairs, or without any."""
    q_len, kv_len = int(call.query.shape[2]), int(call.key.shape[2])
    stop = q_len if call.causal else kv_len
    key_start = 0 if cross or kv_len >= start + q_len else start + q_len - kv_len
    offset = 0 if call.causal else start - key_start
    options: dict[str, Any] = {} if cross else {"q_offset": offset}
    laid = overlays.of(call.mask, call.bias)
    if not cross and _is_unfilled(laid, start + q_len):
        stop = start + q_len
    options |= {name: one[..., :stop] for name, one in laid.items()}
    causal: Any = call.causal or (not cross and offset >= stop - 1)
    if call.causal:
        options["causal"] = True
    elif not cross and not causal and laid:
        causal = _never_ahead(laid, offset)
    return Sight(start, key_start, stop, options, causal)


def _is_unfilled(laid: Mapping[str, Any], first: int) -> bool:
    """Return whether keys from `first` on are hidden from every row: unused slots of a cache.

    On a GPU, where asking would wait for it, they count as keys.
    """
    mask = laid.get("mask")
    if mask is None or is_on_device(mask) or mask.shape[-1] <= first:
        return False
    return not bool(mask[..., first:].any())


def _never_ahead(laid: Mapping[str, Any], offset: int) -> Any:
    """Return whether no row sees a key after its own position: on a GPU as a tensor there."""
    mask = laid.get("mask")
    if not is_on_device(next(iter(laid.values()))):
        return mask is not None and not bool(mask.triu(offset + 1).any())
    shown: Any = mask
    if "bias" in laid:
        shown = ~laid["bias"].detach().isneginf()
        shown = shown if mask is None else shown & mask
    return ~shown.triu(offset + 1).any()


def _as_tensor(mask: Any) -> Any:
    return tensor_of(mask) if isinstance(mask, np.ndarray) else mask


def parts_of(
    call: Call, sight: Sight, heads: Sequence[int] | None = None, *, value: bool = True
) -> Iterator[tuple[slice, Lookup]]:
    """Return the lookups that a call is made of: one, or one for each band of its rows."""
    batch = max(int(call.query.shape[0]), int(call.key.shape[0]))
    chosen: Any = slice(None)
    theirs: Any = slice(None)
    if heads is not None:
        theirs = kv_heads_of(heads, int(call.query.shape[1]) // int(call.key.shape[1]))
        chosen, theirs = (_index(some, call.query) for some in (heads, theirs))
    query = call.query.expand(batch, -1, -1, -1)[:, chosen]
    key = call.key.expand(batch, -1, -1, -1)[:, theirs, : sight.stop]
    blend = call.value.expand(batch, -1, -1, -1)[:, theirs, : sight.stop] if value else None
    for rows, options in sight.rows(int(query.shape[2])):
        yield (
            rows,
            Lookup(
                query[:, :, rows],
                key,
                blend,
                scale=call.scale,
                softcap=call.softcap,
                sinks=None if call.sinks is None else call.sinks[chosen],
                **{name: of_heads(laid, chosen) for name, laid in options.items()},
                backend=ON_A_GPU if is_on_device(query) else "auto",
            ),
        )


def _index(heads: Sequence[int], like: Any) -> Any:
    """Return what chooses heads of a tensor; on a GPU a tensor there, which waits for nothing."""
    return send(np.array(heads), like.device) if is_on_device(like) else list(heads)


def of_heads(laid: Any, heads: Any) -> Any:
    """Return the part of a mask or bias over chosen heads; anything else as it is."""
    over_heads = getattr(laid, "ndim", 0) == 4 and laid.shape[1] > 1
    return laid[:, heads] if over_heads else laid


def kv_heads_of(heads: Sequence[int], group: int) -> list[int]:
    """Return which key heads `heads` bring: each once, or one a head where groups are uneven."""
    each = [head // group for head in heads]
    once = sorted(set(each))
    even = all(each.count(kv_head) == len(each) // len(once) for kv_head in once)
    return once if even else each


def answer(call: Call, sight: Sight) -> Any:
    """Return the answer (batch, heads, q_len, value_dim), with gradients where they are wanted."""
    import torch

    parts = [look.attend() for _, look in parts_of(call, sight)]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)


def answer_and_facts(call: Call, sight: Sight, asked: Mapping[str, Any]) -> tuple[Any, list[Seen]]:
    """Return the answer, and what all its heads show, from one pass."""
    import torch

    outs, seen = [], []
    for rows, look in parts_of(call, sight):
        out, one = _inspect(rows, look, asked)
        outs.append(out if is_tensor(out) else tensor_of(out))
        seen.append(one)
    return outs[0] if len(outs) == 1 else torch.cat(outs, dim=2), seen


def facts(
    call: Call,
    sight: Sight,
    asked: Mapping[str, Any],
    heads: Sequence[int] | None,
    *,
    value: bool,
) -> list[Seen]:
    """Return what some heads show, from a pass of its own; without values unless they are kept."""
    import torch

    with torch.no_grad():
        return [
            _inspect(rows, look, asked)[1]
            for rows, look in parts_of(call, sight, heads, value=value)
        ]


def _inspect(rows: slice, look: Lookup, asked: Mapping[str, Any]) -> tuple[Any, Seen]:
    """Return the answer, and what it shows."""
    own = dict(asked)
    if own.get("from_rows") is not None:
        own["from_rows"] = own["from_rows"][..., rows]
    if look.problem.place != MEMORY:  # it stays there
        found = look.inspect(**own)
        return found.out, Seen(rows, replace(found, out=None), look, own, found.lse)
    plain = look.in_numpy()
    found = plain.inspect(**own)
    apart = set_apart(replace(found, out=None))
    return found.out, Seen(rows, apart, plain, own, found.lse)
