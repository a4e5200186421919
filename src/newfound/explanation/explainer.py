"""`explain`: what characterises each novel class of a model, on the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from newfound.counting import counted, share_text
from newfound.deadline import NEVER, Deadline
from newfound.discoverers.reading import Reading
from newfound.errors import InputError
from newfound.explanation.columns import Codes, ExplainedTable, Floats, view_columns
from newfound.explanation.crossing import cross_neighbours
from newfound.explanation.exemplars import Borderline, Exemplar, border_rows, typical_rows, values_of
from newfound.explanation.explanation import ClassExplanation, Explanation
from newfound.explanation.nearest_known import NearestKnown, nearest_known
from newfound.explanation.profiles import Shift, profile
from newfound.explanation.rules import MakingRows, find_rules, score_rules
from newfound.explanation.sampling import Rows, draw, draw_of_each, halves
from newfound.explanation.screening import telling_columns
from newfound.explanation.stability import StabilitySource, bootstrap_stability, has_members, member_stability
from newfound.explanation.wording import class_name
from newfound.parameters import check_integer, pick_generator
from newfound.tables import Table
from newfound.tables.sampling import sample

_MOST_COLUMNS = 300  # that are looked at closely
_MOST_CELLS = 2_000_000  # of the rows that make the rules
_FEWEST_AND_MOST_ROWS = (1_000, 6_000)
_CROSSED = 4  # crossed rows for each row, as long as there are not too many
_CROSSED_WEIGHT = 0.5
_PROFILE_ROWS = 2_000  # of the class, in its profile
_LATENT_ROWS = 300  # of each class, where the latent space is looked at
_MEMBER_ROWS = 1_500
_MOST_VALUES = 200  # cells that are shown of a row
_MOST_IDENTIFIERS = 2
_SECONDS_A_CLASS = 0.5  # that the rules of a class take, made of as many rows as can be, on one slow core

_FEW_ROWS = 30
_LOW_CONFIDENCE = 0.6
_LOW_STABILITY = 0.6
_LOW_AGREEMENT = 0.4
_LOW_COVERAGE = 0.5
_LOW_PRECISION = 0.75
_CLOSE = 2.0


def explain(
    model: Any,
    X: Any,
    *,
    max_rules: int = 4,
    max_conditions: int = 4,
    n_exemplars: int = 5,
    random_state: Any = 0,
) -> Explanation:
    """Explain the novel classes of a model by the rows of a table.

    It explains what the model predicts on this table. Half of the rows make the rules; the other half, which is held
    out, says how good they are.

    Parameters
    ----------
    model : fitted discoverer
    X : pandas, polars or pyarrow table, or numpy array, of shape (n, n_columns)
        Any table that the model can predict, best with rows of known and of novel classes. Rules speak of its columns
        in their own units.
    max_rules : int, default=4
        Most rules for a class.
    max_conditions : int, default=4
        Most conditions in a rule; a range counts as one.
    n_exemplars : int, default=5
        Most typical rows, and most borderline rows, for a class.
    random_state : int, RandomState or None, default=0
        Seed of the halves and samples.

    Returns
    -------
    Explanation
        Print it, or use ``.classes``, ``.to_frame()``, ``.to_dict()``.

    Examples
    --------
    >>> import newfound as nf
    >>> data = nf.datasets.make_table(600, random_state=0)
    >>> model = nf.WhitenedKMeans(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
    >>> explanation = nf.explain(model, data.X_train)
    >>> len(explanation.classes)
    3
    """
    return explain_in_time(
        model,
        X,
        max_rules=max_rules,
        max_conditions=max_conditions,
        n_exemplars=n_exemplars,
        random_state=random_state,
    )


def explain_in_time(
    model: Any,
    X: Any,
    *,
    max_rules: int = 4,
    max_conditions: int = 4,
    n_exemplars: int = 5,
    random_state: Any = 0,
    deadline: Deadline = NEVER,
    on_step: Callable[[str], None] = lambda text: None,
) -> Explanation:
    """Do what `explain` does, within a time, and tell of the steps.

    Parameters
    ----------
    model, X, max_rules, max_conditions, n_exemplars, random_state : as for `explain`
    deadline : Deadline
        Rules are made of fewer rows where there is little time. Once it is over, classes have no rules, and nobody asks
        the members how far they agree.
    on_step : callable
        Called with what is going on, at each step: once, and for each novel class.

    Returns
    -------
    Explanation
    """
    check_integer("max_rules", max_rules, low=0)
    check_integer("max_conditions", max_conditions, low=1)
    check_integer("n_exemplars", n_exemplars, low=0)
    rng = pick_generator(random_state)
    on_step("predicting rows")
    view = _View.of(_reading(model, X), rng)
    first_half, held_out = halves(view.codes, rng)
    making: MakingRows | None = None
    stability: dict[int, float] = {}
    source: StabilitySource | None = None
    if view.novel and max_rules and not deadline.passed:
        share = min(1.0, deadline.room / (_SECONDS_A_CLASS * len(view.novel)))
        making = _making_rows(view, first_half, max(_FEWEST_AND_MOST_ROWS[0], int(share * view.most_rows)), rng)
    if not deadline.passed:
        stability, source = _stability(view, rng)
    drawn = np.sort(rng.permutation(len(view.codes))[: view.most_rows])
    judges, truth = view.table.take(held_out), view.codes[held_out]
    identifiers = [name for name in view.model.encoder_.schema_.identifiers if name in view.reading.raw.columns]
    identifiers = identifiers[:_MOST_IDENTIFIERS]
    classes = []
    for code in view.novel:
        on_step(f"explaining {class_name(view.names[code])}")
        found, searched = [], making is not None and not deadline.passed
        if making is not None and searched:
            found = find_rules(making, code, max_rules=max_rules, max_conditions=max_conditions)
        rules, precision, coverage = score_rules(found, judges, truth == code)
        profiles = _profiles(view, code, drawn, rng)
        told = {condition.column for rule in rules for condition in rule.conditions}
        told |= {*(shift.column for shift in profiles["profile"]), *identifiers}
        explained = ClassExplanation(
            name=view.names[code],
            **_size(view, code),
            stability=stability.get(code),
            stability_source=source if code in stability else None,
            rules=rules,
            rules_precision=precision,
            rules_coverage=coverage,
            **profiles,
            identifiers=identifiers,
            **_rows(view, code, n_exemplars, told),
            warnings=[],
        )
        classes.append(replace(explained, warnings=_doubts(explained, view, max_conditions if searched else 0)))
    return Explanation(len(view.codes), int(np.isin(view.codes, view.novel).sum()), classes)


@dataclass(frozen=True, eq=False)
class _View:
    """A table as a model sees it.

    Attributes
    ----------
    reading : Reading
        What the model reads.
    table : ExplainedTable
        The columns that the model uses; of very many, the most telling ones.
    names : list
        The classes, as plain values.
    known, novel : lists of int
        Their places in ``names``.
    proba : ndarray of shape (n, n_classes)
    codes : ndarray of shape (n,)
        Predicted classes.
    some : ndarray of shape (m,)
        Rows of each class that were looked at in the latent space.
    latent : ndarray of shape (m, d)
    """

    reading: Reading
    table: ExplainedTable
    names: list[Any]
    known: list[int]
    novel: list[int]
    proba: Floats
    codes: Codes
    some: Rows
    latent: Floats

    @property
    def model(self) -> Any:
        """The fitted discoverer."""
        return self.reading.model

    @property
    def most_rows(self) -> int:
        """Rows that are looked at closely; fewer where there are many columns."""
        return int(np.clip(_MOST_CELLS // max(1, len(self.table.columns)), *_FEWEST_AND_MOST_ROWS))

    @classmethod
    def of(cls, reading: Reading, rng: np.random.RandomState) -> _View:
        model, n_rows = reading.model, reading.table.n_rows
        proba = model.predict_proba(reading)
        codes = proba.argmax(axis=1)
        names = model.classes_.tolist()
        novel = [names.index(name) for name in model.novel_classes_.tolist()]
        some = draw_of_each(codes, _LATENT_ROWS, rng)
        table = view_columns(reading.used, model.encoder_.schema_, n_rows)
        if len(table.columns) > _MOST_COLUMNS:
            places = telling_columns(table.take(some), codes[some], novel, _MOST_COLUMNS)
            table = ExplainedTable(tuple(table.columns[place] for place in places), n_rows)
        return cls(
            reading,
            table,
            names,
            [place for place in range(len(names)) if place not in novel],
            novel,
            proba,
            codes,
            some,
            model.transform(reading.take(some)),
        )


def _reading(model: Any, X: Any) -> Reading:
    if isinstance(model, type) or not hasattr(model, "n_novel_classes_"):
        if not isinstance(model, type) and hasattr(type(model), "n_novel_classes_"):
            _ = model.n_novel_classes_  # says that it is not fitted
        raise InputError.of("model", model, "a fitted discoverer such as AutoDiscoverer()")
    return Reading.of(model, X)


def _stability(view: _View, rng: np.random.RandomState) -> tuple[dict[int, float], StabilitySource | None]:
    """Return how stable each novel class is, by its code, and what says so."""
    if has_members(view.model):
        drawn = draw(view.codes, _MEMBER_ROWS, rng)
        found = member_stability(view.reading.take(drawn.rows), drawn.weights)
        return {view.names.index(name): value for name, value in found.items()}, "members"
    ours = np.isin(view.codes[view.some], view.novel)
    return bootstrap_stability(view.latent[ours], view.codes[view.some][ours], rng), "bootstraps"


def _making_rows(view: _View, half: Rows, most: int, rng: np.random.RandomState) -> MakingRows:
    """Return the rows of one half, or a sample of them, and crossed ones where they are few; at most so many."""
    drawn = draw(view.codes[half], most, rng)
    rows, weights = half[drawn.rows], drawn.weights
    reading, codes = view.reading.take(rows), view.codes[rows]
    table = reading.table
    folds = np.zeros(len(rows), dtype=np.int64)
    folds[halves(codes, rng)[1]] = 1
    made_up = np.zeros(len(rows), dtype=np.bool_)
    n_crossed = min(_CROSSED * len(rows), most - len(rows))
    if n_crossed > 0 and len(rows) > 1:
        crossed, ours, theirs = cross_neighbours(reading, n_crossed, rng)
        columns = {name: np.concatenate([cells, crossed.table.columns[name]]) for name, cells in table.columns.items()}
        table = Table(columns, len(rows) + n_crossed, table.named)
        codes = np.concatenate([codes, view.model.predict_proba(crossed).argmax(axis=1)])
        weights = np.concatenate([weights, _CROSSED_WEIGHT * weights[ours]])
        folds = np.concatenate([folds, np.where(folds[ours] == folds[theirs], folds[ours], -1)])
        made_up = np.concatenate([made_up, np.ones(n_crossed, dtype=np.bool_)])
    schema = view.model.encoder_.schema_
    used = {column.name: table.columns[column.name] for column in view.table.columns}
    viewed = view_columns(used, schema, table.n_rows).spelled_as(view.table)
    return MakingRows(viewed, codes, weights, folds, made_up)


def _size(view: _View, code: int) -> dict[str, Any]:
    rows = np.flatnonzero(view.codes == code)
    confidence = float(view.proba[rows, code].mean()) if len(rows) else 0.0
    return {"n_rows": len(rows), "share": len(rows) / len(view.codes), "confidence": confidence}


def _profiles(view: _View, code: int, drawn: Rows, rng: np.random.RandomState) -> dict[str, Any]:
    """Compare a class with rows that were drawn from the whole table, and with the nearest known class."""
    here = view.table.take(sample(np.flatnonzero(view.codes == code), _PROFILE_ROWS, rng))
    nearest = nearest_known(view.latent, view.codes[view.some], code, np.array(view.known, dtype=np.int64))
    against: list[Shift] = []
    if nearest is not None:
        theirs = sample(np.flatnonzero(view.codes == nearest[0]), _PROFILE_ROWS, rng)
        against = profile(here, view.table.take(theirs))
    return {
        "profile": profile(here, view.table.take(drawn[view.codes[drawn] != code])),
        "against_nearest": against,
        "nearest_known": None if nearest is None else NearestKnown(view.names[nearest[0]], nearest[1]),
    }


def _rows(view: _View, code: int, n: int, told: Collection[str]) -> dict[str, Any]:
    """Choose typical rows and rows at the border; of very many cells those in the columns `told` are kept."""
    raw = view.reading.raw
    first = sorted(raw.columns, key=lambda name: name not in told)[:_MOST_VALUES]
    columns = [name for name in raw.columns if name in set(first)]
    some = view.codes[view.some] == code
    typical = typical_rows(view.some[some], view.latent[some], view.proba[view.some[some], code], n)
    rows = np.flatnonzero(view.codes == code)
    border = border_rows(view.proba, rows, min(n, len(rows) // 2))
    return {
        "exemplars": [
            Exemplar(int(row), float(view.proba[row, code]), values_of(raw, row, columns)) for row in typical
        ],
        "borderline": [_borderline(view, int(row), code, columns) for row in border],
    }


def _borderline(view: _View, row: int, code: int, columns: Sequence[str]) -> Borderline:
    proba = view.proba[row]
    second = int(np.argsort(-proba, kind="stable")[1])
    values = values_of(view.reading.raw, row, columns)
    return Borderline(row, float(proba[code]), values, view.names[second], float(proba[second]))


def _doubts(explained: ClassExplanation, view: _View, max_conditions: int) -> list[str]:
    """Say why a class should be doubted; without rules where ``max_conditions`` is 0."""
    if not explained.n_rows:
        return ["no row of this table is of the class"]
    doubts = []
    if explained.n_rows < _FEW_ROWS:
        doubts.append(f"it has only {counted(explained.n_rows, 'row')}")
    if explained.confidence < _LOW_CONFIDENCE:
        doubts.append(f"the model is unsure of its rows (mean probability {explained.confidence:.2f})")
    if explained.stability is not None and explained.stability < _LOW_STABILITY:
        reasons = {
            "members": "the members disagree about its rows",
            "bootstraps": "k-means does not find it again in other samples of the rows",
        }
        doubts.append(f"{reasons[explained.stability_source or 'members']} (stability {explained.stability:.2f})")
    agreement = _agreement(view, explained.name)
    if agreement is not None and agreement < _LOW_AGREEMENT:
        doubts.append(f"other looks at the same rows hardly find it again (agreement {agreement:.2f})")
    if not explained.rules and max_conditions:
        doubts.append(f"no rule of up to {counted(max_conditions, 'condition')} singles it out")
    if explained.rules_coverage is not None and explained.rules_coverage < _LOW_COVERAGE:
        doubts.append(f"its rules match only {share_text(explained.rules_coverage)} of it")
    if explained.rules_precision is not None and explained.rules_precision < _LOW_PRECISION:
        doubts.append(f"of the rows that its rules match, only {share_text(explained.rules_precision)} are of it")
    if explained.nearest_known is not None and explained.nearest_known.distance < _CLOSE:
        doubts.append(f"it hardly differs from the known class {class_name(explained.nearest_known.name)}")
    return doubts


def _agreement(view: _View, name: Any) -> float | None:
    """Return how far other looks of an AutoDiscoverer find the class again."""
    found = getattr(view.model, "class_confidence_", None)
    place = view.model.novel_classes_.tolist().index(name)
    return None if found is None or len(found) <= place else float(found[place])
