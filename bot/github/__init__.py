"""All that speaks to GitHub; nothing else does."""
