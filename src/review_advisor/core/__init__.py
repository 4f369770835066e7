"""The pure core: values in, values out. No I/O, no clock, no random, no logging, no environment."""
