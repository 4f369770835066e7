"""Parts of a review that run in shadow: which are due, what they would have decided, and what a period of them says."""
