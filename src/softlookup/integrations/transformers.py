"""Record the attention of a Hugging Face model: `capture`.

The model runs once, on its own fast path, and gives the answer that it gives with sdpa, bit for
bit; every attention call's queries, keys and values are kept, with whatever shaped the scores.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from softlookup.captures.capture import Capture, Layer
from softlookup.errors import DtypeError, OptionError, PackageError
from softlookup.integrations.labels import Axes
from softlookup.integrations.licenses import license_of
from softlookup.integrations.places import Places, name_parts
from softlookup.integrations.recording import Recorder, recording

OLDEST = 5  # transformers; before it, BERT and its relatives cannot be recorded
OF_GENERATION = ("do_sample", "max_length", "max_new_tokens", "num_beams", "num_return_sequences")


def capture(
    model: Any,
    inputs: Any,
    *,
    tokens: Any = None,
    tokenizer: Any = None,
    layers: Iterable[int] | None = None,
    heads: Iterable[int] | None = None,
    title: str | None = None,
    about: Mapping[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Capture:
    """Run `model` once over `inputs` and return every attention lookup that it made.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        In evaluation mode. Any that sends its attention through ``AttentionInterface``: BERT,
        GPT-2, Llama, Mistral, Gemma, T5, Whisper, ViT and many more; others are refused by name.
    inputs : BatchEncoding, mapping of tensors, or tensor of token ids
        What a tokenizer returns with ``return_tensors="pt"``; what `model` is called with.
    tokens : list of str, or one list for each batch entry, optional
        Texts of the tokens.
    tokenizer : transformers tokenizer, optional
        Reads the texts from the token ids. Without it and `tokens`, positions are shown.
    layers, heads : iterable of int, optional
        Which to keep, by the model's own numbers; all where left out. Chosen before anything is
        kept, so that memory is for those alone.
    title : str, optional
        A few words.
    about : mapping of str to str, optional
        Added to what is known by itself: ``model``, ``license``, ``made``, ``versions``.
    progress : callable, optional
        Told the number of lookups kept so far, after each.

    Returns
    -------
    Capture
        A layer for each attention call, in the model's dtype: encoder, then decoder, then cross.

    Raises
    ------
    PackageError
        Without transformers 5.0 or newer.
    OptionError, ShapeError, DtypeError
        Where something cannot be recorded faithfully; one sentence says what and why.

    Notes
    -----
    The answer is the one with sdpa, to every bit, whichever ``attn_implementation`` the model was
    loaded with; that one may round otherwise, and is back afterwards. Learned sinks and softcaps,
    which sdpa drops or refuses, are computed by `Lookup.attend`, within the error budget of their
    dtype. A query that sees no key (left padding) has weights 0 here; eager attention spreads 1/N
    over keys it must not see.

    The licence is what the model's README, configuration or ``.gguf`` file states, else "not
    stated".
    """
    check_version()
    given = _as_inputs(inputs)
    _check_model(model)
    chosen = _chosen(layers, "layers"), _chosen(heads, "heads")
    check_lengths(model.config, type(model).__name__, given)
    places = Places({id(module): path for path, module in model.named_modules()})
    recorder = Recorder(places, *chosen, progress)
    _run(model, given, recorder)
    _check_records(model, recorder)
    axes = Axes(given, tokens, tokenizer, getattr(inputs, "encodings", None))
    return Capture(
        title or f"{type(model).__name__}{axes.said}",
        tuple(_layers(recorder, axes)),
        {**_about(model, about or {}), **(about or {})},
    )


def check_version() -> None:
    """Refuse to go on without a transformers library that can be recorded.

    Raises
    ------
    PackageError
        Where it is not installed, or too old.
    """
    try:
        import transformers
    except ImportError as error:
        raise PackageError(
            "transformers", 'must be installed to run a model; it is not. pip install '
            '"softlookup[transformers]".'
        ) from error  # fmt: skip
    if int(transformers.__version__.partition(".")[0]) < OLDEST:
        raise PackageError(
            "transformers", f"must be {OLDEST}.0 or newer, where models can be recorded; it is "
            f"{transformers.__version__}. pip install --upgrade transformers."
        )  # fmt: skip


def _as_inputs(inputs: Any) -> dict[str, Any]:
    import torch
    from transformers.cache_utils import Cache

    if isinstance(inputs, torch.Tensor):
        inputs = {"input_ids": inputs if inputs.ndim > 1 else inputs[None]}
    if not isinstance(inputs, Mapping) or not inputs:
        raise DtypeError(
            "inputs", "must be what a tokenizer returns, or a tensor of token ids; got "
            f'{type(inputs).__name__}. Call tokenizer(text, return_tensors="pt").'
        )  # fmt: skip
    given = dict(inputs)
    for name, one in given.items():
        if name in OF_GENERATION:
            raise OptionError(
                "inputs", f"must be for one forward pass; {name!r} is for generate(), whose steps "
                "and beams are not recorded. Generate first, then capture the whole text."
            )  # fmt: skip
        if isinstance(one, Cache):
            raise OptionError(
                "inputs", f"must hold the whole text; {name!r} is a cache of earlier steps. Leave "
                "it out and pass all tokens."
            )  # fmt: skip
        if isinstance(one, list):
            raise DtypeError(
                "inputs", f'must hold tensors; {name!r} is a list. Pass return_tensors="pt".'
            )
    return given


def _check_model(model: Any) -> None:
    import torch
    from transformers import PreTrainedModel

    if not isinstance(model, PreTrainedModel):
        raise DtypeError(
            "model", f"must be a transformers model; got {type(model).__name__}. Load one with "
            "AutoModel.from_pretrained(...)."
        )  # fmt: skip
    name = type(model).__name__
    if model.training:
        raise OptionError("model", f"must be in evaluation mode; {name} trains. Call model.eval().")
    if any(one.device == torch.device("meta") for one in model.parameters()):
        raise OptionError(
            "model", f"must hold its weights; some of {name} are on the meta device. Load it "
            "without device_map, or onto one device."
        )  # fmt: skip
    if not model._can_set_attn_implementation():  # noqa: SLF001 (there is no public way to ask)
        raise _unrouted(name)


def _unrouted(name: str) -> OptionError:
    return OptionError(
        "model", f"must send its attention through transformers' AttentionInterface; {name} does "
        "its own, where nothing can be recorded. A newer transformers may route it; else choose "
        "another family, such as BERT, GPT-2 or Llama."
    )  # fmt: skip


def _chosen(numbers: Iterable[int] | None, argument: str) -> Sequence[int] | None:
    if numbers is None:
        return None
    chosen = [numbers] if isinstance(numbers, int) else sorted(set(numbers))
    if not chosen:
        raise OptionError(argument, f"must name at least one; got none. Leave {argument} out.")
    if any(isinstance(one, bool) or not isinstance(one, int) for one in chosen) or chosen[0] < 0:
        raise OptionError(argument, f"must be numbers from 0; got {chosen}. E.g. {argument}=[0].")
    return chosen


def check_lengths(config: Any, name: str, given: Mapping[str, Any]) -> None:
    """Refuse a text that is longer than what the model called `name` has positions for.

    Raises
    ------
    OptionError
        With both numbers.
    """
    text = config.get_text_config()
    most = getattr(text, "max_position_embeddings", None)
    decodes = getattr(text, "max_target_positions", None) or most
    for side, limit in (("input_ids", most), ("decoder_input_ids", decodes)):
        ids = given.get(side)
        if ids is not None and isinstance(limit, int) and ids.shape[1] > limit > 0:
            raise OptionError(
                "inputs", f"must have at most {limit:,} tokens, the positions of {name}; {side} "
                f"has {ids.shape[1]:,}. Shorten the text."
            )  # fmt: skip


def _run(model: Any, given: Mapping[str, Any], recorder: Recorder) -> None:
    import torch

    known = inspect.signature(model.forward).parameters
    plain = {"use_cache": False} if "use_cache" in known and "use_cache" not in given else {}
    device = model.device
    moved = {name: one.to(device) if hasattr(one, "to") else one for name, one in given.items()}
    try:
        with torch.no_grad(), recording(model, recorder):
            model(**moved, **plain)
    except IndexError as error:
        raise OptionError(
            "inputs", f"must stay within the vocabulary and the positions of "
            f"{type(model).__name__}; it looked up one that is not there ({error}). Use its own "
            "tokenizer, or shorten the text."
        ) from error  # fmt: skip


def _check_records(model: Any, recorder: Recorder) -> None:
    if not recorder.seen:
        raise _unrouted(type(model).__name__)
    there = sorted({place.number for place in recorder.seen})
    for number in recorder.layers or ():
        if number not in there:
            raise OptionError(
                "layers", "must be attention layers of the model, "
                f"{_spans(there)}; got {number}. Leave out what is not there."
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


def _layers(recorder: Recorder, axes: Axes) -> list[Layer]:
    """Return the layers of each part together, in the order of the calls."""
    parts = name_parts(recorder.seen)
    made: dict[str, list[Layer]] = {part: [] for part in parts.values()}
    for place, look, heads in recorder.records:
        part = parts[place.stack, place.cross]
        queries, keys = axes.of(part, look.problem)
        made[part].append(Layer(look, queries, keys, place.path, place.number, part, heads))
    return [layer for layers in made.values() for layer in layers]


def _about(model: Any, said: Mapping[str, str]) -> dict[str, str]:
    """Return what is known of a model by itself; its licence is not looked for where it is said."""
    import torch
    import transformers

    import softlookup

    dtype = str(model.dtype).removeprefix("torch.")
    apart = dict.fromkeys(
        type(module).__name__
        for module in model.modules()
        if isinstance(module, transformers.PreTrainedModel)
        and not module._can_set_attn_implementation()  # noqa: SLF001 (as above)
    )
    without = "".join(f"; without {one}, which does its own attention" for one in apart)
    hub_name = str(model.name_or_path)  # a path is its owner's, and stays with them
    known = bool(hub_name) and not Path(hub_name).is_absolute() and not Path(hub_name).exists()
    return {
        "model": hub_name if known else type(model).__name__,
        "license": said.get("license") or license_of(hub_name, config=model.config),
        "made": f"{type(model).__name__}, {dtype}, one forward pass on {model.device.type}"
        f"{without}",
        "versions": f"softlookup {softlookup.__version__}, transformers "
        f"{transformers.__version__}, torch {torch.__version__.partition('+')[0]}",
    }
