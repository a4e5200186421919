"""Pictures; they take plain arrays, know no discoverer, and need the extra "plot"."""
