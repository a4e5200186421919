"""What the paper shows rather than scores, as plain numbers that pictures are drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from newfound.datasets import Dataset
from newfound.learning.pseudo_labels import cosine_similarities, top_k_pseudo_labels
from newfound.pictures.latent import map_to_plane
from newfound_lab.runner.methods import build
from newfound_lab.suites.trials import Trial

_MAPPED = 1500  # test rows in a map
_PAIRED = 12  # rows in the illustration of pseudo labels
_POSITIVES = 2
# epochs of the joint training after which the latent space is mapped
_STAGES = {"After pre-training": 0, "Joint training, epoch 15": 15, "Joint training, epoch 30": 30}

Floats = NDArray[np.float64]


def coefficients(trial: Trial, data: Dataset, device: str) -> dict[str, Any]:
    """Weights of each column in a logistic regression of the known classes, and in one of the novel classes.

    The columns are standardised, so that the weights compare. It is an analysis with novel labels: no discoverer sees
    it.
    """
    from sklearn.preprocessing import StandardScaler

    encoder = data.encoder().fit(data.X_train)
    rows = StandardScaler().fit_transform(encoder.transform(data.X_train))
    novel = data.train_novel
    return {
        "attributes": [str(name) for name in encoder.get_feature_names_out()],
        "known": _class_weights(rows[~novel], data.y_train_truth[~novel]),
        "novel": _class_weights(rows[novel], data.y_train_truth[novel]),
    }


def _class_weights(rows: Floats, classes: NDArray[Any]) -> dict[str, list[float]]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=2000).fit(rows, classes)
    weights = np.concatenate([-model.coef_, model.coef_]) if len(model.classes_) == 2 else model.coef_
    return {str(name): [round(float(w), 4) for w in own] for name, own in zip(model.classes_, weights, strict=True)}


def latent_map(trial: Trial, data: Dataset, device: str) -> dict[str, Any]:
    """Places of test rows in the plane by t-SNE: as they are, and after each stage of the training."""
    rng = np.random.RandomState(trial.seed)
    sample = rng.permutation(len(data.y_test)) < _MAPPED
    X = data.X_test[sample]
    stages = {"Original data": data.encoder().fit(data.X_train).transform(X)}
    for title, epochs in _STAGES.items():
        model = build("tabular_ncd", data, {**trial.settings, "epochs": epochs}, trial.seed, device)
        stages[title] = model.fit(data.X_train, data.y_train, calibrate=False).transform(X)
    classes = [*data.known_classes, *data.novel_classes]
    places = {str(label): place for place, label in enumerate(classes)}
    return {
        "class_names": list(places),
        "novel": [place >= len(data.known_classes) for place in range(len(classes))],
        "codes": [places[str(label)] for label in data.y_test[sample]],
        "panels": [_panel(title, map_to_plane(rows, random_state=trial.seed)) for title, rows in stages.items()],
    }


def _panel(title: str, positions: Floats) -> dict[str, Any]:
    x, y = np.round(positions.astype(float), 2).T.tolist()
    return {"title": title, "x": x, "y": y}


def pseudo_label_pairs(trial: Trial, data: Dataset, device: str) -> dict[str, Any]:
    """Places of a few unlabelled rows in the pre-trained latent space, their similarities and pseudo labels."""
    from sklearn.decomposition import PCA

    model = build("tabular_ncd", data, {**trial.settings, "epochs": 0}, trial.seed, device)
    model.fit(data.X_train, data.y_train, calibrate=False)
    rng = np.random.RandomState(trial.seed)
    rows, truth = data.X_train[data.train_novel], data.y_train_truth[data.train_novel]
    shown = data.novel_classes[:4]
    each = _PAIRED // len(shown)
    chosen = np.concatenate([rng.choice(np.flatnonzero(truth == label), each, replace=False) for label in shown])
    latent = model.transform(rows)[chosen]
    unit = latent / np.linalg.norm(latent, axis=1, keepdims=True)
    similarities = cosine_similarities(torch.from_numpy(latent)[None])
    positive = top_k_pseudo_labels(similarities, _POSITIVES)[0].int()
    measured = similarities[0].fill_diagonal_(1.0).numpy()
    return {
        "points": np.round(PCA(2).fit_transform(unit), 3).tolist(),
        "class_names": [str(label) for label in shown],
        "codes": np.repeat(np.arange(len(shown)), each).tolist(),
        "similarities": np.round(measured, 6).tolist(),
        "positives": positive.tolist(),
        "k": _POSITIVES,
    }
