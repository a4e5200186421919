"""
A first discovery
=================

We take the handwritten digits of scikit-learn, keep the labels of 0 to 4, and throw away those of 5 to 9. newfound is
to find the five digits that have no label any more. No discoverer ever sees a label of a novel class.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import newfound as nf

data = nf.datasets.load("digits")
X, y = data.X_train, data.y_train  # -1 where a row has no label
print(f"{len(y)} rows, {X.shape[1]} columns, {(y == -1).sum()} of them unlabelled; known classes: {data.known_classes}")

# %%
# :class:`~newfound.WhitenedKMeans` needs about a second. :class:`~newfound.AutoDiscoverer` takes some seconds, since it
# shows the table to a network. It is the one to start with on a table of your own; its call is the same.
# Columns that are constant are ignored with a warning, which is not shown here.

model = nf.WhitenedKMeans(n_novel_classes=5, random_state=0).fit(X, y)
print("Known:", model.known_classes_, "novel:", model.novel_classes_)

# %%
# Since y holds integers, novel classes are integers too, numbered by size. What are they? Here we can look at the rows:
# each picture is the mean of the rows that were put into one class.

found = model.labels_
fig, axes = plt.subplots(1, 5, figsize=(8, 2), layout="constrained")
for axis, name in zip(axes, model.novel_classes_, strict=True):
    rows = (found == name) & (y == -1)
    axis.imshow(X[rows].mean().to_numpy().reshape(8, 8), cmap="Greys")
    axis.set_title(f"class {name}: {rows.sum()} rows", fontsize=9)
    axis.axis("off")

# %%
# The truth was thrown away for the discovery only, so we can look at it now. Found classes have names of their own;
# the score pairs each with the digit that it shares most rows with.

unlabelled = y == -1
truth = data.y_train_truth[unlabelled]
print(pd.crosstab(truth, found[unlabelled], rownames=["digit"], colnames=["found class"]))
scores = nf.metrics.novel_scores(truth, found[unlabelled])
print({name: round(score, 2) for name, score in scores.items()})

# %%
# The model also predicts rows that it has not seen, of known and of novel classes alike.

predicted = model.predict(data.X_test)
known = np.isin(data.y_test, data.known_classes)
print(f"Known digits of the test rows that were recognised: {(predicted == data.y_test)[known].mean():.0%}")
print(f"Novel digits of the test rows that were taken for novel: {(predicted >= 5)[~known].mean():.0%}")
