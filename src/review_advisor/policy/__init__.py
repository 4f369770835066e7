"""Decisions before the first call: settings, surfaces, switches, risk, budgets, roster."""
