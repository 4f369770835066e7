"""An arm of the user's own: a configuration file, or a folder with it and with the rules that a review reads."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from review_advisor.adapters.artifacts import FolderArtifacts
from review_advisor.app.configuration import read_text
from review_advisor.app.settings import CONFIG_FILE, Config, ConfigError, guideline_rules, has_table, parse_config
from review_advisor.core.evaluation.trials.arms import Arm, configured
from review_advisor.core.facts.files.paths import PYPROJECT
from review_advisor.core.policy.thresholds import THRESHOLDS_FILE, parse_thresholds


def rule_files(config: Config) -> tuple[str, ...]:
    """The files that a folder of an arm may hold beside its configuration: rules at the top, and thresholds."""
    rules = guideline_rules(config)
    given = (each.file for each in rules.configured if each.file)
    return tuple(dict.fromkeys((*rules.files, *given, THRESHOLDS_FILE)))


def read_arm(name: str, path: Path) -> Arm:
    """The arm of a configuration file or of a folder.

    Raises ``ConfigError``, also for what a review could not use, or would not read.
    """
    if not path.is_dir():
        text = read_text(path, "configuration")
        parse_config(text, str(path))
        return configured(name, text)
    place = path / CONFIG_FILE
    text = read_text(place, "configuration") if place.exists() else ""
    known = rule_files(parse_config(text, str(place)))
    files = {each: read_text(path / each, "file of the arm") if (path / each).exists() else "" for each in known}
    _refuse_unread(path, known)
    if not any(files.values()) and not place.exists():
        raise ConfigError(f"{path} holds neither {CONFIG_FILE} nor {' nor '.join(known)}.")
    try:
        parse_thresholds(files[THRESHOLDS_FILE])
    except ValueError as problem:
        raise ConfigError(f"The arm {name} cannot be used. {problem}") from None
    return configured(name, text, files)


def _refuse_unread(folder: Path, known: tuple[str, ...]) -> None:
    """Raise ``ConfigError`` where the folder has what steers a review at a base, and not in an arm."""
    own = (folder / PurePosixPath(THRESHOLDS_FILE).parent).rglob("*")
    others = (each for each in own if each.is_symlink() or not each.is_dir())
    unread = next((each for each in sorted(others) if each.relative_to(folder).as_posix() not in known), None)
    if unread is not None:
        raise ConfigError(f"{unread} is not read: of that folder, an arm has only {THRESHOLDS_FILE}.")
    project = folder / PYPROJECT
    if not (folder / CONFIG_FILE).exists() and project.exists() and has_table(read_text(project, "configuration")):
        raise ConfigError(f"{project} is not read: put its table into {CONFIG_FILE}.")


def write_arm(arm: Arm, folder: Path) -> None:
    """The same arm as a folder, from which ``read_arm`` reads it. Raises ``ArtifactError``."""
    made = FolderArtifacts(folder.parent, folder.name)
    made.make()
    for name, text in {CONFIG_FILE: arm.config, **arm.files}.items():
        if text or (name == CONFIG_FILE and not any(arm.files.values())):
            made.write(name, text)
        else:
            made.remove(name)
