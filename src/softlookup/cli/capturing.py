"""What ``softlookup capture`` does: find the model, say how large, run it once, write."""

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.captures import Capture
from softlookup.cli.exporting import numbers
from softlookup.cli.terminal import progress_bar
from softlookup.errors import FileError, OptionError
from softlookup.numerals import counted
from softlookup.shelf import Item, find, given
from softlookup.tokens import listed, readable
from softlookup.writing import check_writable

if TYPE_CHECKING:
    from softlookup.integrations.models import Found, Sizes

LARGEST = 2 * 2**30  # bytes that are written without being asked twice
_SLICE = re.compile(r"([0-9]{1,6}):([0-9]{1,6})", re.ASCII)
_FILE_NAME = re.compile(r"\S+\.(txt|md|rst|json|html|py)")


def capture(
    model: str,
    text: str,
    path: str,
    layers: str | None = None,
    heads: str | None = None,
    title: str | None = None,
    target: str | None = None,
    *,
    yes: bool = False,
) -> None:
    """Run the model over the text, and write what its attention did to `path`."""
    file = Path(path)
    if file.suffix.lower() != ".safetensors":
        raise FileError(
            readable(path), f"must end in .safetensors; it ends in "
            f"{readable(file.suffix or file.name)!r}. Write -o {file.stem or 'run'}.safetensors."
        )  # fmt: skip
    if not os.path.isdir(file.parent):  # noqa: PTH112 (says no where Path.is_dir would raise)
        raise FileError(readable(path), "must lie in a folder; there is none. Make it first.")
    check_writable(file)  # before the model has run, not after
    made = record(model, text, layers, heads, title, target, yes=yes)
    made.save(file)
    problem = made.layers[0].look.problem
    print(
        f"wrote {readable(path)}: {file.stat().st_size:,} bytes, "
        f"{counted(len(made.layers), 'layer')} of {counted(problem.heads, 'head')}"
    )
    print(f"next  softlookup show {shlex.quote(readable(path))}")


def record(
    name: str,
    text: str,
    layers: str | None = None,
    heads: str | None = None,
    title: str | None = None,
    target: str | None = None,
    *,
    yes: bool = False,
) -> Capture:
    """Return the capture of the model called `name` over a text, or over what a file holds."""
    from softlookup.integrations import models
    from softlookup.integrations import transformers as recorder
    from softlookup.integrations.admission import check_version

    check_version()
    _quieten()
    words = read_text(text)
    some = {"layers": spans(layers, "layers"), "heads": spans(heads, "heads")}
    found = models.find_model(name)
    with working(f"reading {found.name}"):
        config, tokenizer = models.load_config(found), models.load_tokenizer(found)
    inputs = _inputs(tokenizer, config, words, target)
    size = models.sizes(config, int(inputs["input_ids"].shape[1]), **some)
    recorder.check_lengths(config, found.name, inputs)
    print(f"{found.name}: {size}", flush=True)
    if not yes:
        _check_amount(size)
    model, about = _load(found, config)
    with progress_bar("layer", size.calls) as advance:
        return recorder.capture(
            model,
            inputs,
            tokenizer=tokenizer,
            **some,
            title=title or f"{found.name}: {listed(words.strip())}",
            about=about,
            progress=advance,
        )


def _load(found: "Found", config: Any) -> tuple[Any, dict[str, str]]:
    """Return the model, and what its capture says of where it comes from."""
    from softlookup.integrations import models
    from softlookup.integrations.licenses import license_of

    with working(f"loading {found.name}"):
        model = models.load_weights(found, config)
        stated = license_of(found.where, found.gguf, config)
    return model, {
        "model": found.name, "license": stated, "origin": "A text given on the command line."
    }  # fmt: skip


def _check_amount(size: "Sizes") -> None:
    if size.bytes > LARGEST:
        raise OptionError(
            "layers", f"should be chosen: all that was asked for is {size.amount}. Write e.g. "
            f"--layers 0,{size.layers // 2}, or --yes to take it all."
        )  # fmt: skip


def item_of(
    what: str, model: str | None, text: str | None, layers: str | None, heads: str | None
) -> Item:
    """Return what ``show`` opens: a word, a file, or what a model does with a text.

    Raises
    ------
    OptionError
        Where `model` and `text` do not come together, or something else is named beside them.
    """
    if model is None and text is None:
        for argument, some in (("layers", layers), ("heads", heads)):
            if some is not None:
                raise OptionError(
                    argument, "goes with --model and --text. Leave it out; a page shows all."
                )
        return find(what)
    if model is None or text is None:
        missing = "model" if model is None else "text"
        raise OptionError(missing, f"goes with the other one. Add --{missing}.")
    if what != "lesson":
        raise OptionError(
            "model", f"is shown instead of a file; got {listed(what)!r}, too. Leave one out."
        )
    return given(record(model, text, layers, heads), "lookup")


def read_text(text: str) -> str:
    """Return the text in the file called `text`, or `text` itself where there is no such file.

    Raises
    ------
    FileError
        Where the file is no UTF-8 text, or `text` can only be meant as a file that is not there.
    OptionError
        Where there is nothing but space.
    """
    words = text if not text.strip() else _text_of_file(text)
    if words is None:
        if _FILE_NAME.fullmatch(text):
            raise FileError(
                readable(text), "must be a text, or a file; there is none. Check its name."
            )
        words = text
    if not words.strip():
        raise OptionError(
            "text", "must hold a few words; it is empty. Pass some, or the name of a file."
        )
    return words


def _text_of_file(text: str) -> str | None:
    """Return what the file called `text` holds; None where there is no such file."""
    # os.path says no where Path would raise: for what is longer than a name may be
    if os.path.isdir(text):  # noqa: PTH112
        raise FileError(readable(text), "must be a text, or a file; it is a folder. Name one.")
    if not os.path.isfile(text):  # noqa: PTH113
        return None
    try:
        return Path(text).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FileError(
            readable(text), f"must be UTF-8 text; byte {error.start} is not. Convert it first."
        ) from error
    except OSError as error:
        raise FileError(
            readable(text), f"cannot be read: {error.strerror}. Check its rights."
        ) from error


def spans(text: str | None, argument: str) -> list[int] | None:
    """Return the numbers in a list such as ``0,3-5`` or ``0:6``, whose end is not meant.

    Examples
    --------
    >>> spans("0,3-5,8:10", "layers")
    [0, 3, 4, 5, 8, 9]
    """
    if text is None:
        return None
    return numbers(_SLICE.sub(lambda found: f"{found[1]}-{int(found[2]) - 1}", text), argument)


def _inputs(tokenizer: Any, config: Any, words: str, target: str | None) -> Any:
    """Return the tokens of the text, and of a decoder's own text where the model has one."""
    inputs = tokenizer(words, return_tensors="pt")
    if inputs["input_ids"].shape[1] == 0:
        raise OptionError("text", "must hold at least one token; it is empty. Pass a few words.")
    if config.is_encoder_decoder:
        import torch

        start = getattr(config, "decoder_start_token_id", None)
        ids = [] if target is None else tokenizer(read_text(target))["input_ids"][:-1]
        inputs["decoder_input_ids"] = torch.tensor([[0 if start is None else start, *ids]])
    elif target is not None:
        raise OptionError(
            "target", "is what a decoder has written; this model has no encoder beside it. Leave "
            "--target out, and put it all into --text."
        )  # fmt: skip
    return inputs


def _quieten() -> None:
    """Keep the library's own notes off the terminal."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Say what takes long, and keep the library's own bars off the terminal meanwhile."""
    from rich.console import Console

    with Console(file=sys.stderr).status(readable(what)), contextlib.redirect_stderr(io.StringIO()):
        yield
