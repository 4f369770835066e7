"""Which parts of a review run in shadow."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from review_advisor.change.kinds import Glob
from review_advisor.policy.budgets import GivenEffort
from review_advisor.policy.escalation_rules import EscalationProfile
from review_advisor.policy.policy import Rules
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import REVIEW_ROLES, REVIEW_SURFACES, SURFACE_DEFAULTS, Role, Surface
from review_advisor.policy.switches import Switches
from review_advisor.safety.stated_values import nearest_of


@dataclass(frozen=True, slots=True)
class Drawn:
    """The ``place`` of something, from 0 up to 100, and whether a share of ``percent`` holds it."""

    place: float
    percent: float

    @property
    def is_in(self) -> bool:
        """Whether the share holds it. More percent never take anything away."""
        return self.place < self.percent


def drawn(percent: float, *about: str) -> Drawn:
    """The draw of what ``about`` names, exactly as it is written."""
    digest = hashlib.sha256("\0".join(about).encode("utf-8", "replace")).digest()
    return Drawn(int.from_bytes(digest[:8], "big") / 2**64 * 100, percent)


ShadowPart = Literal["judge", "executor", "consulted", "surface", "review"]
"""What runs in shadow: judges of the executor's report, an executor beside the real one, an advisor who answers the
consults of the review, a surface left out, or a whole review once more."""


SPEAKERS: Mapping[ShadowPart, tuple[Role, ...]] = {
    "judge": (Role.POST_VERIFY,),
    "executor": (Role.EXECUTOR,),
    "consulted": (Role.MID_FLIGHT,),
    "surface": (),
    "review": REVIEW_ROLES,
}
"""Who speaks with the model, the effort and the prompts of a shadow. A surface has those of the review."""


SHADOW_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"


MOST_SHADOWS = 10


_Surface = Annotated[Surface, WithJsonSchema({"type": "string", "enum": [each.value for each in REVIEW_SURFACES]})]


_Model = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199})?$")]


class ShadowRule(BaseModel):
    """One part of a review that runs in shadow: without authority, after the outcome is stored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=SHADOW_ID)] = Field(description="Its name in the rollup.")
    percent: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = Field(
        description="The share of reviews, drawn by a digest of the head."
    )
    part: ShadowPart = Field(default="judge", description="What runs.")
    advisors: Annotated[tuple[str, ...], Field(max_length=9)] = Field(
        default=(),
        description="Ids of its judges; empty: the ADR's advisor. Of a whole review: who joins it.",
    )
    model: _Model = Field(default="", description="Its model, instead of the review's.")
    advisor_model: _Model = Field(default="", description="The model of a whole review's advisors; `model` executes.")
    escalation: EscalationProfile | Literal[""] = Field(
        default="", description="A whole review's profile of `escalation`."
    )
    effort: GivenEffort = Field(default="", description="Its `--effort`.")
    surfaces: tuple[_Surface, ...] = Field(default=(), description="Its surfaces. Empty: all.")
    paths: tuple[Glob, ...] = Field(
        default=(), description="Where its surface looks, instead of `adr_folders` or `visual_paths`."
    )
    max_calls: Annotated[int, Field(ge=1, le=200)] = Field(default=6, description="Calls on one review: 6.")
    max_usd: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = Field(
        default=1.0, description="US dollars on one review: 1."
    )
    instructions: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_-]{0,63})?$")] = Field(
        default="", description="A folder in `.review-advisor/instructions/`: its prompts."
    )
    salt: Annotated[str, Field(max_length=200)] = Field(default="", description="Another salt draws other reviews.")

    @model_validator(mode="after")
    def _one_thing_differs(self) -> ShadowRule:
        if self.part in ("executor", "consulted") and self.advisors:
            raise ValueError('`advisors` are the judges of `part = "judge"`: leave them out')
        if self.part == "surface":
            self._check_surface()
        elif self.paths:
            raise ValueError('`paths` are the places of `part = "surface"`: leave them out')
        if self.part == "review" and self.surfaces:
            raise ValueError("a whole review has the surfaces of the change: leave `surfaces` out")
        if self.part != "review" and (self.advisor_model or self.escalation):
            raise ValueError('`advisor_model` and `escalation` are those of `part = "review"`: leave them out')
        if len(set(self.advisors)) < len(self.advisors):
            raise ValueError("`advisors` names one of them twice")
        return self

    def _check_surface(self) -> None:
        if self.advisors or self.model or self.effort or self.instructions:
            raise ValueError("a surface runs as in a review: leave `advisors`, `model`, `effort`, `instructions` out")
        if not self.surfaces:
            raise ValueError('`part = "surface"` names the surfaces that it tries')
        wrong = next((each for each in self.surfaces if not SURFACE_DEFAULTS[each].places), None)
        if wrong is not None:
            raise ValueError(f"{wrong.value}: no review leaves it out, or it cannot run alone")
        if self.paths and len(self.surfaces) > 1:
            raise ValueError("`paths` are those of one surface")


def _of_one_name_each(rules: tuple[ShadowRule, ...]) -> tuple[ShadowRule, ...]:
    if len({each.id.casefold() for each in rules}) < len(rules):
        raise ValueError("two of them have one id")
    return rules


ShadowRules = Annotated[tuple[ShadowRule, ...], Field(max_length=MOST_SHADOWS), AfterValidator(_of_one_name_each)]
"""The ``[[shadow]]`` tables of a configuration."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A rule with its judges: those of the configuration's own commit.

    Of a whole review they are everybody who advises there; nobody: whoever advises the real one.
    """

    rule: ShadowRule
    panel: tuple[Advisor, ...] = (ADR_ADVISOR,)

    def setup(self, prompts: str) -> str:
        """Who runs, in words: figures of different setups are not added up.

        ``prompts`` is the version of its prompts, which is told where they are others than the review's.
        """
        rule = self.rule
        words = [f"judge: {', '.join(each.id for each in self.panel)}" if rule.part == "judge" else rule.part]
        words += [f"model {rule.model}"] if rule.model else []
        words += [f"advisor model {rule.advisor_model}"] if rule.advisor_model else []
        words += [f"with {', '.join(rule.advisors)}"] if rule.part == "review" and rule.advisors else []
        words += [f"escalation {rule.escalation}"] if rule.escalation else []
        words += [f"effort {rule.effort}"] if rule.effort else []
        words += [f"instructions {rule.instructions} ({prompts})"] if rule.instructions else []
        words += [f"on {', '.join(rule.surfaces)}"] if rule.surfaces else []
        words += [f"in {', '.join(rule.paths)}"] if rule.paths else []
        return "; ".join(words)

    def rules(self, rules: Rules) -> Rules:
        """The review's rules with the places of its surface, or with what a whole review tries."""
        rule = self.rule
        if rule.part == "review":
            roster = Roster(self.panel) if self.panel else rules.roster
            profile = rule.escalation or rules.escalation.profile
            return replace(rules, roster=roster, escalation=replace(rules.escalation, profile=profile))
        places = {SURFACE_DEFAULTS[each].places: rule.paths for each in rule.surfaces if rule.paths}
        folders = tuple(each.strip("/") for each in places.get("adr_folders", rules.adr_folders))
        return replace(rules, adr_folders=folders, visual_paths=places.get("visual_paths", rules.visual_paths))

    def switches(self, switches: Switches) -> Switches:
        """The review's switches with its surfaces on, or with the models of a whole review."""
        rule = self.rule
        match rule.part:
            case "surface":
                return replace(switches, surfaces={**switches.surfaces, **dict.fromkeys(rule.surfaces, True)})
            case "review":
                executors = dict.fromkeys(Surface, rule.model) if rule.model else switches.executor_models
                advisors = dict.fromkeys(Surface, rule.advisor_model) if rule.advisor_model else switches.advisor_models
                return replace(switches, executor_models=executors, advisor_models=advisors)
            case _:
                return switches


def shadow_of(rule: ShadowRule, known: Iterable[Advisor]) -> Shadow | str:
    """The rule with its judges out of the ``known`` advisors; or, for an unknown id, a sentence that names the nearest.

    Whoever judges in shadow has a vote there, whenever it speaks in a review. In a whole review everybody speaks as
    declared, and the ADR's advisor is one of them.
    """
    by_id = {each.id: each for each in known}
    unknown = next((each for each in rule.advisors if each not in by_id), None)
    if unknown is not None:
        return f"shadow.{rule.id}: nobody has the id {unknown!r}; {nearest_of(unknown, by_id)}"
    if rule.part == "review":
        joining = [by_id[each] for each in rule.advisors if each != ADR_ADVISOR.id]
        named = (ADR_ADVISOR, *(replace(each, by_label=False) for each in joining))
        return Shadow(rule, named if rule.advisors else ())
    ids = rule.advisors or (ADR_ADVISOR.id,)
    return Shadow(rule, tuple(_voting(by_id[each], rule.model) for each in ids))


def _voting(advisor: Advisor, model: str) -> Advisor:
    votes = advisor if advisor.id == ADR_ADVISOR.id else replace(advisor, on="finish", by_label=False, inline=False)
    return replace(votes, model=model or votes.model)


@dataclass(frozen=True, slots=True)
class Shadows:
    """The shadows that can run, and a sentence on each that cannot: no review is refused for one."""

    usable: tuple[Shadow, ...] = ()
    problems: tuple[str, ...] = ()


def shadows_of(rules: Iterable[ShadowRule], known: Sequence[Advisor]) -> Shadows:
    """Each of the rules with its judges out of the ``known`` advisors."""
    found = [shadow_of(rule, known) for rule in rules]
    usable = tuple(each for each in found if isinstance(each, Shadow))
    return Shadows(usable, tuple(each for each in found if isinstance(each, str)))


def due(rule: ShadowRule, repository: str | None, label: str, head_sha: str | None) -> str | None:
    """Why the shadow runs on the review of this head; None if it does not.

    The digest is the same for every run of one review. An author who tries heads until one is drawn gains nothing: a
    shadow decides nothing.
    """
    found = drawn(rule.percent, rule.salt, rule.id, (repository or "").casefold(), label, head_sha or "")
    return f"the review has place {found.place:.2f} of 100, and {rule.percent:g} run in shadow" if found.is_in else None


def shadows_due(
    shadows: Sequence[Shadow], repository: str | None, label: str, head_sha: str | None
) -> tuple[tuple[Shadow, str], ...]:
    """Those that run on a review, each with why."""
    decided = ((each, due(each.rule, repository, label, head_sha)) for each in shadows)
    return tuple((each, why) for each, why in decided if why is not None)


def idle_settings(rules: Sequence[ShadowRule], *, profile: EscalationProfile) -> tuple[str, ...]:
    """A sentence on each setting about shadows that can never do anything, beside the rest of a configuration."""
    return tuple(_idle(rules, profile=profile))


def _idle(rules: Sequence[ShadowRule], *, profile: EscalationProfile) -> Iterator[str]:
    for rule in rules:
        if rule.part != "consulted":
            continue
        if profile == "adr":
            yield (
                f"shadow.{rule.id}: it answers the consults of the review itself, and under the escalation profile"
                " 'adr' there are none."
            )
        elif rule.surfaces and not any(SURFACE_DEFAULTS[each].mid_flight for each in rule.surfaces):
            named = ", ".join(each.value for each in rule.surfaces)
            yield f"shadow.{rule.id}: nobody is consulted on {named}."


def same_as_the_review(rules: Sequence[ShadowRule]) -> tuple[str, ...]:
    """A remark on each whole review that tries nothing: it tells how far two equal reviews differ."""
    tries = (
        (rule, (rule.advisors, rule.model, rule.advisor_model, rule.escalation, rule.effort, rule.instructions))
        for rule in rules
        if rule.part == "review"
    )
    return tuple(
        f"shadow.{rule.id}: the whole review differs in nothing from the real one; its figures tell chance alone."
        for rule, said in tries
        if not any(said)
    )
