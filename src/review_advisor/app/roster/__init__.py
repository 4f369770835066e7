"""Who advises a repository: its declared advisors, read from the base or from the working tree."""
