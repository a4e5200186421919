"""What selection asks of a discoverer, and fitting several at once where they can."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from newfound.errors import InputError


class Discoverer(Protocol):
    """An estimator that finds novel classes, known by what it can do."""

    n_novel_classes: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor."""

    def set_params(self, **params: Any) -> Any:
        """Change some of them."""

    def fit(self, X: Any, y: Any) -> Any:
        """Find novel classes among the unlabelled rows."""

    def predict_novel(self, X: Any) -> NDArray[Any]:
        """Predict a novel class for each row; shape (n,)."""


_ABILITIES = ("n_novel_classes", "get_params", "set_params", "fit", "predict_novel")


@runtime_checkable
class Packable(Protocol):
    """A discoverer that may be fitted at once with others."""

    def _together_key(self) -> Hashable:
        """Discoverers of one key can be fitted together; one whose key is None is fitted alone."""

    def _fit_together(self, discoverers: Sequence[Any], X: Any, y: Any) -> list[Any]:
        """Return fitted copies."""


def check_discoverer(discoverer: Any) -> None:
    """Raise InputError for what is not a discoverer."""
    if isinstance(discoverer, type) or not all(hasattr(discoverer, name) for name in _ABILITIES):
        expected = "a discoverer such as TabularNCD(), which can fit and predict_novel"
        raise InputError.of("discoverer", discoverer, expected)


def packs(discoverers: Sequence[Any]) -> list[list[int]]:
    """Group discoverers that can be fitted at once.

    Returns
    -------
    list of list of int
        Places of the discoverers of each pack, in the order of its first one.
    """
    groups: dict[Hashable, list[int]] = {}
    for place, discoverer in enumerate(discoverers):
        key = together_key(discoverer)
        groups.setdefault(("alone", place) if key is None else ("together", key), []).append(place)
    return list(groups.values())


def together_key(discoverer: Any) -> Hashable:
    """Discoverers of one key can be fitted by one `fit_pack`; None if it can only be fitted alone."""
    return discoverer._together_key() if isinstance(discoverer, Packable) else None


def fit_pack(discoverers: Sequence[Any], X: Any, y: Any) -> list[Any]:
    """Fit the discoverers of one pack; each ends as if it had been fitted alone, but for rounding.

    Parameters
    ----------
    discoverers : sequence of Discoverer
        One, or several of one group of `packs`.
    X : table of shape (n, n_columns)
    y : labels of shape (n,)

    Returns
    -------
    list of Discoverer
        Fitted.
    """
    first = discoverers[0]
    if len(discoverers) > 1 and isinstance(first, Packable):
        return first._fit_together(discoverers, X, y)
    # Classes are asked for, not probabilities, and every known row helps to find them.
    settings = {"calibrate": False} if has_fit_parameter(first, "calibrate") else {}
    return [discoverer.fit(X, y, **settings) for discoverer in discoverers]
