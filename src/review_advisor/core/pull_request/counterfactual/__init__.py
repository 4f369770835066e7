"""What a stored review would have come to under other rules, from its events and from nothing else."""
