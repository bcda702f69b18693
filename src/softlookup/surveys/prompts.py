"""Prompts: one text at a time through a model, and what each of its heads did with it.

One at a time, since a model's own products give a row other bits beside other rows of a batch.
"""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softlookup.errors import FileError, OptionError
from softlookup.integrations import models
from softlookup.integrations.admission import check_model
from softlookup.integrations.models import Found
from softlookup.integrations.tokenization import speller
from softlookup.integrations.watching import watch
from softlookup.surveys.block import Block, Told, block_of, rows_of
from softlookup.surveys.corpus import Line
from softlookup.surveys.lines import Prompt, Span, read_line
from softlookup.surveys.settings import Settings
from softlookup.tokens import readable

_ENDINGS = frozenset({".json", ".safetensors", ".gguf", ".model", ".txt", ".jinja"})


def fingerprint(found: Found) -> str:
    """Return a SHA-256 over the files of a model: names and bytes of weights, settings, tokenizer.

    Raises
    ------
    FileError
        Where one cannot be read.
    """
    folder = Path(found.where)
    names = [found.gguf] if found.gguf else sorted(
        one.name for one in folder.iterdir() if one.suffix in _ENDINGS and one.is_file()
    )  # fmt: skip
    whole = hashlib.sha256()
    try:
        for name in names:
            with (folder / name).open("rb") as stream:
                one = hashlib.file_digest(stream, "sha256")
            whole.update(f"{name}\n{one.hexdigest()}\n".encode())
    except OSError as error:
        raise FileError(
            readable(found.name), f"cannot be read: {error.strerror}. Check the folder."
        ) from error
    return whole.hexdigest()


def check_kind(config: Any) -> None:
    """Refuse a model that reads no text on its own.

    Raises
    ------
    OptionError
        Where it has an encoder and a decoder.
    """
    if config.is_encoder_decoder:
        raise OptionError(
            "model", "must read one text; this one has a decoder beside its encoder, which has a "
            "text of its own. Watch it with sl.watch(model)."
        )  # fmt: skip


class Reader(NamedTuple):
    """A model, ready to read texts.

    Attributes
    ----------
    model, tokenizer : objects of transformers
    most : int
        Tokens that it has positions for.
    vocabulary : int
        Tokens that it knows.
    spell : callable
        From token ids to their texts.
    """

    model: Any
    tokenizer: Any
    most: int
    vocabulary: int
    spell: Callable[[Sequence[int]], tuple[str, ...]]


def load_reader(found: Found) -> Reader:
    """Load a model and its tokenizer.

    Raises
    ------
    FileError, OptionError, PackageError
        As `load_weights`, and where it cannot be watched.
    """
    config = models.load_config(found)
    check_kind(config)
    tokenizer = models.load_tokenizer(found)
    model = models.load_weights(found, config)
    check_model(model)
    text = config.get_text_config()
    most = getattr(text, "max_position_embeddings", None)
    return Reader(
        model,
        tokenizer,
        most if isinstance(most, int) and most > 0 else 2**31,
        model.get_input_embeddings().weight.shape[0],
        speller(tokenizer),
    )


def read_lines(reader: Reader, settings: Settings, lines: Iterable[Line]) -> Block:
    """Return what the heads of a model did with each line that holds a text; others are skipped."""
    told, skipped = [], []
    for line in lines:
        prompt = read_line(line, settings.field)
        found = prompt if isinstance(prompt, str) else _read(reader, settings, line.number, prompt)
        if isinstance(found, str):
            skipped.append((line.number, found))
        else:
            told.append(found)
    return block_of(told, skipped)


def _read(reader: Reader, settings: Settings, number: int, prompt: Prompt) -> Told | str:
    """Return what the heads did with one text, or why it is skipped."""
    import torch

    inputs = reader.tokenizer(prompt.text, return_tensors="pt")
    count = int(inputs["input_ids"].shape[1])
    most = min(reader.most, settings.longest or reader.most)
    if count == 0:
        return "must hold at least one token; it has none"
    if count > most:
        return f"must have at most {most:,} tokens; it has {count:,}"
    if int(inputs["input_ids"].max()) >= reader.vocabulary:
        return f"must hold tokens below {reader.vocabulary:,}, those of the model; it has others"
    labels = _labels_of(reader.tokenizer, prompt, count)
    if isinstance(labels, str):
        return labels
    looking = watch(
        reader.model,
        top=None,
        distance=True,
        repeats=True,
        groups=labels,
        layers=settings.layers,
        heads=settings.heads,
        tokens=list(reader.spell(inputs["input_ids"][0].tolist())),
    )
    try:
        with torch.no_grad(), looking as seen:
            reader.model(**inputs, **without_cache(reader.model))
    except IndexError:
        return f"must fit the model's positions; its {count:,} tokens do not"
    layers = tuple(rows_of(layer, settings.top) for layer in seen.layers)
    return Told(number, prompt.id, count, layers)


def without_cache(model: Any) -> dict[str, bool]:
    """Return what keeps a model from making a cache that nobody reads."""
    known = inspect.signature(model.forward).parameters
    return {"use_cache": False} if "use_cache" in known else {}


def _labels_of(tokenizer: Any, prompt: Prompt, count: int) -> list[int] | str | None:
    """Return a label for each token, -1 for none, or why they cannot be told."""
    given = prompt.labels
    if given is None:
        return None
    if isinstance(given[0], Span):
        return _of_spans(tokenizer, prompt, count)
    if len(given) != count:
        return f"'groups' must have a label for each of {count:,} tokens; it has {len(given):,}"
    return [int(label) for label in given]


def _of_spans(tokenizer: Any, prompt: Prompt, count: int) -> list[int] | str:
    """Return for each token the label of its first character that has one, -1 where none has.

    Where spans overlap the first of them counts.
    """
    if not getattr(tokenizer, "is_fast", False):
        return "'groups' must be labels of tokens; this tokenizer does not tell characters"
    where = tokenizer(prompt.text, return_offsets_mapping=True)["offset_mapping"]
    characters = np.full(len(prompt.text), -1)
    covered = np.zeros(len(prompt.text), bool)
    for start, stop in where:
        covered[start:stop] = True
    for span in reversed(prompt.labels or ()):
        if isinstance(span, Span):
            if not covered[span.start : span.stop].any():
                return f"'groups' must name characters of tokens; {list(span)} has none of any"
            characters[span.start : span.stop] = span.label
    labels = [-1] * count
    for at, (start, stop) in enumerate(where):
        known = characters[start:stop][characters[start:stop] >= 0]
        labels[at] = int(known[0]) if len(known) else -1
    for span in prompt.labels or ():
        if isinstance(span, Span) and span.label >= 0 and span.label not in labels:
            return (
                f"'groups' must label a token by each span; other spans have those of {list(span)}"
            )
    return labels
