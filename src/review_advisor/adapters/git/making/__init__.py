"""Repositories and branches that are made: the sample of the demo, a golden case's, and a proposal's."""
