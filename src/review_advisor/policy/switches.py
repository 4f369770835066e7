"""The switches of ADR-0059, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from review_advisor.policy.budgets import JOBS, MAX_CONSULTS, MAX_CONSULTS_CEILING, MOST_JOBS
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.stop import Refusal

STATIC = "--agent embedded"


MASTER = "HYDRAFLOW_REVIEW_ADVISOR_ENABLED"


FAIL_AS_VETO = "HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO"


MAX_CONSULTS_VARIABLE = "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS"


JOBS_VARIABLE = "REVIEW_ADVISOR_JOBS"


FORCE_ON = "HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON"


ROLE_SWITCHES: dict[Role, str] = {
    Role.PRE_FLIGHT: "HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED",
    Role.MID_FLIGHT: "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED",
    Role.POST_VERIFY: "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED",
}


DEFAULT_ADVISOR_MODEL = "opus"


DEFAULT_EXECUTOR_MODEL = "sonnet"


YES = ("true", "1", "yes", "on")


NO = ("false", "0", "no", "off")


class SwitchError(Refusal, ValueError):
    """A variable holds a value that means nothing. One sentence: variable, value, accepted words."""

    several_lines = True


@dataclass(frozen=True, slots=True)
class Switches:
    """All environment settings of one review, resolved before its first call; a later flip changes nothing.

    ``static``: static checks answer instead of a model, and they have no advisor.
    """

    master: bool
    roles: Mapping[Role, bool]
    surfaces: Mapping[Surface, bool]
    fail_as_veto: bool
    force_pre_flight: bool
    max_consults: int
    advisor_models: Mapping[Surface, str]
    executor_models: Mapping[Surface, str]
    static: bool = False

    def disabled_by(self, role: Role, surface: Surface) -> str | None:
        """What switches ``role`` off on ``surface`` (AND across scopes), or None."""
        if self.static:
            return STATIC
        if not self.master:
            return MASTER
        if not self.roles[role]:
            return ROLE_SWITCHES[role]
        if not self.surfaces[surface]:
            return surface_switch(surface)
        return None


@cache
def surface_switch(surface: Surface) -> str:
    """The per-surface switch's name."""
    return f"HYDRAFLOW_{surface.upper()}_ADVISOR_ENABLED"


def read_switches(environ: Mapping[str, str]) -> Switches:
    """Resolve every switch. Raises ``SwitchError`` for a value that is neither a yes nor a no, or not a number."""
    return Switches(
        master=_flag(environ, MASTER, default=True),
        roles={role: _flag(environ, name, default=True) for role, name in ROLE_SWITCHES.items()},
        surfaces={surface: _flag(environ, surface_switch(surface), default=True) for surface in Surface},
        fail_as_veto=_flag(environ, FAIL_AS_VETO, default=False),
        force_pre_flight=_flag(environ, FORCE_ON, default=False),
        max_consults=_count(environ, MAX_CONSULTS_VARIABLE, MAX_CONSULTS, MAX_CONSULTS_CEILING),
        advisor_models={s: _model(environ, s, "ADVISOR", DEFAULT_ADVISOR_MODEL) for s in Surface},
        executor_models={s: _model(environ, s, "EXECUTOR", DEFAULT_EXECUTOR_MODEL) for s in Surface},
    )


def read_jobs(environ: Mapping[str, str]) -> int:
    """Calls at a time in a change of several parts. Raises ``SwitchError`` for nonsense."""
    return _count(environ, JOBS_VARIABLE, JOBS, MOST_JOBS, least=1)


def _value(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip()


def _flag(environ: Mapping[str, str], name: str, *, default: bool) -> bool:
    value = _value(environ, name)
    if not value:
        return default
    if value.lower() in YES:
        return True
    if value.lower() in NO:
        return False
    raise SwitchError(f"{name} is {value!r}: use one of {', '.join(YES)} or {', '.join(NO)}.")


def _count(environ: Mapping[str, str], name: str, default: int, ceiling: int, least: int = 0) -> int:
    value = _value(environ, name)
    if not value:
        return default
    if value.isascii() and value.isdigit() and least <= int(value[:9]) <= ceiling and len(value) < 9:  # noqa: PLR2004
        return int(value)
    raise SwitchError(f"{name} is {value!r}: use a whole number from {least} to {ceiling}.")


def _model(environ: Mapping[str, str], surface: Surface, who: Literal["ADVISOR", "EXECUTOR"], default: str) -> str:
    for name in model_variables(surface, who):
        value = _value(environ, name)
        if value.startswith("-") or not value.isprintable() or " " in value:
            raise SwitchError(f"{name} is {value!r}: use a model's name or alias, such as {default}.")
        if value:
            return value
    return default


@cache
def model_variables(surface: Surface, who: Literal["ADVISOR", "EXECUTOR"]) -> tuple[str, str]:
    """The variables that name a model: the surface's own, and the one for all surfaces."""
    return f"HYDRAFLOW_{surface.upper()}_{who}_MODEL", f"HYDRAFLOW_REVIEW_{who}_MODEL"
