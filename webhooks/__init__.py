"""The door: speaks HTTP and nothing else."""
