"""Reading a played review: what the agents really said, part by part, and what stood in their prompts."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from review_advisor.agents.calls import Answered, Lost
from review_advisor.github.sections import title_of
from review_advisor.mockworld.agents import Advice, Killed, PlayedCall
from review_advisor.mockworld.stage import PlayedReview
from review_advisor.mockworld.story import SLOW
from review_advisor.policy.roster import VOICES
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import Event
from review_advisor.review.report import report_text
from review_advisor.safety.stop import Stop

PartKey = tuple[Surface, int]
Kind = TypeVar("Kind")
_OPENING = "<<<UNTRUSTED "
_CLOSING = " UNTRUSTED>>>"
_PLAIN = re.compile(r"[ -~]{0,500}")
_LONG_WORD = re.compile(r"[^ ]{16}")
_OFF = {"false", "0", "no", "off"}
_NOES = {"veto": "VETO", "reject": "reject"}
UNUSABLE = {"garbage", "misshapen", "prose"}
"""Faults after which a role is asked once more, unless what it said is a no."""


def answer_of(asked: PlayedCall) -> dict[str, Any] | None:
    """What a call was told, if it was something that counts: of several answers one that says no, in whatever form."""
    if not isinstance(asked.result, Answered):
        return None
    for said in (*asked.result.said, asked.result.value):
        if str(said.get("verdict")).casefold() in _NOES:
            unsaid = {"summary": "(left blank)"} if asked.call.role is Role.EXECUTOR else {"reasoning": ""}
            return {**unsaid, **said, "verdict": _NOES[str(said["verdict"]).casefold()]}
    return None if asked.line.fault in UNUSABLE else asked.result.value


def is_plain(text: str) -> bool:
    """Whether a prompt shows ``text`` as it is: short, printable ASCII on one line, nothing that looks like a secret.

    Anything else may rightly stand there cut, cleaned or redacted; what becomes of it the attacks ask.
    """
    return _PLAIN.fullmatch(text) is not None and _OPENING[3:-1] not in text and not _LONG_WORD.search(text)


def split_prompt(prompt: str, nonce: str) -> tuple[str, dict[str, str]]:
    """The prompt's own words, and what stands between its fences by label. Reads the markers, not the product."""
    own: list[str] = []
    inside: dict[str, str] = {}
    at = 0
    while True:
        start = prompt.find(_OPENING, at)
        if start < 0:
            break
        line_end = prompt.find("\n", start)
        label, _, its_nonce = prompt[start + len(_OPENING) : line_end].partition(" ")
        end_mark = f"\n{label} {nonce}{_CLOSING}"
        end = prompt.find(end_mark, line_end)
        if its_nonce != nonce or end < 0:
            own.append(prompt[at : start + len(_OPENING)])
            at = start + len(_OPENING)
            continue
        own.append(prompt[at:start])
        inside.setdefault(label, prompt[line_end + 1 : end])
        at = end + len(end_mark)
    own.append(prompt[at:])
    return "".join(own), inside


class Reading:
    """One played review, read. ``earlier`` are the reviews of the same story before it."""

    def __init__(self, review: PlayedReview, earlier: Sequence[PlayedReview] = ()) -> None:
        self.review = review
        self.earlier = tuple(earlier)

    @property
    def of_the_judges(self) -> Reading:
        """The same without the calls of inline members, who judge no verdict."""
        asked = tuple(each for each in self.review.asked if each.call.advisor != VOICES)
        same = len(asked) == len(self.review.asked)
        return self if same else Reading(replace(self.review, asked=asked), self.earlier)

    @property
    def has_council(self) -> bool:
        """Whether several advisors judge."""
        return len(self.review.rules.roster.panel) > 1

    @cached_property
    def parts(self) -> dict[PartKey, list[PlayedCall]]:
        """The executor's and post-verify's calls of each part of each surface, in order, but for the blind ones."""
        found: dict[PartKey, list[PlayedCall]] = defaultdict(list)
        for asked in self.review.asked:
            judges = asked.call.advisor != VOICES
            if judges and asked.call.role in (Role.EXECUTOR, Role.POST_VERIFY) and not asked.call.blind:
                found[asked.call.surface, asked.call.shard].append(asked)
        return found

    @cached_property
    def blind(self) -> dict[PartKey, str | None]:
        """What the executor said of each part's diff alone: approve, reject, or None if it said nothing usable."""
        found: dict[PartKey, str | None] = {}
        for asked in self.review.asked:
            if asked.call.blind:
                answer = answer_of(asked)
                found[asked.call.surface, asked.call.shard] = None if answer is None else str(answer["verdict"])
        return found

    def last(self, key: PartKey, role: Role) -> PlayedCall | None:
        """The last call of a role in one part."""
        return next((asked for asked in reversed(self.parts[key]) if asked.call.role is role), None)

    @cached_property
    def verdicts(self) -> dict[PartKey, str | None]:
        """What the executor last said of each part: approve, reject, or None if it said nothing usable."""
        return {key: self._verdict(key, Role.EXECUTOR) for key in self.parts}

    @cached_property
    def judgements(self) -> dict[PartKey, str | None]:
        """What post-verify last said of each part: APPROVE, VETO, or None if it was not asked or said nothing."""
        return {key: self._verdict(key, Role.POST_VERIFY) for key in self.parts}

    def _verdict(self, key: PartKey, role: Role) -> str | None:
        asked = self.last(key, role)
        answer = None if asked is None else answer_of(asked)
        return None if answer is None else str(answer["verdict"])

    @cached_property
    def stop_at(self) -> int | None:
        """The place among the calls where the account, the credential or the user ended the review."""
        for place, asked in enumerate(self.review.asked):
            if isinstance(asked.result, Stop):
                return place
        return None

    @cached_property
    def advice(self) -> list[Advice]:
        """Every consult, in order."""
        return [each for asked in self.review.asked for each in asked.advice]

    @cached_property
    def prompts(self) -> list[tuple[str, dict[str, str]]]:
        """Each call's prompt: its own words, and its fences by label."""
        return [split_prompt(asked.call.prompt, self.review.nonce) for asked in self.review.asked]

    def events(self, kind: type[Kind]) -> Iterator[Kind]:
        """The events of one kind."""
        found: Sequence[Any] = self._by_kind.get(kind, ())
        return iter(found)

    @cached_property
    def _by_kind(self) -> dict[type, list[Event]]:
        found: dict[type, list[Event]] = {}
        for event in self.review.events:
            found.setdefault(type(event), []).append(event)
        return found

    @cached_property
    def report(self) -> str:
        """What a person would read; empty when nothing was decided."""
        return "" if self.review.document is None else report_text(self.review.document)

    @cached_property
    def title(self) -> str:
        """The title of the review's check; empty when nothing was decided."""
        return "" if self.review.document is None else title_of(self.review.document)

    @cached_property
    def approved(self) -> bool:
        """Whether the review ended as approved."""
        return self.review.ended == "approved"

    @cached_property
    def off(self) -> frozenset[str]:
        """The variables that switched something off when the review began."""
        given = self.review.environment.items()
        return frozenset(name for name, value in given if value.strip().lower() in _OFF)

    @cached_property
    def reports(self) -> list[dict[str, Any] | None]:
        """The report that each call was shown, if it was shown one."""
        return [json.loads(inside["REPORT"]) if "REPORT" in inside else None for _, inside in self.prompts]

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Both sides of every changed file."""
        files = self.review.change.files
        return tuple(path for file in files for path in (file.path, file.old_path) if path is not None)

    @cached_property
    def lines_of_python(self) -> int:
        """How many lines of Python the change adds and removes, of those that count as code for certain."""
        files = (
            each for each in self.review.change.files if each.path.startswith("src/") and each.path.endswith(".py")
        )
        return sum(file.added + file.removed for file in files if not file.generated and not file.vendored)


def fault_of(asked: PlayedCall) -> str:
    """The story's word for what went wrong with a call; empty if nothing did."""
    if isinstance(asked.result, Killed):
        return "killed"
    late = isinstance(asked.result, Lost) and asked.line.lost is None
    if not late and (isinstance(asked.result, Answered) or asked.line.fault):
        slow = asked.line.seconds >= SLOW and not asked.line.fault
        return "slow" if slow else asked.line.fault
    return "timeout" if asked.line.seconds > asked.call.timeout_seconds else ""
