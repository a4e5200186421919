"""Every family makes what it promises, from few columns and from many, and the same from the same seed."""

from __future__ import annotations

import pytest
import torch

from newfound_lab.prior import FAMILIES
from newfound_lab.prior.source import CLASSES, Source, class_weights, draw_codes, number_of_classes, slices

ROWS, BATCH = 90, 6


@pytest.mark.parametrize("columns", [3, 70])
@pytest.mark.parametrize("name", FAMILIES)
def test_family(name: str, columns: int) -> None:
    columns = max(columns, FAMILIES[name].columns)
    tables = FAMILIES[name].make(Source(1), BATCH, ROWS, columns)
    assert tables.values.shape == (BATCH, ROWS, columns)
    assert tables.values.isfinite().all()
    assert tables.categorical.shape == (BATCH, columns)
    assert tables.classes.shape == (BATCH, ROWS)
    assert tables.classes.min() >= 0
    assert tables.classes.max() < CLASSES
    assert tables.values.std(1).amax() < 1e4
    several = [len(classes.unique()) > 1 for classes in tables.classes]
    assert sum(several) >= BATCH - 1
    codes = tables.values[tables.categorical[:, None].expand_as(tables.values)]
    assert torch.equal(codes, codes.round().abs())

    again = FAMILIES[name].make(Source(1), BATCH, ROWS, columns)
    assert all(torch.equal(first, other) for first, other in zip(tables, again, strict=True))
    other = FAMILIES[name].make(Source(2), BATCH, ROWS, columns)
    assert not torch.equal(tables.values, other.values)


@pytest.mark.parametrize("name", FAMILIES)
def test_columns_tell_something_about_the_class(name: str) -> None:
    """In most tables some column differs between classes by more than chance allows."""
    tables = FAMILIES[name].make(Source(3), 12, 300, 20)
    told = 0
    for values, classes in zip(tables.values, tables.classes, strict=True):
        member = torch.nn.functional.one_hot(classes, CLASSES).float()
        size = member.sum(0)
        means = member.T @ values / size.clamp(min=1)[:, None]
        between = (size[:, None] * (means - values.mean(0)).square()).sum(0)
        within = (values - means[classes]).square().sum(0) + 1e-9
        n_classes = int((size > 0).sum())
        f = between / within * (300 - n_classes) / max(1, n_classes - 1)
        told += int(f.max() > 6)
    assert told >= 8


def test_numbers_of_classes_are_wide_ranging() -> None:
    count = number_of_classes(Source(0), 4000, 1024)
    assert count.min() == 2
    assert count.max() == CLASSES
    assert (count <= 12).float().mean() > 0.6


def test_shares_are_even_and_uneven() -> None:
    weights = class_weights(Source(0), torch.full((500,), 10))
    torch.testing.assert_close(weights.sum(1), torch.ones(500))
    assert torch.equal(weights > 0, (torch.arange(CLASSES) < 10).expand(500, -1))
    ratio = weights[:, :10].amax(1) / weights[:, :10].amin(1)
    assert (ratio < 1.5).float().mean() > 0.2
    assert (ratio > 10).float().mean() > 0.1


def test_draw_codes_follows_the_weights() -> None:
    weights = torch.tensor([[0.5, 0.0, 0.3, 0.2]])
    codes = draw_codes(Source(0), weights, 20_000)
    torch.testing.assert_close(torch.bincount(codes[0], minlength=4) / 20_000, weights[0], atol=0.02, rtol=0)


def test_slices_keep_the_order_of_scores() -> None:
    source = Source(0)
    score = source.normal(8, 200)
    codes = slices(source, score, torch.full((8,), 5))
    ordered = codes.gather(1, score.argsort(1))
    assert (ordered.diff(dim=1) >= 0).all()
    assert codes.max() == 4


@pytest.mark.parametrize("name", ["curves", "images", "sheets"])
def test_neighbouring_columns_are_alike(name: str) -> None:
    values = FAMILIES[name].make(Source(4), 20, 200, 64).values
    scores = (values - values.mean(1, keepdim=True)) / (values.std(1, keepdim=True) + 1e-6)
    correlation = (scores.mT @ scores / 199).abs()
    neighbours = correlation.diagonal(1, 1, 2).mean()
    assert neighbours > 1.5 * correlation[:, :32, 40:].mean()
    assert neighbours > 0.25
