"""What became of a pull request after it was closed, read from the forge and from git."""
