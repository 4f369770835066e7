"""Which reviews a shadow runs on, and who judges in it."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Moment, Roster
from review_advisor.policy.shadow_rules import (
    Shadow,
    ShadowRule,
    ShadowRules,
    due,
    idle_settings,
    same_as_the_review,
    shadow_of,
    shadows_due,
)
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, Surface


def rule(percent: float = 100, **more: Any) -> ShadowRule:
    return ShadowRule.model_validate({"id": "try", "percent": percent, **more})


def shadow(*, known: tuple[Advisor, ...] = (), calls: int = 6, usd: float = 1.0, **more: Any) -> Shadow:
    made = shadow_of(rule(max_calls=calls, max_usd=usd, **more), (ADR_ADVISOR, *known))
    assert isinstance(made, Shadow)
    return made


def heads(count: int) -> list[str]:
    return [f"{number:040x}" for number in range(count)]


def test_the_same_review_is_chosen_every_time() -> None:
    for head in heads(50):
        first = due(rule(50), "acme/shop", "pr-7", head)
        assert due(rule(50), "Acme/Shop", "pr-7", head) == first


@pytest.mark.parametrize("percent, least, most", [(0, 0, 0), (10, 140, 260), (50, 900, 1_100), (100, 2_000, 2_000)])
def test_about_so_many_of_a_hundred_run(percent: float, least: int, most: int) -> None:
    runs = sum(due(rule(percent), "acme/shop", "pr-7", head) is not None for head in heads(2_000))
    assert least <= runs <= most


def test_more_percent_never_take_a_review_away() -> None:
    for head in heads(200):
        chosen = [due(rule(percent), "acme/shop", "pr-7", head) is not None for percent in (0, 5, 20, 60, 100)]
        assert chosen == sorted(chosen)


def test_another_salt_or_another_shadow_chooses_other_reviews() -> None:
    def chosen(**more: Any) -> list[bool]:
        return [due(rule(50, **more), "acme/shop", "pr-7", head) is not None for head in heads(100)]

    assert len({tuple(chosen()), tuple(chosen(salt="x")), tuple(chosen(id="other"))}) == 3


def test_the_reason_says_the_place_and_the_share() -> None:
    assert (due(rule(100), None, "working tree", None) or "").endswith("of 100, and 100 run in shadow")
    assert [why for _, why in shadows_due([shadow(), Shadow(rule(0))], None, "pr-7", "a" * 40)] == [
        due(rule(), None, "pr-7", "a" * 40)
    ]


def test_without_advisors_the_advisor_of_the_adr_judges() -> None:
    assert shadow().panel == (ADR_ADVISOR,)


@pytest.mark.parametrize(
    "inline, by_label, on", tuple(product((False, True), (False, True), (*get_args(Moment), None)))
)
def test_whoever_judges_in_shadow_votes_there_whenever_it_speaks_elsewhere(
    inline: bool, by_label: bool, on: Moment | None
) -> None:
    elsewhere = Advisor("dataSteward", "You look after the data.", on=on, by_label=by_label, inline=inline)
    made = shadow(advisors=("dataSteward",), model="big", known=(elsewhere,))
    (member,) = Roster(made.panel).panel
    assert (member.on, member.by_label, member.model) == ("finish", False, "big")
    assert Roster(made.panel).voices == ()


def test_an_unknown_judge_is_refused_with_the_nearest_one() -> None:
    said = shadow_of(rule(advisors=("dataStewart",)), (ADR_ADVISOR, Advisor("dataSteward", "It looks.")))
    assert said == "shadow.try: nobody has the id 'dataStewart'; did you mean 'dataSteward'?"


def test_the_setup_names_whatever_makes_figures_another() -> None:
    assert shadow(model="big", effort="max").setup("6.1") == "judge: hydraflow-review-advisor; model big; effort max"
    assert shadow(part="executor", surfaces=("pr_review",)).setup("6.1") == "executor; on pr_review"
    assert shadow(part="executor", instructions="terse").setup("6.1") == "executor; instructions terse (6.1)"


@pytest.mark.parametrize(
    "wrong",
    [
        {"percent": 101},
        {"percent": -1},
        {"id": ""},
        {"id": "a b"},
        {"max_calls": 0},
        {"max_usd": 0},
        {"part": "executor", "advisors": ["dataSteward"]},
        {"part": "consulted", "advisors": ["dataSteward"]},
        {"advisors": ["dataSteward", "dataSteward"]},
        {"model": "--dangerous"},
        {"effort": "most"},
        {"surfaces": ["nothing"]},
        {"instructions": "../terse"},
        {"instructions": "terse/"},
        {"sahre": 1},
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ShadowRule.model_validate({"id": "try", "percent": 10, **wrong})


def test_two_shadows_of_one_id_are_refused() -> None:
    with pytest.raises(ValidationError, match="two of them have one id"):
        TypeAdapter(ShadowRules).validate_python([{"id": "try", "percent": 1}, {"id": "TRY", "percent": 2}])


@pytest.mark.parametrize(
    "told, says",
    [
        ({}, "names the surfaces"),
        ({"surfaces": ["pr_review"]}, "pr_review: no review leaves it out"),
        ({"surfaces": ["wiki_ingest"]}, "wiki_ingest"),
        ({"surfaces": ["adr_review"], "model": "big"}, "runs as in a review"),
        ({"surfaces": ["adr_review"], "effort": "max"}, "runs as in a review"),
        ({"surfaces": ["adr_review"], "instructions": "terse"}, "runs as in a review"),
        ({"surfaces": ["adr_review"], "advisors": ["x"]}, "leave `advisors`"),
        ({"surfaces": ["adr_review", "visual_gate"], "paths": ["rfcs"]}, "one surface"),
    ],
)
def test_a_surface_in_shadow_is_one_that_a_review_can_leave_out_and_differs_in_nothing_else(
    told: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValidationError, match=says):
        rule(part="surface", **told)


@pytest.mark.parametrize(
    "told, says",
    [
        ({"part": "review", "surfaces": ["pr_review"]}, "leave `surfaces` out"),
        ({"part": "review", "paths": ["rfcs"]}, "paths"),
        ({"part": "judge", "advisor_model": "big"}, "advisor_model"),
        ({"part": "executor", "escalation": "harness"}, "escalation"),
        ({"part": "review", "escalation": "often"}, "escalation"),
        ({"part": "review", "advisor_model": "--dangerous"}, "advisor_model"),
    ],
)
def test_a_whole_review_has_keys_of_its_own_and_its_own_surfaces(told: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        rule(**told)


def test_who_joins_a_whole_review_speaks_there_as_declared_beside_the_adrs_advisor() -> None:
    asked = Advisor("dataSteward", "You look after the data.", on=None, by_label=True)
    made = shadow(part="review", advisors=("dataSteward",), model="big", known=(asked,))
    assert made.panel == (ADR_ADVISOR, Advisor("dataSteward", "You look after the data."))
    assert shadow(part="review").panel == ()


def test_places_are_those_of_a_surface() -> None:
    with pytest.raises(ValidationError, match="paths"):
        rule(paths=["rfcs"])


# --- settings that can do nothing -------------------------------------------------------------------------------------


def told(*rules: ShadowRule, profile: Any = "attrition") -> int:
    return len(idle_settings(rules, profile=profile))


def test_only_a_profile_of_escalation_has_consults_to_answer() -> None:
    consulted = rule(part="consulted")
    assert told(consulted, profile="adr") == 1
    assert told(consulted, profile="attrition") == told(rule(part="judge"), profile="adr") == 0


@pytest.mark.parametrize("surface", Surface)
def test_consults_are_answered_where_the_surface_has_any(surface: Surface) -> None:
    alone = told(rule(part="consulted", surfaces=(surface,)))
    assert alone == (0 if SURFACE_DEFAULTS[surface].mid_flight else 1)
    assert told(rule(part="consulted", surfaces=(surface, Surface.PR_REVIEW))) == 0


@pytest.mark.parametrize(
    "more",
    [{"model": "m"}, {"advisor_model": "m"}, {"escalation": "attrition"}, {"effort": "low"}, {"instructions": "x"}],
)
def test_a_whole_review_that_tries_nothing_is_remarked_on(more: dict[str, Any]) -> None:
    assert len(same_as_the_review([rule(part="review")])) == 1
    assert same_as_the_review([rule(part="review", **more), rule(part="judge")]) == ()
