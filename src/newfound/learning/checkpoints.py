"""Checkpoints: a training is kept in a folder while it goes on, and goes on from there after it was ended.

Each file stands for itself: what it belongs to, the random generator that `fit` began with, the results of the finished
stages, and the stage that is under way. It is a safetensors file with facts as JSON, and holds nothing that could run.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

from newfound.errors import InputError, warn_user
from newfound.learning.peers import Peer
from newfound.staging import BusyError, staging
from newfound.writing import replacing

FORMAT = 2

_KEY = "newfound"
_LENGTH = 8  # bytes of a safetensors file that say how long its header is
_LONGEST_HEADER = 100_000_000  # bytes; safetensors reads no longer ones
_NAME = re.compile(r"checkpoint-(\d+)\.safetensors")
_KEPT = 2
_NOW = "now"


class Snapshot(NamedTuple):
    """The state of something: tensors by name, and facts that are JSON-able."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


class Checkpoints:
    """The checkpoints of one training.

    The two newest are kept. Where the newest cannot be read, the training goes on from the one before it. Files of the
    same names that another program wrote stay.

    Parameters
    ----------
    folder : str or path
        Made where it does not exist.
    every : float
        Seconds from one checkpoint to the next; 0 for one after every step.
    resume : bool
        Whether to go on from a checkpoint that is there. If not, the training starts anew, and its first checkpoint
        takes the place of all that are there.
    settings : dict, optional
        Texts of what the training follows from besides the discoverer's parameters.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        every: float = 60.0,
        resume: bool = True,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._every, self._resume, self._settings = every, resume, dict(settings or {})
        self._due = time.monotonic() + every
        self._belongs: dict[str, Any] = {}  # what every file says of the fit
        self._good: list[Path] = []  # files that can be read, the oldest first
        self._number = 0
        self._finished: list[Snapshot] = []  # results of stages, of this process or of the checkpoint
        self._now: Snapshot | None = None  # the stage that was under way in the checkpoint
        self._n_entered = 0
        self._held = ExitStack()
        self.warning: str | None = None  # that was given
        self.progress: dict[str, Any] | None = None  # `Progress.state` of the checkpoint

    # ---- reading

    def open(self, run: Mapping[str, Any], rng: np.random.RandomState) -> None:
        """Find the newest checkpoint that can be read, and bring the generator to where it was when that fit began.

        Parameters
        ----------
        run : dict
            What the training follows from besides the generator, JSON-able: parameters in a dict of texts, digests.
        rng : RandomState

        Raises
        ------
        InputError
            For a folder that cannot be used, in which another training is going on, or whose checkpoint belongs to
            another table or other settings.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._held.enter_context(staging(self.folder, "training"))
            paths = self._files()
        except BusyError as error:
            problem, cure = "in which another training is going on", "wait for it, or name another folder"
            raise InputError.of("checkpoint_dir", str(self.folder), problem=problem, cure=cure) from error
        except OSError as error:
            problem = f"which cannot be used as a folder ({error.strerror or error})"
            raise InputError.of("checkpoint_dir", str(self.folder), problem=problem) from error
        parameters = {**run.get("parameters", {}), **self._settings}
        generator = _plain(rng.get_state(legacy=False))
        self._belongs = {"format": FORMAT, "run": {**run, "parameters": parameters}, "generator": generator}
        found = self._newest(paths) if self._resume else None
        if found is not None:
            self._check(found[1])
            self._go_on_from(*found)
            rng.set_state(self._belongs["generator"])

    def close(self) -> None:
        """Leave the folder to other trainings."""
        self._held.close()

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without the hold on the folder."""
        return {**self.__dict__, "_held": ExitStack()}

    def of_peer(self, peer: Peer) -> Checkpoints:
        """Open the same checkpoints for a peer, perhaps in another process: only the first reads and writes files."""
        own = Checkpoints(self.folder, self._every)
        own._belongs = dict(self._belongs)
        found = own._newest(own._files()) if peer.is_first else None
        found = peer.from_first(found)
        if found is not None:
            own._go_on_from(*found)
        return own

    def clear_unless_resumed(self) -> None:
        """Delete all checkpoints that are there, where the training starts anew."""
        if not self._resume:
            self._delete(self._files())

    def _delete(self, paths: Iterable[Path]) -> None:
        for path in paths:
            if _is_ours(path):
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        """Return all checkpoints, the newest first; the next one gets a higher number."""
        names = (path.name for path in self.folder.iterdir())
        numbers = sorted((int(match[1]) for name in names if (match := _NAME.fullmatch(name))), reverse=True)
        self._number = max(numbers, default=0)
        return [self._path(number) for number in numbers]

    def _go_on_from(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        self._belongs["generator"] = facts["generator"]
        self.progress = facts["progress"]
        self._finished = [
            Snapshot(within(tensors, str(stage)), result) for stage, result in enumerate(facts["finished"])
        ]
        if facts[_NOW] is not None:
            self._now = Snapshot(within(tensors, _NOW), facts[_NOW])

    def enter(self) -> tuple[Snapshot | None, bool]:
        """Begin the next stage; returns what the checkpoint has of it, or None, and whether it is finished there."""
        stage = self._n_entered
        self._n_entered += 1
        if stage < len(self._finished):
            return self._finished[stage], True
        now, self._now = self._now, None
        return now, False

    # ---- writing

    @property
    def after_every_step(self) -> bool:
        """Whether it is always time for a checkpoint."""
        return self._every == 0

    @property
    def is_due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() >= self._due

    def save(self, now: Snapshot | None, progress: dict[str, Any]) -> None:
        """Write a checkpoint of the stage that is under way, and of the results of those before it.

        Where it cannot be written, for a full disk or the like, there is a warning and the training goes on.
        """
        tensors = named(_NOW, now.tensors) if now is not None else {}
        for stage, result in enumerate(self._finished):
            tensors |= named(str(stage), result.tensors)
        facts = {
            **self._belongs,
            "progress": progress,
            "finished": [result.facts for result in self._finished],
            _NOW: None if now is None else now.facts,
        }
        while os.path.lexists(path := self._path(self._number + 1)):  # another program wrote it in the meantime
            self._number += 1
        try:
            _write(path, tensors, facts)
            self._number += 1
            self._good = [*self._good, path][-_KEPT:]
            there = self.folder.glob("checkpoint-*.safetensors")
            self._delete(old for old in there if _NAME.fullmatch(old.name) and old not in self._good)
        except OSError as error:
            if self.warning is None:
                reason = error.strerror or error
                self.warning = (
                    f"A checkpoint could not be written to {self.folder} ({reason}). The training goes on; until one "
                    "can be written, the last checkpoint is the one to go on from."
                )
                warn_user(self.warning)
        self._due = time.monotonic() + self._every

    def finish(self, result: Snapshot, progress: dict[str, Any]) -> None:
        """Keep the result of a stage, and write it."""
        copies = {name: tensor.detach().to("cpu", copy=True) for name, tensor in result.tensors.items()}
        self._finished.append(Snapshot(copies, result.facts))
        self.save(None, progress)

    # ---- inside

    def _path(self, number: int) -> Path:
        return self.folder / f"checkpoint-{number:06d}.safetensors"

    def _newest(self, paths: Sequence[Path]) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        for path in paths:
            try:
                found = _read(path)
            except _UnreadableError as error:
                rest = "the training goes on from the one before it" if path != paths[-1] else "there is none before it"
                warn_user(f"The checkpoint {path} cannot be read ({error}); {rest}.")
            else:
                self._good = [path]
                return found
        return None

    def _check(self, facts: Mapping[str, Any]) -> None:
        """Raise InputError for a checkpoint of another training."""
        here = self._belongs
        if facts["format"] != here["format"]:
            differences = ["another version of newfound"]
        else:
            differences = _differences(facts["run"], here["run"])
        if differences:
            cure = "use the same table with the same settings, or an empty folder"
            problem = f"which holds a checkpoint of another training ({'; '.join(differences)})"
            raise InputError.of("checkpoint_dir", str(self.folder), problem=problem, cure=cure)


def named(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Put a prefix before the names of tensors."""
    return {f"{prefix}/{name}": tensor for name, tensor in tensors.items()}


def within(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors that `named` gave a prefix, under their own names."""
    start = f"{prefix}/"
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


class _UnreadableError(Exception):
    """A file that is not a whole checkpoint."""


def _write(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(facts)
    with replacing(path) as fresh:
        try:
            save_file(plain, fresh, {_KEY: text, "digest": _digest(plain, text)})
        except SafetensorError as error:  # how it tells of a full disk
            raise OSError(str(error)) from error


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        tensors, header = read_tensors(path)
        text = header[_KEY]
        if header["digest"] != _digest(tensors, text):
            raise _UnreadableError("its content is not what was written")
        facts: dict[str, Any] = json.loads(text)
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise _UnreadableError(str(error)) from error
    return tensors, facts


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read the tensors of a safetensors file, and the texts in its header.

    The bytes are read, not mapped into memory: a file that is cut while it is mapped ends the whole process.
    """
    content = path.read_bytes()
    # Copies: numbers that lie among other bytes are aligned otherwise, and might be rounded otherwise.
    tensors = {name: tensor.clone() for name, tensor in load(content).items()}
    return tensors, _texts(io.BytesIO(content))


def _texts(file: IO[bytes]) -> dict[str, str]:
    """Read the texts in the header of a safetensors file."""
    length = int.from_bytes(file.read(_LENGTH), "little")
    header: dict[str, Any] = json.loads(file.read(min(length, _LONGEST_HEADER)))
    found: dict[str, str] = header.get("__metadata__", {})
    return found


def _is_ours(path: Path) -> bool:
    """Whether we have written a file, though it may have been cut short since; nothing is lost with an empty one."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            return False
        with path.open("rb") as file:
            return not found.st_size or {_KEY, "digest"} <= _texts(file).keys()
    except (OSError, ValueError, RecursionError, AttributeError):
        return False


def _digest(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Say in words what a checkpoint belongs to, and this fit does not."""
    differences = []
    for name in sorted(there.keys() | here.keys()):
        old, new = there.get(name), here.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
            differences += [f"{key}={old.get(key)} there, {new.get(key)} here" for key in changed]
        elif old != new:
            differences.append(f"another {name}")
    return differences


def _plain(value: Any) -> Any:
    """Replace arrays within dicts by lists."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value
