from __future__ import annotations

import json

import pytest

from newfound_lab.suites.trials import Trial, facts_of, key_of

OLD_LINE = {
    "experiment": "main",
    "dataset": "letter",
    "method": "kmeans",
    "variant": "default",
    "regime": "label-free",
    "protocol": "inductive",
    "seed": 3,
    "settings": {},
    "acc": 0.5,
}
OLD_KEY = (
    '{"dataset": "letter", "experiment": "main", "method": "kmeans", "protocol": "inductive", '
    '"regime": "label-free", "seed": 3, "settings": {}, "variant": "default"}'
)
TRIAL = Trial("main", "letter", "kmeans", "default", "label-free", "inductive", 3)


def test_lines_from_before_there_were_class_splits_keep_their_keys() -> None:
    assert key_of(OLD_LINE) == OLD_KEY == TRIAL.key == key_of(TRIAL.line({"acc": 0.5}))
    assert facts_of(OLD_LINE) == facts_of(TRIAL.line({}))


def test_class_splits_and_k_tell_trials_apart() -> None:
    trials = [
        Trial("label_free", "letter", "kmeans", "default", "label-free", "inductive", 3, {}, class_split, k)
        for class_split in range(3)
        for k in ("given", "estimated")
    ]
    assert len({trial.key for trial in trials}) == 6
    for trial in trials:
        line = json.loads(json.dumps(trial.line({"acc": 0.5})))
        assert key_of(line) == trial.key
        assert (line["class_split"], line["k"]) == (trial.class_split, trial.k)


def test_only_an_estimated_k_builds_on_another_trial() -> None:
    assert TRIAL.builds_on is None
    trial = Trial("label_free", "letter", "pbn", "default", "label-free", "inductive", 2, {}, 4, "estimated")
    estimate = trial.builds_on
    assert estimate is not None
    assert (estimate.experiment, estimate.dataset, estimate.seed, estimate.class_split) == ("n_classes", "letter", 2, 4)
    assert estimate.builds_on is None


@pytest.mark.parametrize("name", [name for name in OLD_LINE if name != "acc"])
def test_what_lacks_a_field_is_no_line(name: str) -> None:
    with pytest.raises(KeyError):
        key_of({key: value for key, value in OLD_LINE.items() if key != name})
