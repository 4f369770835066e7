"""How long a silent forge is waited for, and how often an answer that may lag is asked for again."""

import pytest

from review_advisor.github.forge import ForgeUnavailable
from review_advisor.github.writer import LAGS, MOST_WAITED, WAITS, Retry
from review_advisor.mockworld.world import FakeClock


class Silence:
    """A forge that never answers; ``wait`` is what it asks for."""

    def __init__(self, wait: float = 0.0) -> None:
        self.asked = 0
        self._wait = wait

    def __call__(self) -> None:
        self.asked += 1
        raise ForgeUnavailable("silence", self._wait)


def test_what_is_asked_within_something_else_is_not_waited_for_by_itself() -> None:
    clock, silence = FakeClock(), Silence()
    retry = Retry(clock)
    for _ in range(2):
        with pytest.raises(ForgeUnavailable):
            retry.retried(lambda: retry.retried(silence))
    assert (clock.seconds, silence.asked) == (2 * sum(WAITS), 2 * (len(WAITS) + 1))


@pytest.mark.parametrize("wait,waited", [(MOST_WAITED, len(WAITS) * MOST_WAITED), (MOST_WAITED + 1, 0.0)])
def test_the_forge_may_ask_for_longer_waits_up_to_a_bound(wait: float, waited: float) -> None:
    clock = FakeClock()
    with pytest.raises(ForgeUnavailable):
        Retry(clock).retried(Silence(wait))
    assert clock.seconds == waited


@pytest.mark.parametrize("answers,waits", [([7], 0), ([1, 7], 1), ([1, 2, 7], 2), ([1, 2, 3], 2)])
def test_an_answer_is_believed_at_once_or_after_some_waits(answers: list[int], waits: int) -> None:
    clock, coming = FakeClock(), iter(answers)
    assert Retry(clock).poll_until(lambda: next(coming), lambda found: found == 7) == answers[-1]
    assert clock.seconds == sum(LAGS[:waits])
