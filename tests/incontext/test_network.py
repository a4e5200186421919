"""The network's answers move along with rows, columns, levels and classes, and hardly depend on the precision."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from newfound.incontext import (
    ALL_NOVEL,
    MIXED,
    UNKNOWN,
    Context,
    Draws,
    InContextNetwork,
    NetworkOutput,
    NetworkShape,
    prepare,
)
from newfound.incontext.context import MAX_CLASSES, MAX_LEVELS
from newfound.incontext.network import _numbers_of_groups

SHAPE = NetworkShape(cell_width=32, inducing=8, row_heads=4, plan="ccrcr")
ROWS = 40


def make_network() -> InContextNetwork:
    """Make a network in which every weight matters; some are zero at the start."""
    generator = torch.Generator().manual_seed(0)
    network = InContextNetwork(SHAPE)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim > 0:
                parameter.normal_(std=parameter.shape[-1] ** -0.5, generator=generator)
    return network.eval()


def make_context(columns: int = 7) -> tuple[Context, Draws]:
    generator = torch.Generator().manual_seed(columns)
    values = torch.randn(2, ROWS, columns, generator=generator)
    categorical = torch.arange(columns).expand(2, -1) % 3 == 1
    codes = torch.randint(0, 5, values.shape, generator=generator).float()
    values = torch.where(categorical[:, None], codes, values)
    missing = torch.rand(values.shape, generator=generator) < 0.1
    labels = torch.randint(-3, 4, (2, ROWS), generator=generator).clamp(min=-1)
    context = Context(values.masked_fill(missing, 0.0), categorical, missing, labels, torch.tensor([MIXED, UNKNOWN]))
    return context, Draws.draw(2, columns, generator)


@torch.no_grad()
def answer(context: Context, draws: Draws) -> NetworkOutput:
    return make_network()(prepare(context, draws))


def cosines(output: NetworkOutput) -> Tensor:
    return output.embedding @ output.embedding.transpose(1, 2)


def assert_near(found: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(found, other, atol=2e-3, rtol=0)


@pytest.mark.parametrize("columns", [4, 7, 70])
def test_rows_in_another_order(columns: int) -> None:
    context, draws = make_context(columns)
    order = torch.randperm(ROWS)
    moved = replace(
        context, values=context.values[:, order], missing=context.missing[:, order], labels=context.labels[:, order]
    )
    before, after = answer(context, draws), answer(moved, draws)
    assert_near(after.embedding, before.embedding[:, order])
    assert_near(after.novelty, before.novelty[:, order])
    assert_near(after.known, before.known[:, order])
    assert_near(after.n_novel, before.n_novel)


@pytest.mark.parametrize("columns", [4, 7, 70])
def test_columns_in_another_order(columns: int) -> None:
    context, draws = make_context(columns)
    order = torch.randperm(columns)
    moved = replace(
        context,
        values=context.values[:, :, order],
        missing=context.missing[:, :, order],
        categorical=context.categorical[:, order],
    )
    names = ("columns", "levels", "slots", "signs", "projection", "keys")
    named = {name: getattr(draws, name)[:, order] for name in names}
    before, after = answer(context, draws), answer(moved, replace(draws, **named))
    assert_near(after.embedding, before.embedding)
    assert_near(after.n_novel, before.n_novel)


def test_levels_in_another_order() -> None:
    context, draws = make_context()
    order = torch.randperm(MAX_LEVELS)
    codes = torch.argsort(order)[context.values.long().clamp(0, MAX_LEVELS - 1)].float()
    values = torch.where(context.categorical[:, None] & ~context.missing, codes, context.values)
    named = {name: getattr(draws, name)[:, :, order] for name in ("levels", "slots", "signs")}
    before, after = answer(context, draws), answer(replace(context, values=values), replace(draws, **named))
    assert_near(after.embedding, before.embedding)


def test_classes_in_another_order() -> None:
    context, draws = make_context()
    order = torch.randperm(MAX_CLASSES)
    labels = torch.where(context.labels >= 0, torch.argsort(order)[context.labels], -1)
    moved = replace(draws, classes=draws.classes[:, order])
    before, after = answer(context, draws), answer(replace(context, labels=labels), moved)
    assert_near(after.embedding, before.embedding)
    assert_near(after.known, before.known[:, :, order])
    assert_near(after.novelty, before.novelty)


def test_tables_of_a_batch_do_not_see_each_other() -> None:
    context, draws = make_context()
    first = Context(*(getattr(context, name)[:1] for name in context.__dataclass_fields__))
    alone = answer(first, Draws(*(getattr(draws, name)[:1] for name in draws.__dataclass_fields__)))
    assert_near(alone.embedding, answer(context, draws).embedding[:1])


def test_labels_and_mode_matter() -> None:
    context, draws = make_context()
    before = cosines(answer(context, draws))
    told = cosines(answer(replace(context, unlabelled=torch.full((2,), ALL_NOVEL)), draws))
    merged = cosines(answer(replace(context, labels=torch.where(context.labels == 0, 1, context.labels)), draws))
    assert (told - before).abs().max() > 1e-2
    assert (merged - before).abs().max() > 1e-2


def test_values_of_missing_cells_do_not_matter() -> None:
    context, draws = make_context()
    other = torch.where(context.missing, torch.tensor(3.0), context.values)
    assert_near(answer(context, draws).embedding, answer(replace(context, values=other), draws).embedding)


def test_scale_and_shift_of_numbers_do_not_matter() -> None:
    context, draws = make_context()
    other = torch.where(context.categorical[:, None], context.values, 5 * context.values - 2)
    assert_near(cosines(answer(replace(context, values=other), draws)), cosines(answer(context, draws)))


def test_half_precision_agrees() -> None:
    context, draws = make_context()
    network = make_network()
    with torch.no_grad():
        full = network(prepare(context, draws))
        with torch.autocast("cpu", torch.bfloat16):
            half = network(prepare(context, draws))
    assert half.embedding.dtype == torch.float32
    assert (cosines(half) - cosines(full)).abs().mean() < 0.02


def test_known_classes_are_those_with_labelled_rows() -> None:
    context, draws = make_context()
    output = answer(context, draws)
    present = torch.stack([torch.isin(torch.arange(MAX_CLASSES), labels) for labels in context.labels])
    assert torch.equal(output.known.isfinite(), present[:, None].expand_as(output.known))
    assert_near(output.embedding.norm(dim=2), torch.ones(2, ROWS))
    assert output.n_novel.shape == (2, 41)


@torch.no_grad()
def test_the_embedding_holds_the_places_of_rows_with_the_weight_that_the_network_gives_them() -> None:
    context, draws = make_context()
    prepared = prepare(context, draws)
    network = make_network()
    network.shares.weight.zero_()
    plain, whitened = prepared.points[..., :256], prepared.points[..., 256:512]
    for kind, wanted in enumerate([None, whitened, plain]):
        network.shares.bias.copy_(20.0 * torch.eye(3)[kind])
        embedding = network(prepared).embedding
        if wanted is None:
            assert_near(embedding[..., SHAPE.embedding :], torch.zeros_like(prepared.points[..., :512]))
        else:
            directions = torch.nn.functional.normalize(wanted, dim=2)
            assert_near(embedding @ embedding.mT, directions @ directions.mT)


@pytest.mark.parametrize("kind", ["constant", "one labelled row", "nothing labelled", "all missing"])
def test_odd_tables_have_finite_answers(kind: str) -> None:
    context, draws = make_context()
    if kind == "constant":
        context = replace(context, values=torch.zeros_like(context.values))
    elif kind == "all missing":
        context = replace(context, missing=torch.ones_like(context.missing))
    else:
        labels = torch.full_like(context.labels, -1)
        labels[:, : int(kind == "one labelled row")] = 0
        context = replace(context, labels=labels)
    output = answer(context, draws)
    assert output.embedding.isfinite().all()
    assert output.novelty.isfinite().all()
    assert output.n_novel.isfinite().all()


@pytest.mark.parametrize("k", [2, 5, 12])
def test_groups_that_are_apart_are_counted(k: int) -> None:
    embedding = torch.eye(16)[torch.arange(120) % k][None]
    chance = torch.ones(1, 120)
    groups = _numbers_of_groups(embedding, torch.tensor(60.0), torch.tensor(-30.0), chance, chance)
    assert len(groups) == 14
    torch.testing.assert_close(torch.cat(groups), torch.full((14,), float(k)), atol=0.01, rtol=0)


def test_a_table_alone_is_counted_without_its_labelled_rows() -> None:
    """That saves time, and changes nothing."""
    context, draws = make_context()
    for table in range(2):
        one = Context(*(getattr(context, name)[table : table + 1] for name in context.__dataclass_fields__))
        names = Draws(*(getattr(draws, name)[table : table + 1] for name in draws.__dataclass_fields__))
        assert_near(answer(one, names).n_novel, answer(context, draws).n_novel[table : table + 1])


def test_weights_fit_the_wheel() -> None:
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in InContextNetwork().parameters())
    assert 2 * count < 12e6
