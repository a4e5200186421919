from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from newfound.cli.process import Signals

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends programs otherwise")

START = "from newfound.cli.process import start; start(run)"


def started(code: str, **options: object) -> subprocess.Popen[str]:
    """A program that runs this code as `run`; it prints a line when it is ready."""
    text = f"import os, signal, sys, time\ndef run():\n{textwrap.indent(textwrap.dedent(code), '    ')}\n{START}"
    return subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


# Each swallows what a handler raises: a module that goes on after any error, a destructor, a plain except.
SWALLOWERS = {
    "module": """
        open('swallowing.py', 'w').write('''if True:
            try:
                print('ready', flush=True)
                import time
                time.sleep(0.3)
            except BaseException:
                pass
        ''')
        sys.path.insert(0, '')
        import swallowing
        """,
    "destructor": """
        class One:
            def __del__(self):
                print('ready', flush=True)
                time.sleep(0.3)
        One()
        """,
    "except": """
        try:
            print('ready', flush=True)
            time.sleep(5)
        except BaseException:
            pass
        """,
}


@pytest.mark.parametrize(
    ("swallower", "number"),
    [("module", signal.SIGTERM), ("module", signal.SIGINT), ("destructor", signal.SIGTERM), ("except", signal.SIGINT)],
)
def test_a_signal_is_not_swallowed(tmp_path: Path, swallower: str, number: signal.Signals) -> None:
    program = started(
        textwrap.dedent(SWALLOWERS[swallower])
        + "try:\n    time.sleep(20)\nfinally:\n    time.sleep(0.1); print('cleaned up')\nreturn 0",
        cwd=tmp_path,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    program.send_signal(number)
    assert program.communicate(timeout=15)[0] == "cleaned up\n"
    assert program.returncode == 128 + number


def test_a_program_that_ends_before_it_can_be_told_has_the_code_of_the_signal() -> None:
    program = started("""
        class One:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGTERM)
        One()
        return 0
        """)
    program.communicate(timeout=15)
    assert program.returncode == 128 + signal.SIGTERM


def test_cleaning_up_is_not_disturbed_but_by_the_third_signal() -> None:
    program = started("""
        try:
            print('ready', flush=True)
            time.sleep(20)
        finally:
            print('cleaning', flush=True)
            time.sleep(20)
        """)
    assert program.stdout is not None
    for line in ("ready\n", "cleaning\n"):
        assert program.stdout.readline() == line
        program.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    assert program.poll() is None
    while program.poll() is None:  # a third that comes before the second was seen does not count
        program.send_signal(signal.SIGTERM)
        time.sleep(0.3)
    program.communicate(timeout=15)
    assert program.returncode == -signal.SIGTERM


def test_signals_are_put_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    signals = Signals(sys._getframe())
    signals.install()
    assert signal.getsignal(signal.SIGTERM) != before[1]
    signals.put_back()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)] == before


# ---- standard streams


@pytest.mark.parametrize(
    ("redirected", "code", "complaint"),
    [
        (">&-", 2, "newfound: Standard output is closed"),
        ("<&- >&-", 2, "newfound: Standard output is closed"),
        (">/dev/full", 2, "newfound: Cannot write: No space left"),
        ("1</dev/null", 2, "newfound: The system refuses to go on: Bad file descriptor"),
        ("2>&-", 0, ""),
        ("2>/dev/full", 0, ""),
        (">&- 2>&-", 2, ""),
        ("| true", 141, ""),
    ],
)
def test_streams_that_cannot_be_written_to(redirected: str, code: int, complaint: str) -> None:
    program = f'"{sys.executable}" -m newfound --version {redirected}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith(complaint)
    assert done.stderr.count("\n") == bool(complaint)
    assert done.stdout.startswith("newfound 0") == (code == 0)


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", "2</dev/null"])
def test_a_note_that_nobody_can_read_is_no_error(redirected: str) -> None:
    code = "from newfound.cli.output import Output; from newfound.cli.process import start\n"
    code += "start(lambda: Output().note('of no use') or int(Output().shows_progress))"
    done = subprocess.run(["bash", "-c", f'"{sys.executable}" -c "{code}" {redirected}'], check=False)
    assert done.returncode == 0


def test_what_is_opened_is_never_standard_output(tmp_path: Path) -> None:
    code = "import os, sys; from newfound.cli.process import start\n"
    code += "start(lambda: os.write(2, b'x' * (open('file', 'w').fileno() > 2)) * 0)"
    program = f'"{sys.executable}" -c "{code}" 2>&-'
    assert subprocess.run(["bash", "-c", program], check=False, cwd=tmp_path).returncode == 0
    assert (tmp_path / "file").read_text() == ""
