"""The files that a review leaves."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from review_advisor.agents.answers import Guidance, Severity, own_table
from review_advisor.agents.calls import tokens
from review_advisor.ledger.kpis import Correlation, chosen_actions, pair_rows
from review_advisor.policy.escalation_rules import VERDICT
from review_advisor.policy.roster import Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.agreement import Agreement, Raised
from review_advisor.review.document import (
    CouncilRecord,
    OutcomeDocument,
    council_findings,
    council_records,
    ends_of_calls,
    outcome_json,
    spent,
)
from review_advisor.review.escalation import Watched, finding_threshold
from review_advisor.review.events import (
    AdviceOpen,
    CallEnded,
    Consulted,
    Escalated,
    Event,
    MemberReviewed,
    Planned,
    PolicyFrozen,
    Reported,
    ReviewEnded,
    Verified,
    VoicesHeard,
    Voted,
)
from review_advisor.review.ports import ArtifactError
from review_advisor.review.report import PATCH_FILE, AdviceEnd, advice_ends, disagreement_transcript, report_text
from review_advisor.review.rulings import EXIT_CODES, Outcome
from review_advisor.review.session_rows import session_rows
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.wording import counted, printable_line, table

_NAMES = (
    "outcome.json",
    "report.txt",
    "advisor_session.jsonl",
    "transcript.md",
    "repair.patch",
    "preflight*.json",
    "wiki/*.md",
    ".advisor/*.json",
)


_FOLDERS = ("wiki", ".advisor")


_DEVICES = (Path("/dev"), Path("/dev/fd"))


_PREFIX = ".review-advisor-"


BROKEN = "The review did not run to its end."
"""How the sentence ends that is left beside no outcome although models were asked."""


_MOST_SAID = 2_000
"""Characters or bytes of a refusal."""


class FolderArtifacts:
    """One review's folder below ``root``, named after the change."""

    def __init__(self, root: Path, label: str) -> None:
        self._root = root
        self.folder = root / label

    def clear(self) -> None:
        """Remove what an earlier review of the same change left, so that nobody takes it for this one's."""
        self._refuse_links()
        for name in _NAMES:
            for path in self.folder.glob(name):
                remove_stale(path)
        for below in _FOLDERS:
            with suppress(OSError):  # it is not there, or somebody else's file is in it
                (self.folder / below).rmdir()

    def make(self) -> None:
        """Make the folder, and find out whether it can be written to. Raises ``ArtifactError``.

        The folder gets a ``.gitignore`` of its own, so that artefacts are never committed by accident.
        """
        self._refuse_links()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArtifactError(f"The artefact folder {self.folder} cannot be made: {error.strerror}.") from None
        self.write(".gitignore", "*\n")

    def write(self, name: str, text: str) -> None:
        """Store ``text`` as ``name`` in the folder, or in folders below it."""
        path = self.folder / name
        if path.parent != self.folder:
            self._refuse_links()
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ArtifactError(f"{path.parent} cannot be made: {error.strerror}.") from None
        write_whole(path, text)

    def remove(self, name: str) -> None:
        """See to it that no ``name`` is in the folder."""
        remove_stale(self.folder / name)

    def _refuse_links(self) -> None:
        for part in (self._root, self.folder, *(self.folder / name for name in _FOLDERS)):
            if part.is_symlink():
                raise ArtifactError(f"{part} is a symbolic link; artefacts are only written to a real folder.")


class TaskFolder:
    """``<root>/<run id>/``, or deeper ``below``. Only its owner can read it, and git ignores it.

    No link below ``root`` is followed, and none is ``root``. Whatever lies in a file's place is replaced by the file.
    """

    def __init__(self, root: Path, *below: str) -> None:
        self._written: dict[str, str] = {}
        self._parts = tuple(root.joinpath(*below[:number]) for number in range(len(below) + 1))
        self.folder = self._parts[-1]

    def make(self, *, anew: bool = True) -> None:
        """Make it; unless ``anew``, it may be there already. Raises ``ArtifactError``."""
        self._refuse_links()
        try:
            for part in self._parts[:-1]:
                part.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=not anew)
        except OSError as error:
            raise ArtifactError(f"The run's folder {self.folder} cannot be made: {error.strerror}.") from None
        self.store({".gitignore": "*\n"})

    def store(self, files: Mapping[str, str]) -> None:
        """Write those of the files that are new or changed, in their order. Raises ``ArtifactError``."""
        self._refuse_links()
        for name, text in files.items():
            if self._written.get(name) != text:
                path = self.folder / name
                _write_file(path, text)
                path.chmod(0o600)
                self._written[name] = text

    def _refuse_links(self) -> None:
        for part in self._parts:
            if part.is_symlink():
                raise ArtifactError(f"{part} is a symbolic link; a run is only written to a real folder.")


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically. Raises ``ArtifactError`` with one sentence; leaves no half file.

    What is no file, such as ``/dev/stdout`` or a pipe, is written to as it is.
    """
    if not _is_device(path):
        _write_file(path, text)
        return
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace") as device:
            device.write(text)
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def _write_file(path: Path, text: str) -> None:
    try:
        _replace(path, (text,))
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def write_as_it_comes(path: Path, texts: Iterable[str]) -> None:
    """Write a text in parts, which are never in memory together: if getting one fails, nothing is written."""
    try:
        if _is_device(path):
            with tempfile.TemporaryFile() as parts:
                parts.writelines(text.encode("utf-8", "backslashreplace") for text in texts)
                parts.seek(0)
                with path.open("wb") as device:
                    shutil.copyfileobj(parts, device)
        else:
            _replace(path, texts)
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def write_refusal(outcome: Path, sentence: str) -> None:
    """Leave beside the place of an outcome why there is none. Raises ``ArtifactError``."""
    write_whole(refusal_of(outcome), f"{sentence[:_MOST_SAID]}\n")


def read_refusal(outcome: Path) -> str | None:
    """What ``write_refusal`` left, None if it left nothing: words from another job, of which nothing is believed."""
    path = refusal_of(outcome)
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.read(_MOST_SAID).decode("utf-8", "replace").strip() or None
    except OSError:
        return None


def remove_refusal(outcome: Path) -> None:
    """Remove what an earlier review left there. Raises ``ArtifactError`` if something else is there."""
    remove_stale(refusal_of(outcome))


def refusal_of(outcome: Path) -> Path:
    """The file beside the place of an outcome that says why there is none."""
    return outcome.with_suffix(".refusal.txt")


def _replace(path: Path, texts: Iterable[str]) -> None:
    temporary = path.with_name(f"{_PREFIX}{secrets.token_hex(8)}")
    with INTERRUPTION.unfinished(temporary):
        with temporary.open("x", encoding="utf-8", errors="backslashreplace") as file:  # the umask says who may read it
            file.writelines(texts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def check_writable(path: Path) -> None:
    """Find out, before anything is paid for, whether ``path`` can be written. Raises ``ArtifactError``."""
    if _is_device(path):
        return
    try:
        tempfile.TemporaryFile(dir=path.parent, prefix=_PREFIX).close()
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def remove_stale(path: Path) -> None:
    """Remove an earlier review's file. Raises ``ArtifactError`` if something else is there; a device stays."""
    if _is_device(path):
        return
    if path.is_symlink():
        raise ArtifactError(f"{path} is a symbolic link; name the file itself.")
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise ArtifactError(f"{path} is in the way and cannot be removed: {error.strerror}.") from None


def _is_device(path: Path) -> bool:
    """Whether it is written to and never replaced, as everybody's /dev/stdout: also where that leads to a file."""
    if path.parent in _DEVICES:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rec(_Part):
    """The recommendation of a consult, with the names of the format."""

    action: str
    rationale: str
    risk_flags: tuple[str, ...]


class AdvisorCall(_Part):
    """One answer of an advisor, or None for one that did not come.

    ``advisor`` is who was asked: its id, or the role for the ADR's advisor. ``prompt`` is the question of a consult;
    whole prompts are not kept. ``tokens`` is None where they are only known together with the executor's: an advisor
    that used tools, or did not answer, in mid-flight. ``disposition`` is what became of the advice of a consult.
    ``reason`` says why: of an override, and of an answer that did not come.
    """

    role: Role
    advisor: str
    trigger: str
    prompt: str | None
    recommendation: str | None
    rec: Rec | None = None
    tokens: int | None
    timestamp: datetime
    disposition: str | None = None
    reason: str = ""


class CostSplit(_Part):
    """Tokens in, out, and of the cache; the last three names are those of the format, whatever the models are."""

    executor_tokens: int
    advisor_tokens: int
    advisor_fraction: float | None
    sonnet_tokens: int
    opus_tokens: int
    opus_fraction: float | None


class ConfidenceStep(_Part):
    """How sure an executor was of its verdict or of a finding, and whether the advisor was consulted on it.

    ``threshold`` is None under the profile ``adr``: there ``escalated`` says whether the executor asked.
    """

    step: str
    confidence: float
    threshold: float | None
    escalated: bool


class AdvisorLog(_Part):
    """The whole file. ``final_answer`` is None for a review that was killed."""

    task_id: str
    final_answer: str | None
    advisor_calls: tuple[AdvisorCall, ...]
    cost_split: CostSplit
    confidence_log: tuple[ConfidenceStep, ...]


def advisor_log(events: Sequence[Event]) -> AdvisorLog:
    """The log of a review, also of one that did not come to its end. Its first event is the frozen policy."""
    first, last = events[0], events[-1]
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    ended = f"{last.outcome.value}: {'; '.join(last.because)}" if isinstance(last, ReviewEnded) else None
    return AdvisorLog(
        task_id=first.run_id,
        final_answer=ended,
        advisor_calls=tuple(_calls(first, events)),
        cost_split=_split(events),
        confidence_log=tuple(_confidence(first, events)),
    )


def _calls(first: PolicyFrozen, events: Sequence[Event]) -> Iterator[AdvisorCall]:
    said = _said(events)
    ends = {each.index: each for each in advice_ends(events)}
    plans = {row.surface: "; ".join(row.roles[Role.PRE_FLIGHT].because) for row in first.policy.surfaces}
    for number, event in enumerate(events):
        if (
            isinstance(event, CallEnded)
            and event.role in (Role.PRE_FLIGHT, Role.POST_VERIFY)
            and event.ended != "refused"
        ):
            yield AdvisorCall(
                role=event.role,
                advisor=event.advisor or event.role.value,
                trigger=plans[event.surface] if event.role is Role.PRE_FLIGHT else "the executor's verdict",
                prompt=None,
                recommendation=said.get(number),
                tokens=tokens(event.usage),
                timestamp=event.at,
                reason=event.reason,
            )
        elif isinstance(event, Consulted) and event.note.asked:
            guidance, end = event.note.guidance, ends[number]
            yield AdvisorCall(
                role=Role.MID_FLIGHT,
                advisor=event.advisor or Role.MID_FLIGHT.value,
                trigger=_trigger(event, end.due),
                prompt=event.note.consult.question,
                recommendation=guidance.action if guidance else None,
                rec=_rec(guidance) if guidance else None,
                tokens=event.note.tokens,
                timestamp=event.at,
                disposition=end.disposition,
                reason=end.reason or event.note.reason,
            )


def _rec(guidance: Guidance) -> Rec:
    return Rec(action=guidance.action, rationale=guidance.rationale, risk_flags=guidance.risk_flags)


def _trigger(event: Consulted, due: Escalated | None) -> str:
    """Why the advisor was consulted: the reasons of the harness, the first of which goes before all others."""
    if due is None:
        return f"the executor asked, urgency {event.note.consult.urgency}"
    return ", ".join(reason.kind.value for reason in due.reasons)


def _said(events: Sequence[Event]) -> dict[int, str]:
    """The plan or the judgement that was read from an answer, by the index of the call's end."""
    found: dict[int, str] = {}
    for index, end in ends_of_calls(events).items():
        event = events[index]
        if isinstance(event, Planned):
            found[end] = event.plan.risk_summary
        elif isinstance(event, MemberReviewed):
            found[end] = f"by itself: {event.report.verdict}"
        elif isinstance(event, Voted):
            found[end] = f"{event.vote.verdict}: {event.vote.reasoning}"
        elif isinstance(event, VoicesHeard):
            found[end] = "; ".join(f"{each.advisor}: {each.words}" for each in event.voices)
        elif isinstance(event, Verified):
            found[end] = f"{event.judged.result.verdict}: {event.judged.result.reasoning}"
    return found


def _split(events: Sequence[Event]) -> CostSplit:
    used = spent(event for event in events if isinstance(event, CallEnded))
    executor, advisor = used.executor_tokens, used.advisor_tokens
    fraction = advisor / (executor + advisor) if executor + advisor else None
    return CostSplit(
        executor_tokens=executor,
        advisor_tokens=advisor,
        advisor_fraction=fraction,
        sonnet_tokens=executor,
        opus_tokens=advisor,
        opus_fraction=fraction,
    )


def _confidence(first: PolicyFrozen, events: Sequence[Event]) -> Iterator[ConfidenceStep]:
    """Every self-rating of a verdict and of its findings, with the threshold of the profile if there is one."""
    asked = {event.place for event in events if isinstance(event, Consulted) and event.note.asked}
    for event in _rated(events):
        step = f"{event.surface.value}, part {event.shard + 1}, attempt {event.attempt + 1}"
        subjects = {each.subject for each in event.reasons} if isinstance(event, Escalated) else set()
        rules = None if first.policy.escalation.caps is None else first.policy.escalation
        watched = None if rules is None else Watched(rules, event.surface)
        yield ConfidenceStep(
            step=step,
            confidence=event.report.confidence,
            threshold=None if rules is None else rules.threshold(event.surface, VERDICT),
            escalated=VERDICT in subjects if rules else event.place in asked,
        )
        for finding in event.report.findings if watched else ():
            yield ConfidenceStep(
                step=f"{step}, {finding.id}",
                confidence=finding.confidence,
                threshold=finding_threshold(watched, finding) if watched else None,
                escalated=finding.id in subjects,
            )


def _rated(events: Sequence[Event]) -> Iterator[Escalated | AdviceOpen | Reported]:
    """What an executor said in each of its turns, once: one report may stand in several events."""
    told = set()
    for event in events:
        if not isinstance(event, Escalated | AdviceOpen | Reported) or (event.place, event.number) in told:
            continue
        if not (isinstance(event, Reported) and event.structural):
            told.add((event.place, event.number))
            yield event


Tier = Literal["must_fix", "should_fix", "consider"]


TIERS: Mapping[Severity, Tier] = {
    "critical": "must_fix",
    "high": "must_fix",
    "medium": "should_fix",
    "low": "consider",
}


COUNCIL_FILE = "council.json"


def council_verdict(document: OutcomeDocument) -> dict[str, Any] | None:
    """The verdict with counts, findings and blind spots; None where no council judged, or no member answered.

    ``consensus`` names everybody who raises a finding. Findings are ordered by tier, then by how many that are.
    """
    last = {(each.surface, each.shard): each for each in council_records(document.events)}
    records = tuple(last.values())
    if all(each.counted.nobody for each in records):
        return None
    missing = (f"{name} did not judge ({why})" for record in records for name, why in record.why_missing)
    found = council_findings(document.events)
    rows = sorted(_rows(found), key=lambda row: (list(TIERS.values()).index(row["tier"]), -len(row["consensus"])))
    return {
        "verdict": _verdict(document.exit_code, has_findings=bool(rows)),
        "counts": {tier: sum(row["tier"] == tier for row in rows) for tier in dict.fromkeys(TIERS.values())},
        "findings": rows,
        "votes": [
            {"surface": each.surface.value, "part": each.shard + 1, "advisors": _voices(each)} for each in records
        ],
        "report_path": "report.txt",
        "roster_version": roster_version(document.policy.roster),
        "blind_spots": [*document.policy.roster.blind_spots, *dict.fromkeys(missing)],
    }


def roster_version(roster: Roster) -> str:
    """Stands for everything that is declared of everybody who was asked."""
    return hashlib.sha256(json.dumps([asdict(each) for each in roster.advisors]).encode()).hexdigest()[:16]


def _verdict(exit_code: int, *, has_findings: bool) -> str:
    if exit_code == EXIT_CODES[Outcome.APPROVED]:
        return "sound_with_fixes" if has_findings else "solid"
    return "needs_work" if exit_code == EXIT_CODES[Outcome.CHANGES_REQUESTED] else "not_ready"


def _rows(found: Agreement) -> list[dict[str, Any]]:
    return [
        *(_row(each, "executor", *each.by) for each in found.lead),
        *(_row(each, *each.by) for each in (*found.added, *found.left)),
    ]


def _row(raised: Raised, *by: str) -> dict[str, Any]:
    finding = raised.finding
    return {
        "id": finding.id,
        "tier": TIERS[finding.severity],
        "file_line": f"{finding.path}:{finding.line}",
        "title": finding.title,
        "consensus": list(by),
    }


def _voices(record: CouncilRecord) -> list[dict[str, Any]]:
    """Each vote in act 017's form, with the fields of its own."""
    own = dict(record.own)
    return [
        {
            "id": ballot.member,
            **own_table(own.get(ballot.member, "")),
            "calls": dict(zip(record.counted.actions, ballot.votes, strict=True)),
        }
        for ballot in record.counted.ballots
        if isinstance(ballot.votes, tuple)
    ]


def review_files(document: OutcomeDocument) -> dict[str, str]:
    """Their texts, in the order of writing: ``outcome.json`` is last, so that it stands only where all others do."""
    texts = {"report.txt": report_text(document)}
    if document.repair is not None:
        texts[PATCH_FILE] = document.repair.patch
    texts["advisor_session.jsonl"] = "".join(json.dumps(row) + "\n" for row in session_rows(document))
    transcript = disagreement_transcript(document)
    if transcript is not None:
        texts["transcript.md"] = transcript
    council = council_verdict(document)
    if council is not None:
        texts[COUNCIL_FILE] = json.dumps(council, indent=2) + "\n"
    texts |= log_file(advisor_log(document.events))
    texts["outcome.json"] = outcome_json(document)
    return texts


def log_file(log: AdvisorLog) -> dict[str, str]:
    """The file of the advisor's log, which a review that was killed has too."""
    return {f".advisor/{log.task_id}.json": log.model_dump_json(indent=2) + "\n"}


MOST_PANELS = 20


MOST_PAIRS = 20


_ENOUGH = 10
"""Reviews of one panel from which on it is said that it never differs."""


@dataclass(slots=True)
class PanelLog:
    """How often each panel judged, by the ids of its members, and what became of each member's seats.

    ``panels`` counts reviews; ``seats``, ``votes`` and ``dissents`` count the votes that were taken.
    """

    panels: Counter[tuple[str, ...]] = field(default_factory=Counter)
    seats: Counter[str] = field(default_factory=Counter)
    votes: Counter[str] = field(default_factory=Counter)
    dissents: Counter[str] = field(default_factory=Counter)
    correlation: Correlation = field(default_factory=Correlation)

    def add(self, events: Sequence[Event]) -> None:
        """Count the councils of a review; none where one advisor judged alone."""
        records = council_records(events)
        if records:
            self.panels[tuple(sorted({each.member for one in records for each in one.counted.ballots}))] += 1
        for record in records:
            counted = record.counted
            self.seats.update(each.member for each in counted.ballots)
            self.votes.update(each.member for each in counted.ballots if each.member not in counted.missing)
            self.dissents.update(counted.dissent)
            self.correlation.add(chosen_actions(counted))

    @property
    def never_differs(self) -> bool:
        """Whether one and the same panel judged every time, often enough to say so."""
        return len(self.panels) == 1 and self.panels.total() >= _ENOUGH

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {
            "reviews": self.panels.total(),
            "never_differs": self.never_differs,
            "panels": [{"members": list(ids), "reviews": many} for ids, many in self.panels.most_common(MOST_PANELS)],
            "further_panels": max(len(self.panels) - MOST_PANELS, 0),
            "members": [
                {"id": id_, "seats": many, "votes": self.votes[id_], "dissents": self.dissents[id_]}
                for id_, many in self.seats.most_common()
            ],
            "pairs": [asdict(each) for each in self.correlation.pairs],
        }

    @property
    def text(self) -> str:
        """The members as a table; empty without any council."""
        if not self.seats:
            return ""
        rows = [
            (printable_line(id_), str(many), str(self.votes[id_]), str(self.dissents[id_]))
            for id_, many in self.seats.most_common()
        ]
        times = self.panels.total()
        told = [f"{len(self.panels):,} different panels in {times:,} reviews"]
        told = [f"the same panel judged all {times:,} reviews that had a council"] if self.never_differs else told
        members = table([("member of a council", "seats", "votes", "dissents"), *rows]).rstrip()
        return "\n".join((members, *told, *self._pairs, ""))

    @property
    def _pairs(self) -> tuple[str, ...]:
        """How alike any two members vote, the most alike first; nothing where no two voted together."""
        pairs = self.correlation.pairs
        if not pairs:
            return ()
        rows = [tuple(map(printable_line, row)) for row in pair_rows(pairs[:MOST_PAIRS])]
        more = (f"and {len(pairs) - MOST_PAIRS:,} more pairs",) if len(pairs) > MOST_PAIRS else ()
        return (table([("two members", "votes", "agree", "kappa"), *rows]).rstrip(), *more)


BINS = 10
"""Of shares and of confidence, each a tenth wide; 1.0 is in the last one."""


_JUDGED = (Outcome.APPROVED, Outcome.CHANGES_REQUESTED, Outcome.ESCALATED)


def verdict_of(events: Sequence[Event]) -> Outcome | None:
    """How a review ended; None for one that came to no verdict, which counts in no sum about advice."""
    last = events[-1]
    return last.outcome if isinstance(last, ReviewEnded) and last.outcome in _JUDGED else None


@dataclass(frozen=True, slots=True)
class OverriddenAdvice:
    """Advice that an executor did not follow, and its reason."""

    run_id: str
    recommendation: str
    action: str
    reason: str


@dataclass(slots=True)
class WeeklyRollup:
    """What the reviews of a period add up to. A review without a verdict does not count.

    ``by_consults`` counts reviews by their number of consults, ``settled`` those of them that called no person.
    ``shares`` counts reviews by the advisors' share of their tokens, ``ratings`` the executors' self-ratings, and
    ``escalated`` those ratings that were put to the advisor. The events of ``unreadable`` runs cannot be read;
    ``left_out`` runs are older than the newest ones that a rollup reads.
    """

    reviews: int = 0
    unreadable: int = 0
    left_out: int = 0
    by_consults: Counter[int] = field(default_factory=Counter)
    settled: Counter[int] = field(default_factory=Counter)
    shares: Counter[int] = field(default_factory=Counter)
    ratings: Counter[int] = field(default_factory=Counter)
    escalated: Counter[int] = field(default_factory=Counter)
    triggers: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    conflicts: int = 0
    overrides: list[OverriddenAdvice] = field(default_factory=list)
    councils: PanelLog = field(default_factory=PanelLog)

    def add(self, run_id: str, events: Sequence[Event]) -> None:
        """Count a review. One without a verdict counts for nothing."""
        outcome = verdict_of(events)
        if outcome is None:
            return
        self.reviews += 1
        self.councils.add(events)
        ends = advice_ends(events)
        held = sum(end.consulted is not None and end.consulted.note.asked for end in ends)
        self.by_consults[held] += 1
        self.settled[held] += outcome is not Outcome.ESCALATED
        log = advisor_log(events)
        if log.cost_split.advisor_fraction is not None:
            self.shares[_bin(log.cost_split.advisor_fraction)] += 1
        for step in log.confidence_log:
            self.ratings[_bin(step.confidence)] += 1
            self.escalated[_bin(step.confidence)] += step.escalated
        for end in ends:
            self._end(run_id, end)

    def _end(self, run_id: str, end: AdviceEnd) -> None:
        self.triggers.update([each.kind.value for each in end.due.reasons] if end.due else ["asked"])
        guidance = end.consulted.note.guidance if end.consulted else None
        if guidance is None:
            self.ends["refused by a cap" if end.consulted is None else end.consulted.note.status] += 1
            return
        self.ends[end.disposition or "open"] += 1
        self.conflicts += end.merge is not None and bool(end.merge.merged.conflict)
        if end.disposition == "overridden":
            self.overrides.append(OverriddenAdvice(run_id, end.recommendation, guidance.action, end.reason))

    @property
    def conflicts_per_1000(self) -> float | None:
        """Merges that contradicted the executor, for each thousand reviews."""
        return 1_000 * self.conflicts / self.reviews if self.reviews else None

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {
            "reviews": self.reviews,
            "unreadable": self.unreadable,
            "left_out": self.left_out,
            "by_consults": [
                {"consults": held, "reviews": many, "settled": self.settled[held]}
                for held, many in sorted(self.by_consults.items())
            ],
            "advisor_share": [self.shares[place] for place in range(BINS)],
            "confidence": [
                {"from": place / BINS, "ratings": self.ratings[place], "escalated": self.escalated[place]}
                for place in range(BINS)
            ],
            "triggers": dict(self.triggers.most_common()),
            "ends": dict(self.ends.most_common()),
            "conflicts_per_1000": self.conflicts_per_1000,
            "councils": self.councils.as_json(),
            "overrides": [asdict(each) for each in self.overrides],
        }


def weekly_text(told: WeeklyRollup) -> str:
    """The rollup for a person: a table for each distribution, then every override with its reason."""
    if not told.reviews:
        return f"No review of the period has a verdict{_missing(told)}.\n"
    by_consults = [
        (str(held), str(many), f"{told.settled[held] / many:.0%}") for held, many in sorted(told.by_consults.items())
    ]
    bins = [
        (_words(place), str(told.shares[place]), str(told.ratings[place]), str(told.escalated[place]))
        for place in range(BINS)
    ]
    blocks = [
        f"Advice in {counted(told.reviews, 'review')} with a verdict{_missing(told)}",
        table([("consults", "reviews", "settled without a person"), *by_consults]),
        table([("from .. to", "reviews by advisor's share", "ratings by confidence", "of them escalated"), *bins]),
        table([("trigger", "consults"), *_counted(told.triggers)]),
        table([("end of the advice", "consults"), *_counted(told.ends)]),
        f"conflicts per 1,000 reviews: {told.conflicts_per_1000:.1f}\n",
    ]
    rows = [tuple(map(printable_line, (each.run_id, each.action, each.reason))) for each in told.overrides]
    blocks += [table([("overridden in", "advice", "reason"), *rows])] if rows else ["No advice was overridden.\n"]
    blocks += [told.councils.text] if told.councils.text else []
    return "\n".join(f"{block.rstrip()}\n" for block in blocks)


def _missing(told: WeeklyRollup) -> str:
    older = f"; {counted(told.left_out, 'older run')} not read" if told.left_out else ""
    return older + (f"; {counted(told.unreadable, 'run')} could not be read" if told.unreadable else "")


def _counted(counts: Counter[str]) -> Iterable[tuple[str, str]]:
    return ((name, str(many)) for name, many in counts.most_common()) if counts else [("none", "0")]


def _bin(value: float) -> int:
    return min(int(value * BINS), BINS - 1)


def _words(place: int) -> str:
    return f"{place / BINS:.1f} .. {(place + 1) / BINS:.1f}"
