"""Databases that a repository's CI starts beside its tests: side containers on the loopback of each box."""
