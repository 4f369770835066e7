"""The composition roots of what is about many repositories."""
