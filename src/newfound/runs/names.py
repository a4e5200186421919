"""Names of classes as files and people spell them, and the classes of a model that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newfound.errors import InputError

if TYPE_CHECKING:
    from newfound.discoverers.base import BaseDiscoverer


def class_names(model: BaseDiscoverer) -> list[str]:
    """Names of the known, then the novel classes as a file has them."""
    from newfound.tables.cells import text_of

    return [text_of(name) for classes in (model.known_classes_, model.novel_classes_) for name in classes.tolist()]


def class_named(name: str, model: BaseDiscoverer) -> Any:
    """Return the class that files call by this name, in the type that the model has."""
    names = class_names(model)
    if name.strip() in names:
        return model.classes_.tolist()[names.index(name.strip())]
    novel = ", ".join(names[len(model.known_classes_) :])
    raise InputError(f"Got {name}, but the model has no such class; its novel classes are {novel or 'none'}.")


def typed_name(name: str, model: BaseDiscoverer) -> Any:
    """Return a new name in the type of the classes: a number where they are numbers and it is one."""
    if model.classes_.dtype.kind in "if":
        try:
            return type(model.classes_.tolist()[0])(name)
        except ValueError:
            raise InputError(
                f"Got the name {name}, but the classes of this model are numbers; give a number."
            ) from None
    return name
