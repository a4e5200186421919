"""Write the golden model files: ``python -m tests.golden.make``.

Run it when `newfound.persistence.FORMAT_VERSION` was raised or a discoverer was added, and commit what it adds. It
never overwrites: the files of earlier versions stay as they are, since they prove that models saved long ago still load
and still predict the same. If one of them no longer does, mend the code, not the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

import newfound as nf
from newfound.persistence import FORMAT_VERSION
from newfound.routing import forest

FOLDER = Path(__file__).parent

DISCOVERERS: dict[str, Any] = {
    "AutoDiscoverer": nf.AutoDiscoverer(2, device="cpu", random_state=0),
    "ClassifierProjection": nf.ClassifierProjection(2, epochs=2, n_members=2, device="cpu", random_state=0),
    "InContextDiscoverer": nf.InContextDiscoverer(2, unlabelled="novel", n_views=1, device="cpu", random_state=0),
    "KMeansDiscoverer": nf.KMeansDiscoverer(2, encoder=nf.TableEncoder(numeric_scaling="signed_log"), random_state=0),
    "NCDKMeans": nf.NCDKMeans(2, encoder=nf.TableEncoder(categorical_scaling="standard"), random_state=0),
    "NCDSpectral": nf.NCDSpectral(2, n_neighbors=5, n_components=3, random_state=0),
    "PBN": nf.PBN(2, epochs=2, hidden_layers=[6, 4], n_members=2, device="cpu", random_state=0),
    "SpectralDiscoverer": nf.SpectralDiscoverer(2, n_neighbors=5, random_state=0),
    "TabularNCD": nf.TabularNCD(
        2,
        epochs=10,
        pretrain_epochs=2,
        hidden_layers=[6, 4],
        n_members=2,
        without=("mse",),
        encoder=nf.TableEncoder(numeric_scaling="quantile", categorical_scaling="standard", max_categories=2),
        device="cpu",
        random_state=0,
    ),
    "WhitenedKMeans": nf.WhitenedKMeans(2, random_state=0),
}

CHANGED: dict[str, Any] = {
    "AutoDiscoverer-one-look": nf.AutoDiscoverer(2, device="cpu", random_state=0),
    "ClassifierProjection-before": nf.ClassifierProjection(2, epochs=2, n_members=2, device="cpu", random_state=0),
    "InContextDiscoverer-one-look": nf.InContextDiscoverer(2, n_views=1, device="cpu", random_state=0),
}
"""Discoverers that were changed after the files of format version 2 were written: one more each."""

MIXED: dict[str, Any] = {"NCDKMeans-mixed": nf.NCDKMeans(2, unlabelled="mixed", random_state=0)}
"""Fitted to a table in which a third of the known rows is unlabelled as well; with few trees, to be small."""


def tiny_table() -> tuple[pd.DataFrame, list[str | None]]:
    """A table of 40 rows with numbers, texts, booleans, dates and missing cells, and labels for half of them."""
    rng = np.random.default_rng(0)
    group = np.arange(40) % 4
    table = pd.DataFrame(
        {
            "größe": rng.normal(group, 0.2).round(3),
            "income": np.exp(rng.normal(5 * (group > 1), 0.3)).round(3),
            "city": np.array(["Rom", "Oslo", "Lima", "Quito"])[(group + (rng.random(40) < 0.1)) % 4],
            "member": rng.random(40) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 40), unit="D"),
        }
    )
    table.loc[::7, "größe"] = np.nan
    table.loc[3::9, "city"] = None
    return table, [["ant", "bee"][g] if g < 2 else None for g in group]


def curated(model: Any, table: pd.DataFrame) -> Any:
    """The model after everything that people can do to its classes; the table is too small to fit a temperature."""
    model.temperature_ = 1.5
    return model.split("novel_0", 2, table).rename({"novel_1": "wasp"}).merge(["novel_0_2", "ant"])


def cells_of(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Cells as JSON can hold them."""
    return {str(name): json.loads(column.to_json(orient="values", date_format="iso")) for name, column in table.items()}


def main() -> None:
    """Write the files that are not there yet."""
    table, y = tiny_table()
    for name, discoverer in (DISCOVERERS | MIXED | (CHANGED if FORMAT_VERSION == 2 else {})).items():
        path = FOLDER / f"v{FORMAT_VERSION}-{name}.newfound"
        if path.exists():
            print(f"{path.name} is there already and stays as it is")
            continue
        labels = [None if i % 3 == 0 else label for i, label in enumerate(y)] if name in MIXED else y
        # Golden files are small.
        with mock.patch.object(forest, "_N_TREES", 8):
            model = curated(discoverer.fit(table, labels), table)
        nf.save(model, path)
        rows = table.iloc[:12]
        expected = {
            "rows": cells_of(rows),
            "labels": model.labels_.tolist(),
            "predict": model.predict(rows).tolist(),
            "predict_novel": model.predict_novel(rows).tolist(),
            "predict_proba": model.predict_proba(rows).tolist(),
            "novelty_score": model.novelty_score(rows).tolist(),
            "transform": model.transform(rows).tolist(),
        }
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
