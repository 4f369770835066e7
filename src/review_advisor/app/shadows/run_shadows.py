"""Runs the shadows that are due after a review. Only the ledger and the cost in the outcome tell of them.

What they need is imported only where one is configured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from review_advisor.core.outcome.cost import counted_money
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.policy.policy import Rules
from review_advisor.core.roles.instructions import Instructions
from review_advisor.core.shadow.shadow_rule import Shadows, shadows_due
from review_advisor.ports.review import ArtifactError, Pictures, Ports, SourceError
from review_advisor.review.matter import ReviewRequest

if TYPE_CHECKING:
    from review_advisor.adapters.ledger.recorder import ChainRecorder
    from review_advisor.core.shadow.shadow_events import ShadowEvent

Store = Callable[[OutcomeDocument], None]


@dataclass(frozen=True, slots=True)
class ShadowRuns:
    """What is needed to run the shadows of one review. With the review, they may cost what it may cost.

    ``pictures`` compares a change's pictures by these rules. ``store`` puts the outcome in the place of the one that is
    stored; ``warn`` gets what goes wrong.
    """

    ports: Ports
    pictures: Callable[[Rules], AbstractContextManager[Pictures]]
    instructions: Instructions
    shadows: Shadows
    jobs: int
    ledger: Path
    store: Store
    warn: Callable[[str], None]

    def after(self, request: ReviewRequest, document: OutcomeDocument) -> OutcomeDocument:
        """The stored document with what its shadows cost. They never change its outcome."""
        for problem in self.shadows.problems:
            self.warn(f"{problem} It does not run.")
        return self._run(request, document) if self.shadows.usable else document

    def _run(self, request: ReviewRequest, document: OutcomeDocument) -> OutcomeDocument:
        from review_advisor.adapters.ledger.recorder import ChainRecorder
        from review_advisor.core.shadow.shadow_comparison import Left
        from review_advisor.core.shadow.shadow_decision import readings_of_shadow
        from review_advisor.core.shadow.shadow_instructions import instruction_files, instructions_of
        from review_advisor.review.shadowing import ShadowPhase

        spent = counted_money(document.events).usd
        due = shadows_due(self.shadows.usable, document.repository, document.label, document.head_sha)
        for place, (shadow, because) in enumerate(due, 1):
            try:
                texts = self.ports.source.base_texts(instruction_files(shadow.rule))
            except SourceError as problem:
                self.warn(f"The shadow {shadow.rule.id} cannot be read: {problem} It does not run.")
                continue
            instructions = instructions_of(shadow.rule, self.instructions, texts)
            if not isinstance(instructions, Instructions):
                self.warn(f"{' '.join(instructions)} It does not run.")
                continue
            elapsed = (self.ports.clock.now() - document.started_at).total_seconds()
            in_shadow = sum(each.usd for each in document.shadows)
            left = Left(request.rules.max_usd - spent - in_shadow, request.rules.max_seconds - elapsed)
            recorder: ChainRecorder[ShadowEvent] = ChainRecorder(self.ledger, self.warn, "shadow", readings_of_shadow)
            counted = _Counted(document, recorder, self.store, self.warn)
            with self.pictures(shadow.rules(request.rules)) as pictures:
                phase = ShadowPhase(replace(self.ports, pictures=pictures), instructions, counted, self.jobs)
                ended = phase.run(request, document, shadow, because, left)
            document = counted.document
            if ended is not None and ended.status == "stopped":
                self.warn(f"The shadow {shadow.rule.id} was stopped: {ended.because} The outcome stands.")
                if ended.last:
                    self._leave_out([each.rule.id for each, _ in due[place:]])
                    break
        return document

    def _leave_out(self, ids: Sequence[str]) -> None:
        if ids:
            self.warn(f"These shadows do not run either: {', '.join(ids)}.")


@dataclass(slots=True)
class _Counted:
    """A subscriber of one shadow's events that keeps its cost in the outcome: what it may cost while it runs."""

    document: OutcomeDocument
    record: Callable[[ShadowEvent], None]
    store: Store
    warn: Callable[[str], None]
    before: OutcomeDocument = field(init=False)
    events: list[ShadowEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.before = self.document

    def __call__(self, event: ShadowEvent) -> None:
        """Take one event."""
        from review_advisor.core.shadow.shadow_decision import shadow_cost
        from review_advisor.core.shadow.shadow_events import ShadowBegan, ShadowEnded

        self.record(event)
        self.events.append(event)
        if not isinstance(event, ShadowBegan | ShadowEnded):
            return
        self.document = replace(self.before, shadows=(*self.before.shadows, shadow_cost(self.events)))
        try:
            self.store(self.document)
        except ArtifactError as problem:
            self.warn(f"{problem} The cost of a shadow is not counted in the outcome.")
