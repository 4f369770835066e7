"""What became of findings and merges, as facts."""
