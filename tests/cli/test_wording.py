from __future__ import annotations

from pathlib import Path

import pytest
import typer

from newfound.cli.app import app
from newfound.cli.output import Output
from newfound.cli.wording import OPTIONS, in_words, retold
from newfound.errors import InputError, Message, Parameter
from newfound.parameters import check_integer
from newfound.tables.cells import kind_setting


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (InputError.of("n_novel_classes", 0, "1 or more").message, "Got --novel-classes 0, but expected 1 or more."),
        (InputError.of("time_limit", 0.5, "more").message, "Got --time-limit 0.5, but expected more."),
        (InputError.of("w1", 3, "less").message, "Got w1=3, but expected less."),
        (Message("keep it: ", kind_setting("a b", "date"), "."), "keep it: --kind 'a b=date'."),
        (Message("keep one: ", Parameter("kinds"), "."), "keep one: --kind COLUMN=KIND."),
        (Message("fewer rows (", Parameter("max_rows"), ")."), "fewer rows (--max-rows)."),
        (Message("ask for ", Parameter("n", 3), "."), "ask for --parts 3."),
    ],
)
def test_parameters_become_options(message: Message, told: str) -> None:
    assert in_words(message, {"n": "--parts"}) == told


def test_every_option_is_one_that_a_command_has() -> None:
    commands = typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
    offered = {option for command in commands for parameter in command.params for option in parameter.opts}
    assert set(OPTIONS.values()) <= offered


def test_a_name_in_a_plain_text_stays() -> None:
    assert in_words("the column max_rows") == "the column max_rows"


def test_cures_name_options_too() -> None:
    cure = Message("say ", Parameter("n_novel_classes", "auto"))
    error = retold(InputError.of("n_novel_classes", 9, problem="but there are 4 rows", cure=cure))
    assert str(error) == "Got --novel-classes 9, but there are 4 rows; say --novel-classes auto."
    assert (error.parameter, error.value, error.cure) == ("n_novel_classes", 9, "say --novel-classes auto")


def test_an_option_of_one_command_is_named_there() -> None:
    told = "Got --parts 1, but expected a whole number of at least 2"
    with pytest.raises(InputError, match=told), Output().speaking_of(Path("table.csv"), n="--parts"):
        check_integer("n", 1, low=2)
