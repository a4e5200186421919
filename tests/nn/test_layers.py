from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from newfound.nn import MemberStreams, PackedBatchNorm, PackedDropout, PackedLinear, PackedMLP, UnitLength
from newfound.nn.layers import _DeviceProduct
from tests.oracles import layers as oracle

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**31 - 1)


def normal(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(SIZES, SIZES, SIZES, SIZES, SEEDS)
@settings(max_examples=40)
def test_linear_equals_torch_linear_of_each_member(n_members: int, rows: int, n_in: int, n_out: int, seed: int) -> None:
    layer = PackedLinear(n_members, n_in, n_out, MemberStreams(range(n_members), dtype=torch.float64))
    x, slope = normal(n_members, rows, n_in, seed=seed), normal(n_members, rows, n_out, seed=seed + 1)
    x.requires_grad_()
    out = layer(x)
    out.backward(slope)
    for m in range(n_members):
        alone, x_alone = oracle.linear(layer, m), x[m].detach().requires_grad_()
        expected = alone(x_alone)
        expected.backward(slope[m])
        torch.testing.assert_close(out[m], expected)
        torch.testing.assert_close(x.grad[m], x_alone.grad)  # type: ignore[index]
        torch.testing.assert_close(layer.weight.grad[m].T, alone.weight.grad)  # type: ignore[index]
        torch.testing.assert_close(layer.bias.grad[m, 0], alone.bias.grad)  # type: ignore[index]


def test_the_gradients_of_products_on_a_device_are_right() -> None:
    parts = [normal(*shape, seed=seed).requires_grad_() for seed, shape in enumerate([(3, 1, 5), (3, 7, 4), (3, 4, 5)])]
    assert torch.autograd.gradcheck(_DeviceProduct.apply, parts)
    fixed = parts[1].detach()
    _DeviceProduct.apply(parts[0], fixed, parts[2]).sum().backward()  # type: ignore[no-untyped-call]
    assert fixed.grad is None
    torch.testing.assert_close(parts[0].grad, torch.full((3, 1, 5), 7.0, dtype=torch.float64))


def test_initial_weights_are_uniform_within_one_over_the_root_of_the_inputs() -> None:
    layer = PackedLinear(3, 100, 400, MemberStreams([0, 1, 2]))
    for m in range(3):
        for parameter in (layer.weight[m], layer.bias[m]):
            assert 0.097 < parameter.abs().max().item() < 0.1 + 1e-7
        assert layer.weight[m].mean().abs() < 0.002
        assert layer.weight[m].var().item() == pytest.approx(0.1**2 / 3, rel=0.02)
    assert not torch.equal(layer.weight[0], layer.weight[1])


def test_a_members_initial_weights_do_not_depend_on_the_others() -> None:
    pack = PackedMLP(3, [5, 4, 2], streams=MemberStreams([7, 8, 9]))
    alone = PackedMLP(1, [5, 4, 2], streams=MemberStreams([8]))
    for together, single in zip(pack.parameters(), alone.parameters(), strict=True):
        assert torch.equal(together[1:2], single)


def test_layers_without_streams_can_be_loaded() -> None:
    source = PackedLinear(2, 3, 4, MemberStreams([0, 1]))
    layer = PackedLinear(2, 3, 4)
    layer.load_state_dict(source.state_dict())
    assert torch.equal(layer(torch.ones(2, 1, 3)), source(torch.ones(2, 1, 3)))


@given(SIZES, st.integers(2, 8), SIZES, SEEDS)
@settings(max_examples=30)
def test_batch_norm_equals_torch_batch_norm_of_each_member(n_members: int, rows: int, width: int, seed: int) -> None:
    layer = PackedBatchNorm(n_members, width).double()
    with torch.no_grad():
        layer.weight.copy_(normal(n_members, 1, width, seed=seed))
        layer.bias.copy_(normal(n_members, 1, width, seed=seed + 1))
    alone = [oracle.batch_norm(layer, m) for m in range(n_members)]
    for step in range(3):
        x = (normal(n_members, rows, width, seed=seed + step) * 3 + 5).requires_grad_()
        slope = normal(n_members, rows, width, seed=seed + 10 + step)
        layer.zero_grad()
        out = layer(x)
        out.backward(slope)
        for m, single in enumerate(alone):
            single.zero_grad()
            x_alone = x[m].detach().requires_grad_()
            expected = single(x_alone)
            expected.backward(slope[m])
            torch.testing.assert_close(out[m], expected)
            torch.testing.assert_close(x.grad[m], x_alone.grad, atol=1e-8, rtol=1e-6)  # type: ignore[index]
            torch.testing.assert_close(layer.weight.grad[m, 0], single.weight.grad)  # type: ignore[index]
            torch.testing.assert_close(layer.bias.grad[m, 0], single.bias.grad)  # type: ignore[index]
    for m, single in enumerate(alone):
        torch.testing.assert_close(layer.running_mean[m, 0], single.running_mean)
        torch.testing.assert_close(layer.running_var[m, 0], single.running_var)
    layer.eval()
    x = normal(n_members, 4, width, seed=seed)
    before = layer.running_mean.clone()
    for m, single in enumerate(alone):
        torch.testing.assert_close(layer(x)[m], single.eval()(x[m]))
    assert torch.equal(layer.running_mean, before), "prediction must not move the running statistics"


@given(st.integers(1, 4), SIZES, SIZES, st.sampled_from([0.1, 0.25, 0.5, 0.9]), SEEDS)
@settings(max_examples=30)
def test_dropout_equals_a_hand_written_one(n_members: int, rows: int, width: int, chance: float, seed: int) -> None:
    seeds = [seed + m for m in range(n_members)]
    layer = PackedDropout(chance, MemberStreams(seeds, dtype=torch.float64))
    x = normal(n_members, rows, width, seed=seed)
    alone = [MemberStreams([own], dtype=torch.float64) for own in seeds]
    for _ in range(2):
        out = layer(x)
        for m in range(n_members):
            torch.testing.assert_close(out[m], oracle.dropout(x[m], chance, alone[m]))


def test_dropout_zeroes_its_share_and_keeps_the_mean() -> None:
    out = PackedDropout(0.3, MemberStreams([0, 1]))(torch.ones(2, 200, 200))
    for member in out:
        assert (member == 0).double().mean() == pytest.approx(0.3, abs=0.01)
        assert member.mean() == pytest.approx(1.0, abs=0.02)
        assert member.unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert not torch.equal(out[0], out[1])


def test_dropout_does_nothing_in_prediction_without_a_chance_and_without_streams() -> None:
    x = normal(2, 3, 4, seed=0)
    streams = MemberStreams([0, 1])
    for layer in (PackedDropout(0.5, streams).eval(), PackedDropout(0.0, streams), PackedDropout(0.5)):
        assert torch.equal(layer(x), x)
    fresh = MemberStreams([0, 1])
    assert torch.equal(streams.coins(0.5, 50), fresh.coins(0.5, 50)), "no draw may be spent where nothing is dropped"


def packed_network(n_members: int) -> tuple[PackedMLP, MemberStreams]:
    streams = MemberStreams(range(n_members), dtype=torch.float64)
    network = PackedMLP(n_members, [4, 6, 3], dropout=0.2, batch_norm=True, activation="tanh", streams=streams)
    return network.double(), streams


def outputs_and_gradients(x: Tensor) -> list[Tensor]:
    network, _ = packed_network(x.shape[0])
    out = network(x)
    nn.functional.mse_loss(out, torch.ones_like(out), reduction="sum").backward()
    return [out, *(p.grad for p in network.parameters() if p.grad is not None), *network.buffers()]


@pytest.mark.parametrize("disturbance", [torch.nan, torch.inf, 1e30, -3.0])
@pytest.mark.parametrize("victim", [0, 1, 2])
def test_what_one_member_sees_changes_no_other_member(disturbance: float, victim: int) -> None:
    x = normal(3, 10, 4, seed=1)
    disturbed = x.clone()
    disturbed[victim] = disturbance
    others = [m for m in range(3) if m != victim]
    results = list(zip(outputs_and_gradients(x), outputs_and_gradients(disturbed), strict=True))
    assert len(results) == 1 + 6 + 2  # output, gradients of two linear layers and a batch norm, running statistics
    for calm, stirred in results:
        assert torch.equal(calm[others], stirred[others])
    assert not torch.equal(results[0][0][victim], results[0][1][victim])


def test_members_can_drop_shares_of_their_own() -> None:
    x = torch.ones(2, 60, 50)
    together = PackedDropout([0.1, 0.5], MemberStreams([0, 1]))(x)
    for m, chance in enumerate([0.1, 0.5]):
        alone = PackedDropout(chance, MemberStreams([m]))(x[:1])
        torch.testing.assert_close(together[m], alone[0])


def test_unit_length_divides_each_row_by_its_length() -> None:
    x = normal(2, 5, 3, seed=0)
    for row, scaled in zip(x.flatten(0, 1), UnitLength()(x).flatten(0, 1), strict=True):
        torch.testing.assert_close(scaled, row / sum(value**2 for value in row.tolist()) ** 0.5)
    assert (UnitLength()(torch.zeros(1, 1, 3)) == 0).all()
