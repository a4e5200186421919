"""Clustering of encoded rows: classes as centroids, and the consensus of members."""
