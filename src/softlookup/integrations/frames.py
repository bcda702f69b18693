"""Frame: a model at work, or a model in it, with what it was given."""

from collections.abc import Mapping
from types import FrameType
from typing import Any, NamedTuple

from softlookup.arrays import BoolArray, IntArray
from softlookup.integrations.masks import LazyMask
from softlookup.integrations.sending import Numbers


class Frame(NamedTuple):
    """A model at work, or a model in it.

    Attributes
    ----------
    module : Module
    side : str
        "encoder" or "decoder" of a model that has both, else "".
    start : int
        The token position of its first token.
    mask : LazyMask, Numbers or None
        Which tokens it may look at, (batch, positions).
    tokens : Numbers or None
        Their ids, (batch, tokens).
    at : frame or None
        Python's own, which stands on its thread's stack for as long as the model works.
    names : frozenset of str
        What it was given by name.
    """

    module: Any
    side: str
    start: int
    mask: LazyMask | Numbers | None
    tokens: Numbers | None
    at: FrameType | None
    names: frozenset[str]

    @property
    def padding(self) -> BoolArray | None:
        """Which token positions only fill up the batch, (batch, positions); None where none do."""
        if self.mask is None or isinstance(self.mask, LazyMask):
            return None if self.mask is None else self.mask.padding
        padding: BoolArray = ~self.mask.array.astype(bool)
        return padding if padding.any() else None

    @property
    def ids(self) -> IntArray | None:
        """Token ids, (batch, tokens); None where it was given none."""
        return None if self.tokens is None else self.tokens.array


def frame_of(
    module: Any,
    side: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    at: FrameType | None,
) -> Frame:
    """Return a model that begins to work on `args` and `kwargs`."""
    known = kwargs.get("input_ids", next(iter(args), None))
    mask = _over_tokens(kwargs.get("attention_mask"))
    start, names = _tokens_before(args, kwargs), frozenset(kwargs)
    return Frame(module, side, start, mask, as_ids(known), at, names)


def _tokens_before(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """Return how many tokens a cache holds already."""
    from transformers.cache_utils import Cache

    for given in (*args, *kwargs.values()):
        if isinstance(given, Cache):
            return int(given.get_seq_length())
    return 0


def _over_tokens(mask: Any) -> LazyMask | Numbers | None:
    """Return a model's mask over tokens, where it is one."""
    import torch

    from softlookup.integrations.unmade import rule_of

    several = mask.values() if isinstance(mask, dict) else [mask]
    mask = rule_of(next((one for one in several if one is not None), None))
    if isinstance(mask, LazyMask):
        return mask
    if not isinstance(mask, torch.Tensor) or mask.ndim != 2:
        return None
    return Numbers(mask)


def as_ids(given: Any) -> Numbers | None:
    """Return token ids, where that is what is given."""
    import torch

    if not isinstance(given, torch.Tensor) or given.ndim != 2 or given.is_floating_point():
        return None
    return Numbers(given.to(torch.int64))
