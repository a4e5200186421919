"""What the workbench's pages and its server say to each other."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from newfound.plain import printable


def _on_one_line(text: str) -> str:
    """Return text without what a terminal or a page would act upon."""
    found = " ".join(printable(text).split())
    if not found:
        raise ValueError("must not be empty")
    return found


Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
"""Of a column or a class."""

NewName = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_on_one_line)]
"""That somebody gives to a class."""

Title = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_on_one_line)]
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
# those of newfound.tables.schema, whose imports the server must not wait for
Kind = Literal["numeric", "categorical", "boolean", "date", "time", "ignored"]
Status = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
Row = Annotated[int, Field(ge=0, lt=2**31)]


class _Answer(BaseModel):
    """What the server says."""


class _Request(BaseModel):
    """What a page asks for; names that are not known are refused."""

    model_config = ConfigDict(extra="forbid")


class Problem(_Answer):
    """Why something cannot be done, and what to do about it."""

    message: str
    parameter: str | None = None
    expected: str | None = None
    cure: str | None = None


class ErrorAnswer(_Answer):
    """The answer to every request that fails."""

    error: Problem


# ---- what there is


class Knob(_Answer):
    """A setting of a discoverer."""

    name: str
    kind: Literal["whole", "real", "choice"]
    default: int | float | str | None
    choices: list[str] = []
    low: float | None = None
    high: float | None = None
    help: str


class Discoverer(_Answer):
    """A way to find novel classes."""

    method: str
    name: str
    summary: str
    needs_labels: bool
    knobs: list[Knob]


class Example(_Answer):
    """A table that comes with the workbench."""

    name: str
    title: str
    about: str
    target: str


class LimitsAnswer(_Answer):
    """What the workbench refuses to exceed."""

    upload_bytes: int
    rows: int
    columns: int
    tables: int
    runs: int
    running: int
    waiting: int
    seconds: float


class State(_Answer):
    """What the pages need to know before anything else."""

    version: str
    limits: LimitsAnswer
    discoverers: list[Discoverer]
    examples: list[Example]
    formats: list[str]


# ---- tables


class Table(_Answer):
    """A table that was uploaded."""

    id: str
    name: str
    format: str
    n_rows: int
    n_columns: int
    n_bytes: int
    created: str
    notes: list[str]
    example: str | None


class ExampleRequest(_Request):
    """Ask for an example."""

    name: Name


class Histogram(_Answer):
    """Counts of numbers or dates (milliseconds since 1970) between edges."""

    edges: list[float]
    counts: list[int]
    low: str
    high: str


class Level(_Answer):
    """A text that a column holds, and in how many rows."""

    text: str
    count: int


class Column(_Answer):
    """A column of a table."""

    index: int
    name: str
    kind: Kind
    reason: str
    missing_share: float
    n_levels: int | None
    histogram: Histogram | None
    levels: list[Level] | None
    examples: list[str]


class Advice(_Answer):
    """A column, and why it is suggested."""

    name: str
    reason: str


class ClassCount(_Answer):
    """A known class, and how many rows carry it."""

    name: str
    count: int


class TargetFacts(_Answer):
    """What a column says as the column of the classes."""

    name: str
    classes: list[ClassCount]
    n_labelled: int
    n_unlabelled: int
    notes: list[str]


class Columns(_Answer):
    """The columns of a table; with a target, what it holds, or why it cannot be one."""

    columns: list[Column]
    suggested_target: Advice | None
    suggested_ignored: list[Advice]
    target: TargetFacts | None
    target_problem: Problem | None


# ---- runs


class RunRequest(_Request):
    """Ask for a run."""

    table: Id
    target: Name
    ignore: list[Name] = Field(default=[], max_length=10_000)
    kinds: dict[Name, Kind] = Field(default={}, max_length=10_000)
    hide: list[Name] = Field(default=[], max_length=1_000)
    method: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,60}$")] = "auto"
    settings: dict[str, int | float | str | None] = Field(default={}, max_length=50)
    unlabelled: Literal["novel", "mixed", "auto"] | None = None
    n_novel_classes: Annotated[int, Field(ge=1, le=1_000)] | Literal["auto"] = "auto"
    time_limit: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    marks: list[str] | None = Field(default=None, max_length=100)
    title: Title | None = None


class TitleRequest(_Request):
    """Give a run another title."""

    title: Title


class Epoch(_Answer):
    """Losses of an epoch of training."""

    stage: str
    epoch: int
    seconds: float
    losses: dict[str, float | None]


class Curves(_Answer):
    """Losses as a piece of HTML."""

    html: str


class Run(_Answer):
    """A search for novel classes, or an update by a further batch: what was asked for, and how far it is.

    ``revision`` counts what people made of the classes; ``facts_revision`` is the one that the facts speak of, which
    follows after a while. ``losses`` are those of the last epochs.
    """

    id: str
    kind: Literal["discovery", "update"]
    title: str
    table: str
    table_name: str
    parent: str | None
    round: int
    status: Status
    phase: str
    share_done: float
    seconds: float | None
    seconds_left: float | None
    n_epochs: int
    losses: list[Epoch]
    error: Problem | None
    notes: list[str]
    created: str
    started: str | None
    finished: str | None
    revision: int
    facts_revision: int | None
    n_novel_classes: int | None
    n_known_classes: int | None
    options: dict[str, Any]


# ---- classes


class ClassState(_Answer):
    """A class as it is now; its place in the list is its code on the map."""

    name: str
    is_novel: bool
    n_rows: int
    n_unlabelled: int
    accepted: bool


class Classes(_Answer):
    """All classes of a run, and what can be undone."""

    revision: int
    facts_revision: int | None
    undo: str | None
    redo: str | None
    classes: list[ClassState]
    notes: list[str] = []


class Rename(_Request):
    """Give novel classes other names."""

    action: Literal["rename"]
    names: dict[Name, NewName] = Field(min_length=1, max_length=1_000)


class Merge(_Request):
    """Make one class of several."""

    action: Literal["merge"]
    classes: list[Name] = Field(min_length=2, max_length=1_000)
    into: NewName | None = None


class Split(_Request):
    """Make several classes of one."""

    action: Literal["split"]
    name: Name
    parts: Annotated[int, Field(ge=2, le=50)] = 2


class Accept(_Request):
    """Say that a novel class is a class indeed, or no longer."""

    action: Literal["accept"]
    name: Name
    accepted: bool = True


class Undo(_Request):
    """Take back the last action, or do it again."""

    action: Literal["undo", "redo"]


Action = Annotated[Rename | Merge | Split | Accept | Undo, Field(discriminator="action")]


class RowsRequest(_Request):
    """Ask for the cells of some rows."""

    rows: list[Row] = Field(min_length=1, max_length=200)


class RowCells(_Answer):
    """A row: its label in the table, its class, and its cells."""

    row: int
    label: str | None
    class_name: str
    probability: float
    answer: str | None
    cells: list[str | None]


class Rows(_Answer):
    """Rows of a table."""

    columns: list[str]
    rows: list[RowCells]


class ColumnValues(_Answer):
    """Cells of a column in the order of the map: numbers, or places in a list of texts."""

    name: str
    texts: list[str] | None
    cells: list[float | int | None]


class MergeAdvice(_Answer):
    """Two novel classes that may be one."""

    first: str
    second: str
    overlap: float
    distance: float | None
    likely: bool


class RowAdvice(_Answer):
    """A row that is worth a label."""

    row: int
    class_name: str
    probability: float
    second: str | None
    stands_for: int
    reason: str


class Suggestions(_Answer):
    """What people could do next."""

    revision: int
    merges: list[MergeAdvice]
    rows: list[RowAdvice]


class RowLabel(_Request):
    """A label that somebody gives a row; None takes it back."""

    row: Row
    label: NewName | None


class LabelsRequest(_Request):
    """Labels of some rows."""

    labels: list[RowLabel] = Field(min_length=1, max_length=1_000)


class Labels(_Answer):
    """All labels that were given."""

    labels: list[RowLabel]


class NextRequest(_Request):
    """Ask for the next round: accepted classes and the labels given are known in it."""

    title: Title | None = None


class BatchRequest(_Request):
    """Ask for an update by a further table, which may have labels in a column."""

    table: Id
    target: Name | None = None
    title: Title | None = None
