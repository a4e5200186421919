"""Choices that are made without novel labels."""
