"""Discoverers: scikit-learn estimators that find novel classes, one a file."""

from newfound.discoverers.auto import AutoDiscoverer
from newfound.discoverers.classifier_projection import ClassifierProjection
from newfound.discoverers.kmeans import KMeansDiscoverer
from newfound.discoverers.ncd_kmeans import NCDKMeans
from newfound.discoverers.ncd_spectral import NCDSpectral
from newfound.discoverers.pbn import PBN
from newfound.discoverers.spectral import SpectralDiscoverer
from newfound.discoverers.tabular_ncd import TabularNCD
from newfound.discoverers.whitened_kmeans import WhitenedKMeans

__all__ = [
    "PBN",
    "AutoDiscoverer",
    "ClassifierProjection",
    "KMeansDiscoverer",
    "NCDKMeans",
    "NCDSpectral",
    "SpectralDiscoverer",
    "TabularNCD",
    "WhitenedKMeans",
]
