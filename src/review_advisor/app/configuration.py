"""Which configuration applies: the believed commit's, a file that the user names, or the working tree's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from review_advisor.adapters.git.source import GitSource
from review_advisor.adapters.user_file import LARGEST, required_file
from review_advisor.app.doctor import repository_top
from review_advisor.app.roster.believed import believed_declarations, prices_in
from review_advisor.app.roster.declared_files import (
    NOBODY,
    Declares,
    declared_shadows,
    roster_of,
    roster_remarks,
    working_files,
)
from review_advisor.app.settings import (
    CONFIG_FILE,
    TABLE,
    Config,
    ConfigError,
    Profile,
    Settings,
    has_table,
    make_settings,
    parse_config,
)
from review_advisor.app.shadows.instruction_texts import instruction_problems
from review_advisor.core.facts.files.paths import PYPROJECT
from review_advisor.core.facts.files.toml_text import read_toml
from review_advisor.core.facts.pull_request import BelievedBase, PullRequest
from review_advisor.core.metrics.price_list import OwnPrices
from review_advisor.core.policy.escalation_rules import EscalationProfile
from review_advisor.core.policy.mode import Mode
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.report.wording import printable_line
from review_advisor.core.roster.advisor import Roster
from review_advisor.core.shadow.shadow_rule import idle_settings, same_as_the_review
from review_advisor.ports.forge import Forge, ForgeMissing, ForgeRejected

BaseFile = Callable[[str], bytes | None]
"""A file of the base commit by its path; None if there is none."""
Mended = Callable[[], tuple[Config, str] | None]
"""The configuration for a change that only mends the base's, and its file; None for any other change."""


def believed_base(forge: Forge, pull_request: PullRequest) -> BelievedBase:
    """The branch whose configuration applies to a pull request, and its commit.

    Its base, if that is the default branch or one that the default branch's file names in ``github.trusted_bases``;
    else the default branch, also where the named branch is gone. A file that cannot be used names no branch. The commit
    is the branch's present tip. A pull request records the tip at its last push, which its author times. Raises
    ``ConfigError`` where the default branch is not known, and ``ForgeError`` where it cannot be read.
    """
    default = pull_request.default_branch
    if not default:
        raise ConfigError(
            "GitHub does not say which branch is the repository's default, so no configuration can be believed."
        )
    held = BelievedBase(default, forge.tip(default))
    if pull_request.base_ref == default:
        return held
    with suppress(ConfigError, ForgeMissing):
        config, _ = base_config(files_of(forge, held.commit))
        if pull_request.base_ref in config.github.trusted_bases:
            return BelievedBase(pull_request.base_ref, forge.tip(pull_request.base_ref))
    return held


def files_of(forge: Forge, commit: str) -> BaseFile:
    """The files of a commit. A file too large for the forge to hand out is no configuration."""

    def file(path: str) -> bytes | None:
        try:
            return forge.file(path, commit)
        except ForgeRejected as problem:
            raise ConfigError(str(problem)) from None

    return file


def load_settings(
    repo: Path,
    named: Path | None,
    base_file: BaseFile,
    environ: Mapping[str, str],
    profile: Profile | None,
    *,
    mended: Mended = lambda: None,
    declares: Declares = NOBODY,
    escalation: EscalationProfile | None = None,
) -> Settings:
    """Configuration and switches, as one snapshot. Raises ``ConfigError`` and ``SwitchError``.

    ``mended`` is asked for the configuration where that of the base cannot be used. ``declares`` says where advisors
    are declared. ``escalation`` beats the configuration's profile.
    """
    try:
        config, stands_at = load_config(repo, named, base_file)
    except ConfigError:
        instead = mended() if named is None else None
        if instead is None:
            raise
        config, stands_at = instead
    if escalation is not None:
        chosen = config.escalation.model_copy(update={"profile": escalation})
        config = config.model_copy(update={"escalation": chosen})
    roster, thresholds, prices = believed_declarations(config, base_file, declares)
    settings = make_settings(
        config, environ, profile=profile, config_path=stands_at, roster=roster, thresholds=thresholds
    )
    shadows = declared_shadows(config.shadow, config.advisors.preset, declares.base)
    return replace(settings, shadows=shadows, prices=prices)


def publication_rules(config: Config) -> PublicationRules:
    """The rules by which the bot publishes: those of the configuration's mode."""
    return config.github.of_mode(config.mode)


def load_config(repo: Path, named: Path | None, base_file: BaseFile) -> tuple[Config, str | None]:
    """The configuration, and where in the repository it stands. Raises ``ConfigError``.

    Unless the user has ``named`` a file, it is read from the base commit, never from the change. A named one that lies
    in the repository is the bot's own implementation all the same.
    """
    if named is not None:
        return parse_config(read_text(named, "configuration"), str(named)), _place_in(repo, named)
    return base_config(base_file)


def _place_in(repo: Path, file: Path) -> str | None:
    top = repository_top(repo)
    place = file.resolve()
    return place.relative_to(top).as_posix() if place.is_relative_to(top) else None


def base_config(base_file: BaseFile) -> tuple[Config, str | None]:
    """The configuration of a commit, and its file; the defaults and None without one. Raises ``ConfigError``."""

    def text(name: str) -> str | None:
        raw = base_file(name)
        return None if raw is None else _decoded(raw, f"{name} of the base commit")

    return _found_config(text)


def _found_config(text_of: Callable[[str], str | None]) -> tuple[Config, str | None]:
    """The configuration in the first file that holds one, and that file; the defaults and None without one."""
    for name in (CONFIG_FILE, PYPROJECT):
        text = text_of(name)
        if text is not None and (name == CONFIG_FILE or has_table(text)):
            return parse_config(text, name), name
    return Config(), None


def mended_config(base_file: BaseFile, head_file: BaseFile, paths: Iterable[str]) -> tuple[Config, str] | None:
    """What applies to a change of ``paths`` that mends an unusable configuration, and that file.

    These are the defaults, with the base's mode and the valid keys of its ``github`` table. The file steers the bot, so
    the guard holds. None unless the change touches that file alone, and the file is valid at the head.
    """
    (path, *others) = dict.fromkeys(paths) or ("",)
    if others or path not in (CONFIG_FILE, PYPROJECT):
        return None
    try:
        base_config(head_file)
    except ConfigError:
        return None
    return Config(mode=mode_that_stands(base_file), github=rules_that_stand(base_file)), path


def mended_on(forge: Forge, pull_request: PullRequest, commit: str) -> tuple[Config, str] | None:
    """The same for a pull request, as the forge shows it; ``commit`` is the one whose configuration holds."""
    files = forge.changed_files(pull_request.number)
    paths = (path for file in files for path in (file.path, file.old_path) if path is not None)
    return mended_config(files_of(forge, commit), files_of(forge, pull_request.head_sha), paths)


def mended_by(source: GitSource) -> tuple[Config, str] | None:
    """The same for the source of a pull request; None for any other change."""
    change = source.change()
    if change.pull_request is None:
        return None
    paths = (path for file in change.files for path in file.paths)
    return mended_config(source.base_file, source.head_config, paths)


def rules_that_stand(base_file: BaseFile) -> PublicationRules:
    """The valid keys of the ``github`` table of a commit's unusable configuration.

    They name the bot's own account and the required check, which a mistake elsewhere in the file must not lose.
    """
    right = {}
    for key, value in _github_table(base_file).items():
        with suppress(ValidationError):
            PublicationRules.model_validate({key: value})
            right[key] = value
    return PublicationRules.model_validate(right)


def mode_that_stands(base_file: BaseFile) -> Mode:
    """The mode of a commit's unusable configuration: ``enforce``, unless it clearly says otherwise."""
    return "shadow" if _table_that_stands(base_file).get("mode") == "shadow" else "enforce"


def _github_table(base_file: BaseFile) -> dict[str, Any]:
    table = _table_that_stands(base_file).get("github")
    return table if isinstance(table, dict) else {}


def _table_that_stands(base_file: BaseFile) -> dict[str, Any]:
    for name, above in ((CONFIG_FILE, ()), (PYPROJECT, ("tool", TABLE))):
        try:
            raw = base_file(name)
            table: Any = read_toml((raw or b"").decode())
        except ValueError:  # also of what is not UTF-8
            return {}
        for step in above:
            table = table.get(step) if isinstance(table, dict) else None
        if raw is not None and isinstance(table, dict):
            return table
    return {}


def working_config(repo: Path) -> tuple[Config, str | None]:
    """The configuration as it stands in the working tree, and its file; the defaults and None without one."""
    top = repository_top(repo)

    def text(name: str) -> str | None:
        path = top / name
        if path.is_symlink():
            raise ConfigError(f"{name} is a symbolic link, which a review does not follow. Put the file itself there.")
        return read_text(path, "configuration") if path.is_file() else None

    return _found_config(text)


def working_roster(repo: Path, config: Config) -> Roster:
    """Everybody who may be asked, by the working tree's files. Raises ``ConfigError`` with every mistake in them.

    That is also an advisor whom a shadow names and nobody has declared, instructions that it cannot try, and a
    setting about shadows that can do nothing.
    """
    top = repository_top(repo)
    files = working_files(top)
    roster = roster_of(config.advisors.preset, files)
    unknown = declared_shadows(config.shadow, config.advisors.preset, lambda: files).problems
    idle = idle_settings(
        config.shadow,
        mode=config.mode,
        percent=config.github.shadow_percent,
        profile=config.escalation.profile,
    )
    problems = (*unknown, *instruction_problems(config.shadow, top), *idle)
    if problems:
        raise ConfigError(" ".join(problems))
    return roster


def working_remarks(repo: Path, config: Config) -> tuple[str, ...]:
    """What is allowed in the working tree's files and may be a slip: advisors declared again, a shadow of the same."""
    return (*roster_remarks(working_files(repository_top(repo))), *same_as_the_review(config.shadow))


def working_prices(repo: Path) -> OwnPrices:
    """The repository's own prices, by the working tree's file. Raises ``ConfigError``."""
    return prices_in(working_files(repository_top(repo)))


def read_text(path: Path, what: str) -> str:
    """A text file that the user named. Raises ``ConfigError`` with one sentence."""
    named = f"The {what} {printable_line(str(path))}"
    return _decoded(required_file(path, LARGEST, ConfigError, named), named)


def _decoded(raw: bytes, what: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{what} is not UTF-8 text.") from None
