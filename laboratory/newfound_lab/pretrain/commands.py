"""`newfound-lab pretrain`: train the in-context network, judge it, draw how it went, and ship it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

pretrain = typer.Typer(
    help="Train the in-context network on synthetic tables.\n\nlaboratory/newfound_lab/pretrain/README.md says how.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
# The options are those of the modules, which also run on their own on machines without this command's packages.
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@pretrain.command("train", context_settings=_PASSED_ON)
def train_network(context: typer.Context) -> None:
    """Train for some seconds, or go on with a training; --help shows the options."""
    from newfound_lab.pretrain.train import main

    main(context.args)


@pretrain.command("validate", context_settings=_PASSED_ON)
def validate_network(context: typer.Context) -> None:
    """Judge weights on development problems and synthetic tasks; --help shows the options."""
    from newfound_lab.pretrain.validate import main

    main(context.args)


@pretrain.command("problems", context_settings=_PASSED_ON)
def make_problems(context: typer.Context) -> None:
    """Make the file of development problems; --help shows the options."""
    from newfound_lab.pretrain.development import main

    main(context.args)


@pretrain.command("router", context_settings=_PASSED_ON)
def learn_router(context: typer.Context) -> None:
    """Learn the router's constants from synthetic tasks; --help shows the options."""
    from newfound_lab.pretrain.router import main

    main(context.args)


@pretrain.command("confidence", context_settings=_PASSED_ON)
def learn_confidence(context: typer.Context) -> None:
    """Learn AutoDiscoverer's confidence from synthetic tables, and ship it; --help shows the options."""
    from newfound_lab.pretrain.confidence import main

    main(context.args)


@pretrain.command("study", context_settings=_PASSED_ON)
def study_prior(context: typer.Context) -> None:
    """Train small networks without one family of the prior each, and judge them; --help shows the options."""
    from newfound_lab.pretrain.study import main

    main(context.args)


@pretrain.command("curves")
def draw_curves(
    folder: Annotated[Path, typer.Argument(help="Folder with log.jsonl and validation.jsonl.")],
    picture: Annotated[Path, typer.Argument(help="Picture to write, PNG or SVG.")],
) -> None:
    """Draw losses and the accuracy on development tables over the steps of a training."""
    from newfound_lab.pretrain.progress import write_progress

    write_progress(folder / "log.jsonl", folder / "validation.jsonl", picture)


@pretrain.command("gallery")
def draw_prior(
    page: Annotated[Path, typer.Argument(help="Page to write, Markdown.")],
    pictures: Annotated[Path, typer.Argument(help="Folder of its pictures, below that of the page.")],
) -> None:
    """Draw tables of each family of the prior, on a page to look at."""
    from newfound_lab.prior.gallery import write_gallery

    write_gallery(page, pictures)


@pretrain.command("ship")
def ship_weights(
    checkpoint: Annotated[Path, typer.Argument(help="Weights of a training, with card.json beside them.")],
    folder: Annotated[Path | None, typer.Argument(help="Where to; into the package unless told.")] = None,
) -> None:
    """Write the weights that come with the package, and their card, of a checkpoint."""
    from newfound_lab.pretrain.ship import PACKAGE, ship

    card = ship(checkpoint, PACKAGE if folder is None else folder)
    typer.echo(f"{card['parameters']:,} parameters after {card['step']:,} steps, sha256 {card['sha256']}")
