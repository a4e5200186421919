"""
How many novel classes are there?
=================================

Every discoverer takes ``n_novel_classes="auto"``, and then estimates the number.
:func:`~newfound.estimate_n_novel_classes` does the same on its own, and shows what the estimate rests on.
"""

import newfound as nf

data = nf.datasets.make_table(900, n_known=5, n_novel=4, separation=5, random_state=1)
estimate = nf.estimate_n_novel_classes(data.X_train, data.y_train, random_state=0)
low, high = estimate.interval
print(f"{estimate.n_classes} novel classes; with a probability of 80 % there are from {low} to {high}")

# %%
# The in-context network has counted the classes of millions of synthetic tables. It looks at labelled and unlabelled
# rows together, since the known classes show what makes a class in this table, and gives a probability to each number.

for point in estimate.curve[:8]:
    print(f"{point['k']} novel classes: {point['combined']:.3f}")

# %%
# The same as a picture.

figure = estimate.plot()  # estimate.plot("k.png") writes a file

# %%
# Where the classes overlap, the interval grows. Take a wide interval for what it is: the table does not say.

blurred = nf.datasets.make_table(900, n_known=5, n_novel=4, separation=1, random_state=1)
estimate = nf.estimate_n_novel_classes(blurred.X_train, blurred.y_train, random_state=0)
print(f"{estimate.n_classes} novel classes, from {estimate.interval[0]} to {estimate.interval[1]}")
print("Doubts:", estimate.doubts)

# %%
# If you know the number, pass it: ``nf.AutoDiscoverer(n_novel_classes=4)``.
