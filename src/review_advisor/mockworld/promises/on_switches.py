"""The promises about who is asked at all: by a switch, by what a change deserves, in which order."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.mockworld.promises.on_verdicts import ON, in_critical_folder
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded, CallStarted, Reported, Ruled

SWITCH = {
    Role.PRE_FLIGHT: "HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED",
    Role.MID_FLIGHT: "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED",
    Role.POST_VERIFY: "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED",
}
ADR_SWITCH = "HYDRAFLOW_ADR_REVIEW_ADVISOR_ENABLED"
FORCE_ON = "HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON"
MANY_CODE_LINES = 20

ORDER = ("pr_review", "pre_merge_spec_check", "adr_review", "visual_gate", "wiki_ingest")


def is_off(reading: Reading, role: Role, surface: str) -> bool:
    """Whether one of the three switches over a role on a surface was off when the review began."""
    names = ("HYDRAFLOW_REVIEW_ADVISOR_ENABLED", SWITCH[role], f"HYDRAFLOW_{surface.upper()}_ADVISOR_ENABLED")
    return not reading.off.isdisjoint(names)


def a_switch_off_means_no_call(reading: Reading) -> Iterator[str]:
    """A role that is switched off is not asked and not granted, on any surface the switch covers."""
    for asked in reading.review.asked:
        role, surface = asked.call.role, asked.call.surface
        if surface == "adr_review" and ADR_SWITCH in reading.off:
            yield f"{role.value} was asked on {surface}, all of which is switched off"
        elif role is not Role.EXECUTOR and is_off(reading, role, surface):
            yield f"{role.value} was asked on {surface} although it is switched off"
        if asked.call.consults is not None and is_off(reading, Role.MID_FLIGHT, surface):
            yield f"the executor of {surface} may consult although mid-flight is switched off"


def a_switch_on_at_the_start_stays_on(reading: Reading) -> Iterator[str]:
    """Every report that was ruled on was put before post-verify, unless it was off when the review began."""
    judged = {
        (event.surface, event.shard, event.attempt) for event in reading.events(CallEnded)
        if event.role is Role.POST_VERIFY
    }  # fmt: skip
    for event in reading.events(Ruled):
        asked = (event.surface, event.shard, event.attempt) in judged
        if not asked and not is_off(reading, Role.POST_VERIFY, event.surface):
            yield f"{event.surface}, part {event.shard + 1}, was ruled on without a judgement"


def a_change_that_deserves_a_plan_gets_one(reading: Reading) -> Iterator[str]:
    """Pre-flight comes before the executor where the trigger or the guard fires, and costs nothing elsewhere."""
    document = reading.review.document
    if document is None:
        return
    planned = {event.surface for event in reading.events(CallEnded) if event.role is Role.PRE_FLIGHT}
    executed = {event.surface for event in reading.events(CallStarted) if event.role is Role.EXECUTOR}
    change = reading.review.change
    every = sum(file.added + file.removed for file in change.files)
    forced = reading.review.environment.get(FORCE_ON, "").strip().lower() in ON or change.prior_fix_attempts > 0
    critical = document.policy.guard.holds or bool(document.policy.critical_touched) or in_critical_folder(reading)
    owed = {"adr_review": True, "pr_review": forced or critical or reading.lines_of_python > MANY_CODE_LINES}
    for surface, fires in owed.items():
        if fires and surface in executed - planned and not is_off(reading, Role.PRE_FLIGHT, surface):
            yield f"the executor of {surface} was asked without a plan"
    if "pr_review" in planned and not owed["pr_review"] and every <= MANY_CODE_LINES:
        yield "a plan was paid for a change that deserves none"


def switched_off_is_never_silent(reading: Reading) -> Iterator[str]:
    """What a switch turned off stands in the flags and, unless the change is empty, in the report."""
    document = reading.review.document
    if document is None:
        return
    reviewed = bool(reading.review.change.files)
    for row in document.policy.surfaces:
        disabled = f"{row.surface}/post_verify"
        if not is_off(reading, Role.POST_VERIFY, row.surface):
            continue
        if disabled not in document.flags.advisor_disabled:
            yield f"{disabled} is switched off and no flag says so"
        if reviewed and (disabled not in reading.report or "SWITCHED OFF" not in reading.report):
            yield f"{disabled} is switched off and the report does not say so"


def surfaces_run_in_their_order(reading: Reading) -> Iterator[str]:
    """pr_review is first, and no surface is begun again once the next one has begun."""
    order = list(dict.fromkeys(event.surface for event in reading.events(Reported)))
    if order != sorted(order, key=ORDER.index):
        yield f"the surfaces ran as {', '.join(order)}"
