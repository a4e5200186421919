from __future__ import annotations

import ast
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import newfound
from newfound.errors import LABELS, TABLE, InputError, Message, Parameter, warn_user
from newfound.parameters import check_choice, check_integer, check_real, pick_generator


def test_an_error_with_a_message_alone() -> None:
    error = InputError("The file is empty.")
    assert str(error) == "The file is empty."
    assert (error.parameter, error.value, error.expected, error.cure) == (None, None, None, None)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError.of("n", 0, "1 or more"), "Got n=0, but expected 1 or more."),
        (InputError.of("n", "a", "1 or more", "leave it out"), "Got n='a', but expected 1 or more; leave it out."),
        (InputError.of("path", ".", problem="which is a folder"), "Got path='.', which is a folder."),
        (
            InputError.of("n", 1, "2 or more", "raise it", problem="which is few"),
            "Got n=1, which is few; expected 2 or more; raise it.",
        ),
        (InputError.about("X", "has no rows", "Pass some."), "X has no rows. Pass some."),
    ],
)
def test_messages_are_made_of_the_fields(error: InputError, message: str) -> None:
    assert str(error) == message


def test_a_long_value_is_cut_in_the_message_alone() -> None:
    error = InputError.of("names", "a" * 1000, "fewer")
    assert len(str(error)) < 250
    assert error.value == "a" * 1000


def test_the_fields_are_kept() -> None:
    error = InputError.of("n", 0, "1 or more", "leave it out")
    assert (error.parameter, error.value, error.expected, error.cure) == ("n", 0, "1 or more", "leave it out")


def test_the_parameter_is_the_first_that_the_message_names() -> None:
    error = InputError(Message("In ", Parameter("cv", 3), " of ", LABELS, "."))
    assert (error.parameter, error.value) == ("cv", 3)
    assert InputError(Message(TABLE, " is bad."), parameter="path").parameter == "path"


def test_an_error_goes_to_another_process_whole() -> None:
    error = InputError.of(
        "n", 0, "1 or more", Message("say ", Parameter("m", 2)), problem=Message("too few for ", TABLE)
    )
    copy = pickle.loads(pickle.dumps(error))
    assert copy.message.told(str) == str(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
    assert copy.message.parts == error.message.parts
    assert copy.cure.parts == ("say ", Parameter("m", 2))


def test_a_message_is_plain_text_until_it_is_told_otherwise() -> None:
    inner = Message("of ", TABLE)
    message = Message("Row 3 ", inner, " lacks ", Parameter("a", None), ".")
    assert message == "Row 3 of X lacks a=None."
    assert message.told(lambda parameter: parameter.name.upper()) == "Row 3 of X lacks A."
    assert Message("plain").told(str) == "plain"


def test_a_warning_keeps_its_message() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user(Message(LABELS, " has one class."))
    [warning] = caught
    assert str(warning.message) == "y has one class."
    assert warning.filename == __file__
    assert isinstance(warning.message, UserWarning)
    assert warning.message.args[0].parts == (LABELS, " has one class.")


@pytest.mark.parametrize(
    ("refuse", "parameter", "value", "expected"),
    [
        (lambda: check_integer("n", 2.5, low=1), "n", 2.5, "a whole number of at least 1"),
        (lambda: check_integer("n", True, low=1), "n", True, "a whole number of at least 1"),
        (lambda: check_integer("n", 0, low=1, or_else=" or 'auto'"), "n", 0, "a whole number of at least 1 or 'auto'"),
        (lambda: check_real("w", 0, low=0, high=1, open_low=True), "w", 0, "a number above 0 and at most 1"),
        (lambda: check_real("w", "a", low=0), "w", "a", "a number of at least 0"),
        (lambda: check_choice("how", "b", ["c", "d"]), "how", "b", "one of 'c', 'd'"),
        (
            lambda: pick_generator(-1),
            "random_state",
            -1,
            "None, a RandomState or a whole number from 0 to 2**32 - 1",
        ),
    ],
)
def test_checks_say_what_they_got_and_what_is_accepted(
    refuse: object, parameter: str, value: object, expected: str
) -> None:
    with pytest.raises(InputError) as refused:
        refuse()  # type: ignore[operator]
    error = refused.value
    assert (error.parameter, error.value, error.expected) == (parameter, value, expected)
    assert str(error) == f"Got {parameter}={value!r}, but expected {expected}."


def test_the_library_never_speaks_of_options() -> None:
    package = Path(newfound.__file__).parent
    commands = (
        "cli/",
        "web/",
        "reporting/method.py",
        "reporting/assets.py",
    )  # commands, and names of styles
    found = {}
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        if not name.startswith(commands):
            found[name] = [text for text in _texts(path) if re.search(r"(?<![\w-])--[a-z]", text)]
    assert len(found) > 50
    assert {name: texts for name, texts in found.items() if texts} == {}


def _texts(path: Path) -> list[str]:
    """Return all texts in a module but its docstrings."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    blocks = [node for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    docstrings = {id(node.body[0].value) for node in blocks if node.body and isinstance(node.body[0], ast.Expr)}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
    return [node.value for node in constants if isinstance(node.value, str)]


def test_a_value_of_many_lines_is_shown_in_one() -> None:
    error = InputError.of("y", np.arange(60).reshape(-1, 1), "the name of a column")
    assert str(error).startswith("Got y=array([[ 0], [ 1], [ 2]")
    assert str(error).endswith("..., but expected the name of a column.")
    assert "\n" not in str(error)
