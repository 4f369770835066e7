"""Where the evidence on a release comes from: a file, the shipped sample, or the repository and its ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from review_advisor.adapters.git.history.release_history import open_release_history, origin_of
from review_advisor.adapters.ledger.browsing import read_reviews
from review_advisor.adapters.ledger.run_queries import list_runs
from review_advisor.app.init import repository_of
from review_advisor.app.settings import ConfigError
from review_advisor.app.tasks.named_advisors import text_of
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.runs import RunFilter, RunLine
from review_advisor.core.observation.labels import of_pull_request
from review_advisor.core.outcome.events import Verified
from review_advisor.core.readiness.merged_changes import LastReview, MergedChange, gathered_evidence
from review_advisor.core.readiness.readiness_evaluation import ReleaseEvidence
from review_advisor.core.safety.fence import clean
from review_advisor.core.safety.legible import legible

MOST_EVIDENCE = 60_000
"""Characters. More is refused, never cut: what nobody was shown nobody has judged."""
SAMPLE = Path(__file__).parents[2] / "templates" / "release-evidence.md"
_MOST_REVIEWS = 20


def evidence_in_file(path: Path) -> ReleaseEvidence:
    """The text of a file that the user names. Raises ``ConfigError``."""
    return ReleaseEvidence(path.name, text_of(path, MOST_EVIDENCE))


def sample_evidence() -> ReleaseEvidence:
    """What is shipped, to try the verb with."""
    return ReleaseEvidence("the shipped sample", SAMPLE.read_text(encoding="utf-8"))


def evidence_of_repository(repo: Path, since: str, ledger: Path) -> ReleaseEvidence:
    """What was merged since a tag, with how its reviews ended. Raises ``SourceError`` and ``ConfigError``."""
    history = open_release_history(repo, since)
    name = repository_of(origin_of(repo))
    reviews: dict[int, LastReview] = {}
    trouble = ""
    try:
        for change in history.changes:
            review = _last_review(ledger, name, change)
            if change.pull_request is not None and review is not None:
                reviews[change.pull_request] = review
    except LedgerError as problem:
        trouble = str(problem)
    return gathered_evidence(history, reviews, trouble)


def shown_evidence(evidence: ReleaseEvidence, redact: Callable[[str], str]) -> ReleaseEvidence:
    """The same as it is shown, stored and held against quotations. Raises ``ConfigError`` for none, or too much."""
    text = clean(redact(legible(evidence.text))).strip()
    if not text:
        raise ConfigError("The evidence is empty: a release cannot be judged by it.")
    if len(text) > MOST_EVIDENCE:
        raise ConfigError(f"The evidence has {len(text):,} characters, the most is {MOST_EVIDENCE:,}: shorten it.")
    gaps = tuple(clean(redact(legible(each))) for each in evidence.gaps)
    return replace(evidence, source=clean(redact(legible(evidence.source))), text=text, gaps=gaps)


def _last_review(ledger: Path, repository: str | None, change: MergedChange) -> LastReview | None:
    """The newest review of the merged head, or else of the pull request. Raises ``LedgerError``.

    Where nobody knows which repository this is, only one of the merged head is sure to be of this pull request.
    """
    if change.pull_request is None:
        return None
    wanted = RunFilter(pull_request=change.pull_request, repository=repository, limit=_MOST_REVIEWS)
    lines = list_runs(ledger, wanted)
    usual = lines[0] if lines and repository is not None else None
    line = next((each for each in lines if change.head and each.head_sha == change.head), usual)
    return None if line is None else _as_recorded(ledger, line, repository)


def _as_recorded(ledger: Path, line: RunLine, repository: str | None) -> LastReview:
    """What the events of a run come to. Its row only says where they are: no chain protects it."""
    (kept,) = read_reviews(ledger, [line.run_id])
    if isinstance(kept, str):
        return LastReview(line.run_id, line.status, trouble=kept)
    document = kept.document
    if document is None:
        return LastReview(line.run_id, "unfinished")
    name = document.repository or ""
    if document.pull_request != line.pull_request or name.casefold() != (repository or name).casefold():
        return LastReview(line.run_id, line.status, trouble="its events are of another pull request")
    merges = (each for each in kept.labels if not each.finding and (each.name, each.value) == ("merge", "merged"))
    return LastReview(
        line.run_id,
        document.outcome.value,
        document.head_sha or "",
        document.flags.degraded,
        bool(document.flags.advisor_disabled),
        sum(isinstance(each, Verified) and each.judged.result.verdict == "VETO" for each in document.events),
        len(document.findings),
        overridden=of_pull_request(kept.labels, "escalation") == "approved",
        merged_as=next((each.source for each in merges), ""),
        merged_head=kept.closed_head,
    )
