"""Watch a Hugging Face model's attention while it runs: `watch`."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from softlookup.errors import DtypeError, OptionError
from softlookup.integrations.admission import (
    about_model,
    as_integer,
    check_model,
    check_version,
    chosen_numbers,
    listed,
)
from softlookup.integrations.asking import Asked, as_labels, as_rows
from softlookup.integrations.tokenization import axis_reader
from softlookup.integrations.watcher import Chosen, Watcher
from softlookup.options import check_flag, names_checked
from softlookup.watched import Watched

COMPUTE = ("softlookup", "model")


@names_checked
def watch(
    model: Any,
    *,
    top: int | None = 8,
    entropy: bool = True,
    received: bool = True,
    sink: bool = False,
    max_score: bool = False,
    distance: bool = False,
    repeats: bool = False,
    groups: Any = None,
    from_rows: Any = None,
    facts: bool | None = True,
    layers: Any = None,
    heads: Iterable[int] | None = None,
    compute: str = "softlookup",
    keep: bool = False,
    tokenizer: Any = None,
    tokens: Any = None,
    progress: Callable[[int], None] | None = None,
) -> AbstractContextManager[Watched]:
    """Watch what every head of `model` reads while it runs, without a matrix of weights.

    ``with softlookup.watch(model) as seen: model(**inputs)``: any number of forward passes and
    calls of ``generate()``, each of which is a run of `seen`.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        In evaluation mode, on the CPU or on one GPU. Any that sends its attention through
        ``AttentionInterface``: BERT, GPT-2, Llama, Mistral, Gemma, T5, Whisper, ViT and many more;
        others are refused by name.
    top, entropy, received, sink, max_score, distance
        What is looked at, as in `Lookup.inspect`; None or False leaves it out. `sink` is asked of
        the layers that have learned sinks, `distance` where queries and keys are of one text.
    repeats : bool, default False
        Also what the tokens after earlier occurrences of a row's token get, and those occurrences:
        the summary's `induction` and `duplicate`. Needs the ids of the whole text; a pass that has
        none, or goes on from the cache of another, is refused. Padding in them reads nothing.
    groups : integers of shape (tokens,) or (batch, tokens), or a function, optional
        A label 0 ... 255 for each token position of the input, negative for none: each row's share
        per label. ``generate()`` takes more of them, for the tokens that it writes, which have none
        otherwise. A function of the input's token ids, an array of int64 of shape (batch, tokens),
        returns labels for all of them; it is asked in each pass, so that texts may differ in length
        and what ``generate()`` has written so far has labels, too.
    from_rows : slice, range, list of int or bools, or a function, optional
        Only with `received`: the token positions whose reading counts, from 0. Each must be there
        when its run ends; a slice may reach beyond. A function is asked as that of `groups` is, of
        the ids of the text that the rows are of.
    facts : bool, default True
        False (or None) is the control: the same arithmetic, nothing is looked at.
    layers : iterable of int or str, optional
        By number, or by module path; all where left out. The others go through the same kernels.
    heads : iterable of int, optional
        By number; all where left out. Their facts then take a pass of their own.
    compute : {"softlookup", "model"}
        Who answers: softlookup, with the facts in the same pass; or the model's own attention, bit
        for bit, after which softlookup looks in a second pass. Three rows of each layer's first
        call are compared, except on a GPU, and an answer that is not by what is looked at is
        refused.
    keep : bool, default False
        Also keep queries, keys and values, for grids, traces and maps.
    tokenizer : transformers tokenizer, optional
        Reads texts from token ids. Without it and `tokens`, positions are shown.
    tokens : list of str, or one list for each batch entry, optional
        Texts of the first run's input.
    progress : callable, optional
        Told the number of lookups seen so far, after each.

    Returns
    -------
    context manager
        Gives a `Watched`, which can be read during the block and after it.

    Raises
    ------
    PackageError
        Without transformers 5.0 or newer.
    OptionError, ShapeError, DtypeError
        Where something cannot be watched faithfully; one sentence says what and why.

    Notes
    -----
    The model's answers are softlookup's: bit for bit those with ``facts=None``, and those of the
    model's own attention within the error budget of its dtype. Gradients reach the model as ever;
    facts are detached. What the model or a hook gets for a mask is what it gets unwatched; whatever
    is done to it counts for the answer and for what is seen. Masks stay rules, so that memory grows
    with the tokens, not with their square, unless a mask over pairs is given, or one is changed.
    """
    check_version()
    check_model(model)
    _check_device(model)
    if compute not in COMPUTE:
        raise OptionError(
            "compute", f'must be "softlookup" or "model", who answers; got {compute!r}. Leave it '
            "out for softlookup."
        )  # fmt: skip
    flags = {
        "entropy": entropy,
        "received": received,
        "max_score": max_score,
        "sink": sink,
        "distance": distance,
        "repeats": repeats,
    }
    asked = _as_asked(flags, top, groups, from_rows)
    watched = Watched(
        about_model(model, {}, f"watched, {compute} answered"),
        read=None if tokenizer is None else _reader(tokenizer),
        tokens=tokens,
    )
    return Watcher(
        model,
        watched,
        asked=asked if facts is not None and check_flag(facts, "facts") else None,
        chosen=_as_chosen(model, layers, heads),
        own=compute == "model",
        keep=check_flag(keep, "keep"),
        progress=_callable(progress, "progress"),
    )


def _callable(given: Any, name: str) -> Any:
    if given is not None and not callable(given):
        raise DtypeError(
            name, f"must be a function of one number; got {type(given).__name__}. E.g. print."
        )  # fmt: skip
    return given


def _as_asked(flags: dict[str, Any], top: Any, groups: Any, from_rows: Any) -> Asked:
    """Check what is looked at, as far as it can be before a call comes."""
    checked = {name: check_flag(given, name) for name, given in flags.items()}
    if from_rows is not None and not checked["received"]:
        raise OptionError(
            "from_rows", "must come with received=True, which it shapes; got received=False. Ask "
            "for both."
        )  # fmt: skip
    count = as_integer(top)
    if top is not None and (count is None or count < 1):
        raise OptionError(
            "top",
            f"must be an integer from 1, which counts keys, or None; got {top!r}. E.g. top=8.",
        )
    sink, distance, repeats = (checked.pop(name) for name in ("sink", "distance", "repeats"))
    return Asked(
        {"top": count, **checked},
        sink,
        distance,
        from_rows if from_rows is None or callable(from_rows) else as_rows(from_rows),
        groups if groups is None or callable(groups) else as_labels(groups),
        repeats,
    )


def _check_device(model: Any) -> None:
    name, places = (
        type(model).__name__,
        dict.fromkeys(str(one.device) for one in model.parameters()),
    )
    if len(places) > 1:
        raise OptionError(
            "model", f"must lie on one device to be watched; {name} lies on {' and '.join(places)}."
            " Load it without device_map, or record it with capture()."
        )  # fmt: skip
    for place in places:
        if place.partition(":")[0] not in {"cpu", "cuda"}:
            raise OptionError(
                "model", f"must lie on the CPU or on a GPU of CUDA to be watched; {name} lies on "
                f'{place}. Call model.to("cpu"), or record it with capture().'
            )  # fmt: skip


def _as_chosen(model: Any, layers: Any, heads: Any) -> Chosen:
    """Return which layers and heads are looked at."""
    some = None if heads is None else tuple(chosen_numbers(heads, "heads") or ())
    if layers is None:
        return Chosen(None, (), some)
    given = listed(layers, "layers")
    paths = tuple(one for one in given if isinstance(one, str))
    there = dict(model.named_modules())
    for path in paths:
        if path not in there:
            raise OptionError(
                "layers", f"must be numbers, or paths of modules of {type(model).__name__}; got "
                f"{path!r}. print(model) shows them."
            )  # fmt: skip
    numbers = [one for one in given if not isinstance(one, str)]
    if paths and not numbers:
        return Chosen(frozenset(), paths, some)
    return Chosen(frozenset(chosen_numbers(numbers, "layers") or ()), paths, some)


def _reader(tokenizer: Any) -> Callable[[list[int], list[bool] | None], Any]:
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise DtypeError(
            "tokenizer", f"must be a tokenizer of transformers; got {type(tokenizer).__name__}. "
            "Load it with AutoTokenizer.from_pretrained(...)."
        )  # fmt: skip
    read = axis_reader(tokenizer)
    return lambda ids, seen: read(ids, [True] * len(ids) if seen is None else seen)
