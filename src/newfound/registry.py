"""Which discoverers there are: the one list that public names, the command line, model files and messages read."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from newfound.errors import InputError

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer

_METHOD = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Registration:
    """A discoverer, by name: nothing is imported until its class is asked for.

    Attributes
    ----------
    method : str
        What the command line calls it.
    class_name, module : str
        Its class, and where that is defined.
    needs_labels : bool
        Whether it learns from known classes, and so cannot do without any.
    kind : type or None
        The class itself, where it is not newfound's own.
    """

    method: str
    class_name: str
    module: str
    needs_labels: bool = True
    kind: type[BaseDiscoverer] | None = None

    def load(self) -> type[BaseDiscoverer]:
        """Return the class."""
        if self.kind is not None:
            return self.kind
        kind: type[BaseDiscoverer] = getattr(importlib.import_module(self.module), self.class_name)
        return kind


BUILT_IN = (
    Registration("auto", "AutoDiscoverer", "newfound.discoverers.auto"),
    Registration("in_context", "InContextDiscoverer", "newfound.discoverers.in_context"),
    Registration("tabular_ncd", "TabularNCD", "newfound.discoverers.tabular_ncd"),
    Registration("pbn", "PBN", "newfound.discoverers.pbn"),
    Registration("ncd_kmeans", "NCDKMeans", "newfound.discoverers.ncd_kmeans"),
    Registration("ncd_spectral", "NCDSpectral", "newfound.discoverers.ncd_spectral"),
    Registration("whitened_kmeans", "WhitenedKMeans", "newfound.discoverers.whitened_kmeans"),
    Registration("classifier_projection", "ClassifierProjection", "newfound.discoverers.classifier_projection"),
    Registration("kmeans", "KMeansDiscoverer", "newfound.discoverers.kmeans", needs_labels=False),
    Registration("spectral", "SpectralDiscoverer", "newfound.discoverers.spectral", needs_labels=False),
)
"""Newfound's own discoverers, in the order in which they are listed."""

PLUGINS = "newfound.discoverers"
"""The group of entry points by which installed packages bring discoverers of their own."""

_REGISTERED = {entry.method: entry for entry in BUILT_IN}

D = TypeVar("D", bound="type[BaseDiscoverer]")


def registered() -> dict[str, Registration]:
    """Return all discoverers by the names that the command line knows them by."""
    return dict(_REGISTERED)


@functools.cache
def load_plugins() -> None:
    """Register the discoverers of installed packages: each entry point is a class, and its name that of the method.

    Called where a name is not known, since looking for entry points takes time.
    """
    from importlib.metadata import entry_points

    for entry in entry_points(group=PLUGINS):
        try:
            kind = entry.load()
        except Exception as error:  # the code of others
            raise InputError(
                f"The discoverer {entry.name!r} of an installed package cannot be imported from {entry.value}: "
                f"{type(error).__name__}: {error}. Repair or uninstall that package."
            ) from error
        if registration_of(kind) is None:  # its module may have registered it
            register_discoverer(kind, entry.name)


def register_discoverer(kind: D, method: str, *, needs_labels: bool | None = None) -> D:
    """Make a discoverer of your own known to newfound: it can then be saved, loaded and named as a method.

    A model file names its class and holds no code. To load such a file, import the module that registers the class
    first. The command line, which imports no module of yours, finds the discoverers of installed packages that name
    them as entry points::

        [project.entry-points."newfound.discoverers"]
        quick = "my_package.quick:Quick"

    Parameters
    ----------
    kind : subclass of BaseDiscoverer
        Its constructor takes ``n_novel_classes`` first, and every argument has a default. ``encoder`` and
        ``random_state`` are used where it has them.
    method : str
        Name of the method: lower-case letters, digits and underscores.
    needs_labels : bool, optional
        Whether it cannot do without known classes; by default what holds for the class that it inherits from.

    Returns
    -------
    kind
        As it is.

    Raises
    ------
    InputError
        For what is not a discoverer, and for a name that another discoverer has.

    Examples
    --------
    >>> import newfound as nf
    >>> class Quick(nf.KMeansDiscoverer):
    ...     def __init__(self, n_novel_classes="auto", *, n_init=1, encoder=None, random_state=None):
    ...         super().__init__(n_novel_classes, n_init=n_init, encoder=encoder, random_state=random_state)
    >>> nf.register_discoverer(Quick, "quick").__name__
    'Quick'
    """
    base = importlib.import_module("newfound.discoverers.base").BaseDiscoverer  # imports this module itself
    if not isinstance(kind, type) or not issubclass(kind, base):
        raise InputError.of("kind", kind, "a subclass of newfound.BaseDiscoverer")
    if not isinstance(method, str) or not _METHOD.fullmatch(method):
        raise InputError.of("method", method, "a name of lower-case letters, digits and underscores")
    arguments = list(inspect.signature(kind).parameters.values())
    if [argument.name for argument in arguments[:1]] != ["n_novel_classes"] or any(
        argument.default is argument.empty for argument in arguments
    ):
        takes = "a class whose constructor takes n_novel_classes first, and has a default for every argument"
        raise InputError.of("kind", kind, takes)
    needs = needs_known_classes(kind) if needs_labels is None else bool(needs_labels)
    mine = Registration(method, kind.__name__, kind.__module__, needs, kind)
    for other in _REGISTERED.values():
        same_name = other.method == method or other.class_name == mine.class_name
        # The same class defined again, as when a cell of a notebook is run twice, takes the place of the first.
        is_again = (other.class_name, other.module) == (mine.class_name, mine.module) and other not in BUILT_IN
        if same_name and not is_again:
            raise InputError(
                f"Got {kind.__name__} as {method!r}, but {other.class_name} of {other.module} is registered as "
                f"{other.method!r}; choose other names for the class and the method."
            )
    for name in [name for name, other in _REGISTERED.items() if other.class_name == mine.class_name]:
        del _REGISTERED[name]
    _REGISTERED[method] = mine
    return kind


def registration_of(kind: type[Any]) -> Registration | None:
    """Return the registration of exactly this class, or None."""
    return next((entry for entry in _REGISTERED.values() if _is(entry, kind)), None)


def registration_named(class_name: str) -> Registration | None:
    """Return the registration of the class of this name, or None; installed packages are asked too."""
    found = next((entry for entry in _REGISTERED.values() if entry.class_name == class_name), None)
    if found is None:
        load_plugins()
        found = next((entry for entry in _REGISTERED.values() if entry.class_name == class_name), None)
    return found


def needs_known_classes(kind: type[Any]) -> bool:
    """Whether a discoverer learns from known classes; one that is not registered does what its nearest base does."""
    found = (registration_of(base) for base in kind.__mro__)
    return next((entry.needs_labels for entry in found if entry is not None), True)


def _is(registration: Registration, kind: type[Any]) -> bool:
    if registration.kind is not None:
        return registration.kind is kind
    return (registration.class_name, registration.module) == (kind.__name__, kind.__module__)
