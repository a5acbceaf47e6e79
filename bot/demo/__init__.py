"""A sample repository and the acts of `dualgate demo`."""
