"""Options that several commands have, each with its words."""

from typing import Annotated

import typer

What = Annotated[
    str,
    typer.Argument(
        metavar="lesson|FILE",
        help="lesson; sentence or causal, which are real heads; or a .safetensors, .json or .npz.",
    ),
]
LayerName = Annotated[
    str | None,
    typer.Option("--layer", help="Which layer: its number, label or name.", metavar="L"),
]
Head = Annotated[
    int | None, typer.Option("--head", help="Which query head, by its number.", metavar="H")
]
Batch = Annotated[
    int,
    typer.Option("--batch", help="Which batch entry, from 0, over all leading axes.", metavar="B"),
]
Layers = Annotated[
    str | None, typer.Option(help="Which layers, e.g. 0,3-5; all if left out.", metavar="L,L")
]
Heads = Annotated[
    str | None, typer.Option(help="Which heads of them, e.g. 0,7; all.", metavar="H,H")
]
Port = Annotated[
    int | None,
    typer.Option(help="Where to listen on this machine; 8642 or the next free one.", metavar="P"),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the link, open nothing.")]
Model = Annotated[
    str,
    typer.Option(
        help="A folder, a .gguf file, a package that ships one, or a cached hub name.",
        metavar="MODEL",
    ),
]
