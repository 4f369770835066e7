"""Lenses that a changed path asks for: whoever holds one is not missed, and nobody is in the default roster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.change.change import FileChange
from review_advisor.github.check_text import check_of
from review_advisor.mockworld.world import MockWorld, edited, renamed
from review_advisor.policy.lenses import roster_for
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Advisor, Roster, as_advisor
from review_advisor.policy.roster_layers import PRESETS
from review_advisor.policy.scope import policy_digest
from review_advisor.review.report import report_text

SCRIBE = Advisor("scribe", "Reads the documentation.", on="finish")
DECLARED = Roster((ADR_ADVISOR, SCRIBE))


def blind_spots(roster: Roster, files: list[FileChange]) -> tuple[str, ...]:
    return roster_for(roster, files).blind_spots


@pytest.mark.parametrize(
    "path,lens",
    [
        ("src/auth/login.py", "securityArchitect"),
        ("db/migrations/0001_add.py", "dataSteward"),
        ("web/app.tsx", "accessibility"),
        ("api/users.proto", "apiSteward"),
        ("src/privacy/export.py", "complianceOfficer"),
        ("ops/main.tf", "releaseManager"),
    ],
)
def test_a_lens_that_nobody_holds_is_named_with_its_paths(path: str, lens: str) -> None:
    said = f"no advisor has the lens {lens}, for {path}"
    assert blind_spots(DECLARED, [edited(path)]) == (said,)
    assert blind_spots(DECLARED, [renamed(path, "src/plain.py")]) == (said,), "both sides of a rename count"
    for holder in (Advisor(lens, "P"), Advisor("x", "P", scopes=(lens.upper(),))):
        assert blind_spots(Roster((*DECLARED.advisors, holder)), [edited(path)]) == ()
    assert blind_spots(DEFAULT_ROSTER, [edited(path)]) == ()


def test_an_ordinary_path_asks_for_no_lens_and_many_paths_are_counted() -> None:
    assert blind_spots(DECLARED, [edited("src/author.py"), edited("docs/login.md")]) == ()
    (said,) = blind_spots(DECLARED, [edited(f"web/{n}.css") for n in range(5)])
    assert said.endswith("web/0.css, web/1.css, web/2.css and 2 more")


def test_report_and_check_name_the_blind_spots_and_no_name_of_a_file_acts_in_them() -> None:
    world = MockWorld()
    world.rules = replace(world.rules, roster=DECLARED)
    world.change(edited("web/<img src=x>@team.css"))
    document = world.review()
    assert "blind spot: no advisor has the lens accessibility, for web/" in " ".join(report_text(document).split())
    summary = check_of(document, PublicationRules(), 7).summary
    assert "**Blind spot**: no advisor has the lens accessibility" in summary
    assert "<img" not in summary
    without = replace(document.policy, roster=DECLARED)
    assert policy_digest(document.policy) == policy_digest(without), "the change itself brings it about"


def test_a_council_of_three_of_which_nobody_is_declared_to_dissent_has_a_blind_spot() -> None:
    two = Roster((*DECLARED.advisors,))
    three = Roster((*DECLARED.advisors, Advisor("ux", "Looks at pages.", on="finish")))
    dissenting = Roster((*DECLARED.advisors, Advisor("ux", "Looks at pages.", on="finish", temperament="dissenting")))
    silent = Roster((*DECLARED.advisors, Advisor("ux", "Looks.", temperament="dissenting")))
    said = "none of the 3 members of the council is declared to dissent"
    assert [blind_spots(each, []) for each in (two, three, dissenting, silent)] == [(), (said,), (), ()]
    assert all(blind_spots(Roster((ADR_ADVISOR, *each)), []) == () for each in PRESETS.values())


def test_the_temperament_of_an_advisor_is_told_to_it_and_part_of_the_policy() -> None:
    plain = Advisor("ux", "Looks at pages.")
    dissenting = replace(plain, temperament="dissenting")
    assert as_advisor(plain) in as_advisor(dissenting)
    assert "look first for reasons against" in as_advisor(dissenting)
    world = MockWorld()
    policies = []
    for member in (plain, dissenting):
        world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, member)))
        policies.append(policy_digest(world.review().policy))
    assert len(set(policies)) == 2


def test_scopes_are_told_as_an_emphasis_and_hide_nothing() -> None:
    steward = Advisor("dataSteward", "You look after the data.", on="finish", scopes=("migrations",))
    world = MockWorld()
    world.change(edited("db/migrations/0001.sql"), edited("src/app.py"))
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, steward)))
    world.review()
    asked = [call.prompt for call in world.agents.asked if call.advisor == "dataSteward"]
    assert all("Look first at: migrations. The rest is yours to see as well." in each for each in asked)
    assert all("src/app.py" in each for each in asked)
    assert asked
