"""Clustering of encoded rows: centroids, spectral clustering on a neighbour graph, consensus of members."""
