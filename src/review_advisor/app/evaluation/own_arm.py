"""An arm of the user's own: a configuration file, or a folder with the files that a review reads at its base."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.artifacts import FolderArtifacts
from review_advisor.app.configuration import read_text
from review_advisor.app.settings import CONFIG_FILE, ConfigError
from review_advisor.core.evaluation.trials.arms import Arm, configured
from review_advisor.core.facts.guidelines import DEFAULT_FILES
from review_advisor.core.policy.thresholds import THRESHOLDS_FILE

RULE_FILES = (*DEFAULT_FILES, THRESHOLDS_FILE)
"""What a folder of an arm may hold beside the configuration."""


def read_arm(name: str, path: Path) -> Arm:
    """The arm of a configuration file or of a folder. Raises ``ConfigError``."""
    if not path.is_dir():
        return configured(name, read_text(path, "configuration"))
    files = {each: read_text(path / each, "file of the arm") for each in RULE_FILES if (path / each).exists()}
    config = path / CONFIG_FILE
    if not files and not config.exists():
        raise ConfigError(f"{path} holds neither {CONFIG_FILE} nor {' nor '.join(RULE_FILES)}.")
    return configured(name, read_text(config, "configuration") if config.exists() else "", files)


def write_arm(arm: Arm, folder: Path) -> None:
    """The same arm as a folder, from which ``read_arm`` reads it. Raises ``ArtifactError``."""
    made = FolderArtifacts(folder.parent, folder.name)
    made.make()
    for name, text in {CONFIG_FILE: arm.config, **dict.fromkeys(RULE_FILES, ""), **arm.files}.items():
        if text or (name == CONFIG_FILE and not arm.files):
            made.write(name, text)
        else:
            made.remove(name)
