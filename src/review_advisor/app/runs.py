"""Lists past reviews. It imports nothing of a review, so that a list comes at once."""

from review_advisor.adapters.ledger.run_queries import knows_repository, list_runs, list_tasks, show_run

__all__ = ["knows_repository", "list_runs", "list_tasks", "show_run"]
