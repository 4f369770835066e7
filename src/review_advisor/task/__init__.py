"""A task's run: an executor works, asks its advisor, goes on, and ends. Every decision is a function of the core."""
