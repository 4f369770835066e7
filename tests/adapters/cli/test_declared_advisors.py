"""Declared advisors and prices at the command line: whose files hold, and what the verbs say of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.git_repository import Repo

from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import LENS_MAP, PRICES
from review_advisor.policy.prices import own_prices
from review_advisor.policy.roster import ADR_ADVISOR

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


@pytest.mark.one_in(2)
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


# --- prices ----------------------------------------------------------------------------------------------------------


def listed(model: str = "opus", rate: float = 5, more: str = "") -> str:
    rates = f"input = {rate}\noutput = {rate}\ncache_read = {rate}\ncache_write = {rate}\n"
    return f'[[prices]]\nmodel = "{model}"\nsince = 2026-01-01\n{rates}{more}'


DEAR = listed(rate=1_000_000)
CHEAP = listed(rate=0.001)


def test_the_prices_of_the_base_hold_and_the_review_records_which_they_were(terminal: Terminal) -> None:
    committed(terminal, {PRICES: DEAR}, {PRICES: CHEAP})
    done = terminal.review("--json")
    told = json.loads(done.out)
    assert told["events"][0]["priced_by"] == own_prices(BaseText(DEAR)).source
    assert told["policy"]["guard"]["paths"] == [PRICES], "the guard watches the change of prices"
    refused = [each for each in told["events"] if each["kind"] == "call_ended" and each["ended"] == "refused"]
    assert {each["reason"] for each in refused} == {"money"}, "by the base's price no call of the advisor can be paid"


def test_without_own_prices_the_shipped_ones_hold_and_nothing_names_others(terminal: Terminal) -> None:
    committed(terminal, {}, {PRICES: DEAR})
    told = json.loads(terminal.review("--json").out)
    assert (told["outcome"], told["events"][0]["priced_by"]) == ("approved", "")


def test_own_prices_add_no_advisor(terminal: Terminal) -> None:
    committed(terminal, {PRICES: CHEAP, f"{FOLDER}/data.md": DATA}, {})
    told = json.loads(terminal.review("--json").out)
    assert [each["id"] for each in told["policy"]["roster"]["advisors"]] == [ADR_ADVISOR.id, "dataSteward"]


@pytest.mark.parametrize(
    "text, says",
    [
        (listed(rate=0), "input and output cost at least 0.001; of a model that costs nothing say `free = true`"),
        (listed(rate=-1), "prices.0.input: should be at least 0."),
        (listed(rate=float("nan")), "prices.0.input: should be a finite number"),
        (listed(more="free = true\n"), "a model that is free has no rate but 0"),
        (listed() * 40_0, f"{PRICES} is longer than 32,000 characters."),
    ],
    ids=["0", "negative", "nan", "free at a price", "too long"],
)
def test_a_list_that_cannot_be_used_is_a_refusal_that_names_the_file_and_the_commit(
    terminal: Terminal, text: str, says: str
) -> None:
    repo = committed(terminal, {PRICES: text}, {})
    done = terminal.review()
    mend = f"This is the file at the base, {repo.rev('HEAD~1')[:12]}: mend it there"
    assert (done.code, done.sentence.startswith(PRICES), says in done.sentence) == (2, True, True), done.sentence
    assert mend in done.sentence
    checked = terminal.run("config", "check")
    assert (checked.code, says in checked.sentence) == (2, True)


def test_a_link_in_the_place_of_the_list_is_refused(terminal: Terminal) -> None:
    (terminal.folder / ".review-advisor").mkdir()
    (terminal.folder / PRICES).symlink_to("/etc/passwd")
    committed(terminal, {}, {})
    assert terminal.review().sentence.startswith(f"{PRICES}: it is a symbolic link.")
    assert terminal.run("config", "check").sentence.startswith(f"{PRICES}: it is a symbolic link.")


def test_show_and_doctor_name_the_list_and_say_which_model_no_limit_binds(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    assert "[prices]" not in terminal.run("config", "show").out
    repo.write(PRICES, listed() + listed("llama", 0, "free = true\n"))
    source = own_prices(BaseText((terminal.folder / PRICES).read_text())).source
    shown = terminal.run("config", "show").out.splitlines()
    assert f"opus since 2026-01-01 = [5.0, 5.0, 5.0, 5.0]  # {source}" in shown
    told = json.loads(terminal.run("config", "show", "--json").out)
    assert told["sources"]["prices"] == dict.fromkeys(told["prices"], source)
    (row,) = (line for line in terminal.run("doctor").out.splitlines() if " prices " in line)
    assert row.endswith(f"opus, llama: free, so no limit of money binds it ({source})")


def test_a_name_in_other_letters_is_told_to_be_read_by_nobody(terminal: Terminal) -> None:
    Repo(terminal.folder).write(PRICES.replace("prices", "Prices"), DEAR)
    checked = terminal.run("config", "check")
    assert (checked.code, f"files there are not read: the list of prices is {PRICES}" in checked.sentence) == (2, True)


def test_an_advisor_that_is_declared_twice_may_be_a_slip_and_passes_the_check(terminal: Terminal) -> None:
    for name in ("a", "b"):
        Repo(terminal.folder).write(f"{FOLDER}/{name}.md", DATA)
    done = terminal.run("config", "check")
    assert done.code == 0
    assert done.err.startswith(f"The advisor 'dataSteward' is declared 2 times, in {FOLDER}/a.md, {FOLDER}/b.md")
