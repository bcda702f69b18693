"""Record a model's own lookups while it runs: what goes into each attention call is kept.

The model gets masks of its own kind; those that come back as they were are sdpa's, and so is the
answer, bit for bit. Where sdpa would drop or refuse what shapes the scores (sinks, softcap),
`Lookup.attend` computes the answer.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import BFLOAT16, Array
from softlookup.errors import DtypeError
from softlookup.integrations import routing
from softlookup.integrations.admission import check_heads
from softlookup.integrations.masks import LazyMask
from softlookup.integrations.places import Place, Places
from softlookup.integrations.routing import Call, as_read, is_idle, read_call
from softlookup.integrations.seeing import answer, kv_heads_of, of_heads, sight_of
from softlookup.lookup import Lookup


class Overlays(routing.Overlays):
    """Masks and biases of a pass, also as arrays; calls that share a tensor share the array."""

    def __init__(self) -> None:
        super().__init__(waits=True)  # it is copied into memory anyway
        self._arrays: dict[int, tuple[Any, Array]] = {}

    def arrays(self, *tensors: Any) -> dict[str, Array]:
        """Return what `of` does, as arrays."""
        found = {}
        for kind, tensor in self.of(*tensors).items():
            if id(tensor) not in self._arrays:
                self._arrays[id(tensor)] = tensor, as_array(tensor)
            found[kind] = self._arrays[id(tensor)][1]
        return found


def as_array(tensor: Any) -> Array:
    """Return a copy of `tensor` as a NumPy array of its own dtype; bfloat16 is ml_dtypes'.

    Raises
    ------
    DtypeError
        Where it holds numbers of another kind.
    """
    import torch

    copied = tensor.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
    if copied.dtype == torch.bfloat16:
        return np.asarray(copied.view(torch.int16).numpy()).view(BFLOAT16)
    if copied.dtype in {torch.float16, torch.float32, torch.float64, torch.bool}:
        return np.asarray(copied.numpy())
    raise DtypeError(
        "model", f"must compute in float16, bfloat16, float32 or float64; got {copied.dtype}. "
        "Load it with dtype=torch.float32."
    )  # fmt: skip


def look_of(call: Call, overlays: Overlays, heads: Sequence[int] | None = None) -> Lookup:
    """Return a call as a lookup of the chosen heads, on copies of its arrays."""
    chosen: Any = slice(None)
    theirs: Any = slice(None)
    if heads is not None:
        chosen = list(heads)
        theirs = kv_heads_of(chosen, int(call.query.shape[1]) // int(call.key.shape[1]))
    # With a causal rule and no mask, sdpa cuts keys after the last query: unused cache slots.
    length = int(call.query.shape[2]) if call.causal else None
    batch = max(int(call.query.shape[0]), int(call.key.shape[0]))
    arrays = (call.query[:, chosen], call.key[:, theirs], call.value[:, theirs])
    query, key, value = (as_array(one.expand(batch, -1, -1, -1)) for one in arrays)
    laid: dict[str, Any] = {
        name: of_heads(given, chosen)
        for name, given in overlays.arrays(call.mask, call.bias).items()
    }
    if "bias" in laid:
        laid["bias"] = laid["bias"][..., :length]
    return Lookup(
        query,
        key[:, :, :length],
        value[:, :, :length],
        scale=call.scale,
        softcap=call.softcap,
        causal=call.causal,
        q_offset=0 if call.causal else None,
        sinks=None if call.sinks is None else as_array(call.sinks)[chosen],
        **laid,
    )


class Record(NamedTuple):
    """One call that was kept."""

    place: Place
    look: Lookup
    heads: tuple[int, ...]


@dataclass
class Recorder:
    """What one forward pass left behind, call by call.

    Parameters
    ----------
    places : Places
        Names and numbers of the model's modules.
    layers, heads : sequence of int, optional
        Which to keep, sorted; all where left out.
    progress : callable, optional
        Told the number of lookups kept so far, after each.
    names : collection of str
        What the model is given by name.
    before : callable
        Tells how a configuration had its attention computed.
    """

    places: Places
    layers: Sequence[int] | None = None
    heads: Sequence[int] | None = None
    progress: Callable[[int], None] | None = None
    names: Collection[str] = ()
    before: Callable[[Any], str] = lambda _: "sdpa"  # by which it answers itself
    records: list[Record] = field(default_factory=list)
    seen: list[Place] = field(default_factory=list)
    overlays: Overlays = field(default_factory=Overlays)

    def keep(self, module: Any, call: Call) -> None:
        """Keep one call, unless its layer was not asked for."""
        place = self.places.next(module)
        self.seen.append(place)
        if self.layers is not None and place.number not in self.layers:
            return
        every = int(call.query.shape[1])
        heads = range(every) if self.heads is None else self.heads
        check_heads(heads, every, place.path)
        self.records.append(Record(place, look_of(call, self.overlays, self.heads), tuple(heads)))
        if self.progress is not None:
            self.progress(len(self.records))

    def _is_idle(self, module: Any, name: str) -> bool:
        """Return whether a name comes from the model's caller and changes nothing."""
        return name in self.names and is_idle(name, module, self._setting(module))

    def _setting(self, module: Any) -> str:
        """How a module had its attention computed before; some have no configuration."""
        return self.before(getattr(module, "config", None))

    def answer(
        self,
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        attention_mask: Any = None,
        *,
        scaling: float | None = None,
        is_causal: bool | None = None,
        **others: Any,
    ) -> tuple[Any, None]:
        """Answer one attention call of a model, and keep it; called by transformers."""
        from softlookup.integrations.unmade import rule_of

        rule = rule_of(attention_mask)
        attention_mask = rule.of_sdpa if isinstance(rule, LazyMask) else rule
        is_causal = as_read(rule, {"is_causal": is_causal}, self._setting(module))["is_causal"]
        others |= {"scaling": scaling, "is_causal": is_causal}
        idle = partial(self._is_idle, module)
        call = read_call(module, (query, key, value), attention_mask, others, idle)
        self.keep(module, call)
        from transformers.integrations.sdpa_attention import sdpa_attention_forward as sdpa

        bias = call.bias
        biased = "position_bias" in signature(sdpa).parameters  # not in older releases
        if call.softcap is not None or call.sinks is not None or (bias is not None and not biased):
            out = answer(call, sight_of(call, 0, self.overlays, cross=False))
            return out.transpose(1, 2).contiguous(), None
        more = {} if bias is None else {"position_bias": bias}
        out, _ = sdpa(
            module, query, key, value, attention_mask,
            scaling=scaling, is_causal=is_causal, **more,
        )  # fmt: skip
        return out, None


@contextmanager
def recording(model: Any, recorder: Recorder) -> Iterator[None]:
    """Send the attention calls of `model` through `recorder`; its setting comes back after it."""
    from transformers.masking_utils import eager_mask, sdpa_mask

    from softlookup.integrations.unmade import handed

    def masks(**given: Any) -> Any:
        theirs = routing.masks_of(recorder.before(given.get("config")))
        if not model._supports_sdpa:  # noqa: SLF001 (no public way to ask)
            return eager_mask(**given)  # such a family is written for numbers to add
        if theirs is None or theirs is sdpa_mask:
            return sdpa_mask(**given)
        return handed(LazyMask(given, theirs))

    with routing.routed(model, recorder.answer, masks) as recorder.before:
        yield
