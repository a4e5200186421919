"""All commands together, and what the exit codes mean."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from newfound import __version__
from newfound.cli.bench import bench
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
app.add_typer(bench, name="bench")

# typer shows this error of its parser's, and has no name for it
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


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
        code = app(args=None if arguments is None else list(arguments), prog_name="newfound", standalone_mode=False)
    except NewfoundError as error:
        _complain(str(error))
        return USERS_MISTAKE
    except _UsageError as error:
        _complain_about_usage(error)
        return USERS_MISTAKE
    except SystemExit as done:  # typer has answered itself
        return done.code if isinstance(done.code, int) else OK
    except (KeyboardInterrupt, typer.Abort, TrainingInterrupted):
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        _complain("this is a mistake in newfound, not yours; please report it.")
        return OUR_MISTAKE
    return code if isinstance(code, int) else OK


def _complain(message: str) -> None:
    """Print one line, so that it can be found again in a log."""
    print(f"newfound: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201 - rich would wrap it


def _complain_about_usage(error: Any) -> None:
    """Print one line about an unknown command or option; the help where there is no command at all."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    command = error.ctx.command_path if error.ctx is not None else "newfound"
    message = error.format_message()
    _complain(f"{message}{'' if message.endswith(('.', '?')) else '.'} See: {command} --help")
