"""The command line: one module a command; each parses, calls the library and prints."""

from __future__ import annotations

from newfound.cli.process import start

__all__ = ["main", "start"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    start(_run)


def _run() -> int:
    from newfound.cli.app import run  # only now, since Ctrl-C is waited for from here on

    return run()
