"""The commands, one function each. What a command needs is imported when it runs."""

import difflib
import json as json_text
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softlookup.errors import FileError

if TYPE_CHECKING:
    from softlookup.captures import Capture

FIRST_COMMANDS = """\
softlookup computes attention exactly and shows every number of it. Begin with one of these:

  softlookup show                      the lesson, as a page in your browser
  softlookup trace lesson --query 1    one lookup step by step, here in the terminal
  softlookup quiz                      four short exercises

softlookup --help lists all commands."""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

What = Annotated[
    str, typer.Argument(metavar="lesson|FILE", help="The lesson, or a .json or .npz file.")
]
Head = Annotated[int, typer.Option("--head", help="Which query head, from 0.", metavar="H")]
Batch = Annotated[
    int,
    typer.Option("--batch", help="Which batch entry, from 0, over all leading axes.", metavar="B"),
]


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Compute attention exactly, and see every number of it.

    Example: softlookup show
    """
    if version:
        from importlib import metadata

        print(f"softlookup {metadata.version('softlookup')}")
    elif context.invoked_subcommand is None:
        print(FIRST_COMMANDS)


@app.command()
def show(
    what: What = "lesson",
    port: Annotated[
        int | None,
        typer.Option(
            help="Where to listen on this machine; 8642 or the next free one.", metavar="P"
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the link, open nothing.")
    ] = False,
) -> None:
    """Open the lesson or a file as a page.

    Example: softlookup show run.npz --port 9000
    """
    from softlookup.viewer import capture_of, open_view

    file = _file(what)
    _stop_cleanly_when_told()
    with open_view(*capture_of(file), port, False if no_browser else None) as view:
        print("Stop  Ctrl-C", flush=True)
        view.wait()


@app.command()
def trace(
    what: What,
    query: Annotated[
        str | None,
        typer.Option(
            help="A token as it is shown, or @POSITION from 0; all if left out.", metavar="TOKEN"
        ),
    ] = None,
    head: Head = 0,
    batch: Batch = 0,
    top: Annotated[
        int | None,
        typer.Option(help="Show only the K keys with the largest scores.", metavar="K", min=1),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Exact numbers, for programs.")] = False,
) -> None:
    """Print every step of a lookup, with its numbers.

    Example: softlookup trace lesson --query 1
    """
    from softlookup.cli.steps import records, steps_text

    capture = _open(what)
    if json:
        print(json_text.dumps(records(capture, query, head, batch, top), indent=1))
    else:
        print(steps_text(capture, query, head, batch, top))


@app.command()
def quiz(
    skill: Annotated[
        str | None, typer.Option(help="Practise this one: scores, scaling, softmax, output.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Which numbers; fresh ones if left out.", metavar="N")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Untick all boxes first.")] = False,
) -> None:
    """Practise the lesson's four skills with fresh numbers.

    Example: softlookup quiz --skill softmax
    """
    from softlookup.lesson.quiz import run

    run(skill=skill, seed=seed, reset=reset)


@app.command()
def lesson() -> None:
    """Print the lesson's text.

    Example: softlookup lesson | less
    """
    from softlookup.cli.terminal import writer
    from softlookup.lesson import as_text

    print(as_text(writer(sys.stdout)).rstrip("\n"))


@app.command()
def info(what: What) -> None:
    """Say what a file holds: sizes, options, tokens.

    Example: softlookup info run.npz
    """
    from softlookup.cli.description import describe

    print(describe(_open(what), what))


@app.command()
def doctor() -> None:
    """Say what can run here, for a bug report.

    Example: softlookup doctor
    """
    from softlookup.cli.diagnosis import diagnose

    print(diagnose())


def _stop_cleanly_when_told() -> None:
    """Turn an end from outside into an ordinary exit, which leaves no file behind."""
    for name in ("SIGTERM", "SIGHUP"):  # the second where there is one: its terminal was closed
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: sys.exit(0))


def _open(what: str) -> "Capture":
    """Return the lesson's example, or the capture in a file."""
    file = _file(what)
    if file is None:
        from softlookup.lesson import example

        return example()
    from softlookup.captures import load

    return load(file)


def _file(what: str) -> str | None:
    """Return the file that is meant, None for the lesson; a file named lesson is ./lesson."""
    if what == "lesson":
        return None
    if difflib.get_close_matches(what.lower(), ["lesson"]) and not Path(what).exists():
        raise FileError(
            what, "must be 'lesson' or a file; there is no such file. Did you mean 'lesson'?"
        )
    return what
