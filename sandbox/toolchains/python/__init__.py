"""Python repositories with pytest or unittest."""
