"""tune: the settings of a discoverer that find hidden classes best, by a Bayesian search without novel labels."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from newfound.errors import InputError, Message, Parameter, TrainingInterrupted, warn_user
from newfound.markup import Html, inline, tag
from newfound.parameters import check_choice, check_integer, check_real, pick_generator
from newfound.progress import ProgressBar
from newfound.records import Records
from newfound.selection.hidden_classes import HELD_OUT, METRICS, HiddenTable, ScoringTask
from newfound.selection.packs import Discoverer, check_discoverer, packs, together_key
from newfound.selection.space import Choice, Space, check_space, settings_of, with_settings
from newfound.selection.studies import Study, describe_task, load_optuna, open_study, quiet_optuna

_AT_ONCE = 10  # settings that are proposed and fitted before the search learns of any of them
_JUDGED_AFTER = 5  # complete trials, from which on those that fall behind are given up
_FEWEST_ROWS = 100  # that a sample may have
_GRACE = 1.1  # of the time limit, within which a fit has to end by what fits took so far


@dataclass(frozen=True, eq=False)
class TuningResult:
    """What `tune` found.

    Attributes
    ----------
    best_params : dict
        The settings with the best score among those that are better than the discoverer as given by more than the
        standard error of the difference over the splits, or those given if there are none.
    best_score, default_score : float
        Score on hidden classes of these settings, and of the discoverer as it was given; the first is never lower.
    discoverer : Discoverer
        An unfitted copy with the best settings; everything else is as it was given.
    trials : Records
        What was tried: ``number``, ``state`` ("complete", "pruned" or "failed"), ``score``, ``scores`` of each split,
        ``seconds``, and a column for each parameter. The first one is the discoverer as it was given.
    n_novel_classes : int
        Number of novel classes, as given or estimated.
    storage, study_name : str
        Where the trials are kept, and under which name.
    """

    best_params: dict[str, Any]
    best_score: float
    default_score: float
    discoverer: Any
    trials: Records
    n_novel_classes: int
    storage: str
    study_name: str
    _space: Mapping[str, Space] = field(repr=False)

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw the score against each parameter.

        Parameters
        ----------
        path : str or path, optional
            A file to write as well, .png or .svg.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from newfound.pictures.knobs import Knob, draw_knobs

        shown = [trial for trial in self.trials if trial["scores"] and trial["state"] != "failed"]
        as_given = self.trials[0]["scores"]
        # Splits differ in how hard they are, so the score of a trial that was given up goes by the difference.
        heights = [
            self.default_score + float(np.mean(trial["scores"]) - np.mean(as_given[: len(trial["scores"])]))
            for trial in shown
        ]
        knobs = [
            Knob(name, [trial[name] for trial in shown], log=not isinstance(space, Choice) and space.log)
            for name, space in self._space.items()
        ]
        complete = [trial["state"] == "complete" for trial in shown]
        title = f"{type(self.discoverer).__name__}: what each parameter does to the score on hidden classes"
        return draw_knobs([] if path is None else [Path(path)], knobs, heights, complete, title=title)

    def __str__(self) -> str:
        n_complete = sum(trial["state"] == "complete" for trial in self.trials)
        settings = ", ".join(f"{name}={_short(value)}" for name, value in self.best_params.items())
        n_trials = f"{len(self.trials)} trial{'s' * (len(self.trials) != 1)}"
        return (
            f"{n_trials} ({n_complete} complete): {self.best_score:.3f} on hidden classes, "
            f"{self.default_score:.3f} as given\nbest: {settings}\nkept in {self.storage} as {self.study_name}"
        )

    def _repr_html_(self) -> Html:
        return inline(*(tag("p", line) for line in str(self).splitlines()))


def tune(
    discoverer: Discoverer,
    X: Any,
    y: Any,
    *,
    n_trials: int = 50,
    time_limit: float | None = None,
    max_rows: int | None = None,
    space: Mapping[str, Space] | None = None,
    cv: Any = None,
    metric: str = "f1",
    with_unlabelled: bool = True,
    storage: Any = None,
    study_name: str | None = None,
    random_state: Any = None,
    verbose: int = 0,
    executor: Executor | None = None,
) -> TuningResult:
    """Search for the settings of a discoverer that find hidden classes best; no novel label is needed.

    Settings are proposed by a tree-structured Parzen estimator and scored as by `hidden_class_score`, split by split:
    those that fall behind the median of earlier ones are given up early. Networks of equal shapes are fitted at once.
    The settings that the discoverer has are always tried first.

    Parameters
    ----------
    discoverer : Discoverer
        Left as it is. If ``n_novel_classes`` is "auto", the number is estimated once, before the search.
    X : table of shape (n, n_columns)
    y : labels of shape (n,)
        Known classes, at least 3; -1, None or NaN where a row is unlabelled.
    n_trials : int, default=50
        Settings to try, those of earlier calls for the same task included: a call that was interrupted is continued by
        the same call.
    time_limit : float or None, default=None
        Seconds after which no more fits are begun. The discoverer as given is scored in any case.
    max_rows : int or None, default=None
        About so many rows, drawn at random in the proportion of the classes, on which settings are scored. None is all
        rows. What is returned is unfitted, so that it can be fitted on all rows in the end.
    space : mapping of parameter to Real, Whole or Choice, optional
        What to try; None is ``discoverer.search_space()``.
    cv, metric, with_unlabelled
        How settings are scored; see `hidden_class_score`.
    storage : str, path, optuna storage or None, default=None
        Where trials are kept: a file for SQLite, an address of optuna's such as "postgresql://...", or ":memory:" to
        keep nothing. None is ``tuning.sqlite3`` in newfound's cache folder (``NEWFOUND_CACHE``, else ``newfound`` in
        the user's cache folder).
    study_name : str or None, default=None
        Name of the study there. None is a name made of the table, the labels, the discoverer and how it is scored, so
        that every task has a study of its own.
    random_state : int, RandomState or None, default=None
        Seed of the splits, of the search, and of the discoverer if it has none of its own.
    verbose : int, default=0
        1 shows a progress bar with the best score and the time left.
    executor : concurrent.futures.Executor or None, default=None
        Where the splits of a trial are scored side by side, such as `newfound.scale.RayExecutor` or a pool of
        processes. The trials are the same as without, but for rounding.

    Returns
    -------
    TuningResult
        After Ctrl-C, what was found until then.

    Raises
    ------
    InputError
        If there are fewer than 3 known classes, nothing to tune, the discoverer as given cannot be fitted, or the
        storage cannot be used or has another task under this name.
    MissingExtraError
        If optuna is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from newfound import SpectralDiscoverer, tune
    >>> X = np.repeat(np.eye(6), 8, axis=0) + np.random.default_rng(0).normal(0, 0.1, (48, 6))
    >>> y = np.repeat([0, 1, 2, 3, -1, -1], 8)
    >>> found = tune(SpectralDiscoverer(n_novel_classes=2), X, y, n_trials=3, storage=":memory:", random_state=0)
    >>> len(found.trials), found.best_score >= found.default_score
    (3, True)
    """
    start = time.monotonic()
    check_discoverer(discoverer)
    n_trials = check_integer("n_trials", n_trials, low=1)
    if time_limit is not None:
        check_real("time_limit", time_limit, low=0, open_low=True)
    if max_rows is not None:
        check_integer("max_rows", max_rows, low=_FEWEST_ROWS)
    check_choice("metric", metric, METRICS)
    if executor is not None and not isinstance(executor, Executor):
        raise InputError.of("executor", executor, "None, or an executor such as those of concurrent.futures")
    space = check_space(getattr(discoverer, "search_space", dict)() if space is None else space, discoverer)
    own_seed = int(pick_generator(random_state).randint(2**31 - 1))
    load_optuna()
    with quiet_optuna():
        table = HiddenTable(X, y)
        seeded = random_state if isinstance(random_state, (int, np.integer)) else None
        scoring = {"cv": cv, "metric": metric, "with_unlabelled": with_unlabelled, "random_state": seeded}
        scoring |= {} if max_rows is None else {"max_rows": max_rows}
        task = describe_task(table.table, table.labels, discoverer, space, scoring)
        study = open_study(storage, study_name, task)
        seed = int(study.remembered("seed", lambda: own_seed))
        # a trial may take minutes, so its speed is that of the last hour
        bar = ProgressBar(
            n_trials, shown=bool(verbose), unit="trials", start="preparing", time_limit=time_limit, memory=3600.0
        )
        with bar as progress:
            n_novel = int(study.remembered("n_novel", lambda: table.count_novel(discoverer, pick_generator(seed))))
            rng = pick_generator(seed)
            scored = table if max_rows is None else table.sample(max_rows, rng)
            tasks = scored.tasks(n_novel, cv=cv, with_unlabelled=with_unlabelled, held_out=HELD_OUT, rng=rng)
            search = _Search(discoverer, space, tasks, metric, study, seed, executor)
            search.run(n_trials, _Clock(start, time_limit), progress)
        return search.result(n_novel)


class _Clock:
    """Says whether there is time for more.

    Parameters
    ----------
    start : float
        When the time began to run, by ``time.monotonic``.
    limit : float or None
        Seconds.
    """

    def __init__(self, start: float, limit: float | None) -> None:
        self._start, self.limit = start, limit

    def left(self) -> float:
        """Seconds left; infinite without a limit."""
        return np.inf if self.limit is None else self.limit - (time.monotonic() - self._start)

    def allows(self, seconds: float) -> bool:
        """Whether something that takes so long would end in time, or nearly so."""
        return self.limit is None or seconds <= self.left() + (_GRACE - 1) * self.limit


@dataclass(eq=False)
class _Trial:
    """Settings on their way through the splits."""

    trial: Any
    settings: dict[str, Any]
    discoverer: Any
    scores: list[float] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""
    pruned: bool = False
    as_given: bool = False

    @property
    def goes_on(self) -> bool:
        return not self.error and not self.pruned


class _Search:
    """A search that is kept in a study: what it does next depends on the trials there and on the seed alone.

    Whole batches of trials are kept, so that a search which was killed goes on as if it had not been.
    """

    def __init__(
        self,
        discoverer: Any,
        space: Mapping[str, Space],
        tasks: Sequence[ScoringTask],
        metric: str,
        study: Study,
        seed: int,
        executor: Executor | None = None,
    ) -> None:
        self._discoverer, self._space, self._tasks, self._metric = discoverer, space, tasks, metric
        self._study, self._seed, self._executor = study, seed, executor
        self._at_once = _AT_ONCE if _can_be_packed(tasks[0].prepared(discoverer, seed), space) else 1
        self._pack_seconds: list[float] = []

    def run(self, n_trials: int, clock: _Clock, progress: ProgressBar) -> None:
        """Try settings until there are so many trials, or the time is over."""
        try:
            while len(stored := self._study.trials()) < n_trials:
                _show(progress, stored)
                size = self._batch_size(stored, n_trials, clock)
                finished = self._try(self._propose(stored, size), stored, clock if stored else None, progress)
                if not finished:
                    _warn_of_the_limit(stored, clock)
                    break
                self._study.add(finished)
            _show(progress, stored)
        except KeyboardInterrupt:
            n_done = len(self._study.trials())
            if not n_done:
                raise
            warn_user(
                f"Tuning was interrupted; {n_done} of {n_trials} trials are kept in {self._study.where}, and the best "
                "of them is returned. The same call goes on from there.",
                TrainingInterrupted,
            )

    def result(self, n_novel: int) -> TuningResult:
        """Return the best of what was tried."""
        records = Records(
            _record(number, trial, self._settings(trial)) for number, trial in enumerate(self._study.trials())
        )
        best = _choose(records)
        params = {name: best[name] for name in self._space}
        return TuningResult(
            best_params=params,
            best_score=best["score"],
            default_score=records[0]["score"],
            discoverer=with_settings(self._discoverer, params if best is not records[0] else {}),
            trials=records,
            n_novel_classes=n_novel,
            storage=self._study.where,
            study_name=self._study.name,
            _space=self._space,
        )

    # ---- one batch

    def _batch_size(self, stored: Sequence[Any], n_trials: int, clock: _Clock) -> int:
        """Count the settings to try next: first those given, then as many as can be packed and there is time for."""
        if not stored:
            return 1
        seconds = [trial.user_attrs["seconds"] for trial in stored[-_AT_ONCE:] if trial.user_attrs["seconds"]]
        affordable = clock.left() / np.mean(seconds) if seconds else np.inf
        return int(max(0, min(self._at_once, n_trials - len(stored), affordable)))

    def _propose(self, stored: Sequence[Any], size: int) -> list[_Trial]:
        optuna = load_optuna()
        # In memory, so that a trial is in the storage only once it has ended; the seed is another one for each batch.
        study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(
                seed=(self._seed + len(stored)) % 2**32, multivariate=False, constant_liar=True
            ),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_JUDGED_AFTER),
        )
        study.add_trials(stored)
        if not stored:
            return [self._as_given(study)]
        proposed = []
        for _ in range(size):
            trial = study.ask()
            settings = {name: values.proposed(trial, name) for name, values in self._space.items()}
            proposed.append(_Trial(trial, settings, with_settings(self._discoverer, settings)))
        return proposed

    def _settings(self, trial: Any) -> dict[str, Any]:
        """Return the settings of a kept trial."""
        if trial.user_attrs["as_given"]:
            return settings_of(self._discoverer, self._space)
        return {name: values.proposed(trial, name) for name, values in self._space.items()}

    def _as_given(self, study: Any) -> _Trial:
        """Make the discoverer as it was given the first trial, even where its settings lie outside of the space."""
        settings = settings_of(self._discoverer, self._space)
        inside = {name: values for name, values in self._space.items() if values.holds(settings[name])}
        noted = [values.noted(settings[name], name) for name, values in inside.items()]
        study.enqueue_trial({name: value for part in noted for name, value in part.items()})
        trial = study.ask()
        for name, values in inside.items():
            values.proposed(trial, name)
        return _Trial(trial, settings, self._discoverer, as_given=True)

    def _try(
        self, batch: Sequence[_Trial], stored: Sequence[Any], clock: _Clock | None, progress: ProgressBar
    ) -> list[Any]:
        """Score a batch split by split; returns optuna's frozen trials, or none where the time is over."""
        as_given = stored[0].user_attrs["scores"] if stored else None
        earlier = {repr(self._settings(trial)): trial for trial in stored}
        fresh = [trial for trial in batch if repr(trial.settings) not in earlier]
        ahead = self._score_ahead(fresh, clock)
        for step, task in enumerate(self._tasks):
            going = [trial for trial in fresh if trial.goes_on]
            progress.advance((len(fresh) - len(going)) / len(self._tasks))
            packed = self._packed(going, task) if ahead is None else ahead[step]
            if not self._score(packed, clock, progress):
                return []
            for trial in going:
                if as_given and trial.goes_on:
                    # Relative to the discoverer as given, since some splits are harder than others.
                    trial.trial.report(float(np.mean(trial.scores) - np.mean(as_given[: step + 1])), step)
                    trial.pruned = step + 1 < len(self._tasks) and trial.trial.should_prune()
        if not stored and batch[0].error:
            raise InputError(Message(f"{type(self._discoverer).__name__} as given cannot be scored. ", batch[0].error))
        return [_finish(trial, earlier.get(repr(trial.settings))) for trial in batch]

    def _packed(self, trials: Sequence[_Trial], task: ScoringTask) -> list[_Pack]:
        """Put trials that can be fitted at once together, to be scored on one split."""
        copies = [task.prepared(trial.discoverer, self._seed) for trial in trials]
        return [
            _Pack([trials[place] for place in places], _Scoring(task, [copies[place] for place in places]))
            for places in packs(copies)
        ]

    def _score_ahead(self, trials: Sequence[_Trial], clock: _Clock | None) -> list[list[_Pack]] | None:
        """Begin to score trials on all splits at once, where there is an executor and time; None otherwise."""
        if self._executor is None or (clock is not None and not clock.allows(self._typical_seconds())):
            return None
        of_splits = [self._packed(trials, task) for task in self._tasks]
        for pack in (pack for of_split in of_splits for pack in of_split):
            pack.scored = self._executor.submit(pack.scoring)
        return of_splits

    def _typical_seconds(self) -> float:
        return float(np.mean(self._pack_seconds[-_AT_ONCE:])) if self._pack_seconds else 0.0

    def _score(self, packed: Sequence[_Pack], clock: _Clock | None, progress: ProgressBar) -> bool:
        """Score packs on one split; False where there is no time left for that."""
        for pack in packed:
            begun = pack.scored is not None
            if not begun and clock is not None and not clock.allows(self._typical_seconds()):
                return False
            scored, seconds = pack.scoring() if pack.scored is None else pack.scored.result()
            self._pack_seconds.append(seconds)
            for trial, scores in zip(pack.trials, scored, strict=True):
                if not trial.goes_on:
                    continue  # it was scored in vain, before it was known to fall behind
                trial.seconds += seconds / len(pack.trials)
                if isinstance(scores, InputError):
                    trial.error = scores.message
                else:
                    trial.scores.append(scores[self._metric])
                progress.advance(1 / len(self._tasks))
        return True


@dataclass(frozen=True, eq=False)
class _Scoring:
    """Fits and scores discoverers on one split, here or elsewhere."""

    task: ScoringTask
    discoverers: list[Any]

    def __call__(self) -> tuple[list[Any], float]:
        """Return the scores of each, and how long it took."""
        start = time.monotonic()
        return self.task.score(self.discoverers), time.monotonic() - start


@dataclass(eq=False)
class _Pack:
    """Trials that are fitted at once, on one split."""

    trials: list[_Trial]
    scoring: _Scoring
    scored: Future[tuple[list[Any], float]] | None = None


def _warn_of_the_limit(stored: Sequence[Any], clock: _Clock) -> None:
    """Say so where the time was over before anything but the discoverer as given had been tried."""
    if len(stored) == 1:
        seconds = stored[0].user_attrs["seconds"]
        warn_user(
            Message(
                f"Nothing was tuned: to score the discoverer as given took {seconds:.3g} s, and ",
                Parameter("time_limit", clock.limit),
                " left no time to try other settings. Allow more time, or fewer rows (",
                Parameter("max_rows"),
                ").",
            )
        )


def _can_be_packed(discoverer: Any, space: Mapping[str, Space]) -> bool:
    """Say whether discoverers that differ in one of these parameters can be fitted at once."""
    ends = [(name, (values.low, values.high)) for name, values in space.items() if not isinstance(values, Choice)]
    keys = [[together_key(with_settings(discoverer, {name: end})) for end in both] for name, both in ends]
    return any(low is not None and low == high for low, high in keys)


def _finish(trial: _Trial, earlier: Any) -> Any:
    """Tell optuna how a trial ended, and return it as it is kept; equal settings end as they did earlier."""
    optuna = load_optuna()
    states = optuna.trial.TrialState
    noted: dict[str, Any] = {"scores": trial.scores, "seconds": trial.seconds, "error": trial.error}
    state = states.FAIL if trial.error else states.PRUNED if trial.pruned else states.COMPLETE
    if earlier is not None:
        noted = {"scores": earlier.user_attrs["scores"], "seconds": 0.0, "error": earlier.user_attrs["error"]}
        state = earlier.state
        for step, value in earlier.intermediate_values.items():
            trial.trial.report(value, step)
    for name, value in (noted | {"as_given": trial.as_given}).items():
        trial.trial.set_user_attr(name, value)
    mean = float(np.mean(noted["scores"])) if state == states.COMPLETE else None
    return trial.trial.study.tell(trial.trial, mean, state=state)


def _choose(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Choose the best of those that are clearly better than the first one, or else that.

    Of many settings one scores best by luck alone, and the splits are few.
    """
    first = records[0]
    complete = [record for record in records if record["state"] == "complete"]
    better = [record for record in complete if _is_clearly_better(record["scores"], first["scores"])]
    return max(better, key=lambda record: record["score"], default=first)  # the first of equals


def _is_clearly_better(scores: Sequence[float], others: Sequence[float]) -> bool:
    """Say whether scores exceed others on the same splits by more than the standard error of the difference."""
    gain = np.subtract(scores, others)
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
    return bool(gain.mean() > error)


def _show(bar: ProgressBar, stored: Sequence[Any]) -> None:
    scores = [trial.value for trial in stored if trial.state.name == "COMPLETE"]
    bar.show("tuning", done=len(stored), detail=f"best {max(scores):.3f}" if scores else "")


def _record(number: int, trial: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Show a finished trial to people."""
    noted: dict[str, Any] = trial.user_attrs
    state = {"COMPLETE": "complete", "PRUNED": "pruned"}.get(trial.state.name, "failed")
    score = trial.value if state == "complete" else None
    scores = [round(score, 4) for score in noted["scores"]]
    record = {"number": number, "state": state, "score": score, "scores": scores, "seconds": noted["seconds"]}
    return record | dict(settings) | ({"error": noted["error"]} if noted["error"] else {})


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else repr(value)
