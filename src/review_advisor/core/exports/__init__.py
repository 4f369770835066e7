"""A review in the formats of other tools: files that are readings of its events."""
