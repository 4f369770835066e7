"""The declared advisors of a run, as its user wants them: from a file, or those of HEAD."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from review_advisor.app.settings import ConfigError
from review_advisor.app.tasks.declared_commands import OWN_BACKENDS
from review_advisor.app.tasks.named_advisors import read_advisors
from review_advisor.core.council.brief import BriefError, read_actions
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.policy.switches import MASTER, ROLE_SWITCHES, Switches, surface_switch
from review_advisor.core.roster.advisor import ADR_ADVISOR, Advisor, Roster
from review_advisor.core.task.task_council import NO_COUNCIL, TaskCouncil


def council_of(
    named: Path | None, actions: str, head: Roster | None, backend: str, remark: Callable[[str], None]
) -> TaskCouncil:
    """Who advises and votes in a run: the advisors of the ``named`` file or folder, or else those of ``head``.

    Without a file and without ``actions`` that is nobody. ``backend`` is who answers. ``remark`` is told what may be a
    slip. Raises ``ConfigError``.
    """
    if named is None and not actions:
        return NO_COUNCIL
    advisors = read_advisors(named, remark) if named is not None else _of_head(head)
    try:
        council = TaskCouncil(advisors, read_actions(actions) if actions else ())
    except BriefError as problem:
        raise ConfigError(str(problem)) from None
    voting = ", ".join(each.id for each in council.voting)
    if voting and not council.actions:
        raise ConfigError(
            f"Over what do these advisors vote: {voting}? Name the actions with --actions, mildest first."
        )
    if council.actions and not voting:
        raise ConfigError("Nobody votes over the actions: declare an advisor with `on: finish` or `on: request`.")
    return answerable(council, backend)


def answerable(council: TaskCouncil, backend: str) -> TaskCouncil:
    """The same council, if ``backend`` can answer for it. Raises ``ConfigError``."""
    if backend not in OWN_BACKENDS and (council.voting or council.opening):
        known = ", ".join(OWN_BACKENDS)
        raise ConfigError(f"The command {backend!r} has no form for opinions and votes: use --advisor with {known}.")
    return council


def switched_off(switches: Switches, council: TaskCouncil, surface: Surface | None = None) -> str:
    """The switch that turns an advisor of the run off; empty if none does. ``surface`` is that of a verb of its own."""
    if not switches.master:
        return f"{MASTER} is off"
    if surface is not None and not switches.surfaces[surface]:
        return f"{surface_switch(surface)} is off"
    needed: Mapping[Role, object] = {
        Role.MID_FLIGHT: True,
        Role.PRE_FLIGHT: council.opening,
        Role.POST_VERIFY: council.voting,
    }
    return next(
        (f"{ROLE_SWITCHES[role]} is off" for role, who in needed.items() if who and not switches.roles[role]), ""
    )


def _of_head(head: Roster | None) -> tuple[Advisor, ...]:
    declared = tuple(each for each in (head or Roster()).advisors if each.id != ADR_ADVISOR.id)
    if not declared:
        raise ConfigError("HEAD declares no advisor in .review-advisor/advisors/: name a file with --advisors.")
    return declared
