"""Seeded worlds: from a number a random story, the same one on any machine."""
