"""However a review is told, it tells of every remark: as a finding, within one, or as refused. The counts agree."""

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.forge_text.judge import OURS, offences, words
from tests.unit.forge_text.stories import placed_nowhere, remembers, told
from tests.unit.ledger.test_runs import RUN

from review_advisor.agents.answers import SEVERITIES
from review_advisor.agents.findings import merged_into
from review_advisor.github.check_text import annotations_of, check_of
from review_advisor.github.comment_text import finding_body, finding_words, inline_comments, summary_body
from review_advisor.github.log_text import job_summary
from review_advisor.github.sarif import sarif
from review_advisor.github.sections import MOST_MERGED
from review_advisor.ledger.pages import RunPage
from review_advisor.ledger.rows import readings_of
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld, deleted, edited
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.report import report_text

RULES = PublicationRules()
PATHS = ("src/a.py", "src/b.py", "src/gone.py")
REMARKS = st.lists(
    st.tuples(
        st.sampled_from([*PATHS, "src/not_there.py"]),
        st.integers(1, 3),
        st.sampled_from(["same()", "value = 1", "value = 3", "invented()"]),
        st.sampled_from(SEVERITIES),
    ),
    max_size=9,
)


def named(remarks: list[tuple[str, int, str, str]]) -> list[dict[str, Any]]:
    """Each with a title of its own, by which it is found again."""
    return [
        {**finding(path, line, quote, severity, f"remark {number} ends"), "body": f"body {number} ends"}
        for number, (path, line, quote, severity) in enumerate(remarks)
    ]


def reviewed(*reports: list[dict[str, Any]]) -> OutcomeDocument:
    """One review; two reports are of two surfaces that look at the same lines."""

    def tell(world: MockWorld) -> None:
        files = (edited(PATHS[0], 3, "same()"), edited(PATHS[1], 3), deleted(PATHS[2], 3))
        world.change(*files, spec="as wished" if len(reports) > 1 else None)
        world.agents.script(Role.EXECUTOR, *(reject(*each) for each in reports))

    return told(tell)


def titles(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"remark (\d+) ends", text)}


@pytest.mark.every_case
@settings(max_examples=30)
@given(st.lists(REMARKS, min_size=1, max_size=2))
def test_every_account_tells_every_remark_and_the_same_numbers(raw: list[list[tuple[str, int, str, str]]]) -> None:
    raw = [[*report, (PATHS[0], 1, "same()", "low")] for report in raw]  # a rejection needs one finding that stands
    every = named([remark for report in raw for remark in report])
    document = reviewed(every[: len(raw[0])], *([every[len(raw[0]) :]] if len(raw) > 1 else []))
    kept, merged = len(document.findings), merged_into(document.findings)
    refused = sum(len(part.reports[-1].refused) for each in document.surfaces for part in each.parts)
    assert kept + merged + refused == len(every)
    believed = {int(each.title.split()[1]) for each in document.findings}
    believed |= {int(also.title.split()[1]) for each in document.findings for also in each.also}
    assert read_outcome(outcome_json(document)) == document

    text = report_text(document)
    assert titles(text) == set(range(len(every)))
    counted = "none" if not kept else f"{kept}{f' ({merged} more merged into them)' if merged else ''}"
    assert f"\nFindings: {counted}\n" in text

    summary = summary_body(document, RULES, remembers(document), placed_nowhere(document))
    page, check = job_summary(document), check_of(document, RULES, 7)
    for each in (summary, page, check.summary):
        assert offences(each, OURS) == []
    severities = Counter(each.severity for each in document.findings)
    heading = ", ".join(f"{severities[each]} {each}" for each in SEVERITIES if severities[each])
    assert f"Changes requested{f': {heading}' if heading else ''}\n" in summary
    assert titles(words(summary)) == set(range(len(every)))
    assert titles(words(page)) == set(range(len(every)))

    comments = inline_comments(document.findings)
    assert len(comments) == kept
    assert titles("".join(words(each.body) for each in comments)) == believed

    removed = sum(each.removed for each in document.findings)
    assert len(check.annotations) == len(annotations_of(document.findings)) == kept - removed
    on_page = words(check.summary) + "".join(f"{each.title}\n{each.message}" for each in check.annotations)
    hidden = {int(also.title.split()[1]) for each in document.findings if each.removed for also in each.also}
    assert titles(on_page) >= set(range(len(every))) - hidden

    (run,) = sarif(document, "1")["runs"]
    assert len(run["results"]) == kept
    assert titles(json.dumps(run["results"])) == believed

    readings = readings_of(document)
    assert (readings.run["findings"], len(readings.tables["findings"])) == (kept, kept)
    shown = RunPage(replace(RUN, findings=kept), document.events, document).as_json()
    assert len(shown["findings"]) == kept
    assert titles(json.dumps(shown["findings"])) == believed
    assert (["Merged into them", str(merged)] in shown["summary"]) == bool(merged)


def test_a_remark_that_was_not_believed_is_told_on_the_pull_request_with_the_reason() -> None:
    document = reviewed(
        named(
            [
                ("src/a.py", 1, quote, severity)
                for quote, severity in (("invented()", "critical"), ("made_up()", "low"), ("same()", "low"))
            ]
        )
    )
    for told_there in (summary_body(document, RULES, remembers(document)), check_of(document, RULES, 7).summary):
        assert "<summary>Not believed: 2 remarks</summary>" in told_there
        critical = "- **critical** `src/a.py`: remark 0 ends: its evidence does not stand in the changed lines"
        assert told_there.index(critical) < told_there.index("- **low** `src/a.py`: remark 1 ends")


def test_however_many_remarks_are_merged_their_comment_fits_and_says_how_many_it_does_not_name() -> None:
    remarks = [{**each, "body": "é<" * 4_000} for each in named([("src/a.py", 1, "same()", "high")] * 60)]
    (found,) = reviewed(remarks).findings
    body = finding_words(found)
    assert titles(body) == set(range(1, 1 + MOST_MERGED))
    assert f"And {59 - MOST_MERGED} more remarks; outcome.json has them all." in body
    assert "more remarks" in finding_body(found)
    assert finding_body(found).endswith("in the conversation.</sub>")
