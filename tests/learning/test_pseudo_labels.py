from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from newfound.learning.pseudo_labels import cosine_similarities, threshold_pseudo_labels, top_k_pseudo_labels
from tests.oracles import neighbours as oracle

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]


@st.composite
def latents(draw: st.DrawFn) -> Tensor:
    """(n_members, b, d); often with whole numbers, so that similarities tie."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(2, 12), st.integers(1, 4)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    if draw(st.booleans()):
        return torch.randint(-2, 3, shape, generator=generator).double()
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@given(latents())
@settings(max_examples=50)
def test_similarities_are_cosines_and_minus_infinity_on_the_diagonal(latent: Tensor) -> None:
    found = cosine_similarities(latent)
    for member, rows in zip(found.tolist(), latent.tolist(), strict=True):
        for i, row in enumerate(rows):
            for j, other in enumerate(rows):
                assert member[i][j] == (-torch.inf if i == j else pytest.approx(oracle.cosine(row, other), abs=1e-12))


@given(latents(), st.data())
@settings(max_examples=80)
def test_top_k_equals_loops(latent: Tensor, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, latent.shape[1] - 1))
    similarities = cosine_similarities(latent)
    labels = top_k_pseudo_labels(similarities.clone(), k)
    for found, member in zip(labels.tolist(), similarities.tolist(), strict=True):
        assert found == oracle.top_k_positives(member, k)


@given(latents(), st.data())
@settings(max_examples=60)
def test_top_k_labels_are_symmetric_with_k_positives_or_more(latent: Tensor, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, latent.shape[1] - 1))
    labels = top_k_pseudo_labels(cosine_similarities(latent), k)
    assert labels.dtype == latent.dtype
    assert set(labels.unique().tolist()) <= {0.0, 1.0}
    assert torch.equal(labels, labels.transpose(1, 2))
    assert (labels.diagonal(dim1=1, dim2=2) == 0).all()
    assert (labels.sum(dim=2) >= k).all()


@given(latents(), st.floats(-1, 1))
@settings(max_examples=60)
def test_threshold_equals_loops(latent: Tensor, threshold: float) -> None:
    similarities = cosine_similarities(latent)
    labels = threshold_pseudo_labels(similarities, threshold)
    assert labels.dtype == latent.dtype
    for found, member in zip(labels.tolist(), similarities.tolist(), strict=True):
        assert found == oracle.threshold_positives(member, threshold)


@pytest.mark.parametrize("device", DEVICES)
def test_a_batch_in_single_precision(device: str) -> None:
    """The sizes and the precision of training, where a member's labels equal those it has alone."""
    latent = torch.randn(3, 200, 16, generator=torch.Generator().manual_seed(0)).to(device)
    similarities = cosine_similarities(latent)
    labels = top_k_pseudo_labels(similarities.clone(), 20)
    assert labels.dtype == torch.float32
    assert (labels.sum(dim=2) >= 20).all()
    assert 20 * 200 <= labels[0].sum() <= 40 * 200
    assert torch.equal(labels[1:2], top_k_pseudo_labels(similarities[1:2].clone(), 20))


def test_rows_that_point_the_same_way_are_positives_whatever_their_length() -> None:
    latent = torch.tensor([[[1.0, 0.0], [9.0, 0.1], [0.0, 2.0], [0.1, 0.3], [0.0, 0.0]]])
    similarities = cosine_similarities(latent)
    expected = torch.zeros(5, 5)
    expected[0, 1] = expected[1, 0] = expected[2, 3] = expected[3, 2] = 1
    assert torch.equal(threshold_pseudo_labels(similarities, 0.9)[0], expected)
    assert torch.equal(top_k_pseudo_labels(similarities, 1)[0, :4, :4], expected[:4, :4])


def test_a_member_without_numbers_leaves_the_others_alone() -> None:
    latent = torch.randn(3, 9, 4, generator=torch.Generator().manual_seed(0))
    stained = latent.clone()
    stained[1] = torch.nan
    calm, stirred = cosine_similarities(latent), cosine_similarities(stained)
    assert torch.equal(threshold_pseudo_labels(calm, 0.2)[[0, 2]], threshold_pseudo_labels(stirred, 0.2)[[0, 2]])
    assert torch.equal(top_k_pseudo_labels(calm, 3)[[0, 2]], top_k_pseudo_labels(stirred, 3)[[0, 2]])


@pytest.mark.parametrize("device", DEVICES)
def test_members_can_have_numbers_and_thresholds_of_their_own(device: str) -> None:
    similarities = cosine_similarities(torch.randn(3, 20, 4, generator=torch.Generator().manual_seed(0)).to(device))
    together = top_k_pseudo_labels(similarities, [1, 5, 19])
    above = threshold_pseudo_labels(similarities, torch.tensor([-1.0, 0.2, 0.9], device=device).view(-1, 1, 1))
    for m, (k, threshold) in enumerate([(1, -1.0), (5, 0.2), (19, 0.9)]):
        assert torch.equal(together[m], top_k_pseudo_labels(similarities[m : m + 1], k)[0])
        assert torch.equal(above[m], threshold_pseudo_labels(similarities[m : m + 1], threshold)[0])
