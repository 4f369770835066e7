"""The composition root of ``retro apply``: a branch of one proposal, if an evaluation shows that reviews stay good."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.evaluation_folder import EvaluationError
from review_advisor.adapters.git.making.new_branch import NewBranch, make_branch
from review_advisor.adapters.git.open import open_commit
from review_advisor.adapters.git.repository import open_repository
from review_advisor.adapters.user_file import required_file
from review_advisor.app.configuration import BaseFile
from review_advisor.app.evaluation.evaluate import scored
from review_advisor.app.evaluation.own_arm import rule_files, write_arm
from review_advisor.app.settings import CONFIG_FILE, ConfigError, guideline_rules, parse_config
from review_advisor.app.shadows.instruction_texts import load_instructions
from review_advisor.core.evaluation.trials.arms import Arm, configured
from review_advisor.core.retro.edit_gate import RulesToShow, named_set, why_not_shown
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
    """The branch of a proposal: one commit that changes the file at ``path``. ``evaluated``: by which golden set."""

    name: str
    commit: str
    parent: str
    path: str
    evaluated: str


def apply_proposal(options: ApplyOptions, environ: Mapping[str, str], at: datetime) -> ProposalBranch:
    """Make the branch. Its parent is the default branch, or else HEAD. Nothing is pushed, and no file changes.

    Raises ``ConfigError`` for a proposal that is none, that only a person can carry out, or that no ``evaluation``
    shows to be good, and ``SourceError`` where git refuses. Without an evaluation, the arms to evaluate are written.
    """
    name = options.name
    proposal = _named(options.file, name)
    repository = open_repository(options.repo)
    start = repository.default_branch() or "HEAD"
    parent = repository.commit(start)
    try:
        edit = proposed_edit(proposal)
        with closing(open_commit(options.repo, parent)) as source:
            today, edited = _arms_of(name, edit, source.base_file)
    except EditRefusedError as refused:
        raise ConfigError(f"The proposal {name} is not applied. {refused}") from None
    redact = redactor(environ).redact
    if redact(edit.added) != edit.added:
        raise ConfigError(f"The proposal {name} is not applied: its text holds a secret.")
    if redact(name) != name:
        raise ConfigError("The proposal is not applied: its id holds a secret.")
    evaluated = redact(_require_evaluation(today, edited, options.file.absolute().parent, options.evaluation))
    message = f"Apply the proposal {name}\n\nIt was made by `review-advisor retro`, and evaluated on {evaluated}.\n"
    text = edited.files[edit.path]
    branch = NewBranch(f"review-advisor/retro-{name}", parent, edit.path, text, message, at)
    return ProposalBranch(branch.name, make_branch(repository, branch), parent, edit.path, evaluated)


def _named(file: Path, name: str) -> ImprovementProposal:
    try:
        found = read_proposals(required_file(file, _LARGEST, ConfigError))
    except ProposalsError as refused:
        raise ConfigError(f"{file} holds no improvement proposals. {refused}") from None
    if not found.valid:
        raise ConfigError(f"The proposals in {file} are not valid. {found.errors[0]}")
    proposal = next((each for each in found.proposals if each.id == name), None)
    if proposal is None:
        raise ConfigError(f"{file} has no proposal {name}.")
    return proposal


def _arms_of(name: str, edit: ProposedEdit, base_file: BaseFile) -> tuple[Arm, Arm]:
    """The rules of the base without and with the edit. Raises ``EditRefusedError`` and ``ConfigError``."""
    config = _text(base_file(CONFIG_FILE))
    parsed = parse_config(config, CONFIG_FILE)
    if edit.path == RULES_FILE and RULES_FILE not in guideline_rules(parsed).files:
        raise EditRefusedError(f"The configuration has no review read {RULES_FILE}.")
    before = {path: _text(base_file(path)) for path in rule_files(parsed)}
    if edit.is_in(before[edit.path]):
        raise EditRefusedError(f"{edit.path} holds its text already.")
    after = before | {edit.path: edit.applied_to(before[edit.path])}
    return configured(f"today-{name}", config, before), configured(f"retro-{name}", config, after)


def _text(raw: bytes | None) -> str:
    try:
        return "" if raw is None else raw.decode()
    except UnicodeDecodeError:
        raise EditRefusedError("A file that it concerns is not UTF-8 text.") from None


def _require_evaluation(today: Arm, edited: Arm, place: Path, evaluation: Path | None) -> str:
    """The golden set of the evaluation that allows the edit. Raises ``ConfigError``."""
    if evaluation is None:
        folders = {each.name: place / f"arm-{each.name}" for each in (today, edited)}
        for each in (today, edited):
            write_arm(each, folders[each.name])
        told = " ".join(f"--arm {name}={folder}" for name, folder in folders.items())
        raise ConfigError(
            "No branch is made without an evaluation of these rules beside today's. Run `review-advisor eval run --set"
            f" SET --answers live --max-usd USD --arms executor-only,advisor-only {told}`, and name its folder with"
            " --eval."
        )
    rules = RulesToShow(edited.facts.settings, today.facts.settings, load_instructions().version)
    try:
        result = scored(evaluation)
    except EvaluationError as problem:
        raise ConfigError(str(problem)) from None
    why = why_not_shown(result, rules)
    if why:
        raise ConfigError(f"No branch is made: {evaluation} does not show that reviews stay good. {why}")
    return named_set(result.manifest)
