"""The Policy: every decision of one review before its first call, frozen, with reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import WithJsonSchema

from review_advisor.change.around import most_room
from review_advisor.change.change import Change
from review_advisor.change.decision_records import changed_records
from review_advisor.change.guidelines import DEFAULT_RULES, GuidelineRules
from review_advisor.change.kinds import CRITICAL_PATHS_ADR, OWN_NAME, CriticalPaths, changed_code_lines, literal
from review_advisor.change.lock_formats import DEFAULT_EXCLUDE
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.risky_code import risky_code
from review_advisor.change.shards import CHARACTERS_PER_TOKEN, tokens_of
from review_advisor.policy.budgets import (
    CALL_SECONDS,
    REVIEW_SECONDS,
    Budgets,
    attempts_of,
    review_seconds,
    review_usd,
    surface_retry_budget,
)
from review_advisor.policy.escalation_rules import NO_ESCALATION, EscalationRules
from review_advisor.policy.exclusion import (
    NOTHING_EXCLUDED,
    PYTHON,
    Exclusion,
    HeadText,
    SecretHunks,
    StaticReview,
    excluding_glob,
    exclusion,
    static_checks,
)
from review_advisor.policy.lenses import roster_for
from review_advisor.policy.outage_rules import DEFAULT_OUTAGE_RULES, NO_SECOND_TRY, OutageRules
from review_advisor.policy.risk import (
    MEDIUM_ABOVE_LINES,
    AlwaysTrigger,
    Blast,
    CompositeTrigger,
    Guard,
    Trigger,
    TriggerFacts,
    blast_radius,
    guard,
)
from review_advisor.policy.roster import DEFAULT_ROSTER, Roster
from review_advisor.policy.surfaces import ADVISOR_ROLES, SURFACE_DEFAULTS, Authority, PreFlightRule, Role, Surface
from review_advisor.policy.switches import STATIC, Switches, surface_switch

Mode = Literal["enforce", "shadow"]


_SHADOW = " (shadow)"


def shadow_name(check_name: str) -> str:
    """The name of the check that shadow mode publishes, beside the check ``check_name`` of mode ``enforce``."""
    return check_name + _SHADOW


def is_shadow_name(check_name: str) -> bool:
    """Whether a check of this name is one of shadow mode."""
    return check_name.casefold().endswith(_SHADOW)


def enforcing_name(check_name: str) -> str:
    """The name of the check of mode ``enforce`` beside it, or its own."""
    return check_name[: -len(_SHADOW)] if is_shadow_name(check_name) else check_name


ENGLISH = "English"
"""What models write in unless the configuration says otherwise: prompts then say nothing of it."""


RepairMode = Literal["off", "suggest"]
"""Whether a vetoed approval is handed back with leave to repair the head, as a suggestion."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the repository's configuration says, next to the switches. Defaults are the product's."""

    critical_paths: CriticalPaths = CRITICAL_PATHS_ADR
    adr_folders: tuple[str, ...] = ("docs/adr", "docs/adrs", "doc/adr", "docs/decisions")
    max_usd: float = 30.0
    call_seconds: float = CALL_SECONDS
    review_seconds: float = REVIEW_SECONDS
    shard_tokens: int = 60_000
    fail_on_degraded: bool = False
    config_path: str | None = None
    check_name: str = OWN_NAME
    visual_paths: tuple[str, ...] = ()
    wiki_folder: str | None = None
    metadata_blind: bool = False
    allow_unchecked: bool = False
    static_languages: tuple[str, ...] = (PYTHON,)
    guidelines: GuidelineRules = DEFAULT_RULES
    outage: OutageRules = DEFAULT_OUTAGE_RULES
    language: str = ENGLISH
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    secret_samples: tuple[str, ...] = ()
    roster: Roster = DEFAULT_ROSTER
    escalation: EscalationRules = NO_ESCALATION
    mode: Mode = "enforce"

    def holds_samples(self, path: str) -> bool:
        """Whether the configuration names the file as one whose secrets are samples."""
        return excluding_glob(self.secret_samples, path) is not None

    @property
    def own_globs(self) -> tuple[str, ...]:
        """The paths that steer the bot in this repository: its configuration's file, and the team's own rules."""
        configured = () if self.config_path is None else ("/" + literal(self.config_path),)
        return (*configured, *self.guidelines.globs)


@dataclass(frozen=True, slots=True)
class RoleDecision:
    """Whether a role runs on a surface, and why. ``disabled_by`` names the switch that turned it off."""

    runs: bool
    because: tuple[str, ...]
    disabled_by: str | None = None


_AdvisorRole = Annotated[Role, WithJsonSchema({"type": "string", "enum": [role.value for role in ADVISOR_ROLES]})]


@dataclass(frozen=True, slots=True)
class SurfacePolicy:
    """One surface's row for this review. ``roles`` has the decision on each advisor role, in the order of the roles.

    ``left_out_by`` is the switch that keeps the surface from running at all; empty where it runs.
    """

    surface: Surface
    roles: Mapping[_AdvisorRole, RoleDecision]
    authority: Authority
    authority_because: str
    retry_budget: int
    executor_model: str
    advisor_model: str
    left_out_by: str = ""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` unless there is one decision for each advisor role."""
        if self.roles.keys() != set(ADVISOR_ROLES):
            raise ValueError("a surface has one decision for each advisor role, and for no other")
        object.__setattr__(self, "roles", {role: self.roles[role] for role in ADVISOR_ROLES})


@dataclass(frozen=True, slots=True)
class Policy:
    """The frozen decisions for one review: its first event. ``static`` is set where static checks alone answer."""

    surfaces: tuple[SurfacePolicy, ...]
    blast: Blast
    guard: Guard
    critical_touched: tuple[str, ...]
    code_lines: int
    budgets: Budgets
    fail_as_veto: bool
    fail_on_degraded: bool
    shard_tokens: int
    wants_knowledge: bool = False
    repair: RoleDecision = RoleDecision(False, ("nothing was vetoed that could be repaired",))
    blind: RoleDecision = RoleDecision(False, ("metadata_blind is off",))
    static: StaticReview | None = None
    outage: OutageRules = NO_SECOND_TRY
    language: str = ENGLISH
    risky: tuple[str, ...] = ()
    """What a small change deals with that makes it medium, as ``path: subject``."""
    excluded: Exclusion = NOTHING_EXCLUDED
    roster: Roster = DEFAULT_ROSTER
    escalation: EscalationRules = NO_ESCALATION
    consult_requested: bool = False
    """A person asked that the advisor is consulted."""
    mode: Mode = "enforce"

    @property
    def advisor_disabled(self) -> tuple[str, ...]:
        """``surface/role`` of every advisor role that a switch turned off."""
        return tuple(
            f"{row.surface.value}/{role.value}"
            for row in self.surfaces
            for role, decision in row.roles.items()
            if decision.disabled_by
        )


def decide_policy(
    change: Change,
    rules: Rules,
    switches: Switches,
    shards: int = 1,
    *,
    pictures: Sequence[PictureDifference] = (),
    repair: RepairMode = "suggest",
    excluded: Exclusion = NOTHING_EXCLUDED,
    consult_requested: bool = False,
) -> Policy:
    """Decide everything that can be decided from the facts, the switches and the configuration alone.

    Of the files that ``excluded`` leaves unread, ``change`` holds the hunks that are read.
    """
    rules = replace(rules, roster=roster_for(rules.roster, change.files))
    held = guard(change, rules.own_globs, rules.check_name)
    critical = rules.critical_paths.touched_by(change.files)
    lines = changed_code_lines(change.files)
    risky = _risky(change, lines)
    blast = blast_radius(critical, held.paths, lines, risky)
    facts = TriggerFacts(switches.force_pre_flight, change.prior_fix_attempts, critical, lines, held.paths)
    applying = surfaces_that_apply(change, rules, pictures)
    rows = tuple(
        _surface_policy(surface, facts, switches, held, blast)
        for surface in (applying[:1] if switches.static else applying)
    )
    tokens = _tokens(change, rules, shards, static=switches.static)
    blind = RoleDecision(False, (f"switched off by {STATIC}",)) if switches.static else _blind(rules)
    max_consults, max_consult_tokens = _consults(rules, switches)
    return Policy(
        surfaces=rows,
        blast=blast,
        guard=held,
        critical_touched=critical,
        code_lines=lines,
        budgets=Budgets(
            max_usd=money_for(rules, rows, shards, tokens, blind=blind.runs),
            call_seconds=rules.call_seconds,
            review_seconds=review_seconds(rules.review_seconds, shards, panel=len(rules.roster.panel)),
            max_consults=max_consults,
            max_consult_tokens=max_consult_tokens,
        ),
        fail_as_veto=switches.fail_as_veto,
        fail_on_degraded=rules.fail_on_degraded,
        shard_tokens=rules.shard_tokens,
        wants_knowledge=rules.wiki_folder is not None and not switches.static,
        repair=_repair("off" if switches.static else repair, change, shards),
        blind=blind,
        static=static_checks(change, applying, rules.static_languages) if switches.static else None,
        outage=rules.outage,
        language=rules.language,
        risky=risky,
        excluded=excluded,
        roster=rules.roster,
        escalation=NO_ESCALATION if switches.static else rules.escalation,
        consult_requested=consult_requested,
        mode=rules.mode,
    )


def _consults(rules: Rules, switches: Switches) -> tuple[int, int | None]:
    """How many consults there may be, by the switch and the profile of escalation, and tokens for all of them."""
    caps = rules.escalation.caps_of(rules.roster.panel)
    if caps is None:
        return switches.max_consults, None
    return min(switches.max_consults, caps.consults), None if switches.static else caps.tokens


def left_unread(change: Change, rules: Rules, head_text: HeadText, secrets: SecretHunks) -> Exclusion:
    """The files that ``exclude`` leaves unread. Critical paths and the guard have looked at every path before."""
    if all(excluding_glob(rules.exclude, file.path) is None for file in change.files):
        return Exclusion(rules.exclude)
    return exclusion(change, rules.exclude, watched_paths(change, rules), head_text, secrets)


def watched_paths(change: Change, rules: Rules) -> frozenset[str]:
    """The changed paths that are critical, or that the guard watches."""
    held = guard(change, rules.own_globs, rules.check_name)
    return frozenset((*held.paths, *rules.critical_paths.touched_by(change.files)))


def money_for(rules: Rules, rows: Sequence[SurfacePolicy], shards: int, tokens: int, *, blind: bool) -> float:
    """Money for the review: what one of that size costs at most, by measured costs, up to the configuration's cap."""
    roster, retries = rules.roster, [row.retry_budget for row in rows]
    panel, opening = len(roster.panel), len(roster.opening) + bool(roster.voices)
    attempts = attempts_of(retries, blind=blind, panel=panel, opening=opening)
    caps = rules.escalation.caps_of(roster.panel)
    return review_usd(attempts, shards, tokens, rules.max_usd, 0 if caps is None else caps.consults)


def _tokens(change: Change, rules: Rules, shards: int, *, static: bool) -> int:
    """About how many tokens of diff the parts have, with what stands beside it where there is a tree to look into."""
    tokens = tokens_of(change.files)
    if change.tree is not None and not static:
        tokens += round(most_room(round(tokens * CHARACTERS_PER_TOKEN), shards) / CHARACTERS_PER_TOKEN)
    return min(tokens, shards * rules.shard_tokens)


def _repair(mode: RepairMode, change: Change, shards: int) -> RoleDecision:
    if mode == "off":
        return RoleDecision(False, ("switched off by --repair off",))
    if change.tree is None:
        return RoleDecision(False, ("a bare patch comes without a tree to repair",))
    if shards > 1:
        return RoleDecision(False, (f"the change has {shards} parts, and each is judged apart",))
    return RoleDecision(True, ("a vetoed approval may be repaired, as a suggestion",))


def _blind(rules: Rules) -> RoleDecision:
    if not rules.metadata_blind:
        return RoleDecision(False, ("metadata_blind is off",))
    return RoleDecision(True, ("metadata_blind is on: each diff is judged alone first",))


def policy_of_repaired(policy: Policy, change: Change, rules: Rules) -> Policy:
    """The policy for the change with a repair in it: blast radius and guard once more, never milder than before.

    Authority and retries follow from them. Money, time and consults stay as they were.
    """
    held = Guard(_together(policy.guard.paths, guard(change, rules.own_globs, rules.check_name).paths))
    critical = _together(policy.critical_touched, rules.critical_paths.touched_by(change.files))
    lines = max(policy.code_lines, changed_code_lines(change.files))
    risky = _together(policy.risky, _risky(change, lines))
    blast = blast_radius(critical, held.paths, lines, risky)
    rows = []
    for row in policy.surfaces:
        authority = Authority.VETO if held.holds else row.authority
        rows.append(
            replace(row, authority=authority, retry_budget=surface_retry_budget(row.surface, blast.radius, authority))
        )
    return replace(
        policy, surfaces=tuple(rows), blast=blast, guard=held, critical_touched=critical, code_lines=lines, risky=risky
    )


def _risky(change: Change, lines: int) -> tuple[str, ...]:
    """Only a small change is read for it: a larger one is medium by its size, or high."""
    return () if lines > MEDIUM_ABOVE_LINES else risky_code(change.files)


def _together(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def surfaces_that_apply(
    change: Change, rules: Rules, pictures: Sequence[PictureDifference] = ()
) -> tuple[Surface, ...]:
    """The surfaces of this change, in the order of running."""
    applies = {
        Surface.PR_REVIEW: True,
        Surface.PRE_MERGE_SPEC_CHECK: change.spec is not None,
        Surface.ADR_REVIEW: bool(changed_records(change, rules.adr_folders)),
        Surface.VISUAL_GATE: bool(pictures),
        Surface.WIKI_INGEST: rules.wiki_folder is not None,
    }
    return tuple(surface for surface, yes in applies.items() if yes)


def _surface_policy(
    surface: Surface, facts: TriggerFacts, switches: Switches, held: Guard, blast: Blast
) -> SurfacePolicy:
    row = SURFACE_DEFAULTS[surface]
    authority = Authority.VETO if held.holds else row.authority
    return SurfacePolicy(
        surface=surface,
        roles={
            Role.PRE_FLIGHT: _pre_flight(surface, facts, switches),
            Role.MID_FLIGHT: _switched(Role.MID_FLIGHT, surface, switches, in_table=row.mid_flight),
            Role.POST_VERIFY: _switched(Role.POST_VERIFY, surface, switches, in_table=True),
        },
        authority=authority,
        authority_because="the self-modification guard holds" if held.holds else "this surface's default",
        retry_budget=surface_retry_budget(surface, blast.radius, authority),
        executor_model=switches.executor_models[surface],
        advisor_model=switches.advisor_models[surface],
        left_out_by=surface_switch(surface) if row.optional and not switches.surfaces[surface] else "",
    )


def _switched(role: Role, surface: Surface, switches: Switches, *, in_table: bool) -> RoleDecision:
    if not in_table:
        return RoleDecision(False, (f"{surface.value} has no {role.value}",))
    off = switches.disabled_by(role, surface)
    if off is not None:
        return RoleDecision(False, (f"switched off by {off}",), disabled_by=off)
    return RoleDecision(True, ("this surface's default",))


def _pre_flight(surface: Surface, facts: TriggerFacts, switches: Switches) -> RoleDecision:
    rule = SURFACE_DEFAULTS[surface].pre_flight
    if rule in (PreFlightRule.NEVER, PreFlightRule.REUSE):
        return RoleDecision(False, (rule.value,))
    decided = _switched(Role.PRE_FLIGHT, surface, switches, in_table=True)
    if not decided.runs:
        return decided
    trigger: Trigger = (AlwaysTrigger() if rule is PreFlightRule.ALWAYS else CompositeTrigger()).decide(facts)
    return RoleDecision(trigger.fires, trigger.because)


RecordingMode = Literal["none", "answers", "full"]


RECORDING_DAYS = 14
"""So long a recording is kept: two weeks are time to look into a review, and prompts hold the team's code."""


@dataclass(frozen=True, slots=True)
class RecordingRules:
    """``answers`` keeps replies, ``full`` also prompts and the output of the CLI."""

    mode: RecordingMode = "none"
    prunes: bool = True
    """Whether old recordings are deleted: not where no configuration was read."""
