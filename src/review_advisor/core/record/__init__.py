"""What is remembered of reviews that are over: the chain of their events, and what can be asked about them."""
