"""Every finding that is listed in full leads to its lines, and every review to the page of its run."""

from dataclasses import replace

import pytest
from tests.unit.forge_text.judge import OURS, offences, tokens
from tests.unit.forge_text.stories import remembers, told
from tests.unit.forge_text.test_finding_list import RULES, a_finding, mixed, with_findings

from review_advisor.github.check_text import check_of
from review_advisor.github.comment_text import summary_body
from review_advisor.github.findings_text import MOST_IN_FULL
from review_advisor.github.sections import MOST_TARGET, CommitLinks, run_link
from review_advisor.review.document import OutcomeDocument

HEAD, BASE = told().head_sha, told().base_sha
RUN = "https://github.example/run/1"


def targets(markdown: str) -> list[str]:
    """Where the links of a text lead."""
    return [str(token.attrs["href"]) for token in tokens(markdown) if token.type == "link_open"]


def summary(document: OutcomeDocument) -> str:
    return summary_body(document, RULES, remembers(document), run_page=RUN)


def test_each_finding_in_the_list_leads_to_its_lines_at_the_reviewed_head() -> None:
    document = with_findings(a_finding(3, "high"), a_finding(7, "low", "src/b.py"))
    lines = [f"/a/shop/blob/{HEAD}/src/a.py?plain=1#L3", f"/a/shop/blob/{HEAD}/src/b.py?plain=1#L7"]
    assert targets(summary(document)) == [*lines, RUN]


def test_a_finding_on_a_removed_line_leads_to_the_base() -> None:
    document = with_findings(replace(a_finding(3, "high"), removed=True))
    line = f"/a/shop/blob/{BASE}/src/a.py?plain=1#L3"
    assert targets(summary(document)) == [line, RUN]
    assert targets(check_of(document, RULES, 7).summary) == [line]


def test_an_older_finding_that_is_still_open_has_its_link_and_a_settled_one_has_none() -> None:
    first = with_findings(a_finding(3, "high"), a_finding(9, "low", "src/gone.py"))
    second = replace(with_findings(), run_id="run-2", coverage=())
    state = remembers(second, remembers(first))
    statuses = {"src/a.py": "open", "src/gone.py": "fixed"}
    left = tuple(each.model_copy(update={"status": statuses[each.path]}) for each in state.findings)
    body = summary_body(second, RULES, state.model_copy(update={"findings": left}))
    assert targets(body) == [f"/a/shop/blob/{HEAD}/src/a.py?plain=1#L3"]


def test_the_worst_that_stand_in_full_have_links_and_the_rows_leave_their_room_to_more_findings() -> None:
    document = with_findings(*mixed({"critical": 60}))
    assert len([each for each in targets(summary(document)) if "/blob/" in each]) == MOST_IN_FULL


@pytest.mark.parametrize(
    "path", ["src/a b.py", "a](http://evil.example)", "`a`|b.py", "@everyone.py", "ü/#1?.py", "a/../b"]
)
def test_a_name_cannot_lead_anywhere_else(path: str) -> None:
    body = summary(with_findings(a_finding(3, "high", path)))
    assert offences(body, OURS) == []
    (target, _) = targets(body)
    assert target.startswith(f"/a/shop/blob/{HEAD}/")
    assert target.endswith("?plain=1#L3")


def test_a_name_whose_link_would_be_longer_than_its_finding_has_none() -> None:
    links = CommitLinks("a/shop", HEAD or "")
    assert links.to("`a`", "a" * MOST_TARGET) == "`a`"
    assert links.to("`a`", "a", 3, 5).endswith("/a?plain=1#L3-L5)")


def test_the_page_of_the_check_leads_to_the_run_as_the_summary_does() -> None:
    document = with_findings()
    assert targets(check_of(document, RULES, 7, run_page=RUN).summary) == [RUN]
    assert targets(summary(document)) == [RUN]


@pytest.mark.parametrize("page", [None, "javascript:alert(1)", "https://a.example/x)[y](z", "//a.example/x", "/a b"])
def test_an_address_of_another_form_is_no_link(page: str | None) -> None:
    assert run_link("`run-1`", page) == "`run-1`"
