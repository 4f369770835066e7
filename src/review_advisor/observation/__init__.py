"""The fate of a closed pull request, read from the forge and from git."""
