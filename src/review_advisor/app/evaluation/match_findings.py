"""Holding findings against a golden set, if wanted with a judge that is asked which texts mean the same fault."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from threading import Lock

from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.price_file import read_prices
from review_advisor.app.doctor import AgentChoice, agent_command
from review_advisor.app.evaluation.golden_sets import bounded_text, read_golden_set
from review_advisor.app.review import ReviewBrokenError, opened_agents
from review_advisor.core.evaluation.golden.finding_lines import read_finding_lines
from review_advisor.core.evaluation.golden.golden_case import GoldenSet
from review_advisor.core.evaluation.golden.matching import Matching, askable, matched
from review_advisor.core.evaluation.golden.same_fault import (
    SAME_FAULT_SYSTEM,
    SMOKE_PAIRS,
    JudgeWords,
    SameFault,
    same_fault_question,
    says_same,
    smoke_disagreements,
)
from review_advisor.core.metrics.prices import Price
from review_advisor.core.metrics.purse import Purse
from review_advisor.core.policy.budgets import Budgets, Refused
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.roles.calls import AgentCall, Answered, Stop
from review_advisor.core.safety.legible import legible
from review_advisor.core.safety.redaction import Redactor, redactor
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.ports.review import Agents

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
