"""Whatever a review came to: what is written stays within GitHub's limits, and nothing in it acts."""

import json
from collections import Counter
from functools import cache

import pytest
from tests.unit.forge_text.judge import OURS, offences, tokens
from tests.unit.forge_text.stories import STORIES, placed_nowhere, remembers, told

from review_advisor.github.check_text import check_of
from review_advisor.github.comment_text import inline_comments, review_body, summary_body
from review_advisor.github.log_text import job_summary, log_lines
from review_advisor.github.sarif import sarif_json
from review_advisor.github.state import SUMMARY, StandingComment, finding_in, own_summaries, read_state
from review_advisor.github.writes import MOST_CHARACTERS, Conclusion
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN, PublicationRules
from review_advisor.review.document import OutcomeDocument

RULES = PublicationRules(reviewers=("grace", "org/reviewers"))
REPETITIVE = {"300 findings", "hostile", "taught"}
"""Stories in which the agents repeat themselves; elsewhere it is only the claim that a veto of MockWorld is against."""
EVERY = pytest.mark.parametrize("story", STORIES)


@cache
def document(story: str) -> OutcomeDocument:
    return told(STORIES[story])


@pytest.mark.one_in(3)
@EVERY
def test_the_summary_comment(story: str) -> None:
    its = document(story)
    state = remembers(its)
    body = summary_body(its, RULES, state, placed_nowhere(its), ("The token may not ask @org/reviewers.",))
    assert body.startswith(f"{SUMMARY}\n### ")
    assert len(body.encode()) <= MOST_CHARACTERS
    assert offences(body, OURS) == []
    html = [token.content for token in tokens(body) if token.type == "html_block"]
    assert sum("<details>" in each for each in html) == sum("</details>" in each for each in html)
    standing = StandingComment(1, ACTIONS_LOGIN, body)
    assert own_summaries((standing,), ACTIONS_LOGIN) == (standing,)
    assert read_state(standing, ACTIONS_LOGIN) == state


@pytest.mark.parametrize("story", sorted(STORIES.keys() - REPETITIVE))
def test_nothing_is_said_twice_in_one_text(story: str) -> None:
    its = document(story)
    summary = summary_body(its, RULES, remembers(its), placed_nowhere(its), ("A note that is long enough.",))
    for text in (summary, check_of(its, RULES, 7).summary, job_summary(its)):
        said = Counter(line.lstrip("> -*") for line in text.split("\n") if len(line) > 25)
        assert {line for line, times in said.items() if times > 1} <= {"against: the change is fine"}


@EVERY
def test_the_check(story: str) -> None:
    check = check_of(document(story), RULES, 7, ("A note on #12.",))
    assert (check.name, check.external_id) == ("review-advisor", "pr-7")
    assert check.conclusion is not None
    assert 0 < len(check.title) <= 255
    assert "\n" not in check.title
    assert len(check.summary.encode()) <= MOST_CHARACTERS
    assert offences(check.summary, OURS) == []
    for each in check.annotations:
        assert 1 <= each.start_line <= each.end_line
        assert 0 < len(each.title) <= 255
        assert 0 < len(each.message.encode()) <= 65_536
        json.dumps(each.path).encode().decode()
        each.path.encode()


@EVERY
def test_the_comments_on_the_diff(story: str) -> None:
    its = document(story)
    comments = inline_comments(its.findings)
    assert len(comments) == len(its.findings)
    for each in comments:
        assert finding_in(each.body) == each.finding
        assert len(each.body.encode()) <= MOST_CHARACTERS
        assert offences(each.body, OURS) == []
        assert each.start_line is None or each.start_line < each.line
    assert offences(review_body(its, len(comments), [each.severity for each in its.findings]), OURS) == []


@pytest.mark.one_in(3)
@EVERY
def test_the_page_of_the_run(story: str) -> None:
    page = job_summary(document(story), ("A note.",))
    assert len(page.encode()) <= 1_048_576
    assert offences(page, OURS) == []
    assert page.endswith("\n")


@pytest.mark.one_in(3)
@EVERY
def test_the_log(story: str) -> None:
    lines = list(log_lines(document(story)))
    assert lines[0].startswith("review-advisor: ")
    assert not any("\n" in line or "\r" in line for line in lines)
    for line in lines:
        assert line.startswith(("review-advisor: ", "::error file=", "::warning file=", "::notice file="))
        line.encode()
    for command in ("::error", "::warning", "::notice"):
        assert sum(line.startswith(command) for line in lines) <= 10


@EVERY
def test_the_sarif_log(story: str) -> None:
    its = document(story)
    log = json.loads(sarif_json(its, "1.2.3").encode())
    assert len(log["runs"][0]["results"]) == len(its.findings)


TITLES = {
    "approved": ("Approved", Conclusion.SUCCESS),
    "degraded": ("Approved (degraded: not verified by the advisor)", Conclusion.SUCCESS),
    "advisor disabled": ("Approved (advisor switched off)", Conclusion.SUCCESS),
    "changes requested": ("Changes requested: 1 high, 1 low", Conclusion.FAILURE),
    "escalated": ("A person has to decide (retries exhausted)", Conclusion.ACTION_REQUIRED),
    "stopped": ("The review did not run to its end", Conclusion.FAILURE),
    "empty change": ("Nothing to review: the change is empty", Conclusion.SUCCESS),
    "repair attached": ("Changes requested (after a veto was answered; a repair is attached)", Conclusion.FAILURE),
    "taught": ("Approved", Conclusion.SUCCESS),
    "300 findings": ("Changes requested: 74 critical, 76 high, 76 medium, 74 low", Conclusion.FAILURE),
    "hostile": ("A person has to decide (retries exhausted)", Conclusion.ACTION_REQUIRED),
}


@pytest.mark.parametrize("story, expected", TITLES.items())
def test_the_verdict_on_the_check(story: str, expected: tuple[str, Conclusion]) -> None:
    check = check_of(document(story), RULES, 7)
    assert (check.title, check.conclusion) == expected
