"""What commands print: tables and short sentences for people, or one JSON object for programs."""

from __future__ import annotations

import contextlib
import math
import re
import shutil
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer

from newfound.cli.wording import in_words, retold
from newfound.deadline import NEVER, Deadline
from newfound.errors import InputError, Message, TrainingInterrupted
from newfound.plain import printable, printable_json

_BEGINNING = re.compile(r"\s*(?:- |\S+\s{2,})?")  # of a bullet, or the first column of a list

_BETWEEN = 3  # columns of the terminal between two of a table


class Output:
    """Collects what a command has to say, and says it in the way that was asked for.

    Parameters
    ----------
    as_json : bool
        Whether standard output gets one JSON object and nothing else.

    Attributes
    ----------
    notes : list of str
        What the user should know besides the result.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.notes: list[str] = []

    @property
    def shows_progress(self) -> bool:
        """Whether somebody watches."""
        return not self.as_json and sys.stderr.isatty()

    def note(self, *texts: str, aloud: bool = True) -> None:
        """Say something on standard error, once, with options where a `Message` has parameters; JSON has it as well.

        What is not said ``aloud`` stands in JSON alone.
        """
        for text in (printable(in_words(text) if isinstance(text, Message) else text) for text in texts):
            if text not in self.notes:
                self.notes.append(text)
                if aloud and not self.as_json:
                    typer.echo(_for_people(f"note: {text}", sys.stderr), err=True)

    def say(self, *lines: str) -> None:
        """Print sentences for people, each on a line of its own whatever names are in it."""
        if not self.as_json:
            typer.echo("\n".join(_for_people(printable(line), sys.stdout) for line in lines))

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: Sequence[str] = ()) -> None:
        """Print a table for people; columns named in ``numbers`` are flush right."""
        if self.as_json:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for heading in headings:
            right = heading in numbers
            table.add_column(
                Text(printable(heading)), justify="right" if right else "left", no_wrap=right, overflow="fold"
            )
        for row in rows:
            table.add_row(*(Text(printable(str(cell))) for cell in row))
        console = Console(highlight=False)
        with console.capture() as capture:
            console.print(table)
        typer.echo("\n".join(line.rstrip() for line in capture.get().strip("\n").split("\n")))

    def has_room(self, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        """Whether a table is no wider than the terminal, so that no cell is folded or cut."""
        from rich.cells import cell_len
        from rich.console import Console

        widths = (
            max(cell_len(printable(str(cell))) for cell in column) for column in zip(headings, *rows, strict=True)
        )
        return sum(width + _BETWEEN for width in widths) <= Console().width

    def finish(self, result: Mapping[str, Any]) -> None:
        """Print the result for programs."""
        if self.as_json:
            typer.echo(to_json({**result, "notes": self.notes}))

    @contextlib.contextmanager
    def busy(self, text: str, deadline: Deadline = NEVER) -> Iterator[None]:
        """Show what is going on while it does, until a progress bar takes over: two at a time would garble each other.

        Where there is a limit it says how much time is left, otherwise how much has passed. Progress bars go to
        standard error as well.
        """
        if not self.shows_progress:
            with contextlib.redirect_stdout(sys.stderr):
                yield
            return
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        began, spinner = time.monotonic(), Spinner("dots")

        def drawn() -> Spinner:  # several times a second
            seconds = deadline.left if deadline.is_set else time.monotonic() - began
            when = timedelta(seconds=int(seconds))
            spinner.update(text=Text(printable(f"{text}, {when} {'left' if deadline.is_set else 'so far'}")))
            return spinner

        live = Live(
            get_renderable=drawn,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        bar: Any = _Announcing(sys.stderr, live.stop)
        with live, contextlib.redirect_stdout(bar):
            yield

    @contextlib.contextmanager
    def steps(self, text: str, n_steps: int, deadline: Deadline) -> Iterator[Callable[[str], None]]:
        """Show how far work of several steps has come, and how much time is left; what it yields begins the next one.

        Parameters
        ----------
        text : str
            What the work is, where nobody watches its steps.
        n_steps : int
        deadline : Deadline
            At which it ends, done or not.
        """
        if not self.shows_progress:
            with self.busy(text):
                yield lambda step: None
            return
        from newfound.progress import ProgressBar

        limit = deadline.left if deadline.is_set else None
        with ProgressBar(n_steps, shown=True, start=text, time_limit=limit, stderr=True) as bar:
            begun = False

            def begin(step: str) -> None:
                nonlocal begun
                if begun:
                    bar.advance()
                begun = True
                bar.show(printable(step))

            yield begin
            bar.advance()

    @contextlib.contextmanager
    def speaking_of(self, table: Path, target: str | None = None, **options: str) -> Iterator[None]:
        """Call the library within this: its warnings become notes, and X and y the names that the user gave.

        Ctrl-C ends the command rather than the training.

        Parameters
        ----------
        table : Path
            What the library calls X.
        target : str, optional
            The column that it calls y.
        **options : str
            Options of this command alone, by the parameters that they set.
        """
        names = {"X": str(table), **({} if target is None else {"y": f"column {target!r}"}), **options}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("error", TrainingInterrupted)
            try:
                yield
            except InputError as error:
                raise retold(error, names) from error
        # others are between us and the libraries below
        for warning in caught:
            if isinstance(warning.message, UserWarning) and warning.category is UserWarning:
                self.note(in_words(warning.message.args[0], names))


class _Announcing:
    """A stream that says when it is first written to.

    Parameters
    ----------
    stream : text stream
    announce : callable
        Called before each piece of text, so it must not mind to be called again.
    """

    def __init__(self, stream: Any, announce: Callable[[], None]) -> None:
        self._stream, self._announce = stream, announce

    def write(self, text: str) -> Any:
        """Announce, and pass the text on."""
        self._announce()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _for_people(line: str, stream: Any) -> str:
    """Fold a line that is longer than the terminal; files and other programs get it whole."""
    return folded(line, shutil.get_terminal_size().columns) if stream.isatty() else line


def folded(line: str, width: int) -> str:
    """Break a long line between words; what follows stands below the text of a bullet or of a list's second column.

    Examples
    --------
    >>> print(folded("- The number of classes is uncertain.", 24))
    - The number of classes
      is uncertain.
    """
    if len(line) <= width:
        return line
    beginning = _BEGINNING.match(line)
    start = beginning.group() if beginning and len(beginning.group()) < width / 2 else ""
    below = " " * len(start)
    return textwrap.fill(
        line[len(start) :],
        width,
        initial_indent=start,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
    )


def to_json(content: Mapping[str, Any], *, ensure_ascii: bool = True) -> str:
    """Return JSON that any program reads: without NaN, and with numpy's numbers, arrays and paths as plain values."""
    import json

    return printable_json(json.dumps(_plain(content), indent=2, ensure_ascii=ensure_ascii, allow_nan=False))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy's
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def percent(share: float) -> str:
    """Return a share as people read it."""
    return f"{100 * share:.1f} %"
