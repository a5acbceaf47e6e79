"""Reproducers: tests that fail on base and pass on the change."""
