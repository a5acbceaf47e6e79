"""Facts that are kept."""
