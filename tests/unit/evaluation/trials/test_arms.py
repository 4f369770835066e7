"""The arms that review golden cases."""

from review_advisor.lab.manifests import USUAL_ARMS, configured, matrix
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import read_switches

USUAL = {arm.name: arm for arm in USUAL_ARMS}


def test_one_model_alone_has_no_advisor() -> None:
    for name, model in (("executor-only", "sonnet"), ("advisor-only", "opus")):
        switches = read_switches(USUAL[name].environment)

        assert switches.disabled_by(Role.POST_VERIFY, Surface.PR_REVIEW)
        assert set(switches.executor_models.values()) == {model}


def test_a_pair_is_the_default_of_a_review() -> None:
    assert read_switches(USUAL["paired"].environment) == read_switches({})
    assert USUAL["paired"].config == ""


def test_a_matrix_has_each_model_alone_and_each_pair() -> None:
    arms = {arm.name: arm for arm in matrix(["haiku", "opus"])}

    assert list(arms) == ["haiku", "opus", "haiku+opus", "opus+haiku"]
    assert [arms[name].part for name in arms] == ["executor", "executor", "paired", "paired"]
    switches = read_switches(arms["haiku+opus"].environment)
    assert (switches.executor_models[Surface.PR_REVIEW], switches.advisor_models[Surface.PR_REVIEW]) == (
        "haiku",
        "opus",
    )


def test_another_configuration_is_another_arm() -> None:
    digests = {configured("mine", text).facts.settings for text in ("", 'profile = "library"\n', 'mode = "shadow"\n')}

    assert len(digests) == 3
    assert configured("mine", "").facts.settings == USUAL["paired"].facts.settings
