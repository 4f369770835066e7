"""The rules that a report on a release is held against. Each says what is wrong, in sentences; nothing if it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from review_advisor.core.answers.answers import GRAVE
from review_advisor.core.readiness.release_report import RELEASE_VERDICTS, ReleaseReport, ReleaseVerdict
from review_advisor.core.report.wording import counted
from review_advisor.core.task.task_events import CouncilVoted, counted_votes

SHORTEST_QUOTE = 8
"""Characters besides blanks: of fewer nobody can tell what they quote."""


def mildest_verdict(report: ReleaseReport) -> tuple[ReleaseVerdict, str]:
    """The mildest verdict that a report with these blockers, risks and actions can have, and why.

    A grave blocker holds a release; with a grave open risk it goes out on conditions only.
    """
    grave = [each for each in report.blockers if each.severity in GRAVE]
    if grave:
        return "hold", f"it lists {counted(len(grave), 'critical or high blocker')}"
    if report.blockers:
        return "conditional_go", f"it lists {counted(len(report.blockers), 'blocker')}"
    open_risks = [each for each in report.risks if each.severity in GRAVE]
    if open_risks:
        return "conditional_go", f"it lists {counted(len(open_risks), 'open critical or high risk')}"
    if report.required_actions:
        return "conditional_go", f"it lists {counted(len(report.required_actions), 'required action')}"
    return "go", "it lists nothing that stands in the way"


def is_milder(verdict: str, other: str) -> bool:
    """Whether the first verdict is milder than the other one."""
    order: Sequence[str] = RELEASE_VERDICTS
    return order.index(verdict) < order.index(other)


def verdict_too_mild(report: ReleaseReport) -> Iterator[str]:
    """A verdict is no milder than the report's own content."""
    least, why = mildest_verdict(report)
    if is_milder(report.verdict, least):
        yield f"The verdict is {report.verdict}, but {why}: it can be no milder than {least}."


def conditions_unnamed(report: ReleaseReport) -> Iterator[str]:
    """Who goes on conditions names them."""
    if report.verdict == "conditional_go" and not report.required_actions:
        yield "The verdict is conditional_go, but no required action is named."


def miscounted(report: ReleaseReport) -> Iterator[str]:
    """The counts are the lengths of the lists."""
    said = report.measurable_outputs
    lists = {
        "blocker_count": (said.blocker_count, report.blockers),
        "risk_count": (said.risk_count, report.risks),
        "required_action_count": (said.required_action_count, report.required_actions),
    }
    for name, (count, its) in lists.items():
        if count != len(its):
            yield f"The {name} is {count}, but the report lists {len(its)}."


def invented_quotes(report: ReleaseReport, evidence: str) -> Iterator[str]:
    """Each blocker quotes the evidence verbatim, so much of it that it says something, or a whole line.

    Line breaks and blanks are no difference.
    """
    supplied, lines = _flat(evidence), {_flat(each) for each in evidence.splitlines()}
    for each in report.blockers:
        quote = _flat(each.evidence)
        if quote not in supplied:
            yield f"The evidence of blocker {each.id} is no quotation of the evidence."
        elif len(quote.replace(" ", "")) < SHORTEST_QUOTE and quote not in lines:
            yield f"The evidence of blocker {each.id} is too short: quote {SHORTEST_QUOTE} characters, or a whole line."


def unconsulted(report: ReleaseReport, answered: int) -> Iterator[str]:
    """The advisor has answered at least one question, by what was recorded; and the report says so."""
    if not answered:
        claim = " though the report says so" if report.advisor_consulted else ""
        yield f"The advisor has answered no question{claim}: at least one answer is needed."
    elif not report.advisor_consulted:
        yield f"The report says that the advisor was not consulted, but it answered {counted(answered, 'question')}."


def too_many_consults(asked: int, most: int) -> Iterator[str]:
    """The advisor was asked no more often than allowed."""
    if asked > most:
        yield f"The advisor was asked {counted(asked, 'question')}, but at most {most} are allowed."


def taken_back(verdict: str, others: Iterable[str]) -> Iterator[str]:
    """No other report of the run has a worse verdict: what was said once is not taken back in silence.

    One of which nobody can tell the verdict counts as a hold.
    """
    for each in dict.fromkeys(others):
        can_be_told = each in RELEASE_VERDICTS
        if is_milder(verdict, each if can_be_told else "hold"):
            says = f"says {each}" if can_be_told else "cannot be read, which counts as hold"
            yield f"Another report of this run {says}, the last one says {verdict}."


def without_a_majority(verdict: str, vote: CouncilVoted | None) -> Iterator[str]:
    """A release goes out only if those who judge give go more than half of their votes."""
    if verdict != "go":
        return
    if vote is None or vote.moment != "finish":
        yield "The verdict is go, but nobody voted on it."
        return
    means = dict(zip(vote.actions, counted_votes(vote).means, strict=True))
    whole = sum(means.values())
    if 2 * means.get("go", 0.0) <= whole:
        yield f"The verdict is go, but go has {means.get('go', 0.0):.0f} of {whole:.0f} votes: it needs more than half."


def gone_with_gaps(verdict: str, gaps: Sequence[str]) -> Iterator[str]:
    """A release goes out without conditions only if nothing is open in what was merged."""
    if verdict == "go" and gaps:
        more = f" and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        yield f"The verdict is go, but the evidence has gaps: {gaps[0]}{more}."


def _flat(text: str) -> str:
    return " ".join(text.split())
