"""
The next batch
==============

New rows arrive after the fit: of known classes, of classes that were found, and perhaps of a class that nobody has seen
yet. ``update`` takes them. Classes keep their names, and rows that fit no class are searched for further ones.
"""

import numpy as np

import newfound as nf

data = nf.datasets.make_table(2400, n_known=3, n_novel=3, separation=6, random_state=0)
X, truth = data.X_train.reset_index(drop=True), data.y_train_truth

# %%
# The last class is kept back until the third batch.

late = truth == data.novel_classes[-1]
part = np.random.default_rng(0).integers(0, 4, len(truth))
first = (part == 0) & ~late
model = nf.WhitenedKMeans(n_novel_classes=2, random_state=0).fit(X[first], data.y_train[first])
print("Classes after the fit:", list(model.classes_))

# %%
# No batch needs labels. The answer says how many rows each class has, and what is new.

for number, rows in enumerate([(part == 1) & ~late, (part == 2) & ~late, (part == 3) | late], start=1):
    told = model.update(X[rows])
    print(f"Batch {number}: {rows.sum()} rows, new classes: {list(told.new_classes)}")
print(told)

# %%
# How the classes fared over the batches:

figure = model.plot_batches()

# %%
# Which rows should somebody look at? Some rows say more about the classes than others.

ask = nf.suggest_labels(model, X[(part == 3) | late], n=5)
print(ask)
