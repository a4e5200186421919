"""Members that train in one pack become what they would have become alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from newfound.nn import MemberStreams
from tests.learning.problems import JOINT, PRETRAINING, Problem, make_network, make_problem, train
from tests.oracles import training as oracle

SEEDS = [11, 22, 33]
CLOSE = 1e-10


@pytest.fixture(scope="module")
def problem() -> Problem:
    return make_problem()


def assert_learned(final: dict[str, Tensor]) -> None:
    start = make_network(MemberStreams(SEEDS, dtype=torch.float64)).state_dict()
    for name, tensor in start.items():
        assert (final[name] - tensor).abs().amax(dim=(1, 2)).min() > 1e-3, f"{name} of some member was not trained"


@pytest.mark.parametrize("threshold", [None, 0.8])
@pytest.mark.parametrize(("dropout", "batch_norm"), [(0.0, False), (0.3, False), (0.3, True)])
def test_a_pack_trains_as_each_member_alone(
    problem: Problem, dropout: float, batch_norm: bool, threshold: float | None
) -> None:
    joint = replace(JOINT, threshold=threshold)
    together, _ = train(problem, SEEDS, dropout=dropout, batch_norm=batch_norm, joint=joint)
    if not batch_norm:
        assert_learned(together)
    # A bias in front of batch norm has a gradient of 0 but for rounding, and AdamW divides it by itself.
    close = 1e-7 if batch_norm else CLOSE
    for m, seed in enumerate(SEEDS):
        alone, _ = train(problem, [seed], dropout=dropout, batch_norm=batch_norm, joint=joint)
        for name, tensor in together.items():
            torch.testing.assert_close(tensor[m : m + 1], alone[name], atol=close, rtol=close)


def test_the_place_in_the_pack_and_the_company_do_not_matter(problem: Problem) -> None:
    first, _ = train(problem, [11, 22, 33], dropout=0.2)
    second, _ = train(problem, [44, 33, 11, 55], dropout=0.2)
    for name, tensor in first.items():
        torch.testing.assert_close(tensor[[0, 2]], second[name][[2, 1]], atol=CLOSE, rtol=CLOSE)
        assert not torch.allclose(tensor[1], second[name][0])


@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_member_that_diverged_harms_no_other(problem: Problem, broken: int) -> None:
    sound, _ = train(problem, SEEDS, dropout=0.2)
    harmed, _ = train(problem, SEEDS, dropout=0.2, broken_member=broken)
    others = [m for m in range(3) if m != broken]
    for name, tensor in sound.items():
        assert harmed[name][broken].isnan().all()
        torch.testing.assert_close(harmed[name][others], tensor[others], atol=CLOSE, rtol=CLOSE)


@pytest.mark.parametrize("threshold", [None, 0.8])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_a_pack_trains_as_plain_torch_networks_by_the_papers_equations(
    problem: Problem, dropout: float, threshold: float | None
) -> None:
    joint, pretraining = replace(JOINT, threshold=threshold, epochs=2), replace(PRETRAINING, epochs=1)
    together, _ = train(problem, SEEDS, dropout=dropout, joint=joint, pretraining=pretraining)
    for m in (0, 2):
        streams = MemberStreams([SEEDS[m]], dtype=torch.float64)
        alone = oracle.PlainNetwork(make_network(streams, dropout=dropout), streams)
        groups = problem.groups.tolist()
        oracle.pretrain(alone.encoder, 5, problem.rows, groups, pretraining, streams)
        oracle.train_jointly(alone, problem.views, problem.codes, joint, streams)
        for tensor, expected in zip(together.values(), alone.weights(), strict=True):
            torch.testing.assert_close(tensor[m], expected.view_as(tensor[m]), atol=1e-9, rtol=1e-9)
