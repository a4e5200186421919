"""The command line: one module a command; each parses, calls the library and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from newfound.cli.app import run

    sys.exit(run())
