"""Tasks: the composition root of `run`."""
