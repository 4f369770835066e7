"""The composition roots, one per verb: they open the adapters, build the ports and run one command."""
