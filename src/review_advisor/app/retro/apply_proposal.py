"""The composition root of ``retro apply``: a branch of one proposal, if an evaluation shows that reviews stay good."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.evaluation_folder import EvaluationError
from review_advisor.adapters.git.branches.new_branch import NewBranch, make_branch
from review_advisor.adapters.git.open import open_range
from review_advisor.adapters.git.repository import open_repository
from review_advisor.adapters.user_file import UserFileError, read_user_file
from review_advisor.app.configuration import BaseFile
from review_advisor.app.evaluation.evaluate import scored
from review_advisor.app.evaluation.own_arm import RULE_FILES, write_arm
from review_advisor.app.settings import CONFIG_FILE, ConfigError, guideline_rules, parse_config
from review_advisor.app.shadows.instruction_texts import load_instructions
from review_advisor.core.evaluation.trials.arms import Arm, configured
from review_advisor.core.retro.edit_gate import why_not_shown
from review_advisor.core.retro.proposals import ImprovementProposal, ProposalsError, read_proposals
from review_advisor.core.retro.proposed_edit import RULES_FILE, EditRefusedError, ProposedEdit, proposed_edit
from review_advisor.core.safety.redaction import redactor

_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """What the user asked for: the proposal called ``name`` in ``file``, and the ``evaluation`` that allows it."""

    file: Path
    name: str
    repo: Path = Path()
    evaluation: Path | None = None


@dataclass(frozen=True, slots=True)
class ProposalBranch:
    """The branch of a proposal: one commit that changes the file at ``path``."""

    name: str
    commit: str
    parent: str
    path: str


def apply_proposal(options: ApplyOptions, environ: Mapping[str, str], at: datetime) -> ProposalBranch:
    """Make the branch. Its parent is the default branch, or else HEAD. Nothing is pushed, and no file changes.

    Raises ``ConfigError`` for a proposal that is none, that only a person can carry out, or that no ``evaluation``
    shows to be good, and ``SourceError`` where git refuses. Without an evaluation, the arm to evaluate is written.
    """
    name = options.name
    proposal = _named(options.file, name)
    repository = open_repository(options.repo)
    start = repository.default_branch() or "HEAD"
    parent = repository.commit(start)
    try:
        edit = proposed_edit(proposal)
        with closing(open_range(options.repo, f"{parent}..{parent}")) as source:
            arm = _arm_of(name, edit, source.base_file)
    except EditRefusedError as refused:
        raise ConfigError(f"The proposal {name} is not applied. {refused}") from None
    redact = redactor(environ).redact
    if redact(edit.added) != edit.added:
        raise ConfigError(f"The proposal {name} is not applied: its text holds a secret.")
    if redact(name) != name:
        raise ConfigError("The proposal is not applied: its id holds a secret.")
    _require_evaluation(arm, options.file.absolute().parent / f"arm-{name}", options.evaluation)
    message = f"Apply the proposal {name}\n\nIt was made by `review-advisor retro`.\n"
    branch = NewBranch(f"review-advisor/retro-{name}", parent, edit.path, arm.files[edit.path], message, at)
    return ProposalBranch(branch.name, make_branch(repository, branch), parent, edit.path)


def _named(file: Path, name: str) -> ImprovementProposal:
    try:
        found = read_proposals(read_user_file(file, _LARGEST))
    except UserFileError as problem:
        raise ConfigError(f"{file} cannot be read: {problem}.") from None
    except ProposalsError as refused:
        raise ConfigError(f"{file} holds no improvement proposals. {refused}") from None
    if not found.valid:
        raise ConfigError(f"The proposals in {file} are not valid. {found.errors[0]}")
    proposal = next((each for each in found.proposals if each.id == name), None)
    if proposal is None:
        raise ConfigError(f"{file} has no proposal {name}.")
    return proposal


def _arm_of(name: str, edit: ProposedEdit, base_file: BaseFile) -> Arm:
    """The rules that would hold at the base with the edit. Raises ``EditRefusedError`` and ``ConfigError``."""
    config, *rules = (_text(base_file(path)) for path in (CONFIG_FILE, *RULE_FILES))
    if edit.path == RULES_FILE and RULES_FILE not in guideline_rules(parse_config(config, CONFIG_FILE)).files:
        raise EditRefusedError(f"The configuration has no review read {RULES_FILE}.")
    before = dict(zip(RULE_FILES, rules, strict=True))
    if edit.added in before[edit.path]:
        raise EditRefusedError(f"{edit.path} holds its text already.")
    after = before | {edit.path: edit.applied_to(before[edit.path])}
    return configured(f"retro-{name}", config, {path: text for path, text in after.items() if text})


def _text(raw: bytes | None) -> str:
    try:
        return "" if raw is None else raw.decode()
    except UnicodeDecodeError:
        raise EditRefusedError("A file that it concerns is not UTF-8 text.") from None


def _require_evaluation(arm: Arm, place: Path, evaluation: Path | None) -> None:
    if evaluation is None:
        write_arm(arm, place)
        raise ConfigError(
            "No branch is made without an evaluation of these rules. Run `review-advisor eval run --set SET --answers"
            f" live --max-usd USD --arms executor-only,advisor-only --arm {arm.name}={place}`, and name its folder with"
            " --eval."
        )
    try:
        why = why_not_shown(scored(evaluation), arm.facts.settings, load_instructions().version)
    except EvaluationError as problem:
        raise ConfigError(str(problem)) from None
    if why:
        raise ConfigError(f"No branch is made: {evaluation} does not show that reviews stay good. {why}")
