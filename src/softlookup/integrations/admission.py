"""Which models can be recorded or watched, and what is known of each by itself."""

import functools
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from softlookup import packages
from softlookup.errors import DtypeError, OptionError, PackageError
from softlookup.integrations.licenses import license_of
from softlookup.integrations.names import name_of
from softlookup.integrations.places import Place
from softlookup.integrations.routing import routed_modules

_NAMED = 4  # parts of a model that an error names
OLDEST = 5  # transformers; before it, BERT and its relatives cannot be recorded


def check_version() -> None:
    """Refuse to go on without a transformers library that can be recorded.

    Raises
    ------
    PackageError
        Where it is not installed, or too old.
    """
    advice = 'pip install "softlookup[transformers]".'
    transformers = packages.load("transformers", "to run a model", advice)
    if int(transformers.__version__.partition(".")[0]) < OLDEST:
        raise PackageError(
            "transformers", f"must be {OLDEST}.0 or newer, where models can be recorded; it is "
            f"{transformers.__version__}. pip install --upgrade transformers."
        )  # fmt: skip


def check_model(model: Any) -> None:
    """Refuse a model that cannot be recorded.

    Raises
    ------
    DtypeError, OptionError
        By name, with what to do.
    """
    import torch
    from transformers import PreTrainedModel

    if not isinstance(model, PreTrainedModel):
        raise _no_model(model)
    name = type(model).__name__
    if model.training:
        raise OptionError("model", f"must be in evaluation mode; {name} trains. Call model.eval().")
    if any(one.device == torch.device("meta") for one in model.parameters()):
        raise OptionError(
            "model", f"must hold its weights; some of {name} are on the meta device. Load it "
            "without device_map, or onto one device."
        )  # fmt: skip
    if not model._can_set_attn_implementation():  # noqa: SLF001 (there is no public way to ask)
        raise unrouted(model)


def _no_model(given: Any) -> DtypeError:
    """Return the error for what is no model of transformers, but may hold one."""
    import torch
    from transformers import PreTrainedModel

    need, parts = f"must be a transformers model; got {type(given).__name__}", []
    if isinstance(given, torch.nn.Module):
        parts = list(_outermost(given, lambda one: isinstance(one, PreTrainedModel)))
    if not parts:
        return DtypeError("model", f"{need}. Load one with AutoModel.from_pretrained(...).")
    held = " and ".join(dict.fromkeys(type(given.get_submodule(path)).__name__ for path in parts))
    return DtypeError("model", f"{need}, which holds {held}. {_give(parts)}")


def unrouted(model: Any) -> OptionError:
    """Return the error for a model whose attention does not come by."""
    from transformers import PreTrainedModel

    name = type(model).__name__
    if not _has_attention(model.modules()):
        return OptionError(
            "model", f"must have attention, which is what is looked at; {name} has none: no module "
            "of it is called so. Choose another family, such as BERT, GPT-2 or Llama."
        )  # fmt: skip
    own = f"must send its attention through transformers' AttentionInterface; {name} does its own"
    parts = list(
        _outermost(
            model,
            lambda one: (
                one is not model
                and isinstance(one, PreTrainedModel)
                and _has_attention(routed_modules(one))
            ),
        )
    )
    if parts:
        return OptionError("model", f"{own} in some of its parts. {_give(parts)}")
    return OptionError(
        "model", f"{own}, where nothing can be recorded. A newer transformers may route it; else "
        "choose another family, such as BERT, GPT-2 or Llama."
    )  # fmt: skip


def _has_attention(modules: Iterable[Any]) -> bool:
    return any(re.search("attention|attn", type(one).__name__, re.IGNORECASE) for one in modules)


def _outermost(module: Any, wanted: Callable[[Any], bool], path: str = "") -> Iterator[str]:
    """Return the paths of modules that are wanted, without those within them."""
    if wanted(module):
        yield path
        return
    for name, child in module.named_children():
        yield from _outermost(child, wanted, f"{path}.{name}" if path else name)


def _give(parts: Sequence[str]) -> str:
    """Return what to do with models that are held at some paths, as Python writes them."""
    spelled = [
        "model"
        + "".join(f"[{name}]" if name.isdecimal() else f".{name}" for name in one.split("."))
        for one in parts[:_NAMED]
    ]
    return f"Give {' or '.join(spelled)} instead; watched, it may be called through the whole."


def chosen_numbers(numbers: Iterable[int] | None, argument: str) -> Sequence[int] | None:
    """Return the numbers of layers or heads that are chosen, sorted; None for all.

    Raises
    ------
    OptionError
        Where there are none, or something else among them.
    """
    if numbers is None:
        return None
    given = listed(numbers, argument)
    if not given:
        raise OptionError(argument, f"must name at least one; got none. Leave {argument} out.")
    chosen = {-1 if number is None else number for number in map(as_integer, given)}
    if min(chosen) < 0:
        raise OptionError(argument, f"must be numbers from 0; got {given}. E.g. {argument}=[0].")
    return sorted(chosen)


def listed(given: Any, argument: str) -> list[Any]:
    """Return what is given, one or several, as a list.

    Raises
    ------
    OptionError
        Where it is neither.
    """
    if isinstance(given, str) or as_integer(given) is not None:
        return [given]
    try:
        return [one.item() if isinstance(one, np.generic) else one for one in given]
    except TypeError:
        raise OptionError(
            argument, f"must be a number, or a list of them; got {given!r}. E.g. {argument}=[0]."
        ) from None  # fmt: skip


def as_integer(given: Any) -> int | None:
    """Return a number that counts as an int; None for anything else, bools too."""
    if isinstance(given, (bool, np.bool_)):
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


def check_heads(heads: Sequence[int], every: int, path: str) -> None:
    """Refuse sorted heads that the layer at `path` has not; it has `every`.

    Raises
    ------
    OptionError
        With the last of them.
    """
    if heads and heads[-1] >= every:
        raise OptionError(
            "heads", f"must lie in 0 ... {every - 1}, the heads of {path}; got {heads[-1]}. Leave "
            "out what is not there."
        )  # fmt: skip


def check_layers(numbers: Sequence[int], seen: Iterable[Place]) -> None:
    """Refuse numbers of layers that no call had.

    Raises
    ------
    OptionError
        With those that are there.
    """
    there = sorted({place.number for place in seen})
    for number in numbers:
        if number not in there:
            raise OptionError(
                "layers", f"must be attention layers of the model, {_spans(there)}; got {number}. "
                "Leave out what is not there."
            )  # fmt: skip


def check_paths(asked: Sequence[str], found: Sequence[str]) -> None:
    """Refuse paths of modules in which no attention was called.

    Raises
    ------
    OptionError
        With the first of them.
    """
    for path in asked:
        if path not in found:
            raise OptionError(
                "layers", f"must hold attention that is called; {path!r} made no attention call. "
                "Leave out what has none."
            )  # fmt: skip


def _spans(numbers: Sequence[int]) -> str:
    """Write sorted numbers with runs as ``0 ... 5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a} ... {b}" for a, b in runs)


def apart_in(module: Any) -> Iterator[str]:
    """Return the classes in a model that do their own attention, which is not recorded."""
    from transformers import PreTrainedModel

    kind = type(module)
    if isinstance(module, PreTrainedModel) and not module._can_set_attn_implementation():  # noqa: SLF001 (as above)
        yield kind.__name__
    elif "Attention" in kind.__name__ and not isinstance(module, PreTrainedModel):
        kinds: set[Any] = {type(one) for one in module.modules()}
        if not any(map(_sends, kinds)):
            yield kind.__name__
    else:
        for child in module.children():
            yield from apart_in(child)


@functools.cache
def _sends(kind: Any) -> bool:
    """Return whether modules of a class send their attention through the interface."""
    verbs = [
        inspect.unwrap(one)
        for base in kind.__mro__ for one in vars(base).values()
        if inspect.isfunction(one)
    ]  # fmt: skip
    return any("ALL_ATTENTION_FUNCTIONS" in verb.__code__.co_names for verb in verbs)


def about_model(model: Any, said: Mapping[str, str], how: str) -> dict[str, str]:
    """Return what is known of a model by itself; its licence is not looked for where it is said."""
    import torch
    import transformers

    import softlookup

    dtype = str(model.dtype).removeprefix("torch.")
    apart = list(dict.fromkeys(apart_in(model)))
    do = "does its" if len(apart) == 1 else "do their"
    without = {"without": f"{', '.join(apart)}, which {do} own attention"} if apart else {}
    where = str(model.name_or_path)
    return {
        "model": name_of(where) or type(model).__name__,
        "license": said.get("license") or license_of(where, config=model.config),
        "made": f"{type(model).__name__}, {dtype}, {how} on {model.device.type}",
        **without,
        "versions": f"softlookup {softlookup.__version__}, transformers "
        f"{transformers.__version__}, torch {torch.__version__.partition('+')[0]}",
    }
