"""Pages of the stand-in: what a person sees of repositories, conversations, changes and checks."""
