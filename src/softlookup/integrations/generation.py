"""What generate() may be asked for while a model is watched."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from softlookup.errors import OptionError

_TAKES_BACK = "takes tokens back. Generate without it."
_TWO_TEXTS = "runs a second text between the steps of the first. Generate without it."
_OWN = "has Whisper go over to attention that does not come by. Generate without it."
_BATCHES = "packs texts in a way that cannot be followed. Call generate()."


def check_generation(
    model: Any, inner: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Refuse what reorders or takes back tokens, or mixes texts, while they are generated.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    inner : callable
        Its generate().
    args, kwargs
        What it is called with.

    Raises
    ------
    OptionError
        By name.
    """
    said = _Said(model, inner, args, kwargs)
    beams = said("num_beams") or 1
    if beams > 1:
        raise OptionError(
            "num_beams", f"must be 1 while a model is watched, since beams change places between "
            f"steps; got {beams}. Generate with num_beams=1, or generate first and watch one "
            "forward over the whole text."
        )  # fmt: skip
    for name in ("assistant_model", "prompt_lookup_num_tokens", "assistant_early_exit"):
        if said(name):
            raise _left_out(name, f"assisted generation {_TAKES_BACK}")
    if said("guidance_scale") not in {None, 1} and _is_the_librarys(model):
        raise _left_out("guidance_scale", f"guidance {_TWO_TEXTS}")
    if said("return_token_timestamps"):
        raise _left_out("return_token_timestamps", f"aligning tokens with the sound {_OWN}")
    if said("cache_implementation") == "paged":
        raise _left_out("cache_implementation", f"a paged cache {_BATCHES}")


def reads_in_chunks(
    model: Any, inner: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> bool:
    """Return whether generate() reads what it is given in several passes."""
    return bool(_Said(model, inner, args, kwargs)("prefill_chunk_size"))


def no_batching(*_: Any, **__: Any) -> None:
    """Stand where continuous batching is asked for.

    Raises
    ------
    OptionError
        Always.
    """
    raise _left_out("generate_batch", f"continuous batching {_BATCHES}")


def _left_out(name: str, why: str) -> OptionError:
    return OptionError(name, f"must be left out while a model is watched, since {why}")


def _is_the_librarys(model: Any) -> bool:
    """Return whether a model has no generate() of its own, which may guide in one batch."""
    from transformers import GenerationMixin

    return type(model).generate is GenerationMixin.generate


class _Said:
    """What generate() is asked for by name: by itself, else in the configurations that it reads."""

    def __init__(
        self,
        model: Any,
        inner: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> None:
        try:
            bound = inspect.signature(inner).bind_partial(*args, **kwargs).arguments
        except TypeError:  # its own complaint is the better one
            bound = {}
        rest = next((one for one in bound.values() if isinstance(one, dict)), {})
        self._given = {**bound, **rest, **kwargs}
        self._configs = [self._given.get("generation_config"), model.generation_config]

    def __call__(self, name: str) -> Any:
        if name in self._given:
            return self._given[name]
        found = (getattr(config, name, None) for config in self._configs if config is not None)
        return next((one for one in found if one is not None), None)
