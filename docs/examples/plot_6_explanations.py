"""
What is each class? Explanations and the report
===============================================

A class without a description is of little use. :func:`~newfound.explain` describes each novel class in the columns,
units and categories of the table.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import newfound as nf

# %%
# A made-up table of machines. Two kinds of trouble have no label: machines that run hot at a high load, and sensors
# that lost their contact.

rng = np.random.default_rng(0)
kind = rng.choice(["healthy", "worn bearing", "leak", "overheated", "loose sensor"], 900, p=[0.3, 0.2, 0.2, 0.15, 0.15])
X = pd.DataFrame(
    {
        "temperature": rng.normal(60, 5, 900) + 25 * (kind == "overheated"),
        "vibration": np.exp(rng.normal(0, 0.3, 900) + 1.5 * (kind == "worn bearing")),
        "pressure": rng.normal(8, 0.5, 900) - 3 * (kind == "leak"),
        "load": rng.normal(50, 10, 900) + 30 * (kind == "overheated"),
        "status": np.where(
            kind == "loose sensor", rng.choice(["E7", "E9"], 900), rng.choice(["ok", "E7"], 900, p=[0.9, 0.1])
        ),
        "age": rng.integers(1, 20, 900),
    }
)
X.loc[(kind == "loose sensor") & (rng.random(900) < 0.8), "pressure"] = np.nan
y = np.where(np.isin(kind, ["overheated", "loose sensor"]), None, kind)

# %%
# Rules come with their precision and coverage, measured on rows that were not used to make them.

model = nf.WhitenedKMeans(n_novel_classes=2, random_state=0).fit(X, y)
explanation = nf.explain(model, X)
print(explanation)

# %%
# ``to_dict()`` gives the same to programs, ``to_frame()`` to pandas. So the columns that tell most can be drawn:

fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for axis, column in zip(axes, ["temperature", "load"], strict=True):
    for name in model.classes_:
        axis.hist(X.loc[model.labels_ == name, column], 30, histtype="step", linewidth=1.6, label=name, density=True)
    axis.set(xlabel=column, yticks=[])
axes[1].legend(fontsize=8)

# %%
# The report has all this and more, in one HTML file that needs no network: a map of the rows, typical and doubtful
# rows, and what to doubt. Send it to the people who know the machines.

with tempfile.TemporaryDirectory() as folder:
    path = nf.write_report(model, X, y, Path(folder) / "machines.html")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
