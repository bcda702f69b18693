"""The command line: every wrong input is one line on stderr and exit code 2."""

import os
import sys
from collections.abc import Sequence

from softlookup.cli.terminal import make_writable
from softlookup.errors import SoftlookupError
from softlookup.tokens import readable

INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C
TOLD_TO_END = 143  # and for one stopped by kill
WRONG_INPUT = 2


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        What follows ``softlookup`` on the command line; `sys.argv` where left out.
    """
    make_writable(sys.stdout, sys.stderr)
    try:
        code = _run(sys.argv[1:] if args is None else list(args))
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(args: list[str]) -> int:
    import typer

    from softlookup.cli.commands import app

    command = typer.main.get_command(app)
    try:
        code = command.main(args, prog_name="softlookup", standalone_mode=False)
    except SoftlookupError as error:
        return _refuse(str(error))
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "softlookup"
        return _refuse(f"{_sentence(error.format_message())} See {path} --help.")
    except typer.Abort:
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _sentence(words: str) -> str:
    return words if words.endswith((".", "?")) else f"{words.rstrip()}."


def _refuse(sentence: str) -> int:
    print(readable(" ".join(sentence.split())), file=sys.stderr)
    return WRONG_INPUT
