"""Escalation: why the harness consults the advisor, what it shows it, and what becomes of the advice."""
