"""The KPIs of a period, from the sums over its runs: value, target, and whether it is met. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from review_advisor.core.metrics.prices import Money
from review_advisor.core.metrics.targets import (
    CONSULT_RATE,
    CONSULT_SHARE,
    DEGRADED,
    MISSED_ESCALATIONS,
    NO_TARGET,
    RULES,
    SELF_REPAIR,
    VALIDATED,
    WALL_CLOCK,
    Rule,
    Target,
    Unit,
    format_value,
)
from review_advisor.core.report.wording import counted, table

Case = Literal["case", "run"]
"""What a KPI is of: cases that it divides by, such as findings or merges, or the runs whose tokens it divides."""

NO_CASE = "there is no case of it"
NOT_OBSERVED = "no case of it was observed"


@dataclass(frozen=True, slots=True)
class Sums:
    """What the runs of a period add up to.

    ``empty`` runs had nothing to review and ``judged`` ones ended with a verdict; ``advised`` are those of the judged
    with no advisor role switched off; the counts after it are of judged runs, and ``consulting`` of advised ones.
    ``vetoed`` ones had a veto that was the executor's to repair: it did not come to a rejection of its own. Tokens are
    those that the period's runs were given
    and no other run of the same review; ``consult_tokens`` are a part of the advisors'. ``executor_turns`` are those of
    the ``executor_calls`` that these runs made, and whose turns are known; ``prompt_tokens`` are all input of the calls
    that they made, ``cached_tokens`` those of it that the cache had. The two medians are over the
    judged runs that asked everything themselves; None where there is none.

    The rest is of the newest observation of each pull request that these runs reviewed: ``labelled`` are findings that
    proved right or not, ``proved`` those that proved right; ``merged_approvals`` are merges of an approved head of
    which it is known whether they were taken back, ``missed`` those that were, with no consult before the approval;
    ``escalations`` are heads that ended as escalated, ``overridden`` those that a person approved. ``heard`` are the
    judged runs of observed pull requests, and the counts after it are of ``comments`` on what these runs raised first.
    """

    runs: int = 0
    unfinished: int = 0
    stopped: int = 0
    empty: int = 0
    judged: int = 0
    advised: int = 0
    consulting: int = 0
    degraded: int = 0
    vetoed: int = 0
    recovered: int = 0
    exhausted: int = 0
    contested: int = 0
    executor_tokens: int = 0
    advisor_tokens: int = 0
    consult_tokens: int = 0
    executor_turns: int = 0
    executor_calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    timed: int = 0
    wall_ms: float | None = None
    executor_ms: float | None = None
    labelled: int = 0
    proved: int = 0
    merged_approvals: int = 0
    missed: int = 0
    escalations: int = 0
    overridden: int = 0
    heard: int = 0
    comments: int = 0
    acted_on: int = 0
    dismissed: int = 0
    thumbs_up: int = 0
    thumbs_down: int = 0


@dataclass(frozen=True, slots=True)
class Kpi:
    """One figure: of how many ``cases`` it is, and what one is: its denominator, or the runs whose tokens it divides.

    ``value`` is None where it is not measured; ``because`` says why.
    """

    name: str
    means: str
    unit: Unit
    target: Target
    value: float | None
    cases: int
    because: str = ""
    case: Case = "case"

    @property
    def counted(self) -> str:
        """How many cases there are, in a column of cases: anything else is named."""
        return str(self.cases) if self.case == "case" else counted(self.cases, self.case)

    @property
    def judgement(self) -> Literal["met", "missed", "no target", "not measured"]:
        """What the value says of the target."""
        if self.value is None:
            return "not measured"
        if self.target == NO_TARGET:
            return "no target"
        return "met" if self.target.holds(self.value) else "missed"

    def as_json(self) -> dict[str, Any]:
        """Its fields, and what they come to."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "target": asdict(self.target),
            "judgement": self.judgement,
            "cases": self.cases,
            "case": self.case,
            "because": self.because,
        }


@dataclass(frozen=True, slots=True)
class Alarm:
    """What a rule says: ``raised``, ``quiet``, or that there were ``too few`` cases to say anything."""

    rule: Rule
    kpi: Kpi
    state: Literal["raised", "quiet", "too few"]

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return {
            "name": self.rule.name,
            "state": self.state,
            "hours": self.rule.window // timedelta(hours=1),
            "kpi": self.kpi.name,
            "value": self.kpi.value,
            "low": self.rule.allowed.low,
            "high": self.rule.allowed.high,
            "cases": self.kpi.cases,
            "case": self.kpi.case,
            "least": self.rule.least,
            "means": self.rule.means,
        }


@dataclass(frozen=True, slots=True)
class Rollup:
    """A period's KPIs, its sums, and its money."""

    sums: Sums
    money: Money
    kpis: tuple[Kpi, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {
            "kpis": [kpi.as_json() for kpi in self.kpis],
            "sums": asdict(self.sums),
            "money": self.money.as_json(),
        }


def kpis(sums: Sums) -> tuple[Kpi, ...]:
    """Every KPI, in the order in which they are told."""
    return (
        _share("self_repair", "vetoed reviews that were repaired", SELF_REPAIR, sums.recovered, sums.vetoed),
        _share("validated", "objections that proved right", VALIDATED, sums.proved, sums.labelled, none=NOT_OBSERVED),
        _wall_clock(sums),
        _of_tokens(sums, "consult_share", "the consults' part of all tokens", CONSULT_SHARE, sums.consult_tokens),
        _of_tokens(sums, "assurance_share", "the part of plan and judgement", NO_TARGET, _assurance(sums)),
        _turns(sums),
        _cached(sums),
        _share("consult_rate", "reviews with a consult", CONSULT_RATE, sums.consulting, sums.advised),
        _share("degraded_share", "reviews without a judgement", DEGRADED, sums.degraded, sums.judged),
        _share(
            "missed_escalations",
            "reverted approvals without a consult",
            MISSED_ESCALATIONS,
            sums.missed,
            sums.merged_approvals,
            none=NOT_OBSERVED,
        ),
        _conflicts(sums),
        _overrides(sums),
        *_of_comments(sums),
    )


def alarms(of_window: Mapping[timedelta, Sums]) -> tuple[Alarm, ...]:
    """What each rule says of the sums over its window."""
    found = {window: {kpi.name: kpi for kpi in kpis(sums)} for window, sums in of_window.items()}
    return tuple(_alarm(rule, found[rule.window][rule.kpi]) for rule in RULES)


def windows() -> tuple[timedelta, ...]:
    """The windows that the rules look at, each once."""
    return tuple(dict.fromkeys(rule.window for rule in RULES))


def _alarm(rule: Rule, kpi: Kpi) -> Alarm:
    if kpi.value is None or kpi.cases < rule.least:
        return Alarm(rule, kpi, "too few")
    return Alarm(rule, kpi, "quiet" if rule.allowed.holds(kpi.value) else "raised")


def _share(name: str, means: str, target: Target, part: int, cases: int, *, none: str = NO_CASE) -> Kpi:
    value = part / cases if cases else None
    return Kpi(name, means, "share", target, value, cases, "" if cases else none)


def _of_tokens(sums: Sums, name: str, means: str, target: Target, part: int) -> Kpi:
    tokens = sums.executor_tokens + sums.advisor_tokens
    value = part / tokens if tokens else None
    return Kpi(name, means, "share", target, value, sums.runs, "" if tokens else "no run used any", "run")


def _assurance(sums: Sums) -> int:
    """The tokens of pre-flight and post-verify: what the assurance costs, whether anything was found or not."""
    return sums.advisor_tokens - sums.consult_tokens


def _of_comments(sums: Sums) -> tuple[Kpi, ...]:
    """What people made of the comments on the diff. Each is a hint, and none has a target that a bot could please."""
    told = (
        ("comments", "comments on the diff per review", sums.comments, sums.heard),
        ("acted_on", "comments that were followed", sums.acted_on, sums.comments),
        ("dismissed", "comments whose finding was dismissed", sums.dismissed, sums.comments),
        ("thumbs_up", "thumbs on comments that are up", sums.thumbs_up, sums.thumbs_up + sums.thumbs_down),
    )
    comments, *shares = (
        _share(name, means, NO_TARGET, part, cases, none=NOT_OBSERVED) for name, means, part, cases in told
    )
    return (replace(comments, unit="number"), *shares)


def _wall_clock(sums: Sums) -> Kpi:
    name, means = "wall_clock", "median review time / median time of the first attempt"
    if not sums.wall_ms or not sums.executor_ms:
        return Kpi(name, means, "times", WALL_CLOCK, None, sums.timed, "no such review took any time")
    return Kpi(name, means, "times", WALL_CLOCK, sums.wall_ms / sums.executor_ms, sums.timed)


def _cached(sums: Sums) -> Kpi:
    """Tokens that are read from the cache cost a tenth of others at most; written ones, a quarter more."""
    name, means = "cached_share", "the part of all input that the cache had"
    value = sums.cached_tokens / sums.prompt_tokens if sums.prompt_tokens else None
    return Kpi(name, means, "share", NO_TARGET, value, sums.runs, "" if value is not None else "no run told any", "run")


def _turns(sums: Sums) -> Kpi:
    """What a reading turn saves or costs shows here: each sends the whole conversation once more."""
    name, means = "executor_turns", "turns of the executor per call"
    value = sums.executor_turns / sums.executor_calls if sums.executor_calls else None
    because = "" if sums.executor_calls else "of no call it is known"
    return Kpi(name, means, "number", NO_TARGET, value, sums.executor_calls, because)


def _conflicts(sums: Sums) -> Kpi:
    name, means = "conflicts", "objections that the executor contested"
    return replace(_share(name, means, NO_TARGET, 1_000 * sums.contested, sums.judged), unit="per 1,000")


def _overrides(sums: Sums) -> Kpi:
    name, means = "overrides", "escalations that a person approved"
    value = float(sums.overridden) if sums.escalations else None
    return Kpi(name, means, "number", NO_TARGET, value, sums.escalations, "" if sums.escalations else NOT_OBSERVED)


def rollup_text(rollup: Rollup) -> str:
    """The KPIs for a person, one a line with its target beside it, and what the runs were and cost."""
    sums = rollup.sums
    head = ("KPI", "value", "target", "judgement", "cases", "what it is")
    rows = [
        (
            kpi.name,
            "-" if kpi.value is None else format_value(kpi.value, kpi.unit),
            kpi.target.words(kpi.unit),
            kpi.judgement,
            kpi.counted,
            f"{kpi.means}: {kpi.because}" if kpi.because else kpi.means,
        )
        for kpi in rollup.kpis
    ]
    ends = f"{sums.judged:,} with a verdict, {sums.stopped:,} stopped, {sums.unfinished:,} unfinished"
    ends += f", {sums.empty:,} with nothing to review" if sums.empty else ""
    return f"{counted(sums.runs, 'run')}: {ends}\n{rollup.money.words()}\n\n{table([head, *rows])}"


def alarms_text(found: Sequence[Alarm]) -> str:
    """The alerts for a person, one a line; what a raised one means stands below it."""
    lines = []
    for alarm in found:
        kpi, rule = alarm.kpi, alarm.rule
        value = "-" if kpi.value is None else format_value(kpi.value, kpi.unit)
        cases = f"{kpi.counted} in {rule.window // timedelta(hours=1)} h (from {rule.least} on)"
        lines.append((alarm.state, rule.name, value, rule.allowed.words(kpi.unit), cases))
    told = table([("state", "alert", "value", "allowed", "cases"), *lines])
    return told + "".join(f"{each.rule.name}: {each.rule.means}\n" for each in found if each.state == "raised")
