"""All commands together, and what the exit codes mean."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from newfound import __version__
from newfound.cli.demo import demo
from newfound.cli.info import info
from newfound.errors import NewfoundError, TrainingInterrupted

OK, OUR_MISTAKE, USERS_MISTAKE, INTERRUPTED = 0, 1, 2, 130

# Plain help and plain tracebacks: the decorated ones import rich, and --help should answer at once.
app = typer.Typer(
    name="newfound",
    help="Novel class discovery in tables: find the classes nobody has labelled yet.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(info)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"newfound {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Read the options that come before the command."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after ``newfound``; by default the arguments of this process.

    Returns
    -------
    int
        0 when all went well; 2 for a mistake of the user, after one line on standard error that says what to do; 1 for
        a mistake of ours, after a traceback; 130 after Ctrl-C.
    """
    try:
        app(args=None if arguments is None else list(arguments), prog_name="newfound")
    except NewfoundError as error:
        # one line, so that it can be found again in a log
        print(f"newfound: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201 - rich would wrap it
        return USERS_MISTAKE
    except SystemExit as done:  # typer has answered itself: help, version, an unknown option
        return done.code if isinstance(done.code, int) else OK
    except (KeyboardInterrupt, TrainingInterrupted):
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        print("newfound: this is a mistake in newfound, not yours; please report it.", file=sys.stderr)  # noqa: T201
        return OUR_MISTAKE
    return OK
