"""Stand between a model and its attention: one function for its calls, another for its masks.

Hugging Face models hand every attention call to a function that is registered by name, and ask a
second function of the same name for their masks. `routed` puts both under a name of its own for as
long as a ``with`` block lasts; `read_call` says what a call asks for, or refuses it.
"""

import contextlib
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self
from uuid import uuid4

from softlookup.device import is_on_device
from softlookup.errors import DtypeError, OptionError
from softlookup.tensors import as_autocast

NAME = "softlookup"

# What models hand on that shapes no score, or that the mask has said already.
HARMLESS = frozenset({
    "cache_position", "cu_seq_lens_k", "cu_seq_lens_q", "cu_seqlens", "deterministic",
    "encoder_attention_mask", "encoder_hidden_states", "hidden_states", "layer_idx",
    "logits_to_keep", "max_length_k", "max_length_q", "max_seqlen", "num_items_in_batch",
    "output_attentions", "output_hidden_states", "output_router_logits", "position_embeddings",
    "position_ids", "return_dict", "sliding_window", "use_cache",
})  # fmt: skip
UNDERSTOOD = frozenset({
    "dropout", "is_causal", "position_bias", "s_aux", "scaling", "sinks", "softcap",
})  # fmt: skip
KNOWN = HARMLESS | UNDERSTOOD
_ALWAYS = HARMLESS | {"dropout", "is_causal", "scaling"}  # read, or not, whoever gave it
SPARSE = frozenset({"block_indices", "indices"})  # the keys that an indexer chose for each query


@dataclass(frozen=True)
class Call:
    """One attention call of a model, as tensors, with what shapes its scores.

    Attributes
    ----------
    query, key, value : Tensor of shape (batch, heads or kv_heads, length, dim)
    scale : float
    causal : bool
        There is no mask, and query i sees keys 0 ... i: keys after the last query are unused slots.
    mask : object or None
        What the model's mask function returned, or the caller's own tensor over pairs.
    bias : Tensor or None
        Added to the scores.
    sinks : Tensor of shape (heads,) or None
    softcap : float or None
    """

    query: Any
    key: Any
    value: Any
    scale: float
    causal: bool
    mask: Any
    bias: Any
    sinks: Any
    softcap: float | None

    @property
    def wants_grad(self) -> bool:
        """Whether a gradient is to reach what went in."""
        import torch

        given = (self.query, self.key, self.value, self.bias, self.sinks)
        return torch.is_grad_enabled() and any(
            one is not None and one.requires_grad for one in given
        )


def read_call(
    module: Any,
    arrays: tuple[Any, Any, Any],
    mask: Any,
    others: Mapping[str, Any],
    idle: Callable[[str], bool] = lambda _: False,
) -> Call:
    """Return what a call of `module` asks for; `others` is all that it hands on by name.

    `idle`: whether a name is only handed through, and changes nothing.

    Raises
    ------
    OptionError
        Where it asks for something whose meaning is not known here.
    """
    others = {
        name: given for name, given in others.items()
        if given is not None and (name in _ALWAYS or not idle(name))
    }  # fmt: skip
    _refuse_unknown(type(module).__name__, others)
    query, key, value, bias = as_autocast(*arrays, others.get("position_bias"))
    scaling, causal = others.get("scaling"), others.get("is_causal")
    if causal is None:
        causal = getattr(module, "is_causal", True)
    softcap = others.get("softcap")
    return Call(
        query,
        key,
        value,
        scale=int(query.shape[3]) ** -0.5 if scaling is None else float(scaling),
        causal=bool(causal) and mask is None and int(query.shape[2]) > 1,
        mask=mask,
        bias=bias,
        sinks=_sinks(others, int(query.shape[1])),
        softcap=float(softcap) if softcap else None,  # models are configured with 0 for none
    )


def is_idle(name: str, module: Any, setting: str | None) -> bool:
    """Return whether what a model's caller gave by `name` changes nothing in its attention.

    Models hand on what they do not know themselves (``token_type_ids`` to a Llama), and attention
    lets pass what it does not name. What a module hands on in its own words is another matter:
    how it is meant may depend on the setting.
    """
    return name not in inspect.signature(attention_of(module, setting)).parameters


def as_read(mask: Any, others: dict[str, Any], setting: str | None) -> dict[str, Any]:
    """Return what a call hands on by name, as attention of a setting reads it.

    Eager attention goes by masks alone: without one, every query sees every key.
    """
    return others | {"is_causal": False} if setting == "eager" and mask is None else others


def _refuse_unknown(kind: str, others: Mapping[str, Any]) -> None:
    """Refuse what shapes scores in ways that are not known of a module of this kind."""
    dropout = others.get("dropout")
    if dropout:
        raise OptionError(
            "model", f"must not drop weights at random; its dropout is {dropout}. Call "
            "model.eval()."
        )  # fmt: skip
    for name in others:
        if name in KNOWN:
            continue
        if name in SPARSE:
            raise OptionError(
                "model", f"must look over all keys that its mask shows; {kind} does sparse "
                f"attention, over the {name} that an indexer chooses for each query, which is not "
                "computed here. Choose another model."
            )  # fmt: skip
        raise OptionError(
            "model", f"hands {name!r} to its attention, whose meaning is not known here, so "
            "its scores cannot be recorded faithfully. Choose another model."
        )  # fmt: skip


def _sinks(others: Mapping[str, Any], heads: int) -> Any:
    """Return the learned logits in the denominator, one a head, under either of their names."""
    given = [others[name] for name in ("s_aux", "sinks") if others.get(name) is not None]
    if not given:
        return None
    sinks = given[0].reshape(-1)
    if len(given) > 1 or sinks.shape != (heads,):
        many = f"it has {sinks.numel()}"
        if given[0].ndim > 1:
            many += f", by token too: {tuple(given[0].shape)}"
        raise OptionError(
            "model", f"must have one sink for each of {heads} heads; {many}. Choose another model."
        )
    return sinks


class Overlays:
    """Masks and biases over pairs, as `Lookup` takes them; calls that share a tensor share them.

    Parameters
    ----------
    waits : bool, default False
        Whether a GPU may be asked what a tensor on it holds.
    """

    def __init__(self, *, waits: bool = False) -> None:
        self._waits = waits
        self._known: dict[tuple[int, ...], tuple[Any, dict[str, Any]]] = {}

    def of(self, *tensors: Any) -> dict[str, Any]:
        """Return `mask` and `bias`, where there are any, as tensors; None among `tensors` is none.

        Raises
        ------
        DtypeError
            Where one holds neither bools nor floats.
        """
        given = tuple(one for one in tensors if one is not None)
        place = tuple(id(one) for one in given)
        if place not in self._known:  # the tensors are kept, so that their ids stay their own
            found: dict[str, Any] = {}
            for laid in (_laid_over(one, waits=self._waits) for one in given):
                for kind, one in laid.items():
                    both = found.get(kind)
                    found[kind] = (
                        one if both is None else both & one if kind == "mask" else both + one
                    )
            self._known[place] = given, found
        return self._known[place][1]

    def clear(self) -> None:
        """Forget what came so far."""
        self._known.clear()


def _laid_over(tensor: Any, *, waits: bool) -> dict[str, Any]:
    """Return bools as `mask`; numbers to be added as `bias`, and as `mask` what they hide.

    The lowest number of a dtype stands for "hidden" in these models: it hides here. On a GPU, where
    asking what there is would wait for it, it becomes -inf, which hides, too.
    """
    import torch

    if tensor.dtype == torch.bool:
        return {"mask": tensor}
    if not tensor.is_floating_point():
        raise DtypeError(
            "inputs", f"must mask with bools (True may look) or floats to be added; a mask over "
            f"pairs holds {tensor.dtype}. Write mask.bool()."
        )  # fmt: skip
    hidden = tensor.detach() <= torch.finfo(tensor.dtype).min
    if is_on_device(tensor) and not waits:
        return {"bias": tensor.masked_fill(hidden, -torch.inf)}
    found = {}
    if hidden.any():
        found["mask"] = ~hidden
        tensor = tensor.masked_fill(hidden, 0)
    if tensor.requires_grad or tensor.any():
        found["bias"] = tensor
    return found


class Routed(str):
    """The name under which calls are routed, in one configuration; it knows what was there before.

    A model that asks whether it is "sdpa", or "eager", is told what was there before: it is to do
    what it does unwatched. A copy of a configuration goes on with it, until the block ends and
    longer: then it stands for what was there before. A file has that alone.
    """

    __slots__ = ("__weakref__", "before", "copies")
    before: str | None
    copies: list["weakref.ref[Routed]"]

    def __new__(cls, name: str, before: str | None) -> Self:
        """Return `name`, in the place of `before`."""
        new = super().__new__(cls, name)
        new.before, new.copies = before, []
        return new

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or (self.before is not None and other == self.before)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__  # by which the functions are found that stand under the name

    def __deepcopy__(self, _: Any) -> Self:
        new = type(self)(str(self), self.before)
        new.copies = self.copies
        self.copies.append(weakref.ref(new))
        return new

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        return _as_before, (self.before,)


def _as_before(setting: str | None) -> str | None:
    return setting


def setting_of(config: Any) -> str | None:
    """Return how a configuration has its attention computed, in a copy of a routed one too."""
    setting: str | None = config._attn_implementation_internal  # noqa: SLF001 (as below)
    if isinstance(setting, Routed) and _mask_copy is _masks_by_name().get(setting):
        return setting.before
    return setting


def _masks_by_name() -> Any:
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    return ALL_MASK_ATTENTION_FUNCTIONS


def masks_of(setting: str | None) -> Callable[..., Any] | None:
    """Return the library's mask function of a setting."""
    function: Callable[..., Any] | None = _masks_by_name().get(setting or "eager")
    return function


def attention_of(module: Any, setting: str | None) -> Callable[..., Any]:
    """Return the library's attention of a setting; "eager" stands beside the module."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    function: Callable[..., Any] | None = ALL_ATTENTION_FUNCTIONS.get(setting)
    if function is not None:
        return function
    homes = [sys.modules[kind.__module__] for kind in type(module).__mro__]
    eager: Callable[..., Any] = next(
        home.eager_attention_forward for home in homes if hasattr(home, "eager_attention_forward")
    )
    return eager


def _answer_copy(module: Any, *args: Any, **others: Any) -> Any:
    """Answer a call of a copy, whose original was routed when it was made."""
    return attention_of(module, setting_of(module.config))(module, *args, **others)


def _mask_copy(**given: Any) -> Any:
    """Return the mask that such a copy asks for."""
    function = masks_of(setting_of(given["config"]))
    return None if function is None else function(**given)


@contextlib.contextmanager
def routed(
    model: Any, answer: Callable[..., Any], masks: Callable[..., Any]
) -> Iterator[Callable[[Any], str]]:
    """Send the attention calls of `model` to `answer`, and what it asks of masks to `masks`.

    Its setting comes back afterwards. Yields what tells that setting of a configuration in it.

    Raises
    ------
    OptionError
        Where another one stands there already.
    """
    from transformers import AttentionInterface, AttentionMaskInterface

    configs = _configs(model)
    before = [(config, setting_of(config)) for config in configs]
    if any(str(setting).startswith(NAME) for _, setting in before):
        raise OptionError(
            "model", f"must be looked at by one at a time; {type(model).__name__} is being watched "
            "or recorded already. End that with block first."
        )  # fmt: skip
    name = f"{NAME}_{uuid4().hex}"  # its own: several models go side by side, and copies stay
    names = {id(config): Routed(name, setting) for config, setting in before}
    settings = {id(config): setting for config, setting in before}
    interfaces = {AttentionInterface: answer, AttentionMaskInterface: masks}
    for interface, function in interfaces.items():
        interface.register(name, function)
    try:
        model.set_attn_implementation(name)
        for module in routed_modules(model):  # some hold a configuration that no model holds
            if hasattr(getattr(module, "config", None), "_attn_implementation_internal"):
                module.config._attn_implementation_internal = name  # noqa: SLF001 (as below)
        for config, _ in before:  # a copy that is made meanwhile knows where it came from
            if config._attn_implementation_internal == name:  # noqa: SLF001 (as below)
                config._attn_implementation_internal = names[id(config)]  # noqa: SLF001 (as below)
        yield lambda one: settings.get(id(one)) or settings.get(id(model.config)) or "eager"
        _check_setting(model, name)
    finally:
        for config, setting in before:
            config._attn_implementation_internal = setting  # noqa: SLF001 (exact in every sub-model)
        _take_back(name, copied=any(copy() for one in names.values() for copy in one.copies))


def _take_back(name: str, *, copied: bool) -> None:
    """Let go of a name; copies that still go by it get what was there before."""
    from transformers import AttentionInterface, AttentionMaskInterface

    after = {AttentionInterface: _answer_copy, AttentionMaskInterface: _mask_copy}
    for interface, function in after.items():
        if copied:
            interface.register(name, function)
        else:  # there is no public way to take a name back
            interface._global_mapping.pop(name, None)  # noqa: SLF001


def _check_setting(model: Any, name: str) -> None:
    now = model.config._attn_implementation_internal  # noqa: SLF001 (as above)
    if now != name:
        raise OptionError(
            "model", f"must keep its attention setting while it is looked at; it was set to "
            f"{now!r} inside the block, and what ran after that was not seen. Set it before the "
            "block."
        )  # fmt: skip


def routed_modules(module: Any) -> Iterator[Any]:
    """Walk through the modules, but not into models that do their own attention."""
    from transformers import PreTrainedModel

    if isinstance(module, PreTrainedModel) and not module._can_set_attn_implementation():  # noqa: SLF001
        return
    yield module
    for child in module.children():
        yield from routed_modules(child)


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
