"""The bot's threads, and which findings get a comment in this round."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from review_advisor.agents.answers import GRAVE, SEVERITIES, Severity
from review_advisor.agents.findings import Finding, ordered
from review_advisor.change.change import Age
from review_advisor.change.pull_request import Reaction, StandingRemark
from review_advisor.github.state import KnownFinding, Marks, State, Thread, finding_in
from review_advisor.policy.pull_request_rules import Narrowing, Volume
from review_advisor.review.observed import Value

MOST_PEOPLE = 50
"""So many people who reacted to one finding are asked about, beside those who are known from another one."""

MOST_ASKED = 300
"""So many are asked about in all: each is a request."""

_NO_REMARK = "no comment on the diff is about it"


def finding_ids_ever_posted(threads: Iterable[Thread]) -> frozenset[str]:
    """The findings that have a comment, wherever it stands by now."""
    return frozenset(_last(threads))


def finding_ids_with_thread(threads: Iterable[Thread]) -> frozenset[str]:
    """The open findings that need no new comment: their last thread stands on its lines, resolved or not."""
    return frozenset(name for name, last in _last(threads).items() if not last.outdated)


def finding_ids_with_open_thread(threads: Iterable[Thread]) -> frozenset[str]:
    """The findings whose last thread stands on its lines and is open."""
    return frozenset(name for name, last in _last(threads).items() if not (last.resolved or last.outdated))


def about(threads: Iterable[Thread], findings: Collection[str]) -> tuple[Thread, ...]:
    """The open threads about these findings."""
    return tuple(each for each in threads if finding_in(each.body) in findings and not each.resolved)


def left_behind(threads: Iterable[Thread], known: Collection[str]) -> tuple[Thread, ...]:
    """The open threads that lost their lines and are said elsewhere: in a later thread, or under another id.

    ``known`` are the ids of all findings there are.
    """
    every = tuple(threads)
    last = _last(every)
    outdated = [(each, finding_in(each.body)) for each in every if each.outdated and not each.resolved]
    return tuple(each for each, name in outdated if name is not None and (last[name] is not each or name not in known))


def _last(threads: Iterable[Thread]) -> dict[str, Thread]:
    return {name: each for each in threads if (name := finding_in(each.body)) is not None}


class PeoplesMarks:
    """Reads them for the bot that writes as ``login``. ``may_write`` tells whether somebody may, and asks the forge."""

    def __init__(self, login: str, may_write: Callable[[str], bool]) -> None:
        self._login = login
        self._may_write = may_write
        self._people: dict[str, bool] = {}

    def own(self, remarks: Iterable[StandingRemark]) -> dict[str, StandingRemark]:
        """The bot's own comments by their finding, the first of each. What somebody else edited is nobody's word."""
        found: dict[str, StandingRemark] = {}
        for each in remarks:
            finding = finding_in(each.body)
            hands = {each.author.casefold(), (each.edited_by or each.author).casefold()}
            if finding is not None and hands == {self._login.casefold()}:
                found.setdefault(finding, each)
        return found

    def thread(self, remark: StandingRemark | None) -> tuple[Value, str]:
        """Whether somebody resolved the thread of a comment, and what shows it."""
        if remark is None:
            return "unknown", _NO_REMARK
        if not remark.resolved:
            return "open", "nobody resolved its thread"
        if self._is_bot(remark.resolved_by):
            return "resolved_by_bot", "a bot resolved its thread"
        if not remark.resolved_by:
            return "unknown", "GitHub does not say who resolved its thread"
        return "resolved", f"@{remark.resolved_by} resolved its thread"

    def reaction(self, remark: StandingRemark | None, author: str) -> tuple[Value, str]:
        """By people who may write. The pull request's author has no say against a finding, but may admit to it."""
        if remark is None:
            return "unknown", _NO_REMARK
        own = author.casefold()
        counting = [e for e in remark.reactions if e.login and not (e.login.casefold() == own and not e.up)]
        everybody = self._ask_about(counting) and not remark.uncounted
        counted = [each for each in counting if self._people.get(each.login)]
        thumbs = {each.up for each in counted}
        if not thumbs and not everybody:
            return "unknown", "too many people reacted"
        if not thumbs:
            return "none", "nobody who may write reacted to it"
        who = ", ".join(f"@{login}" for login in sorted({each.login for each in counted}))[:150]
        value: Value = "both" if len(thumbs) > 1 else "up" if True in thumbs else "down"
        return value, who if everybody else f"{who}, among too many to ask about them all"

    def marks(self, remarks: Iterable[StandingRemark], author: str) -> dict[str, Marks]:
        """What is kept of each finding that people marked."""
        found: dict[str, Marks] = {}
        for finding, remark in self.own(remarks).items():
            thread, reaction = self.thread(remark)[0], self.reaction(remark, author)[0]
            found[finding] = Marks(
                resolved=thread == "resolved", up=reaction in ("up", "both"), down=reaction in ("down", "both")
            )
        return found

    def _is_bot(self, login: str) -> bool:
        """Whether a user is a bot: GraphQL leaves the ending of this one's name out where it calls it a user."""
        return login.endswith("[bot]") or login.casefold() == self._login.casefold().removesuffix("[bot]")

    def _ask_about(self, reactions: list[Reaction]) -> bool:
        """Learn who of these may write; whether all of them were asked about, now or before."""
        unknown = [login for login in dict.fromkeys(each.login for each in reactions) if login not in self._people]
        looked_up = unknown[: min(MOST_PEOPLE, max(0, MOST_ASKED - len(self._people)))]
        for login in looked_up:
            self._people[login] = not self._is_bot(login) and self._may_write(login)
        return len(looked_up) == len(unknown)


def with_marks(state: State, marks: Mapping[str, Marks]) -> State:
    """The state with what people marked; nothing else of it changes."""

    def marked(finding: KnownFinding) -> KnownFinding:
        return finding.model_copy(update={"marks": marks.get(finding.id, finding.marks)})

    return state.model_copy(update={"findings": tuple(map(marked, state.findings))})


MOST_GRAVE = 50
"""So many comments on what is grave or blocks stand on the diff at a time: of more, GitHub's page loads slowly, and
nobody reads them at once. The worst come first, and the others follow as their room gets free."""


@dataclass(frozen=True, slots=True)
class Loudness:
    """What a volume means: ``inline_from`` is the lowest severity in the first, second and every later review.

    ``most`` is how many comments stand on the diff at a time; what is grave or blocks counts, and gives way to nothing
    milder.
    """

    inline_from: tuple[Severity, Severity, Severity]
    most: int

    def lowest(self, number: int) -> Severity:
        """The lowest severity in the ``number``-th complete review; they count from 1."""
        return self.inline_from[min(number, len(self.inline_from)) - 1]


LOUDNESS: Mapping[Volume, Loudness] = {
    "quiet": Loudness(("medium", "high", "high"), 10),
    "normal": Loudness(("low", "medium", "high"), 25),
    "thorough": Loudness(("low", "low", "high"), 50),
}
"""From the third review on, and on unchanged lines always, only what blocks is posted: at any volume."""


@dataclass(frozen=True, slots=True)
class Posting:
    """Whether a finding may get a comment on the diff; ``because`` says why it may not, and is empty where it may.

    ``grave``: it is critical, high or blocks. Only the number of such comments keeps it off the diff.
    """

    finding: Finding
    because: str = ""
    grave: bool = False

    @property
    def allowed(self) -> bool:
        """Whether it may get one."""
        return not self.because

    @property
    def folded(self) -> bool:
        """Whether it is also left out of the list of findings and of the annotations: never what is grave."""
        return bool(self.because) and not self.grave


def postings(
    findings: Iterable[Finding], blocking: Collection[str], standing_ids: Collection[str], narrowing: Narrowing
) -> tuple[Posting, ...]:
    """The decision on every finding that has no comment yet (its id is not in ``standing_ids``), the worst first.

    Comments that stand already count towards the most that there may be, so that deciding again, once these findings
    have their comments, changes nothing for the others.
    """
    every = ordered(findings)
    standing, loudest = sum(each.id in standing_ids for each in every), LOUDNESS[narrowing.volume].most
    graves = sum(each.id in standing_ids and is_grave_or_blocks(each, blocking) for each in every)
    decided: dict[str, Posting] = {}
    fresh = [each for each in every if each.id not in standing_ids]
    for each in sorted(fresh, key=lambda each: not is_grave_or_blocks(each, blocking)):
        because, grave = _held_back(each, blocking, narrowing), is_grave_or_blocks(each, blocking)
        count, most = (graves, MOST_GRAVE) if grave else (standing, loudest)
        if not because and count >= most:
            because = f"at most {most} comments stand on the diff"
        standing += not because
        graves += grave and not because
        decided[each.id] = Posting(each, because, grave=grave)
    return tuple(decided[each.id] for each in fresh)


def is_grave_or_blocks(finding: Finding, blocking: Collection[str]) -> bool:
    """Whether no round, confidence or volume holds a finding back, and no number of milder comments."""
    return finding.severity in GRAVE or finding.id in blocking


def _held_back(finding: Finding, blocking: Collection[str], narrowing: Narrowing) -> str:
    """Why a finding is not posted; empty if it is."""
    if is_grave_or_blocks(finding, blocking):
        return ""
    if finding.confidence < narrowing.least:
        return f"its confidence is below {narrowing.least:g}"
    if finding.id in narrowing.few:
        return narrowing.few[finding.id]
    if finding.age is Age.UNCHANGED:
        return "its lines did not change since the last complete review"
    number = 1 if finding.age is Age.NEW else narrowing.number
    lowest = LOUDNESS[narrowing.volume].lowest(number)
    if SEVERITIES.index(finding.severity) <= SEVERITIES.index(lowest):
        return ""
    if number == 1:
        return f"volume {narrowing.volume} posts nothing {finding.severity}"
    return f"complete review {number} posts nothing {finding.severity} on reworked lines"
