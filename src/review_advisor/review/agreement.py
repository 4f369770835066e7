"""How many members of a council raise a finding, and what only members raise."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from operator import not_

from review_advisor.agents.answers import SEVERITIES
from review_advisor.agents.findings import Finding, merged, ordered
from review_advisor.policy.roster import Advisor

LEAST_PANEL = 5
"""The fewest declared members whose agreement counts: smaller panels gained nothing on the recorded reviews."""


AGREES_FROM = 2
"""The fewest members that must raise a finding of the executor; otherwise it is folded."""


NEAR = 3
"""The most lines between two ranges that may belong to one finding."""


ALIKE = 0.25
"""The least share of common words (Dice coefficient) of two findings at one place that are the same."""


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")


_SHORTEST_WORD = 3


_File = tuple[str, bool]


_Own = tuple[Finding, Advisor]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What one member found by itself in one part."""

    member: Advisor
    part: object
    """What tells parts apart."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Raised:
    """A finding and the members that raise it."""

    finding: Finding
    by: tuple[str, ...]
    """The ids of the members, in order."""
    of: int
    """How many members could have raised it."""
    because: str = ""
    """Why a finding of the executor is folded, unless it is grave or blocks; empty for any other."""

    @property
    def words(self) -> str:
        """How many members raise it."""
        return f"raised by {len(self.by)} of {self.of} members"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Who raises which finding of a council."""

    lead: tuple[Raised, ...] = ()
    """Each finding of the executor."""
    added: tuple[Raised, ...] = ()
    """Findings of members alone that enough of them raise."""
    left: tuple[Raised, ...] = ()
    """Findings of members alone that too few of them raise."""

    @property
    def few(self) -> Mapping[str, str]:
        """Why findings of the executor are folded, by their ids."""
        return {each.finding.id: each.because for each in self.lead if each.because}


def adds_from(members: int) -> int:
    """How many members must raise a finding that the executor does not have: five in twelve, and never fewer than 3."""
    return max(3, -(-5 * members // 12))


def is_confirmed(raisers: int, members: int) -> bool:
    """Whether so many of the members are enough to post a finding of the executor. A small panel proves nothing."""
    return members < LEAST_PANEL or raisers >= AGREES_FROM


def is_same(one: Finding, other: Finding) -> bool:
    """Whether both are the same finding: by place first, then by words. One quote under one category is one finding."""
    if (one.path, one.removed) != (other.path, other.removed):
        return False
    if one.id == other.id:
        return True
    apart = max(one.line, other.line) - min(max(one.line, one.end_line), max(other.line, other.end_line))
    if apart > NEAR:
        return False
    mine, its = _words(one.title, one.body), _words(other.title, other.body)
    return 2 * len(mine & its) >= ALIKE * (len(mine) + len(its))


def agreement(lead: Mapping[object, Sequence[Finding]], reviewed: Sequence[Reviewed]) -> Agreement:
    """The agreement on the executor's findings, ``lead`` by part, and on what members found by themselves.

    Neither the order of the members nor that of their findings matters. A member that a label added may keep a finding
    on the diff; it is not counted towards the least panel, because the author may have set the label.
    """
    try:
        return _agreed(lead, reviewed)
    finally:
        _words.cache_clear()  # the bodies of this council's findings are kept no longer


def _agreed(lead: Mapping[object, Sequence[Finding]], reviewed: Sequence[Reviewed]) -> Agreement:
    leading = ordered(merged(each for found in lead.values() for each in found))
    parts: dict[str, set[object]] = {}
    for part, findings in lead.items():
        for each in findings:
            parts.setdefault(each.id, set()).add(part)
    found_in, led_in = defaultdict[_File, list[_Own]](list), defaultdict[_File, list[Finding]](list)
    for review in reviewed:
        for found in review.findings:
            found_in[_file(found)].append((found, review.member))
    for each in leading:
        led_in[_file(each)].append(each)
    leads = tuple(_lead(each, parts[each.id], reviewed, found_in[_file(each)]) for each in leading)
    own = {
        file: [each for each in these if not any(is_same(lead_finding, each[0]) for lead_finding in led_in[file])]
        for file, these in found_in.items()
    }
    declared = {each.member.id for each in reviewed if not each.member.is_added}
    everybody = len({each.member.id for each in reviewed})
    clusters = sorted((each for these in own.values() for each in _clusters(these, everybody)), key=_in_order)
    bar = adds_from(len(declared))
    return Agreement(
        leads,
        added=tuple(sorted((each for each in clusters if len(each.by) >= bar), key=_worst_then_most_first)),
        left=tuple(each for each in clusters if len(each.by) < bar),
    )


def _lead(finding: Finding, parts: Iterable[object], reviewed: Sequence[Reviewed], beside: Sequence[_Own]) -> Raised:
    """Who raises a finding of the executor, in any part, of those who reviewed each of its ``parts``.

    ``beside`` is what members found in its file.
    """
    raisers = [(member, same) for same, member in beside if is_same(finding, same)]
    by = {member.id for member, _ in raisers}
    seen = [{each.member.id for each in reviewed if each.part == part} for part in parts]
    could = set.intersection(*seen) | by
    declared = {each.member.id for each in reviewed if not each.member.is_added} & could
    raised = Raised(finding, tuple(sorted(by)), len(could))
    if is_confirmed(len(by), len(declared)):
        return raised
    in_lens = any(_is_in_lens(member, finding) or _is_in_lens(member, same) for member, same in raisers)
    return raised if in_lens else replace(raised, because=raised.words)


def _is_in_lens(member: Advisor, finding: Finding) -> bool:
    """Whether the finding names what the member looks at first: its id, or one of its scopes, word by word."""
    words = _words(finding.title, finding.body) | _split(finding.category)
    lenses = (_split(each) for each in (member.id, *member.scopes))
    return any(lens and lens <= words for lens in lenses)


def _clusters(own: Iterable[_Own], of: int) -> Iterator[Raised]:
    """Findings of members, those that are the same as one: each cluster is what is the same as its worst finding."""
    rest = sorted(own, key=lambda each: (SEVERITIES.index(each[0].severity), repr(each[0]), each[1].id))
    while rest:
        head = rest[0][0]
        same = [is_same(head, found) for found, _ in rest]
        yield Raised(head, tuple(sorted({member.id for _, member in compress(rest, same)})), of)
        rest = list(compress(rest, map(not_, same)))


def _in_order(raised: Raised) -> tuple[int, str]:
    return SEVERITIES.index(raised.finding.severity), repr(raised.finding)


def _file(finding: Finding) -> _File:
    """Where findings stand that may be the same: its file, before or after the change."""
    return finding.path, finding.removed


def _worst_then_most_first(raised: Raised) -> tuple[int, int]:
    return SEVERITIES.index(raised.finding.severity), -len(raised.by)


@lru_cache(4_096)
def _words(title: str, body: str) -> frozenset[str]:
    """The words of a finding, which are compared with those of every other one at its place."""
    return _split(f"{title} {body}")


def _split(text: str) -> frozenset[str]:
    """Its words in lower case; names such as ``readAll`` and ``read_all`` are several."""
    return frozenset(word.lower() for word in _WORD.findall(text) if len(word) >= _SHORTEST_WORD)
