"""A proposal that is a concrete edit: text to append to a file that a review reads at its base."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from review_advisor.core.facts.guidelines import LONGEST_GUIDELINE
from review_advisor.core.policy.thresholds import THRESHOLDS_FILE, parse_thresholds
from review_advisor.core.retro.proposals import ImprovementProposal

RULES_FILE = "REVIEW.md"
_APPEND = re.compile(r"Append to (\S{1,200}):[ \t]*\n(.*)", re.DOTALL)
_FILES: Mapping[str, str] = {"review_rules": RULES_FILE, "threshold_table": THRESHOLDS_FILE}
"""The file that a proposal for this target may edit. Both are tried by an evaluation, and both are under the guard."""
_BY_A_PERSON: Mapping[str, str] = {
    "memory_schema": "Each entry of the memory names who approved it: use `review-advisor memory approve`.",
    "executor_prompt": "Put the prompt into .review-advisor/instructions/ yourself, and try it in shadow.",
    "advisor_prompt": "Put the prompt into .review-advisor/instructions/ yourself, and try it in shadow.",
    "council_roster": "Declare the advisor in .review-advisor/advisors/ yourself, and try it in shadow.",
}


class EditRefusedError(ValueError):
    """A proposal that no branch can be made of. One sentence on what a person has to do, or two."""


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """The text that a proposal appends to the file at ``path``."""

    path: str
    added: str

    def applied_to(self, before: str) -> str:
        """The whole file with its own line ends. Raises ``EditRefusedError`` where a review would not read it so."""
        ends = "\r\n" if "\r\n" in before else "\n"
        before = _with_plain_ends(before)
        gap = "" if not before.strip() else "\n" if before.endswith("\n") else "\n\n"
        after = f"{before if before.strip() else ''}{gap}{self.added}\n"
        _CHECKS[self.path](after)
        return after.replace("\n", ends)

    def is_in(self, before: str) -> bool:
        """Whether a file holds the text already, whatever its line ends."""
        return self.added in _with_plain_ends(before)


def append_to(path: str, text: str) -> str:
    """A proposed change that is a concrete edit."""
    return f"Append to {path}:\n{text}"


def proposed_edit(proposal: ImprovementProposal) -> ProposedEdit:
    """The edit that a valid proposal is. Raises ``EditRefusedError``."""
    if not proposal.changes_something:
        raise EditRefusedError("It recommends no change.")
    path = _FILES.get(proposal.target)
    if path is None:
        told = _BY_A_PERSON[proposal.target]
        raise EditRefusedError(f"A change of the {proposal.target.replace('_', ' ')} is made by a person. {told}")
    found = _APPEND.fullmatch(proposal.proposed_change.strip())
    if found is None or found[1] != path or not found[2].strip():
        raise EditRefusedError(
            f'It is no concrete edit: a person has to make one of it. An edit begins with "Append to {path}:".'
        )
    return ProposedEdit(path, _with_plain_ends(found[2]).strip("\n").rstrip())


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _readable_rules(text: str) -> None:
    if len(text.strip("\n")) > LONGEST_GUIDELINE:
        raise EditRefusedError(
            f"{RULES_FILE} would be longer than the {LONGEST_GUIDELINE:,} characters that are sent: shorten it first."
        )


def _readable_thresholds(text: str) -> None:
    try:
        parse_thresholds(text)
    except ValueError as refused:
        raise EditRefusedError(f"No review could read the file then. {refused}") from None


_CHECKS: Mapping[str, Callable[[str], None]] = {RULES_FILE: _readable_rules, THRESHOLDS_FILE: _readable_thresholds}
