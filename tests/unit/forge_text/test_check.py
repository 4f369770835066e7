"""Check runs: what they conclude, what they say, and that nothing unreviewed ever passes."""

from dataclasses import replace

import pytest
from tests.unit.forge_text.judge import OURS, offences
from tests.unit.forge_text.stories import STORIES, remark, told

from review_advisor.change.change import FileChange, Status
from review_advisor.change.pull_request import PullRequest
from review_advisor.change.redaction import NO_SECRETS
from review_advisor.github.beginning import Waiting, breaker_open, draft_waits, fork_waits, rounds_used_up, same_head
from review_advisor.github.check_text import (
    annotations_of,
    check_did_not_run,
    check_in_progress,
    check_of,
    check_of_queue,
    check_overridden_by,
    check_superseded,
    check_waiting,
)
from review_advisor.github.sections import conclusion_of, how
from review_advisor.github.writes import Conclusion
from review_advisor.mockworld.agents import approve, confirm, lost, reject
from review_advisor.mockworld.world import MockWorld, deleted, edited
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

RULES = PublicationRules()


@pytest.mark.parametrize(
    "outcome, conclusion",
    [
        (Outcome.APPROVED, Conclusion.SUCCESS),
        (Outcome.CHANGES_REQUESTED, Conclusion.FAILURE),
        (Outcome.ESCALATED, Conclusion.ACTION_REQUIRED),
        (Outcome.STOPPED, Conclusion.FAILURE),
    ],
)
def test_each_outcome_has_one_conclusion(outcome: Outcome, conclusion: Conclusion) -> None:
    assert conclusion_of(replace(told(), outcome=outcome)) is conclusion


@pytest.mark.parametrize("story", ["degraded", "advisor disabled"])
def test_fail_on_degraded_calls_a_human_and_the_title_says_so(story: str) -> None:
    def tell(world: MockWorld) -> None:
        world.rules = replace(world.rules, fail_on_degraded=True)
        STORIES[story](world)

    check = check_of(told(tell), RULES, 7)
    assert check.conclusion is Conclusion.ACTION_REQUIRED
    assert check.title.startswith("Approved (a human must decide: fail_on asks for a verified approval; ")


def test_a_review_under_way_concludes_nothing() -> None:
    check = check_in_progress(RULES, 7)
    assert (check.conclusion, check.external_id) == (None, "pr-7")


def test_the_page_says_what_was_decided_why_and_what_it_cost() -> None:
    def tell(world: MockWorld) -> None:
        STORIES["changes requested"](world)
        world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED", "no")

    summary = check_of(told(tell), RULES, 7, ("The label could not be put on.",)).summary
    for words in (
        "> two values clash\n\n**What next**: fix what is open and push.",
        "not the author, can post `/advisor dismiss FINDING reason` with its `f-` id. After the last one",
        "| pr_review | changes requested | agrees | 1 |",
        "**Change**: 1 file, 30 changed lines of code, blast radius low.",
        "**Read**: 1 of 1 file.",
        "**Cost**: 0.0000 USD; 2 calls, 0 tokens in",
        "- The label could not be put on.",
        f"Run `run-1`, head `{'a' * 40}`.",
    ):
        assert words in summary
    assert f"can let the head pass with `/advisor override {'a' * 40} reason`." in summary


def test_a_cost_that_is_known_in_part_is_said_so() -> None:
    def tell(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, approve().costing(0.2))
        world.agents.script(Role.POST_VERIFY, confirm().costing(None))
        world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED", "no")

    summary = check_of(told(tell), RULES, 7).summary
    assert "**Cost**: 0.2000 USD, and 1 call unknown; 2 calls, " in summary
    assert " s, 0.20 USD, and 1 call unknown" in how(told(tell)).text


def test_the_page_of_an_escalation_shows_the_vetoes_and_the_command() -> None:
    summary = check_of(told(STORIES["escalated"]), RULES, 7).summary
    assert "The **executor** approves (attempt 2):\n\n> noted\n\nThe **advisor** vetoes:\n\n> a clash" in summary
    assert f"in their name:\n\n```\n/advisor override {'a' * 40} reason\n```" in summary


def test_a_stopped_review_says_when_there_is_credit_again() -> None:
    summary = check_of(told(STORIES["stopped"]), RULES, 7).summary
    assert "- there is credit again from 2026-01-05 17:30 UTC" in summary
    assert "| pr_review | not finished | not asked | 0 |" in summary
    assert "<summary>Read: 0 of 1 file</summary>\n\n- `src/app.py` was not read: no report came on its part" in summary


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "story, judged",
    [("degraded", "did not come"), ("advisor disabled", "switched off"), ("300 findings", "agrees (3)")],
)
def test_the_table_tells_a_missing_judgement_from_one_that_was_made_d13(story: str, judged: str) -> None:
    assert f" | {judged} | 1 |" in check_of(told(STORIES[story]), RULES, 7).summary


def test_an_empty_change_cost_nothing_and_read_nothing() -> None:
    summary = check_of(told(STORIES["empty change"]), RULES, 7).summary
    assert "**Cost**: no model was asked." in summary
    assert "**Read**" not in summary


def test_what_was_not_read_is_named_and_never_passes_d3() -> None:
    def tell(world: MockWorld) -> None:
        world.change(edited("src/app.py"), FileChange(Status.ADDED, "data/model.bin", binary=True))

    check = check_of(told(tell), RULES, 7)
    assert check.conclusion is Conclusion.ACTION_REQUIRED
    assert check.summary.startswith("- data/model.bin was not read: ")
    assert "**Read**: 1 of 2 files." in check.summary
    assert check.summary.count("data/model.bin") == 1


def test_a_lost_answer_is_named() -> None:
    summary = check_of(told(lambda world: world.agents.script(Role.POST_VERIFY, lost())), RULES, 7).summary
    assert "Answers that did not come: `pr_review/post_verify`." in summary


def test_annotations_carry_the_finding_to_its_lines_the_worst_first() -> None:
    def tell(world: MockWorld) -> None:
        remarks = [remark(3, "low"), remark(7, "critical", body="It is\ntaken."), remark(5, "medium")]
        world.agents.script(Role.EXECUTOR, reject(*remarks))

    worst, middle, least = check_of(told(tell), RULES, 7).annotations
    assert [each.level for each in (worst, middle, least)] == ["failure", "warning", "notice"]
    assert (worst.path, worst.start_line, worst.end_line) == ("src/app.py", 7, 7)
    assert worst.title == "Critical: value 7 is taken"
    assert worst.message.startswith("It is\ntaken.\n\ncorrectness, confidence 0.90, f-")


def test_a_removed_line_gets_no_annotation_for_the_head_does_not_have_it() -> None:
    def tell(world: MockWorld) -> None:
        world.change(deleted("src/app.py"))
        world.agents.script(Role.EXECUTOR, reject(remark(7)))

    check = check_of(told(tell), RULES, 7)
    assert check.annotations == ()
    assert "`src/app.py:7` (a removed line): value 7 is taken" in check.summary


def test_a_body_of_200_kb_is_cut_and_the_cut_is_said() -> None:
    (finding,) = told(STORIES["escalated"]).findings
    (made,) = annotations_of((replace(finding, title="t" * 900, body="line of words\n" * 15_000),))
    assert len(made.message) < 16_100
    assert made.message.endswith("more characters]")
    assert len(made.title) == 255
    assert made.title.endswith("…")


WAITING = [
    fork_waits(RULES, "a" * 40),
    draft_waits(),
    same_head(9),
    rounds_used_up(),
    breaker_open("the CLI <crashed> @ada", 3),
]


@pytest.mark.parametrize("waiting", WAITING)
def test_nothing_passes_while_somebody_has_to_act_first(waiting: Waiting) -> None:
    check = check_waiting(RULES, 7, waiting)
    assert check.conclusion is Conclusion.ACTION_REQUIRED
    assert check.title.startswith(("Not reviewed: ", "Not decided: "))
    assert offences(check.summary, OURS) == []


def test_each_wait_says_what_ends_it() -> None:
    said = "\n".join(each.words for each in WAITING)
    for words in ("`review-this-fork`", "marked as ready", "pull request 9", "10 reviews", "3 times"):
        assert words in said


def test_a_moved_head_and_a_review_that_did_not_run_never_pass() -> None:
    now = PullRequest("acme/shop", 7, "", "", "ada", "rel`ease", "b" * 40, "fix", "c" * 40, "acme/shop")
    moved = check_superseded(RULES, now, "a" * 40, NO_SECRETS)
    assert (moved.conclusion, moved.title) == (Conclusion.CANCELLED, "Superseded: the head has moved")
    assert f"`{'c' * 40}`" in moved.summary
    based = check_superseded(RULES, now, "c" * 40, NO_SECRETS)
    assert (based.conclusion, based.title) == (Conclusion.CANCELLED, "Superseded: the base branch has changed")
    assert "``rel`ease``" in based.summary
    failed = check_did_not_run(RULES, 7, "There is no outcome @ada.")
    assert (failed.conclusion, failed.title) == (Conclusion.FAILURE, "The review did not run")
    assert "There is no outcome `@ada`." in failed.summary


def test_a_person_may_take_an_escalation_upon_themselves() -> None:
    check = check_overridden_by(RULES, 7, "ada", "I wrote it, see #12")
    assert (check.conclusion, check.title) == (Conclusion.SUCCESS, "Overridden by @ada")
    assert "`ada` lets this head pass: I wrote it, see `#12`" in check.summary


@pytest.mark.parametrize(
    "number, missing, conclusion, says",
    [
        (7, None, Conclusion.SUCCESS, "Pull request 7 passed"),
        (7, "It did not pass.", Conclusion.ACTION_REQUIRED, "Take pull request 7 out of the queue. It did not pass."),
        (None, "It did not pass.", Conclusion.ACTION_REQUIRED, "names no pull request"),
        (None, None, Conclusion.ACTION_REQUIRED, "names no pull request"),
    ],
)
def test_a_merge_queue_passes_with_the_review_of_the_pull_request_that_it_names(
    number: int | None, missing: str | None, conclusion: Conclusion, says: str
) -> None:
    check = check_of_queue(RULES, number, missing)
    assert check.conclusion is conclusion
    assert says in check.summary


@pytest.mark.parametrize("number, external", [(7, "pr-7"), (None, "pr-0")])
def test_a_check_of_a_merge_queue_names_the_pull_request_or_none(number: int | None, external: str) -> None:
    assert check_of_queue(RULES, number, None).external_id == external


@pytest.mark.every_case
def test_of_very_many_findings_the_worst_are_annotated_and_the_check_says_so() -> None:
    document = told(STORIES["escalated"])
    (one,) = document.findings
    many = tuple(
        replace(one, id=f"f-{n:010x}", line=n, severity="low" if n > 3 else "critical") for n in range(1, 1_202)
    )
    check = check_of(replace(document, findings=many[::-1]), RULES, 7)
    assert len(check.annotations) == 1_000
    assert [each.level for each in check.annotations[:4]] == ["failure", "failure", "failure", "notice"]
    assert "the worst 1,000 of 1,201 findings" in check.summary
