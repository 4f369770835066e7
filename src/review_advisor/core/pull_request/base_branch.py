"""Whether a review is of the change against the base branch that its pull request has now: unknown is none.

What a review keeps of a branch's name has passed the redactor, so the present name is compared as that leaves it, too.
"""

from __future__ import annotations

from review_advisor.core.pull_request.state import State
from review_advisor.core.safety.redaction import Redactor


def names_base(kept: str | None, base_ref: str, redactor: Redactor) -> bool:
    """Whether a review that kept this name was against the branch ``base_ref``."""
    return bool(kept) and kept in (base_ref, redactor.redact(base_ref))


def not_against(state: State | None, base_ref: str, redactor: Redactor) -> str | None:
    """Why what is remembered is no review against the branch ``base_ref``, in a sentence; None if it is one."""
    if state is None or not state.base_ref:
        return "It is not known against which base branch the head was reviewed: it has to be reviewed again."
    if names_base(state.base_ref, base_ref, redactor):
        return None
    return f"The head was reviewed against {state.base_ref}, not {redactor.redact(base_ref)}."
