"""What stands behind docs/research.md: rules for a choice without novel labels, measured on development tables."""
