"""Measuring trials, in processes, into lines of results."""
