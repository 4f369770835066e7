"""A state that our own account wrote and this bot did not: every workflow of a repository is github-actions[bot].

Each forgery stands in the summary comment as a genuine one would. Whatever it says, the next review reads everything,
what nobody dismissed is open, and nothing passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.agents.findings import finding_id
from review_advisor.change.change import Age, Earlier, FileChange, TouchedLines
from review_advisor.change.pull_request import MergeGroupEvent, Permission, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.memory import peoples_word
from review_advisor.github.state import (
    SUMMARY,
    KnownFinding,
    StandingComment,
    State,
    Whole,
    believed,
    external_id,
    read_state,
    seal,
    seal_in,
    state_block,
    vouched_by_word,
)
from review_advisor.mockworld.agents import approve, finding, reject
from review_advisor.mockworld.github_records import IssueComment
from review_advisor.mockworld.world import edited
from review_advisor.review.rulings import Outcome

KEYS = pytest.mark.parametrize("key", [None, b"k" * 32], ids=["without a key", "with a key"])
HOLE = finding(PATH, 7, "value = 7", "critical", title="seven is a hole")
HOLE_ID = finding_id(PATH, "correctness", "value = 7")
ODD = finding(PATH, 3, "value = 3", "low", title="three is odd")
ODD_ID = finding_id(PATH, "correctness", "value = 3")
TWICE = finding(PATH, 1, "same = 1", title="one of equal lines")
TWICE_ID = finding_id(PATH, "correctness", "same = 1")


NIT = finding(PATH, 9, "value = 9", "low", title="nine has no name")
REWORKED = Earlier(
    head_sha="",
    base_sha="",
    policy_digest="",
    complete=False,
    is_ancestor=False,
    paths=frozenset({PATH}),
    touched={PATH: (TouchedLines(9, 9, Age.REWORKED),)},
)
"""What git says of the push: line 9 took the place of another one."""


def many(state: State) -> Whole:
    """A hundred complete reviews of the same head."""
    assert state.whole is not None
    return state.whole.model_copy(update={"number": 100})


def places(count: int) -> FileChange:
    """The file with so many equal lines."""
    return edited(PATH, count, "same = 1")


@dataclass
class Scene:
    """A pull request that was reviewed once, and approved: the forger starts from its genuine state."""

    desk: Desk

    @property
    def genuine(self) -> State:
        assert self.desk.state is not None
        return self.desk.state

    @property
    def summary(self) -> IssueComment:
        return self.desk.summaries[0]

    def forges(self, **lies: Any) -> None:
        """A workflow puts another state into the summary, in the bot's name."""
        self.puts(f"{SUMMARY}\nApproved.\n\n{state_block(self.genuine.model_copy(update=lies))}")

    def puts(self, body: str) -> None:
        self.desk.github.edits(self.summary, by=BOT, body=body)

    def pushes(self) -> Begun:
        """The author pushes, and the bot begins."""
        self.desk.github.pushes(self.desk.pull, {PATH: LINES + "more = 1\n"})
        return self.begins("synchronize")

    def begins(self, action: str = "reopened") -> Begun:
        pull = self.desk.pull
        event = PullRequestEvent(action, REPOSITORY, pull.number, pull.head_sha, AUTHOR)
        return BeginPhase(self.desk.bot()).begin(event)

    def seen_by_the_review(self, begun: Begun) -> State | None:
        """What the job that reads the change believes, which holds no key: in the steps of ``pull_request_opening``."""
        comment = StandingComment(
            self.summary.id, self.summary.author, self.summary.body, self.summary.editor or "", "at some time"
        )
        state = read_state(comment, BOT)
        if state is None:
            return None
        found = vouched_by_word(begun.memory, comment.body)
        comments = self.desk.forge.comments(self.desk.pull.number)
        word = peoples_word(self.desk.forge, self.desk.rules, self.desk.pull.number, comments, state)
        return believed(state, found, word)

    def queue_passes(self) -> bool:
        """Whether a merge queue takes the head."""
        head = self.desk.pull.head_sha
        ref = f"refs/heads/gh-readonly-queue/main/pr-{self.desk.pull.number}-{head}"
        sha = self.desk.github.commits(REPOSITORY, ref.removeprefix("refs/heads/"), {}, by=AUTHOR)
        BeginPhase(self.desk.bot()).begin(MergeGroupEvent("checks_requested", REPOSITORY, sha, ref, "1" * 40))
        return [check.conclusion for check in self.desk.checks_on(sha)] == ["success"]


def scene(key: bytes | None) -> Scene:
    desk = Desk()
    desk.key = key
    desk.publish(desk.reviewed(approve(ODD)))
    return Scene(desk)


def dismissed(finding_id: str, severity: str = "critical") -> KnownFinding:
    return KnownFinding.model_validate(
        {"id": finding_id, "path": PATH, "line": 7, "title": "seven", "severity": severity, "status": "dismissed"}
        | {"reason": "it is meant", "by": MAINTAINER}
    )


def settled(state: State | None) -> list[str]:
    return [] if state is None else [each.id for each in state.findings if each.status == "dismissed"]


def replays_what_stood_before(scene: Scene) -> None:
    """The same head is reviewed again and a hole is found; the forger puts back what stood before."""
    before = scene.summary.body
    scene.desk.publish(scene.desk.reviewed(reject(HOLE)))
    scene.puts(before)


def replays_it_in_a_new_comment(scene: Scene) -> None:
    before = scene.summary.body
    scene.desk.publish(scene.desk.reviewed(reject(HOLE)))
    scene.desk.github.deletes_comment(scene.desk.pull, scene.summary)
    scene.desk.github.comments(scene.desk.pull, by=BOT, body=before)


def copies_another_pull_requests(scene: Scene) -> None:
    """A state that is genuine, of the same head in another pull request."""
    desk = scene.desk
    mine = desk.pull
    desk.pull = desk.github.opens(REPOSITORY, {}, by=AUTHOR, branch="same", sha=mine.head_sha)
    desk.publish(desk.reviewed(approve()))
    body = desk.summaries[0].body
    desk.github.closes(desk.pull)
    desk.pull = mine
    scene.puts(body)


def copies_another_repositorys(scene: Scene) -> None:
    """The same key, pull request, comment and time, in another repository: its seal is of that one."""
    lie = scene.genuine.model_copy(update={"findings": (dismissed(HOLE_ID),)})
    scene.puts(f"{SUMMARY}\n\n{state_block(lie)}")
    (comment,) = [each for each in scene.desk.forge.comments(scene.desk.pull.number) if each.id == scene.summary.id]
    marks(scene, seal(scene.desk.key, "acme/other", scene.desk.pull.number, lie, comment))


def marks(scene: Scene, mark: str) -> None:
    """Somebody with a token that writes checks gives ours another seal."""
    for check in scene.desk.checks:
        check.external_id = external_id(scene.desk.pull.number, "", mark)


FORGERIES: dict[str, Callable[[Scene], None]] = {
    "dismisses a hole that is not found yet": lambda scene: scene.forges(findings=(dismissed(HOLE_ID),)),
    "says that all was read at an earlier head": lambda scene: scene.forges(complete=True, findings=()),
    "says that a finding is fixed": lambda scene: scene.forges(
        findings=tuple(each.model_copy(update={"status": "fixed"}) for each in scene.genuine.findings)
    ),
    "says that there were many complete reviews": lambda scene: scene.forges(whole=many(scene.genuine)),
    "says that other runs and attempts are used": lambda scene: scene.forges(rounds=3, fix_attempts=9),
    "replays what stood before": replays_what_stood_before,
    "replays it in a new comment": replays_it_in_a_new_comment,
    "copies the state of another pull request": copies_another_pull_requests,
    "copies the state of another repository": copies_another_repositorys,
    "puts two states into one comment": lambda scene: scene.puts(
        f"{scene.summary.body}\n{state_block(scene.genuine.model_copy(update={'findings': (dismissed(HOLE_ID),)}))}"
    ),
}


@pytest.mark.one_in(5)
@KEYS
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_state_saves_no_reading_and_settles_nothing(forgery: str, key: bytes | None) -> None:
    stage = scene(key)
    FORGERIES[forgery](stage)
    begun = stage.pushes()
    assert begun.review
    assert begun.memory == ""
    seen = stage.seen_by_the_review(begun)
    assert seen is None or (seen.complete, settled(seen)) == (False, [])
    stage.desk.publish(stage.desk.reviewed(reject(HOLE, ODD)))
    assert [check.conclusion for check in stage.desk.checks] == ["failure"]
    assert HOLE_ID in stage.desk.summaries[0].body
    assert stage.desk.state is not None
    assert {each.id: each.status for each in stage.desk.state.findings}[HOLE_ID] == "open"


@pytest.mark.one_in(5)
@KEYS
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_state_that_nobody_vouches_for_narrows_nothing(forgery: str, key: bytes | None) -> None:
    """The second review holds a nit on a reworked line back; with a forged state it is a first one again."""
    for forged in (False, True):
        stage = scene(key)
        if forged:
            FORGERIES[forgery](stage)
        begun = stage.pushes()
        seen = stage.seen_by_the_review(begun)
        assert (seen is not None and seen.whole is not None) is not forged
        stage.desk.world.source.stated = replace(stage.desk.world.source.stated, earlier=REWORKED)
        threads = len(stage.desk.threads)
        stage.desk.publish(stage.desk.reviewed(approve(ODD, NIT)))
        assert len(stage.desk.threads) == threads + forged
        held = "posts nothing low on reworked lines" in stage.desk.summaries[0].body
        assert held is not forged


@KEYS
def test_a_genuine_state_is_believed(key: bytes | None) -> None:
    """What the forgeries are held against: without one the next push is a delta."""
    stage = scene(key)
    begun = stage.pushes()
    assert begun.memory.startswith("noted-" if key is None else "signed-")
    seen = stage.seen_by_the_review(begun)
    assert seen == stage.genuine
    assert seen.complete


@KEYS
def test_a_state_that_is_changed_after_begin_saw_it_is_not_believed(key: bytes | None) -> None:
    stage = scene(key)
    begun = stage.pushes()
    stage.forges(findings=(dismissed(HOLE_ID),))
    seen = stage.seen_by_the_review(begun)
    assert seen is not None
    assert (seen.complete, settled(seen)) == (False, [])


@KEYS
@pytest.mark.parametrize("word", ["signed-", "noted-", "signed-" + "0" * 64, "signed", "reviewed-" + "0" * 64, "x"])
def test_a_word_that_begin_did_not_say_vouches_for_nothing(key: bytes | None, word: str) -> None:
    stage = scene(key)
    assert vouched_by_word(word, stage.summary.body) == ""


@KEYS
def test_a_forged_count_makes_the_bot_wait_and_passes_nothing(key: bytes | None) -> None:
    stage = scene(key)
    stage.forges(rounds=99)
    assert not stage.pushes().review
    assert [check.conclusion for check in stage.desk.checks] == ["action_required"]
    assert stage.desk.hears(MAINTAINER, "/advisor review").review


# --- with a token that writes checks ---------------------------------------------------------------------------------


def lie_with_a_seal(stage: Scene, key: bytes | None) -> None:
    """The forger computes the seal of their state, as far as they can, and puts it on our check."""
    lie = stage.genuine.model_copy(update={"complete": True, "findings": (dismissed(HOLE_ID),)})
    stage.puts(f"{SUMMARY}\n\n{state_block(lie)}")
    (comment,) = [each for each in stage.desk.forge.comments(stage.desk.pull.number) if each.id == stage.summary.id]
    marks(stage, seal(key, REPOSITORY, stage.desk.pull.number, lie, comment))


@pytest.mark.parametrize("guess", [None, b"g" * 32], ids=["a seal without a key", "another key"])
def test_with_a_key_nobody_else_can_seal(guess: bytes | None) -> None:
    stage = scene(b"k" * 32)
    lie_with_a_seal(stage, guess)
    begun = stage.pushes()
    assert begun.memory == ""
    seen = stage.seen_by_the_review(begun)
    assert seen is not None
    assert (seen.complete, settled(seen)) == (False, [])


def test_with_a_key_an_old_seal_and_its_state_put_back_together_do_not_count() -> None:
    """The time of a comment's last edit is GitHub's: it cannot be put back."""
    stage = scene(b"k" * 32)
    before, mark = stage.summary.body, seal_in(stage.desk.checks[0].external_id)
    stage.desk.publish(stage.desk.reviewed(reject(HOLE)))
    stage.puts(before)
    marks(stage, mark)
    assert stage.pushes().memory == ""


def test_without_a_key_whoever_writes_our_check_can_seal_but_dismisses_nothing() -> None:
    """They could make the check pass as well; what people dismissed is still held against people's comments."""
    stage = scene(None)
    lie_with_a_seal(stage, None)
    begun = stage.pushes()
    assert begun.memory.startswith("noted-")
    assert settled(stage.seen_by_the_review(begun)) == []


# --- people's word ----------------------------------------------------------------------------------------------------


def dismissing(stage: Scene, login: str, body: str = f"/advisor dismiss {HOLE_ID} it is meant") -> IssueComment:
    return stage.desk.github.comments(stage.desk.pull, by=login, body=body)


def by_its_author(stage: Scene) -> None:
    dismissing(stage, AUTHOR)


def by_a_stranger(stage: Scene) -> None:
    dismissing(stage, "eve")


def by_somebody_who_may_only_triage(stage: Scene) -> None:
    stage.desk.github.grants(REPOSITORY, "tom", Permission.TRIAGE)
    dismissing(stage, "tom")


def in_an_edited_comment(stage: Scene) -> None:
    comment = dismissing(stage, MAINTAINER, "Looks good.")
    stage.desk.github.edits(comment, by="eve", body=f"/advisor dismiss {HOLE_ID} it is meant")


def of_another_finding(stage: Scene) -> None:
    dismissing(stage, MAINTAINER, f"/advisor dismiss {ODD_ID} it is meant")


def in_a_quote(stage: Scene) -> None:
    dismissing(stage, MAINTAINER, f"> /advisor dismiss {HOLE_ID} it is meant")


def by_the_bots_own_account(stage: Scene) -> None:
    dismissing(stage, BOT)


def in_a_comment_that_is_gone(stage: Scene) -> None:
    stage.desk.github.deletes_comment(stage.desk.pull, dismissing(stage, MAINTAINER))


NO_WORD = [
    *(by_its_author, by_a_stranger, by_somebody_who_may_only_triage, in_an_edited_comment, of_another_finding),
    *(in_a_quote, by_the_bots_own_account, in_a_comment_that_is_gone),
]


@KEYS
@pytest.mark.parametrize("said", NO_WORD)
def test_what_nobody_with_a_say_dismissed_is_open(said: Callable[[Scene], None], key: bytes | None) -> None:
    stage = scene(key)
    stage.forges(findings=(dismissed(HOLE_ID),))
    said(stage)
    assert settled(stage.seen_by_the_review(stage.pushes())) == []


@KEYS
def test_what_a_maintainer_dismissed_stays_dismissed_though_no_check_vouches_for_it(key: bytes | None) -> None:
    """In their own words: whoever forges the state cannot give them others."""
    stage = scene(key)
    dismissing(stage, MAINTAINER, f"/advisor dismiss {HOLE_ID} it is a test")
    stage.forges(findings=(dismissed(HOLE_ID).model_copy(update={"by": "eve", "reason": "because"}),))
    seen = stage.seen_by_the_review(stage.pushes())
    assert seen is not None
    assert [(each.status, each.by, each.reason) for each in seen.findings] == [
        ("dismissed", MAINTAINER, "it is a test")
    ]


@KEYS
@pytest.mark.parametrize("first", ["the dismissal", "the forgery"])
def test_a_forged_number_of_places_does_not_stretch_a_dismissal_to_other_lines(first: str, key: bytes | None) -> None:
    """A maintainer dismisses a finding in two places, and a push makes five of them."""
    stage = scene(key)
    stage.desk.publish(stage.desk.reviewed(reject(TWICE), files=(places(2),)))

    def dismisses() -> None:
        stage.desk.hears(MAINTAINER, f"/advisor dismiss {TWICE_ID} it is meant")

    def forges() -> None:
        told = tuple(each.model_copy(update={"occurrences": 5}) for each in stage.genuine.findings)
        stage.forges(findings=told)

    for happens in (dismisses, forges) if first == "the dismissal" else (forges, dismisses):
        happens()
    stage.pushes()
    stage.desk.publish(stage.desk.reviewed(reject(TWICE), files=(places(5),)))
    assert {each.id: each.status for each in stage.genuine.findings}[TWICE_ID] == "open"


@KEYS
def test_a_dismissal_holds_while_the_places_stay(key: bytes | None) -> None:
    """What the forged number is held against."""
    stage = scene(key)
    stage.desk.publish(stage.desk.reviewed(reject(TWICE), files=(places(2),)))
    stage.desk.hears(MAINTAINER, f"/advisor dismiss {TWICE_ID} it is meant")
    stage.pushes()
    stage.desk.publish(stage.desk.reviewed(reject(TWICE), files=(places(2),)))
    assert {each.id: each.status for each in stage.genuine.findings}[TWICE_ID] == "dismissed"


@KEYS
def test_a_dismissal_that_the_bot_wrote_down_is_believed_at_the_next_push(key: bytes | None) -> None:
    stage = scene(key)
    stage.desk.hears(MAINTAINER, f"/advisor dismiss {ODD_ID} it is meant")
    begun = stage.pushes()
    assert begun.memory != "", "the check vouches for the summary as it is now"
    seen = stage.seen_by_the_review(begun)
    assert seen is not None
    assert (seen.complete, settled(seen)) == (True, [ODD_ID])


# --- a state grants no pass -------------------------------------------------------------------------------------------


@KEYS
def test_a_claimed_approval_passes_nothing_and_is_not_repeated(key: bytes | None) -> None:
    stage = scene(key)
    stage.desk.publish(stage.desk.reviewed(reject(HOLE)))
    stage.forges(outcome=Outcome.ESCALATED, approved_by=MAINTAINER)
    stage.begins()
    assert [check.conclusion for check in stage.desk.checks] == [None]
    stage.desk.publish(stage.desk.reviewed(reject(HOLE)))
    assert [check.conclusion for check in stage.desk.checks] == ["failure"]
    assert "Overridden by" not in stage.desk.summaries[0].body


@KEYS
def test_a_claimed_escalation_cannot_be_approved(key: bytes | None) -> None:
    """A draft's check asks for a person too: nobody has reviewed it."""
    desk = Desk()
    desk.key = key
    desk.pull.draft = True
    event = PullRequestEvent("opened", REPOSITORY, desk.pull.number, desk.pull.head_sha, AUTHOR)
    BeginPhase(desk.bot()).begin(event)
    lie = state_of(desk, outcome="escalated")
    desk.github.comments(desk.pull, by=BOT, body=f"{SUMMARY}\n\n{state_block(lie)}")
    said = desk.hears(MAINTAINER, f"/advisor override {desk.pull.head_sha} looked at it").because
    assert "It is not known against which base branch" in said
    assert [check.conclusion for check in desk.checks] == ["action_required"]


def state_of(desk: Desk, **lies: Any) -> State:
    other = Desk()
    other.publish(other.reviewed(approve()))
    assert other.state is not None
    return State.model_validate(other.state.model_dump() | {"head_sha": desk.pull.head_sha} | lies)


@KEYS
def test_a_claimed_base_branch_lets_no_merge_queue_go_on(key: bytes | None) -> None:
    """Reviewed against another base branch, retargeted, and the new base forged into the state."""
    desk = Desk()
    desk.key = key
    desk.github.commits(REPOSITORY, "evil", {PATH: LINES}, by=AUTHOR)
    desk.github.retargets(desk.pull, "evil")
    desk.publish(desk.reviewed(approve()))
    desk.github.retargets(desk.pull, "main")
    stage = Scene(desk)
    assert not stage.queue_passes()
    stage.forges(base_ref="main")
    assert [check.conclusion for check in desk.checks] == ["success"]
    assert not stage.queue_passes()


@KEYS
def test_a_genuine_review_passes_the_merge_queue_also_after_people_spoke(key: bytes | None) -> None:
    stage = scene(key)
    assert stage.queue_passes()
    stage.desk.hears(MAINTAINER, f"/advisor dismiss {ODD_ID} it is meant")
    assert stage.queue_passes()
