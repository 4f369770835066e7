"""The promises about findings: none is lost, each is believed for its quote alone, and stands where that does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from review_advisor.agents.findings import Finding
from review_advisor.change.change import FileChange
from review_advisor.mockworld.promises.played_review import Reading, answer_of
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import Reported, UnfoundedRejection

SHORTEST = 4
"""Characters of a quote that proves something."""
STRUCTURE = "adr-structure"


def _reports(reading: Reading) -> Iterator[tuple[dict[str, Any], Reported | UnfoundedRejection]]:
    """Each report of an executor, as it was said and as it was recorded, but for those of the diff alone."""
    recorded: dict[int, Reported | UnfoundedRejection] = {e.number: e for e in reading.events(UnfoundedRejection)}
    recorded |= {e.number: e for e in reading.events(Reported) if not e.structural}
    for asked in reading.review.asked:
        call, answer = asked.call, answer_of(asked)
        event = recorded.get(call.number)
        if call.role is Role.EXECUTOR and not call.blind and answer is not None and event is not None:
            yield answer, event


def _said_by_agent(event: Reported | UnfoundedRejection) -> list[Finding]:
    """The findings that the executor said: none of its advisor's, of the harness, or of the check of a record."""
    found = [each for each in event.report.findings if not each.raised_by and not each.harness]
    return [each for each in found if event.surface is not Surface.ADR_REVIEW or each.category != STRUCTURE]


def no_finding_is_lost(reading: Reading) -> Iterator[str]:
    """Every finding that an executor reported is kept, part of one that is kept, or refused with a reason."""
    for answer, event in _reports(reading):
        said = Counter((str(each["severity"]), str(each["title"])) for each in answer["findings"])
        report = event.report
        told: Counter[tuple[str, str]] = Counter((each.severity, each.title) for each in _said_by_agent(event))
        told.update((remark.severity, remark.title) for each in report.findings for remark in each.also)
        told.update((each.severity, each.title) for each in report.refused if each.why)
        if said != told:
            yield f"{event.surface}, part {event.shard + 1}: {said - told} is lost, {told - said} was never said"


def what_proves_nothing_is_refused(reading: Reading) -> Iterator[str]:
    """No finding is kept, and no disagreement settled, by a quote of less than four characters."""
    for answer, event in _reports(reading):
        for each in _said_by_agent(event):
            if len(each.evidence.strip()) < SHORTEST:
                yield f"the finding {each.title!r} is kept with the quote {each.evidence!r}"
        proven = {each["disagreement"] for each in answer["answers"] if len(each["evidence"].strip()) >= SHORTEST}
        if not set(event.report.settled) <= proven:
            yield f"{', '.join(event.report.settled)} are settled, proof was given for {', '.join(sorted(proven))}"


def a_finding_stands_where_its_quote_does(reading: Reading) -> Iterator[str]:
    """A finding names lines of its quote, and of several places the one nearest to the line that was reported."""
    first = reading.review.events[0]
    if getattr(first, "shards", 1) != 1:
        return  # a part holds some lines of a file only
    files = {file.path: file for file in reading.review.change.files}
    for answer, event in _reports(reading):
        if event.surface is not Surface.PR_REVIEW or event.attempt:
            continue  # a repair may have moved the lines
        stated = {(each["title"], each["evidence"], each["severity"]): each["line"] for each in answer["findings"]}
        alone = Counter((each["title"], each["evidence"], each["severity"]) for each in answer["findings"])
        for each in event.report.findings:
            key = (each.title, each.evidence, each.severity)
            if alone[key] != 1 or each.removed or not each.evidence.isprintable():
                continue
            shown = _new_lines(files[each.path]) if each.path in files else {}
            places = [number for number, text in shown.items() if each.evidence in text]
            near = min((abs(number - stated[key]) for number in places), default=None)
            if near is not None and (each.line not in places or abs(each.line - stated[key]) != near):
                yield f"{each.title!r} is said of line {each.line}, its quote stands in {places}, stated {stated[key]}"


def _new_lines(file: FileChange) -> dict[int, str]:
    """The lines of the head that the diff shows, by their number."""
    lines: dict[int, str] = {}
    for hunk in file.hunks:
        number = hunk.new_start
        for line in hunk.lines:
            if line[:1] in (" ", "+"):
                lines[number] = line[1:]
                number += 1
    return lines
