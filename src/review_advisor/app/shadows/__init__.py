"""The parts of a review that run in shadow, once its outcome is stored."""
