"""The composition roots, one for each verb: they open the adapters, build the ports and run one thing."""
