"""Repositories of no language that we know better: their own test command, read by what it writes."""
