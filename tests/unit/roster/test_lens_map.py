"""The repository's own map from paths to lenses and advisors only adds, and its mistakes are told with their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.change import Change
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import LENS_MAP
from review_advisor.mockworld.world import MockWorld, edited, renamed
from review_advisor.policy.lenses import roster_for
from review_advisor.policy.policy import Policy, decide_policy
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Roster
from review_advisor.policy.roster_layers import MOST_ADVISORS, declared_roster
from review_advisor.policy.scope import policy_digest
from review_advisor.policy.switches import read_switches

FOLDER = ".review-advisor/advisors"
STEWARD = "---\nid: dataSteward\non: finish\nscopes: [migrations]\n---\nLooks after the data.\n"
MAP = """\
[[map]]
paths = ["/db/"]
advisors = ["dataSteward"]
[[map]]
paths = ["*.md", "!/README.md"]
lenses = ["copy"]
"""


def read(text: str, files: Mapping[str, str] = {}, wanted: tuple[str, ...] = ()) -> tuple[Roster, tuple[str, ...]]:
    texts = {LENS_MAP: text, f"{FOLDER}/optional/data.md": STEWARD, **files}
    return declared_roster("default", {path: BaseText(each) for path, each in texts.items()}, wanted)


def mapped(text: str = MAP, **files: str) -> Roster:
    roster, problems = read(text, files)
    assert problems == ()
    return roster


def test_a_changed_path_adds_the_advisor_that_the_map_names_for_it() -> None:
    roster = mapped()
    assert roster_for(roster, [edited("src/app.py")]) == DEFAULT_ROSTER
    for change in (edited("db/schema.sql"), renamed("db/old.py", "src/new.py")):
        first, second = roster_for(roster, [change]).advisors
        assert (first, second.id, second.on, second.by_path) == (ADR_ADVISOR, "dataSteward", "finish", True)
        assert second.source == f"{FOLDER}/optional/data.md, {LENS_MAP}"


def test_a_lens_of_the_own_map_that_nobody_holds_is_a_blind_spot_also_of_the_default_roster() -> None:
    roster = mapped()
    assert roster_for(roster, [edited("docs/a.md")]).blind_spots == ("no advisor has the lens copy, for docs/a.md",)
    assert roster_for(roster, [edited("README.md")]).blind_spots == ()
    held = replace(roster, advisors=(replace(ADR_ADVISOR, scopes=("Copy",)),))
    assert roster_for(held, [edited("docs/a.md")]).blind_spots == ()


def test_an_own_lens_with_the_name_of_a_shipped_one_adds_paths_to_it() -> None:
    roster = mapped(
        '[[map]]\npaths = ["/legacy/"]\nlenses = ["SecurityArchitect"]\n', **{f"{FOLDER}/b.md": "---\nid: b\n---\nB\n"}
    )
    (said,) = roster_for(roster, [edited("src/auth.py"), edited("legacy/a.py")]).blind_spots
    assert said == "no advisor has the lens SecurityArchitect, for legacy/a.py, src/auth.py"


def test_whoever_a_label_and_a_path_ask_for_is_one_member() -> None:
    roster, problems = read(MAP, wanted=("dataSteward",))
    assert problems == ()
    labelled = roster_for(roster, [edited("src/app.py")]).advisors[1]
    both = roster_for(roster, [edited("db/a.sql")]).advisors[1:]
    assert (labelled.by_label, labelled.by_path) == (True, False)
    assert both == roster_for(mapped(), [edited("db/a.sql")]).advisors[1:], "the label may have gone at publishing"


@given(st.lists(st.sampled_from(["db/a.sql", "docs/a.md", "README.md", "src/app.py", "src/auth.py"]), unique=True))
def test_the_map_takes_nobody_and_no_lens_away(paths: list[str]) -> None:
    files = [edited(path) for path in paths]
    roster = mapped(**{f"{FOLDER}/b.md": "---\nid: b\nweight: 3\nveto: true\n---\nB\n"})
    without = replace(roster, mapped=())
    told, bare = roster_for(roster, files), roster_for(without, files)
    assert told.advisors[: len(bare.advisors)] == bare.advisors
    assert all(each.is_added for each in told.advisors[len(bare.advisors) :])
    assert told.mapped == ()
    joined = [each.id for each in told.advisors[len(bare.advisors) :]]
    unheld = {each for each in bare.blind_spots if not any(f"the lens {id_}," in each for id_ in joined)}
    assert unheld <= set(told.blind_spots)


@pytest.mark.parametrize(
    "text,says",
    [
        ("[[map]\n", ": it is not valid TOML: "),
        ("a = " + "[" * 9_000, ": it is not valid TOML: nested too deeply."),
        ("[[maps]]\n", ": unknown key 'maps'; did you mean 'map'?"),
        (MAP + '[[map]]\nlenses = ["a"]\n', ", rule 3: 'paths': is missing."),
        ('[[map]]\npaths = ["a"]\n', ", rule 1: it names neither `lenses` nor `advisors`."),
        (
            '[[map]]\npath = ["a"]\npaths = ["a"]\nlenses = ["a"]\n',
            ", rule 1: unknown key 'path'; did you mean 'paths'?",
        ),
        ('[[map]]\npaths = ["a", "[Z-a]"]\nlenses = ["a"]\n', ", rule 1: 'paths.1': it is not a glob."),
        ('[[map]]\npaths = ["#x"]\nlenses = ["a"]\n', ", rule 1: 'paths.0': it is not a glob."),
        ('[[map]]\npaths = [""]\nlenses = ["a"]\n', ", rule 1: 'paths.0': should match"),
        (
            MAP.replace('["dataSteward"]', '["dataStewart"]'),
            f"no member, and no advisor in {FOLDER}/optional, has the id 'dataStewart'; did you mean 'dataSteward'?",
        ),
        ("#" * 40_000, ": it is longer than 32,000 characters."),
    ],
)
def test_a_mistake_in_the_map_is_told_with_its_file_and_place(text: str, says: str) -> None:
    _, (problem, *_) = read(text)
    assert problem.startswith(LENS_MAP)
    assert says in problem
    assert "\n" not in problem


@pytest.mark.parametrize("path", [".review-advisor/Lenses.toml", ".REVIEW-ADVISOR/lenses.toml"])
def test_a_map_under_another_spelling_of_its_name_is_refused(path: str) -> None:
    _, (problem,) = declared_roster("default", {path: BaseText(MAP)})
    assert problem == f"{path}: files there are not read: the map of paths is {LENS_MAP}."


def test_a_link_in_the_place_of_the_map_is_refused() -> None:
    _, (problem,) = declared_roster("default", {LENS_MAP: BaseText(problem="it is a symbolic link")})
    assert problem == f"{LENS_MAP}: it is a symbolic link."


def test_neither_labels_nor_paths_make_a_roster_too_large() -> None:
    """Whoever sets labels may not stop reviews, so a label that finds no room is a blind spot."""
    many = {f"{FOLDER}/a{n}.md": f"---\nid: a{n}\n---\nP\n" for n in range(MOST_ADVISORS - 2)}
    extra = {f"{FOLDER}/optional/b.md": "---\nid: b\n---\nP\n"}
    roster, problems = read(MAP, {**many, **extra}, wanted=("b",))
    assert (len(roster.advisors), problems) == (MOST_ADVISORS - 1, ())
    assert roster.blind_spots == (f"a label asks for 'b', and a roster has at most {MOST_ADVISORS} advisors",)
    assert len(roster_for(roster, [edited("db/a.sql")]).advisors) == MOST_ADVISORS
    _, (problem,) = read(MAP, {**many, f"{FOLDER}/c.md": "---\nid: c\n---\nP\n"})
    assert problem == f"A roster has at most {MOST_ADVISORS} advisors; {MOST_ADVISORS + 1} are declared."


def test_the_policy_of_a_change_has_the_members_of_its_paths_and_their_money() -> None:
    world = MockWorld()
    rules = replace(world.rules, roster=mapped())

    def policy(path: str) -> Policy:
        return decide_policy(Change("x", files=(edited(path),)), rules, read_switches({}))

    plain, data = policy("src/a.py"), policy("db/a.py")
    assert [each.id for each in data.roster.panel] == [ADR_ADVISOR.id, "dataSteward"]
    assert plain.roster == DEFAULT_ROSTER
    assert data.budgets.max_usd > plain.budgets.max_usd
    assert policy_digest(plain) != policy_digest(data), "another panel looks at all of the change"
