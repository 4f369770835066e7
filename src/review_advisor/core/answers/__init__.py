"""What the models may answer, and what of it holds against the change."""
