"""Changes read from git: ranges, the index and patches, all by plumbing and none by searching text."""
