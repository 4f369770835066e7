"""A review of a run after its end, as the files that are written beside the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from review_advisor.core.retro.proposals import ImprovementProposal, ImprovementProposals
from review_advisor.core.safety.markdown import code, code_block, phrase, prose
from review_advisor.core.task.task_events import TaskCalled
from review_advisor.core.task.task_files import json_text, prompt_digest, sha256, usage_json
from review_advisor.core.task.task_status import RunStatus

RETRO_FOLDER = "retro"
"""In the artefacts, for what is not written beside a run."""
PROMPT_FILE = "post_run_review.prompt.md"
REVIEW_FILE = "post_run_review.md"
PATCH_PROPOSAL_FILE = "policy_patch_proposal.md"
PROPOSALS_FILE = "improvement_proposals.json"
PROPOSALS_TEXT_FILE = "improvement_proposals.md"
OUTCOME_FILE = "post_run_review_outcome.json"
_ADVISOR = "post_run_review_advisor"
_NOTHING_APPLIED = "Nothing of this is applied. A person decides."


@dataclass(frozen=True, slots=True)
class PostRunReview:
    """A review of the run ``source_run_id``. ``retro_id`` is its own in the ledger, where its calls and costs are.

    ``message`` is the advisor's last, and empty where it gave none.
    """

    retro_id: str
    source_run_id: str
    advisor_backend: str
    status: RunStatus
    reason: str
    prompt: str
    message: str
    proposals: ImprovementProposals
    calls: tuple[TaskCalled, ...]
    not_seen: tuple[str, ...]
    completed_at: datetime


def retro_files(review: PostRunReview, *, with_prompt: bool = False) -> dict[str, str]:
    """Their texts by name, the outcome last. Of the prompt, length and digest, unless they are to have it."""
    last = review.calls[-1] if review.calls else None
    said = review.message or f"There is no review. {review.reason}"
    return {
        PROMPT_FILE: f"{review.prompt if with_prompt else _digest(review.prompt)}\n",
        REVIEW_FILE: f"{said}\n",
        f"{_ADVISOR}.stdout.txt": "What the backend wrote to stdout is not kept.\n",
        f"{_ADVISOR}.stderr.txt": f"{(last and last.detail) or 'What the backend wrote to stderr is not kept.'}\n",
        f"{_ADVISOR}.raw.json": json_text({"calls": review.calls}),
        PATCH_PROPOSAL_FILE: _patch_text(review.proposals),
        **proposal_files(review.proposals),
        OUTCOME_FILE: json_text(_outcome(review)),
    }


def _digest(prompt: str) -> str:
    return prompt_digest(len(prompt), sha256(prompt), 'recording = "full"')


def proposal_files(proposals: ImprovementProposals) -> dict[str, str]:
    """The proposals as JSON and as a text."""
    return {PROPOSALS_FILE: proposals.as_json(), PROPOSALS_TEXT_FILE: _text(proposals)}


def _outcome(review: PostRunReview) -> dict[str, Any]:
    return {
        "run_id": review.source_run_id,
        "retro_id": review.retro_id,
        "role": "retro",
        "status": review.status,
        "reason": review.reason,
        "advisor_backend": review.advisor_backend,
        "model": review.calls[-1].model if review.calls else "",
        "usage": usage_json(review.calls),
        "improvement_proposals_valid": review.proposals.valid,
        "not_seen": review.not_seen,
        "completed_at": review.completed_at,
    }


def _text(proposals: ImprovementProposals) -> str:
    return "\n".join(
        (
            f"# Improvement proposals of {code(proposals.source_run_id)}",
            "",
            prose(proposals.summary) or "There is no summary.",
            "",
            *_validity(proposals),
            *(line for each in proposals.proposals for line in _proposal_lines(each)),
            "",
        )
    )


def _validity(proposals: ImprovementProposals) -> Iterator[str]:
    yield "All of them are valid." if proposals.valid else "They are not valid:"
    yield ""
    if not proposals.valid:
        yield from (f"- {error}" for error in proposals.errors)
        yield ""
    yield _NOTHING_APPLIED


def _proposal_lines(each: ImprovementProposal) -> Iterator[str]:
    yield from ("", f"## {phrase(each.title) or 'Without a title'}", "", f"{code(each.id)} for {code(each.target)}")
    for heading, text in (("Why", each.rationale), ("Evidence", each.evidence), ("Validation", each.validation_plan)):
        yield from ("", f"**{heading}**", "", prose(text) or "-")
    yield from ("", "**Change**", "", code_block(each.proposed_change))


def _patch_text(proposals: ImprovementProposals) -> str:
    changing = [each for each in proposals.proposals if each.changes_something]
    told = [line for each in changing for line in _patch_lines(each)] or ["", "No change is proposed."]
    return "\n".join((f"# Proposed changes after {code(proposals.source_run_id)}", "", _NOTHING_APPLIED, *told, ""))


def _patch_lines(each: ImprovementProposal) -> Iterable[str]:
    return (
        "",
        f"## {phrase(each.title)}",
        "",
        f"{code(each.id)} for {code(each.target)}",
        "",
        code_block(each.proposed_change),
    )
