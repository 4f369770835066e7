"""Requests to the simulated GitHub, and the trouble that they meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from review_advisor.mockworld.agents import Killed
from review_advisor.mockworld.github_records import Pull

RequestKind = Literal["read", "write"]


class RefusedRequest(Exception):  # noqa: N818 (GitHub's answer, not our failure)
    """GitHub says no: the request took no effect. ``errors`` are the single reasons."""

    def __init__(self, status: int, message: str, *errors: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


class Trouble(Exception):  # noqa: N818 (it is the way that is in trouble)
    """No answer that says what happened."""


class ServerFailure(Trouble):
    """A server's error, 500 or above."""

    def __init__(self, status: int = 502) -> None:
        super().__init__(f"server error {status}")
        self.status = status


class Reset(Trouble):
    """The connection breaks."""


class NoAnswer(Trouble):
    """The connection stands and nothing comes."""


class Limited(Trouble):
    """Too many requests: the primary limit, which ends in ``seconds``, or the secondary one."""

    def __init__(self, *, secondary: bool = False, seconds: int = 60) -> None:
        super().__init__("secondary rate limit" if secondary else "rate limit")
        self.secondary = secondary
        self.seconds = seconds


def killed() -> Killed:
    """The end of the process that makes the request, at the Forge port's door."""
    return Killed("the process was killed at a request to GitHub")


def denied() -> RefusedRequest:
    """What an installation hears that has no permission for a request."""
    return RefusedRequest(403, "Resource not accessible by integration")


def missing() -> RefusedRequest:
    """What is not there, or not for this account."""
    return RefusedRequest(404, "Not Found")


def refused(message: str, *errors: str) -> RefusedRequest:
    """GitHub's 422 with a sentence of its own."""
    return RefusedRequest(422, message, *errors)


def invalid(*errors: str) -> RefusedRequest:
    """Values that GitHub does not take."""
    return refused("Validation Failed", *errors)


@dataclass(frozen=True, slots=True)
class RequestMoment:
    """Before or after one request. ``number`` counts from 0 and counts only requests of the kind and operation."""

    number: int = 0
    kind: RequestKind | None = None
    operation: str | None = None
    after: bool = False

    def counts(self, request: Request) -> bool:
        """Whether a request is one of those that are counted."""
        return self.kind in {None, request.kind} and self.operation in {None, request.operation}


@dataclass(slots=True)
class Request:
    """One request as GitHub's log has it. ``effect``: it was carried out, whatever its sender was answered."""

    operation: str
    kind: RequestKind
    effect: bool = False
    answer: str = ""


@dataclass(slots=True, eq=False)
class _Planned:
    moment: RequestMoment
    act: Callable[[], object]
    trouble: bool
    seen: int = 0


@dataclass(slots=True)
class Traffic:
    """Every request in order, and what was planned to happen around one of them.

    ``lagging`` are old answers: each next read of a pull request is one.
    """

    log: list[Request] = field(default_factory=list)
    lagging: list[Pull] = field(default_factory=list)
    _planned: list[_Planned] = field(default_factory=list)
    _following: list[_Planned] = field(default_factory=list)

    def meets(self, trouble: BaseException, moment: RequestMoment) -> None:
        """At ``moment`` the sender meets this trouble; after it, the request has taken effect all the same."""

        def raise_it() -> None:
            raise trouble

        self._planned.append(_Planned(moment, raise_it, trouble=True))

    def meanwhile(self, happening: Callable[[], object], moment: RequestMoment) -> None:
        """Somebody does something at ``moment``, unseen by whoever makes the request.

        After a request means: once its answer is read (see ``settle``), at the latest before the next one.
        """
        self._planned.append(_Planned(moment, happening, trouble=False))

    def lags(self, pull: Pull, reads: int) -> None:
        """So many reads of a pull request answer what it is now, whatever is pushed meanwhile."""
        self.lagging += [replace(pull)] * reads

    def settle(self) -> None:
        """The answer is read: whatever was to happen after the request happens now."""
        while self._following:
            self._following.pop(0).act()

    @property
    def writes(self) -> tuple[Request, ...]:
        """The writes so far, refused ones too."""
        return tuple(each for each in self.log if each.kind == "write")

    @property
    def unmet(self) -> int:
        """How much of what was planned has not happened."""
        return len(self._planned) + len(self._following) + len(self.lagging)

    def calm(self) -> int:
        """Nothing more happens of what was planned; how much that was."""
        unmet = self.unmet
        self._planned.clear()
        self._following.clear()
        self.lagging.clear()
        return unmet

    @contextmanager
    def request(self, operation: str, kind: RequestKind) -> Iterator[None]:
        """One request: what the body does is its effect. Raises what was planned."""
        self.settle()
        request = Request(operation, kind)
        self.log.append(request)
        try:
            with self._carried_out(request):
                yield
        except BaseException as answer:
            request.answer = str(answer)
            raise

    @contextmanager
    def _carried_out(self, request: Request) -> Iterator[None]:
        due = [planned for planned in self._planned if self._due(planned, request)]
        refusal = None
        self._happen([each for each in due if not each.moment.after])
        try:
            yield
            request.effect = True
        except RefusedRequest as refused:
            refusal = refused
        self._happen(sorted((each for each in due if each.moment.after), key=lambda each: each.trouble))
        if refusal:
            raise refusal

    def _due(self, planned: _Planned, request: Request) -> bool:
        if not planned.moment.counts(request):
            return False
        planned.seen += 1
        return planned.seen == planned.moment.number + 1

    def _happen(self, due: list[_Planned]) -> None:
        for each in due:
            self._planned.remove(each)
            if each.moment.after and not each.trouble:
                self._following.append(each)
            else:
                each.act()
