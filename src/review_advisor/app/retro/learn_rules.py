"""Learning rules for the team's file from what the ledger knows of people's dismissals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.artifacts import TaskFolder
from review_advisor.app.evaluation.calibration_from_ledger import observed_reviews
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.retro.dismissed_again import OBSERVATIONS, dismissed_again, learnt_proposals
from review_advisor.core.retro.proposals import ImprovementProposals
from review_advisor.core.retro.retro_files import RETRO_FOLDER, proposal_files


@dataclass(frozen=True, slots=True)
class LearntRules:
    """The proposals, and the folder that holds them. ``more``: not all reviews were read."""

    proposals: ImprovementProposals
    folder: Path
    left_out: tuple[str, ...]
    more: bool


def learn_rules(ledger: Path, wanted: RunFilter, artifacts: Path) -> LearntRules:
    """Write what the newest reviews teach. No model is asked. Raises ``LedgerError`` and ``ArtifactError``."""
    read = observed_reviews(ledger, wanted, lambda document, labels: (document, labels))
    proposals = learnt_proposals(dismissed_again(read.runs))
    folder = TaskFolder(artifacts.absolute(), RETRO_FOLDER, OBSERVATIONS)
    folder.make(anew=False)
    folder.store(proposal_files(proposals))
    return LearntRules(proposals, folder.folder, read.left_out, read.more)
