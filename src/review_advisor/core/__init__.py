"""The pure core: values in, values out. It has no I/O, clock, randomness, logging or environment."""
