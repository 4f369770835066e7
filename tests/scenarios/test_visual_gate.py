from pathlib import Path

import pytest
from tests.scenarios.reading import moves, own_words, shown

from review_advisor.agents.calls import AgentCall
from review_advisor.change.change import FileChange, Status
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.mockworld.agents import (
    Line,
    approve,
    credit_gone,
    finding,
    lost,
    picture,
    picture_differs,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import Reported, SurfaceEnded, Verified
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.safety.stop import ReviewInterrupted

VISUAL = Surface.VISUAL_GATE
LOGIN = "shots/login.png"
CROP = f"{LOGIN}-1-after.png"


def with_pictures(world: MockWorld, *pictures: PictureDifference) -> None:
    changed = tuple(FileChange(Status.MODIFIED, each.name, binary=each.state != "vector") for each in pictures)
    world.change(edited("src/app.py", 5), *changed)
    world.pictures.stated = pictures


def on_the_pictures(world: MockWorld) -> list[AgentCall]:
    return [call for call in world.agents.asked if call.surface is VISUAL]


def test_identical_pixels_need_no_model(world: MockWorld) -> None:
    with_pictures(world, picture(LOGIN, "identical"), picture("shots/logo.svg", "vector"))
    document = world.review()
    assert on_the_pictures(world) == []
    assert document.outcome is Outcome.APPROVED
    assert document.surfaces[1].surface is VISUAL
    (reported,) = [event for event in document.events if isinstance(event, Reported) and event.structural]
    assert "1 of 2 with identical pixels, 1 reviewed as text" in reported.report.summary
    assert "shots/login.png: identical pixels" in report_text(document)


def test_both_agents_read_the_gallery_and_are_told_every_crop_d37(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN), picture("shots/home.png", "identical"))
    document = world.review()
    executor, judge = on_the_pictures(world)
    for call in (executor, judge):
        assert call.tree == Path("gallery")
        assert "shots/login.png: 7 pixels differ\n" in shown(call, "PICTURES")
        assert f"  {LOGIN}-1-before.png\n  {CROP}\n" in shown(call, "PICTURES")
        assert "FILE src/app.py" not in shown(call, "DIFF")
        assert f"FILE {LOGIN}" in shown(call, "DIFF")
        assert "these pictures" in own_words(call)
    assert executor.consults is None
    assert document.outcome is Outcome.APPROVED
    assert world.calls(Role.EXECUTOR)[0].tree is None, "the change itself is read in its own tree"


def test_a_remark_must_name_a_picture_and_a_crop_of_it(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN))
    world.agents.script(
        Role.EXECUTOR,
        reject(
            finding(LOGIN, 1, f"{CROP}: the button is gone", title="no button"),
            finding(LOGIN, 1, "the button is gone", title="no crop"),
            finding("src/app.py", 1, "value = 1", title="no picture"),
        ),
        surface=VISUAL,
    )
    document = world.review()
    (kept,) = document.findings
    assert (kept.path, kept.title, kept.line) == (LOGIN, "no button", 1)
    (report,) = document.surfaces[1].parts[0].reports
    assert [(each.title, each.why) for each in report.refused] == [
        ("no crop", "its evidence names no crop of the picture"),
        ("no picture", "it is about no picture shown here"),
    ]
    assert document.outcome is Outcome.CHANGES_REQUESTED


def test_a_remark_keeps_its_id_when_a_push_brings_another_picture_before_it(world: MockWorld) -> None:
    ids = []
    for crop in ("p001-f1-x0-y0-after.png", "p002-f1-x0-y0-after.png", "p002-f1-x0-y90-after.png"):
        with_pictures(world, picture_differs(LOGIN, crop))
        world.agents.script(Role.EXECUTOR, reject(finding(LOGIN, 1, f"{crop}: the button is gone")), surface=VISUAL)
        ids += [each.id for each in world.review().findings]
    assert ids[0] == ids[1] != ids[2]


def test_one_veto_calls_a_human_and_nothing_says_pass_before_it_d34(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN))
    world.agents.script(Role.POST_VERIFY, veto("the text is cut"), surface=VISUAL)
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert moves(document, 1) == ["escalate"]
    assert len(on_the_pictures(world)) == 2
    its = [event for event in document.events if getattr(event, "surface", None) is VISUAL]
    assert [type(event) for event in its if isinstance(event, Verified | SurfaceEnded)] == [Verified, SurfaceEnded]


def test_a_lost_judgement_is_degraded_and_never_silent(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN))
    world.agents.script(Role.POST_VERIFY, lost(), surface=VISUAL)
    document = world.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, True)


def test_what_nobody_can_see_is_named_and_never_approved(world: MockWorld) -> None:
    with_pictures(
        world, picture(LOGIN, "unreadable", "damaged"), picture("shots/b.png", "too_large", "more than 9 pixels")
    )
    document = world.review()
    assert on_the_pictures(world) == []
    assert document.outcome is Outcome.ESCALATED
    assert document.because == (
        "shots/login.png: cannot be read: damaged; shots/b.png: too large to compare: more than 9 pixels",
    )


def test_the_other_pictures_are_judged_all_the_same(world: MockWorld) -> None:
    with_pictures(world, picture(LOGIN, "unreadable", "damaged"), picture_differs("shots/b.png"))
    document = world.review()
    assert [call.role for call in on_the_pictures(world)] == [Role.EXECUTOR, Role.POST_VERIFY]
    assert "cannot be read: damaged" in shown(on_the_pictures(world)[0], "PICTURES")
    assert document.because == ("shots/login.png: cannot be read: damaged",)
    assert document.outcome is Outcome.ESCALATED


def test_a_picture_shown_in_part_is_judged_and_goes_to_a_human(world: MockWorld) -> None:
    with_pictures(
        world, PictureDifference(LOGIN, "differs", 9, ("a-after.png",), "3 more places are not shown", partly=True)
    )
    document = world.review()
    assert len(on_the_pictures(world)) == 2
    assert document.outcome is Outcome.ESCALATED
    assert "(not all of it is shown): 3 more places" in document.because[0]


def test_a_veto_and_an_unread_picture_are_both_said(world: MockWorld) -> None:
    with_pictures(world, picture(LOGIN, "unreadable", "damaged"), picture_differs("shots/b.png"))
    world.agents.script(Role.POST_VERIFY, veto("cut"), surface=VISUAL)
    (because,) = world.review().because
    assert "damaged" in because
    assert "vetoed on a one-shot surface" in because


def test_a_missing_side_is_judged_with_the_one_there_is(world: MockWorld) -> None:
    with_pictures(
        world,
        PictureDifference("shots/new.png", "added", 9, ("n-after.png",)),
        PictureDifference("shots/old.png", "removed", 9, ("o-before.png",)),
    )
    assert world.review().outcome is Outcome.APPROVED
    seen = shown(on_the_pictures(world)[0], "PICTURES")
    assert "shots/new.png: added, no before\n  n-after.png" in seen
    assert "shots/old.png: removed, no after\n  o-before.png" in seen


def test_a_picture_that_was_judged_counts_as_read_and_only_the_others_do_not(world: MockWorld) -> None:
    with_pictures(
        world,
        picture_differs(LOGIN),
        picture("shots/same.png", "identical"),
        picture("shots/drawn.svg", "vector"),
        picture("shots/bad.png", "unreadable", "damaged"),
        PictureDifference("shots/half.png", "differs", 9, ("a-after.png",), "3 more places are not shown", partly=True),
    )
    world.change(*world.source.stated.files, FileChange(Status.ADDED, "font.woff2", binary=True))
    document = world.review()
    assert [(each.path, each.read, each.why, each.picture) for each in document.coverage] == [
        ("src/app.py", "read", "", False),
        (LOGIN, "read", "visual_gate judged what differs in it", True),
        ("shots/same.png", "read", "visual_gate compared it: the same pixels", True),
        ("shots/drawn.svg", "read", "", False),
        ("shots/bad.png", "not", "damaged", False),
        ("shots/half.png", "partly", "by visual_gate: 3 more places are not shown", True),
        ("font.woff2", "not", "binary", False),
    ]
    report = report_text(document)
    assert "Read: 4 of 7 files, 2 of them as pictures by visual_gate\n" in report
    assert "  shots/bad.png was not read: damaged\n" in report
    assert "  shots/half.png was read in part: by visual_gate: 3 more places are not shown\n" in report
    assert "  font.woff2 was not read: binary\n" in report
    assert "login.png was" not in report


def test_when_every_picture_was_judged_everything_was_read(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN))
    assert "Read: 2 of 2 files, 1 of them as pictures by visual_gate\n" in report_text(world.review())


@pytest.mark.parametrize("answer", [lost(), credit_gone()])
def test_a_picture_that_no_report_came_on_was_not_read(world: MockWorld, answer: Line) -> None:
    with_pictures(world, picture_differs(LOGIN), picture("shots/same.png", "identical"))
    world.agents.script(Role.EXECUTOR, answer, surface=VISUAL)
    coverage = world.review().coverage
    assert [(each.path, each.read) for each in coverage[1:]] == [(LOGIN, "not"), ("shots/same.png", "read")]
    assert coverage[1].why == "no report of visual_gate came on what differs in it"


def test_a_judged_picture_where_everything_is_read_is_still_a_humans(world: MockWorld) -> None:
    with_pictures(world, picture_differs(".github/workflows/a.png"))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.coverage[1].why == "binary content where every change must be read"


def test_switched_off_the_executor_alone_looks_at_them(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN))
    world.switch("HYDRAFLOW_VISUAL_GATE_ADVISOR_ENABLED", "no")
    document = world.review()
    assert [call.role for call in on_the_pictures(world)] == [Role.EXECUTOR]
    assert "visual_gate/post_verify" in document.flags.advisor_disabled


def test_an_interrupt_while_pictures_are_compared_ends_the_review_as_stopped(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN))
    world.agents.interrupted = ReviewInterrupted("interrupted by SIGTERM", signal_number=15)
    document = world.review()
    assert (document.outcome, document.because) == (Outcome.STOPPED, ("interrupted by SIGTERM",))
    assert (world.agents.asked, [each.state for each in document.pictures]) == ([], ["unreadable"])


def test_spent_credit_stops_the_review(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN))
    world.agents.script(Role.EXECUTOR, credit_gone(), surface=VISUAL)
    assert world.review().outcome is Outcome.STOPPED


def test_a_verdict_that_never_came_is_no_approval(world: MockWorld) -> None:
    with_pictures(world, picture_differs(LOGIN), picture("shots/b.png", "unreadable", "damaged"))
    world.agents.script(Role.EXECUTOR, approve(), surface=Surface.PR_REVIEW)
    world.agents.script(Role.EXECUTOR, lost(), surface=VISUAL)
    assert world.review().outcome is Outcome.STOPPED


def test_without_pictures_there_is_no_such_surface(world: MockWorld) -> None:
    assert [row.surface for row in world.review().policy.surfaces] == [Surface.PR_REVIEW]
