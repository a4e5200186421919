"""Discoverers: scikit-learn estimators that find novel classes, one a file."""

from newfound.discoverers.classifier_projection import ClassifierProjection
from newfound.discoverers.kmeans import KMeansDiscoverer
from newfound.discoverers.spectral import SpectralDiscoverer
from newfound.discoverers.tabular_ncd import TabularNCD

__all__ = ["ClassifierProjection", "KMeansDiscoverer", "SpectralDiscoverer", "TabularNCD"]
