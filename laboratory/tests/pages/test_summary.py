from __future__ import annotations

import numpy as np
import pytest

from laboratory.tests.made_lines import line
from newfound_lab.pages.summary import show, show_difference, summarise
from newfound_lab.paper.published import Score


def test_seeds_of_one_measurement_are_summarised_together() -> None:
    accs = [0.8, 0.9, 0.85]
    (summary,) = summarise(
        line(acc, seed=seed, fit_seconds=10.0 * (seed + 1), n_packed=5, peak_memory_mib=seed, n_found=4 + seed % 2)
        for seed, acc in enumerate(accs)
    )
    assert (summary.dataset, summary.variant, summary.regime) == ("pendigits", "appendix", "oracle")
    assert summary.scores["acc"] == pytest.approx((85.0, 100 * np.std(accs)))
    assert summary.scores["nmi"] == pytest.approx((0.75, np.std(accs)))
    assert summary.scores["known_acc"] == pytest.approx((90.0, 0.0))
    assert summary.n_seeds == 3
    assert summary.fit_seconds == pytest.approx(4.0)
    assert summary.peak_memory_mib == 2
    assert summary.n_found == pytest.approx(13 / 3)


@pytest.mark.parametrize(
    "other",
    [
        {"experiment": "ablation"},
        {"dataset": "letter"},
        {"method": "kmeans"},
        {"variant": "published"},
        {"regime": "label-free"},
        {"protocol": "transductive"},
        {"settings": {"w1": 0.5}},
        {"class_split": 1},
        {"k": "estimated"},
    ],
)
def test_measurements_that_differ_are_apart(other: dict[str, str]) -> None:
    found = summarise([line(0.8), line(0.6, **other), line(0.9, seed=1)])  # type: ignore[arg-type]
    assert [round(summary.scores["acc"].mean) for summary in found] == [85, 60]


def test_settings_in_another_order_are_the_same() -> None:
    assert len(summarise([line(0.8, settings={"a": 1, "b": 2}), line(0.8, seed=1, settings={"b": 2, "a": 1})])) == 1


def test_devices_and_reduced_tables_show() -> None:
    (summary,) = summarise(
        [line(0.8, reduced=True), line(0.8, seed=1, device="cuda", device_name="NVIDIA H200", reduced=True)]
    )
    assert summary.devices == ("CPU", "NVIDIA H200")
    assert summary.reduced


def test_one_seed_has_no_standard_deviation() -> None:
    (summary,) = summarise([line(0.8)])
    assert summary.scores["acc"] == (80.0, None)
    assert show(summary.scores["acc"], "acc") == "80.0"


def test_what_has_no_score_is_left_out() -> None:
    unscored = {name: value for name, value in line(0.8).items() if name not in ("acc", "bacc", "nmi", "ari")}
    assert summarise([unscored | {"data": {}}]) == []
    (summary,) = summarise([line(0.8, protocol="transductive", known_acc=None)])
    assert "known_acc" not in summary.scores


def test_scores_are_shown_as_the_paper_prints_them() -> None:
    assert show(Score(84.96, 1.04), "acc") == "85.0 ± 1.0"
    assert show(Score(0.756, 0.021), "nmi") == "0.76 ± 0.02"
    assert show(Score(0.756, 0.021), "nmi", sd=False) == "0.76"
    assert show(Score(0.8234), "nmi", digits=3) == "0.823"
    assert show(Score(-0.004, 0.0), "ari") == "0.00 ± 0.00"
    assert show(None, "acc") == "—"


def test_differences_carry_their_sign() -> None:
    assert show_difference(Score(84.7), Score(85.6), "acc") == "−0.9"
    assert show_difference(Score(92.4), Score(91.4), "acc") == "+1.0"
    assert show_difference(Score(91.38), Score(91.4), "acc") == "0.0"
