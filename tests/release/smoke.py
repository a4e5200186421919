"""A first look at an installed newfound: python smoke.py base [extra ...]. It uses nothing of the repository."""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import newfound as nf

HERE = Path(tempfile.gettempdir())


def table():
    """Two known and two novel classes, far apart, as arrays."""
    truth = np.arange(240) % 4
    rows = np.random.default_rng(0).normal(0, 1, (240, 5)) + 8 * np.eye(5)[truth]
    return rows, np.where(truth < 2, truth, -1), truth


def check_base():
    """Everything that needs no extra."""
    X, y, truth = table()
    model = nf.WhitenedKMeans(n_novel_classes=2, random_state=0).fit(X, y)
    assert nf.metrics.clustering_accuracy(truth, model.labels_) == 1
    nf.save(model, HERE / "model.newfound")
    assert (nf.load(HERE / "model.newfound").predict(X) == model.predict(X)).all()
    nf.write_report(model, X, y, HERE / "report.html")
    assert "novel" in str(nf.explain(model, X))
    found = nf.InContextDiscoverer(n_novel_classes=2, random_state=0).fit(X, y)  # its weights are in the wheel
    assert nf.metrics.clustering_accuracy(truth, found.labels_) > 0.9
    nf.TabularNCD(2, epochs=1, pretrain_epochs=1, random_state=0).fit(X, y)
    lines = [",".join([*map(str, row), "" if label < 0 else f"known {label}"]) for row, label in zip(X, y, strict=True)]
    (HERE / "table.csv").write_text("\n".join(["a,b,c,d,e,kind", *lines]))
    read, labels = nf.read_table(HERE / "table.csv", target="kind")
    assert read.n_rows == len(labels) == 240
    command = [sys.executable, "-m", "newfound", "discover", HERE / "table.csv", "--target", "kind"]
    options = ["--method", "whitened_kmeans", "--out", HERE / "found"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    assert (HERE / "found" / "labels.csv").exists()


def check_plot():
    X, y, _ = table()
    nf.estimate_n_novel_classes(X, y, random_state=0).plot(HERE / "k.png")
    assert (HERE / "k.png").stat().st_size > 1000


def check_data():
    import pandas as pd

    data = nf.datasets.make_table(200, random_state=0)
    assert isinstance(data.X_train, pd.DataFrame)
    data.X_train.assign(kind=data.y_train).to_parquet(HERE / "table.parquet")
    assert nf.read_table(HERE / "table.parquet", target="kind")[0].n_rows == len(data.X_train)
    model = nf.WhitenedKMeans(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
    assert nf.predict_parquet(model, HERE / "table.parquet", HERE / "classes.parquet") == len(data.X_train)


def check_tune():
    X, _, truth = table()
    found = nf.tune(nf.WhitenedKMeans(1), X, np.where(truth < 3, truth, -1), n_trials=2, random_state=0, storage=None)
    assert found.discoverer is not None


def check_excel():
    import openpyxl

    book = openpyxl.Workbook()
    for row in [("a", "b", "kind"), (1, 2, "x"), (3, 4, None)]:
        book.active.append(row)
    book.save(HERE / "table.xlsx")
    assert nf.read_table(HERE / "table.xlsx", target="kind")[0].n_rows == 2


def check_export():
    import onnxruntime

    from newfound.export import onnx_inputs

    X, y, _ = table()
    model = nf.WhitenedKMeans(n_novel_classes=2, random_state=0).fit(X, y)
    nf.export_onnx(model, HERE / "model.onnx")
    session = onnxruntime.InferenceSession(str(HERE / "model.onnx"), providers=["CPUExecutionProvider"])
    (given,) = session.run(["probabilities"], onnx_inputs(model, X))
    assert np.abs(given - model.predict_proba(X)).max() < 1e-5


def check_scale():
    import pyarrow
    import pyarrow.parquet

    from newfound.scale import predict_on_ray

    X, y, _ = table()
    X = pyarrow.table({f"column {place}": X[:, place] for place in range(X.shape[1])})
    pyarrow.parquet.write_table(X, HERE / "rows.parquet")
    model = nf.WhitenedKMeans(n_novel_classes=2, random_state=0).fit(X, y)
    assert predict_on_ray(model, HERE / "rows.parquet", HERE / "classes.parquet") == 240


def check_web():
    from newfound.web.app import create_app

    assert len(create_app(HERE / "bench").openapi()["paths"]) > 10
    assert (Path(nf.__file__).parent / "web" / "static" / "index.html").exists()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        HERE = Path(folder)
        for name in sys.argv[1:]:
            globals()[f"check_{name}"]()
    print("newfound", nf.__version__, nf.__file__, "works with:", *sys.argv[1:])
