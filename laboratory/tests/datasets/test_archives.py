from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from laboratory.tests.datasets.conftest import zipped
from newfound_lab.datasets.archives import DAMAGED, ArchiveError, check_archive, open_archive, open_gzip

MOST = 1 << 20


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_members_are_found_by_the_end_of_their_path(tmp_path: Path) -> None:
    members = {
        "a/b/x.txt": b"one",
        "a/other_x.txt": b"two",
        "__MACOSX/b/x.txt": b"fork",
        "y.txt.gz": gzip.compress(b"three"),
    }
    with open_archive(written(tmp_path / "a.zip", zipped(members)), MOST) as archive:
        assert archive.read("x.txt") == archive.read("b/x.txt") == "one"
        assert archive.read("other_x.txt") == "two"
        assert archive.read("y.txt") == "three"
        with pytest.raises(ArchiveError, match=r"it has no member z\.txt, but a/b/x\.txt, a/other_x\.txt, y\.txt\.gz"):
            archive.open("z.txt")


def test_members_of_a_zip_file_within(tmp_path: Path) -> None:
    inner = zipped({"folder/x.txt": b"deep"})
    with open_archive(written(tmp_path / "a.zip", zipped({"inner one.zip": inner})), MOST) as archive:
        archive.enter("inner one.zip")
        assert archive.read("x.txt") == "deep"


@pytest.mark.parametrize("name", ["../x.txt", "a/../../x.txt", "/etc/x.txt", "..\\x.txt"])
@pytest.mark.parametrize("nested", [False, True])
def test_members_that_point_outside(name: str, nested: bool, tmp_path: Path) -> None:
    content = zipped({name: b"evil"})
    path = written(tmp_path / "a.zip", zipped({"inner.zip": content}) if nested else content)
    with pytest.raises(ArchiveError, match=r"it has a member named .*points out of the archive"):  # noqa: SIM117
        with open_archive(path, MOST) as archive:
            archive.enter("inner.zip")


def test_bomb_in_a_zip_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.zip", zipped({"x.txt": bytes(8 << 20)}))
    assert path.stat().st_size < 20_000
    with open_archive(path, MOST) as archive, pytest.raises(ArchiveError, match=r"it unpacks to more than 1 MiB"):
        archive.read("x.txt")


def test_bomb_in_a_zip_file_within(tmp_path: Path) -> None:
    path = written(tmp_path / "a.zip", zipped({"inner.zip": zipped({"x.txt": bytes(8 << 20)})}))
    with open_archive(path, MOST) as archive:
        archive.enter("inner.zip")
        with pytest.raises(ArchiveError, match=r"it unpacks to more than 1 MiB"):
            archive.read("x.txt")


def test_bomb_of_many_members(tmp_path: Path) -> None:
    members = {f"{i}.txt": bytes(300_000) for i in range(4)}
    with open_archive(written(tmp_path / "a.zip", zipped(members)), MOST) as archive:
        for i in range(3):
            archive.read(f"{i}.txt")
        with pytest.raises(ArchiveError, match="unpacks to more"):
            archive.read("3.txt")


def test_bomb_in_a_gzip_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.gz", gzip.compress(bytes(8 << 20)))
    with open_gzip(path, MOST) as stream, pytest.raises(ArchiveError, match="more than 1 MiB"):
        stream.read()
    with pytest.raises(ArchiveError, match="more than 1 MiB"):
        check_archive(path, ".gz", MOST)


def test_whole_archives_pass(tmp_path: Path) -> None:
    check_archive(written(tmp_path / "a", zipped({"x.txt": b"x"})), ".zip", MOST)
    check_archive(written(tmp_path / "b", gzip.compress(b"x")), ".gz", MOST)


@pytest.mark.parametrize("kind", [".zip", ".gz"])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<!DOCTYPE html><html>please log in", r"not a \.\w+ file, it begins with b'<!DOCTYPE.*a web page"),
        (b"\n <html>", "a web page"),
        (b"nothing like it", "not a .* file, it begins with b'nothing like it'"),
        (b"", "not a .* file, it begins with b''"),
    ],
)
def test_something_else(kind: str, content: bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=what):
        check_archive(written(tmp_path / "a", content), kind, MOST)


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_archives_that_were_cut_off(kept: float, tmp_path: Path) -> None:
    numbers = " ".join(map(str, range(20_000))).encode()
    for kind, content in ((".zip", zipped({"x.txt": numbers})), (".gz", gzip.compress(numbers))):
        with pytest.raises(ArchiveError, match=rf"not a whole \{kind} file: "):
            check_archive(written(tmp_path / "a", content[: int(len(content) * kept)]), kind, MOST)


def test_member_packed_in_another_way_than_it_says(tmp_path: Path) -> None:
    content = bytearray(zipped({"x.txt": bytes(range(256)) * 9}))
    bzip2 = 12
    content[content.rindex(b"PK\x01\x02") + 10] = bzip2
    with open_archive(written(tmp_path / "a.zip", bytes(content)), MOST) as archive, pytest.raises(DAMAGED):
        archive.read("x.txt")


def test_damaged_member_is_noticed(tmp_path: Path) -> None:
    content = bytearray(zipped({"x.txt": bytes(range(256)) * 9}))
    content[60] ^= 255
    with open_archive(written(tmp_path / "a.zip", bytes(content)), MOST) as archive, pytest.raises(DAMAGED):
        archive.read("x.txt")
