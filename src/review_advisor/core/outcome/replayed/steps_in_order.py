"""The events of one part, taken one after the other in their order: single ones, and all those of one question."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from review_advisor.core.outcome.events import CallEnded, CallStarted, Consulted, PartEnded, UnfoundedRejection
from review_advisor.core.outcome.questions import why_unanswered
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.replies import REPAIRABLE, lost_twice
from review_advisor.core.roster.advisor import VOICES

Kind = TypeVar("Kind", bound=Step)
OUT_OF_PLACE = "an event is missing, appears twice or is out of place"


class Unsound(Exception):  # noqa: N818 (what the events are)
    """Events that no review of ours leaves. A few words of our own say why."""


class CutShort(Exception):  # noqa: N818 (what happened to the part)
    """The events of the part end here, because a stop ended the review."""


def require(holds: bool, why: str) -> None:  # noqa: FBT001 (it is read as a sentence)
    """Raise ``Unsound`` unless it holds."""
    if not holds:
        raise Unsound(why)


class StepsInOrder:
    """What is left of a part's events. ``stopped``: a stop ended the review, so that they may end anywhere.

    ``answered_by`` and ``answered_as`` are the call that brought the latest answer, and its model. ``consults`` are
    those of the latest question, and ``turn`` is the executor's latest call with an answer. ``opened`` names the files
    that the call ``answered_by`` opened as pictures, and the one whose unusable reply it repairs.
    """

    def __init__(self, steps: Sequence[Step], *, stopped: bool) -> None:
        self._steps = deque(steps)
        self._stopped = stopped
        self._attempt = 0
        self.answered_by, self.answered_as = 0, ""
        self.opened: tuple[str, ...] = ()
        self.consults: list[ConsultNote] = []
        self.turn: CallEnded | None = None

    def _next(self) -> Step | None:
        return self._steps[0] if self._steps else None

    def _next_but(self, kind: type[Step]) -> Step | None:
        """The next event that is not of this kind."""
        return next((each for each in self._steps if not isinstance(each, kind)), None)

    def _is_over(self) -> bool:
        """Whether nobody judges any more: the part ends here, or its inline members speak before it does."""
        told = self._next()
        speaks = isinstance(told, CallStarted | CallEnded) and told.advisor == VOICES
        return speaks or isinstance(told, PartEnded)

    def _may_be_cut_short(self) -> None:
        """Raise ``CutShort`` where a stop ended the review at this place."""
        if self._stopped and not self._steps:
            raise CutShort

    def take(self, kind: type[Kind]) -> Kind:
        """The next event, which has to be of this kind and of the present attempt."""
        self._may_be_cut_short()
        told = self._next()
        if not isinstance(told, kind) or told.attempt != self._attempt:
            raise Unsound(OUT_OF_PLACE)
        self._steps.popleft()
        return told

    def _every(self, kind: type[Kind]) -> list[Kind]:
        found = []
        while isinstance(self._next(), kind):
            found.append(self.take(kind))
        return found

    def asked(
        self, role: Role, *, blind: bool = False, advisor: str = "", after: Sequence[ConsultNote] = ()
    ) -> Lost | Refused | None:
        """All calls that ask this question; why there is no answer, or None for one. ``advisor``: not the usual one."""
        self.consults = list(after)
        question = (role, advisor or role.advisor, blind)
        first = self._call(*question)
        missing = self._came_to(first)
        opened = first.opened if isinstance(missing, Lost) and missing.reason in REPAIRABLE else ()
        while missing is not None and self._is_asked_again(first):
            before, missing = missing, self._came_to(self._call(*question), opened)
            opened = ()
            if isinstance(before, Lost) and isinstance(missing, Lost):
                missing = lost_twice(before, missing)
        return missing

    def _call(self, role: Role, advisor: str, blind: bool) -> CallEnded:  # noqa: FBT001 (one question, as a tuple)
        begun = self.take(CallStarted) if isinstance(self._next(), CallStarted) else None
        told = self.take(CallEnded)
        require((begun is None) is (told.ended == "refused"), "a refused call has a start, or another call has none")
        for each in (begun, told):
            require(
                each is None or (each.role, each.advisor, each.blind) == (role, advisor, blind),
                "a call is of another role or advisor than the one whose turn it is",
            )
        consults = self._every(Consulted)
        require(all(each.number == told.number for each in consults), "a consult does not follow its own call")
        self.consults += [each.note for each in consults]
        return told

    def _came_to(self, call: CallEnded, opened: tuple[str, ...] = ()) -> Lost | Refused | None:
        """Why a call brought no answer; None for one, whose number and model are known from here on.

        ``opened`` are the pictures of the call whose reply it repairs.
        """
        if call.ended == "stopped":
            require(self._stopped, "a call was stopped but the review went on")
            raise CutShort
        if call.ended != "answered":
            missing = why_unanswered(call)
            require(missing is not None or call.ended != "lost", "a call was lost for a reason that does not exist")
            require(missing is not None, "a call was refused for a reason that does not exist")
            return missing
        call = replace(call, opened=opened + call.opened)
        self.answered_by, self.answered_as, self.opened = call.number, call.requested_model, call.opened
        self.turn = call if call.role is Role.EXECUTOR else self.turn
        return None

    def _is_asked_again(self, first: CallEnded | UnfoundedRejection) -> bool:
        told = self._next()
        return isinstance(told, CallStarted | CallEnded) and told.asks_again == first.number
