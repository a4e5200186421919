"""All or none, whatever the system refuses and whenever the program is killed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from newfound.cli.writing import new_folder
from newfound.errors import InputError
from newfound.staging import BusyError, InTheWayError, clear_leftovers, staging
from newfound.writing import filling, replacing, replacing_all

NAMES = ("a", "b", "c")
SLOW = pytest.mark.slow
CALLS = ("open", "mkdir", "rmdir", "link", "unlink", "rename", "replace", "fsync", "chmod", "listdir")


def write_one(folder: Path, content: str) -> None:
    with replacing(folder / "a") as fresh:
        fresh.write_text(content)


def write_in_two_folders(folder: Path, content: str) -> None:
    (folder / "sub").mkdir(exist_ok=True)
    with replacing_all([folder / "a", folder / "sub" / "b"], exclusive=True) as fresh:
        for path in fresh:
            path.write_text(content)


def fill(folder: Path, content: str) -> None:
    with filling(folder / "out", NAMES, replace=True) as fresh:
        for name in NAMES:
            (fresh / name).write_text(content)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk; whether newfound asks for it is seen all the same."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


Writer = Callable[[Path, str], None]


def found(folder: Path) -> dict[str, str]:
    """The files in a folder, without what is hidden."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    relative = {path.relative_to(folder): path for path in paths}
    return {
        str(name): path.read_text()
        for name, path in relative.items()
        if not any(part.startswith(".newfound-") for part in name.parts)
    }


def hidden(folder: Path) -> list[Path]:
    return list(folder.rglob(".newfound-*"))


@contextlib.contextmanager
def disturbed(at: int, happen: Callable[[], None], *, for_ever: bool = False) -> Iterator[list[str]]:
    """Have something happen instead of the call of the system with this number, or of all from then on.

    Yields the calls that were made.
    """
    made: list[str] = []

    def counting(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **options: object) -> object:
            made.append(name)
            if len(made) - 1 == at or (for_ever and len(made) > at):
                happen()
            return call(*arguments, **options)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, counting(name, getattr(os, name)))
        patch.setattr(io, "open", counting("io.open", io.open))
        yield made


def refuse() -> None:
    raise OSError(28, "No space left on device")


def interrupt() -> None:
    raise KeyboardInterrupt


class KilledError(BaseException):
    """Ends a program that is dead: nothing that it would do to files happens."""


def run_and_kill(write: Callable[[], None], at: int) -> None:
    """Write, but end at a call of the system as if by kill -9; `tests/cli/test_killed.py` does it for real."""

    def kill() -> None:
        raise KilledError

    with contextlib.suppress(KilledError), disturbed(at, kill, for_ever=True):
        write()


def calls_of(write: Writer, folder: Path) -> int:
    """How many calls the system gets for replacing files."""
    write(folder, "-1")
    with disturbed(-1, refuse) as calls:
        write(folder, "-1")
    return len(calls)


@pytest.mark.parametrize(
    ("write", "happen"),
    [
        (write_one, refuse),
        (write_one, interrupt),
        (fill, refuse),
        (write_in_two_folders, refuse),
        pytest.param(fill, interrupt, marks=SLOW),
        pytest.param(write_in_two_folders, interrupt, marks=SLOW),
    ],
)
def test_whatever_the_system_refuses_all_files_are_replaced_or_none(
    tmp_path: Path, write: Writer, happen: Callable[[], None]
) -> None:
    n_calls = calls_of(write, tmp_path)
    assert n_calls > 10
    for at in range(n_calls):
        failed = False
        with disturbed(at, happen) as calls:
            try:
                write(tmp_path, "new")
            except (OSError, KeyboardInterrupt):
                failed = True
        contents = set(found(tmp_path).values())
        if happen is refuse:
            assert contents == {str(at - 1) if failed else "new"}, calls[at]
        assert len(contents) == 1, calls[at]
        write(tmp_path, str(at))
        assert set(found(tmp_path).values()) == {str(at)}, calls[at]
        assert hidden(tmp_path) == [], calls[at]


@pytest.mark.parametrize("write", [fill, write_in_two_folders])
def test_whenever_a_program_is_killed_the_next_finds_old_files_or_new_ones(tmp_path: Path, write: Writer) -> None:
    old, was_new = "-1", []
    for at in range(calls_of(write, tmp_path)):
        run_and_kill(partial(write, tmp_path, str(at)), at)
        for folder in (tmp_path, tmp_path / "sub", tmp_path / "out"):
            clear_leftovers(folder)
        contents = set(found(tmp_path).values())
        assert contents in ({old}, {str(at)}), at
        assert hidden(tmp_path) == [], at
        was_new.append(contents == {str(at)})
        old = contents.pop()
    assert set(was_new) == {True, False}
    assert was_new == sorted(was_new)  # there is one step before which all is old, and after which all is new


@pytest.mark.parametrize("write", [fill, write_in_two_folders])
def test_a_disk_that_is_gone_for_good_leaves_what_can_be_undone(tmp_path: Path, write: Writer) -> None:
    old = "-1"
    for at in range(calls_of(write, tmp_path)):
        with contextlib.suppress(OSError), disturbed(at, refuse, for_ever=True):
            write(tmp_path, str(at))
        for folder in (tmp_path, tmp_path / "sub", tmp_path / "out"):
            clear_leftovers(folder)
        contents = set(found(tmp_path).values())
        assert contents in ({old}, {str(at)}), at
        assert hidden(tmp_path) == [], at
        old = contents.pop()


@pytest.mark.parametrize("write", [fill, write_in_two_folders])
def test_files_that_were_not_there_vanish_again(tmp_path: Path, write: Writer) -> None:
    for folder in (tmp_path / "sub", tmp_path / "out"):
        folder.mkdir()
    for at in range(calls_of(write, tmp_path)):
        for path in (*tmp_path.glob("[abc]"), *tmp_path.glob("*/[abc]")):
            path.unlink()
        run_and_kill(partial(write, tmp_path, "new"), at)
        for folder in (tmp_path / "sub", tmp_path / "out", tmp_path):
            clear_leftovers(folder)
        assert len(found(tmp_path)) in (0, 2 if write is write_in_two_folders else 3), at
        assert hidden(tmp_path) == [], at


def leftover_in(folder: Path, name: str | None = None, **files: str) -> Path:
    """Leave a staging folder as a program that is killed does, with these files in it."""

    def hold() -> None:
        with staging(folder, name) as held:
            paths.append(held.path)
            (held.new / "half").write_text("half")
            for file, content in files.items():
                (held.path / file.replace("_", ".")).write_text(content)
            raise KilledError

    paths: list[Path] = []
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KilledError):
        patch.setattr("newfound.staging.Staging.leave", lambda self: os.close(self.lock))
        hold()
    return paths[0]


def forged_in(folder: Path, name: str = "0123456789abcdef", **files: str) -> Path:
    """Make what a stranger's archive may bring: all that a leftover has, but for what the system alone gives."""
    path = folder / f".newfound-{name}.tmp"
    (path / "new").mkdir(parents=True)
    (path / "new" / "theirs").write_text("theirs")
    for file, content in {"lock": "", "mark": "1 1", **files}.items():
        (path / file.replace("_", ".")).write_text(content)
    return path


def journal_of(target: Path, old: Path | None, beside: Path, new: object = None) -> str:
    """Make a journal that says how a file is found, whichever its number is."""
    at = target.lstat()
    seen = [at.st_ino, at.st_size, at.st_mtime_ns] if new is None else new
    return json.dumps([{"target": str(target), "old": old and str(old), "new": seen, "beside": str(beside)}])


def all_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_somebody_else_has_put_there_since_stays(tmp_path: Path) -> None:
    fill(tmp_path, "old")
    out = tmp_path / "out"
    seen = (out / "a").lstat()
    leftover = leftover_in(out, "results")
    for new in (1, [1, 1, 1], [seen.st_ino, 99, seen.st_mtime_ns], [seen.st_ino, seen.st_size, 1]):
        (leftover / "journal.json").write_text(journal_of(out / "a", None, leftover, new))
        clear_leftovers(out)
        assert set(found(tmp_path).values()) == {"old"}
        assert hidden(tmp_path) == []
        leftover = leftover_in(out, "results")


@pytest.mark.parametrize("journal", ["", "{", "[1]", '[{"target": 5, "old": null, "new": 1}]', "[" * 100_000])
def test_a_journal_that_makes_no_sense_is_left_alone(tmp_path: Path, journal: str) -> None:
    fill(tmp_path, "old")
    leftover = leftover_in(tmp_path / "out", journal_json=journal)
    fill(tmp_path, "new")
    assert set(found(tmp_path).values()) == {"new"}
    assert (leftover / "journal.json").read_text() == journal


def test_a_folder_that_newfound_has_not_made_has_nothing_deleted_or_replaced(tmp_path: Path) -> None:
    """Also where its journal knows the numbers of all files."""
    victim, other, out = tmp_path / "victim", tmp_path / "elsewhere", tmp_path / "out"
    victim.write_text("mine")
    (tmp_path / ".newfound-aaaaaaaaaaaaaaaa.tmp").mkdir()  # somebody's folder with a file called lock
    (tmp_path / ".newfound-aaaaaaaaaaaaaaaa.tmp" / "lock").write_text("mine")
    (other / "deep").mkdir(parents=True)
    (other / "lock").write_text("mine")
    (other / "deep" / "file").write_text("mine")
    fill(tmp_path, "new")
    at = victim.lstat()
    for new in (at.st_ino, [at.st_ino, at.st_size, at.st_mtime_ns]):
        forged_in(out, f"{len(str(new)):016x}", journal_json=journal_of(victim, None, out, new))
    theirs = out / ".newfound-cccccccccccccccc.tmp"
    forged_in(out, "cccccccccccccccc", journal_json=journal_of(victim, theirs / "old-0", theirs), **{"old-0": "theirs"})
    forged_in(out, "dddddddddddddddd", first=str(other))
    forged_in(out, "eeeeeeeeeeeeeeee", first=str(tmp_path / ".newfound-aaaaaaaaaaaaaaaa.tmp"))
    link = forged_in(out, "ffffffffffffffff")
    (link / "lock").unlink()
    (link / "lock").symlink_to(victim)
    before = all_of(tmp_path)
    clear_leftovers(out)
    clear_leftovers(tmp_path)
    assert all_of(tmp_path) == before
    fill(tmp_path, "newer")
    write_in_two_folders(tmp_path, "newer")
    assert victim.read_text() == "mine"
    assert before.items() - all_of(tmp_path).items() == {(f"out/{name}", b"new") for name in NAMES}


def test_a_copy_of_a_leftover_is_none(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    leftover_in(original)
    subprocess.run(["cp", "-a", original, copy], check=True)
    before = all_of(copy)
    assert before
    clear_leftovers(copy)
    assert all_of(copy) == before
    clear_leftovers(original)
    assert not list(original.iterdir())


def test_a_leftover_of_ours_reaches_no_other_folder(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folders = [tmp_path / name / "deep" for name in "abc"]
    for folder in folders:
        folder.mkdir(parents=True)
    marked = [leftover_in(folder) for folder in folders]
    (folders[2] / "kept").write_text("mine")
    journals = [
        journal_of(victim, None, marked[0]),
        journal_of(victim, None, forged_in(tmp_path, first=str(marked[1]))),
        journal_of(folders[2] / "kept", victim, marked[2]),
    ]
    for path, journal in zip(marked, journals, strict=True):
        (path / "journal.json").write_text(journal)
    before = all_of(tmp_path)
    for folder in folders:
        clear_leftovers(folder)
    assert all_of(tmp_path) == before


def test_what_others_have_put_into_a_leftover_stays(tmp_path: Path) -> None:
    leftover = leftover_in(tmp_path, "results")
    (leftover / "notes").write_text("theirs")
    (leftover / "folder").mkdir()
    clear_leftovers(tmp_path)
    assert sorted(path.name for path in leftover.iterdir()) == ["folder", "lock", "mark", "notes"]
    with pytest.raises(InTheWayError, match=r"newfound-results.tmp is in the way"), staging(tmp_path, "results"):
        pass


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    theirs = forged_in(tmp_path / "out", "results")
    with (
        pytest.raises(InputError, match=r"newfound-results.tmp is in the way, and newfound has not made it: move"),
        new_folder(tmp_path / "out", ["a"], force=True),
    ):
        pass
    assert (theirs / "new" / "theirs").exists()


def test_what_a_program_leaves_before_it_has_written_anything_is_removed(tmp_path: Path) -> None:
    """Also by a version that wrote no mark."""
    for number, names in enumerate([(), ("lock",), ("lock", "new"), ("lock", "mark", "new"), ("mark",)]):
        path = tmp_path / f".newfound-{number:016x}.tmp"
        path.mkdir()
        for name in names:
            (path / name).mkdir() if name == "new" else (path / name).touch()
    clear_leftovers(tmp_path)
    assert [path.name for path in hidden(tmp_path)] == [".newfound-0000000000000004.tmp"]  # no program leaves that


def test_what_newfound_has_not_made_stays(tmp_path: Path) -> None:
    theirs = [tmp_path / ".newfound-mine.tmp", tmp_path / ".newfound-notes.tmp" / "text", tmp_path / ".newfound-x"]
    theirs[1].parent.mkdir()
    for path in theirs:
        path.write_text("theirs")
    (tmp_path / ".newfound-link.tmp").symlink_to(theirs[1].parent)
    (tmp_path / ".newfound-mine-too.tmp").mkdir()  # not a name that we give
    fill(tmp_path, "new")
    write_one(tmp_path, "new")
    assert [path.read_text() for path in theirs] == ["theirs"] * 3
    assert (tmp_path / ".newfound-mine-too.tmp").is_dir()


# ---- several programs


def test_only_one_at_a_time_may_write_what_is_exclusive(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for out in (tmp_path / "there", tmp_path / "absent"):
        with filling(out, NAMES, replace=False) as fresh:
            with pytest.raises(BusyError), filling(out, NAMES, replace=True):
                pass
            for name in NAMES:
                (fresh / name).write_text("first")
        assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    with replacing_all([tmp_path / "a"], exclusive=True) as (fresh,):
        with pytest.raises(BusyError), replacing_all([tmp_path / "b", tmp_path / "a"], exclusive=True):
            pass
        write_one(tmp_path, "who does not ask may")
        fresh.write_text("last")
    assert (tmp_path / "a").read_text() == "last"
    assert hidden(tmp_path) == []


def test_without_replacing_nobody_loses_a_file_also_where_there_are_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    def replace_none(folder: Path) -> None:
        with replacing_all([folder / "a", folder / "b"], replace=False) as fresh:
            for path in fresh:
                path.write_text("mine")
            (folder / "b").write_text("theirs")

    def fill_none(folder: Path) -> None:
        with filling(folder, NAMES, replace=False) as fresh:
            for name in NAMES:
                (fresh / name).write_text("mine")
            folder.mkdir()
            (folder / "c").write_text("theirs")

    for n in range(2):
        folder = tmp_path / str(n)
        folder.mkdir()
        with pytest.raises(FileExistsError):
            replace_none(folder)
        assert found(folder) == {"b": "theirs"}
        with pytest.raises(FileExistsError):
            fill_none(folder / "out")
        assert found(folder / "out") == {"c": "theirs"}
        fill(folder, "new")
        assert set(found(folder / "out").values()) == {"new"}
        monkeypatch.setattr(os, "link", no_links)


RACE = """
import sys
from pathlib import Path
from newfound.cli.writing import new_folder
from newfound.errors import InputError
sys.stdin.readline()
try:
    with new_folder(Path("out"), ["a", "b"], force=False) as fresh:
        (fresh / "a").write_text(sys.argv[1])
        (fresh / "b").write_text(sys.argv[1])
    print("written")
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("there", [True, False])
def test_of_many_programs_with_one_folder_exactly_one_succeeds(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "out").mkdir()
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        for n in range(3)
    ]
    for program in programs:
        assert program.stdin is not None
        program.stdin.write("go\n")
        program.stdin.flush()
    said = [program.communicate(timeout=60)[0].strip() for program in programs]
    assert said.count("written") == 1
    assert all(
        "just now writing to out" in message or "has results already" in message
        for message in said
        if message != "written"
    )
    winner = str(said.index("written"))
    assert found(tmp_path / "out") == {"a": winner, "b": winner}
    assert hidden(tmp_path) == []


def test_a_folder_that_cannot_be_written_to_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), staging(tmp_path / "gone"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError), staging(tmp_path / "file"):
        pass
