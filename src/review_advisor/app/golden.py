"""`golden`."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from threading import Lock

import click

from review_advisor.agents.calls import AgentCall, Agents, Answered
from review_advisor.agents.purse import Purse
from review_advisor.app.agent_choice import AgentChoice, agent_command
from review_advisor.app.calibrate import observed_reviews
from review_advisor.app.options import AS_JSON, CLAUDE_BIN, LEDGER, PATH, BoundedNumber, moment
from review_advisor.app.review import opened_agents
from review_advisor.app.terminal import ReviewBrokenError, clear_refusals, note, note_left_out, put
from review_advisor.change.change import SourceError
from review_advisor.change.redaction import Redactor, redactor
from review_advisor.lab.golden_cases import (
    FilesChange,
    GoldenCase,
    GoldenSet,
    GoldenSetError,
    ObservedCases,
    PatchChange,
    case_text,
    cases_from,
    cases_text,
    check_text,
    misplaced_label,
    observed_as_json,
    observed_text,
    read_case,
    set_as_json,
)
from review_advisor.lab.golden_repository import files_of, make_golden_repository
from review_advisor.lab.golden_sets import (
    aacr_folder,
    holds_martian,
    read_aacr,
    read_case_folder,
    read_case_lines,
    read_martian,
)
from review_advisor.lab.matching import (
    SAME_FAULT_SYSTEM,
    SMOKE_PAIRS,
    JudgeWords,
    Matching,
    SameFault,
    askable,
    judge_line,
    matched,
    matchings_as_json,
    matchings_text,
    read_finding_lines,
    same_fault_question,
    says_same,
    smoke_disagreements,
)
from review_advisor.ledger.artifacts import write_whole
from review_advisor.ledger.queries import RunFilter
from review_advisor.policy.budgets import Budgets, Refused
from review_advisor.policy.prices import Price, read_prices
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.ports import ArtifactError
from review_advisor.safety.children import temporary_folder
from review_advisor.safety.clock import SystemClock
from review_advisor.safety.fence import legible
from review_advisor.safety.files import required_file
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.stop import Stop

SET = click.argument("path", type=PATH, metavar="SET")


@click.group()
def golden() -> None:
    """List, check, match or gather golden cases: changes whose faults are known.

    SET is a folder with a TOML file for each case, a file of JSON lines, or a checkout of Martian's
    code-review-benchmark or of AACR-Bench; docs/evaluation.md explains them.
    """


@golden.command(name="list", short_help="Print the cases of a set.")
@SET
@AS_JSON
def list_cases(path: Path, as_json: bool) -> None:
    """Print one line for each case of SET: its id, kind, language, number of labels and title."""
    known = _read(path)
    put(json.dumps(set_as_json(known), indent=2) + "\n" if as_json else cases_text(known))


@golden.command(short_help="Check every case of a set.")
@SET
@AS_JSON
def check(path: Path, as_json: bool) -> None:
    """Check every case of SET, and print what the set holds and what it lacks.

    It builds each change that the set contains: labels must point to changed lines. An unusable set ends with exit
    code 2 and one sentence.
    """
    known = _read(path, checked=True)
    put(json.dumps(set_as_json(known), indent=2) + "\n" if as_json else check_text(known))


@golden.command(short_help="Compare findings of any reviewer with a set.")
@SET
@click.argument("findings", type=PATH, metavar="FINDINGS")
@click.option("--judge", metavar="MODEL", help="Also ask this model through claude which texts mean the same fault.")
@click.option("--max-usd", type=BoundedNumber(0.01, 1_000), default=5, show_default=True, help="Money of the judge.")
@CLAUDE_BIN
@AS_JSON
def match(path: Path, findings: Path, judge: str | None, max_usd: float, claude_bin: str, as_json: bool) -> None:
    """Compare the findings of any reviewer with SET: which labels they match, and which findings are wrong.

    FINDINGS has one JSON object a line: `case`, `text`, and if known `file`, `first_line`, `last_line` and
    `severity`. A line with only a `case` says that the reviewer found nothing in it. A judge must first answer
    three examples correctly; otherwise nothing is counted, and the exit code is 12.
    """
    with clear_refusals():
        choice = None if judge is None else JudgeChoice(judge, max_usd, claude_bin)
        done = match_findings(path, findings, choice, environ=os.environ, warn=note)
    if done.judge is not None:
        note(judge_line(done.judge))
    text = matchings_text(done.known, done.of_cases)
    put(json.dumps(matchings_as_json(done.known, done.of_cases), indent=2) + "\n" if as_json else text)


@golden.command(name="from-ledger", short_help="Write cases from what people decided in your repository.")
@click.argument("folder", type=PATH, metavar="FOLDER")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option("--since", type=moment, metavar="WHEN", help="Only reviews from then on: a date, or 24h, 7d, 2w ago.")
@LEDGER
@AS_JSON
def from_ledger(folder: Path, repository: str | None, since: datetime | None, ledger_file: Path, as_json: bool) -> None:
    """Write a case into FOLDER for each observed pull request with decisions by people.

    A finding becomes a label if people agreed with it or the pull request was reverted. It becomes refuted if
    people dismissed it or marked it as wrong, as `observe` recorded. The author's word against a finding never
    counts. Existing cases do not change.
    """
    with clear_refusals():
        done = write_cases_from(ledger_file, folder, RunFilter(repository=repository, since=since))
    note_left_out(done.left_out, f"{MOST_GOLDEN_REVIEWS:,} reviews" if done.more else "")
    if as_json:
        told = {**observed_as_json(done.found), "written": list(done.written), "kept": list(done.kept)}
        put(json.dumps(told, indent=2) + "\n")
        return
    put(observed_text(done.found))
    put(f"{len(done.written)} written to {folder}, {len(done.kept)} were there already\n")


def _read(path: Path, *, checked: bool = False) -> GoldenSet:

    with clear_refusals():
        return checked_golden_set(path) if checked else read_golden_set(path)


MOST_GOLDEN_REVIEWS = 2_000


@dataclass(frozen=True, slots=True)
class WrittenCases:
    """``kept`` are the cases that were there already: one is never changed. ``more``: not all reviews were read."""

    found: ObservedCases
    written: tuple[str, ...]
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    more: bool


def write_cases_from(ledger: Path, folder: Path, wanted: RunFilter) -> WrittenCases:
    """Write a TOML file for each case that is not there yet. Raises ``LedgerError`` and ``ArtifactError``."""
    read = observed_reviews(ledger, wanted, lambda document, labels: (document, labels), MOST_GOLDEN_REVIEWS)
    found = cases_from(read.runs)
    left_out, written, kept = list(read.left_out), [], []
    for case in found.cases:
        path = folder / f"{case.id}.toml"
        refusal = _refusal(case)
        if refusal:
            left_out.append(refusal)
        elif path.exists() or path.is_symlink():
            kept.append(case.id)
        else:
            _write(path, case_text(case))
            written.append(case.id)
    return WrittenCases(found, tuple(written), tuple(kept), tuple(left_out), read.more)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArtifactError(f"The folder {path.parent} cannot be made: {error.strerror}.") from None
    write_whole(path, text)


def _refusal(case: GoldenCase) -> str:
    """Why a case cannot be written: it would not be read again. A ledger holds what models said."""
    try:
        read_case(case.id, case_text(case), case.id)
    except GoldenSetError as refused:
        return str(refused)
    return ""


def checked_golden_set(path: Path) -> GoldenSet:
    """The set at ``path``, each change of which was made, and held against its labels. Raises ``GoldenSetError``."""
    known = read_golden_set(path)
    for case in known.cases:
        if isinstance(case.change, FilesChange | PatchChange):
            with temporary_folder("golden") as folder:
                try:
                    made = make_golden_repository(case, folder / "repository")
                    files = files_of(made, {label.file for label in case.labels if label.file})
                except SourceError as problem:
                    raise GoldenSetError(f"The case {case.id} cannot be made. {problem}") from None
            wrong = misplaced_label(case.labels, files)
            if wrong is not None:
                raise GoldenSetError(f"The case {case.id} cannot be used: {wrong}.")
    return known


def bounded_text(path: Path, most: int) -> str:
    """The text of a file of ``most`` bytes at most, in UTF-8. Raises ``GoldenSetError``."""
    try:
        return required_file(path, most, GoldenSetError).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise GoldenSetError(f"{path} is not text in UTF-8.") from None


def read_golden_set(path: Path) -> GoldenSet:
    """The set at ``path``. Raises ``GoldenSetError``.

    A file holds JSON lines. A folder is a checkout of Martian's code-review-benchmark or of AACR-Bench, or holds a
    TOML file for each case.
    """
    if not path.is_dir():
        return read_case_lines(path, bounded_text)
    if holds_martian(path):
        return read_martian(path, bounded_text)
    samples = aacr_folder(path)
    if samples is not None:
        return read_aacr(samples, bounded_text)
    return read_case_folder(path, bounded_text)


MOST_PAIRS = 20_000


_MOST_FINDING_BYTES = 100_000_000


_CALL_SECONDS = 120.0


_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Who says which texts mean the same fault, and what it may spend."""

    model: str
    max_usd: float
    claude_bin: str = ""


@dataclass(frozen=True, slots=True)
class MatchedSet:
    """The matching of each case that was reviewed; ``judge`` is None if nobody was asked."""

    known: GoldenSet
    of_cases: Mapping[str, Matching]
    judge: JudgeWords | None


def match_findings(
    path: Path,
    findings: Path,
    judge: JudgeChoice | None,
    *,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    agents: Agents | None = None,
) -> MatchedSet:
    """Match the findings of a file with the set at ``path``. ``agents`` answer in the place of ``claude``.

    Raises ``GoldenSetError`` and ``CliError`` before anything is asked, and ``ReviewBrokenError`` if the judge fails
    its smoke test, or cannot be asked.
    """
    known = read_golden_set(path)
    raised = read_finding_lines(bounded_text(findings, _MOST_FINDING_BYTES).split("\n"), known, str(findings))
    words = None
    if judge is not None:
        pairs = sorted({pair for case in known.cases if case.id in raised for pair in askable(case, raised[case.id])})
        words = _asked(pairs, judge, environ, warn, agents)
    of_cases = {
        case.id: matched(case, raised[case.id], None if words is None else words.said)
        for case in known.cases
        if case.id in raised
    }
    return MatchedSet(known, of_cases, words)


def _asked(
    pairs: Sequence[tuple[str, str]],
    judge: JudgeChoice,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    agents: Agents | None,
) -> JudgeWords:
    if len(pairs) > MOST_PAIRS:
        raise ReviewBrokenError(f"The judge would be asked about {len(pairs):,} pairs; at most {MOST_PAIRS:,} are.")
    with ExitStack() as stack:
        stack.enter_context(INTERRUPTION.taken(lambda _number: "The judge was interrupted."))
        if agents is None:
            choice = AgentChoice("claude", judge.claude_bin)
            agents = opened_agents(agent_command(choice, Path(), environ, warn), Path(), environ, stack)
        asking = _Asking(agents, judge, redactor(environ), read_prices(), SystemClock().now().date())
        try:
            return asking.words(pairs)
        except Stop as stop:
            raise ReviewBrokenError(f"The judge cannot be asked. {stop.detail}") from None


class _Asking:
    """One judge, and what it may spend on all its answers."""

    def __init__(
        self, agents: Agents, judge: JudgeChoice, redact: Redactor, prices: tuple[Price, ...], today: date
    ) -> None:
        self._agents, self._judge, self._redactor, self._today = agents, judge, redact, today
        self._purse = Purse(Budgets(judge.max_usd, _CALL_SECONDS, _CALL_SECONDS), prices, _AT_ONCE)
        self._counting = Lock()
        self._costs: list[float | None] = []
        self._unpaid = 0
        self._nonce = secrets.token_hex(8)

    def words(self, pairs: Sequence[tuple[str, str]]) -> JudgeWords:
        """First the examples, then the pairs. Raises ``ReviewBrokenError`` if an example is answered wrongly."""
        answers = self._answers([(each.label, each.finding) for each in SMOKE_PAIRS], 0)
        if self._unpaid:
            raise ReviewBrokenError(f"{self._judge.max_usd:.2f} USD are too little to test the judge.")
        wrong = smoke_disagreements(answers)
        if wrong:
            raise ReviewBrokenError(f"The judge failed its smoke test, so nothing was counted. {wrong[0]}")
        answers = self._answers(pairs, len(SMOKE_PAIRS))
        said = {pair: answer for pair, answer in zip(pairs, answers, strict=True) if answer is not None}
        known = [cost for cost in self._costs if cost is not None]
        total = sum(known) if len(known) == len(self._costs) else None
        return JudgeWords(said, len(pairs), len(pairs) - len(said) - self._unpaid, self._unpaid, total)

    def _answers(self, pairs: Sequence[tuple[str, str]], before: int) -> list[bool | None]:
        numbered = list(enumerate(pairs, start=before + 1))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda each: self._answer(*each), numbered))

    def _answer(self, number: int, pair: tuple[str, str]) -> bool | None:
        """What is said of one pair; None without a usable answer, also where no money is left for it."""
        self._agents.check_interrupt()
        call = self._call(number, *pair)
        with self._counting:
            allowed = self._purse.reserve(call, 0.0, self._today)
            self._unpaid += isinstance(allowed, Refused)
        if isinstance(allowed, Refused):
            return None
        call = replace(call, max_usd=allowed.max_usd, timeout_seconds=allowed.timeout_seconds)
        reply = self._redactor.everywhere(legible(self._agents.run(call)))
        with self._counting:
            self._purse.settle(call, reply.receipt)
            self._costs.append(reply.receipt.usage.cost_usd)
        return says_same(reply.value) if isinstance(reply, Answered) else None

    def _call(self, number: int, label: str, finding: str) -> AgentCall:
        return AgentCall(
            role=Role.POST_VERIFY,
            advisor="golden-judge",
            surface=Surface.PR_REVIEW,
            attempt=1,
            shard=0,
            model=self._judge.model,
            system_prompt=SAME_FAULT_SYSTEM,
            blocks=(self._redactor.redact(same_fault_question(label, finding, self._nonce)),),
            answer=SameFault,
            number=number,
        )
