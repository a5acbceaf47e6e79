"""The change under judgement: read from Git, guarded, split into source and tests."""
