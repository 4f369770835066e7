"""Lives of pull requests on the simulated GitHub: what stands there keeps its promises, and a lie is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.forged import NOTED

from review_advisor.mockworld.github_page import pull_page
from review_advisor.mockworld.promises.on_github import PROMISES_ON_GITHUB, After, afters, broken_on_github
from review_advisor.mockworld.seeds import PUBLISHED, story_of
from review_advisor.mockworld.snapshot import DiffComment, Snapshot
from review_advisor.mockworld.stage import PlayedStory, play
from review_advisor.mockworld.story import Story
from review_advisor.review.events import Escalated

REJECTS = {"review": {"executor": [{"says": "reject", "findings": [NOTED]}]}}
MOVES = {"push": {"files": [{"path": "src/app.py", "added": 4}]}}
DRAFT = {"pending": {"by": "grace"}}


def played(*steps: Any) -> PlayedStory:
    return play(Story.model_validate({"story": "a life", "loose": True, "steps": list(steps)}))


def last(*steps: Any) -> After:
    """The last step of a life, and what stands after it."""
    return list(afters(played(*steps)))[-1]


def test_who_asks_for_a_consult_gets_it_in_the_review_of_this_head_and_in_no_other() -> None:
    asks = {"comment": {"by": "grace", "may": "write", "says": "/advisor consult"}}
    steps = [{"push": {}}, "review", asks, "review", MOVES, "review"]
    told = {"story": "a life", "loose": True, "config": {"escalation": "attrition"}, "steps": steps}
    reviews = play(Story.model_validate(told)).reviews
    escalated = [[e for e in each.events if isinstance(e, Escalated)] for each in reviews]
    assert [[reason.kind.value for e in its for reason in e.reasons] for its in escalated] == [[], ["explicit"], []]


def standing(after: After, **changes: Any) -> After:
    """The same step, after which something else stands."""
    return replace(after, stands=replace(after.stands, **changes))


def concluded(after: After, conclusion: str | None, status: str = "completed") -> After:
    """The same step, whose check is another one."""
    run = replace(after.stands.checks[0], conclusion=conclusion, status=status)
    return standing(after, checks=(run,))


REJECTED = last(REJECTS)
AGAIN = last(REJECTS, "publish")
DRAFTED = last(REJECTS, DRAFT, "review")
MILD = {"path": "src/app.py", "line": 3, "evidence": "value = 3", "severity": "low", "title": "three is odd"}
HELD = last(
    "review",
    {"push": {"files": [{"path": "src/app.py", "added": 30}, {"path": "src/new.py", "added": 4}]}},
    {"review": {"executor": [{"says": "approve", "findings": [MILD]}]}},
)


def posted() -> After:
    """What was held back has a comment."""
    assert HELD.told is not None
    (finding,) = HELD.told[1].findings
    return standing(HELD, comments=(DiffComment(finding.id, finding.path, finding.line, finding.title, "open"),))


SHADOWED = last({"mode": "shadow"}, "push", REJECTS)
LIES: dict[str, tuple[After, Callable[[], After]]] = {
    "one_check_concludes_the_head": (REJECTED, lambda: concluded(REJECTED, "action_required")),
    "nothing_passes_that_was_not_approved": (REJECTED, lambda: concluded(REJECTED, "success")),
    "one_summary_stands": (REJECTED, lambda: standing(REJECTED, summaries=REJECTED.stands.summaries * 2)),
    "every_finding_is_said": (REJECTED, lambda: standing(REJECTED, summaries=("",), comments=())),
    "a_finding_is_said_once": (REJECTED, lambda: standing(REJECTED, comments=REJECTED.stands.comments * 2)),
    "nothing_milder_than_the_round_allows_is_posted": (HELD, posted),
    "a_person_is_called_to_an_escalation_alone": (
        REJECTED,
        lambda: standing(REJECTED, labels=frozenset({"needs-human-review"})),
    ),
    "publishing_again_writes_nothing": (AGAIN, lambda: standing(AGAIN, answers=("again",))),
    "nobody_elses_draft_is_touched": (DRAFTED, lambda: standing(DRAFTED, pending=frozenset())),
    "a_shadow_check_says_what_would_have_been": (SHADOWED, lambda: concluded(SHADOWED, "failure")),
    "nothing_else_is_written_in_shadow_mode": (SHADOWED, lambda: standing(SHADOWED, labels=frozenset({"wrong"}))),
    "the_memory_is_of_the_last_review": (REJECTED, lambda: standing(REJECTED, memory=last("review").stands.memory)),
}
BY_NAME = {promise.__name__: promise for promise in PROMISES_ON_GITHUB}


def test_every_promise_about_github_has_its_lie() -> None:
    assert sorted(LIES) == sorted(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_lie_about_what_stands_on_github_is_caught(name: str) -> None:
    truth, lie = LIES[name]
    assert list(BY_NAME[name](truth)) == []
    assert list(BY_NAME[name](lie()))


REWORKED = {"push": {"files": [{"path": "src/app.py", "added": 30, "text": "value = one({n})"}]}}
AGAIN_REWORKED = {"push": {"files": [{"path": "src/app.py", "added": 30, "text": "value = two({n})"}]}}
ODD = {"path": "src/app.py", "line": 3, "title": "three is odd"}


@pytest.mark.parametrize(
    "before, text, severity, allowed",
    [
        ((), "value = 3", "low", True),
        (("review", REWORKED), "value = one(3)", "low", False),
        (("review", REWORKED), "value = one(3)", "medium", True),
        (("review", REWORKED, "review", AGAIN_REWORKED), "value = two(3)", "medium", False),
        (("review", REWORKED, "review", AGAIN_REWORKED), "value = two(3)", "high", True),
    ],
)
def test_a_comment_that_is_milder_than_its_round_allows_is_caught(
    before: tuple[Any, ...], text: str, severity: str, allowed: bool
) -> None:
    found = {**ODD, "evidence": text, "severity": severity}
    after = last(*before, {"review": {"executor": [{"says": "approve", "findings": [found]}]}})
    assert after.told is not None
    (finding,) = after.told[1].findings
    said = standing(after, comments=(DiffComment(finding.id, finding.path, finding.line, finding.title, "open"),))
    assert bool(list(BY_NAME["nothing_milder_than_the_round_allows_is_posted"](said))) is not allowed
    assert [each.finding for each in after.stands.comments] == ([finding.id] if allowed else [])


def test_a_comment_of_low_confidence_is_caught() -> None:
    after = last({"review": {"executor": [{"says": "approve", "findings": [{**MILD, "confidence": 0.5}]}]}})
    assert after.told is not None
    (finding,) = after.told[1].findings
    said = standing(after, comments=(DiffComment(finding.id, finding.path, finding.line, finding.title, "open"),))
    assert list(BY_NAME["nothing_milder_than_the_round_allows_is_posted"](said))


def test_a_check_that_a_review_leaves_in_progress_is_caught() -> None:
    lie = concluded(REJECTED, None, "in_progress")
    assert list(BY_NAME["one_check_concludes_the_head"](lie))


@pytest.mark.every_case
@pytest.mark.parametrize("first", [1, 501])
def test_the_page_of_every_life_can_be_drawn(first: int) -> None:
    for seed in range(first, first + 150):
        if (story := story_of(seed)).published:
            life = play(story)
            assert f"#{life.pull.number} · " in pull_page(life.github, life.pull)


@pytest.mark.parametrize(
    "steps, state", [(["push"], "In progress"), (["push", {"close": {"merged": False}}], "Closed")]
)
def test_the_page_of_a_life_shows_a_check_that_has_not_ended(steps: list[Any], state: str) -> None:
    life = played(*steps)
    assert state in pull_page(life.github, life.pull)


def test_html_that_people_write_is_shown_as_text() -> None:
    body = "<script>x</script> and <b>this</b>"
    told = {"story": "html", "loose": True, "pull_request": {"body": body}}
    life = play(Story.model_validate({**told, "steps": ["push", {"comment": {"says": body}}]}))
    page = pull_page(life.github, life.pull)
    assert page.count("&lt;script&gt;x&lt;/script&gt;") == 2
    assert "<script" not in page


def test_a_second_comment_beside_one_that_stands_is_caught_though_it_is_outdated() -> None:
    (said,) = AGAIN.stands.comments
    twice = standing(AGAIN, comments=(said, replace(said, state="outdated")))
    assert list(BY_NAME["a_finding_is_said_once"](AGAIN)) == []
    assert list(BY_NAME["a_finding_is_said_once"](twice))


def test_a_fifth_of_the_seeded_worlds_are_lives() -> None:
    lives = sum(story_of(seed).published for seed in range(1, 501))
    assert abs(lives / 500 - PUBLISHED) < 0.05


@pytest.mark.one_in(10)
@pytest.mark.parametrize("first", [*range(1, 251, 50), *range(1_001, 1_251, 50)])
def test_what_seeded_worlds_leave_on_github_breaks_no_promise(first: int) -> None:
    lives = [story for seed in range(first, first + 50) if (story := story_of(seed)).published]
    broken = {story.story: broken_on_github(play(story)) for story in lives}
    assert {seed: its for seed, its in broken.items() if its} == {}


@pytest.mark.every_case
def test_seeded_lives_hold_everything_that_can_happen() -> None:
    kinds = {step.kind for seed in range(1, 1_001) if (story := story_of(seed)).published for step in story.steps}
    assert kinds == {
        "push", "force_push", "rename", "review", "publish", "comment", "command", "label", "react", "resolve",
        "pending", "queue", "close", "switches",
    }  # fmt: skip


def test_a_finding_gets_its_comment_on_the_line() -> None:
    (said,) = REJECTED.stands.comments
    assert (said.path, said.line, said.state) == ("src/app.py", 1, "open")


def test_a_review_of_a_head_that_moved_is_cancelled_there_and_says_nothing() -> None:
    found = last({"review": {"executor": [{"says": "approve", "meanwhile": MOVES}]}})
    assert found.step.review is not None
    assert found.step.review.stale
    assert [run.conclusion for run in found.stands.checks_on(found.step.head)] == ["cancelled"]
    assert found.stands.summaries == ()


def test_the_reviews_of_one_story_share_their_pull_request() -> None:
    twice = played(REJECTS, MOVES, "review")
    assert broken_on_github(twice) == ()
    after: list[Snapshot] = [step.stands for step in twice.steps if step.review is not None and step.stands is not None]
    assert [len(each.summaries) for each in after] == [1, 1]
    assert [each.check_on(each.head) for each in after] == ["failure", "success"]


def test_a_story_that_is_not_published_leaves_nothing_on_github() -> None:
    story = play(Story.model_validate({"story": "no bot", "published": False, "steps": [REJECTS, MOVES, "review"]}))
    assert [step.stands for step in story.steps] == [None, None, None]
    assert story.github.traffic.log == []
    assert broken_on_github(story) == ()
