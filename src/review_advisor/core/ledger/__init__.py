"""What the ledger holds: the chain of a run's events, its rows, and what can be asked about runs."""
