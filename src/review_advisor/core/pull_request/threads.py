"""The bot's threads: which still say their finding, which were left behind, and what people did with them.

People resolve threads and put thumbs on comments. These are facts, and settle nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from review_advisor.core.facts.remark import Reaction, StandingRemark
from review_advisor.core.observation.labels import Value
from review_advisor.core.pull_request.markers import finding_in
from review_advisor.core.pull_request.standing import Thread
from review_advisor.core.pull_request.state import KnownFinding, Marks, State

MOST_PEOPLE = 50
"""So many people who reacted to one finding are asked about, beside those who are known from another one."""
MOST_ASKED = 300
"""So many are asked about in all: each is a request."""
_NO_REMARK = "no comment on the diff is about it"


def finding_ids_ever_said(threads: Iterable[Thread]) -> frozenset[str]:
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
        heard = [e for e in remark.reactions if e.login and not (e.login.casefold() == own and not e.up)]
        everybody = self._ask_about(heard) and not remark.uncounted
        counted = [each for each in heard if self._people.get(each.login)]
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

    def _ask_about(self, heard: list[Reaction]) -> bool:
        """Learn who of these may write; whether all of them were asked about, now or before."""
        unknown = [login for login in dict.fromkeys(each.login for each in heard) if login not in self._people]
        asked = unknown[: min(MOST_PEOPLE, max(0, MOST_ASKED - len(self._people)))]
        for login in asked:
            self._people[login] = not self._is_bot(login) and self._may_write(login)
        return len(asked) == len(unknown)


def with_marks(state: State, marks: Mapping[str, Marks]) -> State:
    """The state with what people marked; nothing else of it changes."""

    def marked(finding: KnownFinding) -> KnownFinding:
        return finding.model_copy(update={"marks": marks.get(finding.id, finding.marks)})

    return state.model_copy(update={"findings": tuple(map(marked, state.findings))})
