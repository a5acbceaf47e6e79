"""What the public registries know of a package, asked before anything is installed."""
