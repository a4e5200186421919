"""Saving and loading fitted discoverers: one safetensors file with a JSON header, checked before anything is built.

The format is described in docs/model_file.md. Nothing in a file can name code to run: classes come from an allow-list,
parameters pass the discoverer's own checks, and arrays must have the types and shapes that these ask for.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as from_safetensors
from safetensors.numpy import save as to_safetensors

import newfound
from newfound.discoverers.base import BaseDiscoverer
from newfound.discoverers.curation import Curation
from newfound.discoverers.fitted import Arrays
from newfound.discoverers.memory import Memory
from newfound.discoverers.parameters import pick_device
from newfound.errors import InputError, ModelFileError, warn_user
from newfound.parameters import check_path
from newfound.registry import needs_known_classes, registered, registration_named, registration_of
from newfound.routing.calibration import COLDEST, HOTTEST
from newfound.tables import TableEncoder, all_classes
from newfound.tables.cells import shown
from newfound.tables.labels import class_array, classes_from_json, classes_to_json
from newfound.tables.state import Entries
from newfound.writing import replacing

FORMAT_VERSION = 2
READABLE_VERSIONS = (1, 2)

_METADATA_KEY = "newfound"
_HEADER_KEYS = {
    "format_version",
    "newfound_version",
    "class",
    "parameters",
    "encoder",
    "known_classes",
    "novel_classes",
    "history",
    "digest",
}
_SINCE_VERSION_2 = {"temperature", "curation", "used_names"}
_FACTS = "facts"  # an entry of those discoverers only that have any
# Parameters that came later and whose default is not what the files before them mean.
_MEANT_BEFORE: dict[str, dict[str, Any]] = {
    "AutoDiscoverer": {"unlabelled": "novel"},
    "ClassifierProjection": {"projection": "after"},
}
_DTYPES = ("F64", "F32", "I32")
_LENGTH = 8  # bytes of a safetensors file that say how long its header is
_LONGEST_HEADER = 100_000_000  # bytes; safetensors reads no longer ones
_NOT_OURS = "it is not a model file written by newfound.save, or only a part of one"
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0)
_COLLECTIONS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}
_ENCODER, _DISCOVERER, _CURATION, _LABELS = "encoder.", "discoverer.", "curation.", "labels"
_MEMORY = "memory."
_LONGEST_REASON = 500
_LARGEST = 1e100

# What content that makes no sense can raise on its way through numpy, torch and the discoverers' own checks.
_NONSENSE = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


def save(model: BaseDiscoverer, path: str | os.PathLike[str], *, rows: bool = True) -> None:
    """Save a fitted discoverer as one file, which `load` reads.

    A file that is there already is replaced only once the new one is complete on the disk.

    Parameters
    ----------
    model : discoverer
        A fitted discoverer: one of newfound's own, or one that is registered by `newfound.register_discoverer`.
    path : str or path
        Where to; the ending ``.newfound`` is customary.
    rows : bool, default=True
        Whether the file holds the encoded rows that the discoverer keeps of each class, at most 300 a class. Without
        them the loaded discoverer predicts the same, but `update` and `newfound.suggest_merges` do not work.

    Raises
    ------
    InputError
        If the model is not a fitted discoverer, or no longer fits its parameters.
    ModelFileError
        If the file cannot be written. An earlier file is then intact.

    Examples
    --------
    >>> import newfound as nf
    >>> model = nf.KMeansDiscoverer(n_novel_classes=1).fit([[0.0], [1.0], [9.0]], ["a", "a", None])
    >>> nf.save(model, "small.newfound")  # doctest: +SKIP
    >>> nf.load("small.newfound").predict([[8.0]])  # doctest: +SKIP
    array(['novel_0'], dtype=object)
    """
    target = check_path("path", path)
    if not isinstance(rows, bool):
        raise InputError.of("rows", rows, "True or False")
    if registration_of(type(model)) is None:
        raise InputError(
            f"Got a model of type {type(model).__name__}, but only these can be saved: {_class_names()}. A discoverer "
            "of your own can be once it is registered with newfound.register_discoverer.",
            parameter="model",
            value=model,
            expected=f"one of {_class_names()}",
        )
    model._check_is_fitted()
    if type(model.encoder_) is not TableEncoder:
        raise InputError(
            f"Got an encoder of type {type(model.encoder_).__name__}, but only a TableEncoder can be saved.",
            parameter="encoder",
            value=model.encoder_,
            expected="a TableEncoder",
        )
    header, arrays = _header_of(model), _arrays_of(model, rows=rows)
    header["digest"] = _digest(header, arrays)
    text = _json_text(header)
    _rehearse(model, text, arrays)
    _write(target, to_safetensors(arrays, metadata={_METADATA_KEY: text}))


def load(path: str | os.PathLike[str]) -> BaseDiscoverer:
    """Load a discoverer that `save` wrote; its predictions are equal to the bit.

    Parameters
    ----------
    path : str or path
        The file. It may come from anyone: loading runs no code from it.

    Returns
    -------
    discoverer
        Fitted. A ``random_state`` that was a RandomState object comes back as None, and a GPU that is not there as
        ``device="auto"``, with a warning.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is of another kind or version, was cut short or altered, or makes no sense.
    """
    source = check_path("path", path)
    try:
        text, arrays = _read(source)
        return _model_from(text, arrays)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {source}: {_one_line(str(error))}") from error


# ---- a model as JSON and arrays


def _header_of(model: BaseDiscoverer) -> dict[str, Any]:
    parameters = {name: _parameter_to_json(name, value) for name, value in model.get_params(deep=False).items()}
    facts = {name: [_item_to_json(f"{name}_", item) for item in items] for name, items in model._facts().items()}
    return {
        "format_version": FORMAT_VERSION,
        "newfound_version": newfound.__version__,
        "class": type(model).__name__,
        "parameters": parameters,
        "encoder": model.encoder_.to_state()[0],
        "known_classes": classes_to_json(model.known_classes_),
        "novel_classes": classes_to_json(model.novel_classes_),
        "used_names": classes_to_json(class_array(model._used_names, model.novel_classes_)),
        "curation": model.curation_.to_state()[0],
        "temperature": float(model.temperature_),
        "history": [_item_to_json("history_", epoch) for epoch in model.history_],
    } | ({_FACTS: facts} if facts else {})


def _arrays_of(model: BaseDiscoverer, *, rows: bool = True) -> Arrays:
    arrays = {_ENCODER + name: array for name, array in model.encoder_.to_state()[1].items()}
    arrays |= {_DISCOVERER + name: array for name, array in model._fitted_arrays().items()}
    arrays |= {_CURATION + name: array for name, array in model.curation_.to_state()[1].items()}
    arrays[_LABELS] = model._codes_of(model.labels_)
    if rows and model._memory is not None:
        arrays |= {_MEMORY + name: array for name, array in model._memory.arrays().items()}
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _parameter_to_json(name: str, value: Any) -> Any:
    if isinstance(value, TableEncoder):
        return _encoder_parameters(value)
    if name == "device":
        return str(value)
    if name == "random_state" and isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        items = [_parameter_to_json(name, item) for item in value]
        kind = type(value).__name__
        if isinstance(value, (set, frozenset)):
            items.sort()  # a set has no order of its own, and the same model should give the same file
        return {kind: items} if kind in _COLLECTIONS else items
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return {"tuple": [_parameter_to_json(name, item) for item in value]}
    return _scalar_to_json(f"the parameter {name}", value)


def _encoder_parameters(encoder: TableEncoder) -> dict[str, Any]:
    parameters = encoder.get_params(deep=False)
    kinds = parameters.pop("kinds")
    if kinds is not None:
        kinds = {str(name): kind for name, kind in kinds.items()}
    return {"kinds": kinds} | {name: _parameter_to_json(name, value) for name, value in parameters.items()}


def _item_to_json(what: str, item: Any) -> Any:
    """Item of a list: a text or number, or a dict of these."""
    if isinstance(item, dict):
        return {str(key): _value_to_json(what, value) for key, value in item.items()}
    return _scalar_to_json(what, item)


def _value_to_json(what: str, value: Any) -> Any:
    if isinstance(value, Real) and not math.isfinite(value):
        return {"not_finite": str(float(value))}  # JSON has no such numbers
    return _scalar_to_json(what, value)


def _scalar_to_json(what: str, value: Any) -> str | int | float | None:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    if isinstance(value, str):
        return str(value)
    if value is None:
        return None
    raise InputError(
        f"Got {shown(value)} of type {type(value).__name__} in {what}, which a model file cannot hold; "
        "numbers, texts, None and lists of these can be saved."
    )


def _json_text(content: Any) -> str:
    # Non-ASCII characters are escaped: even half of a surrogate pair in a column name then survives.
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def _digest(header: Mapping[str, Any], arrays: Arrays) -> str:
    """SHA-256 over everything in the file but the digest itself."""
    seal = hashlib.sha256(_json_text({key: value for key, value in header.items() if key != "digest"}).encode())
    for name in sorted(arrays):
        array = arrays[name]
        seal.update(_json_text([name, array.dtype.name, array.shape]).encode())
        seal.update(array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8).data)
    return seal.hexdigest()


def _rehearse(model: BaseDiscoverer, text: str, arrays: Arrays) -> None:
    """Build the model from what is about to be written, so that no file is written that `load` would refuse."""
    name = type(model).__name__
    try:
        copy = _model_from(text, arrays)
    except ModelFileError as error:
        raise InputError(
            f"This {name} cannot be saved: {_one_line(str(error))} If its parameters were changed after fit, or its "
            "training diverged, fit it again."
        ) from error
    probe = np.stack([np.zeros(model.encoder_.layout_.n_columns), np.ones(model.encoder_.layout_.n_columns)])
    if not (
        np.array_equal(model._curated_proba(probe), copy._curated_proba(probe))
        and np.array_equal(model._latent(probe), copy._latent(probe))
    ):
        raise InputError(
            f"This {name} cannot be saved: with its present parameters it would predict otherwise than it does. They "
            "were changed after fit; set them back, or fit again."
        )


# ---- JSON and arrays as a model


def _model_from(text: str, arrays: Arrays) -> BaseDiscoverer:
    """Build a model after checking everything it is made of; ModelFileError otherwise."""
    try:
        header = _checked_header(text, arrays)
        model = _new_discoverer(header)
        _restore(model, header, arrays)
    except _NONSENSE as error:
        raise ModelFileError(f"its content makes no sense: {str(error) or type(error).__name__}") from error
    unknown = sorted(set(arrays) - set(_arrays_of(model)))
    if unknown:
        raise ModelFileError(f"array {shown(unknown[0])} does not belong in a {type(model).__name__}.")
    return model


def _checked_header(text: str, arrays: Arrays) -> dict[str, Any]:
    header = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    version = Entries(header, "the header").get("format_version", int)
    if version not in READABLE_VERSIONS:
        raise ModelFileError(
            f"it has format version {shown(version)}, and newfound {newfound.__version__} reads "
            f"{' and '.join(map(str, READABLE_VERSIONS))}; load it with the newfound that wrote it, or a newer one."
        )
    wanted = _HEADER_KEYS if version == 1 else _HEADER_KEYS | _SINCE_VERSION_2
    if set(header) - {_FACTS} != wanted:
        raise ModelFileError(
            f"the header must hold exactly {', '.join(sorted(wanted))}, and {_FACTS} where there are any."
        )
    if header["digest"] != _digest(header, arrays):
        raise ModelFileError("its content does not match its digest: it was damaged or altered after saving.")
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ModelFileError(f"array {shown(name)} must hold finite numbers.")
        if array.dtype == np.float64 and not name.startswith(_ENCODER) and np.abs(array).max(initial=0.0) > _LARGEST:
            raise ModelFileError(
                f"array {shown(name)} holds numbers beyond {_LARGEST:g}, whose squares are no numbers."
            )
    return dict(header)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ModelFileError("the header names an entry twice.")
    return content


def _refuse_constant(constant: str) -> Any:
    raise ModelFileError(f"the header holds {constant}, which is not JSON.")


def _new_discoverer(header: dict[str, Any]) -> BaseDiscoverer:
    entries = Entries(header, "the header")
    entries.get("newfound_version", str)
    registration = registration_named(entries.get("class", str))
    if registration is None:
        raise ModelFileError(
            f"it holds a {shown(header['class'])}, which is none of {_class_names()}. If it is a discoverer of another "
            "package, import that package first, so that it is registered."
        )
    kind = registration.load()
    stored = _MEANT_BEFORE.get(kind.__name__, {}) | entries.get("parameters", dict)
    unknown = sorted(set(stored) - set(kind().get_params(deep=False)))
    if unknown:
        raise ModelFileError(f"{kind.__name__} has no parameter {shown(unknown[0])}.")
    model = kind(**{name: _parameter_from_json(name, value) for name, value in stored.items()})
    try:
        model._check_all_parameters()
    except InputError as error:
        raise ModelFileError(str(error)) from error
    return model


def _parameter_from_json(name: str, value: Any) -> Any:
    if name == "encoder":
        return None if value is None else _encoder_from_json(value)
    if name == "device":
        return _device_here(value)
    if name == "random_state" and not (value is None or (type(value) is int and 0 <= value < 2**32)):
        raise ModelFileError(f"random_state must be None or a whole number from 0 to 2**32 - 1, got {shown(value)}.")
    collection: type = list
    if isinstance(value, dict):
        tag, value = value.popitem() if len(value) == 1 else ("", None)
        collection = _COLLECTIONS.get(tag, list)
        if collection is list or not isinstance(value, list):
            raise ModelFileError(f"the parameter {name} is not understood.")
    if not isinstance(value, list):
        return value
    if any(isinstance(item, (list, dict)) for item in value):
        raise ModelFileError(f"the parameter {name} must not be nested.")
    return collection(value)


def _encoder_from_json(value: Any) -> TableEncoder:
    kinds = Entries(value, "the parameter encoder").kinds("kinds")
    unknown = sorted(set(value) - set(TableEncoder().get_params(deep=False)))
    if unknown:
        raise ModelFileError(f"TableEncoder has no parameter {shown(unknown[0])}.")
    encoder = TableEncoder(**{**value, "kinds": kinds})
    encoder._check_parameters()
    return encoder


def _device_here(device: Any) -> str:
    """Return the device of a saved model, or "auto" if it is a GPU that this machine does not have."""
    if not isinstance(device, str):
        raise ModelFileError(f"device must be a text, got {shown(device)}.")
    if device != "auto" and torch.device(device).type == "cuda":
        try:
            pick_device(device)
        except InputError:
            warn_user(f"The model was saved with device={device!r}, which is not here; it now has device='auto'.")
            return "auto"
    return device


def _restore(model: BaseDiscoverer, header: dict[str, Any], arrays: Arrays) -> None:
    model.encoder_ = TableEncoder.from_state(header["encoder"], _part(arrays, _ENCODER))
    model._copy_features_in()
    model.known_classes_, model.novel_classes_ = _checked_classes(model, header)
    model.classes_ = all_classes(model.known_classes_, model.novel_classes_)
    if len(np.unique(model.classes_)) != len(model.classes_):
        raise ModelFileError("a class is both known and novel.")
    _restore_curation(model, header, arrays)
    model.history_ = _history_from_json(header["history"])
    codes = model._codes_from(arrays, _LABELS, (-1,), len(model.classes_))
    model.labels_ = model.classes_[codes]
    model._restore_fitted(_part(arrays, _DISCOVERER))
    without_rows = np.setdiff1d(np.arange(len(model.known_classes_)), codes)
    if len(without_rows) and model._updated is None:  # an update may have named further known classes
        raise ModelFileError(f"the known class {shown(model.known_classes_.tolist()[without_rows[0]])} has no rows.")
    _restore_memory(model, _part(arrays, _MEMORY))
    if any(split.centroids.shape[1] != model._n_features_out for split in model.curation_.splits):
        raise ModelFileError("a class is split by centroids of another number of dimensions than the latent space.")
    facts = _facts_from_json(header.get(_FACTS, {}))
    model._restore_facts(facts)
    unknown = sorted(set(facts) - set(model._facts()))
    if unknown:
        raise ModelFileError(f"the facts hold {shown(unknown[0])}, which does not belong in a {type(model).__name__}.")


def _restore_memory(model: BaseDiscoverer, arrays: Arrays) -> None:
    """Restore the rows that the model keeps; older files, and those saved without them, have none."""
    n_classes = len(model.known_classes_) + model._n_found
    model._memory = Memory.restore(arrays, model.encoder_.layout_.n_columns, n_classes) if arrays else None


def _restore_curation(model: BaseDiscoverer, header: dict[str, Any], arrays: Arrays) -> None:
    """Restore what was done to the classes since fit; in files of version 1 nothing was."""
    n_known, novel = len(model.known_classes_), model.novel_classes_
    if header["format_version"] == 1:
        model.temperature_, model.curation_ = 1.0, Curation(n_known, len(novel))
        model._used_names = tuple(novel.tolist())
        return
    model.temperature_ = Entries(header, "the header").number("temperature")
    if not COLDEST <= model.temperature_ <= HOTTEST:
        raise ModelFileError(f"the temperature must be from {COLDEST:g} to {HOTTEST:g}.")
    model.curation_ = Curation.from_state(header["curation"], _part(arrays, _CURATION), n_known)
    if model.curation_.n_novel != len(novel):
        raise ModelFileError(
            f"the steps of the curation lead to {shown(model.curation_.n_novel)} novel classes, and {len(novel)} are "
            "named."
        )
    used = classes_from_json(header["used_names"])
    if used.dtype.kind != novel.dtype.kind or not np.isin(novel, used).all():
        raise ModelFileError("the used names must be of the type of the novel classes, and hold all of these.")
    model._used_names = tuple(used.tolist())


def _class_names() -> str:
    return ", ".join(sorted(entry.class_name for entry in registered().values()))


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _checked_classes(model: BaseDiscoverer, header: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    known, novel = classes_from_json(header["known_classes"]), classes_from_json(header["novel_classes"])
    needs_known = needs_known_classes(type(model))
    if len(known) + len(novel) == 0 or (needs_known and len(known) == 0):
        raise ModelFileError(f"a {type(model).__name__} needs {'known ' * needs_known}classes.")
    if (known[1:] <= known[:-1]).any():
        raise ModelFileError("the known classes must be in increasing order.")
    # Novel classes go on in the type of the known ones; only after False and True come the integers 2, 3, ...
    if novel.dtype.kind != {"b": "i"}.get(known.dtype.kind, known.dtype.kind):
        raise ModelFileError("known and novel classes must be of one type.")
    return known, novel


def _history_from_json(content: Any) -> list[dict[str, Any]]:
    if not isinstance(content, list) or not all(isinstance(epoch, dict) for epoch in content):
        raise ModelFileError("the history must be a list of dicts.")
    return [_item_from_json("the history", epoch) for epoch in content]


def _facts_from_json(content: Any) -> dict[str, list[Any]]:
    if not isinstance(content, dict) or not all(isinstance(items, list) for items in content.values()):
        raise ModelFileError("the facts must be a dict of lists.")
    return {name: [_item_from_json("the facts", item) for item in items] for name, items in content.items()}


def _item_from_json(what: str, item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _value_from_json(what, value) for key, value in item.items()}
    return _value_from_json(what, item)


def _value_from_json(what: str, value: Any) -> Any:
    if isinstance(value, dict) and list(value.values()) in (["nan"], ["inf"], ["-inf"]) and "not_finite" in value:
        return float(value["not_finite"])
    if isinstance(value, (dict, list)) or (isinstance(value, float) and not math.isfinite(value)):
        raise ModelFileError(f"{what} must hold single numbers and texts.")
    return value


# ---- files


def _read(path: str) -> tuple[str, Arrays]:
    """Read header and arrays; what the file claims to hold is compared with its size before memory is taken.

    The bytes are read, not mapped into memory: a file that is cut while it is mapped ends the whole process.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ModelFileError("it is not a file.")
        # what has become a pipe in the meantime would be waited for without end
        with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | _WITHOUT_WAITING)) as file:
            size = os.fstat(file.fileno()).st_size
            header = _read_header(file, size)
            file.seek(0)
            content = _read_exactly(file, size)
        text = header.get("__metadata__", {}).get(_METADATA_KEY)
        if text is None:
            raise ModelFileError("it is a safetensors file, but not one that newfound.save has written.")
        for name, array in header.items():
            if name != "__metadata__" and array["dtype"] not in _DTYPES:
                raise ModelFileError(f"array {shown(name)} must be one of {', '.join(_DTYPES)}.")
        return text, from_safetensors(content)
    except SafetensorError as error:
        raise ModelFileError(f"{_NOT_OURS} ({error}).") from error
    except OSError as error:
        raise ModelFileError(f"{error.strerror or error}.") from error
    except (*_NONSENSE, RecursionError) as error:
        raise ModelFileError(f"it cannot be read: {str(error) or type(error).__name__}") from error


def _read_header(file: Any, size: int) -> dict[str, Any]:
    """Read what a file says it holds; ModelFileError unless its size agrees."""
    length = int.from_bytes(_read_exactly(file, min(size, _LENGTH)), "little")
    if not 2 <= length <= min(size - _LENGTH, _LONGEST_HEADER):
        raise ModelFileError(f"{_NOT_OURS} (its header is too long for it).")
    header: dict[str, Any] = json.loads(_read_exactly(file, length), object_pairs_hook=_unique_keys)
    ends = [array["data_offsets"][1] for name, array in header.items() if name != "__metadata__"]
    if max(ends, default=0) != size - _LENGTH - length:
        raise ModelFileError(f"{_NOT_OURS} (its arrays do not fill it).")
    return header


def _read_exactly(file: Any, size: int) -> bytes:
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    if size:
        raise ModelFileError(f"{_NOT_OURS} (it was cut while it was being read).")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write(path: str, data: bytes) -> None:
    """Write a file as a whole or not at all."""
    try:
        with replacing(path) as fresh, open(fresh, "xb") as file:
            file.write(data)
    except OSError as error:
        raise ModelFileError(
            f"Cannot save to {path}: {error.strerror or error}. No file was written or changed."
        ) from error


def _one_line(reason: str) -> str:
    line = " ".join(reason.split())
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 3] + "..."
