"""What the adapter writes on the simulated GitHub, through PyGithub and real requests, and what trouble does to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.adapters.github.scene import APPROVED, HOSTILE_NAMES, PATCH, Scene, annotated, open_scene

from review_advisor.change.pull_request import Permission
from review_advisor.github.client import GitHubForge
from review_advisor.github.forge import ForgeDenied, ForgeMissing, ForgeRejected, ForgeUnavailable, ReviewPending
from review_advisor.github.writes import MOST_CHARACTERS, Annotation, Check, InlineComment
from review_advisor.mockworld.github_records import Pull, PullFile
from review_advisor.mockworld.github_traffic import RefusedRequest, RequestMoment, Reset, ServerFailure


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A repository with one pull request by mona, and the adapter with a workflow's token."""
    with open_scene() as opened:
        yield opened


def findings(count: int) -> tuple[Annotation, ...]:
    return tuple(
        Annotation(HOSTILE_NAMES[n % len(HOSTILE_NAMES)], n + 1, n + 1, "warning", f"Finding {n}", f"message {n}")
        for n in range(count)
    )


def test_a_check_is_in_progress_until_it_has_a_conclusion(scene: Scene) -> None:
    pull = scene.opens()
    begun = Check("review-advisor", "pr-1", "Reviewing", "It began.", details_url="https://ci.example/run/1")
    made = scene.forge.create_check(pull.head_sha, begun)
    (standing,) = scene.forge.checks(pull.head_sha, "review-advisor")
    assert (standing.id, standing.status, standing.conclusion) == (made, "in_progress", None)
    assert (standing.app, standing.external_id, standing.title) == ("github-actions", "pr-1", "Reviewing")
    scene.forge.update_check(made, APPROVED)
    (standing,) = scene.forge.checks(pull.head_sha, "review-advisor")
    assert (standing.status, standing.conclusion, standing.title) == ("completed", "success", "Approved")
    assert scene.check(made).details_url == "https://ci.example/run/1"


@pytest.mark.parametrize("count, requests", [(0, 1), (1, 1), (50, 1), (51, 2), (100, 2), (120, 3)])
def test_annotations_go_in_batches_of_fifty_and_the_conclusion_with_the_last(
    scene: Scene, count: int, requests: int
) -> None:
    pull = scene.opens()
    conclusions: list[str | None] = []
    for number in range(1, requests):
        scene.github.traffic.meanwhile(
            lambda: conclusions.extend(run.conclusion for run in scene.runs()), RequestMoment(number, "write")
        )
    made = scene.forge.create_check(pull.head_sha, annotated(findings(count)))
    assert len(scene.github.traffic.writes) == requests
    assert conclusions == [None] * (requests - 1)
    assert scene.check(made).conclusion == "failure"
    assert [each.title for each in scene.check(made).annotations] == [f"Finding {n}" for n in range(count)]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_check_whose_making_was_cut_short_is_never_finished_and_is_completed_without_saying_anything_twice(
    scene: Scene, lost: int, after: bool
) -> None:
    pull = scene.opens()
    check = annotated(findings(120))
    scene.github.traffic.meets(Reset(), RequestMoment(lost, "write", after=after))
    with pytest.raises(ForgeUnavailable):
        scene.forge.create_check(pull.head_sha, check)
    ended_whole = lost == 2 and after
    assert {run.conclusion for run in scene.runs()} <= ({"failure"} if ended_whole else {None})
    standing = scene.forge.checks(pull.head_sha, check.name)
    assert len(standing) == (0 if lost == 0 and not after else 1)
    if standing:
        scene.forge.update_check(standing[0].id, check)
    else:
        scene.forge.create_check(pull.head_sha, check)
    (run,) = scene.runs()
    assert run.conclusion == "failure"
    assert [each.title for each in run.annotations] == [f"Finding {n}" for n in range(120)]


def test_two_equal_annotations_are_two(scene: Scene) -> None:
    pull = scene.opens()
    same = findings(1) * 3
    made = scene.forge.create_check(pull.head_sha, annotated(same[:2]))
    scene.forge.update_check(made, annotated(same))
    assert len(scene.check(made).annotations) == 3


def test_a_check_of_another_app_cannot_be_changed(scene: Scene) -> None:
    pull = scene.opens()
    other = scene.as_app("other-app")
    made = other.create_check(pull.head_sha, APPROVED)
    with pytest.raises(ForgeDenied, match="may not update the check 'review-advisor'"):
        scene.forge.update_check(made, APPROVED)


def test_a_comment_is_made_edited_and_deleted(scene: Scene) -> None:
    pull = scene.opens()
    made = scene.forge.create_comment(pull.number, "first")
    scene.forge.update_comment(made, "second")
    assert [(each.id, each.body) for each in scene.forge.comments(pull.number)] == [(made, "second")]
    scene.forge.delete_comment(made)
    assert scene.forge.comments(pull.number) == ()
    with pytest.raises(ForgeMissing):
        scene.forge.update_comment(made, "third")
    with pytest.raises(ForgeMissing):
        scene.forge.delete_comment(made)


def test_a_body_that_is_too_long_is_rejected_with_githubs_reason(scene: Scene) -> None:
    pull = scene.opens()
    with pytest.raises(ForgeRejected, match=r"maximum is 65535 characters") as refused:
        scene.forge.create_comment(pull.number, "x" * (MOST_CHARACTERS + 1))
    assert len(str(refused.value)) < 400


def test_a_review_is_pending_until_it_is_submitted_as_a_comment(scene: Scene) -> None:
    pull = scene.opens(listing=tuple(PullFile(name, patch=PATCH) for name in HOSTILE_NAMES))
    remarks = (
        *(InlineComment("f-1", name, 3, 2, "RIGHT", f"about {name}") for name in HOSTILE_NAMES),
        InlineComment("f-2", HOSTILE_NAMES[0], 2, None, "LEFT", "about a removed line"),
        InlineComment("f-3", HOSTILE_NAMES[0], 1, 1, "RIGHT", "a range of one line"),
    )
    made = scene.forge.start_review(pull.number, pull.head_sha, "the review", remarks)
    (review,) = pull.reviews
    assert (review.id, review.state, review.commit) == (made, "PENDING", pull.head_sha)
    scene.forge.submit_review(pull.number, made)
    assert (review.state, review.body) == ("COMMENTED", "the review")
    comments = [thread.comments[0] for thread in review.threads]
    assert [(each.path, each.side, each.start_line, each.line) for each in comments] == [
        *((name, "RIGHT", 2, 3) for name in HOSTILE_NAMES),
        (HOSTILE_NAMES[0], "LEFT", None, 2),
        (HOSTILE_NAMES[0], "RIGHT", None, 1),
    ]


def test_one_line_outside_the_diff_rejects_the_whole_review(scene: Scene) -> None:
    pull = scene.opens(listing=(PullFile("src/a.py", patch=PATCH),))
    remarks = tuple(InlineComment("f-1", "src/a.py", line, None, "RIGHT", "remark") for line in (1, 99))
    with pytest.raises(ForgeRejected, match="Line could not be resolved"):
        scene.forge.start_review(pull.number, pull.head_sha, "body", remarks)
    assert not pull.reviews


def test_there_is_one_pending_review_at_most_and_it_can_be_discarded(scene: Scene) -> None:
    pull = scene.opens()
    made = scene.forge.start_review(pull.number, pull.head_sha, "one", ())
    with pytest.raises(ReviewPending, match="one pending review"):
        scene.forge.start_review(pull.number, pull.head_sha, "two", ())
    with pytest.raises(ReviewPending):
        scene.fake.start_review(pull.number, pull.head_sha, "two", ())
    scene.forge.discard_review(pull.number, made)
    assert scene.forge.reviews(pull.number) == ()


def test_a_commit_that_a_force_push_took_away_takes_no_review(scene: Scene) -> None:
    pull = scene.opens()
    old = pull.head_sha
    scene.github.force_pushes(pull, {"other.txt": "other\n"})
    with pytest.raises(ForgeRejected, match="not part of the pull request"):
        scene.forge.start_review(pull.number, old, "body", ())


@pytest.mark.parametrize("label", ["needs-human-review", "\U0001f600 look/here?#%25", "a b & c", "..."])
def test_a_label_is_put_on_and_taken_off_and_one_that_is_not_there_is_no_error(scene: Scene, label: str) -> None:
    pull = scene.opens()
    scene.forge.add_label(pull.number, label)
    assert scene.forge.pull_request(pull.number).labels == (label,)
    scene.forge.remove_label(pull.number, label)
    assert scene.forge.pull_request(pull.number).labels == ()
    scene.forge.remove_label(pull.number, label)
    with pytest.raises(ForgeMissing):
        scene.forge.remove_label(99, label)


def test_people_and_teams_are_asked_for_their_review(scene: Scene) -> None:
    pull = scene.opens()
    scene.github.grants("octo/app", "hubot", Permission.WRITE)
    scene.github.team("octo", "security")
    scene.forge.request_review(pull.number, ("hubot", "octo/security"))
    assert (pull.requested_users, pull.requested_teams) == (["hubot"], ["octo/security"])
    with pytest.raises(ForgeRejected, match="collaborator"):
        scene.forge.request_review(pull.number, ("nobody-knows-them",))


def test_a_token_that_may_only_read_is_denied_every_write(scene: Scene) -> None:
    pull = scene.opens()
    reader = scene.reading()
    for write in (
        lambda: reader.create_check(pull.head_sha, APPROVED),
        lambda: reader.create_comment(pull.number, "body"),
        lambda: reader.start_review(pull.number, pull.head_sha, "body", ()),
        lambda: reader.add_label(pull.number, "x"),
    ):
        with pytest.raises(ForgeDenied, match="The token may not"):
            write()


def test_a_thread_is_resolved(scene: Scene) -> None:
    pull = scene.opens(listing=(PullFile("src/a.py", patch=PATCH),))
    remark = InlineComment("f-1", "src/a.py", 3, None, "RIGHT", "remark")
    scene.forge.submit_review(pull.number, scene.forge.start_review(pull.number, pull.head_sha, "", (remark,)))
    (thread,) = scene.forge.threads(pull.number)
    scene.forge.resolve_thread(thread.id)
    assert scene.forge.threads(pull.number)[0].resolved
    with pytest.raises(ForgeMissing):
        scene.forge.resolve_thread("PRRT_nobody")


def _write_everything(scene: Scene, pull: Pull) -> dict[str, Callable[[GitHubForge], object]]:
    remark = InlineComment("f-1", "change.txt", 1, None, "RIGHT", "remark")
    scene.fake.submit_review(pull.number, scene.fake.start_review(pull.number, pull.head_sha, "x", (remark,)))
    comment, check = scene.fake.create_comment(pull.number, "body"), scene.fake.create_check(pull.head_sha, APPROVED)
    scene.github.labels(pull, "there")
    scene.github.grants("octo/app", "hubot", Permission.WRITE)
    thread = pull.reviews[0].threads[0].id
    return {
        "create_check": lambda forge: forge.create_check(pull.head_sha, APPROVED),
        "update_check": lambda forge: forge.update_check(check, APPROVED),
        "create_comment": lambda forge: forge.create_comment(pull.number, "body"),
        "update_comment": lambda forge: forge.update_comment(comment, "body"),
        "start_review": lambda forge: forge.start_review(pull.number, pull.head_sha, "body", ()),
        "add_label": lambda forge: forge.add_label(pull.number, "x"),
        "remove_label": lambda forge: forge.remove_label(pull.number, "there"),
        "request_review": lambda forge: forge.request_review(pull.number, ("hubot",)),
        "resolve_thread": lambda forge: forge.resolve_thread(thread),
        "delete_comment": lambda forge: forge.delete_comment(comment),
    }


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("trouble", [ServerFailure(502), ServerFailure(500), Reset()])
def test_a_write_reaches_github_once_whether_it_took_effect_or_not(
    scene: Scene, trouble: ServerFailure | Reset, after: bool
) -> None:
    pull = scene.opens()
    for name, write in _write_everything(scene, pull).items():
        before = len(scene.github.traffic.log)
        scene.github.traffic.meets(trouble, RequestMoment(0, "write", after=after))
        with pytest.raises(ForgeUnavailable):
            write(scene.forge)
        requests = scene.github.traffic.log[before:]
        assert [each.effect for each in requests] == [after], name


@pytest.mark.parametrize("after", [False, True])
def test_a_review_is_submitted_once_whether_the_answer_comes_or_not(scene: Scene, after: bool) -> None:
    pull = scene.opens()
    review = scene.forge.start_review(pull.number, pull.head_sha, "the review", ())
    scene.github.traffic.meets(ServerFailure(502), RequestMoment(0, "write", after=after))
    with pytest.raises(ForgeUnavailable):
        scene.forge.submit_review(pull.number, review)
    assert [each.effect for each in scene.github.traffic.writes] == [True, after]
    assert [each.pending for each in scene.forge.reviews(pull.number)] == [not after]


def test_a_read_that_met_trouble_once_is_answered_in_the_end(scene: Scene) -> None:
    pull = scene.opens()
    for trouble in (ServerFailure(503), Reset(), RefusedRequest(403, "You have exceeded a secondary rate limit")):
        scene.github.traffic.meets(trouble, RequestMoment(0, "read"))
        assert scene.forge.pull_request(pull.number).number == pull.number
    assert not scene.github.traffic.unmet
