"""`release-readiness`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from review_advisor.app.init import repository_of
from review_advisor.app.options import PATH
from review_advisor.app.run import (
    RanTask,
    TaskDuty,
    TaskOptions,
    perform_task,
    shared_options,
    show_event,
    task_options,
    text_of,
)
from review_advisor.app.terminal import NOTHING_ASKED, ExitWithCode, clear_refusals, note, put
from review_advisor.change.git_history import MergedChange, open_release_history, origin_of
from review_advisor.change.redaction import redactor
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.queries import RunFilter, RunLine
from review_advisor.ledger.run_queries import list_runs, read_reviews
from review_advisor.ledger.task_events import TaskEvent
from review_advisor.policy.settings import ConfigError
from review_advisor.policy.surfaces import Surface
from review_advisor.review.events import Verified
from review_advisor.review.observed import of_pull_request
from review_advisor.safety.fence import clean, legible
from review_advisor.tasks.readiness import (
    EVALUATION,
    READINESS_REPORT,
    RELEASE_COUNCIL,
    LastReview,
    ReadinessEvaluation,
    ReleaseEvidence,
    evaluated,
    fake_report,
    gathered_evidence,
    readiness_files,
    release_task,
)


@click.command(name="release-readiness")
@click.option("--evidence", type=PATH, metavar="FILE", help="Judge by this text.")
@click.option("--sample", is_flag=True, help="Judge the shipped sample.")
@click.option(
    "--since",
    default="",
    metavar="COMMIT",
    help="Judge by what was merged since, and its reviews in the ledger. [default: a version's last annotated tag]",
)
@shared_options("release_readiness", questions=(1, 2))
@click.option("--json", "as_json", is_flag=True, help="Print the evaluation.")
@click.pass_context
def release_readiness(
    context: click.Context, /, evidence: Path | None, sample: bool, since: str, as_json: bool, **asked: Any
) -> None:
    """Judge whether a release is ready: go, conditional_go or hold.

    Without --evidence and --sample, the evidence is the pull requests merged since the last annotated version tag.
    Exit codes: 0 go, 10 conditional_go or hold, 11 a rule is broken and a person decides, 12 the run could not go
    on, 2 usage or setup error.
    """
    with clear_refusals():
        from review_advisor.tasks.readiness import evaluation_json

        if (evidence is not None) + sample + bool(since) > 1:
            raise ExitWithCode(
                "Use one of --evidence, --sample and --since: a release has one evidence.", NOTHING_ASKED
            )
        choice = ReleaseChoice(evidence, sample, since)
        judged = judge_release(choice, task_options(context, asked), os.environ, note, show_event)
    put(evaluation_json(judged.evaluation) if as_json else "".join(f"{each}\n" for each in _lines(judged)))
    if judged.ran.interrupted_by:
        note("Interrupted: the release is not judged.")
        context.exit(128 + judged.ran.interrupted_by)
    context.exit(judged.evaluation.exit_code)


def _lines(judged: JudgedRelease) -> Iterator[str]:
    from review_advisor.safety.wording import printable_line

    evaluation = judged.evaluation
    yield f"run_id: {judged.ran.outcome['run_id']}"
    yield f"run_dir: {judged.ran.folder}"
    yield f"status: {evaluation.status}"
    yield f"vertical_passed: {str(evaluation.passed).lower()}"
    yield f"verdict: {evaluation.verdict}"
    yield f"evaluation: {judged.path}"
    yield f"evidence: {printable_line(evaluation.evidence)}"
    report = evaluation.report
    yield from (f"failure: {printable_line(each)}" for each in evaluation.failures)
    yield from (f"gap: {printable_line(each)}" for each in evaluation.gaps)
    if report is not None:
        yield from (f"blocker: {printable_line(f'{each.severity}, {each.description}')}" for each in report.blockers)
        yield from (f"required_action: {printable_line(each)}" for each in report.required_actions)


MOST_EVIDENCE = 60_000
"""Characters. More is refused, never cut: what nobody was shown nobody has judged."""


SAMPLE = Path(__file__).parents[1] / "templates" / "release-evidence.md"


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


@dataclass(frozen=True, slots=True)
class ReleaseChoice:
    """Where the evidence comes from: a file, the ``sample``, or what came ``since`` a commit (empty: the last tag)."""

    file: Path | None = None
    sample: bool = False
    since: str = ""


@dataclass(frozen=True, slots=True)
class JudgedRelease:
    """A run that is over, and what its report came to."""

    ran: RanTask
    evaluation: ReadinessEvaluation

    @property
    def path(self) -> Path:
        """Where the evaluation lies."""
        return self.ran.folder / f"{EVALUATION}.json"


def judge_release(
    choice: ReleaseChoice,
    options: TaskOptions,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    tell: Callable[[TaskEvent], None] = lambda _event: None,
) -> JudgedRelease:
    """Judge one release. Raises as ``run_task`` does; without evidence nothing is asked."""
    if choice.file is not None:
        found = evidence_in_file(choice.file)
    elif choice.sample:
        found = sample_evidence()
    else:
        found = evidence_of_repository(options.repo, choice.since, options.ledger)
    evidence = shown_evidence(found, redactor(environ).redact)
    duty = TaskDuty(
        surface=Surface.RELEASE_READINESS,
        evidence=evidence.text,
        council=RELEASE_COUNCIL,
        owed=READINESS_REPORT,
        fake=fake_report(),
        files=lambda events: readiness_files(events, evidence),
    )
    ran = perform_task(replace(options, task=release_task(evidence)), environ, warn, tell, duty)
    return JudgedRelease(ran, evaluated(ran.events, evidence))
