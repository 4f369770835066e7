"""The kinds of events that others are built on, and those of whoever advises or refutes."""
