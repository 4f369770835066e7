"""Each complete review posts less on the diff. What it does not post it tells, and no verdict depends on it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.scenarios.publishing import LINES, PATH, REPOSITORY, Desk

from review_advisor.agents.answers import SEVERITIES
from review_advisor.agents.calls import LostReason
from review_advisor.change.change import Age, Earlier, Touched, TouchedLines
from review_advisor.github.state import without_state
from review_advisor.github.threads import MOST_GRAVE
from review_advisor.mockworld.agents import Json, Line, approve, finding, lost, reject
from review_advisor.mockworld.github import WORKFLOW_ABILITIES
from review_advisor.mockworld.world import edited
from review_advisor.policy.pull_request_rules import PublicationRules, Volume
from review_advisor.review.document import OutcomeDocument

NOTHING: Touched = {}
"""No line differs since the last complete review."""


def remark(line: int, severity: str = "low", *, confidence: float = 0.9) -> Json:
    return finding(PATH, line, f"value = {line}", severity, f"odd {line}", confidence=confidence)


def reworked(*lines: int) -> Touched:
    return {PATH: tuple(TouchedLines(line, line, Age.REWORKED) for line in lines)}


class Team:
    """A pull request that is pushed to and reviewed again and again."""

    def __init__(self, volume: Volume = "normal") -> None:
        self.desk = Desk(PublicationRules(volume=volume))
        self._pushes = 0
        self.last: OutcomeDocument | None = None

    def reviews(self, *report: Line, touched: Touched | None = None, judged: tuple[Line, ...] = ()) -> list[str]:
        """A push and its review; ``touched`` is what git says of it. The titles of the comments that are new."""
        before = len(self.desk.threads)
        self._pushes += 1
        self.desk.github.pushes(self.desk.pull, {"other.txt": f"{self._pushes}\n"})
        known = Earlier("", "", "", complete=False, is_ancestor=False, paths=frozenset(), touched=touched)
        self.desk.world.source.stated = replace(self.desk.world.source.stated, earlier=known)
        self.last = self.desk.reviewed(*report, judged=judged)
        self.desk.publish(self.last)
        return [thread.comments[0].body.split("\n")[1].strip("*") for thread in self.desk.threads[before:]]

    @property
    def rounds(self) -> int:
        """How many complete reviews are remembered."""
        assert self.desk.state is not None
        return self.desk.state.whole.number if self.desk.state.whole is not None else 0

    @property
    def summary(self) -> str:
        return self.desk.summaries[0].body


def test_the_first_review_posts_everything_the_second_nothing_low_and_the_third_only_what_blocks() -> None:
    team = Team()
    assert team.reviews(approve(remark(1), remark(2, "medium"))) == ["Medium: odd 2", "Low: odd 1"]
    assert team.reviews(approve(remark(3), remark(4, "medium")), touched=reworked(3, 4)) == ["Medium: odd 4"]
    lines = reworked(5, 6, 7)
    assert team.reviews(approve(remark(5), remark(6, "medium"), remark(7, "high")), touched=lines) == ["High: odd 7"]


def test_on_lines_that_did_not_change_only_what_blocks_is_posted() -> None:
    team = Team()
    team.reviews(approve())
    found = team.reviews(approve(remark(1), remark(2, "medium"), remark(3, "high")), touched=NOTHING)
    assert found == ["High: odd 3"]
    assert "its lines did not change since the last complete review" in team.summary


def test_a_rejection_posts_what_it_rejects_for_however_mild_and_late() -> None:
    team = Team()
    for _ in range(3):
        team.reviews(approve())
    assert team.reviews(reject(remark(1, confidence=0.1)), touched=NOTHING) == ["Low: odd 1"]
    assert team.reviews(reject(remark(2, "high"), remark(3)), touched=NOTHING) == ["High: odd 2"]


def test_code_that_is_new_in_a_push_is_in_its_first_round() -> None:
    team = Team()
    for _ in range(4):
        team.reviews(approve())
    new = {PATH: (TouchedLines(5, 6, Age.NEW),)}
    assert team.reviews(approve(remark(5), remark(9)), touched=new) == ["Low: odd 5"]


def test_a_review_that_was_not_complete_is_no_round() -> None:
    team = Team()
    team.reviews(approve(), judged=(lost(LostReason.RATE_LIMITED),))
    assert team.rounds == 0
    assert team.reviews(approve(remark(1)), touched=reworked(1)) == ["Low: odd 1"]
    assert team.rounds == 1


def test_an_incomplete_review_in_between_forgets_no_round() -> None:
    team = Team()
    team.reviews(approve())
    team.reviews(approve(), judged=(lost(LostReason.RATE_LIMITED),))
    assert team.reviews(approve(remark(1)), touched=reworked(1)) == []
    assert "complete review 2 posts nothing low" in team.summary


def test_another_base_branch_begins_the_rounds_anew() -> None:
    team = Team()
    team.reviews(approve())
    team.desk.github.commits(REPOSITORY, "release", {PATH: "x\n"}, by="acme")
    team.desk.github.retargets(team.desk.pull, "release")
    assert team.reviews(approve(remark(1)), touched=reworked(1)) == ["Low: odd 1"]


def test_what_is_uncertain_is_folded_with_its_words_and_without_an_annotation() -> None:
    team = Team()
    unsure = {**remark(1, "medium", confidence=0.3), "body": "It may be slow."}
    assert team.reviews(approve(unsure, remark(2, "medium"))) == ["Medium: odd 2"]
    listed, fold = team.summary.split("<details><summary>1 milder finding not posted on the diff</summary>")
    assert "odd 2" in listed
    assert "odd 1" not in listed
    assert "odd 1" in fold.partition("</details>")[0]
    assert "(its confidence is below 0.6)" in fold.partition("</details>")[0]
    assert "It may be slow." in fold
    (check,) = team.desk.checks
    assert [each.title for each in check.annotations] == ["Medium: odd 2"]
    assert "its confidence is below 0.6" in (check.summary or "")


@pytest.mark.parametrize("volume", ["quiet", "normal", "thorough"])
def test_no_volume_and_no_round_changes_check_or_title(volume: Volume) -> None:
    team = Team(volume)
    for number in range(1, 5):
        every = [remark(4 * number + at, severity, confidence=0.5) for at, severity in enumerate(SEVERITIES)]
        team.reviews(reject(*every), touched=NOTHING)
        (check,) = team.desk.checks
        title = "Changes requested: 1 critical, 1 high, 1 medium, 1 low"
        assert (check.conclusion, check.title) == ("failure", title)
        assert all(f"odd {4 * number + at}" in team.summary for at in range(4)), "each is told"


def test_publishing_again_posts_nothing_and_says_the_same() -> None:
    """The state counts this very review by then."""
    team = Team()
    team.reviews(approve())
    team.reviews(approve(remark(1), remark(2, "medium")), touched=reworked(1, 2))
    said, threads = without_state(team.summary), len(team.desk.threads)
    assert team.last is not None
    team.desk.publish(team.last)
    assert (without_state(team.summary), len(team.desk.threads)) == (said, threads)


@pytest.mark.parametrize("severity, again", [("low", []), ("medium", []), ("high", ["High: odd 3"])])
def test_a_mild_finding_has_one_comment_in_its_whole_life(severity: str, again: list[str]) -> None:
    """Its lines go, and its comment is closed; they come back, as new lines. The summary has its words."""
    team = Team()
    team.desk.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
    told = {**remark(3, severity), "body": "Three is taken."}
    assert len(team.reviews(approve(told))) == 1
    team.desk.github.pushes(team.desk.pull, {PATH: LINES.replace("value = 3\n", "")})
    team.reviews(approve())
    team.desk.github.pushes(team.desk.pull, {PATH: LINES})
    assert team.reviews(approve(told)) == again
    assert "odd 3" in team.summary
    assert ("Three is taken." in team.summary) is not bool(again)


def test_a_rejection_posts_all_but_what_is_low() -> None:
    team = Team()
    for _ in range(3):
        team.reviews(approve())
    found = team.reviews(reject(remark(1, "critical"), remark(2, "medium"), remark(3)), touched=NOTHING)
    assert found == ["Critical: odd 1", "Medium: odd 2"]


@pytest.mark.parametrize("severity, again", [("low", 0), ("high", 1)])
def test_a_mild_finding_has_one_comment_also_when_its_file_gets_another_name(severity: str, again: int) -> None:
    team = Team()
    team.reviews(approve({**remark(3, severity), "body": "Three is taken."}))
    team.desk.github.pushes(team.desk.pull, {PATH: None, "src/b.py": LINES})
    there = {**remark(3, severity), "path": "src/b.py", "body": "Three is taken."}
    team.desk.world.source.stated = replace(team.desk.world.source.stated, earlier=None)
    document = team.desk.reviewed(approve(there), files=(edited("src/b.py", 30),))
    team.desk.publish(document)
    assert len(team.desk.threads) == 1 + again
    assert "odd 3" in team.summary
    assert ("Three is taken." in team.summary) is not bool(again)


def test_what_blocks_and_has_no_comment_for_now_is_listed_annotated_and_keeps_the_check_red() -> None:
    desk, more = Desk(), MOST_GRAVE + 7
    desk.github.pushes(desk.pull, {PATH: "".join(f"value = {n}\n" for n in range(1, more + 1))})
    every = [remark(n, "medium") for n in range(1, more)] + [remark(more, "critical")]
    rejected = desk.reviewed(reject(*every), files=(edited(PATH, more),))
    desk.publish(rejected)
    titles = [thread.comments[0].body.split("\n")[1].strip("*") for thread in desk.threads]
    assert len(titles) == MOST_GRAVE
    assert titles[0] == f"Critical: odd {more}"
    (check,), (summary,) = desk.checks, desk.summaries
    assert check.conclusion == "failure"
    assert len(check.annotations) == more
    told = f"7 findings that are grave or block have no comment yet: at most {MOST_GRAVE} comments stand on the diff."
    assert told in summary.body
    assert "milder finding" not in summary.body
    assert all(f"odd {n} " in summary.body for n in range(1, more + 1))
    desk.publish(rejected)
    assert len(desk.threads) == MOST_GRAVE
    assert desk.summaries[0].body == summary.body
    desk.github.pushes(desk.pull, {"other.txt": "again\n"})
    desk.publish(desk.reviewed(reject(*every[10:]), files=(edited(PATH, more),)))
    assert len(desk.threads) == more, "the others have room once ten are fixed"
    assert desk.checks[0].conclusion == "failure"
    assert "no comment yet" not in desk.summaries[0].body
