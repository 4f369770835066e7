"""Why a vote or a task cannot go on, where it may be the model: its name, and what sets it."""

from __future__ import annotations

from typing import Literal

from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.policy.switches import model_variables
from review_advisor.core.roles.calls import ModelError, Stop
from review_advisor.core.roster.advisor import Advisor


def model_setting(advisor: Advisor | None, who: Literal["ADVISOR", "EXECUTOR"] = "ADVISOR") -> str:
    """What sets the model of a declared ``advisor``; None stands for the usual one."""
    if advisor is not None and advisor.model:
        return f"`model` of {advisor.id!r} in {advisor.source or 'its declaration'}"
    return " or ".join(model_variables(Surface.PR_REVIEW, who))


def vote_stop_words(stop: Stop, model: str, setting: str) -> str:
    """What the user is told of a call that cannot be made: the ``model``, where it may be that, and its ``setting``."""
    if not isinstance(stop, ModelError):
        return stop.detail
    return f"{stop.detail} The model asked for is {model!r}; {setting} sets another."
