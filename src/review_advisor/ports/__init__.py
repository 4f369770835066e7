"""The pipeline's view of the world: Protocols, their exceptions, and the ports that ReviewPhase takes."""
