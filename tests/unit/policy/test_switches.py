import pytest

from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import (
    FAIL_AS_VETO,
    FORCE_ON,
    MASTER,
    MAX_CONSULTS_VARIABLE,
    NO,
    ROLE_SWITCHES,
    YES,
    SwitchError,
    Switches,
    read_switches,
    surface_switch,
)

ADVISORS = (Role.PRE_FLIGHT, Role.MID_FLIGHT, Role.POST_VERIFY)
NAMES = {
    "HYDRAFLOW_REVIEW_ADVISOR_ENABLED",
    "HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED",
    "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED",
    "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED",
    "HYDRAFLOW_PR_REVIEW_ADVISOR_ENABLED",
    "HYDRAFLOW_PRE_MERGE_SPEC_CHECK_ADVISOR_ENABLED",
    "HYDRAFLOW_ADR_REVIEW_ADVISOR_ENABLED",
    "HYDRAFLOW_VISUAL_GATE_ADVISOR_ENABLED",
    "HYDRAFLOW_WIKI_INGEST_ADVISOR_ENABLED",
    "HYDRAFLOW_RELEASE_READINESS_ADVISOR_ENABLED",
}
KILL_SWITCHES = (MASTER, *ROLE_SWITCHES.values(), *(surface_switch(surface) for surface in Surface))
FLAGS = (*KILL_SWITCHES, FAIL_AS_VETO, FORCE_ON)


def silenced(switches: Switches) -> set[tuple[Role, Surface]]:
    return {(role, surface) for role in ADVISORS for surface in Surface if switches.disabled_by(role, surface)}


def any_case(words: tuple[str, ...]) -> list[str]:
    return [cased for word in words for cased in dict.fromkeys((word, word.upper(), word.capitalize(), f" {word} "))]


def test_the_names_are_the_adrs_exactly() -> None:
    assert set(KILL_SWITCHES) == NAMES
    assert (FAIL_AS_VETO, FORCE_ON, MAX_CONSULTS_VARIABLE) == (
        "HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO",
        "HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON",
        "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS",
    )


def test_nothing_set_means_everything_on() -> None:
    switches = read_switches({})
    assert silenced(switches) == set()
    assert (switches.fail_as_veto, switches.force_pre_flight, switches.max_consults) == (False, False, 5)


@pytest.mark.parametrize("name", KILL_SWITCHES)
@pytest.mark.parametrize("word", any_case(NO))
def test_every_no_switches_exactly_its_scope_off(name: str, word: str) -> None:
    switches = read_switches({name: word})
    expected = {
        (role, surface)
        for role in ADVISORS
        for surface in Surface
        if name in (MASTER, ROLE_SWITCHES[role], surface_switch(surface))
    }
    assert silenced(switches) == expected
    assert {switches.disabled_by(role, surface) for role, surface in expected} == {name}


@pytest.mark.parametrize("name", KILL_SWITCHES)
@pytest.mark.parametrize("word", [*any_case(YES), "", "   "])
def test_every_yes_and_an_empty_value_leave_it_on_d28(name: str, word: str) -> None:
    assert silenced(read_switches({name: word})) == set()


def test_one_no_in_any_scope_is_enough() -> None:
    switches = read_switches(
        {MASTER: "true", ROLE_SWITCHES[Role.MID_FLIGHT]: "false", surface_switch(Surface.PR_REVIEW): "on"}
    )
    assert silenced(switches) == {(Role.MID_FLIGHT, surface) for surface in Surface}


def test_the_widest_scope_is_named() -> None:
    everything = read_switches(dict.fromkeys(KILL_SWITCHES, "off"))
    assert everything.disabled_by(Role.PRE_FLIGHT, Surface.PR_REVIEW) == MASTER
    inner = read_switches(dict.fromkeys(KILL_SWITCHES[1:], "off"))
    assert inner.disabled_by(Role.PRE_FLIGHT, Surface.PR_REVIEW) == ROLE_SWITCHES[Role.PRE_FLIGHT]


@pytest.mark.parametrize("word", any_case(YES))
def test_what_is_off_by_default_can_be_switched_on(word: str) -> None:
    switches = read_switches({FAIL_AS_VETO: word, FORCE_ON: word})
    assert (switches.fail_as_veto, switches.force_pre_flight) == (True, True)


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("nonsense", ["maybe", "flase", "2", "-", "t", "yess"])
def test_nonsense_is_an_error_that_names_variable_value_and_words_d28(name: str, nonsense: str) -> None:
    with pytest.raises(SwitchError) as raised:
        read_switches({name: nonsense})
    words = "true, 1, yes, on or false, 0, no, off"
    assert str(raised.value) == f"{name} is {nonsense!r}: use one of {words}."


@pytest.mark.parametrize("number", [0, 1, 5, 19, 20])
def test_the_consult_cap_is_a_number_from_0_to_20(number: int) -> None:
    assert read_switches({MAX_CONSULTS_VARIABLE: str(number)}).max_consults == number


@pytest.mark.parametrize("nonsense", ["-1", "21", "100000000000", "1.5", "five", "٣", "1e1", "0x5", "9" * 5000])
def test_any_other_cap_is_an_error_d28(nonsense: str) -> None:
    with pytest.raises(SwitchError, match="use a whole number from 0 to 20"):
        read_switches({MAX_CONSULTS_VARIABLE: nonsense})


def test_zeros_before_the_cap_are_read_as_long_as_it_has_eight_digits() -> None:
    assert read_switches({MAX_CONSULTS_VARIABLE: "00000007"}).max_consults == 7
    with pytest.raises(SwitchError, match="use a whole number from 0 to 20"):
        read_switches({MAX_CONSULTS_VARIABLE: "000000007"})


def test_an_empty_cap_is_the_default() -> None:
    assert read_switches({MAX_CONSULTS_VARIABLE: ""}).max_consults == 5


MODELS = [
    # for the surface      for the review  the model of pr_review
    (None, None, "default"),
    ("", "", "default"),
    (None, "haiku", "haiku"),
    ("fable", None, "fable"),
    ("fable", "haiku", "fable"),
    ("", "haiku", "haiku"),
]


@pytest.mark.parametrize("for_surface, for_review, expected", MODELS)
@pytest.mark.parametrize("who, default", [("ADVISOR", "opus"), ("EXECUTOR", "sonnet")])
def test_a_surfaces_model_beats_the_reviews_beats_the_default(
    for_surface: str | None, for_review: str | None, expected: str, who: str, default: str
) -> None:
    stated = {f"HYDRAFLOW_PR_REVIEW_{who}_MODEL": for_surface, f"HYDRAFLOW_REVIEW_{who}_MODEL": for_review}
    switches = read_switches({name: value for name, value in stated.items() if value is not None})
    models = switches.advisor_models if who == "ADVISOR" else switches.executor_models
    assert models[Surface.PR_REVIEW] == (default if expected == "default" else expected)
    assert models[Surface.ADR_REVIEW] == (for_review or default)


@pytest.mark.parametrize("nonsense", ["--dangerously-skip-permissions", "opus sonnet", "op\x00us"])
def test_a_model_that_is_no_name_is_an_error_d29(nonsense: str) -> None:
    with pytest.raises(SwitchError, match=r"HYDRAFLOW_REVIEW_EXECUTOR_MODEL is .* such as sonnet"):
        read_switches({"HYDRAFLOW_REVIEW_EXECUTOR_MODEL": nonsense})
