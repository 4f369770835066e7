"""What a run's page tells, as values: a summary, what it cost, its findings, and a timeline of its events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from review_advisor.core.answers.findings import merged_into
from review_advisor.core.evaluation.calibration.confidence_pair import FindingKind
from review_advisor.core.evaluation.calibration.kind_records import kinds_of
from review_advisor.core.ledger.dispute_words import dispute_lines
from review_advisor.core.ledger.runs import RunLine, money_words
from review_advisor.core.observation.labels import ObservedLabel
from review_advisor.core.outcome.cost import RoleCost, role_costs
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, CallStarted, Event, PolicyFrozen, Ruled, Verified
from review_advisor.core.outcome.questions import ends_of_calls
from review_advisor.core.pages.costs import cost_json
from review_advisor.core.pages.entries import entry_json, finding_json
from review_advisor.core.pages.report_changes import became_of_advice, changes
from review_advisor.core.pages.text import page_lines, page_text
from review_advisor.core.report.advice_text import findings_by_id
from review_advisor.core.report.council_text import council_texts
from review_advisor.core.safety.fence import as_facts
from review_advisor.core.shadow.shadow_rollup import ShadowOfRun

_SERVER = re.compile(
    r"https://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*"
)


@dataclass(frozen=True, slots=True)
class RunPage:
    """A run's page. ``document`` is None while it is unfinished; ``labels`` say what became of its pull request.

    ``paid_elsewhere`` are the numbers of the calls that another run counts. ``trouble`` says why its events cannot be
    shown; then there are none. ``unlabelled`` says the same of the labels. ``in_shadow`` is what ran in its shadow.
    """

    line: RunLine
    events: tuple[Event, ...] = ()
    document: OutcomeDocument | None = None
    labels: tuple[ObservedLabel, ...] = ()
    paid_elsewhere: frozenset[int] = frozenset()
    trouble: str = ""
    unlabelled: str = ""
    in_shadow: tuple[ShadowOfRun, ...] = ()

    @property
    def counted(self) -> tuple[RoleCost, ...]:
        """What its calls used and no other run counts, by role and model."""
        return role_costs(call for number, call in self._calls() if number not in self.paid_elsewhere)

    def as_json(self) -> dict[str, Any]:
        """For the page. Its keys are ours; only values come from the run."""
        document = self.document
        kinds = kinds_of(document) if document else {}
        return {
            "run": shown_line(self.line) | {"server": self._server()},
            "trouble": page_text(self.trouble),
            "why": page_lines(document.because) if document else [],
            "summary": [[label, page_text(value)] for label, value in self._summary()],
            "costs": [cost_json(cost) for cost in role_costs(call for _, call in self._calls())],
            "findings": [
                {**finding_json(each), "became": self._became(each.id), **_kind(kinds, each.id)}
                for each in (document.findings if document else ())
            ],
            "became": self._became(""),
            "unlabelled": page_text(self.unlabelled),
            "disputes": page_lines(dispute_lines(map(as_facts, self._judgements()))),
            "council": [page_text(each) for each in council_texts(self.events)],
            "not_read": _not_read(document) if document else [],
            "repair": page_text(document.repair.patch) if document and document.repair else "",
            "entries": list(self._entries()),
        }

    def _server(self) -> str:
        """Where links lead: nowhere, unless the review recorded a plain address of its GitHub."""
        first = self.events[0] if self.events else None
        server = first.server if isinstance(first, PolicyFrozen) else ""
        return server if _SERVER.fullmatch(server) else ""

    def _became(self, finding: str) -> list[str]:
        return page_lines(
            f"{each.name.replace('_', ' ')}: {each.value.replace('_', ' ')}{f' ({each.source})' if each.source else ''}"
            for each in self.labels
            if each.finding == finding
        )

    def _judgements(self) -> Iterator[Event]:
        return (event for event in self.events if isinstance(event, Verified | Ruled))

    def _calls(self) -> list[tuple[int, CallEnded]]:
        return [(number, event) for number, event in enumerate(self.events) if isinstance(event, CallEnded)]

    def _summary(self) -> Iterator[tuple[str, str]]:
        line = self.line
        yield "Status", line.status.replace("_", " ")
        yield "Change", f"{line.repository}#{line.pull_request}" if line.repository else line.label
        yield "Head", line.head_sha or "not a commit"
        yield "Began", f"{line.started_at[:19].replace('T', ' ')} UTC"
        yield "Wall clock", "no end is recorded" if line.wall_ms is None else f"{line.wall_ms / 1000:.1f} s"
        yield "Executor's first attempts", f"{line.executor_ms / 1000:.1f} s"
        yield "Cost", money_words(line)
        yield "Tokens", f"{line.executor_tokens:,} executor, {line.advisor_tokens:,} advisor"
        yield "Calls", str(sum(call.ended != "refused" for _, call in self._calls()))
        yield "Consults", str(line.consults)
        repaired = self.document is not None and self.document.repair is not None
        yield "Findings", "none is left after the repair" if repaired and not line.findings else str(line.findings)
        merged = merged_into(self.document.findings) if self.document else 0
        if merged:
            yield "Merged into them", str(merged)
        yield "Vetoes", str(line.vetoes)
        yield "Flags", line.flags or "none"
        for shadow in self.in_shadow:
            yield "In shadow, without effect", shadow.words
            for found in shadow.found:
                yield "Found in shadow alone", found
        if self.events and isinstance(self.events[0], PolicyFrozen):
            policy = self.events[0].policy
            yield "Blast radius", policy.blast.radius.value
            yield "Surfaces", ", ".join(row.surface.value for row in policy.surfaces)
            rules = self.events[0].guidelines
            yield "Team rules", "; ".join(each.words for each in rules) or "none"
        if self.document and self.document.flags.lost:
            yield "Answers that did not come", ", ".join(self.document.flags.lost)

    def _entries(self) -> Iterator[dict[str, Any]]:
        changed, became = changes(self.events), became_of_advice(self.events)
        ends, named = ends_of_calls(self.events), findings_by_id(self.events)
        for number, event in enumerate(self.events):
            if isinstance(event, CallStarted) and number in ends:
                continue  # its end tells everything that its beginning tells
            entry = entry_json(number, event, named)
            if number in became:
                entry["facts"] = [*entry.get("facts", ()), ["what became of it", became[number]]]
            yield entry | {"change": changed[number].as_json()} if number in changed else entry


def _kind(kinds: Mapping[str, FindingKind], finding: str) -> dict[str, str]:
    return {"kind": page_text(kinds[finding].words)} if finding in kinds else {}


def _not_read(document: OutcomeDocument) -> list[str]:
    return page_lines(f"{each.path}: {each.why}" for each in document.coverage if each.read != "read")


def shown_line(line: RunLine) -> dict[str, Any]:
    """A run's line as a page shows it: its numbers as they are."""
    texts = {"title": page_text(line.title), "label": page_text(line.label)}
    return (
        line.as_json()
        | texts
        | {"like": line.status, "kind": "review"}
        | {"repository": None if line.repository is None else page_text(line.repository)}
    )
