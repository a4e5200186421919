"""What a program of its own has to see to: signals that are never lost, and standard streams that may be closed."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from newfound.processes import without_current_folder

CLOSED = 2
_IMPORTING = "<frozen importlib._bootstrap>"
_SOON, _LATER = 0.05, 0.3  # seconds until it is looked whether the program leaves
_IMPATIENT = 3  # signals after which nothing is cleaned up any more


class Signals:
    """Ends a program when it is told to, however deep it is in the work of others.

    A handler ends a program by an exception, and whatever runs at the time may swallow it: modules try other modules
    and go on after any error, and what is raised in a destructor is ignored. So nothing is raised while a module is
    being imported, and it is raised again where nobody passes it on.

    Parameters
    ----------
    bottom : frame
        The frame of the program; what called it is not looked at.

    Attributes
    ----------
    number : int
        The signal that came first; 0 if none did.
    """

    def __init__(self, bottom: FrameType) -> None:
        self.number = 0
        self._bottom = bottom
        self._n_received = 0
        self._raised: BaseException | None = None
        self._before: dict[int, Any] = {}

    def install(self) -> None:
        """Handle the signals that end a program, except those that somebody has set to be ignored, as nohup does."""
        for name, usual in (
            ("SIGINT", signal.default_int_handler),
            ("SIGTERM", signal.SIG_DFL),
            ("SIGHUP", signal.SIG_DFL),  # Windows has none
            ("SIGALRM", signal.SIG_DFL),
        ):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is usual:
                self._before[number] = signal.signal(number, self._look if name == "SIGALRM" else self._receive)

    def put_back(self) -> None:
        """Leave signals as they were found."""
        self._wait(0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.number = self.number or number
        self._n_received += 1
        if self._n_received >= _IMPATIENT:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._look(number, frame)

    def _look(self, _: int, frame: FrameType | None) -> None:
        """Raise, unless that would be lost, or what was raised is on its way."""
        if self._is_importing(frame) and self._wait(_SOON):
            return
        self._wait(_LATER)
        if self._raised is None or not self._is_on_its_way():
            self._raised = KeyboardInterrupt() if self.number == signal.SIGINT else SystemExit(128 + self.number)
            raise self._raised

    def _is_importing(self, frame: FrameType | None) -> bool:
        while frame is not None and frame is not self._bottom:
            if frame.f_code.co_filename == _IMPORTING:
                return True
            frame = frame.f_back
        return False

    def _is_on_its_way(self) -> bool:
        """Whether somebody is just now cleaning up after what was raised."""
        error = sys.exception()
        while error is not None and error is not self._raised:
            error = error.__context__
        return error is not None

    def _wait(self, seconds: float) -> bool:
        """Have a look in so many seconds, never for 0; False where the system has no such clock."""
        if not hasattr(signal, "setitimer") or signal.SIGALRM not in self._before:
            return False
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return True


class _Tolerant(io.FileIO):
    """A file that takes whatever is written, also where the system does not: nobody could be told."""

    def write(self, data: Any) -> int:
        """Write what can be written."""
        try:
            return super().write(data) or 0
        except OSError:
            return memoryview(data).nbytes


def start(run: Callable[[], int]) -> None:
    """Run commands and leave with their exit code; signals and streams are set up for a program of its own."""
    signals = Signals(sys._getframe())
    signals.install()
    try:
        with without_current_folder():
            code = _run(run)
        if code != CLOSED or sys.stdout:
            sys.stdout.flush()  # while an error can still be told
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except OSError as error:
        code = cannot_print(error)
    finally:
        signals.put_back()
    sys.exit(128 + signals.number if signals.number else code)


def _run(run: Callable[[], int]) -> int:
    closed = _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know the letters of a table
            stream.reconfigure(errors="backslashreplace")
    if closed:
        sys.stderr.write("newfound: Standard output is closed; send it to /dev/null to do without what is printed.\n")
        return CLOSED
    return run()


def cannot_print(error: OSError) -> int:
    """Say why standard output cannot be written to, and return the exit code; nothing where its reader has left."""
    # What is still kept to be written cannot be, and Python would try again as it leaves.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it stays open
    if isinstance(error, BrokenPipeError):
        return 128 + getattr(signal, "SIGPIPE", 13)
    sys.stderr.write(f"newfound: Cannot write to standard output: {error.strerror or error}.\n")
    return CLOSED


def _open_closed_streams() -> bool:
    """Put nothing in the place of streams that are closed; returns whether standard output was one of them.

    Otherwise the next file that is opened gets the number of the stream, and what libraries print lands in it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    out, err = (getattr(sys, name) for name in ("stdout", "stderr"))
    below = getattr(err, "buffer", None)
    if err is None or type(getattr(below, "raw", below)) is io.FileIO:
        raw: Any = io.BufferedWriter(_Tolerant(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, "utf-8" if err is None else err.encoding, line_buffering=True)
    return out is None
