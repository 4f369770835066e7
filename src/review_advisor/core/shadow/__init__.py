"""Parts of a review that run in shadow: which are due, what they would have decided, and the figures of a period."""
