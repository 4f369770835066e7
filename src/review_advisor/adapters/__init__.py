"""The outside world, one library or program each. Adapters never import one another."""
