"""The name that ADR-0059 gives the review. It lives in ``review/phase.py``."""

from review_advisor.review.phase import ReviewPhase

__all__ = ["ReviewPhase"]
