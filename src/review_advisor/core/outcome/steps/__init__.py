"""The kinds of events that others are built on, and those about advice."""
