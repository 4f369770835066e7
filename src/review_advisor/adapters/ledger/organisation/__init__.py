"""Ledgers out of artifacts: unpacked, taken in, and remembered."""
