"""The team's own rules as they are committed: what ``doctor`` finds, and what applies to one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from review_advisor.adapters.git.open import open_head
from review_advisor.app.configuration import publication_rules, working_config, working_prices, working_roster
from review_advisor.app.doctor import Diagnosis
from review_advisor.app.settings import Config, ConfigError, Settings, guideline_rules
from review_advisor.core.facts.adr_record import changed_records
from review_advisor.core.facts.change import Change, FileChange, Status
from review_advisor.core.facts.files.kinds import kind_of_path
from review_advisor.core.facts.files.paths import PYPROJECT, PathRule
from review_advisor.core.facts.guidelines import (
    BaseText,
    FoundGuidelines,
    GuidelineFile,
    GuidelineRules,
    found_guidelines,
    looked_for,
)
from review_advisor.core.facts.lockfiles.lock_formats import ecosystem_of
from review_advisor.core.policy.exclusion import excluding_glob
from review_advisor.core.policy.guard import implementation_globs
from review_advisor.core.policy.policy import Rules
from review_advisor.core.roster.advisor import DEFAULT_ROSTER
from review_advisor.core.roster.lenses import roster_for

NONE_YET = "none: a REVIEW.md in the repository would hold your own rules for reviews"


@dataclass(frozen=True, slots=True)
class CommittedRules:
    """The rules at HEAD. ``commit`` is its name; empty where there is no commit. ``files`` are their paths."""

    commit: str
    files: dict[str, BaseText]

    @property
    def source(self) -> str:
        """Where they were read, in words."""
        return f"HEAD {self.commit[:12]}" if self.commit else "no commit"


def committed_rules(repo: Path, rules: GuidelineRules, about: Iterable[str] | None = None) -> CommittedRules:
    """The files of rules at HEAD: all that can be rules, or those looked for on behalf of the paths ``about``."""
    head = open_head(repo)
    if head is None:
        return CommittedRules("", {})
    with closing(head.store) as store:
        if about is not None:
            return CommittedRules(head.commit, store.texts(head.tree, looked_for(rules, about)))
        known: tuple[str, ...] = get_args(GuidelineFile)
        below = store.paths_named(head.tree, [name for name in known if "/" not in name])
        at_root = (name for name in known if "/" in name)
        given = (each.file for each in rules.configured if each.file)
        return CommittedRules(head.commit, store.texts(head.tree, dict.fromkeys((*below, *at_root, *given))))


def examine_rules(repo: Path) -> tuple[Diagnosis, ...]:
    """Which rules of the team's own a review here would read; nothing if nothing is committed."""
    rules = guideline_rules(_usable(repo))
    found = committed_rules(repo, rules)
    if not found.commit:
        return ()
    return tuple(Diagnosis("rules", "team rules", ok, says) for ok, says in _words(found, rules))


def examine_mode(repo: Path) -> tuple[Diagnosis, ...]:
    """A note if the working tree's configuration is in shadow mode, which enforces nothing."""
    config = _usable(repo)
    if config.mode == "enforce":
        return ()
    from review_advisor.core.pull_request.gate import mode_remark

    return tuple(Diagnosis("github", each.name, each.ok, each.says) for each in mode_remark(publication_rules(config)))


def _usable(repo: Path) -> Config:
    """The working tree's configuration; the defaults for one that cannot be used, which ``config check`` tells."""
    try:
        return working_config(repo)[0]
    except ConfigError:
        return Config()


def _words(found: CommittedRules, rules: GuidelineRules) -> Iterator[tuple[bool, str]]:
    """What to say of the rules of a repository, and whether it is as it should be."""
    named = {*rules.files, *(each.file for each in rules.configured)}

    def is_read(path: str) -> bool:
        return path in named or any("/" not in name and path.endswith(f"/{name}") for name in rules.files)

    read = [path for path, each in found.files.items() if is_read(path) and not each.problem]
    given = sum(bool(each.text) for each in rules.configured)
    told = [*sorted(read), *([f"{given} in the configuration"] if given else [])]
    unread = [path for path in sorted(found.files) if not is_read(path)]
    rest = f"; not read, because `guideline_files` does not name them: {', '.join(unread)}" if unread else ""
    yield True, f"{', '.join(told) if told else NONE_YET}{rest}"
    for path, each in found.files.items():
        if is_read(path) and each.problem:
            yield False, f"{path} is not read: {each.problem}."
    for given_file in (each.file for each in rules.configured):
        if given_file and given_file not in found.files:
            yield False, f"{given_file} is not read: the configuration names it, and it is not committed."


def examine_roster(repo: Path) -> Iterator[Diagnosis]:
    """Who the working tree declares, or what is wrong with it; nothing for the default roster."""
    try:
        roster = working_roster(repo, _usable(repo))
    except ConfigError as problem:
        yield Diagnosis("rules", "advisors", False, str(problem))
        return
    yield from _examined_prices(repo)
    if roster != DEFAULT_ROSTER:
        told = (f"{each.id} ({each.source or 'shipped'})" for each in roster.advisors)
        yield Diagnosis("rules", "advisors", True, ", ".join(told))


def _examined_prices(repo: Path) -> Iterator[Diagnosis]:
    """The repository's own prices in the working tree, if it has any."""
    try:
        own = working_prices(repo)
    except ConfigError as problem:
        yield Diagnosis("rules", "prices", False, str(problem))
        return
    if own.source:
        yield Diagnosis("rules", "prices", True, f"{own.words} ({own.source})")


@dataclass(frozen=True, slots=True)
class Applies:
    """One thing that holds for a path. ``source`` is where it comes from."""

    name: str
    value: str
    source: str


def what_applies(path: str, config: Config, settings: Settings, committed: CommittedRules) -> tuple[Applies, ...]:
    """Everything that decides how a change of ``path`` is treated."""
    rules, origin = settings.rules, settings.rules.config_path or "the default"
    critical = origin if config.critical_paths is not None else f"profile {config.profile}"
    own = implementation_globs(rules.own_globs, here=False, pyproject=rules.config_path == PYPROJECT)
    records = changed_records(Change("", files=(FileChange(Status.MODIFIED, path),)), rules.adr_folders)
    found = found_guidelines(rules.guidelines, [path], committed.files, rules.config_path)
    roster = roster_for(rules.roster, [FileChange(Status.MODIFIED, path)])
    return (
        Applies("kind", kind_of_path(path).value, "its name"),
        Applies("critical path", ", ".join(rules.critical_paths.because(path)) or "no", critical),
        Applies("the bot's own path", _by(own, path), "the self-modification guard"),
        Applies("excluded", _excluded(path, own, rules), _set("exclude", config, origin)),
        Applies("decision record", "yes" if records else "no", _set("adr_folders", config, origin)),
        Applies("compared as a picture", _by(rules.visual_paths, path), _set("visual_paths", config, origin)),
        *_rules(found, committed, origin),
        *(Applies(f"advisor {each.id}", each.words, each.source or "the preset") for each in roster.advisors[1:]),
        *(Applies("blind spot", each, "the map of lenses") for each in roster.blind_spots),
    )


def _excluded(path: str, own: tuple[str, ...], rules: Rules) -> str:
    """Whether a change of the file is left unread, or why not."""
    glob = excluding_glob(rules.exclude, path)
    if glob is None:
        return "no"
    if rules.critical_paths.matches(path) or PathRule(own).matches(path):
        return f"no: {glob} matches, and it is a critical path or one that the guard watches"
    ecosystem = ecosystem_of(path)
    what = f"a lock file of {ecosystem}" if ecosystem else "a file"
    return f"{glob}: {what}, left unread unless it is added, deleted or renamed"


def _rules(found: FoundGuidelines, committed: CommittedRules, origin: str) -> Iterator[Applies]:
    for number, each in enumerate(found.applied, 1):
        given = each.file != each.name
        cut = f", cut by {each.cut:,} characters" if each.cut else ""
        yield Applies(f"rules {number}", each.name + cut, origin if given else committed.source)
    for problem in found.problems:
        yield Applies("rules", f"{problem.name} is not applied: {problem.problem}", committed.source)
    if not found.facts:
        yield Applies("rules", "none", committed.source)


def _by(patterns: tuple[str, ...], path: str) -> str:
    """The globs that match."""
    return ", ".join(each for each in dict.fromkeys(patterns) if PathRule((each,)).matches(path)) or "no"


def _set(key: str, config: Config, origin: str) -> str:
    return origin if key in config.model_fields_set else "the default"
