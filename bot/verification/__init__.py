"""Runs, evidence, gate, verdict."""
