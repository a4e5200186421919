"""
Known rows among the unlabelled ones
====================================

In most tables the rows without a label are a mixture: some belong to classes that are known, and nobody has labelled
them yet; others belong to classes that nobody knows. With ``unlabelled="auto"`` a discoverer finds out which is the
case, and with ``unlabelled="mixed"`` you tell it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import newfound as nf

data = nf.datasets.make_table(1500, n_known=4, n_novel=2, missing=0.02, random_state=3)
X, truth = data.X_train, data.y_train_truth

# %%
# The table has four known and two novel classes. We remove the labels of 40 % of the known rows as well.

rng = np.random.default_rng(0)
y = np.where(rng.random(len(truth)) < 0.4, None, data.y_train)
unlabelled = pd.isna(y)
share = np.isin(truth, data.known_classes)[unlabelled].mean()
print(f"{unlabelled.sum()} of {len(y)} rows are unlabelled, and {share:.0%} of these are of known classes")

# %%
# The discoverer is not told any of that.

model = nf.WhitenedKMeans(unlabelled="auto", random_state=0).fit(X, y)
low, high = model.known_share_.interval
print("Taken for:", model.unlabelled_)
print("Because:", model.unlabelled_reason_)
print(f"Share of known rows: {model.known_share_:.0%}, probably from {low:.0%} to {high:.0%}")

# %%
# Unlabelled rows of known classes get their class, and the others are searched for novel ones.

print(pd.crosstab(truth[unlabelled], model.labels_[unlabelled], rownames=["truth"], colnames=["given class"]))

# %%
# ``novelty_score`` is the probability that a row is of any novel class. It means the same for new rows.

novelty = model.novelty_score(data.X_test)
fig, axis = plt.subplots(figsize=(7, 3), layout="constrained")
bins = np.linspace(0, 1, 26)
for name, rows, colour in (("known", ~data.test_novel, "tab:gray"), ("novel", data.test_novel, "tab:orange")):
    axis.hist(novelty[rows], bins, alpha=0.7, color=colour, label=f"rows of {name} classes")
axis.set(xlabel="novelty score", ylabel="test rows")
axis.legend()
