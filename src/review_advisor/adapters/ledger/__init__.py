"""The ledger: what every review did, in one SQLite file that several processes write at once."""
