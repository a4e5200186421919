from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from newfound.learning.losses import (
    _SMALLEST,
    classification_loss,
    consistency_loss,
    mutual_information_loss,
    pairwise_loss,
    vime_losses,
)
from tests.oracles import losses as oracle

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 7), st.integers(1, 5))
SEEDS = st.integers(0, 2**31 - 1)


def normal(*shape: int, seed: int, scale: float = 1.0) -> Tensor:
    draws = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * scale
    return draws.requires_grad_()


def random_positives(n_members: int, b: int, seed: int) -> Tensor:
    upper = torch.rand(n_members, b, b, generator=torch.Generator().manual_seed(seed)).lt(0.4).double().triu(1)
    return upper + upper.transpose(1, 2)


def gradients(loss: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss.sum(), inputs)


@given(SHAPES, SEEDS)
@settings(max_examples=40)
def test_classification_loss_is_each_members_cross_entropy(shape: tuple[int, int, int], seed: int) -> None:
    logits = normal(*shape, seed=seed, scale=3)
    targets = torch.randint(shape[2], shape[:2], generator=torch.Generator().manual_seed(seed))
    loss, expected = classification_loss(logits, targets), oracle.classification(logits, targets)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(gradients(loss, logits), gradients(expected, logits))


@given(SHAPES, SEEDS)
@settings(max_examples=40)
def test_consistency_loss_is_each_members_mean_square(shape: tuple[int, int, int], seed: int) -> None:
    logits, views = normal(*shape, seed=seed), normal(*shape, seed=seed + 1)
    loss, expected = consistency_loss(logits, views), oracle.consistency(logits, views)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(gradients(loss, logits, views), gradients(expected, logits, views))


@given(SHAPES, SEEDS)
@settings(max_examples=40)
def test_vime_losses_are_the_members_losses(shape: tuple[int, int, int], seed: int) -> None:
    mask_logits, values = normal(*shape, seed=seed), normal(*shape, seed=seed + 1)
    original, mask = normal(*shape, seed=seed + 2).detach(), normal(*shape, seed=seed + 3).detach().gt(0).double()
    reconstruction, mask_loss = vime_losses(mask_logits, mask, values, original)
    expected_values, expected_mask = oracle.reconstruction(values, original), oracle.mask(mask_logits, mask)
    torch.testing.assert_close(reconstruction, expected_values)
    torch.testing.assert_close(mask_loss, expected_mask)
    found = gradients(torch.stack([reconstruction, 3 * mask_loss]), values, mask_logits)
    expected = gradients(torch.stack([expected_values, 3 * expected_mask]), values, mask_logits)
    torch.testing.assert_close(found, expected)


@given(st.tuples(st.integers(1, 3), st.integers(1, 7), st.integers(1, 4)), SEEDS, st.floats(0, 1))
@settings(max_examples=40)
def test_mutual_information_loss_equals_a_double_loop(shape: tuple[int, int, int], seed: int, balance: float) -> None:
    here, there = (torch.softmax(normal(*shape, seed=seed + i), dim=2).detach() for i in (0, 1))
    expected = oracle.mutual_information(here, there, balance)
    assert mutual_information_loss(here, there, balance).tolist() == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_mutual_information_is_that_of_the_classes() -> None:
    certain = torch.eye(4, dtype=torch.float64).repeat(3, 1)[None]
    assert mutual_information_loss(certain, certain, 1.0).item() == pytest.approx(-math.log(4), abs=1e-3)
    unsure = torch.full_like(certain, 0.25)
    assert mutual_information_loss(unsure, unsure, 1.0).item() == pytest.approx(0, abs=1e-6)
    # Half of the edges lead elsewhere: two classes tell nothing about each other.
    crossing = (
        torch.eye(2, dtype=torch.float64)[[0, 1, 0, 1]][None],
        torch.eye(2, dtype=torch.float64)[[0, 1, 1, 0]][None],
    )
    assert mutual_information_loss(*crossing, 1.0).item() == pytest.approx(0, abs=1e-6)


def test_less_balance_lets_classes_differ_in_size() -> None:
    even, uneven = (torch.eye(2, dtype=torch.float64)[rows][None] for rows in ([0] * 5 + [1] * 5, [0] * 9 + [1]))

    def preferred(balance: float) -> float:
        return (mutual_information_loss(uneven, uneven, balance) - mutual_information_loss(even, even, balance)).item()

    assert preferred(1.0) > preferred(0.8) > preferred(0.6) > 0


def test_mutual_information_stays_finite_for_certain_predictions_in_single_precision() -> None:
    logits = normal(2, 20, 5, seed=0, scale=1e4).detach().float().requires_grad_()
    certain = torch.softmax(logits, dim=2)
    loss = mutual_information_loss(certain, certain.roll(1, dims=1), 0.9)
    assert loss.isfinite().all()
    assert gradients(loss, logits)[0].isfinite().all()


PAIR_SHAPES = st.tuples(st.integers(1, 3), st.integers(2, 7), st.integers(1, 4))


@given(PAIR_SHAPES, SEEDS, st.floats(0.1, 20))
@settings(max_examples=40)
def test_pairwise_loss_equals_a_double_loop(shape: tuple[int, int, int], seed: int, scale: float) -> None:
    probabilities = torch.softmax(normal(*shape, seed=seed, scale=scale), dim=2).detach()
    positive = random_positives(shape[0], shape[1], seed)
    expected = oracle.pairwise_value(probabilities, positive, _SMALLEST)
    assert pairwise_loss(probabilities, positive).tolist() == pytest.approx(expected, rel=1e-7, abs=1e-9)


@given(st.tuples(st.integers(1, 3), st.integers(2, 7), st.integers(2, 4)), SEEDS)
@settings(max_examples=40)
def test_pairwise_loss_equals_torchs_binary_cross_entropy(shape: tuple[int, int, int], seed: int) -> None:
    logits, positive = normal(*shape, seed=seed), random_positives(shape[0], shape[1], seed)
    loss = pairwise_loss(torch.softmax(logits, dim=2), positive)
    expected = oracle.pairwise(torch.softmax(logits, dim=2), positive)
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-5)  # the two keep away from log 0 differently
    torch.testing.assert_close(gradients(loss, logits), gradients(expected, logits), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("shape", [(1, 2, 1), (2, 5, 3), (3, 7, 2)])
def test_pairwise_gradient_passes_gradcheck(shape: tuple[int, int, int]) -> None:
    positive = random_positives(shape[0], shape[1], 0)
    # Not the softmax alone: probabilities are inputs of their own right, so each is moved by itself.
    probabilities = torch.rand(*shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 0.4 + 0.1
    assert torch.autograd.gradcheck(lambda p: pairwise_loss(p, positive), (probabilities.requires_grad_(),))
    logits = normal(*shape, seed=2)
    assert torch.autograd.gradcheck(lambda z: pairwise_loss(torch.softmax(z, 2), positive), (logits,))


def test_pairwise_gradient_is_scaled_by_what_follows() -> None:
    logits, positive = normal(2, 5, 3, seed=0), random_positives(2, 5, 0)
    (once,) = gradients(pairwise_loss(torch.softmax(logits, dim=2), positive), logits)
    weights = torch.tensor([-3.0, 0.5], dtype=torch.float64)  # one for each member
    (scaled,) = gradients(weights * pairwise_loss(torch.softmax(logits, dim=2), positive), logits)
    torch.testing.assert_close(scaled, weights[:, None, None] * once)


@given(st.integers(2, 40), st.integers(2, 12), st.floats(1, 500), SEEDS)
@settings(max_examples=60)
def test_pairwise_loss_stays_finite_for_certain_predictions_in_single_precision(
    b: int, n_novel: int, scale: float, seed: int
) -> None:
    logits = normal(2, b, n_novel, seed=seed, scale=scale).detach().float().requires_grad_()
    positive = random_positives(2, b, seed).float()
    loss = pairwise_loss(torch.softmax(logits, dim=2), positive)
    (gradient,) = gradients(loss, logits)
    assert loss.gt(-1e-5).all()
    assert loss.lt(-torch.tensor(_SMALLEST / 2).log()).all()
    assert gradient.isfinite().all()


def test_pairwise_loss_is_small_for_right_and_large_for_wrong_predictions() -> None:
    certain = torch.eye(2)[[0, 0, 1, 1]][None]
    same = (certain[0] @ certain[0].T - torch.eye(4))[None]
    assert pairwise_loss(certain, same).item() == pytest.approx(0, abs=1e-5)
    assert pairwise_loss(certain, 1 - torch.eye(4) - same).item() > 10


def test_pairwise_diagonal_does_not_matter() -> None:
    probabilities, positive = torch.softmax(normal(2, 6, 3, seed=0), dim=2), random_positives(2, 6, 0)
    with_diagonal = positive + torch.eye(6, dtype=torch.float64)
    torch.testing.assert_close(pairwise_loss(probabilities, with_diagonal), pairwise_loss(probabilities, positive))


def test_a_single_row_has_no_pairwise_loss() -> None:
    logits = normal(2, 1, 3, seed=0)
    loss = pairwise_loss(torch.softmax(logits, dim=2), torch.zeros(2, 1, 1, dtype=torch.float64))
    assert loss.tolist() == [0, 0]
    assert torch.equal(gradients(loss, logits)[0], torch.zeros_like(logits))


@pytest.mark.parametrize("name", ["classification", "consistency", "reconstruction", "mask", "pairwise", "information"])
@pytest.mark.parametrize("disturbance", [torch.nan, 1e6])
def test_the_gradient_of_a_member_depends_on_no_other(name: str, disturbance: float) -> None:
    targets = torch.randint(4, (3, 6), generator=torch.Generator().manual_seed(0))
    other, positive = normal(3, 6, 4, seed=9).detach(), random_positives(3, 6, 0)
    losses: dict[str, Callable[[Tensor], Tensor]] = {
        "classification": lambda x: classification_loss(x, targets),
        "consistency": lambda x: consistency_loss(x, other),
        "reconstruction": lambda x: vime_losses(other, other.gt(0).double(), x, other)[0],
        "mask": lambda x: vime_losses(x, other.gt(0).double(), other, other)[1],
        "pairwise": lambda x: pairwise_loss(torch.softmax(x, dim=2), positive),
        "information": lambda x: mutual_information_loss(torch.softmax(x, dim=2), torch.softmax(other, dim=2), 0.9),
    }
    loss = losses[name]
    calm = normal(3, 6, 4, seed=1)
    stirred = calm.detach().clone()
    stirred[1] = disturbance
    stirred.requires_grad_()
    (before,), (after,) = gradients(loss(calm), calm), gradients(loss(stirred), stirred)
    assert torch.equal(before[[0, 2]], after[[0, 2]])
    assert before.abs().sum() > 0


def test_rows_of_a_classification_count_by_their_weights() -> None:
    logits = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[0, 1, 2], [3, 3, 0]])
    weights = torch.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 2.0]])
    found = classification_loss(logits, targets, 0.1, weights)
    each = [classification_loss(logits[:, [row]], targets[:, [row]], 0.1) for row in range(3)]
    torch.testing.assert_close(found[0], (each[0][0] + 3 * each[2][0]) / 4)
    torch.testing.assert_close(found[1], classification_loss(logits, targets, 0.1)[1])
