"""`newfound bench`: hands its arguments to `newfound-lab`, the command of the laboratory."""

from __future__ import annotations

import typer

from newfound.errors import MissingExtraError
from newfound.laboratory import INSTALL_LABORATORY, find_laboratory

# nothing is read here, not even --help
HANDED_OVER = {
    "allow_extra_args": True,
    "allow_interspersed_args": False,
    "ignore_unknown_options": True,
    "help_option_names": [],
}


def bench(context: typer.Context) -> None:
    """Measure discoverers on benchmarks; newfound-lab does it."""
    laboratory = find_laboratory("cli")
    if laboratory is None:
        raise MissingExtraError(
            f"The benchmarks are measured by newfound's laboratory, which is not installed; run: {INSTALL_LABORATORY}"
        )
    code = laboratory.app(args=context.args, prog_name="newfound bench", standalone_mode=False)
    raise typer.Exit(code if isinstance(code, int) else 0)
