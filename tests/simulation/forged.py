"""Played reviews, forged: as they happened, but for one thing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from review_advisor.agents.calls import Answered
from review_advisor.agents.evidence import CheckedReport
from review_advisor.change.change import FileChange
from review_advisor.change.picture_pairs import PictureState
from review_advisor.mockworld.agents import Advice, PlayedCall
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.mockworld.stage import PlayedReview, play
from review_advisor.mockworld.story import Story
from review_advisor.policy.risk import Blast, BlastRadius
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import FileCoverage, OutcomeDocument
from review_advisor.review.events import (
    Event,
    KnowledgeStored,
    PolicyFrozen,
    Repaired,
    Reported,
    RoleSkipped,
    SurfaceEnded,
    Verified,
)
from review_advisor.review.rulings import Outcome

NOTED = {"path": "src/app.py", "line": 1, "evidence": "value = 1", "severity": "low"}
NO = {"says": "reject", "findings": [NOTED]}
OWN = [{"path": ".claude/agents/x.md", "added": 3}]


def told(
    review: dict[str, Any] | None = None,
    files: list[dict[str, Any]] | None = None,
    pictures: list[dict[str, Any]] | None = None,
    **story: Any,
) -> PlayedReview:
    """A review as it really happens."""
    push = {"files": files or [{"path": "src/app.py", "added": 30}], "pictures": pictures or []}
    steps: list[dict[str, Any]] = [{"push": push}] if files is not None or pictures is not None else []
    whole = {"story": "a lie", "loose": True, **story, "steps": [*steps, {"review": review or {}}]}
    return play(Story.model_validate(whole)).reviews[0]


def document(review: PlayedReview, **changes: Any) -> PlayedReview:
    """The same review with another document."""
    assert review.document is not None
    return replace(review, document=replace(review.document, **changes))


def half_read() -> tuple[FileCoverage, ...]:
    """The coverage of a review that read all of its file, said to be partly read."""
    review = told()
    assert review.document is not None
    return tuple(replace(each, read="partly", why="too long") for each in review.document.coverage)


def in_two_parts() -> tuple[Event, ...]:
    """The events of a review of one part, said to be of two."""
    first, *others = told().events
    assert isinstance(first, PolicyFrozen)
    return (replace(first, shards=2), *others)


def approved(review: PlayedReview) -> PlayedReview:
    """The same review, said to be approved."""
    lied = document(review, outcome=Outcome.APPROVED, exit_code=0)
    return replace(lied, ended="approved", exit_code=0)


def flagged(review: PlayedReview, **flags: Any) -> PlayedReview:
    kept: OutcomeDocument | None = review.document
    assert kept is not None
    return document(review, flags=replace(kept.flags, **flags))


def calls(review: PlayedReview, change: Callable[[PlayedCall], PlayedCall]) -> PlayedReview:
    """The same review, each of its calls changed."""
    return replace(review, asked=tuple(change(asked) for asked in review.asked))


def call(asked: PlayedCall, **changes: Any) -> PlayedCall:
    return replace(asked, call=replace(asked.call, **changes))


def prompts(review: PlayedReview, old: str, new: str) -> PlayedReview:
    """The same review, in whose prompts some words are others."""
    assert any(old in asked.call.prompt for asked in review.asked)
    return calls(review, lambda asked: call(asked, blocks=(asked.call.prompt.replace(old, new),)))


def role(review: PlayedReview, who: Role) -> PlayedCall:
    return next(asked for asked in review.asked if asked.call.role is who)


def again(review: PlayedReview, who: Role, times: int, **changes: Any) -> PlayedReview:
    """The same review, in which a role was asked more often."""
    extra = tuple(call(role(review, who), **changes) for _ in range(times))
    return replace(review, asked=(*review.asked, *extra))


def consulting(review: PlayedReview, *advice: Advice) -> PlayedReview:
    """The same review, whose executor consulted more."""
    return calls(review, lambda a: replace(a, advice=[*a.advice, *advice]) if a.call.role is Role.EXECUTOR else a)


def answering(review: PlayedReview, who: Role, **answer: Any) -> PlayedReview:
    """The same review, in which a role said something else."""

    def other(asked: PlayedCall) -> PlayedCall:
        if asked.call.role is not who or not isinstance(asked.result, Answered):
            return asked
        return replace(asked, result=replace(asked.result, value={**asked.result.value, **answer}))

    return calls(review, other)


def vetoed() -> PlayedReview:
    lines = {"executor": [{"says": "approve"}, {"says": "approve", "findings": [NOTED]}]}
    return told({**lines, "post_verify": [{"says": "veto", "reasoning": "it breaks twice"}]})


def tier(review: PlayedReview, radius: BlastRadius) -> PlayedReview:
    assert review.document is not None
    return document(review, policy=replace(review.document.policy, blast=Blast(radius, ("because",))))


def unverified_idle_retry() -> PlayedReview:
    review = told()
    return replace(review, asked=(*review.asked, *(call(a, attempt=1) for a in review.asked[1:])))


def reported_backwards() -> PlayedReview:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    report = CheckedReport("approve", "fine", 1.0)
    surfaces = (Surface.ADR_REVIEW, Surface.PR_REVIEW)
    return replace(told(), events=tuple(Reported(at=at, surface=each, report=report) for each in surfaces))


def without_reasons() -> PlayedReview:
    review = told({}, switches={"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "off"})
    events = (replace(event, because=()) if isinstance(event, RoleSkipped) else event for event in review.events)
    return replace(review, events=tuple(events))


def handed_back_twice() -> PlayedReview:
    review = told({"executor": [NO], "post_verify": [{"says": "veto"}]})
    pair = review.asked[1:3]
    return replace(review, asked=(*pair, *pair, *pair))


def vetoed_once() -> tuple[PlayedCall, ...]:
    return told({"executor": [NO], "post_verify": ["veto"]}).asked[:3]


def guidance_forgotten() -> PlayedReview:
    asks = [{"says": "approve", "asks": ["May one repeat?"]}, {"says": "approve", "findings": [NOTED]}]
    return prompts(told({"executor": asks, "post_verify": ["veto"]}), "May one repeat?", "")


def mended(**edit: Any) -> PlayedReview:
    """A vetoed approval that comes back with a repair, and is confirmed."""
    again = {"says": "approve", "edits": [{"path": "src/app.py", **edit}]}
    return told({"executor": ["approve", again], "post_verify": ["veto"]})


def refused_honest() -> PlayedReview:
    review = mended()
    events = (replace(each, result="refused") if isinstance(each, Repaired) else each for each in review.events)
    return replace(review, events=tuple(events))


def reported(review: PlayedReview, **changes: Any) -> PlayedReview:
    """The same review, whose reports were recorded differently."""
    events = (
        replace(each, report=replace(each.report, **changes)) if isinstance(each, Reported) else each
        for each in review.events
    )
    return replace(review, events=tuple(events))


def quoting(**changes: Any) -> PlayedReview:
    """A review with a finding, which was recorded differently."""
    review = told({"executor": [{"findings": [NOTED]}]})
    (kept,) = (finding for each in review.events if isinstance(each, Reported) for finding in each.report.findings)
    return reported(review, findings=(replace(kept, **changes),))


def offering(patch: str) -> PlayedReview:
    return replace(mended(), files={"repair.patch": patch})


def pictured(state: PictureState, lied: PictureState | None = None) -> PlayedReview:
    review = told(pictures=[{"name": "shots/a.png", "state": state}])
    return replace(review, pictures=tuple(replace(each, state=lied or state) for each in review.pictures))


def learned() -> PlayedReview:
    """A review that leaves a page in the wiki."""
    entry = {"title": "Values are numbers", "path": "src/app.py", "evidence": "value = 1"}
    review = told({"executor": [{"says": "approve", "knowledge": [entry]}]}, config={"wiki_folder": "docs/wiki"})
    assert review.wiki
    return review


def ungated() -> PlayedReview:
    review = learned()
    return replace(review, events=tuple(event for event in review.events if not isinstance(event, Verified)))


def approved_as_proposal() -> PlayedReview:
    review = learned()
    events = (replace(e, proposal=True) if isinstance(e, KnowledgeStored) else e for e in review.events)
    return replace(review, events=tuple(events))


def decided_by_knowledge() -> PlayedReview:
    review = learned()
    events = (replace(e, outcome=Outcome.ESCALATED) if isinstance(e, SurfaceEnded) else e for e in review.events)
    return replace(review, events=tuple(events))


def wiki_of_an_escalation() -> PlayedReview:
    return replace(told({"post_verify": ["veto", "veto"], "executor": ["approve"]}), wiki={"a.md": "a fact"})


def from_before(mark: str) -> Reading:
    """A review that was shown something of the one before."""
    earlier = told()
    now = replace(told(), number=2, run_id="run-2", nonce="nonce0002")
    clean = calls(
        now, lambda a: call(a, blocks=(a.call.prompt.replace("nonce0001", "nonce0002").replace("run-1", "run-2"),))
    )
    shown = calls(clean, lambda a: call(a, blocks=(f"{a.call.prompt}\n{mark}",))) if mark else clean
    return Reading(shown, (earlier,))


def read(review: PlayedReview) -> Reading:
    return Reading(review)


def misreported(review: PlayedReview, words: str, instead: str) -> Reading:
    """The review with other words in what a person would read of it."""
    reading = Reading(review)
    assert words in reading.report
    reading.report = reading.report.replace(words, instead)
    return reading


def grant(review: PlayedReview) -> Any:
    return role(review, Role.EXECUTOR).call.consults


def lost_judge(**story: Any) -> PlayedReview:
    return told({"post_verify": ["crash"]}, **story)


def other_file(review: PlayedReview, file: FileChange) -> PlayedReview:
    return replace(review, change=replace(review.change, files=(*review.change.files, file)))


def patch_of(path: str, *facts: str, lines: int = 1) -> str:
    added = [f"+x = {number}" for number in range(lines)]
    head = [f"diff --git a/{path} b/{path}", *facts, f"--- a/{path}", f"+++ b/{path}", f"@@ -1,0 +1,{lines} @@"]
    return "\n".join([*head, *added]) + "\n"


HONEST = patch_of("src/app.py")
FORBIDDEN = {
    "a guarded path": patch_of(".github/workflows/ci.yml"),
    "an instruction": patch_of("src/CLAUDE.md"),
    "outside": patch_of("src/other.py"),
    "a link": patch_of("src/app.py", "old mode 100644", "new mode 120000"),
    "a new link": patch_of("tests/test_x.py", "new file mode 120000"),
    "a submodule": patch_of("tests/test_x", "new file mode 160000"),
    "a mode": patch_of("src/app.py", "old mode 100644", "new mode 100755"),
    "a deletion": patch_of("src/app.py", "deleted file mode 100644"),
    "too many lines": patch_of("src/app.py", lines=401),
    "too many files": "".join(patch_of(f"tests/test_{n}.py") for n in range(11)),
    "nothing": "",
}


def again_late() -> PlayedReview:
    review = told()
    late = replace(role(review, Role.POST_VERIFY), at=review.asked[0].at + 1_800)
    return replace(review, asked=(*review.asked[:2], late))
