"""The outside world: one library or program per adapter. Adapters never import one another."""
