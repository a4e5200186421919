"""Downloading one file: resumed where it was cut off, checked before it gets its name, and recorded."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import newfound
from newfound.errors import InputError
from newfound.progress import ProgressBar
from newfound_lab.datasets.files import beside, locked, one_line, read_record, sha256_of, write_record, writing_to

__all__ = ["TransferError", "download_file"]

MOST_FAILURES = 4
"""Attempts in a row that bring not one byte more."""
FIRST_WAIT = 0.5
"""Seconds before the second attempt; doubled each time."""
TIMEOUT = 15.0
"""Seconds without any byte after which an attempt has failed."""
_BLOCK = 1 << 18
# the server asks for another try; any other refusal would only be repeated
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class TransferError(Exception):
    """A file could not be downloaded; says why in a few words."""


def download_file(
    address: str, path: Path, *, largest: int, check: Callable[[Path], None], progress: bool | None = None
) -> None:
    """Download a file, unless it is there once no other process is downloading it.

    Until it is complete and checked, it is called ``path`` with the ending ``.part``, and a later call goes on from
    there, if the server proves that the file is still the same. Its sha256 is recorded in ``path`` with the ending
    ``.json``; a later download of another content is refused.

    Parameters
    ----------
    address : str
        http or https.
    path : Path
        Where to; the folder is made where it is missing.
    largest : int
        Most bytes that are accepted.
    check : callable
        Called with the path of the complete file; raises ValueError, with the reason, where it is not what was wanted.
    progress : bool, optional
        Whether to show a progress bar; where None, if the standard error stream is a terminal.

    Raises
    ------
    TransferError
        If the file cannot be had from the address.
    InputError
        If it cannot be written, or is another one than was recorded before.
    """
    if urlsplit(address).scheme not in {"http", "https"}:
        raise TransferError("only http and https addresses are followed")
    with locked(path):
        if path.is_file():
            return
        part = beside(path, ".part")
        with _bar(path.name, progress) as show:
            _download_part(address, part, largest, show)
        try:
            check(part)
        except ValueError as error:
            _forget(part)
            raise TransferError(one_line(error)) from error
        _accept(address, part, path)


def _download_part(address: str, part: Path, largest: int, show: Callable[[int, int | None], None]) -> None:
    failures, there = 0, _size(part)
    best = there
    while True:
        try:
            return _attempt(address, part, largest, show)
        except urllib.error.HTTPError as error:
            error.close()
            reason = one_line(f"HTTP status {error.code} {error.reason}")
            if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and part.exists():
                _forget(part)
            elif error.code not in _TRY_AGAIN:
                raise TransferError(reason) from error
        except (OSError, http.client.HTTPException) as error:
            reason = one_line(getattr(error, "reason", None) or error)
            # nobody answers: without a network, to try again only delays the message that says what to do
            if isinstance(error, urllib.error.URLError) and max(best, _size(part)) == there:
                raise TransferError(reason) from error
        # as long as something arrives it is worth going on
        failures = 1 if _size(part) > best else failures + 1
        best = max(best, _size(part))
        if failures == MOST_FAILURES:
            raise TransferError(f"{reason}; tried {failures} times")
        time.sleep(FIRST_WAIT * 2 ** (failures - 1))


def _attempt(address: str, part: Path, largest: int, show: Callable[[int, int | None], None]) -> None:
    """Bring the rest of the file, or all of it where the rest alone cannot be had."""
    headers = {"User-Agent": f"newfound/{newfound.__version__}", "Accept-Encoding": "identity"}
    start, record = _size(part), read_record(part)
    # without proof that the file is the same, a rest could be the rest of another one
    if start and record.get("address") == address and record.get("validator"):
        headers |= {"Range": f"bytes={start}-", "If-Range": str(record["validator"])}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the scheme was checked
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
        if response.status == http.client.PARTIAL_CONTENT:
            resumed_at, total = _content_range(response.headers)
            if resumed_at != start:
                _forget(part)
                raise http.client.HTTPException(f"asked for the bytes from {start}, and got those from {resumed_at}")
        else:
            start, total = 0, _content_length(response.headers)
            with writing_to(part.parent):
                part.unlink(missing_ok=True)
            write_record(part, address=address, validator=_validator(response.headers))
        _copy(response, part, start, total, largest, show)


def _copy(
    response: Any, part: Path, start: int, total: int | None, largest: int, show: Callable[[int, int | None], None]
) -> None:
    done = start
    with writing_to(part.parent):
        stream = part.open("ab")
    try:
        show(done, total)
        # read1 gives what has arrived: a cut connection then loses nothing
        while done != total and max(done, total or 0) <= largest and (block := response.read1(_BLOCK)):
            with writing_to(part.parent):
                stream.write(block)
            done += len(block)
            show(done, total)
    finally:
        # what is still in the buffer is written here
        with writing_to(part.parent):
            stream.close()
    if max(done, total or 0) > largest:
        _forget(part)
        raise TransferError(f"it has more than {largest / 2**20:,.0f} MiB, which this file never had")
    if total is not None and done != total:
        raise http.client.HTTPException(f"the connection ended after {done:,} of {total:,} bytes")


def _accept(address: str, part: Path, path: Path) -> None:
    digest, size = sha256_of(part), _size(part)
    earlier = read_record(path).get("sha256", digest)
    if earlier != digest:
        _forget(part)
        raise InputError(
            f"{address} now gives another file than when it was first downloaded: its sha256 is {digest}, recorded was "
            f"{earlier}. If that is expected, delete {beside(path, '.json')} and download again."
        )
    # the record comes first, so that no download ever stands without one
    when = datetime.now(UTC).isoformat(timespec="seconds")
    write_record(path, address=address, sha256=digest, bytes=size, downloaded=when)
    with writing_to(path.parent):
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(path)
        beside(part, ".json").unlink(missing_ok=True)


def _forget(part: Path) -> None:
    with writing_to(part.parent):
        part.unlink(missing_ok=True)
        beside(part, ".json").unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _validator(headers: Message) -> str | None:
    """Find what will prove that the file is still the same: a strong ETag, else the date."""
    etag = headers.get("ETag")
    if etag and not etag.startswith("W/"):
        return str(etag)
    return headers.get("Last-Modified")


def _content_length(headers: Message) -> int | None:
    text = headers.get("Content-Length", "")
    return int(text) if text.isdecimal() else None


def _content_range(headers: Message) -> tuple[int, int | None]:
    """First byte, and bytes of the whole file; -1 where the header makes no sense."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", headers.get("Content-Range", "").strip())
    if found is None:
        return -1, None
    return int(found[1]), None if found[2] == "*" else int(found[2])


@contextlib.contextmanager
def _bar(name: str, wanted: bool | None) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that shows how many bytes of how many have come."""
    shown = sys.stderr.isatty() if wanted is None else wanted
    with ProgressBar(None, shown=shown, start=name, stderr=True) as bar:
        yield lambda done, total: bar.show(done=done, total=total, count=f"{_megabytes(done)}/{_megabytes(total)} MB")


def _megabytes(n_bytes: int | None) -> str:
    return "?" if n_bytes is None else f"{n_bytes / 1e6:.1f}"
