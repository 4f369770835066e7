"""Reviews of golden cases by several arms: what is recorded of each, what they come to, and what that decides."""
