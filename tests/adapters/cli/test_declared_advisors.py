"""Declared advisors at the command line: whose files hold, and what the verbs say of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.git_repository import Repo

from review_advisor.core.facts.files.declared import LENS_MAP
from review_advisor.core.roster.advisor import ADR_ADVISOR

FOLDER = ".review-advisor/advisors"
DATA = "---\nid: dataSteward\non: finish\nscopes: [migrations]\n---\nLooks after the data.\n"
WEAKER = DATA.replace("on: finish", "on: finish\nweight: 0")


def committed(terminal: Terminal, *commits: dict[str, str | None]) -> Repo:
    """A history in which each commit sets these files, and an ordinary one beside them."""
    repo = Repo(terminal.folder)
    for number, files in enumerate(commits):
        for name, text in files.items():
            if text is None:
                (terminal.folder / name).unlink()
            else:
                repo.write(name, text)
        repo.write("app.py", f"# {number}\n")
        repo.commit(f"Commit {number}")
    return repo


def policy(terminal: Terminal) -> dict[str, Any]:
    done = terminal.review("--json")
    facts: dict[str, Any] = json.loads(done.out)["policy"]
    return facts


def members(facts: dict[str, Any]) -> list[str]:
    return [each["id"] for each in facts["roster"]["advisors"]]


def test_the_roster_is_that_of_the_base(terminal: Terminal) -> None:
    committed(terminal, {f"{FOLDER}/data.md": DATA}, {})
    assert members(policy(terminal)) == [ADR_ADVISOR.id, "dataSteward"]


def test_every_declared_member_judges(terminal: Terminal) -> None:
    committed(terminal, {f"{FOLDER}/data.md": DATA}, {})
    done = terminal.review()
    assert (done.code, done.out.splitlines()[0]) == (0, "APPROVED")
    assert "dataSteward answered" in done.err.replace("post_verify/", "")


@pytest.mark.parametrize(
    "before,after",
    [({}, {f"{FOLDER}/yes.md": DATA}), ({f"{FOLDER}/data.md": DATA}, {f"{FOLDER}/data.md": WEAKER})],
    ids=["adds one", "weakens one"],
)
def test_a_change_of_the_declared_advisors_is_watched_and_does_not_take_effect_on_itself(
    terminal: Terminal, before: dict[str, str | None], after: dict[str, str | None]
) -> None:
    committed(terminal, before, after)
    facts = policy(terminal)
    assert (facts["guard"]["paths"], facts["blast"]["radius"]) == (list(after), "high")
    assert [each["weight"] for each in facts["roster"]["advisors"]] == [1.0] * (1 + len(before))


def test_a_link_in_the_place_of_the_folder_at_the_base_is_refused(terminal: Terminal) -> None:
    (terminal.folder / "elsewhere" / "advisors").mkdir(parents=True)
    (terminal.folder / ".review-advisor").symlink_to("elsewhere")
    committed(terminal, {"elsewhere/advisors/a.md": DATA}, {})
    done = terminal.review()
    assert (done.code, done.sentence.partition(". ")[0]) == (
        2,
        ".review-advisor: it is not a folder, and links are not followed",
    )
    assert terminal.run("config", "check").code == 2


def test_mistakes_at_the_base_are_a_refusal_that_names_the_file_and_the_commit(terminal: Terminal) -> None:
    repo = committed(terminal, {f"{FOLDER}/a.md": DATA.replace("on:", "onn:")}, {})
    done = terminal.review()
    mistake = f"{FOLDER}/a.md: unknown key 'onn'; did you mean 'on'?"
    mend = (
        f" This is the file at the base, {repo.rev('HEAD~1')[:12]}: mend it there, or name another one with --config."
    )
    assert (done.code, done.sentence) == (2, mistake + mend)


def test_check_names_every_mistake_of_the_working_trees_files_together(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    assert terminal.run("config", "check").code == 0
    repo.write(f"{FOLDER}/a.md", DATA)
    assert terminal.run("config", "check").code == 0
    repo.write(f"{FOLDER}/b.md", "---\nid: dataStewart\nweight: 3\n---\n")
    repo.write(f"{FOLDER}/optional/c.json", json.dumps({"id": ADR_ADVISOR.id, "veto": False}))
    repo.write(f"{FOLDER}/team/d.md", DATA)
    done = terminal.run("config", "check")
    assert done.code == 2
    for words in (
        "did you mean 'dataSteward'?",
        "optional/c.json: 'hydraflow-review-advisor' is a member",
        "team/d.md",
    ):
        assert words in done.sentence


def test_check_names_the_mistakes_of_the_own_map_and_show_says_what_a_path_asks_for(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write(f"{FOLDER}/optional/data.md", DATA)
    rule = '[[map]]\npaths = ["/db/"]\nadvisors = ["dataSteward"]\nlenses = ["sql"]\n'
    repo.write(LENS_MAP, rule.replace("Steward", "Stewart"))
    done = terminal.run("config", "check")
    assert (done.code, done.sentence[: len(LENS_MAP) + 8]) == (2, f"{LENS_MAP}, rule 1")
    assert "did you mean 'dataSteward'?" in done.sentence
    repo.write(LENS_MAP, rule)
    assert terminal.run("config", "check").code == 0
    applies = terminal.run("config", "show", "--for", "db/a.py").out
    assert (
        "advisor dataSteward = votes in post-verify, weight 1, no veto, dissenting"
        f"  # {FOLDER}/optional/data.md, {LENS_MAP}" in applies
    )
    assert "blind spot = no advisor has the lens sql, for db/a.py" in applies
    assert "dataSteward" not in terminal.run("config", "show", "--for", "app.py").out


def test_show_and_doctor_say_who_advises_and_where_that_stands(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write(f"{FOLDER}/data.md", DATA)
    repo.write(".review-advisor.toml", '[advisors]\npreset = "security"\n')
    shown = terminal.run("config", "show").out.splitlines()
    assert f'dataSteward = "votes in post-verify, weight 1, no veto"  # {FOLDER}/data.md' in shown
    assert 'securityArchitect = "votes in post-verify, weight 1, veto"  # the preset' in shown
    assert any(line.startswith(f"{ADR_ADVISOR.id} = ") and line.endswith("# ADR-0059") for line in shown)
    told = json.loads(terminal.run("config", "show", "--json").out)
    assert list(told["roster"])[-1] == "dataSteward"
    assert told["sources"]["roster"]["dataSteward"] == f"{FOLDER}/data.md"
    applies = terminal.run("config", "show", "--for", "app.py").out
    assert f"advisor dataSteward = votes in post-verify, weight 1, no veto  # {FOLDER}/data.md" in applies
    (row,) = (line for line in terminal.run("doctor").out.splitlines() if " advisors " in line)
    assert row.endswith(f"securityArchitect (shipped), abuseAnalyst (shipped), dataSteward ({FOLDER}/data.md)")


def test_without_declared_advisors_doctor_and_the_path_say_nothing_of_them(terminal: Terminal) -> None:
    assert " advisors " not in terminal.run("doctor").out
    assert "advisor " not in terminal.run("config", "show", "--for", "app.py").out
