"""How a call that ended everything says what happened."""

from review_advisor.agents.calls import ModelForbiddenError, ModelUnknownError
from review_advisor.safety.stop import ReviewInterrupted


def test_an_interruption_says_which_signal_it_was() -> None:
    assert ReviewInterrupted("interrupted").signal_number == 2
    assert ReviewInterrupted("interrupted", signal_number=15).signal_number == 15


def test_a_model_that_cannot_be_asked_is_the_executors_unless_said_otherwise() -> None:
    for kind in (ModelForbiddenError, ModelUnknownError):
        assert not kind("no such model").in_consult
        assert kind("no such model", in_consult=True).in_consult
