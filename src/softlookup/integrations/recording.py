"""Record a model's own lookups while it runs: one function between the model and its kernel.

Hugging Face models hand every attention call to a function that is registered by name, and ask a
second function of the same name for their masks. Here both stand under one private name: the masks
are those of sdpa, the answer is sdpa's, bit for bit, and what went in is kept. Where sdpa would
drop or refuse what shapes the scores (sinks, softcap), `Lookup.attend` computes the answer.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import BFLOAT16, Array
from softlookup.errors import DtypeError, OptionError
from softlookup.integrations.places import Place, Places
from softlookup.lookup import Lookup

NAME = "softlookup_recording"

# What models hand on that shapes no score, or that the mask has said already.
HARMLESS = frozenset({
    "cache_position", "cu_seq_lens_k", "cu_seq_lens_q", "cu_seqlens", "deterministic",
    "encoder_attention_mask", "encoder_hidden_states", "hidden_states", "layer_idx",
    "logits_to_keep", "max_length_k", "max_length_q", "max_seqlen", "num_items_in_batch",
    "output_attentions", "output_hidden_states", "output_router_logits", "position_embeddings",
    "position_ids", "return_dict", "sliding_window", "use_cache",
})  # fmt: skip
UNDERSTOOD = frozenset({"position_bias", "s_aux", "sinks", "softcap"})


class Overlays:
    """Masks and biases of a pass as arrays; calls that share a tensor share the array."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, dict[str, Array]]] = {}

    def of(self, *tensors: Any) -> dict[str, Array]:
        """Return `mask` and `bias`, where there are any, as `Lookup` takes them."""
        found: dict[str, Array] = {}
        for tensor in tensors:
            if tensor is None:
                continue
            if id(tensor) not in self._known:  # the tensor is kept, so that its id stays its own
                self._known[id(tensor)] = tensor, _as_overlay(tensor)
            for kind, array in self._known[id(tensor)][1].items():
                if kind not in found:
                    found[kind] = array
                else:
                    found[kind] = found[kind] & array if kind == "mask" else found[kind] + array
        return found


def _as_overlay(tensor: Any) -> dict[str, Array]:
    """Return bools as `mask`; numbers to be added as `bias`, and as `mask` what they hide.

    The lowest number of a dtype stands for "hidden" in these models: it hides here.
    """
    import torch

    if tensor.dtype == torch.bool:
        return {"mask": as_array(tensor)}
    if not tensor.is_floating_point():
        raise DtypeError(
            "inputs", f"must mask with bools (True may look) or floats to be added; a mask over "
            f"pairs holds {tensor.dtype}. Write mask.bool()."
        )  # fmt: skip
    hidden, added = as_array(tensor <= torch.finfo(tensor.dtype).min), as_array(tensor)
    bias = np.where(hidden, added.dtype.type(0), added)
    found = {"bias": bias} if bias.any() else {}
    return found | ({"mask": ~hidden} if hidden.any() else {})


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


@dataclass(frozen=True)
class Call:
    """One attention call of a model, as tensors, with what shapes its scores."""

    query: Any
    key: Any
    value: Any
    scale: float
    causal: bool
    mask: Any
    bias: Any
    sinks: Array | None
    softcap: float | None

    def look(self, overlays: Overlays, heads: Sequence[int] | None = None) -> Lookup:
        """Return it as a lookup of the chosen heads, on copies of its arrays."""
        chosen: Any = slice(None)
        theirs: Any = slice(None)
        if heads is not None:
            chosen = list(heads)
            theirs = _kv_heads(chosen, int(self.query.shape[1]) // int(self.key.shape[1]))
        # With a causal rule and no mask, sdpa cuts keys after the last query: unused cache slots.
        length = int(self.query.shape[2]) if self.causal else None
        batch = max(int(self.query.shape[0]), int(self.key.shape[0]))
        arrays = (self.query[:, chosen], self.key[:, theirs], self.value[:, theirs])
        query, key, value = (as_array(one.expand(batch, -1, -1, -1)) for one in arrays)
        laid: dict[str, Any] = {
            name: given[:, chosen] if given.ndim == 4 and given.shape[1] > 1 else given
            for name, given in overlays.of(self.mask, self.bias).items()
        }
        if "bias" in laid:
            laid["bias"] = laid["bias"][..., :length]
        return Lookup(
            query,
            key[:, :, :length],
            value[:, :, :length],
            scale=self.scale,
            softcap=self.softcap,
            causal=self.causal,
            q_offset=0 if self.causal else None,
            sinks=None if self.sinks is None else self.sinks[chosen],
            **laid,
        )


def _kv_heads(heads: Sequence[int], group: int) -> list[int]:
    """Return which key heads `heads` bring: each once, or one a head where groups are uneven."""
    each = [head // group for head in heads]
    once = sorted(set(each))
    even = all(each.count(kv_head) == len(each) // len(once) for kv_head in once)
    return once if even else each


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
    """

    places: Places
    layers: Sequence[int] | None = None
    heads: Sequence[int] | None = None
    progress: Callable[[int], None] | None = None
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
        if heads and heads[-1] >= every:
            raise OptionError(
                "heads", f"must lie in 0 ... {every - 1}, the heads of {place.path}; got "
                f"{heads[-1]}. Leave out what is not there."
            )  # fmt: skip
        self.records.append(Record(place, call.look(self.overlays, self.heads), tuple(heads)))
        if self.progress is not None:
            self.progress(len(self.records))


_RECORDER: ContextVar[Recorder | None] = ContextVar("softlookup_recorder", default=None)


def forward(  # noqa: PLR0917 (the library's signature)
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any = None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **others: Any,
) -> tuple[Any, None]:
    """Answer one attention call of a model, and keep it; called by transformers."""
    _refuse_unknown(others, dropout)
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    softcap, bias = others.get("softcap"), others.get("position_bias")
    call = Call(
        query,
        key,
        value,
        scale=int(query.shape[3]) ** -0.5 if scaling is None else float(scaling),
        causal=bool(causal) and attention_mask is None and int(query.shape[2]) > 1,
        mask=attention_mask,
        bias=bias,
        sinks=_sinks(others, int(query.shape[1])),
        softcap=None if softcap is None else float(softcap),
    )
    recorder = _RECORDER.get()
    if recorder is not None:
        recorder.keep(module, call)
    from transformers.integrations.sdpa_attention import sdpa_attention_forward as sdpa

    biased = "position_bias" in inspect.signature(sdpa).parameters  # not in older releases
    if call.softcap is not None or call.sinks is not None or (bias is not None and not biased):
        return _own_answer(call), None
    more = {} if bias is None else {"position_bias": bias}
    out, _ = sdpa(
        module, query, key, value, attention_mask,
        dropout=dropout, scaling=scaling, is_causal=is_causal, **more,
    )  # fmt: skip
    return out, None


def _refuse_unknown(others: Mapping[str, Any], dropout: float) -> None:
    if dropout:
        raise OptionError(
            "model", f"must not drop weights at random; its dropout is {dropout}. Call "
            "model.eval()."
        )  # fmt: skip
    for name, given in others.items():
        if given is not None and name not in HARMLESS | UNDERSTOOD:
            raise OptionError(
                "model", f"hands {name!r} to its attention, whose meaning is not known here, so "
                "its scores cannot be recorded faithfully. Choose another model."
            )  # fmt: skip


def _sinks(others: Mapping[str, Any], heads: int) -> Array | None:
    """Return the learned logits in the denominator, one a head, under either of their names."""
    given = [others[name] for name in ("s_aux", "sinks") if others.get(name) is not None]
    if not given:
        return None
    sinks = as_array(given[0].reshape(-1))
    if len(given) > 1 or sinks.shape != (heads,):
        raise OptionError(
            "model", f"must have one sink for each of {heads} heads; it has {sinks.size}. Choose "
            "another model."
        )  # fmt: skip
    return sinks


def _own_answer(call: Call) -> Any:
    """Compute what sdpa cannot, and return it as (batch, q_len, heads, value_dim)."""
    import torch

    out = np.ascontiguousarray(call.look(Overlays()).attend().swapaxes(1, 2))
    if out.dtype == BFLOAT16:
        return torch.from_numpy(out.view(np.int16)).view(torch.bfloat16).to(call.query.device)
    return torch.from_numpy(out).to(call.query.device)


@contextlib.contextmanager
def recording(model: Any, recorder: Recorder) -> Iterator[None]:
    """Send the attention calls of `model` through `recorder`; its setting comes back after it."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, forward)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    before = [(config, config._attn_implementation_internal) for config in _configs(model)]  # noqa: SLF001
    token = _RECORDER.set(recorder)
    try:
        model.set_attn_implementation(NAME)
        for module in _routed(model):  # some layers hold a configuration that no model holds
            if hasattr(getattr(module, "config", None), "_attn_implementation_internal"):
                module.config._attn_implementation_internal = NAME  # noqa: SLF001 (as below)
        yield
    finally:
        _RECORDER.reset(token)
        for config, setting in before:
            config._attn_implementation_internal = setting  # noqa: SLF001 (exact in every sub-model)


def _routed(module: Any) -> Iterator[Any]:
    """Walk through the modules, but not into models that do their own attention."""
    from transformers import PreTrainedModel

    if isinstance(module, PreTrainedModel) and not module._can_set_attn_implementation():  # noqa: SLF001
        return
    yield module
    for child in module.children():
        yield from _routed(child)


def _configs(model: Any) -> list[Any]:
    """Return the configurations of a model and of all models in it, each once."""
    waiting = [module.config for module in model.modules() if hasattr(module, "config")]
    found: dict[int, Any] = {}
    while waiting:
        config = waiting.pop()
        if id(config) in found or not hasattr(config, "_attn_implementation_internal"):
            continue
        found[id(config)] = config
        waiting += [getattr(config, name, None) for name in getattr(config, "sub_configs", ())]
    return list(found.values())
