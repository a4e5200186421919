"""
Name, merge and split classes
=============================

Found classes are proposals. Somebody who knows the data gives them names, joins what is one class, and divides what is
two. The model remembers it: predictions, reports and model files follow.
"""

import matplotlib.pyplot as plt
import pandas as pd

import newfound as nf

data = nf.datasets.make_table(1000, n_known=3, n_novel=4, separation=5, random_state=2)
X, y = data.X_train, data.y_train

# %%
# Three novel classes are asked for where there are four, so one of the found classes has to be two in truth.

model = nf.WhitenedKMeans(n_novel_classes=3, random_state=0).fit(X, y)
unlabelled = pd.isna(y)


def compare(title):
    counts = pd.crosstab(model.labels_[unlabelled], data.y_train_truth[unlabelled])
    axis = counts.plot.barh(stacked=True, figsize=(7, 2.6), colormap="viridis", width=0.7)
    axis.set(title=title, xlabel="rows", ylabel="")
    axis.legend(title="truth", bbox_to_anchor=(1, 1))
    axis.figure.tight_layout()


compare("As found")

# %%
# The mixed class is split into two. ``training=True`` says that X is the table of ``fit``.

purity = pd.crosstab(model.labels_[unlabelled], data.y_train_truth[unlabelled], normalize="index").max(axis=1)
mixed = purity.idxmin()
model.split(mixed, 2, X, training=True)
print("Classes now:", list(model.novel_classes_))

# %%
# Names and merges work the same way. Merge only what you know to be one class; here it is done to show how.

first, second, *_ = model.novel_classes_
model.rename({first: "early failures"})
print("Classes now:", list(model.novel_classes_))
compare("After the split and the new name")
plt.show()

# %%
# Accepted classes become known ones for the next round. Rows of which the model is less than 80 % sure stay unlabelled.

y_next = model.to_labels(X, y, accept=["early failures"], abstain=0.8)
print(f"{unlabelled.sum()} rows were unlabelled, {pd.isna(y_next).sum()} still are")
following = nf.WhitenedKMeans(n_novel_classes=3, random_state=0).fit(X, y_next)
print("Known classes of the next model:", list(following.known_classes_))
