"""
A network that has learned to discover, against k-means
=======================================================

:class:`~newfound.InContextDiscoverer` trains no network on your table. Its own network was trained on millions of
made-up tables, and looks at this one as a whole: labelled and unlabelled rows together. k-means sees the unlabelled
rows alone, so it does not know which columns matter.
"""

import matplotlib.pyplot as plt
import numpy as np

import newfound as nf

# %%
# Tables in which a growing number of columns has nothing to do with the classes:

settings = [0, 4, 8]
methods = {"k-means": nf.KMeansDiscoverer, "whitened k-means": nf.WhitenedKMeans, "in context": nf.InContextDiscoverer}
scores = {name: [] for name in methods}
for n_noise in settings:
    data = nf.datasets.make_table(400, n_known=5, n_novel=3, n_noise=n_noise, separation=3, random_state=4)
    for name, discoverer in methods.items():
        model = discoverer(n_novel_classes=3, random_state=0).fit(data.X_train, data.y_train)
        novel = data.train_novel
        scores[name].append(nf.metrics.clustering_accuracy(data.y_train_truth[novel], model.labels_[novel]))

# %%
# The share of novel rows that are in the right class, after the best matching of found and true classes:

fig, axis = plt.subplots(figsize=(7, 3), layout="constrained")
for place, (name, found) in enumerate(scores.items()):
    bars = axis.bar(np.arange(len(settings)) + 0.27 * (place - 1), found, 0.25, label=name)
    axis.bar_label(bars, fmt="%.2f", fontsize=8)
axis.set(
    xticks=range(len(settings)), xticklabels=[f"{n} columns of noise" for n in settings], ylabel="ACC", ylim=(0, 1.3)
)
axis.legend(ncols=3, loc="upper center")

# %%
# Three made-up tables are no benchmark. On real tables, and with intervals over them, the comparison stands in
# :doc:`/learned` and :doc:`/label_free`.
