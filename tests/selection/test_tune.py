from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound as nf
from newfound import InputError, MissingExtraError
from newfound.discoverers.auto import AutoDiscoverer
from newfound.errors import TrainingInterrupted
from newfound.records import Records
from newfound.selection import tune as tuning
from newfound.selection.space import Choice, Real, Whole
from newfound.selection.tune import TuningResult, tune
from tests.discoverers.common import tabular_ncd
from tests.selection.fakes import LABELS, TABLE, Fake

optuna = pytest.importorskip("optuna")


@pytest.fixture(autouse=True)
def fits() -> list[dict[str, Any]]:
    Fake.fits.clear()
    return Fake.fits


def tuned(discoverer: Any = None, X: Any = TABLE, y: Any = LABELS, **settings: Any) -> TuningResult:
    given = {"n_trials": 12, "storage": ":memory:", "random_state": 0} | settings
    return tune(Fake(3) if discoverer is None else discoverer, X, y, **given)


def outcomes(result: TuningResult) -> list[dict[str, Any]]:
    """What must not depend on how long things took."""
    return [{name: value for name, value in trial.items() if name != "seconds"} for trial in result.trials]


# ---- what is found


def test_the_best_settings_are_found_and_the_discoverer_has_them() -> None:
    result = tuned(n_trials=30)
    complete = [trial for trial in result.trials if trial["state"] == "complete"]
    best = max(complete, key=lambda trial: trial["score"])
    assert result.best_score == best["score"] > result.default_score
    assert result.best_params == {"quality": best["quality"], "mode": best["mode"]}
    assert result.best_params["quality"] > 0.7
    assert result.discoverer.get_params() == Fake(3, **result.best_params).get_params()
    assert result.n_novel_classes == 3
    assert len(result.trials) == 30
    assert isinstance(result.trials, Records)


def test_the_discoverer_as_given_is_the_first_trial_and_never_beaten_by_worse() -> None:
    given = Fake(3, quality=1.0, mode="b", random_state=5)
    result = tuned(given)
    first = result.trials[0]
    assert (first["quality"], first["mode"], first["state"]) == (1.0, "b", "complete")
    assert result.best_score == result.default_score == first["score"] == 1.0
    assert result.discoverer.get_params() == given.get_params()
    assert result.discoverer is not given


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ([[0.5, 0.5, 0.5], [0.6, 0.6, 0.6], [0.9, 0.9, 0.2]], 1),  # the last is better on average, by luck perhaps
        ([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.4, 0.5, 0.5]], 0),
        ([[0.5, 0.5, 0.5], [0.7, 0.8, 0.6], [0.6, 0.9, 0.6]], 1),  # as good as the last, and earlier
        ([[0.5], [0.6], [0.7]], 2),
    ],
    ids=["steady", "none better", "first of equals", "one split"],
)
def test_the_discoverer_as_given_is_left_only_for_something_clearly_better(
    scores: list[list[float]], chosen: int
) -> None:
    records = [{"state": "complete", "scores": splits, "score": round(float(np.mean(splits)), 9)} for splits in scores]
    pruned = {"state": "pruned", "scores": [1.0], "score": None}
    assert tuning._choose([*records, pruned]) is records[chosen]


def test_settings_outside_of_the_space_are_tried_too() -> None:
    result = tuned(space={"quality": Real(0.0, 0.1)}, n_trials=4)
    assert result.trials[0]["quality"] == 0.5
    assert result.best_params == {"quality": 0.5}
    assert all(trial["quality"] <= 0.1 for trial in result.trials[1:])


def test_every_fit_has_the_same_splits_and_never_a_hidden_label(fits: list[dict[str, Any]]) -> None:
    tuned(n_trials=4)
    rows = [fit["y"].tolist() for fit in fits]
    assert len({tuple(row) for row in rows}) == 3
    for fit in fits:
        known = set(fit["y"].tolist()) - {-1}
        assert len(known) == 3, "of five known classes two are hidden, with all of their rows"
        np.testing.assert_array_equal(fit["y"], np.where(np.isin(fit["classes"], list(known)), fit["classes"], -1))
        assert fit["n_novel_classes"] == 5


def test_settings_can_be_scored_on_a_sample_with_all_classes(fits: list[dict[str, Any]]) -> None:
    X, y = np.tile(TABLE, (20, 1)), np.tile(LABELS, 20)
    rare = np.flatnonzero(y == 4)[5:]
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
    tuned(X=X, y=y, n_trials=2, max_rows=200)
    rows = [fit["y"].tolist() for fit in fits]
    assert len({tuple(row) for row in rows}) == 3
    for fit in fits:
        assert 150 < len(fit["y"]) <= 205
        assert 0.2 < np.mean(fit["classes"] >= 5) < 0.7  # three of seven rows, of which some known ones are held out
        assert set(fit["classes"]) == set(range(8))
    fits.clear()
    tuned(n_trials=2, max_rows=len(LABELS))
    drawn = [fit["y"].tolist() for fit in fits]
    fits.clear()
    tuned(n_trials=2)
    assert drawn == [fit["y"].tolist() for fit in fits]


def test_the_same_seed_gives_the_same_trials() -> None:
    first = outcomes(tuned(n_trials=4))
    assert first == outcomes(tuned(n_trials=4))
    assert first != outcomes(tuned(n_trials=4, random_state=1))


def test_trials_are_the_same_side_by_side() -> None:
    for discoverer, n_trials in ((Fake(3), 25), (tabular_ncd(n_novel_classes=3, epochs=1), 3)):
        with ThreadPoolExecutor(2) as pool:
            assert outcomes(tuned(discoverer, n_trials=n_trials, executor=pool)) == outcomes(
                tuned(discoverer, n_trials=n_trials)
            )


def test_equal_settings_are_fitted_once(fits: list[dict[str, Any]]) -> None:
    result = tuned(space={"mode": Choice(["a", "b"])}, n_trials=10)
    assert len(result.trials) == 10
    assert len(fits) == 2 * 3
    assert {trial["score"] for trial in result.trials} == {result.default_score}


def test_the_encoder_can_be_tuned() -> None:
    result = tuned(nf.KMeansDiscoverer(3), n_trials=6)
    assert set(result.best_params) == {"encoder__numeric_scaling", "encoder__categorical_scaling"}
    assert result.discoverer.fit(TABLE, LABELS).n_novel_classes_ == 3


def test_the_number_of_novel_classes_is_estimated_once_before_the_search(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fits: list[dict[str, Any]]
) -> None:
    asked = []

    class Estimate:
        n_classes = 4

    def estimate(X: Any, y: Any, **options: Any) -> Estimate:
        asked.append(options)
        return Estimate()

    monkeypatch.setattr("newfound.selection.n_classes.estimate_n_novel_classes", estimate, raising=False)
    for n_trials in (3, 4):
        result = tuned(Fake("auto"), n_trials=n_trials, storage=tmp_path / "trials.db")
    assert len(asked) == 1
    assert result.n_novel_classes == 4
    assert {fit["n_novel_classes"] for fit in fits} == {4 + 2}
    assert result.discoverer.n_novel_classes == "auto"


# ---- pruning and failures


def test_what_falls_behind_is_given_up_early(fits: list[dict[str, Any]]) -> None:
    result = tuned(n_trials=30)
    pruned = [trial for trial in result.trials if trial["state"] == "pruned"]
    assert pruned
    assert all(trial["score"] is None and 1 <= len(trial["scores"]) < 3 for trial in pruned)
    assert all(len(trial["scores"]) == 3 for trial in result.trials if trial["state"] == "complete")
    assert len(fits) == sum(len(trial["scores"]) for trial in result.trials)
    assert all(trial["state"] == "complete" for trial in result.trials[:5])
    scores = [trial["score"] for trial in result.trials if trial["state"] == "complete"]
    assert max(trial["quality"] for trial in pruned) < result.best_params["quality"]
    assert np.median(scores) >= result.default_score


def test_settings_that_fail_are_noted_and_the_search_goes_on() -> None:
    result = tuned(Fake(3, act="fail", after=9), n_trials=6)
    states = [trial["state"] for trial in result.trials]
    assert states == ["complete"] * 3 + ["failed"] * 3
    assert result.trials[-1]["error"] == "Training diverged."
    assert result.trials[-1]["score"] is None


def test_a_discoverer_that_fails_as_given_is_refused() -> None:
    with pytest.raises(InputError, match=r"Fake as given cannot be scored\. Nothing works\."):
        tuned(Fake(3, act="always fail"))


def test_one_that_fails_in_a_pack_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    check = nf.TabularNCD._check_parameters

    def refuse(self: Any) -> None:
        check(self)
        if self.w1 < 0.5:
            raise InputError("w1 is too small.")

    monkeypatch.setattr(nf.TabularNCD, "_check_parameters", refuse)
    discoverer = tabular_ncd(n_novel_classes=3, epochs=1, pretrain_epochs=0)
    result = tuned(discoverer, n_trials=5, space={"w1": Real(0, 1)})
    assert {trial["state"] for trial in result.trials} == {"complete", "failed"}
    assert all((trial["state"] == "failed") == (trial["w1"] < 0.5) for trial in result.trials)


# ---- packs


def test_a_pack_gives_what_one_after_the_other_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    discoverer = tabular_ncd(n_novel_classes=3, epochs=2)
    space = {"w1": Real(0.1, 1), "lr_clustering": Real(1e-3, 1e-2, log=True), "k_neighbors": Whole(1, 10)}
    sizes = []
    score = tuning.ScoringTask.score

    def counted(self: Any, discoverers: Any) -> Any:
        sizes.append(len(discoverers))
        return score(self, discoverers)

    monkeypatch.setattr(tuning.ScoringTask, "score", counted)
    packed = tuned(discoverer, n_trials=4, space=space)
    assert sizes == [1] * 3 + [3] * 3
    monkeypatch.setattr(tuning, "packs", lambda discoverers: [[place] for place in range(len(discoverers))])
    alone = tuned(discoverer, n_trials=4, space=space)
    assert sizes[6:] == [1] * 12
    for ours, other in zip(outcomes(packed), outcomes(alone), strict=True):
        assert ours.pop("scores") == pytest.approx(other.pop("scores"), abs=0.05)
        assert ours.pop("score") == pytest.approx(other.pop("score"), abs=0.05)
        assert ours == other


def test_only_what_can_be_packed_is_proposed_in_batches() -> None:
    packed = tabular_ncd(n_novel_classes=3)
    assert tuning._can_be_packed(packed, {"w1": Real(0, 1), "activation": Choice(["relu", "tanh"])})
    assert not tuning._can_be_packed(packed, {"epochs": Whole(1, 3)})
    assert not tuning._can_be_packed(packed, {"activation": Choice(["relu", "tanh"])})
    assert not tuning._can_be_packed(Fake(3), {"quality": Real(0, 1)})


# ---- going on, time and Ctrl-C


def test_a_second_call_goes_on_and_a_third_has_nothing_to_do(tmp_path: Path, fits: list[dict[str, Any]]) -> None:
    storage = tmp_path / "trials.db"
    first = tuned(n_trials=5, storage=storage)
    more = tuned(n_trials=9, storage=storage)
    assert outcomes(more)[:5] == outcomes(first)
    assert outcomes(more) == outcomes(tuned(n_trials=9)), "as if it had been one call"
    fits.clear()
    assert outcomes(tuned(n_trials=9, storage=storage)) == outcomes(more)
    assert outcomes(tuned(n_trials=2, storage=storage)) == outcomes(more)
    assert not fits


def test_without_a_seed_the_one_of_the_first_call_counts(tmp_path: Path) -> None:
    storage = tmp_path / "trials.db"
    first = tuned(n_trials=3, storage=storage, random_state=None)
    assert outcomes(tuned(n_trials=5, storage=storage, random_state=None))[:3] == outcomes(first)


def test_a_search_that_was_killed_ends_as_one_that_was_not(tmp_path: Path) -> None:
    storage = tmp_path / "trials.db"
    code = (
        "from tests.selection.fakes import *; import newfound as nf;"
        f"nf.tune(Fake(3, act='die', after=16), TABLE, LABELS, n_trials=9, storage={str(storage)!r}, random_state=0)"
    )
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert killed.returncode == 9, killed.stderr
    kept = optuna.load_study(study_name=None, storage=f"sqlite:///{storage}").trials
    assert len(kept) == 5, "each of them takes three fits, and the seventeenth was the last"
    resumed = tuned(Fake(3, act="die", after=16), n_trials=9, storage=storage)
    assert outcomes(resumed) == outcomes(tuned(n_trials=9))


class FakeTime:
    """A clock that only fits move on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: list[float]) -> None:
        self.now = 0.0
        fit = Fake.fit

        def slow_fit(discoverer: Fake, X: Any, y: Any) -> Fake:
            self.now += seconds[len(Fake.fits) % len(seconds)]
            return fit(discoverer, X, y)

        monkeypatch.setattr(Fake, "fit", slow_fit)
        monkeypatch.setattr(tuning.time, "monotonic", lambda: self.now)


@pytest.mark.parametrize("seconds", [[1.0], [1.0, 2.0, 3.0], [4.0]], ids=["even", "uneven", "long"])
def test_a_time_limit_is_kept(monkeypatch: pytest.MonkeyPatch, seconds: list[float]) -> None:
    clock = FakeTime(monkeypatch, seconds)
    result = tuned(n_trials=10_000, time_limit=40.0)
    assert 0.6 * 40 < clock.now < 1.2 * 40
    assert len(result.trials) > 1


def test_the_first_trial_is_made_in_any_case() -> None:
    with pytest.warns(UserWarning, match="Nothing was tuned: .* time_limit=1e-06 left no time") as caught:
        result = tuned(time_limit=1e-6)
    assert caught[0].filename == __file__
    assert len(result.trials) == 1
    assert result.best_score == result.default_score


def test_ctrl_c_keeps_what_was_found(tmp_path: Path) -> None:
    storage = tmp_path / "trials.db"
    with pytest.warns(TrainingInterrupted, match=r"3 of 12 trials are kept in .*trials\.db") as caught:
        result = tuned(Fake(3, act="interrupt", after=10), storage=storage)
    assert caught[0].filename == __file__
    assert len(result.trials) == 3
    with pytest.raises(KeyboardInterrupt):
        tuned(Fake(3, act="interrupt"), storage=storage)


def test_progress_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    tuned(n_trials=3)
    assert capsys.readouterr().out == ""
    result = tuned(n_trials=3, verbose=1)
    shown = capsys.readouterr().out
    assert "3/3 trials" in shown
    assert f"best {result.best_score:.3f}" in shown


# ---- what is wrong


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_trials": 0}, "n_trials=0"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"max_rows": 99}, "max_rows=99"),
        ({"metric": "accuracy"}, "metric='accuracy'"),
        ({"space": {}}, "no parameters that are worth tuning"),
        ({"space": {"depth": Whole(1, 3)}}, "'depth', which is no parameter"),
        ({"executor": 2}, "executor=2"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"discoverer": Fake}, "expected a discoverer such as"),
        ({"y": np.where(LABELS < 2, LABELS, -1)}, "y has 2 known classes"),
    ],
)
def test_bad_arguments_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tuned(**settings)


def test_a_discoverer_without_a_space_needs_one() -> None:
    class Bare(Fake):
        search_space: Any = dict

    with pytest.raises(InputError, match="Bare has no parameters that are worth tuning"):
        tuned(Bare(3))
    assert len(tuned(Bare(3), space={"quality": Real(0, 1)}, n_trials=2).trials) == 2


def test_what_makes_its_choices_itself_is_not_tuned() -> None:
    with pytest.raises(InputError, match="AutoDiscoverer has no parameters that are worth tuning"):
        tuned(AutoDiscoverer(3))
    assert tuning.together_key(AutoDiscoverer(3)) is None


def test_three_known_classes_are_too_few_to_say_much() -> None:
    with pytest.warns(UserWarning, match="only 3 known classes"):
        tuned(y=np.where(LABELS < 3, LABELS, -1), n_trials=1)


def test_without_optuna_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"newfound\[tune\]"):
        tuned()


# ---- the result


def test_a_result_says_what_was_found() -> None:
    result = tuned(n_trials=3)
    text = str(result)
    assert text.startswith("3 trials (3 complete): 0.")
    assert f"{result.default_score:.3f} as given" in text
    assert "best: quality=0." in text
    assert "kept in memory as Fake-" in text
    assert len(str(result.trials).splitlines()) == 4


def test_a_result_draws_the_score_against_every_parameter(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = tuned(n_trials=12)
    figure = result.plot(tmp_path / "knobs.png")
    assert (tmp_path / "knobs.png").stat().st_size > 1000
    assert [place.get_xlabel() for place in figure.axes if place.get_xlabel()] == ["quality", "mode"]
    assert result.plot() is not figure
