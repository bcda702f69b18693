"""Record the attention of a Hugging Face model: `capture`.

The model runs once, on its own fast path, and gives the answer that it gives with sdpa, bit for
bit; every attention call's queries, keys and values are kept, with whatever shaped the scores.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from softlookup.captures.capture import Capture, Layer, short_name
from softlookup.errors import DtypeError, OptionError
from softlookup.integrations.admission import (
    about_model,
    check_layers,
    check_model,
    check_version,
    chosen_numbers,
    unrouted,
)
from softlookup.integrations.labels import Axes
from softlookup.integrations.places import Places, name_parts
from softlookup.integrations.recording import Recorder, recording

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
    check_model(model)
    chosen = chosen_numbers(layers, "layers"), chosen_numbers(heads, "heads")
    check_lengths(model.config, type(model).__name__, given)
    places = Places({id(module): path for path, module in model.named_modules()})
    recorder = Recorder(places, *chosen, progress, given)
    _run(model, given, recorder)
    _check_records(model, recorder)
    axes = Axes(given, tokens, tokenizer, getattr(inputs, "encodings", None))
    known = {**about_model(model, about or {}, "one forward pass"), **(about or {})}
    return Capture(
        title or f"{short_name(known)}{axes.said}", tuple(_layers(recorder, axes)), known
    )


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
        raise unrouted(model)
    check_layers(recorder.layers or (), recorder.seen)


def _layers(recorder: Recorder, axes: Axes) -> list[Layer]:
    """Return the layers of each part together, in the order of the calls."""
    parts = name_parts(recorder.seen)
    made: dict[str, list[Layer]] = {part: [] for part in parts.values()}
    for place, look, heads in recorder.records:
        part = parts[place.stack, place.cross]
        queries, keys = axes.of(part, look.problem)
        made[part].append(Layer(look, queries, keys, place.path, place.number, part, heads))
    return [layer for layers in made.values() for layer in layers]
