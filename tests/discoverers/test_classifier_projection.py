"""What is particular to ClassifierProjection."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.discoverers.common import NOVEL, TRUTH, classifier_projection, integer_labels, numbers


@pytest.mark.parametrize("n_members", [1, 3])
def test_both_projections_are_of_one_classifier_before_and_after_the_activation(n_members: int) -> None:
    before = classifier_projection(n_members=n_members).fit(numbers(), integer_labels())
    after = classifier_projection(n_members=n_members, projection="after").fit(numbers(), integer_labels())
    assert [epoch["cross_entropy"] for epoch in before.history_] == [epoch["cross_entropy"] for epoch in after.history_]
    latent = before.transform(numbers(1))
    assert (latent < 0).any()
    assert_array_equal(after.transform(numbers(1)), np.maximum(latent, 0))


@pytest.mark.parametrize("projection", ["before", "after"])
def test_k_means_works_where_the_rows_are_projected(projection: str) -> None:
    model = classifier_projection(projection=projection).fit(numbers(), integer_labels())
    latent = model.transform(numbers())
    for place, name in enumerate(model.classes_):
        assert_allclose(model.centroids_[0, place], latent[model.labels_ == name].mean(axis=0), rtol=1e-6, atol=1e-9)


def test_a_projection_that_is_set_after_fit_counts_from_the_next_fit() -> None:
    model = classifier_projection().fit(numbers(), integer_labels())
    latent = model.transform(numbers())
    model.set_params(projection="after")
    assert_array_equal(model.transform(numbers()), latent)
    assert (model.fit(numbers(), integer_labels()).transform(numbers()) >= 0).all()


@pytest.mark.parametrize("projection", ["before", "after"])
def test_self_training_goes_on_with_the_whole_classifier(projection: str) -> None:
    model = classifier_projection(projection=projection, self_training=1, epochs=20).fit(numbers(), integer_labels())
    assert (model.predict(numbers(1))[~NOVEL] == TRUTH[~NOVEL]).mean() > 0.9
    assert (model.transform(numbers()) >= 0).all() == (projection == "after")
