"""The log of the run: ten annotations of a level, each as the runner reads it."""

from collections import Counter
from dataclasses import replace

from tests.unit.forge_text.stories import STORIES, rejecting, remark, told

from review_advisor.github.log_text import log_lines
from review_advisor.mockworld.agents import reject
from review_advisor.mockworld.world import MockWorld, deleted
from review_advisor.policy.surfaces import Role


def test_the_log_shows_ten_of_a_level_and_says_how_many_it_does_not() -> None:
    lines = list(log_lines(told(STORIES["300 findings"])))
    assert lines[0] == "review-advisor: Changes requested: 74 critical, 76 high, 76 medium, 74 low"
    assert Counter(line.partition(" ")[0] for line in lines[1:-1]) == {"::error": 10, "::warning": 10, "::notice": 10}
    assert lines[-1].startswith("review-advisor: 270 more findings not shown as annotations")


def test_a_line_of_the_log_is_escaped_as_the_runner_reads_it() -> None:
    document = told(rejecting(remark(7, body="100% sure:\n::error::forged, really")))
    finding = replace(document.findings[0], path="src/a,b:c%.py", title="one, two: three%")
    command = list(log_lines(replace(document, findings=(finding,))))[1]
    place = "file=src/a%2Cb%3Ac%25.py,line=7,endLine=7,title=High%3A one%2C two%3A three%25"
    assert command.startswith(f"::error {place}::100%25 sure:%0A: :error::forged, really%0A%0Acorrectness")


def test_a_finding_on_a_removed_line_is_counted_though_the_log_cannot_place_it() -> None:
    def tell(world: MockWorld) -> None:
        world.change(deleted("src/app.py"))
        world.agents.script(Role.EXECUTOR, reject(remark(7)))

    assert [line.partition(" not")[0] for line in log_lines(told(tell))] == [
        "review-advisor: Changes requested: 1 high",
        "review-advisor: 1 more finding",
    ]
