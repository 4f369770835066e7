"""Branches that a person asked for, in the person's own repository."""
