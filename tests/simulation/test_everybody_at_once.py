"""Reviews in which everybody may speak: whatever they say or lose, publishing takes the record for what it is.

The dice are of the seed, so each world is the same every time.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace

import pytest

from review_advisor.agents.calls import LostReason
from review_advisor.mockworld.agents import (
    FakeAdvisorRunner,
    Line,
    approve,
    change,
    confirm,
    finding,
    garbage,
    guidance,
    lost,
    reject,
    veto,
    vote,
)
from review_advisor.mockworld.world import FakeClock, MockWorld, edited
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.outage_rules import NO_SECOND_TRY, OutageRules
from review_advisor.policy.roster import ADR_ADVISOR, VOICES, Advisor, Roster
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import outcome_json, read_outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import ReviewInterrupted

FILES = ("src/app.py", "src/view.py", "src/auth/login.py", ".github/workflows/ci.yml")
SEVERITIES = ("critical", "high", "high", "medium", "low")
LOSSES = [reason for reason in LostReason if reason is not LostReason.TOLERATED_RATE_LIMIT]
"""What an agent can meet: whether a rate limit is tolerated, the rules say."""
VOTES = ((95, 10, 0), (90, 0, 0), (60, 55, 10), (30, 80, 20), (0, 30, 80))


@dataclass
class Anybody(FakeAdvisorRunner):
    """Agents that say whatever the dice show. ``ends_at``: the check for an interrupt that finds one."""

    dice: random.Random = field(default_factory=random.Random)
    losses: float = 0.0
    ends_at: int = 0
    checks: int = 0

    def check_interrupt(self) -> None:
        self.checks += 1
        if self.checks == self.ends_at:
            raise ReviewInterrupted("interrupted by SIGTERM", signal_number=15)

    def _next(self, role: Role, advisor: str, surface: Surface) -> Line | None:
        del surface
        if self.dice.random() < self.losses:
            return self.dice.choice([garbage(), lost(self.dice.choice(LOSSES))])
        if role is Role.PRE_FLIGHT or advisor == VOICES:
            return None
        if role is Role.MID_FLIGHT:
            return self._recommends()
        if role is Role.EXECUTOR:
            return self._report(may_ask=not advisor)
        if advisor:
            return vote(*self.dice.choice(VOTES))
        return self.dice.choice([confirm(), confirm(), veto("a fault"), veto(reasoning="")])

    def _report(self, *, may_ask: bool) -> Line:
        found = []
        for _ in range(self.dice.choice([0, 1, 2, 6])):
            path, row = self.dice.choice(FILES), self.dice.randint(1, 30)
            quote = f"value = {row}" if self.dice.random() < 0.9 else "nobody wrote this"
            sure = self.dice.choice([0.1, 0.9])
            found.append(finding(path, row, quote, self.dice.choice(SEVERITIES), confidence=sure))
        said = self.dice.choice([approve, reject])(*found).sure(self.dice.choice([0.2, 0.9]))
        for number in range(1, 7):
            said = self.dice.choice([said, said.applying(f"r{number}"), said.overriding(f"r{number}")])
        asks = may_ask and self.asked[-1].consults is not None and self.dice.random() < 0.3
        said = said.after_asking(*(f"Is row {n} right?" for n in range(self.dice.randint(1, 4)))) if asks else said
        return said.failing(self.dice.choice([0, 2])).reading(self.dice.choice([0, 3]))

    def _recommends(self) -> Line:
        known = re.findall(r"f-[0-9a-f]{32}", self.asked[-1].prompt)[:3]
        wanted = [
            change(self.dice.choice(["keep", "drop", "raise", "lower"]), each, path="src/view.py", quote=quote)
            for each in known
            if (quote := self.dice.choice(["", f"value = {self.dice.randint(1, 30)}"])) or self.dice.random() < 0.5
        ]
        brought = []
        for _ in range(self.dice.choice([0, 0, 1, 3])):
            path, row = self.dice.choice(FILES), self.dice.randint(1, 30)
            quote = f"value = {row}" if self.dice.random() < 0.8 else "nobody wrote this"
            brought.append(finding(path, row, quote, self.dice.choice(SEVERITIES)))
        if self.dice.random() < 0.3:
            wanted.append(change("change_verdict", verdict=self.dice.choice(["approve", "reject"])))
        flags = self.dice.choice([(), (), ("a risk",)])
        action, stops = self.dice.choice(["look", "look again"]), self.dice.random() < 0.03
        return guidance(action, *wanted, stop=stops, findings=tuple(brought), flags=flags)


def world_of(seed: int) -> MockWorld:
    dice = random.Random(seed)
    clock = FakeClock()
    agents = Anybody(clock, dice=dice, losses=dice.choice([0.0, 0.0, 0.2]))
    world = MockWorld(clock, agents)
    paths = dice.sample(FILES, dice.randint(1, 4))
    world.change(*(edited(path, dice.choice([30, 200])) for path in dict.fromkeys((*paths, "src/view.py"))))
    members = [
        Advisor(f"member{number}", "p", on=dice.choice(["start", "finish", "request", None]), veto=dice.random() < 0.3)
        for number in range(dice.choice([0, 0, 2]))
    ]
    members += [Advisor("voice", "p", on="finish", inline=True)] if dice.random() < 0.2 else []
    world.rules = replace(
        world.rules,
        roster=Roster((ADR_ADVISOR, *members)),
        metadata_blind=dice.random() < 0.2,
        shard_tokens=dice.choice([60_000, 2_000]),
        escalation=EscalationRules(
            dice.choice(["adr", "attrition", "harness"]), dice.choice(["human", "advisor_only"])
        ),
        outage=dice.choice([NO_SECOND_TRY, OutageRules(wait_seconds=1, fallback_models=("haiku",), busy_tries=2)]),
    )
    world.consult_requested = dice.random() < 0.2
    return world


@pytest.mark.one_in(6)
@pytest.mark.parametrize("interrupted", [False, True], ids=["to its end", "interrupted"])
@pytest.mark.parametrize("seeds", [range(start, start + 20) for start in range(0, 60, 20)], ids=str)
def test_the_record_of_every_review_is_sound_and_read_as_it_was_written(seeds: range, interrupted: bool) -> None:
    for seed in seeds:
        world = world_of(seed)
        assert isinstance(world.agents, Anybody)
        world.agents.ends_at = random.Random(seed).randint(1, 30) if interrupted else 0
        document = world.review()
        assert unsound(document.events) is None, f"seed {seed}"
        assert read_outcome(outcome_json(document)).events == document.events, f"seed {seed}"
