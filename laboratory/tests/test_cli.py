from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from laboratory.tests import fakes
from laboratory.tests.made_lines import line
from newfound.cli.app import run as run_program
from newfound_lab.cli import app
from newfound_lab.runner.results import ResultFile
from newfound_lab.suites.trials import key_of
from tests.decoys import command_in, environment, have_run, make_decoys
from tests.processes import interrupt_when, is_alive, wait_for

START = "from newfound_lab.cli import main; main()"
DIGITS = ["--suite", "extra", "--datasets", "digits", "--experiments", "main"]
MEASURED_ANEW = ("fit_seconds", "predict_seconds", "peak_memory_mib")

run = partial(run_program, commands=app, name="newfound-lab")


def bench_run(out: Path, *options: str, methods: str = "kmeans,baseline", seeds: int = 6) -> list[str]:
    narrowed = [*DIGITS, "--methods", methods, "--seeds", str(seeds)]
    return ["run", *narrowed, "--device", "cpu", "--out", str(out), *options]


def rows(out: Path) -> list[bytes]:
    path = out / "results.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def comparable(out: Path) -> list[str]:
    """The lines of the results without what differs from run to run, in one order."""
    lines = [json.loads(row) for row in rows(out)]
    kept = [{name: value for name, value in line.items() if name not in MEASURED_ANEW} for line in lines]
    return sorted(json.dumps(line, sort_keys=True) for line in kept)


def children(pid: int) -> set[int]:
    """Processes that a process has started, and those that they have."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
    own = {child for child, parent in parents.items() if parent == pid}
    return own.union(*(children(child) for child in own))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Put something in place of the real measuring."""
    return lambda measure: monkeypatch.setattr("newfound_lab.runner.measure.measure", measure)


# ---- what happens to a run


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_killed_run_continues_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = bench_run(killed, "--jobs", "2")
    process = subprocess.Popen([sys.executable, "-c", START, *command], stdout=PIPE, stderr=PIPE)
    try:
        wait_for(lambda: len(rows(killed)) >= 3, process=process)
        workers = children(process.pid)
    finally:
        process.kill()
        process.communicate()
    assert len(workers) >= 2
    wait_for(lambda: not any(map(is_alive, workers)), seconds=60)

    kept = rows(killed)
    n_trials = 2 * 2 * 6  # two methods, each also clustered on the test rows
    assert 3 <= len(kept) < n_trials
    capsys.readouterr()
    assert run(command) == 0
    printed = capsys.readouterr().out
    assert f"{n_trials} trials, {len(kept)} of them done" in printed
    assert f"{n_trials - len(kept)} measured now, {len(kept)} before" in printed

    assert rows(killed)[: len(kept)] == kept
    keys = [key_of(json.loads(row)) for row in rows(killed)]
    assert len(keys) == len(set(keys)) == n_trials
    assert run(bench_run(whole)) == 0
    assert comparable(killed) == comparable(whole)


def test_bench_and_its_processes_run_nothing_of_the_current_folder(tmp_path: Path) -> None:
    folder, measured = (
        make_decoys(tmp_path / "decoys"),
        bench_run(Path("out"), "--jobs", "2", methods="kmeans", seeds=2),
    )
    program = [*command_in(tmp_path), "bench", *measured]
    done = subprocess.run(program, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, have_run(folder)) == (0, {}), done.stderr
    assert rows(folder / "out")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_says_what_is_kept(
    tmp_path: Path, fake: Callable[[Any], None], capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    fake(fakes.measure_slowly)
    codes = []
    command = bench_run(tmp_path, "--jobs", jobs, methods="kmeans")
    began = time.monotonic()
    interrupt_when(lambda: len(rows(tmp_path)) == 1, lambda: codes.append(run(command)))
    assert time.monotonic() - began < 300  # and not the 600 that measuring would take
    assert codes == [130]
    printed = capsys.readouterr()
    assert "1 of 12 trials are done (1 measured now, 0 before)" in printed.out
    assert printed.err.splitlines()[-1] == "Interrupted; the same command continues."
    assert "Traceback" not in printed.err


def test_a_second_run_on_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fcntl")
    with ResultFile(tmp_path).writing():
        assert run(bench_run(tmp_path)) == 2
    assert one_line(capsys).startswith("newfound-lab: Another run is writing to")


def test_an_incomplete_last_line_is_redone(
    tmp_path: Path, fake: Callable[[Any], None], capsys: pytest.CaptureFixture[str]
) -> None:
    fake(fakes.measure)
    assert run(bench_run(tmp_path)) == 0
    before = rows(tmp_path)
    (tmp_path / "results.jsonl").write_bytes(b"".join(before)[:-20])
    capsys.readouterr()
    assert run(["status", *DIGITS, "--seeds", "6", "--out", str(tmp_path)]) == 0
    assert "23 of 42 trials are done" in capsys.readouterr().out
    assert run(bench_run(tmp_path)) == 0
    printed = capsys.readouterr()
    assert "The last line of" in printed.err
    assert "24 trials, 23 of them done, 1 to measure." in printed.out
    assert rows(tmp_path) == before


def test_a_file_that_may_not_grow(
    tmp_path: Path, fake: Callable[[Any], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """The operating system itself refuses to write more, as it does when the disk is full."""
    resource = pytest.importorskip("resource")
    fake(fakes.measure)
    command = bench_run(tmp_path, methods="kmeans")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        assert run(command) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    kept = rows(tmp_path)
    assert 0 < len(ResultFile(tmp_path).lines) == len(kept) < 12  # all of them whole
    printed = capsys.readouterr().err
    assert printed.splitlines()[-1].startswith("newfound-lab: Cannot write to ")
    assert f"The {len(kept)} results up to now are kept" in printed.splitlines()[-1]
    assert "Traceback" not in printed
    assert run(command) == 0
    assert rows(tmp_path)[: len(kept)] == kept
    assert len(rows(tmp_path)) == 12


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 16 KiB; only root can have one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    try:
        made = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        made = False
    if not made:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(small_disk: Path, fake: Callable[[Any], None], capsys: pytest.CaptureFixture[str]) -> None:
    fake(fakes.measure)
    assert run(bench_run(small_disk / "out", seeds=30)) == 2
    printed = capsys.readouterr()
    kept = rows(small_disk / "out")
    assert "No space left on device" in printed.err.splitlines()[-1]
    assert 0 < len(ResultFile(small_disk / "out").lines) == len(kept) < 120
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True)
    assert run(bench_run(small_disk / "out", seeds=30)) == 0
    assert rows(small_disk / "out")[: len(kept)] == kept
    assert len(rows(small_disk / "out")) == 120


def test_failures_are_told_and_the_rest_is_measured(
    tmp_path: Path, fake: Callable[[Any], None], capsys: pytest.CaptureFixture[str]
) -> None:
    fake(fakes.measure_badly)
    assert run(bench_run(tmp_path, methods="baseline,kmeans,spectral")) == 1
    printed = capsys.readouterr()
    assert "12 of 36 trials are done (12 measured now, 0 before, 24 failed)" in printed.out
    told = [line for line in printed.err.splitlines() if line.startswith("Failed: ")]
    packs = "Failed: main: digits,"
    assert told == [
        f"{packs} baseline, default, inductive, 6 trials and 1 more: ZeroDivisionError: we did not think of this",
        f"{packs} spectral, default, inductive, seed 0 and 11 more: Got data, but expected other; get it.",
    ]
    assert f"The tracebacks are in {tmp_path / 'failures.log'}" in printed.err
    assert run(bench_run(tmp_path, methods="spectral")) == 2  # a message that says what to do


# ---- mistakes


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1, printed
    return printed


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            ["--suite", "papers"],
            "expected some of paper, extra, all, label-free, open-world, mixed. Did you mean 'paper'?",
        ),
        (["--datasets", "digits,digit"], "Got --datasets digit, but"),
        (["--methods", "k-means"], "Did you mean 'kmeans'?"),
        (["--experiments", "mein"], "Did you mean 'main'?"),
        (["--seeds", "0"], "Got --seeds 0, but expected"),
        (["--seeds", "many"], "--seeds"),
        (["--jobs", "0"], "Got --jobs 0, but expected"),
        (["--device", "nonsense"], "Got --device nonsense, but expected 'auto', 'cpu' or 'cuda'"),
        (["--out", "{tmp_path}/file"], "is a file, but results need a folder"),
        (["--out", "{tmp_path}/file/below"], "Results cannot be written to"),
        (["--data-dir", "{tmp_path}/nowhere", "--datasets", "soybean"], "Invalid value for '--data-dir'"),
        (["--nonsense"], "No such option: --nonsense"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    options = [option.format(tmp_path=tmp_path) for option in options]
    assert run(["run", "--suite", "extra", *options]) == 2
    assert complaint in one_line(capsys)


def test_a_broken_line_names_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cuda.jsonl").write_text('{"seed": 0}\n' + json.dumps(fakes.trial(0).line({})) + "\n")
    for command in ("run", "status"):
        assert run([command, "--out", str(tmp_path)]) == 2
        assert f"{tmp_path / 'cuda.jsonl'}, line 1 is not a result" in one_line(capsys)


# ---- what is shown


def test_lists_may_be_given_with_commas_and_repeatedly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--datasets", "digits, soybean", "--datasets", "dermatology", "--out", str(tmp_path / "none")]
    assert run(["status", "--suite", "extra", "--experiments", "main", *options]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "      digits  soybean  dermatology",
        "main  0/70    0/70     0/70",
    ]
    assert not (tmp_path / "none").exists()


def test_status(tmp_path: Path, fake: Callable[[Any], None], capsys: pytest.CaptureFixture[str]) -> None:
    fake(fakes.measure)
    assert run(bench_run(tmp_path, seeds=2)) == 0
    capsys.readouterr()
    options = ["--suite", "extra", "--datasets", "digits", "--experiments", "main", "--out", str(tmp_path)]
    assert run(["status", *options, "--seeds", "2"]) == 0
    shown = capsys.readouterr().out
    assert "main  8/14" in shown
    assert [line.split() for line in shown.splitlines() if line.startswith("  main")] == [
        ["main", "digits", "tabular_ncd", "default", "inductive", "2"],
        ["main", "digits", "spectral", "default", "inductive", "2"],
        ["main", "digits", "spectral", "default", "transductive", "2"],
    ]
    assert shown.splitlines()[-1] == f"8 of 14 trials are done, in {tmp_path}."
    assert run(["status", *options, "--seeds", "2", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["planned"], status["done"]) == (14, 8)
    assert status["experiments"] == {"main": {"digits": {"planned": 14, "done": 8}}}
    assert len(status["missing"]) == 6
    assert status["missing"][0]["method"] == "tabular_ncd"
    assert status["others"] == 0
    assert run(["status", *options, "--seeds", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("4 more are not of this selection.")


def test_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    assert run(["list", "--data-dir", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    benchmarks = {line.split()[0]: line.split() for line in shown.splitlines() if line}
    assert benchmarks["digits"][1:6] == ["-", "-", "5", "5", "yes"]
    assert benchmarks["letter"][1:6] == ["20,000", "16", "19", "7", "no"]
    assert "tabular_ncd, baseline, spectral, kmeans" in shown
    assert "suite extra" in shown
    assert "suite label-free" in shown
    assert "n_classes, label_free" in shown
    assert "suite open-world" in shown
    assert "of open-world" in shown
    assert "suite mixed" in shown
    assert "ss_kmeans, knn_distance" in shown
    assert "ablation" in shown
    assert run(["list", "--data-dir", str(tmp_path / "nowhere")]) == 2


def test_label_free_has_three_seeds_unless_told_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--suite", "label-free", "--datasets", "digits", "--out", str(tmp_path / "none")]
    assert run(["status", *options]) == 0
    counts = [line.split() for line in capsys.readouterr().out.splitlines()[1:3]]
    assert counts == [["n_classes", "0/15"], ["label_free", "0/270"]]
    assert run(["status", *options, "--methods", "auto", "--seeds", "1"]) == 0
    assert "0 of 15 trials are done" in capsys.readouterr().out


# ---- tables, figures and pages

MADE = [line(0.84, seed=0), line(0.86, seed=1), line(0.7, experiment="ablation", variant="full")]
ACC = "value:main/pendigits/tabular_ncd/appendix/inductive/acc"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a few results."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "gpu.jsonl").write_text("".join(json.dumps(line) + "\n" for line in MADE))
    return folder


def test_tables(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tables", "--out", str(made)]) == 0
    index = made / "tables" / "index.html"
    n_files = len(list(index.parent.iterdir()))
    assert capsys.readouterr().out == f"{n_files} files; all tables on one page: {index}\n"
    assert "85.0 ± 1.0" in index.read_text(encoding="utf-8")
    assert run(["tables", "--out", str(made), "--to", str(tmp_path / "a" / "b")]) == 0
    written, elsewhere = (sorted(path.name for path in folder.iterdir()) for folder in (index.parent, tmp_path / "a/b"))
    assert written == elsewhere
    assert {"main.md", "main.tex", "main.html", "ablation.md"} <= set(written)
    assert {path.name for path in made.iterdir()} == {"gpu.jsonl", "tables"}  # the results are as they were


def test_figures(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a" / "b"
    assert run(["figures", "--out", str(made), "--to", str(folder)]) == 0
    assert capsys.readouterr().out == f"Figures in {folder}, each as PNG and SVG: main\n"
    assert {path.name for path in folder.iterdir()} == {"main.png", "main.svg"}


def test_page(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template, page = tmp_path / "page.in.md", tmp_path / "docs" / "page.md"
    template.write_text(
        f"ACC is {{{{{ACC}}}}}.\n\n{{{{figure:main}}}}\n\n{{{{figure:map_letter}}}}\n", encoding="utf-8"
    )
    assert run(["page", str(template), str(page), "--out", str(made)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{page}, with its figures in {page.parent / 'images' / 'page'}\n"
    assert printed.err == "Not measured, so the page says so: figure:map_letter\n"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("ACC is 85.0.\n\n![ACC on the novel test rows")
    assert text.endswith("\n\nnot measured\n")
    assert "](images/page/main.png)" in text
    assert (page.parent / "images" / "page" / "main.png").exists()


@pytest.mark.parametrize("command", [["tables"], ["figures"], ["page", "{tmp_path}/page.in.md", "{tmp_path}/page.md"]])
def test_without_results_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    (tmp_path / "page.in.md").write_text("{{table:main}}")
    out = tmp_path / "none"
    assert run([*(part.format(tmp_path=tmp_path) for part in command), "--out", str(out)]) == 2
    cure = f"measure first with `newfound-lab run --out {out}`."
    assert one_line(capsys) == f"newfound-lab: There are no results in {out}; {cure}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["page.in.md"]


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["tables", "--to", "{tmp_path}/file"], "expected a folder that can be written to"),
        (["figures", "--to", "{tmp_path}/file/below"], "file/below cannot be made: Not a directory"),
        (["page", "{tmp_path}/none.md", "{tmp_path}/page.md"], "none.md: No such file or directory."),
        (["page", "{tmp_path}/binary.md", "{tmp_path}/page.md"], "binary.md: it is not text in UTF-8."),
        (["page", "{tmp_path}/typo.md", "{tmp_path}/page.md"], "Got the placeholder {{table:mian}}, but there is no"),
        (["page", "{tmp_path}/good.md", "{tmp_path}/good.md"], "the template would be lost"),
        (["page", "{tmp_path}/good.md", "{tmp_path}/file/page.md"], "cannot be made: Not a directory"),
        (["page", "{tmp_path}/good.md", "{tmp_path}/folder"], "folder: Is a directory. Choose another place."),
        (["page", "{tmp_path}/good.md"], "Missing argument"),
    ],
)
def test_a_mistake_about_files_is_one_line_and_changes_nothing(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], complaint: str
) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "typo.md").write_text("{{table:mian}}")
    (tmp_path / "good.md").write_text("{{table:main}}")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert run([*(part.format(tmp_path=tmp_path) for part in command), "--out", str(made)]) == 2
    assert complaint in one_line(capsys)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and "images" not in path.parts}
    assert after == before
