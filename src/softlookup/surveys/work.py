"""Work: what a worker does with some lines. Each process loads the model once.

What reaches a worker and what it gives back are plain numbers and texts; how they travel is Dask's
own protocol.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import lru_cache
from io import StringIO
from typing import NamedTuple

from softlookup.errors import FileError, PackageError
from softlookup.integrations.models import find_model
from softlookup.surveys.block import Block
from softlookup.surveys.corpus import Line
from softlookup.surveys.packages import versions
from softlookup.surveys.prompts import Reader, fingerprint, load_reader, read_lines
from softlookup.surveys.settings import Settings
from softlookup.tokens import readable

_ONE_AT_A_TIME = threading.Lock()  # a model is watched in one thread


class Job(NamedTuple):
    """What all workers of a survey share.

    Attributes
    ----------
    model : str
        What it is called, as `find_model` understands it.
    sha256 : str
        Its fingerprint.
    settings : Settings
    versions : dict of str to str
        Those that its numbers are made with.
    """

    model: str
    sha256: str
    settings: Settings
    versions: dict[str, str]


def work(job: Job, lines: Sequence[Line]) -> Block:
    """Return what the heads of the model did with some lines.

    Raises
    ------
    SoftlookupError
        Where this worker has another model, or other versions, than the one who asks.
    """
    with _ONE_AT_A_TIME, _one_thread():
        reader = _reader(job.model, job.sha256, tuple(job.versions.items()))
        return read_lines(reader, job.settings, lines)


@lru_cache(maxsize=1)
def _reader(model: str, sha256: str, needed: tuple[tuple[str, str], ...]) -> Reader:
    """Load the model, once in a process; refuse to answer with another one."""
    here = versions()
    for name, version in needed:
        if here.get(name) != version:
            raise PackageError(
                name, f"must be {version} on every worker, as where the survey was started; a "
                f"worker has {here.get(name)}. Install the same version there."
            )  # fmt: skip
    found = find_model(model)
    own = fingerprint(found)
    if own != sha256:
        raise FileError(
            readable(model), f"must be the same model on every worker ({sha256[:12]}); a worker "
            f"has another there ({own[:12]}). Copy it anew."
        )  # fmt: skip
    with redirect_stderr(StringIO()):  # the library's own bars
        return load_reader(found)


def forget() -> None:
    """Let go of the model that this process holds."""
    _reader.cache_clear()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute on one thread: on several a sum may round otherwise."""
    import torch
    from transformers.utils import logging

    before, said, shown = (
        torch.get_num_threads(), logging.get_verbosity(), logging.is_progress_bar_enabled()
    )  # fmt: skip
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        torch.set_num_threads(before)
        logging.set_verbosity(said)
        if shown:
            logging.enable_progress_bar()
