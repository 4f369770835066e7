"""How many members of a council raise a finding of the executor, and what only members raise."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.findings import Finding, finding_id, merged
from review_advisor.github.threads import postings
from review_advisor.policy.pull_request_rules import Narrowing
from review_advisor.policy.roster import ADR_ADVISOR, Advisor
from review_advisor.review.agreement import Agreement, Reviewed, adds_from, agreement, is_same

PANEL = (ADR_ADVISOR, *(Advisor(name, "", on="finish") for name in ("bert", "carla", "dora", "emil")))
CACHE = "cache grows without bound"


def found(
    title: str = CACHE,
    line: int = 10,
    severity: Severity = "low",
    *,
    path: str = "src/a.py",
    category: str = "correctness",
    end_line: int = 0,
) -> Finding:
    return Finding(
        id=finding_id(path, category, f"{title} {line}"),
        path=path,
        line=line,
        end_line=end_line or line,
        removed=False,
        severity=severity,
        category=category,
        title=title,
        body="",
        suggestion=None,
        confidence=0.9,
        evidence=f"{title} {line}",
    )


def agreed(lead: list[Finding], *own: list[Finding], panel: tuple[Advisor, ...] = PANEL) -> Agreement:
    """What comes of it if the members of ``panel`` find ``own``, the last ones nothing."""
    each = [*own, *([] for _ in panel[len(own) :])]
    return agreement({0: lead}, [Reviewed(who, 0, tuple(it)) for who, it in zip(panel, each, strict=True)])


# --- the same finding -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other, same",
    [
        (found("the cache is never bound"), True),
        (found("the cache is never bound", 13), True),
        (found("the cache is never bound", 14), False),
        (found("the cache is never bound", 2, end_line=30), True),
        (found("the cache is never bound", path="src/b.py"), False),
        (replace(found("the cache is never bound"), removed=True), False),
        (found("password in a log"), False),
        (replace(found("password in a log"), id=found().id), True),
        (found("readCacheUnbound: grows"), True),
    ],
)
def test_findings_are_the_same_by_their_place_first_and_their_words_second(other: Finding, same: bool) -> None:
    assert is_same(found(), other) is is_same(other, found()) is same


# --- the executor's findings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raisers, because", [(0, "raised by 0 of 5 members"), (1, "raised by 1 of 5 members"), (2, "")]
)
def test_of_five_members_two_must_raise_a_finding_of_the_executor(raisers: int, because: str) -> None:
    (lead,) = agreed([found()], *([found(line=11)] for _ in range(raisers))).lead
    assert (lead.because, len(lead.by), lead.of) == (because, raisers, 5)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_under_five_members_nothing_is_folded(size: int) -> None:
    told = agreed([found()], panel=PANEL[:size])
    assert not told.few
    assert told.lead[0].words == f"raised by 0 of {size} members"


def test_members_without_findings_of_their_own_do_not_count_towards_the_five() -> None:
    four = [Reviewed(each, 0, ()) for each in PANEL[:4]]
    elsewhere = Reviewed(PANEL[4], 1, ())
    assert not agreement({0: [found()], 1: []}, [*four, elsewhere]).few
    assert agreement({0: [found()], 1: []}, [*four, elsewhere, Reviewed(PANEL[4], 0, ())]).few


@pytest.mark.parametrize("mark", [{"by_label": True}, {"by_path": True}])
def test_a_member_that_a_label_adds_does_not_make_a_council_of_five(mark: dict[str, Any]) -> None:
    labelled = replace(PANEL[4], **mark)
    assert not agreed([found()], panel=(*PANEL[:4], labelled)).few
    assert not agreed([found()], [], [], [], [found()], [], [found()], panel=(*PANEL, replace(labelled, id="f"))).few


@pytest.mark.parametrize(
    "member",
    [
        Advisor("security", "", on="finish"),
        Advisor("warden", "", on="finish", scopes=("secrets", "security")),
        Advisor("warden", "", on="finish", scopes=("Cache Bound",)),
    ],
)
def test_a_finding_within_its_raisers_lens_is_never_folded(member: Advisor) -> None:
    panel = (member, *PANEL[:4])
    lead = [found(category="security")]
    assert not agreed(lead, [found(line=11)], panel=panel).few
    assert not agreed([found()], [found(category="security", line=11)], panel=panel).few
    assert agreed(lead, [], [found(line=11)], panel=panel).few


# --- what only members find -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("members, most", [(2, 3), (5, 3), (7, 3), (8, 4), (10, 5), (12, 5), (13, 6)])
def test_five_in_twelve_members_must_raise_what_the_executor_does_not(members: int, most: int) -> None:
    assert adds_from(members) == most


@pytest.mark.parametrize("raisers, added", [(1, 0), (2, 0), (3, 1), (5, 1)])
def test_what_many_members_find_and_the_executor_does_not_is_added(raisers: int, added: int) -> None:
    told = agreed([], *([found(line=10 + at % 2)] for at in range(raisers)))
    assert (len(told.added), len(told.left)) == (added, 1 - added)
    assert (*told.added, *told.left)[0].words == f"raised by {raisers} of 5 members"


@pytest.mark.parametrize(
    "severity,blocks,posted",
    [("critical", False, True), ("high", False, True), ("low", True, True), ("medium", False, False)],
)
def test_what_is_grave_or_blocks_is_posted_though_few_raise_it(severity: Severity, blocks: bool, posted: bool) -> None:
    lead = found(severity=severity)
    told = agreed([lead])
    assert lead.id in told.few
    blocking = {lead.id} if blocks else set()
    (decided,) = postings((lead,), blocking, (), Narrowing(1, "thorough", 0, told.few))
    assert (decided.because == "") is posted


def test_what_members_add_is_ordered_by_severity_then_by_how_many_raise_it() -> None:
    low, few, many = found("aaa bbb", 40, "low"), found("ccc ddd", 60, "high"), found("eee fff", 80, "high")
    told = agreed([], [low, few, many], [low, few, many], [low, few, many], [low, many], [low])
    assert [(each.finding.line, len(each.by)) for each in told.added] == [(80, 4), (60, 3), (40, 5)]


@pytest.mark.every_case
def test_hundreds_of_findings_at_one_place_are_compared_like_a_few() -> None:
    """Each is compared with every other one there: their words are read once, and not for each comparison."""
    lead = [found(f"alpha{'x' * n} beta{'y' * n}", category=f"c{n}") for n in range(250)]
    own = [[found(f"gamma{'x' * n} delta{'y' * n}", category=f"{who}{n}") for n in range(250)] for who in "ab"]
    result = agreed(lead, *own)
    assert (len(result.lead), len(result.left)) == (250, 250)
    assert {each.by for each in result.left} == {tuple(sorted((PANEL[0].id, PANEL[1].id)))}


def test_findings_of_other_files_are_never_the_same() -> None:
    result = agreed([found()], [found(path="src/b.py")], [found(path="src/b.py")], [found()])
    assert [each.by for each in result.lead] == [(PANEL[2].id,)]
    assert [each.by for each in result.left] == [tuple(sorted((PANEL[0].id, PANEL[1].id)))]


def test_one_member_that_says_the_same_thing_often_counts_once() -> None:
    told = agreed([], [found(line=at) for at in (10, 11, 12)])
    assert [each.by for each in told.left] == [(ADR_ADVISOR.id,)]


# --- laws -------------------------------------------------------------------------------------------------------------

FINDINGS = st.builds(
    found,
    st.sampled_from([CACHE, "the cache is not bound", "password in a log", "no test"]),
    st.integers(1, 12),
    st.sampled_from(SEVERITIES),
    category=st.sampled_from(["correctness", "security"]),
)
LISTS = st.lists(FINDINGS, max_size=4)


@given(LISTS, st.lists(LISTS, min_size=2, max_size=5), st.data())
def test_every_finding_ends_posted_folded_or_told_of_its_members(
    lead: list[Finding], own: list[list[Finding]], data: st.DataObject
) -> None:
    """Of the executor's each is posted or has its reason; of a member's each is the same as one that is told."""
    told = agreed(lead, *own, panel=PANEL[: len(own)])
    every = merged(lead)
    assert {each.finding.id for each in told.lead} == {each.id for each in every}
    blocking = {each.id for each in every if data.draw(st.booleans())}
    decided = postings(every, blocking, (), Narrowing(1, "thorough", 0, told.few))
    assert {each.finding.id for each in decided} == {each.id for each in every}
    for each in decided:
        of_council = told.few.get(each.finding.id, "")
        grave = each.finding.severity in ("critical", "high") or each.finding.id in blocking
        assert each.because == ("" if grave else of_council)
        assert not of_council or len(own) >= 5
    for findings in own:
        for each_found in findings:
            homes = (*told.lead, *told.added, *told.left)
            assert any(is_same(home.finding, each_found) for home in homes)


@given(LISTS, st.lists(LISTS, min_size=5, max_size=5), st.permutations(range(5)))
def test_the_order_of_members_and_findings_does_not_matter(
    lead: list[Finding], own: list[list[Finding]], order: list[int]
) -> None:
    reviews = [Reviewed(who, 0, tuple(it)) for who, it in zip(PANEL, own, strict=True)]
    turned = [replace(reviews[at], findings=tuple(reversed(reviews[at].findings))) for at in order]
    assert agreement({0: lead}, reviews) == agreement({0: lead}, turned)
