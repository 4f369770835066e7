"""Configuration file and environment, read once into one frozen value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import PurePath, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from review_advisor.change.guidelines import (
    DEFAULT_FILES,
    LONGEST_GUIDELINE,
    ConfiguredGuideline,
    GuidelineFile,
    GuidelineRules,
)
from review_advisor.change.kinds import CRITICAL_PATHS_ADR, CRITICAL_PATHS_HYDRAFLOW, PYPROJECT, CriticalPaths, Glob
from review_advisor.change.lock_formats import DEFAULT_EXCLUDE
from review_advisor.change.redaction import Redactor, redactor
from review_advisor.policy.budgets import (
    CALL_SECONDS,
    JOBS,
    MAX_SECONDS,
    REVIEW_SECONDS,
    SECONDS_FOR_EACH_PART,
)
from review_advisor.policy.escalation_rules import EscalationProfile, EscalationRules, Handoff, Threshold
from review_advisor.policy.outage_rules import BUSY_TRIES, DEFAULT_OUTAGE_RULES, WAIT_SECONDS, OutageRules
from review_advisor.policy.policy import ENGLISH, Mode, RecordingMode, RecordingRules, Rules
from review_advisor.policy.prices import NO_PRICES, OwnPrices
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.risk import gives_orders
from review_advisor.policy.roster import DEFAULT_ROSTER, PresetName, Roster
from review_advisor.policy.switches import Switches, read_jobs, read_switches
from review_advisor.safety.setup_watch import SETUP_SECONDS
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake
from review_advisor.safety.stop import Refusal

_MOST_TOLD = 10


_AS_ALIKE_AS_A_TYPO = 0.7
"""Below it a key is another word: `visual_folder`, which is gone, is no `wiki_folder`."""


def setting_complaints(
    error: ValidationError, root: type[BaseModel], tables: Mapping[str, type[BaseModel]], name: str
) -> str:
    """Every mistake in a sentence of its own, up to a number that a person can read.

    ``root`` is the whole file, ``tables`` are those in it by their keys, and ``name`` is what the file's table is
    called. An unknown key gets the nearest known one.
    """
    found = error.errors(include_url=False)
    more = f" There are {len(found) - _MOST_TOLD} more." if len(found) > _MOST_TOLD else ""
    return " ".join(_complaint(each, root, tables, name) for each in found[:_MOST_TOLD]) + more


def _complaint(first: ErrorDetails, root: type[BaseModel], tables: Mapping[str, type[BaseModel]], name: str) -> str:
    where = ".".join(str(step) for step in first["loc"])
    if first["type"] != "extra_forbidden":
        return f"{where or name}: {value_mistake(first)}."
    table = tables.get(str(first["loc"][0]), root) if len(first["loc"]) > 1 else root
    known = list(table.model_fields)
    key = str(first["loc"][-1])
    begun = [each for each in known if each.startswith(key)]
    near = begun if len(begun) == 1 else get_close_matches(key, known, n=1, cutoff=_AS_ALIKE_AS_A_TYPO)
    hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}."
    return f"unknown key {where!r}; {hint}"


CONFIG_FILE = ".review-advisor.toml"


TABLE = "review-advisor"


_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\)")


Profile = Literal["adr", "hydraflow"]


CRITICAL_PATHS: Mapping[Profile, CriticalPaths] = {
    "adr": CRITICAL_PATHS_ADR,
    "hydraflow": CRITICAL_PATHS_HYDRAFLOW,
}


ModelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}$")]


Usd = Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)]


Seconds = Annotated[float, Field(ge=1, le=21_600, allow_inf_nan=False)]


def _inside(folder: str) -> str:
    parts = PurePosixPath(folder).parts
    if not parts or folder.startswith("/") or ".." in parts or "\0" in folder or ".git" in map(str.casefold, parts):
        raise ValueError("name a folder inside the repository")
    return "/".join(parts)


def _quiet(folder: str) -> str:
    if gives_orders(f"{folder}/page.md"):
        raise ValueError("name a folder that configures no agent, editor or CI system")
    return folder


Inside = Annotated[str, AfterValidator(_inside)]


Quiet = Annotated[Inside, AfterValidator(_quiet)]


class ConfigError(Refusal, ValueError):
    """A configuration that cannot be used. One sentence: where, what, and the nearest right thing."""

    several_lines = True


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GuidelineConfig(_Table):
    """One rule of the team's own: for the files that match, a short text or a file of the repository."""

    paths: Annotated[tuple[Glob, ...], Field(min_length=1)] = Field(
        description="Gitignore-style globs of the files that the rules apply to."
    )
    text: Annotated[str, Field(max_length=LONGEST_GUIDELINE)] = Field(default="", description="The rules themselves.")
    file: Inside | None = Field(default=None, description="Or the file of the repository that they stand in.")

    @model_validator(mode="after")
    def _one_of_both(self) -> GuidelineConfig:
        if bool(self.text.strip()) == (self.file is not None):
            raise ValueError("give either `text` or `file`")
        return self


class OutageConfig(_Table):
    """Who judges after an outage, and what a rate limit means."""

    fallback_models: Annotated[tuple[ModelName, ...], Field(max_length=5)] = Field(
        default=(),
        description="Models to judge after the second outage, in order. Their approval stays degraded.",
    )
    rate_limits: Literal["escalate", "soft"] = Field(
        default=DEFAULT_OUTAGE_RULES.rate_limits,
        description=(
            "What an approval becomes if a rate limit takes its judgement: `escalate` calls a person,"
            " `soft` treats the limit like an outage (ADR-0059)."
        ),
    )


class EscalationConfig(_Table):
    """When the review itself consults the advisor, beside the questions of the executor."""

    profile: EscalationProfile = Field(
        default="adr",
        description="When the review itself consults: `adr` never, `attrition` up to 4 times, `harness` 3 (ADR-0116).",
    )
    handoff: Handoff = Field(
        default="human",
        description="Who decides when a consult is due beyond the cap.",
    )


class BudgetConfig(_Table):
    """What one review may spend: money and time."""

    max_usd: Usd = Field(default=Rules().max_usd, description="The most that one review may spend.")
    call_seconds: Seconds = Field(default=CALL_SECONDS, description="Wall clock of one call.")
    review_seconds: Annotated[float, Field(ge=1, le=MAX_SECONDS, allow_inf_nan=False)] = Field(
        default=REVIEW_SECONDS,
        description=f"Wall clock of a review; a part or member adds {SECONDS_FOR_EACH_PART:g}, to {MAX_SECONDS:g}.",
    )
    setup_seconds: Seconds = Field(
        default=SETUP_SECONDS, description="Wall clock of all work before the first call; past it nothing is asked."
    )


class AdvisorsConfig(_Table):
    """Who advises beside the ADR's advisor."""

    preset: PresetName = Field(
        default="default",
        description="The shipped roster that [your own advisors](advisors.md) add to.",
    )


class Config(_Table):
    """The configuration file: ``.review-advisor.toml``, or ``[tool.review-advisor]`` in pyproject.toml."""

    mode: Mode = Field(default="enforce", description="`shadow`: review [without authority](shadow.md).")
    profile: Profile = Field(
        default="adr",
        description="Which [critical paths](#blast-radius-and-critical-paths) count.",
    )
    critical_paths: tuple[Glob, ...] | None = Field(
        default=None,
        description="Gitignore-style globs of critical paths, instead of the profile's paths and words.",
    )
    adr_folders: tuple[str, ...] = Field(
        default=Rules().adr_folders,
        description="Folders whose numbered documents are architecture decision records.",
    )
    visual_paths: tuple[Glob, ...] = Field(
        default=Rules().visual_paths,
        description="Globs of pictures: a changed one is compared, and what differs is judged.",
    )
    wiki_folder: Quiet | None = Field(
        default=Rules().wiki_folder,
        description="A folder for the facts that reviews learn, as Markdown files.",
    )
    fail_on: Literal["verdict", "degraded"] = Field(
        default="verdict",
        description="`degraded`: an approval without a judgement or with an advisor off calls a human.",
    )
    shard_tokens: Annotated[int, Field(ge=2_000, le=400_000)] = Field(
        default=Rules().shard_tokens,
        description="Tokens of diff in one call, roughly; a larger change is reviewed in parts.",
    )
    metadata_blind: bool = Field(
        default=Rules().metadata_blind,
        description="First judge each diff without its title and description; a verdict that changes calls a human.",
    )
    language: Annotated[str, Field(pattern=r"^[^\W\d_][\w ()-]{1,39}$")] = Field(
        default=ENGLISH,
        description="The language of findings and judgements; the rest stays English.",
    )
    exclude: tuple[Glob, ...] = Field(
        default=DEFAULT_EXCLUDE,
        description="Globs of [files that are not read](#excluded-files).",
    )
    secret_samples: tuple[Glob, ...] = Field(
        default=Rules().secret_samples,
        description="Globs of files whose [secrets](secrets.md#what-becomes-of-a-mask) are samples, and no findings.",
    )
    guideline_files: tuple[GuidelineFile, ...] = Field(
        default=DEFAULT_FILES,
        description="Files of [your own rules](#your-own-rules).",
    )
    guidelines: Annotated[tuple[GuidelineConfig, ...], Field(max_length=50)] = Field(
        default=(),
        description="More rules, as tables `[[guidelines]]`.",
    )
    recording: RecordingMode = Field(
        default=RecordingRules().mode,
        description="Keep each call's replies, or also prompts and output: see [Recordings](ledger.md#recordings).",
    )
    advisors: AdvisorsConfig = Field(default=AdvisorsConfig(), description="Who advises.")
    outage: OutageConfig = Field(default=OutageConfig(), description="What is tried when a judge is lost to an outage.")
    budget: BudgetConfig = Field(default=BudgetConfig(), description="What one review may spend.")
    escalation: EscalationConfig = Field(default=EscalationConfig(), description="When the review itself consults.")
    github: PublicationRules = Field(default=PublicationRules(), description="What is written on a pull request.")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything one review is configured with, read once before its first call."""

    rules: Rules
    switches: Switches
    redactor: Redactor = field(default_factory=Redactor)
    jobs: int = JOBS
    recording: RecordingRules = field(default_factory=RecordingRules)
    prices: OwnPrices = NO_PRICES
    setup_seconds: float = SETUP_SECONDS


def without_links(description: str) -> str:
    """The description of a setting for a place that has no pages beside it: of each link the words remain."""
    return _LINK.sub(r"\1", description)


def parse_config(text: str, origin: str) -> Config:
    """The configuration in ``text``. ``origin`` names the file; a pyproject's own table is looked for.

    Raises ``ConfigError`` for text that is not TOML, an unknown key (with the nearest name), or a bad value.
    """
    try:
        table: Any = read_toml(text)
    except TomlError as error:
        raise ConfigError(f"{origin} is not valid TOML: {error}.") from None
    if PurePath(origin).name == PYPROJECT:
        tool = table.get("tool")
        table = tool.get(TABLE, {}) if isinstance(tool, dict) else {}
    try:
        return Config.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{origin}: {setting_complaints(error, Config, _TABLES, TABLE)}") from None


def has_table(text: str) -> bool:
    """Whether a pyproject.toml configures this product, or would if it were TOML."""
    try:
        tool = read_toml(text).get("tool", {})
    except TomlError:
        return f"[tool.{TABLE}" in text
    return isinstance(tool, dict) and TABLE in tool


_TABLES: Mapping[str, type[BaseModel]] = {
    "budget": BudgetConfig,
    "github": PublicationRules,
    "guidelines": GuidelineConfig,
    "outage": OutageConfig,
    "advisors": AdvisorsConfig,
    "escalation": EscalationConfig,
}


def guideline_rules(config: Config) -> GuidelineRules:
    """What the configuration says on the team's own rules."""
    given = tuple(ConfiguredGuideline(each.paths, each.text, each.file or "") for each in config.guidelines)
    return GuidelineRules(config.guideline_files, given)


def critical_paths(config: Config, profile: Profile | None = None) -> CriticalPaths:
    """The critical paths: the configuration's own globs, or else those of the profile, which ``profile`` overrides."""
    own = config.critical_paths
    return CRITICAL_PATHS[profile or config.profile] if own is None else CriticalPaths(globs=own)


def make_settings(
    config: Config,
    environ: Mapping[str, str],
    *,
    profile: Profile | None,
    config_path: str | None,
    roster: Roster = DEFAULT_ROSTER,
    thresholds: tuple[Threshold, ...] = (),
) -> Settings:
    """The snapshot. ``profile`` beats the file's; ``config_path`` is where it stands in the repository, if it does.

    ``thresholds`` are those of the repository's own file.

    Raises ``SwitchError`` for an environment value that means nothing.
    """
    budget = config.budget
    rules = Rules(
        critical_paths=critical_paths(config, profile),
        adr_folders=tuple(folder.strip("/") for folder in config.adr_folders),
        max_usd=budget.max_usd,
        call_seconds=budget.call_seconds,
        review_seconds=budget.review_seconds,
        shard_tokens=config.shard_tokens,
        fail_on_degraded=config.fail_on == "degraded",
        config_path=config_path,
        check_name=config.github.check_name,
        mode=config.mode,
        visual_paths=config.visual_paths,
        wiki_folder=config.wiki_folder,
        metadata_blind=config.metadata_blind,
        guidelines=guideline_rules(config),
        language=config.language,
        exclude=config.exclude,
        secret_samples=config.secret_samples,
        escalation=EscalationRules(config.escalation.profile, config.escalation.handoff, thresholds),
        outage=OutageRules(
            WAIT_SECONDS,
            config.outage.fallback_models,
            BUSY_TRIES,
            config.outage.rate_limits,
        ),
        roster=roster,
    )
    recording = RecordingRules(config.recording)
    setup = config.budget.setup_seconds
    return Settings(
        rules, read_switches(environ), redactor(environ), read_jobs(environ), recording, setup_seconds=setup
    )
