"""What the paper printed: its figures, settings and published settings."""
