"""The world as the pipeline sees it: Protocols, what they raise, and the bundle that ReviewPhase is given."""
