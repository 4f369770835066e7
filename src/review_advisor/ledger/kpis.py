"""The KPIs of a period, their targets and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any, Literal

from review_advisor.policy.prices import Money
from review_advisor.review.votes import Tally
from review_advisor.safety.wording import and_unknown, counted, printable_line, table

Unit = Literal["share", "times", "per 1,000", "number"]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a value is wanted: from ``low`` to ``high``, ends included unless ``strictly``; None is an open end."""

    low: float | None = None
    high: float | None = None
    strictly: bool = False

    def holds(self, value: float) -> bool:
        """Whether ``value`` is where it is wanted."""
        if self.strictly:
            return (self.low is None or value > self.low) and (self.high is None or value < self.high)
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def words(self, unit: Unit) -> str:
        """The target for a person: ``>= 70.0%``, ``8.0% to 15.0%``."""
        if self.low is not None and self.high is not None:
            return f"{format_value(self.low, unit)} to {format_value(self.high, unit)}"
        if self.low is not None:
            return f"{'>' if self.strictly else '>='} {format_value(self.low, unit)}"
        if self.high is not None:
            return f"{'<' if self.strictly else '<='} {format_value(self.high, unit)}"
        return "-"


def format_value(value: float, unit: Unit) -> str:
    """A value with its unit."""
    match unit:
        case "share":
            return f"{value:.1%}"
        case "times":
            return f"{value:.2f} x"
        case "per 1,000":
            return f"{value:.1f} per 1,000"
        case "number":
            return f"{round(value, 2):g}"


SELF_REPAIR = Target(low=0.7)
"""ADR-0059: below it, what the advisor objects to cannot be acted on."""


VALIDATED = Target(low=0, strictly=True)
"""ADR-0059: some of what the advisor objected to turns out to be right."""


WALL_CLOCK = Target(high=1.5, strictly=True)
"""ADR-0059: the median review against the executor's first attempts of the same reviews."""


CONSULT_SHARE = Target(low=0.08, high=0.15)
"""Of all tokens (advisor-pattern-v2), those of consults alone: outside, the triggers are mistuned."""


CONSULT_RATE = Target(low=0.08, high=0.15)
"""Reviews in which the executor consulted: the same band, wanted at both ends and never to grow."""


DEGRADED = Target(high=0.1)
"""Reviews in which a judgement was due and did not come; the same as the alert on the metrics."""


MISSED_ESCALATIONS = Target(high=0.05, strictly=True)
"""Wrong verdicts that nobody consulted about (advisor-pattern-v2)."""


NO_TARGET = Target()


@dataclass(frozen=True, slots=True)
class Rule:
    """An alert: the KPI's value over the last ``window`` is not where it must be, from ``least`` cases on."""

    name: str
    kpi: str
    window: timedelta
    allowed: Target
    least: int
    means: str


DAY = timedelta(days=1)


WEEK = timedelta(days=7)


RULES = (
    Rule(
        "consult-share",
        "consult_share",
        DAY,
        Target(high=0.3),
        10,
        "Consults use too many of the tokens: there are too many of them, or they are too long.",
    ),
    Rule(
        "consult-flood",
        "consult_rate",
        DAY,
        Target(high=0.3),
        10,
        "Executors consult in too many reviews: they lean on the advisor.",
    ),
    Rule(
        "consult-collapse",
        "consult_rate",
        WEEK,
        Target(low=0.01),
        100,
        "Executors rarely consult: they may no longer notice what they do not know.",
    ),
    Rule(
        "degraded",
        "degraded_share",
        DAY,
        DEGRADED,
        10,
        "Judgements are missing: such changes pass on the executor's verdict alone, unless FAIL_AS_VETO is set.",
    ),
    Rule(
        "self-repair",
        "self_repair",
        WEEK,
        SELF_REPAIR,
        10,
        "Too few vetoes end in a repair: the advisor's objections are not actionable.",
    ),
)
"""Every alert, in the order in which they are told."""


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
        """Its parts as one JSON object."""
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
    alarms = []
    for rule in RULES:
        kpi = found[rule.window][rule.kpi]
        if kpi.value is None or kpi.cases < rule.least:
            alarms.append(Alarm(rule, kpi, "too few"))
        else:
            alarms.append(Alarm(rule, kpi, "quiet" if rule.allowed.holds(kpi.value) else "raised"))
    return tuple(alarms)


def windows() -> tuple[timedelta, ...]:
    """The windows that the rules look at, each once."""
    return tuple(dict.fromkeys(rule.window for rule in RULES))


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
    parts = (
        ("comments", "comments on the diff per review", sums.comments, sums.heard),
        ("acted_on", "comments that were followed", sums.acted_on, sums.comments),
        ("dismissed", "comments whose finding was dismissed", sums.dismissed, sums.comments),
        ("thumbs_up", "thumbs on comments that are up", sums.thumbs_up, sums.thumbs_up + sums.thumbs_down),
    )
    comments, *shares = (
        _share(name, means, NO_TARGET, part, cases, none=NOT_OBSERVED) for name, means, part, cases in parts
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


SHOWN_KPIS = ("self_repair", "validated", "degraded_share", "missed_escalations", "acted_on")
"""The KPIs that a repository's row has room for; JSON has all."""


@dataclass(frozen=True, slots=True)
class RepositoryRollup:
    """The rollup of one repository."""

    name: str
    rollup: Rollup

    def cells(self) -> tuple[str, ...]:
        """Its row in words: runs, cost, and the KPIs that are shown."""
        money, found = self.rollup.money, {kpi.name: kpi for kpi in self.rollup.kpis}
        usd, unknown = money.reported_usd + money.by_price_usd, "+" if money.unknown_calls else ""
        shown = (found[name] for name in SHOWN_KPIS)
        values = ("-" if kpi.value is None else format_value(kpi.value, kpi.unit) for kpi in shown)
        return (f"{self.rollup.sums.runs:,}", f"${usd:,.2f}{unknown}", *values)

    def as_json(self) -> dict[str, Any]:
        """The whole rollup as one JSON object."""
        return {"name": self.name, "rollup": self.rollup.as_json()}


def repositories_text(rollups: Sequence[RepositoryRollup]) -> str:
    """A line for each repository, or a sentence if there is none."""
    if not rollups:
        return "No run falls in this period.\n"
    head = ("repository", "runs", "cost", *SHOWN_KPIS)
    return table([head, *((printable_line(each.name), *each.cells()) for each in rollups)])


def alarms_text(found: Sequence[Alarm]) -> str:
    """The alerts for a person, one a line; what a raised one means stands below it."""
    lines = []
    for alarm in found:
        kpi, rule = alarm.kpi, alarm.rule
        value = "-" if kpi.value is None else format_value(kpi.value, kpi.unit)
        cases = f"{kpi.counted} in {rule.window // timedelta(hours=1)} h (from {rule.least} on)"
        lines.append((alarm.state, rule.name, value, rule.allowed.words(kpi.unit), cases))
    listed = table([("state", "alert", "value", "allowed", "cases"), *lines])
    return listed + "".join(f"{each.rule.name}: {each.rule.means}\n" for each in found if each.state == "raised")


Z = 1.959964
"""Of a normal distribution, 95% lies within so many standard deviations."""


def wilson(part: int, cases: int) -> tuple[float, float] | None:
    """The 95% interval of a share by Wilson's score; None without a case."""
    if not cases:
        return None
    share, z2 = part / cases, Z**2
    middle = share + z2 / (2 * cases)
    spread = Z * sqrt(share * (1 - share) / cases + z2 / (4 * cases**2))
    scale = 1 + z2 / cases
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


FEWEST_REVIEWS = 20


FEWEST_RATINGS = 50


_MOSTLY = 0.5


_RARELY = 0.02


_ALIKE = 0.95


@dataclass(frozen=True, slots=True)
class Fitness:
    """One condition: whether it holds, None where too little is known, and one sentence with the figures.

    ``remedy`` says what to do where it does not hold.
    """

    name: str
    holds: bool | None
    says: str
    remedy: str = ""


def fitness(sums: Sums, ratings: Mapping[int, int]) -> tuple[Fitness, ...]:
    """Every condition, of the reviews that ``sums`` counts. ``ratings`` are self-ratings of executors by tenth."""
    return (_difficulty(sums), _use(sums), _signal(ratings), _wait(sums))


def _difficulty(sums: Sums) -> Fitness:
    name = "not too hard"
    if sums.judged < FEWEST_REVIEWS:
        return _too_few(name, sums.judged, "reviews", FEWEST_REVIEWS)
    vetoed, consulted = sums.vetoed / sums.judged, _share_of(sums.consulting, sums.advised)
    return Fitness(
        name,
        max(vetoed, consulted) <= _MOSTLY,
        f"{vetoed:.0%} of {sums.judged} reviews were vetoed, and executors consulted in {consulted:.0%}",
        "the executor is too weak for most changes: give HYDRAFLOW_REVIEW_EXECUTOR_MODEL a stronger model",
    )


def _use(sums: Sums) -> Fitness:
    name = "not too easy"
    if sums.judged < FEWEST_REVIEWS:
        return _too_few(name, sums.judged, "reviews", FEWEST_REVIEWS)
    used = (sums.vetoed + sums.consulting) / sums.judged
    return Fitness(
        name,
        used >= _RARELY,
        f"the advisor vetoed {sums.vetoed} and was consulted in {sums.consulting} of {sums.judged} reviews",
        "the advisor hardly ever changes a review: give HYDRAFLOW_REVIEW_ADVISOR_MODEL a cheaper model",
    )


def _signal(ratings: Mapping[int, int]) -> Fitness:
    name, many = "confidence tells", sum(ratings.values())
    if many < FEWEST_RATINGS:
        return _too_few(name, many, "ratings", FEWEST_RATINGS)
    place, most = max(ratings.items(), key=lambda item: item[1])
    return Fitness(
        name,
        most / many < _ALIKE,
        f"{most / many:.0%} of {many} ratings lie between {place / 10:.1f} and {(place + 1) / 10:.1f}",
        'the rating tells nothing: leave escalation.profile at "adr", or name thresholds in .review-advisor/',
    )


def _wait(sums: Sums) -> Fitness:
    name = "time allows"
    kpi = next(each for each in kpis(sums) if each.name == "wall_clock")
    if kpi.value is None or kpi.cases < FEWEST_REVIEWS:
        return _too_few(name, kpi.cases, "timed reviews", FEWEST_REVIEWS)
    return Fitness(
        name,
        WALL_CLOCK.holds(kpi.value),
        f"a median review takes {kpi.value:.2f} times the executor's time, wanted {WALL_CLOCK.words('times')}",
        'people wait for the advisor: raise --jobs, or review less often with github.review = "opened"',
    )


def _too_few(name: str, many: int, what: str, fewest: int) -> Fitness:
    return Fitness(name, None, f"not measured: {many} {what}, and it takes {fewest} to tell")


def _share_of(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class WouldHave:
    """The reviews that would have ended in one way.

    ``closed`` of them were the last of a head at which the pull request was closed, as far as somebody observed it;
    ``merged`` of these were merged, and ``reverted`` of those were reverted later.
    """

    reviews: int = 0
    closed: int = 0
    merged: int = 0
    reverted: int = 0


NONE = WouldHave()


@dataclass(frozen=True, slots=True)
class ShadowModeSums:
    """All reviews in shadow mode of a period. ``did_not_end`` were stopped, or are unfinished.

    ``cost_usd`` is what their calls reported; ``unpriced`` calls did not. ``wall_ms`` is the median; None where no
    review ended.
    """

    passed: WouldHave = NONE
    blocked: WouldHave = NONE
    escalated: WouldHave = NONE
    did_not_end: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    wall_ms: float | None = None

    @property
    def reviews(self) -> int:
        """How many there were."""
        return self.did_not_end + sum(each.reviews for each in (self.passed, self.blocked, self.escalated))

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return {"reviews": self.reviews, **asdict(self)}


def shadow_mode_text(sums: ShadowModeSums) -> str:
    """The same for a person; empty where no review ran in shadow mode."""
    if not sums.reviews:
        return ""
    money = f"{sums.cost_usd:,.2f} USD{and_unknown(sums.unpriced)}"
    median = "" if sums.wall_ms is None else f", median {sums.wall_ms / 1000:,.0f} s"
    lines = [
        f"shadow mode: {counted(sums.reviews, 'review')}, {money}{median}",
        f"  would have passed     {_line(sums.passed)}",
        f"  would have blocked    {_line(sums.blocked)}",
        f"  would have escalated  {_line(sums.escalated)}",
        f"  did not run to an end {sums.did_not_end}",
    ]
    return "\n".join(lines) + "\n"


def _line(part: WouldHave) -> str:
    if not part.closed:
        return f"{part.reviews}"
    return f"{part.reviews}; of {part.closed} seen closed, {part.merged} were merged and {part.reverted} reverted"


LEAST_VOTES = 20
"""The fewest common votes of two members from which agreement is told."""


@dataclass(frozen=True, slots=True)
class MemberPair:
    """Two members, by their ids in order, and the ``votes`` in which both chose an action.

    ``agreement`` is the share in which both chose the same. It is None for too few votes, and ``kappa`` also where
    both always chose one and the same action: then chance would bring the same.
    """

    one: str
    other: str
    votes: int
    agreement: float | None = None
    kappa: float | None = None


@dataclass(slots=True)
class Correlation:
    """Collects votes. Neither their order nor that of the members matters."""

    _chosen: dict[tuple[str, str], Counter[tuple[str, str]]] = field(default_factory=dict)

    def add(self, chosen: Mapping[str, str]) -> None:
        """Take in one vote: the action of each member that voted."""
        for one, other in combinations(sorted(chosen), 2):
            self._chosen.setdefault((one, other), Counter())[chosen[one], chosen[other]] += 1

    @property
    def pairs(self) -> tuple[MemberPair, ...]:
        """Every two members that ever voted together: the most alike first, those with too few votes last."""
        found = (_pair(one, other, both) for (one, other), both in self._chosen.items())
        return tuple(sorted(found, key=_alike))


def chosen_actions(counted: Tally) -> dict[str, str]:
    """The action to which each member gave most, of equals the severest. Members without a vote are left out."""
    return {
        each.member: max(zip(each.votes, range(len(each.votes)), counted.actions, strict=True))[-1]
        for each in counted.ballots
        if isinstance(each.votes, tuple)
    }


def _pair(one: str, other: str, both: Counter[tuple[str, str]]) -> MemberPair:
    votes = both.total()
    if votes < LEAST_VOTES:
        return MemberPair(one, other, votes)
    agreed = Fraction(sum(many for (mine, its), many in both.items() if mine == its), votes)
    mine, its = _marginal(both, 0), _marginal(both, 1)
    by_chance = sum((Fraction(mine[action], votes) * Fraction(its[action], votes) for action in mine), Fraction(0))
    kappa = None if by_chance == 1 else float((agreed - by_chance) / (1 - by_chance))
    return MemberPair(one, other, votes, float(agreed), kappa)


def _marginal(both: Mapping[tuple[str, str], int], place: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for actions, many in both.items():
        found[actions[place]] += many
    return found


def _alike(pair: MemberPair) -> tuple[float, float, str, str]:
    unknown = -2.0
    kappa = unknown if pair.kappa is None else pair.kappa
    return -kappa, -(unknown if pair.agreement is None else pair.agreement), pair.one, pair.other


def pair_rows(pairs: Iterable[MemberPair]) -> list[tuple[str, str, str, str]]:
    """Each pair in words: its members, votes, agreement and kappa."""
    return [
        (
            f"{each.one}, {each.other}",
            str(each.votes),
            "too few" if each.agreement is None else f"{each.agreement:.0%}",
            "not known" if each.kappa is None else f"{each.kappa:.2f}",
        )
        for each in pairs
    ]
