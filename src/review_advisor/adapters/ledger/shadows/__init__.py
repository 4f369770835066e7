"""Shadows in the ledger: what those of a period come to."""
