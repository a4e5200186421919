"""All commands together, and what the exit codes mean."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from newfound import __version__
from newfound.cli.bench import HANDED_OVER, bench
from newfound.cli.curate import merge, rename, split
from newfound.cli.demo import demo
from newfound.cli.discover import discover
from newfound.cli.estimate import estimate
from newfound.cli.evaluate import evaluate
from newfound.cli.explain import explain
from newfound.cli.info import info
from newfound.cli.predict import predict
from newfound.cli.process import cannot_print
from newfound.cli.serve import serve
from newfound.cli.to_labels import to_labels
from newfound.cli.tune import tune
from newfound.cli.update import suggest, update
from newfound.cli.wording import in_words
from newfound.errors import InputError, NewfoundError, TrainingInterrupted
from newfound.plain import printable

OK, OUR_MISTAKE, USERS_MISTAKE, INTERRUPTED = 0, 1, 2, 130
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_LONGEST_LINE = 4_000
_NO_FILES = (errno.EMFILE, errno.ENFILE)
# What only the machine can be blamed for, whatever newfound does; an EBADF is a stream that cannot be written to.
_REFUSED = (errno.EBADF, errno.EIO, errno.EAGAIN, errno.ENOMEM, errno.EROFS, errno.ENXIO, errno.ESTALE, errno.ENOLCK)

HELP = {"help_option_names": ["-h", "--help"]}
"""Settings of a program whose every command, at any depth, answers to -h as well."""

# Plain help and plain tracebacks: the decorated ones import rich, and --help should answer at once.
app = typer.Typer(
    name="newfound",
    help="Novel class discovery in tables: find the classes nobody has labelled yet.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)
_COMMANDS = (discover, predict, evaluate, explain, estimate, tune, update, suggest, rename, merge, split, to_labels)
for _command in (*_COMMANDS, serve, demo, info):
    app.command()(_command)
app.command(context_settings=HANDED_OVER)(bench)

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


def run(arguments: Sequence[str] | None = None, commands: typer.Typer = app, name: str = "newfound") -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after the name of the program; by default the arguments of this process.
    commands : typer.Typer, optional
        Those of another program, such as the laboratory's, whose exit codes mean the same.
    name : str, default="newfound"
        The name of that program.

    Returns
    -------
    int
        0 when all went well; 2 for a mistake of the user, after one line on standard error that says what to do; 1 for
        a mistake of ours, after one line that names the file with the traceback; 130 after Ctrl-C.
    """
    try:
        with _warnings_as_notes():
            code = commands(args=None if arguments is None else list(arguments), prog_name=name, standalone_mode=False)
    except InputError as error:
        _complain(in_words(error.args[0]), name)
        return USERS_MISTAKE
    except NewfoundError as error:
        _complain(str(error), name)
        return USERS_MISTAKE
    except _UsageError as error:
        _complain_about_usage(error, name)
        return USERS_MISTAKE
    except SystemExit as done:  # typer has answered itself, or turned the error of a pipe into this
        if isinstance(done.__context__, BrokenPipeError):
            return cannot_print(done.__context__)
        return done.code if isinstance(done.code, int) else OK
    except (KeyboardInterrupt, typer.Abort, TrainingInterrupted):
        return INTERRUPTED
    except Exception as error:
        machines = _fault_of_the_machine(error)
        if machines:
            _complain(machines, name)
            return USERS_MISTAKE
        _complain(
            f"{type(error).__name__}: {error}. This is a mistake in newfound, not yours; please report it, with "
            f"{_write_log(name, arguments)}",
            name,
        )
        return OUR_MISTAKE
    return code if isinstance(code, int) else OK


@contextlib.contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings of newfound's that no command has taken up as notes; others are between it and libraries."""
    import warnings

    def tell(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, UserWarning):
            print(f"note: {printable(str(message))}", file=sys.stderr)  # noqa: T201 - rich would wrap it

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield


def _fault_of_the_machine(error: Exception) -> str:
    """Say what the machine lacks or refuses, and what to do; "" where that is not why there is an error."""
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "allocate memory" in str(error)):
        return "There is not enough memory for this. Use a smaller table, or a machine with more memory."
    if not isinstance(error, OSError):
        return ""
    if error.errno in _NO_ROOM:  # standard output may lead to a full disk
        return f"Cannot write: {error.strerror}. Make room, or write to another place."
    if error.errno in _NO_FILES:
        return f"{error.strerror}. Allow more of them (ulimit -n), or close other programs."
    if error.errno in _REFUSED:
        return f"The system refuses to go on: {error.strerror}. Look at where the output of this command is sent."
    return ""


def _write_log(program: str, arguments: Sequence[str] | None) -> str:
    """Write the traceback of the error that is being handled to a file; returns its path, or the traceback itself."""
    import tempfile
    import traceback
    from datetime import datetime

    from newfound.cli.info import PACKAGES, version_of
    from newfound.folders import cache_folder

    now = datetime.now()
    versions = ", ".join(f"{name} {version_of(name)}" for name in PACKAGES)
    command = " ".join([program, *(sys.argv[1:] if arguments is None else arguments)])
    text = f"{now.isoformat(timespec='seconds')}\n{command}\n{versions}\n\n{traceback.format_exc()}"
    text = "\n".join(map(printable, text.split("\n")))
    name = f"error-{now:%Y%m%d-%H%M%S}-{os.getpid()}.log"
    for folder in (cache_folder, lambda: Path(tempfile.gettempdir())):
        try:
            path = folder() / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
        except (OSError, NewfoundError):
            continue
        return str(path)
    return text


def _complain(message: str, program: str) -> None:
    """Print one line, so that it can be found again in a log."""
    line = " ".join(printable(message).split())
    if len(line) > _LONGEST_LINE:  # a name may be as long as whoever made it likes
        line = f"{line[:_LONGEST_LINE]}..."
    print(f"{program}: {line}", file=sys.stderr)  # noqa: T201 - rich would wrap it


def _complain_about_usage(error: Any, program: str) -> None:
    """Print one line about an unknown command or option; the help where there is no command at all."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    command = error.ctx.command_path if error.ctx is not None else program
    message = error.format_message()
    _complain(f"{message}{'' if message.endswith(('.', '?')) else '.'} See: {command} --help", program)
