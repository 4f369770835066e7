"""One review of a story, run in its world as a process would run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallStarted
from review_advisor.core.report.repair_text import PATCH_FILE
from review_advisor.core.report.report_text import headline
from review_advisor.core.shadow.shadow_decision import ShadowDecision, shadow_cost, shadow_decision
from review_advisor.core.shadow.shadow_events import ShadowSaid
from review_advisor.core.shadow.shadow_rule import Shadow
from review_advisor.mockworld.lines import Killed
from review_advisor.mockworld.stories.story_expect import StoryEnd
from review_advisor.mockworld.world import MockWorld
from review_advisor.ports.review import ArtifactError

NOTHING_ASKED = 2
NOT_TO_ITS_END = 12
P = ParamSpec("P")
T = TypeVar("T")


class OneAfterTheOther(Pool):
    """A pool that does each task at once: the money is divided as for parallel calls, the order is always the same."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do it now. What a kill raises comes out here, as it would end the process."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (handed on as the future's, like every pool does)
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True)
class Over:
    """What a review came to."""

    ended: StoryEnd
    exit_code: int | None
    because: tuple[str, ...]
    document: OutcomeDocument | None = None
    in_shadow: Mapping[str, ShadowDecision] = field(default_factory=dict)


def run(world: MockWorld, shadows: Sequence[Shadow] = ()) -> Over:
    """One review, its folder, and then what runs in shadow.

    As in the product, a review whose folder cannot be written decides nothing.
    """
    artifacts = world.artifacts
    try:
        document = world.review()
        artifacts.write("report.txt", headline(document))  # the whole is written out by the promises that read it
        if document.repair is not None:
            artifacts.write(PATCH_FILE, document.repair.patch)
    except Killed:
        artifacts.files.clear()
        return Over("died", None, ("the process was killed",))
    except ArtifactError as problem:
        artifacts.files.clear()
        asked = any(isinstance(event, CallStarted) for event in world.journal.events)
        return Over("broken", NOT_TO_ITS_END if asked else NOTHING_ASKED, (str(problem),))
    decisions: dict[str, ShadowDecision] = {}
    for shadow in shadows:
        world.shadow_events.clear()
        ended = world.shadow(document, shadow)
        if ended is not None:
            told = [each for each in world.shadow_events if isinstance(each, ShadowSaid)]
            decisions[shadow.rule.id] = shadow_decision(told, finished=ended.status == "finished")
            document = replace(document, shadows=(*document.shadows, shadow_cost(world.shadow_events)))
    return Over(document.outcome.value, document.exit_code, document.because, document, decisions)
