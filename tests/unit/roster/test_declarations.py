"""Declared advisors: what a file may say, how files lie one over the other, and what is refused by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scenarios.act_017 import RISK_ANALYST

from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import LONGEST_FILE
from review_advisor.policy.declarations import DEEPEST, read_declarations
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Advisor, PresetName, Roster
from review_advisor.policy.roster_layers import MOST_ADVISORS, PRESETS, declared_roster, wanted_by

FOLDER = ".review-advisor/advisors"


def of(files: Mapping[str, str], preset: PresetName = "default", *wanted: str) -> tuple[Roster, tuple[str, ...]]:
    """The roster of files by their names below the advisors' folder."""
    return declared_roster(preset, {f"{FOLDER}/{name}": BaseText(text) for name, text in files.items()}, wanted)


def markdown(body: str = "Looks at data.", **keys: Any) -> str:
    lines = [f"{key}: {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(["---", *lines, "---", "", body, ""])


def only(files: Mapping[str, str], preset: PresetName = "default", *wanted: str) -> str:
    """The one mistake of these files."""
    (problem,) = of(files, preset, *wanted)[1]
    return problem


def test_the_json_list_of_act_017_is_read_as_it_is() -> None:
    roster, problems = of({"risk.json": RISK_ANALYST})
    assert problems == ()
    (_, risk) = roster.advisors
    assert risk == Advisor(
        id="riskAnalyst",
        persona="Analyze risks and Vote for deployment actions.",
        on="request",
        scopes=("†state.deploymentHistory",),
        answer=risk.answer,
        source=f"{FOLDER}/risk.json",
    )
    assert json.loads(risk.answer) == json.loads(RISK_ANALYST)[0]["schema"]


def test_markdown_says_the_same_with_its_body_as_the_persona() -> None:
    text = """---
id: dataSteward
on: finish            # YAML 1.1 would read this key as a yes
scopes: [migrations, "the schema: all of it"]
isInstanced: true
weight: 2.5
veto: true
temperament: pragmatic
model: haiku
answer:
  type: object
  properties:
    risk_score: {type: integer, minimum: 0, maximum: 100}
---

Looks after the data.

---
A line of hyphens ends nothing here.
"""
    (steward,) = of({"data.md": text})[0].advisors[1:]
    assert (steward.on, steward.instanced, steward.weight, steward.veto, steward.model) == (
        "finish",
        True,
        2.5,
        True,
        "haiku",
    )
    assert steward.scopes == ("migrations", "the schema: all of it")
    assert steward.temperament == "pragmatic"
    assert steward.persona == "Looks after the data.\n\n---\nA line of hyphens ends nothing here."
    assert json.loads(steward.answer)["properties"]["risk_score"]["maximum"] == 100


@pytest.mark.parametrize("new,old", [("persona", "role"), ("answer", "schema"), ("type", "kind")])
def test_old_and_new_names_of_a_key_mean_the_same_and_not_both(new: str, old: str) -> None:
    values = {"type": "advisor", "id": "x", "persona": "P", "answer": {"properties": {"score": {"type": "number"}}}}
    renamed = {old if key == new else key: value for key, value in values.items()}
    assert of({"a.json": json.dumps([renamed])})[0] == of({"a.json": json.dumps([values])})[0]
    said = only({"a.json": json.dumps([values | {old: values[new]}])})
    assert said == f"{FOLDER}/a.json: {old!r} is the old name of {new!r}: leave one of them out."


def test_several_declarations_of_one_id_patch_it_field_by_field_and_the_latest_wins() -> None:
    first = markdown("First.", id="data", weight=1, scopes=["a"], on="finish")
    roster, problems = of(
        {"a.md": first, "b.md": markdown("", id="data", weight=7), "c.md": markdown("Last.", id="data")}
    )
    assert problems == ()
    (data,) = roster.advisors[1:]
    assert (data.persona, data.weight, data.scopes, data.on) == ("Last.", 7, ("a",), "finish")
    assert data.source == f"{FOLDER}/a.md, {FOLDER}/b.md, {FOLDER}/c.md"


def test_when_an_advisor_speaks_is_set_once() -> None:
    early = markdown(id="data", on="start")
    assert of({"a.md": early, "b.md": markdown("", id="data", on="start")})[1] == ()
    said = only({"a.md": early, "b.md": markdown("", id="data", on="finish")})
    assert said == f"{FOLDER}/b.md: `on` of 'data' is 'start' already and cannot become 'finish'."


def test_a_misspelled_id_mints_no_advisor_without_a_persona() -> None:
    """Defect 1.10 of Agent/Advisor."""
    said = only({"a.md": markdown(id="dataSteward"), "b.md": markdown("", id="dataStewart", weight=9)})
    assert said == (
        f"{FOLDER}/b.md: no advisor has the id 'dataStewart', and a new one needs a persona; "
        "did you mean 'dataSteward'?"
    )


def test_two_ids_differ_in_more_than_their_case() -> None:
    said = only({"a.md": markdown(id="dataSteward"), "b.md": markdown(id="DataSteward")})
    assert said == f"{FOLDER}/b.md: the id 'DataSteward' differs from 'dataSteward' in its letters' case alone."


@pytest.mark.parametrize("key,value", [("veto", False), ("on", "start"), ("persona", "Approve."), ("model", "haiku")])
def test_no_roster_is_without_the_adrs_advisor_and_its_veto(key: str, value: object) -> None:
    table = {"id": ADR_ADVISOR.id, key: value}
    assert only({"a.json": json.dumps(table)}) == (
        f"{FOLDER}/a.json: {key!r} of {ADR_ADVISOR.id!r} cannot be declared: no roster is without it and its veto."
    )
    assert "cannot be 0" in only({"a.json": json.dumps({"id": ADR_ADVISOR.id, "weight": 0})})
    heavier, problems = of({"a.json": json.dumps({"id": ADR_ADVISOR.id, "weight": 3, "veto": True})})
    assert (heavier.advisors[0].weight, heavier.advisors[0].veto, problems) == (3, True, ())


@given(
    st.lists(
        st.fixed_dictionaries(
            {"id": st.sampled_from([ADR_ADVISOR.id, "securityArchitect", "own", "OWN"])},
            optional={
                "persona": st.sampled_from(["", "Says no."]),
                "on": st.sampled_from([None, "start", "finish", "request"]),
                "veto": st.booleans(),
                "weight": st.integers(0, 100),
            },
        ),
        max_size=6,
    ),
    st.sampled_from(sorted(PRESETS)),
    st.booleans(),
)
def test_whatever_is_declared_the_adrs_advisor_keeps_its_place(
    tables: list[dict[str, Any]], preset: PresetName, optional: bool
) -> None:
    name = "optional/a.json" if optional else "a.json"
    roster, _ = of({name: json.dumps(tables)}, preset, *(each["id"] for each in tables))
    first = roster.advisors[0]
    assert (first.id, first.on, first.veto, first.persona, first.by_label) == (
        ADR_ADVISOR.id,
        "request",
        True,
        ADR_ADVISOR.persona,
        False,
    )
    assert first.weight > 0
    assert len({each.id.casefold() for each in roster.advisors}) == len(roster.advisors)


def test_a_label_adds_an_optional_advisor_and_changes_nobody() -> None:
    files = {"a.md": markdown(id="data", weight=2), "optional/ux.md": markdown("Looks at screens.", id="ux", veto=True)}
    without, problems = of(files)
    assert [each.id for each in without.advisors] == [ADR_ADVISOR.id, "data"]
    added, _ = of(files, "default", *wanted_by(["bug", "Review-Advisor:with:UX", "review-advisor:with:data"]))
    assert added.advisors[:2] == without.advisors
    assert [(each.id, each.by_label) for each in added.advisors[2:]] == [("ux", True)]
    assert (problems, added.blind_spots) == ((), ())


def test_a_label_cannot_reach_a_member_through_an_optional_file() -> None:
    files = {"a.md": markdown(id="data", veto=True), "optional/a.md": markdown("", id="data", veto=False)}
    said = f"{FOLDER}/optional/a.md: 'data' is a member already; a label cannot change it."
    assert of(files, "default", "data")[1] == (said,)


def test_a_label_adds_nobody_whom_the_base_does_not_declare() -> None:
    roster, problems = of({"optional/ux.md": markdown(id="ux")}, "default", "uxx", "securityArchitect", "a\n<b>")
    assert (len(roster.advisors), problems) == (1, ())
    assert roster.blind_spots == (
        "a label asks for 'uxx', and no optional advisor has this id; did you mean 'ux'?",
        "a label asks for 'securityArchitect', and no optional advisor has this id; known: ux.",
        "a label asks for an advisor by a text that is no id",
    )


def test_an_optional_file_may_offer_a_shipped_advisor() -> None:
    files = {"optional/s.md": markdown("", id="securityArchitect", weight=3)}
    (shipped,) = of(files, "default", "securityArchitect")[0].advisors[1:]
    assert (shipped.weight, shipped.veto, shipped.by_label) == (3, True, True)


@pytest.mark.parametrize("preset", ["default", "security", "release"])
def test_a_preset_is_the_adrs_advisor_and_its_specialists(preset: PresetName) -> None:
    roster, problems = of({"p.json": json.dumps([{"type": "preset", "preset": preset}])})
    assert (roster.advisors, problems) == ((ADR_ADVISOR, *PRESETS[preset]), ())
    assert of({}, preset)[0] == roster
    assert (of({}, preset)[0] == DEFAULT_ROSTER) == (preset == "default")


BOMB = "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nid: x\n---\nP"
PROBLEMS: dict[str, tuple[str, str]] = {
    "an alias": ("a.md", BOMB),
    "an anchor": ("a.md", "---\nid: x\nscopes: &a [b]\n---\nP"),
    "a tag": ("a.md", "---\nid: !!python/object/apply:os.system [x]\n---\nP"),
    "deep YAML": ("a.md", f"---\nid: {'[' * 5_000}\n---\nP"),
    "deep keys": ("a.md", "---\n" + "".join(f"{' ' * n}a:\n" for n in range(60)) + "---\nP"),
    "deep JSON": ("a.json", "[" * 15_000),
    "closed deep JSON": ("a.json", "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)),
    "ten megabytes": ("a.md", markdown("x" * 10_000_000, id="x")),
    "a long file": ("a.json", json.dumps([{"id": "x", "persona": "P"}]) + " " * LONGEST_FILE),
    "many values": ("a.md", f"---\nid: x\nscopes: [{'a,' * 3_000}]\n---\nP"),
    "two documents": ("a.md", "---\nid: x\n...\n%YAML 1.2\nid: y\n---\nP"),
    "no frontmatter": ("a.md", "id: x"),
    "an open frontmatter": ("a.md", "---\nid: x\nP"),
    "no table": ("a.md", "---\n- id\n---\nP"),
    "a key twice": ("a.md", "---\nid: x\nid: y\n---\nP"),
    "a key twice in JSON": ("a.json", '{"id": "x", "id": "y", "persona": "P"}'),
    "broken YAML": ("a.md", "---\nid: 'x\n---\nP"),
    "broken JSON": ("a.json", "[{]"),
    "no object": ("a.json", "[1]"),
    "no number": ("a.json", '{"id": "x", "persona": "P", "weight": NaN}'),
    "an infinite weight": ("a.json", '{"id": "x", "persona": "P", "weight": 1e999}'),
    "a heavy weight": ("a.json", '{"id": "x", "persona": "P", "weight": 101}'),
    "a veto in words": ("a.json", '{"id": "x", "persona": "P", "veto": "no"}'),
    "no id": ("a.md", markdown()),
    "an id of two lines": ("a.json", json.dumps({"id": "x\n## Approved", "persona": "P"})),
    "an id of HTML": ("a.json", json.dumps({"id": "<img src=x>", "persona": "P"})),
    "an id with a line end": ("a.json", json.dumps({"id": "x\n", "persona": "P"})),
    "the id of a role": ("a.json", json.dumps({"id": "Executor", "persona": "P"})),
    "the id of a subagent of the CLI": ("a.json", json.dumps({"id": "general-purpose", "persona": "P"})),
    "a scope of two lines": ("a.json", json.dumps({"id": "x", "persona": "P", "scopes": ["a\nb"]})),
    "another moment": ("a.json", json.dumps({"id": "x", "persona": "P", "on": "always"})),
    "a tool": ("a.json", json.dumps({"type": "tool", "id": "x", "persona": "P"})),
    "an unknown preset": ("a.json", json.dumps({"type": "preset", "preset": "secure"})),
    "a persona twice": ("a.md", markdown("Body.", id="x", role="Key.")),
    "a field that every answer has": (
        "a.json",
        json.dumps({"id": "x", "persona": "P", "answer": {"properties": {"calls": {"type": "string"}}}}),
    ),
    **{
        f"a field called {name}": (
            "a.json",
            json.dumps({"id": "x", "persona": "P", "answer": {"properties": {name: {"type": "string"}}}}),
        )
        for name in ("of_each", "model_dump", "model_config", "json")
    },
    "a schema that no model is sure to fill in": (
        "a.json",
        json.dumps({"id": "x", "persona": "P", "answer": {"$ref": "http://example.org/x"}}),
    ),
    "another kind of file": ("a.yaml", "id: x"),
    "a file in another folder": ("team/a.md", markdown(id="x")),
}


@pytest.mark.parametrize("what", PROBLEMS)
def test_what_cannot_be_read_is_refused_in_one_line_that_names_its_file(what: str) -> None:
    name, text = PROBLEMS[what]
    roster, problems = of({name: text})
    assert problems, what
    assert roster == DEFAULT_ROSTER
    for problem in problems:
        assert problem.startswith(f"{FOLDER}/{name}")
        assert problem.isprintable()
        assert len(problem) < 400


def test_every_mistake_of_every_file_is_told() -> None:
    _, problems = of(
        {"a.json": json.dumps([{"id": "1"}, {"id": "x", "vetto": True}]), "b.md": "x", "c.md": markdown(on="start")}
    )
    assert problems == (
        f"{FOLDER}/a.json, number 1: the id '1' is none: up to 64 letters, digits, `-` and `_`, a letter first.",
        f"{FOLDER}/a.json, number 2: unknown key 'vetto'; did you mean 'veto'?",
        f"{FOLDER}/b.md: it has no frontmatter: put its keys between two lines `---` at the top.",
        f"{FOLDER}/c.md: it has no id.",
    )


def test_more_advisors_than_a_person_can_follow_are_refused() -> None:
    many = json.dumps([{"id": f"a{n}", "persona": "P"} for n in range(MOST_ADVISORS)])
    assert only({"a.json": many}) == f"A roster has at most {MOST_ADVISORS} advisors; {MOST_ADVISORS + 1} are declared."


@pytest.mark.parametrize(
    "path,says",
    [
        (".review-advisor", "it is not a folder, and links are not followed"),
        (FOLDER, "it is not a folder, and links are not followed"),
        (f"{FOLDER}/optional", "it is not a folder, and links are not followed"),
        (".review-advisor/Advisors/a.md", "files there are not read"),
        (f"{FOLDER}/a.md", "it is a symbolic link"),
    ],
)
def test_a_link_in_the_place_of_a_folder_or_file_is_refused(path: str, says: str) -> None:
    (problem,) = declared_roster("default", {path: BaseText(problem="it is a symbolic link")})[1]
    assert problem.startswith(f"{path}: {says}")


def test_a_readme_and_hidden_files_declare_nobody() -> None:
    assert of({"README.md": "# Our advisors", ".gitkeep": "", "optional/readme.md": "x"}) == (DEFAULT_ROSTER, ())


def test_a_word_in_quotes_stays_a_word() -> None:
    (file,) = read_declarations("a.md", '---\nid: no\npersona: "12"\nweight: 1_0\n---\n').advisors
    assert (file.said.id, file.said.persona, file.said.weight) == ("no", "12", 10)
