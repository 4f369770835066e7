"""Where the ledger lies by default. Apart from everything else, because the command line's help names it, too."""

LEDGER_FILE = "ledger/ledger.sqlite3"
"""The ledger in the artefact root: in a folder of its own, which ignores itself."""
