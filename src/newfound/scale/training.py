"""Training of one discoverer on many machines: every worker has rows of its own, and all take each step together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone

from newfound.discoverers.packed import PackedDiscoverer
from newfound.discoverers.parameters import check_integer, check_real
from newfound.discoverers.preparation import Preparation
from newfound.discoverers.routed import left_to_discover
from newfound.errors import InputError, NewfoundError, warn_user
from newfound.extras import load_extra
from newfound.folders import folder_for_a_while
from newfound.learning.checkpoints import Checkpoints
from newfound.learning.peers import Peer, PeerGroup
from newfound.learning.progress import Progress
from newfound.learning.shards import Shards
from newfound.learning.trainer import Trained
from newfound.routing import Forest
from newfound.scale.cluster import cause_of, cluster, one_line
from newfound.scale.exchange import Processes
from newfound.staging import staging
from newfound.tables import TableEncoder
from newfound.tables.streams import Piece, Summary, TableStream, count_labelled, open_stream, summarise_piece
from newfound.tables.task import DiscoveryTask

D = TypeVar("D", bound=PackedDiscoverer)


def fit_on_ray(
    model: D,
    X: str | os.PathLike[str],
    y: str,
    *,
    n_workers: int = 2,
    batches_per_step: int | None = None,
    use_gpu: bool = False,
    address: str | None = None,
    calibrate: bool = True,
    checkpoint_dir: str | os.PathLike[str] | None = None,
    resume: bool = True,
    checkpoint_every: float = 60.0,
    max_failures: int = 3,
) -> D:
    """Fit a discoverer to Parquet files on the workers of a cluster.

    Each worker trains on its own share of the rows, drawn at random, and before every step the gradients of all are
    averaged. Workers that are lost are replaced, and the training goes on from the last checkpoint.

    Parameters
    ----------
    model : TabularNCD, PBN or ClassifierProjection
    X : str or path
        A Parquet file, a folder of them, or a pattern such as ``"2026-*.parquet"``; all machines have to see it.
    y : str
        The column of the labels.
    n_workers : int, default=2
        Processes that train, each with one processor or one GPU.
    batches_per_step : int or None, default=None
        Batches of ``batch_size`` rows, each of another share of the rows, whose gradients are averaged in a step; None
        is one for each worker. The result follows from this number and the seed, and not from the number of workers,
        but for rounding; so a training can go on with more workers or fewer.
    use_gpu : bool, default=False
        Whether each worker takes a GPU.
    address : str or None, default=None
        Of a cluster, such as "auto" or "ray://head:10001"; None starts one of this machine alone. Where this process
        has called ``ray.init`` before, that cluster is used in any case.
    calibrate, resume, checkpoint_every
        As in ``model.fit``.
    checkpoint_dir : str or path, optional
        As in ``model.fit``; all machines have to see this folder too. None is a temporary one on this machine.
    max_failures : int, default=3
        How often the training goes on after workers were lost.

    Returns
    -------
    model
        Fitted as by ``model.fit(X, y)``.

    Raises
    ------
    InputError
        For a table, labels or parameters that cannot be used.
    NewfoundError
        If the training failed more than `max_failures` times.

    Examples
    --------
    >>> import newfound as nf
    >>> from newfound.scale import fit_on_ray
    >>> model = nf.TabularNCD(5, random_state=0)
    >>> fit_on_ray(model, "calls/2026-*.parquet", "kind", n_workers=16, address="auto")  # doctest: +SKIP
    """
    if not isinstance(model, PackedDiscoverer):
        raise InputError.of("model", type(model).__name__, "TabularNCD, PBN or ClassifierProjection")
    if not isinstance(X, (str, os.PathLike)):
        raise InputError.of("X", type(X).__name__, "a Parquet file, a folder of them, or a pattern")
    n_workers = check_integer("n_workers", n_workers, low=1)
    n_peers = n_workers if batches_per_step is None else check_integer("batches_per_step", batches_per_step, low=1)
    if n_peers < n_workers:
        raise InputError.of("batches_per_step", n_peers, problem=f"but each of {n_workers} workers needs one")
    check_integer("max_failures", max_failures, low=0)
    for name, value in (("use_gpu", use_gpu), ("resume", resume)):
        if not isinstance(value, bool):
            raise InputError.of(name, value, "True or False")
    every = check_real("checkpoint_every", checkpoint_every, low=0)
    if not isinstance(calibrate, bool):
        raise InputError.of("calibrate", calibrate, "True or False")
    encoder = model._encoder_of_stream(y)
    with (
        open_stream(os.path.abspath(os.fspath(X)), y) as stream,
        _folder(checkpoint_dir) as folder,
        cluster(address) as ray,
    ):
        resource, named = ("GPU", "GPUs") if use_gpu else ("CPU", "processors")
        n_there = int(ray.cluster_resources().get(resource, 0))
        if n_workers > n_there:
            if address is None:
                raise InputError.of("n_workers", n_workers, problem=f"but the cluster has {n_there} {named}")
            warn_user(f"The cluster has {n_there} {named}; the training begins once it has n_workers={n_workers}.")
        checkpoints = Checkpoints(folder, every, resume, {"batches_per_step": str(n_peers)})
        run = Run(ray, n_workers, n_peers, use_gpu, max_failures)
        with closing(checkpoints):
            return model._fit_stream(run.summarise(stream, encoder), calibrate, checkpoints, run.train)


@dataclass(frozen=True, eq=False)
class Encoding:
    """What is needed to encode a piece of the table.

    Attributes
    ----------
    summary : Summary
    encoder : TableEncoder
    without : ndarray of int64
        Places of rows that are left out.
    forest : Forest or None
        Of the router, where known and novel rows are mixed.
    n_novel : int
        Number of novel classes.
    """

    summary: Summary
    encoder: TableEncoder
    without: NDArray[np.int64]
    forest: Forest | None = None
    n_novel: int = 0


@dataclass(frozen=True, eq=False)
class Lesson:
    """What every worker needs to know.

    Attributes
    ----------
    discoverer : PackedDiscoverer
        Not fitted.
    task : DiscoveryTask
        Without rows.
    seeds : list of int
        One for each member.
    checkpoints : Checkpoints
    n_rows : int
        Rows of each peer, about.
    n_peers : int
    use_gpu : bool
    """

    discoverer: PackedDiscoverer
    task: DiscoveryTask
    seeds: list[int]
    checkpoints: Checkpoints
    n_rows: int
    n_peers: int
    use_gpu: bool


@dataclass(frozen=True, eq=False)
class Run:
    """A fit on a cluster, seen from the process that asked for it."""

    ray: Any
    n_workers: int
    n_peers: int
    use_gpu: bool
    max_failures: int

    def summarise(self, stream: TableStream, encoder: TableEncoder) -> Summary:
        """Read the stream once, all pieces side by side."""
        pieces = stream.pieces()
        count, task = (
            self.ray.remote(work).options(scheduling_strategy="SPREAD") for work in (count_labelled, summarise_piece)
        )
        n_labelled = sum(self.ray.get([count.remote(stream, piece) for piece in pieces]))
        refs = [task.remote(stream, piece, encoder, n_labelled) for piece in pieces]
        found = self.ray.get(refs[0])
        for ref in refs[1:]:
            found.merge(self.ray.get(ref))
        summary: Summary = found.summary(stream)
        return summary

    def train(self, discoverer: PackedDiscoverer, prepared: Preparation, without: NDArray[np.int64]) -> Trained:
        """Train on the workers; the members then come to one answer in this process."""
        summary, task, checkpoints = prepared.stream, prepared.task, prepared.checkpoints
        assert summary is not None
        assert checkpoints is not None  # fit_on_ray always has some
        checkpoints.clear_unless_resumed()  # a worker that is replaced must not go on from an old one
        trainer = discoverer._trainer(discoverer._member_settings())
        seeds = prepared.rng.randint(2**31 - 1, size=discoverer.n_members).tolist()
        lesson = Lesson(
            clone(discoverer).set_params(verbose=0),
            task.take(np.arange(0)),
            seeds,
            checkpoints,
            summary.stream.n_rows // self.n_peers,
            self.n_peers,
            self.use_gpu,
        )
        shares = self._shares(Encoding(summary, prepared.encoder, without, prepared.forest, task.n_novel))
        result = self._train_on_workers(lesson, shares)
        if result["warning"] is not None:
            warn_user(result["warning"])
        progress = Progress(0, 0)
        progress.restore(result["progress"])
        parameters = {name: torch.tensor(array) for name, array in result["parameters"].items()}
        return trainer.settle(parameters, task, prepared.rng, progress)

    def _shares(self, encoding: Encoding) -> list[list[Any]]:
        """Encode all pieces side by side; returns references to the rows of each peer."""
        shared = self.ray.put(encoding)
        task = self.ray.remote(encode).options(num_returns=1 + self.n_peers, scheduling_strategy="SPREAD")
        refs = [task.remote(shared, piece, self.n_peers) for piece in encoding.summary.stream.pieces()]
        self.ray.get([done for done, *_ in refs])  # an error shows here, before any worker is started
        return [list(of_peer) for of_peer in zip(*(parts for _, *parts in refs), strict=True)]

    def _train_on_workers(self, lesson: Lesson, shares: list[list[Any]]) -> dict[str, Any]:
        train, torch_train = (load_extra(name, "Training on Ray") for name in ("ray.train", "ray.train.torch"))
        resources = {"CPU": 1.0} | ({"GPU": 1.0} if self.use_gpu else {})
        # What Ray Train itself writes is of no use afterwards.
        with staging(lesson.checkpoints.folder) as kept:
            trainer = torch_train.TorchTrainer(
                _train_on_worker,
                train_loop_config={"lesson": self.ray.put(lesson), "shares": shares},
                torch_config=torch_train.TorchConfig(backend="nccl" if self.use_gpu else "gloo"),
                scaling_config=train.ScalingConfig(
                    num_workers=self.n_workers, use_gpu=self.use_gpu, resources_per_worker=resources
                ),
                run_config=train.RunConfig(
                    storage_path=str(kept.new), failure_config=train.FailureConfig(max_failures=self.max_failures)
                ),
            )
            try:
                result: dict[str, Any] = trainer.fit().return_value
            except train.TrainingFailedError as error:
                raise _failure(error, lesson.checkpoints.folder) from error
        return result


def encode(encoding: Encoding, piece: Piece, n_peers: int) -> list[Any]:
    """Encode a piece, and deal its rows to the peers; returns the number of rows, and the rows of each peer.

    All peers get equally many labelled and equally many unlabelled rows, so that they take equally many steps: a few
    rows are dealt twice where that cannot be.
    """
    batches = encoding.summary.encoded(encoding.encoder, encoding.without, piece)
    left = left_to_discover(batches, encoding.forest, encoding.n_novel)
    parts = [(rows.astype(np.float32), codes) for rows, codes in left]
    rows, codes = (np.concatenate(several) for several in zip(*parts, strict=True))
    generator = np.random.default_rng([1, piece.start])  # not the user's seed: it is a part of reading the table
    hands: list[list[NDArray[np.intp]]] = [[] for _ in range(n_peers)]
    for is_labelled in (True, False):
        places = generator.permutation(np.flatnonzero((codes >= 0) == is_labelled))
        full = np.resize(places, -(-len(places) // n_peers) * n_peers)
        for peer, hand in enumerate(hands):
            hand.append(full[peer::n_peers])
    dealt = [np.concatenate(hand) for hand in hands]
    return [len(codes), *((rows[hand], codes[hand]) for hand in dealt)]


def _train_on_worker(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Train the peers of a worker; the first worker returns what was learned."""
    ray, torch_train = load_extra("ray", "Training on Ray"), load_extra("ray.train.torch", "Training on Ray")
    lesson, context = ray.get(config["lesson"]), ray.train.get_context()
    rank, n_workers = context.get_world_rank(), context.get_world_size()
    device = torch_train.get_device() if lesson.use_gpu else torch.device("cpu")
    group = PeerGroup(range(rank, lesson.n_peers, n_workers), lesson.n_peers, Processes())
    results = group.run(lambda peer: train_peer(peer, lesson, map(ray.get, config["shares"][peer.place]), device))
    return results[0] if rank == 0 else None


def train_peer(
    peer: Peer, lesson: Lesson, share: Iterable[tuple[NDArray[np.float32], NDArray[np.int64]]], device: torch.device
) -> dict[str, Any]:
    """Train one peer on its share of the rows; returns arrays and the history, and a warning where there was one."""
    if device.type == "cuda":
        torch.cuda.set_device(device)  # each thread has its own
    discoverer = lesson.discoverer
    trainer = discoverer._trainer(discoverer._member_settings())
    trainer.device = device
    with folder_for_a_while() as folder:
        shards = Shards(folder, lesson.task.layout, lesson.n_rows, device)
        for rows, codes in share:
            shards.add(rows, codes)
        checkpoints = lesson.checkpoints.of_peer(peer)
        parameters, progress = trainer.train_members(lesson.task, lesson.seeds, checkpoints, shards, peer)
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in parameters.items()}
    return {"parameters": arrays, "progress": progress.state(), "warning": checkpoints.warning}


def _failure(error: BaseException, folder: Path) -> NewfoundError:
    """Say in one line why a training failed for good."""
    causes = [cause_of(cause) for cause in getattr(error, "worker_failures", {}).values()]
    for cause in causes:
        if isinstance(cause, NewfoundError):
            return cause
    # A lost connection only says that another worker failed before.
    told = next((cause for cause in causes if not isinstance(cause, RuntimeError)), causes[0] if causes else error)
    return NewfoundError(
        f"The training on Ray failed: {one_line(told)}. Checkpoints are in {folder}; the same call goes on from there."
    )


@contextmanager
def _folder(checkpoint_dir: str | os.PathLike[str] | None) -> Iterator[Path]:
    if checkpoint_dir is None:
        with folder_for_a_while() as folder:
            yield folder
    elif isinstance(checkpoint_dir, (str, os.PathLike)):
        yield Path(os.path.abspath(os.fspath(checkpoint_dir)))
    else:
        raise InputError.of("checkpoint_dir", checkpoint_dir, "None or the path of a folder")
