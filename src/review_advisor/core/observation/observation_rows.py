"""The ledger's rows of one observation of a pull request, read from it and from nothing else."""

from __future__ import annotations

from review_advisor.core.ledger.row import Tables, row
from review_advisor.core.observation.labels import Observed, comment_fate, of_findings, of_pull_request, proved_right


def readings_of_observation(observed: Observed) -> Tables:
    """The rows of an observation, by table."""
    judged = of_pull_request(observed.labels, "judged") is not None
    reverted = of_pull_request(observed.labels, "reverted") if judged else None
    escalation = of_pull_request(observed.labels, "escalation")
    about = row(
        repository=observed.repository,
        pull_request=observed.pull_request,
        head_sha=observed.head_sha,
        reverted=None if reverted is None else reverted == "reverted",
        overridden=None if escalation is None else escalation == "approved",
    )
    labels = {(each.finding, each.name): each for each in observed.labels}.values()
    findings = of_findings(labels)
    right = {finding: proved_right(known, reverted=reverted == "reverted") for finding, known in findings.items()}
    made = {finding: comment_fate(known) for finding, known in findings.items()}
    return {
        "observations": (about,),
        "labels": tuple(
            row(finding=each.finding, label=each.name, value=each.value, source=each.source) for each in labels
        ),
        "proofs": tuple(
            row(finding=finding, proved_right=proof) for finding, proof in right.items() if proof is not None
        ),
        "remarks": tuple(
            row(finding=finding, acted_on=int(each.acted_on), dismissed=int(each.dismissed), thumb=each.thumb)
            for finding, each in made.items()
            if each is not None
        ),
    }
