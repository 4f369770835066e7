"""review-advisor: a CI review bot with three advisor roles around a cheap executor (ADR-0059)."""

__version__ = "0.1.0"
