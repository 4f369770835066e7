"""The review, as ADR-0059 tells it: it sequences, and every decision is a function of the core."""
