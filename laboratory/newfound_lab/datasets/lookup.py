"""Finding a benchmark's table: prepared, read from the official files, or downloaded first."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from newfound.errors import InputError
from newfound.writing import replacing
from newfound_lab.datasets.archives import check_archive
from newfound_lab.datasets.files import (
    Folder,
    beside,
    cache_folder,
    data_folders,
    find_file,
    is_there,
    locked,
    read_record,
    sha256_of,
    verify,
    write_record,
    writing_to,
)
from newfound_lab.datasets.raw import read_frame, read_images
from newfound_lab.datasets.registry import Benchmark
from newfound_lab.datasets.sources import Source
from newfound_lab.datasets.transfer import TransferError, download_file

__all__ = ["fetch", "find_table"]


def find_table(
    benchmark: Benchmark, data_dir: Folder | None = None, *, download: bool = True, progress: bool | None = None
) -> tuple[Path, Benchmark]:
    """Find a benchmark's table in the data folder, else in the cache, else at its official address.

    In each folder, the prepared file comes first, unless it is only a part of the official table; then the official
    files, read once and kept in the cache.

    Parameters
    ----------
    benchmark : Benchmark
        With a file.
    data_dir : str or path, optional
        The data folder; ``NEWFOUND_DATA`` where it is None.
    download : bool
        Whether to use the network.
    progress : bool, optional
        Whether a download shows a progress bar; where None, if the standard error stream is a terminal.

    Returns
    -------
    path : Path
        Parquet or npz, verified.
    benchmark : Benchmark
        As it is on this table.
    """
    source = benchmark.source
    if source is None:
        return find_file(benchmark.file, benchmark.sha256, benchmark=benchmark.name, data_dir=data_dir), benchmark
    steps = (_official, _prepared) if source.regime else (_prepared, _official)
    folders = data_folders(data_dir)
    for folder in folders:
        for step in steps:
            if found := step(benchmark, folder):
                return found
    if not download:
        raise InputError(_missing(benchmark, source, folders, f"download=False forbids to use {source.address}"))
    try:
        fetch(source, cache_folder(), progress=progress)
    except TransferError as error:
        raise InputError(_missing(benchmark, source, folders, str(error))) from error
    found = _official(benchmark, cache_folder())
    assert found is not None
    return found


def fetch(source: Source, folder: Path, *, progress: bool | None = None) -> tuple[Path, ...]:
    """Download those of the official files that are not in a folder yet, verify the others, and return their paths."""
    paths = tuple(folder / file for file in source.files)
    most = source.largest_mib << 20
    for address, path in zip(source.addresses, paths, strict=True):
        if is_there(path):
            _digest(path)
            continue
        check = partial(check_archive, kind=path.suffix, most=most)
        try:
            download_file(address, path, largest=most, check=check, progress=progress)
        except TransferError as error:
            raise TransferError(f"{address} could not be downloaded: {error}") from error
    return paths


def _prepared(benchmark: Benchmark, folder: Path) -> tuple[Path, Benchmark] | None:
    path = folder / benchmark.file
    if not is_there(path):
        return None
    verify(path, benchmark.sha256, benchmark.name)
    return path, benchmark


def _official(benchmark: Benchmark, folder: Path) -> tuple[Path, Benchmark] | None:
    """Find the table that was read from the official files in a folder; in the cache, it alone is enough."""
    source = benchmark.source
    assert source is not None
    table = cache_folder() / "tables" / f"{benchmark.name}{Path(benchmark.file).suffix}"
    paths = [folder / file for file in source.files]
    if all(is_there(path) for path in paths):
        digests = {path.name: _digest(path) for path in paths}
        if not _is_stored(table, digests):
            with locked(table):
                # another process may have been quicker
                if not _is_stored(table, digests):
                    _store(source, paths, table, digests)
    elif folder != cache_folder() or not _is_stored(table):
        return None
    return table, benchmark.on_official(table.name, read_record(table)["sha256"])


def _digest(path: Path) -> str:
    """Checksum of an official file, which must be the recorded one where newfound downloaded the file."""
    digest = sha256_of(path)
    note = beside(path, ".json")
    if note.exists() and digest != read_record(path).get("sha256"):
        raise InputError(
            f"{path} has changed since it was downloaded: its sha256 is {digest}, which is not the one in {note}. "
            "Delete both to download it again."
        )
    return digest


def _is_stored(table: Path, digests: dict[str, str] | None = None) -> bool:
    """Whether a table is as it was written, and was read from files with these checksums."""
    record = read_record(table)
    if not is_there(table) or (digests is not None and record.get("read_from") != digests):
        return False
    return sha256_of(table) == record.get("sha256")


def _store(source: Source, paths: list[Path], table: Path, digests: dict[str, str]) -> None:
    if table.suffix == ".npz":
        arrays: dict[str, Any] = {**read_images(source, paths)}
        with writing_to(table.parent), replacing(table) as fresh, fresh.open("wb") as stream:
            np.savez_compressed(stream, **arrays)
    else:
        frame = read_frame(source, paths)
        with writing_to(table.parent), replacing(table) as fresh:
            frame.to_parquet(fresh, engine="pyarrow", index=False)
    write_record(table, sha256=sha256_of(table), read_from=digests, licence=source.licence)


def _missing(benchmark: Benchmark, source: Source, folders: list[Path], why: str) -> str:
    looked = " or ".join(str(folder) for folder in folders)
    return (
        f"Benchmark {benchmark.name!r} needs the file {benchmark.file}, which is not in {looked}, and {why}. Put it "
        f"there, or the official {', '.join(source.files)} got by other means, or set data_dir or NEWFOUND_DATA to a "
        "folder that holds either."
    )
