"""Golden sets on this disk: the own form, and those of public benchmarks, by their path."""
