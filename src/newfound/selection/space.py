"""Search spaces: which values of a discoverer's parameters are worth trying."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from newfound.errors import InputError
from newfound.tables import TableEncoder

_ENCODER = "encoder__"


@dataclass(frozen=True)
class Real:
    """Numbers from low to high.

    Parameters
    ----------
    low, high : float
        Both may be tried.
    log : bool, default=False
        Whether factors count rather than differences, e.g. for learning rates.
    or_none : bool, default=False
        Whether None is tried as well.

    Examples
    --------
    >>> Real(0.001, 0.1, log=True).holds(0.05)
    True
    """

    low: float
    high: float
    log: bool = False
    or_none: bool = False

    def __post_init__(self) -> None:
        _check_ends(self)

    def holds(self, value: Any) -> bool:
        """Say whether a value lies in this space."""
        return _holds(self, value, numbers.Real)

    def proposed(self, trial: Any, name: str) -> float | None:
        """Return the value that an optuna trial proposes for the parameter of this name."""
        if self.or_none and trial.suggest_categorical(_none_name(name), [False, True]):
            return None
        return float(trial.suggest_float(name, self.low, self.high, log=self.log))

    def noted(self, value: Any, name: str) -> dict[str, Any]:
        """Return what makes an optuna trial propose this value."""
        return _noted(self, value, name)


@dataclass(frozen=True)
class Whole:
    """Whole numbers from low to high; `low`, `high`, `log` and `or_none` as in `Real`.

    Examples
    --------
    >>> Whole(1, 50).holds(50), Whole(1, 50).holds(2.5)
    (True, False)
    """

    low: int
    high: int
    log: bool = False
    or_none: bool = False

    def __post_init__(self) -> None:
        _check_ends(self)

    def holds(self, value: Any) -> bool:
        """Say whether a value lies in this space."""
        return _holds(self, value, numbers.Integral)

    def proposed(self, trial: Any, name: str) -> int | None:
        """Return the value that an optuna trial proposes for the parameter of this name."""
        if self.or_none and trial.suggest_categorical(_none_name(name), [False, True]):
            return None
        return int(trial.suggest_int(name, self.low, self.high, log=self.log))

    def noted(self, value: Any, name: str) -> dict[str, Any]:
        """Return what makes an optuna trial propose this value."""
        return _noted(self, value, name)


@dataclass(frozen=True)
class Choice:
    """One of several options, in no order.

    Parameters
    ----------
    options : sequence
        Strings, numbers, booleans, None, or lists of such.

    Examples
    --------
    >>> Choice(["relu", "tanh"]).holds("relu")
    True
    """

    options: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.options, str) or not isinstance(self.options, Sequence) or not len(self.options):
            raise InputError(
                f"Got Choice(options={self.options!r}), but expected a list of options.",
                parameter="options",
                value=self.options,
                expected="a list of options",
            )
        if len(set(self._names())) != len(self.options):
            raise InputError(
                f"Got Choice(options={self.options!r}), in which an option stands twice; leave one out.",
                parameter="options",
                value=self.options,
                cure="leave one out",
            )

    def holds(self, value: Any) -> bool:
        """Say whether a value lies in this space."""
        return _name_of(value) in self._names()

    def proposed(self, trial: Any, name: str) -> Any:
        """Return the value that an optuna trial proposes for the parameter of this name."""
        names = self._names()
        return self.options[names.index(trial.suggest_categorical(name, names))]

    def noted(self, value: Any, name: str) -> dict[str, Any]:
        """Return what makes an optuna trial propose this value."""
        return {name: _name_of(value)}

    def _names(self) -> list[str]:
        return [_name_of(option) for option in self.options]


Space = Real | Whole | Choice


def check_space(space: Any, discoverer: Any) -> dict[str, Space]:
    """Return a search space as a dict, if it is one for this discoverer.

    Raises
    ------
    InputError
        If it is empty, or names parameters that the discoverer does not have.
    """
    name = type(discoverer).__name__
    if not isinstance(space, Mapping) or not all(isinstance(values, Space) for values in space.values()):
        expected = "a dict from names of parameters to newfound.Real, newfound.Whole or newfound.Choice"
        raise InputError.of("space", space, f"{expected}, e.g. {{'dropout': newfound.Real(0, 0.5)}}")
    if not space:
        raise InputError(
            f"{name} has no parameters that are worth tuning. Fit it as it is, tune another discoverer, or say what to "
            "try, e.g. space={'encoder__numeric_scaling': newfound.Choice(['standard', 'quantile'])}.",
            parameter="space",
            value=space,
        )
    accepted = set(with_settings(discoverer, {}, encoder=True).get_params()) - {"n_novel_classes", "random_state"}
    unknown = [name for name in space if name not in accepted]
    if unknown:
        raise InputError(
            f"Got a space with {unknown[0]!r}, which is no parameter of {name} that can be tuned; expected some of "
            f"{', '.join(sorted(accepted))}.",
            parameter="space",
            value=space,
        )
    return dict(space)


def with_settings(discoverer: Any, settings: Mapping[str, Any], *, encoder: bool = False) -> Any:
    """Return an unfitted copy with other settings, where ``encoder__...`` changes the encoder of the table.

    Parameters
    ----------
    discoverer : Discoverer
        Left as it is.
    settings : mapping of parameter to value
    encoder : bool, default=False
        Whether to set out the default encoder even if no setting needs it.
    """
    copy = clone(discoverer)
    wanted = encoder or any(name.startswith(_ENCODER) for name in settings)
    if wanted and copy.get_params(deep=False).get("encoder", "none to set") is None:
        copy.set_params(encoder=TableEncoder())
    return copy.set_params(**settings)


def settings_of(discoverer: Any, space: Mapping[str, Space]) -> dict[str, Any]:
    """Values that a discoverer has now for the parameters of a search space."""
    present = with_settings(discoverer, {}, encoder=True).get_params()
    return {name: present[name] for name in space}


def _none_name(name: str) -> str:
    return f"{name} is None"


def _name_of(option: Any) -> str:
    return option if isinstance(option, str) else repr(option)


def _check_ends(space: Real | Whole) -> None:
    kind: Any = numbers.Integral if isinstance(space, Whole) else numbers.Real
    given = all(isinstance(end, kind) and math.isfinite(end) for end in (space.low, space.high))
    if not given or space.low >= space.high or (space.log and space.low <= 0):
        expected = "numbers with low < high, and low > 0 if log=True"
        raise InputError(
            f"Got {space!r}, but expected {expected}.", parameter="low", value=space.low, expected=expected
        )


def _holds(space: Real | Whole, value: Any, kind: Any) -> bool:
    if value is None:
        return space.or_none
    return isinstance(value, kind) and not isinstance(value, bool) and bool(space.low <= value <= space.high)


def _noted(space: Real | Whole, value: Any, name: str) -> dict[str, Any]:
    noted: dict[str, Any] = {} if value is None else {name: value}
    return noted | ({_none_name(name): value is None} if space.or_none else {})


ENCODINGS: dict[str, Space] = {
    "encoder__numeric_scaling": Choice(["standard", "signed_log", "quantile"]),
    "encoder__categorical_scaling": Choice(["none", "standard"]),
}
"""What there is to try of how a table is prepared, for discoverers that a fit costs little."""
