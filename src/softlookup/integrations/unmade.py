"""What stands for a model's mask while it is looked at: a tensor, made only where it is needed.

A model that hands its mask on untouched never has it made: attention is then computed by its rule.
Whatever else is done to the mask, by the model or a hook, is done to the one that the model's own
mask function makes, of its own kind: bools for sdpa, floats for eager attention. Imported where it
is asked for, as torch is.
"""

from typing import Any, Self

import torch
from torch.utils._pytree import tree_leaves, tree_map

from softlookup.integrations.masks import LazyMask

_T = torch.Tensor
# What is told of a tensor without its numbers.
_DESCRIBING = {
    getattr(_T, name).__get__
    for name in ("device", "dtype", "is_cpu", "is_cuda", "is_meta", "itemsize", "layout", "ndim",
                 "requires_grad", "shape")
} | {_T.__len__, _T.dim, _T.element_size, _T.is_complex, _T.is_floating_point, _T.nelement,
     _T.numel, _T.size}  # fmt: skip
# What may leave a tensor as it is: the same numbers in another dtype or place, or a part of them.
_CONVERTING = {_T.to, _T.type, _T.type_as, _T.bool, _T.float, _T.double, _T.half, _T.bfloat16,
               _T.cpu, _T.cuda}  # fmt: skip
_CHOOSING = {_T.__getitem__, _T.expand, _T.narrow, _T.reshape, _T.view}
# What lets numbers be written to that torch does not count.
_OPENING = {_T.data.__get__, _T.data.__set__, _T.__array__, _T.__dlpack__, _T.data_ptr, _T.numpy,
            _T.storage, _T.untyped_storage}  # fmt: skip


class UnmadeMask(torch.Tensor):  # type: ignore[misc]
    """A model's own mask as a tensor, made when something reads its numbers or writes them.

    Parameters
    ----------
    lazy : LazyMask
        What was asked for.
    shape : tuple of int
    dtype : torch.dtype
        Of the mask that the mask function of the model's own kind makes of that.
    source : UnmadeMask, optional
        What it is the contiguous form of: itself or a copy.
    """

    lazy: LazyMask
    source: "UnmadeMask | None"
    made: Any  # None until it is
    writes: int  # as torch counts them: in it, in its views, in what it is a view of
    opened: bool

    @staticmethod
    def __new__(
        cls, lazy: LazyMask, shape: Any, dtype: Any, source: "UnmadeMask | None" = None
    ) -> Self:
        """Return a tensor without numbers."""
        new: Self = torch.Tensor._make_wrapper_subclass(  # noqa: SLF001 (no public way)
            cls, shape, dtype=dtype, device=lazy.device
        )
        new.lazy, new.source = lazy, source
        new.made, new.writes, new.opened = None, 0, False
        return new

    @property
    def own(self) -> Any:
        """The model's own mask; made outside of inference mode, where torch counts no writes."""
        if self.made is None:
            with torch.inference_mode(False), torch.no_grad():
                lazy, source = self.lazy, self.source
                made = lazy.made_by(lazy.theirs) if source is None else source.own.contiguous()
                if isinstance(made, torch.Tensor):
                    made = made.clone() if made.is_inference() else made
                    self.writes = made._version  # noqa: SLF001 (documented, for such checks)
            self.made = made
        return self.made

    @property
    def touched(self) -> bool:
        """Whether it may hold other numbers than the model's mask function made."""
        if self.opened or (self.source is not None and self.source.touched):
            return True
        made = self.made
        if not isinstance(made, torch.Tensor):
            return False
        return bool(made.requires_grad or made._version != self.writes)  # noqa: SLF001 (as above)

    @classmethod
    def __torch_function__(
        cls, verb: Any, _: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Do it to the model's own mask, unless nothing comes of it."""
        kwargs = kwargs or {}
        first = args[0] if args else None
        if isinstance(first, cls) and not first.touched:
            if verb in _DESCRIBING:
                with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (documented so)
                    return verb(*args, **kwargs)
            if verb is _T.contiguous and not (args[1:] or kwargs):
                return cls(first.lazy, first.shape, first.dtype, first)
            if verb is _T.clone:
                return cls(first.lazy, first.shape, first.dtype)
            if _stays(first, verb, args[1:], kwargs):
                return first
        if verb in _OPENING and isinstance(first, cls):
            first.opened = True
        found = verb(*tree_map(own_of, args), **tree_map(own_of, kwargs))
        for one in tree_leaves((args, kwargs)):
            # What shares its memory may be opened in its turn, where nothing tells of it here.
            if isinstance(one, cls) and any(_shares(part, one.made) for part in tree_leaves(found)):
                one.opened = True
        return found

    @classmethod
    def __torch_dispatch__(
        cls, verb: Any, _: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Do what did not come by the way above, as from inside of a transform.

        Here torch counts no writes: what it gives that shares memory may be written to.
        """
        if any(one.alias_info is not None for one in verb._schema.returns):  # noqa: SLF001 (no other way)
            for one in tree_leaves((args, kwargs)):
                if isinstance(one, cls):
                    one.opened = True
        return verb(*tree_map(own_of, args), **tree_map(own_of, kwargs or {}))


def _shares(found: Any, made: Any) -> bool:
    """Return whether two are tensors in the same memory."""
    if not (isinstance(found, _T) and isinstance(made, _T)):
        return False
    if found.layout != torch.strided or made.layout != torch.strided:
        return False
    return bool(torch._C._is_alias_of(found, made))  # noqa: SLF001 (no public way to ask)


def own_of(mask: Any) -> Any:
    """Return a mask as the model's own attention takes it; anything else as it is."""
    return mask.own if isinstance(mask, UnmadeMask) else mask


def rule_of(mask: Any) -> Any:
    """Return a mask that came as it was handed out as its rule, any other as a tensor."""
    if not isinstance(mask, UnmadeMask):
        return mask
    return mask.own if mask.touched else mask.lazy


def _stays(mask: UnmadeMask, verb: Any, args: Any, kwargs: Any) -> bool:
    """Return whether `mask` stays as it is; tried on tensors of its kind without numbers."""
    if verb in _CONVERTING:
        blank = torch.empty(0, dtype=mask.dtype, device=mask.device)
        return verb(blank, *args, **kwargs) is blank
    if verb not in _CHOOSING or not all(map(_is_plain, tree_leaves((args, kwargs)))):
        return False
    blank = torch.empty(mask.shape, dtype=mask.dtype, device="meta")
    found = verb(blank, *args, **kwargs)
    return (found.shape, found.stride(), found.dtype) == (blank.shape, blank.stride(), blank.dtype)


def _is_plain(index: Any) -> bool:
    return index is None or isinstance(index, (int, slice, type(...)))


def handed(lazy: LazyMask) -> Any:
    """Return what a model gets for the mask that it asks for: of its own kind, or None."""
    from transformers import masking_utils as theirs

    if lazy.own_is_none and not _says_more(lazy):
        return None
    if lazy.theirs is theirs.eager_mask:
        return UnmadeMask(lazy, lazy.shape, lazy.asked("dtype") or torch.float32)
    if lazy.theirs is theirs.flash_attention_mask:  # a mask over tokens, or None
        tokens = lazy.asked("attention_mask")
        count = lazy.kv_len if tokens is None else min(lazy.kv_len, tokens.shape[1])
        return UnmadeMask(lazy, (lazy.batch, count), torch.bool)
    if lazy.theirs in {theirs.sdpa_mask, theirs.flex_attention_mask}:
        return UnmadeMask(lazy, lazy.shape, torch.bool)
    return lazy.made_by(lazy.theirs)  # a function of the caller's own: it says itself what is seen


def _says_more(lazy: LazyMask) -> bool:
    """Return whether the rule says more than None and a flag do.

    Flash attention is given its windows with each call, and finds by itself where the text ends.
    """
    from transformers import masking_utils as theirs

    if lazy.theirs is not theirs.flash_attention_mask:
        return False
    sight = lazy.sight
    plain = sight.options.keys() <= {"q_offset", "causal"} and sight.bands is None
    return not plain or ("causal" in sight.options and lazy.q_len != lazy.kv_len)
