"""Verdict -> words: terminal, JSON, JUnit."""
