"""
Deploy a model as an ONNX file
==============================

A fitted discoverer becomes one file that predicts in onnxruntime, without newfound and without torch. It holds
everything, from the cells of the table to the probabilities. It needs ``pip install 'newfound[export]'``.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime

import newfound as nf
from newfound.export import onnx_inputs

data = nf.datasets.make_table(1000, n_dates=1, missing=0.05, random_state=0)
model = nf.WhitenedKMeans(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
model.rename({"novel_0": "returns"})

# %%
# Export, and open it as a server would:

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.onnx"
    nf.export_onnx(model, path)
    print(f"{path.stat().st_size / 1000:.0f} kB")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

# %%
# The file describes its inputs: columns in their order, and how each is to be written.

about = json.loads(session.get_modelmeta().custom_metadata_map["newfound"])
print("numbers:", [column["name"] for column in about["numbers"]])
print("texts:", [column["name"] for column in about["texts"]])
print("classes:", about["classes"])

# %%
# Its probabilities are those of the model.

label, probabilities, novelty = session.run(["label", "probabilities", "novelty"], onnx_inputs(model, data.X_test))
expected = model.predict_proba(data.X_test)
print(f"Largest difference of a probability: {np.abs(probabilities - expected).max():.1e}")
assert (label == model.predict(data.X_test)).all()

fig, axis = plt.subplots(figsize=(4, 4), layout="constrained")
axis.scatter(expected, probabilities, s=8, alpha=0.4)
axis.plot([0, 1], [0, 1], color="tab:gray", linewidth=0.8)
axis.set(xlabel="predict_proba of newfound", ylabel="probabilities of onnxruntime", aspect="equal")

# %%
# :doc:`/deployment` has a small web service around such a file, and says how fast it is.
