"""A story that cannot be as it is told says so: reviews that do not run, expectations and troubles without effect."""

import pytest

from review_advisor.mockworld.github_page import pull_page
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story import Story, TroubleBlock
from review_advisor.mockworld.story_file import StoryError, read_story
from review_advisor.mockworld.trace import differences, trace_text

HEAD = "story: s\nsteps:\n"


def test_a_review_of_a_fork_does_not_run_on_a_head_that_nobody_admitted() -> None:
    steps = [{"push": {}}, {"label": {"put": "review-this-fork"}}, {"push": {}}, "review"]
    story = play(Story.model_validate({"story": "moved on", "pull_request": {"fork": True}, "steps": steps}))
    _, admitted, pushed, review = story.steps
    assert (admitted.begins, pushed.begins, story.reviews) == (True, False, ())
    assert differences(story) == (
        f"step 4, review: its review does not run: it began for {admitted.head[:8]}, and a push moved the head",
    )
    assert review.stands is not None
    assert review.stands.check_on(pushed.head) == "action_required"
    assert review.stands.check_on(admitted.head) == "cancelled"


@pytest.mark.parametrize(
    "step, says",
    [
        ("review: {expect: {summary: ''}}", "should not be empty"),
        ("review: {expect: {title: ''}}", "should not be empty"),
        ("review: {expect: {because: ''}}", "should not be empty"),
        ("review: {expect: {calls: {}}}", "should not be empty"),
        ("close: {expect: {observed: {}}}", "should not be empty"),
        *(
            (f"{kind}: {{expect: {{begins: false}}}}", f"a {kind} step never begins a review")
            for kind in ("review", "publish", "pending", "queue", "close")
        ),
    ],
)
def test_an_expectation_that_cannot_fail_is_refused(step: str, says: str) -> None:
    with pytest.raises(StoryError, match=says):
        read_story(f"{HEAD}  - {step}\n", "s.yaml")


def test_a_begin_that_does_not_come_is_told_with_its_reason() -> None:
    for kind, told in (("comment", {"says": "hello"}), ("label", {"put": "bug"}), ("command", {"says": "help"})):
        step = {kind: {**told, "expect": {"begins": True}}}
        (words,) = differences(play(Story.model_validate({"story": "s", "steps": ["review", step]})))
        assert "expected a review to begin" in words
        assert not words.rstrip().endswith(":")


@pytest.mark.parametrize("trouble", sorted(TroubleBlock.model_fields))
@pytest.mark.parametrize("published", [True, False])
def test_a_trouble_that_never_comes_is_a_fault_of_the_story_unless_it_is_loose(trouble: str, published: bool) -> None:
    told = {"story": "s", "published": published, "steps": [{"review": {"trouble": {trouble: 999}}}]}
    (words,) = differences(play(Story.model_validate(told)))
    assert words.startswith("step 1, review: its trouble never came")
    assert differences(play(Story.model_validate({**told, "loose": True}))) == ()


@pytest.mark.parametrize("write", range(1, 6))
def test_comments_are_those_that_everybody_sees(write: int) -> None:
    finding = {"path": "src/app.py", "line": 3, "evidence": "value = 3", "title": "three is odd"}
    review = {"executor": [{"says": "reject", "findings": [finding]}], "trouble": {"publisher_killed_at": write}}
    played = play(Story.model_validate({"story": "s", "steps": [{"review": review}]}))
    (step,) = played.steps
    assert step.stands is not None
    assert len(step.stands.comments) == pull_page(played.github, played.pull).count('class="thread"')


@pytest.mark.parametrize(
    "wrong, why",
    [({"path": "src/nope.py"}, "its file is not part of the change"), ({"evidence": "value = nine"}, "")],
)
def test_a_finding_that_does_not_count_is_in_the_trace_with_the_reason(wrong: dict[str, str], why: str) -> None:
    finding = {"path": "src/app.py", "line": 3, "evidence": "value = 3", "title": "three is odd", **wrong}
    review = {"executor": [{"says": "reject", "findings": [finding]}] * 2}
    played = play(Story.model_validate({"story": "s", "steps": [{"review": review}]}))
    said, _ = [line for line in trace_text("s.yaml", played, ()).splitlines() if "refused: " in line]
    assert said.strip().startswith(f"refused: three is odd, {finding['path']}: {why}")


def test_a_denied_consult_is_no_call_of_the_advisor() -> None:
    executor = {"says": "approve", "asks": [f"why {number}" for number in range(9)]}
    review = {"executor": [executor], "expect": {"calls": {"mid_flight": 5}}}
    assert differences(play(Story.model_validate({"story": "s", "steps": [{"review": review}]}))) == ()


@pytest.mark.parametrize(
    "step",
    [
        {"command": {"says": "dismiss", "finding": "odd"}},
        {"command": {"says": "explain", "finding": "odd"}},
        {"react": {"finding": "odd", "thumb": "up"}},
        {"comment": {"says": "hello", "expect": {"findings": {"odd": "open"}}}},
    ],
)
def test_a_title_of_several_findings_is_refused(step: dict[str, dict[str, object]]) -> None:
    findings = [{"path": "src/app.py", "line": line, "evidence": f"value = {line}", "title": "odd"} for line in (3, 20)]
    review = {"executor": [{"says": "reject", "findings": findings}]}
    played = play(Story.model_validate({"story": "s", "steps": [{"review": review}, step]}))
    (words,) = differences(played)
    assert words.startswith("step 2, ")
    assert words.endswith(": give each a title of its own")


@pytest.mark.parametrize(
    "steps, says",
    [
        ("{close: {by: eve, may: read}}", "step 2, close: eve may only read: who merges or closes may write"),
        (
            "{close: {by: eve, may: read, merged: false}}",
            "step 2, close: eve may only read: who merges or closes may write",
        ),
        ("pending, pending", "step 3, pending: maria has a review that is not submitted: GitHub takes only one"),
        ("close, close", "step 3, close: the pull request is closed already"),
        ("close, push", "step 3, push: the pull request is closed: a push does not move its head any more"),
        (
            "{close: {merged: false}}, force_push",
            "step 3, force push: the pull request is closed: a push does not move its head any more",
        ),
    ],
)
def test_what_github_does_not_allow_is_a_fault_of_the_story(steps: str, says: str) -> None:
    assert differences(play(read_story(f"story: s\nsteps: [review, {steps}]\n", "s.yaml"))) == (says,)


def test_an_author_who_may_only_read_closes_their_own_pull_request() -> None:
    text = "story: s\nsteps: [review, {close: {by: ada, may: read, merged: false}}]\n"
    assert differences(play(read_story(text, "s.yaml"))) == ()


@pytest.mark.parametrize(
    "step, says",
    [
        ("close: {merged: false, reverted: true}", "only a merge can be reverted"),
        ("command: {says: review, finding: odd}", "the command review takes no finding"),
        ("command: {says: override, finding: odd}", "the command override takes no finding"),
        ("command: {says: explain, finding: odd, reason: why}", "the command explain takes no reason"),
        ("command: {says: help, reason: why}", "the command help takes no reason"),
    ],
)
def test_keys_that_mean_nothing_together_are_refused(step: str, says: str) -> None:
    with pytest.raises(StoryError, match=says):
        read_story(f"{HEAD}  - {step}\n", "s.yaml")
