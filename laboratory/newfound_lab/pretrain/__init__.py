"""Training of the in-context network on the prior, in pieces; see `train`."""
