"""Benchmarks: commands that measure, and the paper's own figures to compare with."""
