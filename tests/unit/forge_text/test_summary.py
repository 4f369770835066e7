"""The one comment that is edited in place: what is new, what is open, what is settled, and the memory at its end."""

from dataclasses import replace

import pytest
from tests.unit.forge_text.judge import OURS, offences
from tests.unit.forge_text.stories import STORIES, placed_nowhere, rejecting, remark, remembers, told

from review_advisor.github.comment_text import MOST_SUMMARY, amended, summary_body, summary_did_not_run
from review_advisor.github.findings_text import MOST_IN_FULL
from review_advisor.github.sections import LEFT_OUT
from review_advisor.github.state import SUMMARY, KnownFinding, StandingComment, State, read_state, state_block
from review_advisor.github.writes import MOST_CHARACTERS
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN, PublicationRules

RULES = PublicationRules()
OLDER = "f-01234567890123456789012345678901"


def test_a_second_push_tells_new_open_and_settled_findings_apart() -> None:
    before = remembers(told(rejecting(remark(1), remark(2, "medium"), remark(3, "low"))))
    dismissed = before.findings[2].model_copy(update={"status": "dismissed", "by": "ada", "reason": "see #12"})
    second = told(rejecting(remark(1), remark(3, "low"), remark(9)), earlier=1)
    after = remembers(second, before.model_copy(update={"findings": (*before.findings[:2], dismissed)}))
    body = summary_body(second, RULES, after)
    assert "### ❌ Changes requested: 2 high\n" in body
    assert f"`src/app.py:1`: value 1 is taken (`{second.findings[0].id}`), still open\n" in body
    assert f"`src/app.py:9`: value 9 is taken (`{second.findings[2].id}`)\n" in body
    settled = body[body.index("<summary>Settled: 1 fixed, 1 dismissed</summary>") :]
    assert "- fixed: **medium** `src/app.py:2`" in settled
    assert "- dismissed: **low** `src/app.py:3`: value 3 is taken" in settled
    assert ", by `ada`: see `#12`\n" in settled
    assert summary_body(second, RULES, remembers(second, after)) == body


def test_what_was_fixed_before_is_not_told_again() -> None:
    first = remembers(told(rejecting(remark(1))))
    second = remembers(told(earlier=1), first)
    third = told(earlier=2)
    assert "- fixed: **high** `src/app.py:1`" in summary_body(told(earlier=1), RULES, second)
    assert "Settled" not in summary_body(third, RULES, remembers(third, second))


def test_an_older_finding_that_was_not_looked_at_stays_in_the_list() -> None:
    document = told(earlier=1)
    older = KnownFinding(id=OLDER, path="b.py", line=4, title="leaks @ada", severity="critical")
    state = remembers(document).model_copy(update={"findings": (older,)})
    body = summary_body(document, RULES, state)
    assert f"**Still open** since the last review:\n\n- **critical** `b.py:4`: leaks `@ada` (`{OLDER}`)\n" in body


def test_findings_for_which_the_memory_has_no_room_are_counted() -> None:
    state = remembers(told(earlier=1))
    assert "memory" not in summary_body(told(earlier=1), RULES, state)
    body = summary_body(told(earlier=1), RULES, state.model_copy(update={"forgotten": 3}))
    assert (
        "*3 earlier findings no longer fit into the bot's memory. The next review reads the whole change again.*"
        in body
    )


def test_what_was_learned_stands_there_in_full_because_nothing_else_of_the_job_stays() -> None:
    document = told(STORIES["taught"])
    body = summary_body(document, RULES, remembers(document))
    assert "<summary>Knowledge for the wiki: 2 pages</summary>" in body
    assert "- `values-are-numbered.md`: Values are numbered\n\n> It has been so for years." in body


def test_an_approval_is_short() -> None:
    body = summary_body(told(), RULES, remembers(told()))
    shown = body[: body.index("<!-- review-advisor:state")]
    assert shown.startswith(f"{SUMMARY}\n### ✅ Approved\n\n> looks right\n\n**Findings**: none open.\n\n")
    assert "What next" not in shown
    assert shown.count("<details>") == 1
    assert len(shown) < 1_200


def test_a_stopped_review_does_not_say_that_nothing_was_found() -> None:
    document = told(STORIES["stopped"])
    assert "none open" not in summary_body(document, RULES, remembers(document))


def test_an_escalation_names_who_was_called_and_hands_over_the_transcript_d23() -> None:
    document = told(STORIES["escalated"])
    rules = PublicationRules(reviewers=("grace", "org/team"))
    body = summary_body(document, rules, remembers(document))
    assert "### ✋ A person has to decide (retries exhausted)\n" in body
    assert "Asked to look: `grace`, `org/team`." in body
    at_once, _, transcript = body.partition("<summary>Disagreement transcript</summary>")
    assert "The **executor** approves (attempt 2):\n\n> noted\n\nThe **advisor** vetoes:\n\n> a clash" in at_once
    assert "The **executor** approves (attempt 1):\n\n> fine" in transcript
    assert "Suggested direction: look at line 7" in transcript
    assert "Consult, answered.\n\n> may seven repeat?\n>\n> it may" in transcript


def test_a_person_who_approves_is_seen_first_and_the_review_is_folded() -> None:
    document = told(STORIES["escalated"])
    state = remembers(document)
    before = summary_body(document, RULES, state)
    once = amended(before, state.model_copy(update={"approved_by": "ada"}))
    assert once.startswith(f"{SUMMARY}\n### ✅ Overridden by `ada`\n")
    assert "<summary>The review that did not approve</summary>\n\n### ✋ A person has to decide" in once
    twice = amended(once, state.model_copy(update={"approved_by": "bob"}))
    assert _shown(twice) == _shown(once).replace("`ada`", "`bob`")
    assert summary_body(document, RULES, state.model_copy(update={"approved_by": "ada"})) == once
    assert amended(once, state) == before


def _shown(body: str) -> str:
    return body[: body.index("<!-- review-advisor:state")]


def test_what_people_settled_stands_once_however_often_they_say_it() -> None:
    document = told(rejecting(remark(1), remark(2)))
    state = remembers(document)
    body = summary_body(document, RULES, state)
    for reason in ("first", "second"):
        for at in (0, 1, 0):
            state = dismissing(state, at, reason)
            body = amended(body, state)
    first, second = document.findings
    assert body.startswith(
        f"{SUMMARY}\n**Since this review**:\n\n- `ada` dismissed `{first.id}`: second\n"
        f"- `ada` dismissed `{second.id}`: second\n\n"
    )
    assert body.count("dismissed") == 2
    assert body.count("### ❌ Changes requested") == 1
    assert read_state(StandingComment(1, ACTIONS_LOGIN, body), ACTIONS_LOGIN) == state
    following = told(rejecting(remark(2)), earlier=1)
    after = remembers(following, state)
    anew = summary_body(following, RULES, after)
    assert "Since this review" not in anew
    assert "<summary>Settled: 2 dismissed</summary>" in anew


def dismissing(state: State, at: int, reason: str) -> State:
    """As the command does it."""
    done = {"status": "dismissed", "changed_in": state.run_id, "reason": reason, "by": "ada"}
    findings = [each.model_copy(update=done) if n == at else each for n, each in enumerate(state.findings)]
    return state.model_copy(update={"findings": tuple(findings)})


def test_words_that_give_way_to_what_people_did_end_whole() -> None:
    """A version before this one wrote summaries of twice the length that is written today."""
    document = told(rejecting(*(remark(n) for n in range(1, 31))))
    state = remembers(document)
    long = "\n\n".join(["```\n" + "code that is long\n" * 200 + "```"] * 16)
    body = summary_body(document, RULES, state).replace("**Findings**:", f"**Findings**:\n\n{long}")
    assert MOST_SUMMARY < len(body.encode()) <= MOST_CHARACTERS
    for at in range(30):
        state = dismissing(state, at, f"reason {at * 7919 % 1000} " + "&" * 480)
    body = amended(body, state)
    assert len(body.encode()) <= MOST_CHARACTERS
    assert "- and 20 more findings dismissed" in body
    assert f"{LEFT_OUT}\n\n{state_block(state)}" in body
    assert offences(body, OURS) == []
    assert read_state(StandingComment(1, ACTIONS_LOGIN, body), ACTIONS_LOGIN) == state


def test_a_finding_without_a_place_in_the_diff_is_told_whole() -> None:
    document = told(rejecting(remark(7, body="It clashes.\n\nTwice.")))
    body = summary_body(document, RULES, remembers(document), placed_nowhere(document))
    assert "<summary>1 finding without a comment on the diff</summary>" in body
    assert f"`{document.findings[0].id}`\n\nIt clashes.\n\nTwice.\n\n</details>" in body
    assert body.count("value 7 is taken") == 1


def test_the_repair_is_shown_with_its_patch() -> None:
    document = told(STORIES["repair attached"])
    body = summary_body(document, RULES, remembers(document))
    assert "With this patch, and only with it, pr_review is approved (attempt 2)." in body
    assert "+x = rows[0] if rows else 0\n" in body


def test_where_there_is_no_room_sections_give_way_in_order_and_the_memory_never_does() -> None:
    document = told(STORIES["300 findings"])
    state = remembers(document)
    body = summary_body(document, RULES, state, placed_nowhere(document))
    assert len(body.encode()) <= MOST_CHARACTERS
    assert body.endswith(f"\n\n{state_block(state)}")
    assert len(body.encode()) <= MOST_SUMMARY
    assert body.count("- **critical** `src/") == MOST_IN_FULL
    assert "**Findings**:\n\n- **critical**" in body
    assert "\n\n| severity | where | what | id |\n| --- | --- | --- | --- |\n| critical | `src/a.py:" in body
    assert "more findings, counted by file (" in body


@pytest.mark.every_case
def test_a_long_quarrel_waits_until_it_is_said_what_to_do() -> None:
    short, long = told(STORIES["escalated"]), told(STORIES["hostile"])
    order = [
        body.index("**What next**") > body.index("The **advisor** vetoes")
        for body in (summary_body(each, RULES, remembers(each)) for each in (short, long))
    ]
    assert order == [True, False]


@pytest.mark.every_case
def test_even_a_document_made_to_be_long_stays_within_the_limit() -> None:
    document = told(STORIES["hostile"])
    endless = replace(document, because=("`&`@a " * 20_000,) * 400, cut=("&" * 9_000,) * 400)
    body = summary_body(endless, RULES, remembers(document), placed_nowhere(document), ("&@a " * 500,) * 300)
    assert len(body.encode()) <= MOST_CHARACTERS
    assert offences(body, OURS) == []


def test_a_review_that_did_not_run_keeps_what_is_known() -> None:
    state = remembers(told(rejecting(remark(7))))
    body = summary_did_not_run("The job was cancelled by @ada.", state)
    assert body.startswith(f"{SUMMARY}\n### ⛔ The review did not run\n\nThe job was cancelled by `@ada`.\n\n")
    assert "**Still open** since the last review:\n\n- **high** `src/app.py:7`: value 7 is taken" in body
    assert read_state(StandingComment(1, ACTIONS_LOGIN, body), ACTIONS_LOGIN) == state


@pytest.mark.every_case
def test_a_memory_that_does_not_fit_gives_way_in_part() -> None:
    state = remembers(told())
    unlike = [f"{n * 7919 % 10**9:09x}"[-9:] for n in range(3_000)]
    many = tuple(
        KnownFinding(id=f"f-{each:0>32}", path=f"{each}.py", line=1, title=each, severity="low") for each in unlike
    )
    huge: State = state.model_copy(update={"findings": many})
    body = summary_body(told(), RULES, huge)
    kept = read_state(StandingComment(1, ACTIONS_LOGIN, body), ACTIONS_LOGIN)
    assert kept is not None
    assert (kept.head_sha, kept.complete, kept.findings[:1]) == (state.head_sha, False, many[:1])
    assert len(kept.findings) + kept.forgotten == len(many)
    assert f"*{kept.forgotten:,} earlier findings no longer fit" in body
    assert len(body.encode()) <= MOST_CHARACTERS


def test_a_comment_has_no_empty_lines_for_what_it_does_not_say() -> None:
    state = remembers(told())
    assert amended(SUMMARY, state) == f"{SUMMARY}\n\n{state_block(state)}"
    assert summary_did_not_run("No credit.", None).endswith("starts a review.")
