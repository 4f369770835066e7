"""The composition roots of ``retro``: a run after its end, what people dismissed, a branch of one proposal."""
