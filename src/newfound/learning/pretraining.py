"""VIME pre-training of the encoder on all rows, without labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import embedding  # picks rows several times as fast as an index

from newfound.learning.batches import passes_over, rows_in_batch, shuffled_batches
from newfound.learning.corruption import corrupt
from newfound.learning.losses import vime_losses
from newfound.learning.machine import prepared_for
from newfound.learning.optimisers import adamw
from newfound.learning.progress import Progress
from newfound.learning.replay import Replayed
from newfound.learning.stages import Learner, steps
from newfound.nn import MemberStreams, PackedLinear

_AHEAD = {"cpu": 1 << 15, "cuda": 1 << 20}  # numbers of a member that are corrupted at a time


@dataclass(frozen=True)
class PretrainingSettings:
    """Settings of the pre-training; the defaults are the paper's constants.

    Parameters
    ----------
    epochs, batch_size : int
        Passes over the rows, and rows in a step.
    learning_rate : float
        Learning rate of AdamW.
    corruption : float
        Chance of each value to be swapped (p_m).
    alpha : float
        Weight of the reconstruction.
    only_changed : bool
        What the mask to estimate marks: every swapped value, as in the paper's text, or only those that differ from
        the original after the swap, as in its published code.
    """

    epochs: int = 30
    batch_size: int = 128
    learning_rate: float = 1e-3
    corruption: float = 0.3
    alpha: float = 2.0
    only_changed: bool = False


def pretrain(
    encoder: nn.Module,
    n_latent: int,
    rows: Tensor | Sequence[Tensor],
    groups: Tensor | None,
    settings: PretrainingSettings,
    streams: MemberStreams,
    progress: Progress,
) -> None:
    """Train the encoder to undo a corruption of its input, in place.

    Two linear layers on top of the encoder estimate which values were swapped and what they were; they are thrown away
    afterwards.

    Parameters
    ----------
    encoder : nn.Module
        Maps (n_members, b, d) to (n_members, b, n_latent).
    n_latent : int
        Width of the latent representation.
    rows : Tensor of shape (n, d), or sequence of such
        All rows, labelled or not; in parts where they do not fit into memory.
    groups : Tensor of shape (d,), int64, or None
        Columns that are corrupted together (see `corrupt`).
    settings : PretrainingSettings
    streams : MemberStreams
    progress : Progress
    """
    parts = [rows] if isinstance(rows, Tensor) else rows
    d, device = parts[0].shape[1], parts[0].device
    mask_estimator = PackedLinear(streams.n_members, n_latent, d, streams)
    value_estimator = PackedLinear(streams.n_members, n_latent, d, streams)
    heads = nn.ModuleList([mask_estimator, value_estimator])
    optimiser = adamw([*encoder.parameters(), *heads.parameters()], settings.learning_rate)

    def epoch(part: Tensor, streams: MemberStreams) -> Iterator[Tensor]:
        together = max(1, _AHEAD[device.type] // (rows_in_batch(part.shape[0], settings.batch_size) * d))
        return shuffled_batches(part.shape[0], settings.batch_size, streams, together=together)

    passes = passes_over(parts, epoch, streams)
    learner = Learner({"encoder": encoder, "heads": heads}, [optimiser], streams)

    def update(batch: Tensor, corrupted: Tensor, mask: Tensor) -> dict[str, Tensor]:
        latent = encoder(corrupted)
        reconstruction, mask_loss = vime_losses(mask_estimator(latent), mask, value_estimator(latent), batch)
        optimiser.zero_grad()
        # The weight stands on the reconstruction, as in VIME itself and in the paper's published code; equation (1) has
        # it on the mask.
        (settings.alpha * reconstruction + mask_loss).sum().backward()
        optimiser.step()
        return {"reconstruction": reconstruction, "mask": mask_loss}

    step = Replayed(update, streams, enabled=progress.peer is None)
    encoder.train()
    with prepared_for(streams.n_members * settings.batch_size * d * n_latent, device):
        for losses, (part, index) in steps(progress, "pretraining", settings.epochs, passes, learner):
            for batch in corrupted_batches(index, part, groups, settings, streams):
                losses.add(**step(*batch))


def corrupted_batches(
    index: Tensor, rows: Tensor, groups: Tensor | None, settings: PretrainingSettings, streams: MemberStreams
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Cut rows into batches; returns each, its corrupted version and the mask, (n_members, b, d).

    Several small batches are corrupted at a time: for narrow tables the calls cost more than the work in them.

    Parameters
    ----------
    index : Tensor of shape (n_members, n_batches * b), int64
        Row numbers.
    rows, groups, settings, streams
        As in `pretrain`.
    """
    b = rows_in_batch(rows.shape[0], settings.batch_size)
    originals = embedding(index, rows)
    corrupted, masks = corrupt(originals, rows, groups, settings.corruption, streams)
    if settings.only_changed:
        masks = (corrupted != originals).to(masks.dtype)
    yield from zip(originals.split(b, dim=1), corrupted.split(b, dim=1), masks.split(b, dim=1), strict=True)
