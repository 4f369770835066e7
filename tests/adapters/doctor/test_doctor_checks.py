"""``doctor --fit`` and ``doctor --security``: each line is a check that can fail, with its remedy."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dashboard_ledger import fill
from tests.adapters.command_line import CLAUDE, Done, Terminal, fake_claude
from tests.adapters.git_repository import Repo
from tests.adapters.ledgers import five, record

from review_advisor.agents import claude_argv as argv
from review_advisor.app import doctor as security
from review_advisor.app.agent_choice import repository_top
from review_advisor.app.doctor import examine_fit

PASSING = {"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO": "on"}
LONG = "Zq7_pX2-mW9kLv4TbN8sYd3R"


def words(done: Done) -> dict[str, str]:
    """What is said of each check, in a word."""
    return {
        check["name"]: {True: "ok", False: "failed", None: "-"}[check["ok"]] for check in json.loads(done.out)["checks"]
    }


def says(done: Done, name: str) -> str:
    (check,) = (each for each in json.loads(done.out)["checks"] if each["name"] == name)
    return str(check["says"])


def secured(terminal: Terminal, claude: Path, **env: str) -> Done:
    return terminal.run("doctor", "--security", "--json", "--claude-bin", claude, env={**PASSING, **env})


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    return fake_claude(tmp_path / "installed")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some reviews of the spring of 2026."""
    ledger = tmp_path_factory.mktemp("kept") / "ledger.sqlite3"
    fill(ledger, 30)
    return ledger


def test_a_safe_setup_passes_every_check(terminal: Terminal, claude: Path) -> None:
    Repo(terminal.folder).write(".review-advisor.toml", "[github]\nrepository_day_usd = 20\n")
    done = secured(terminal, claude, SOME_API_KEY=LONG)
    assert set(words(done).values()) == {"ok"}
    assert done.code == 0


@pytest.mark.parametrize(
    "name, setup, remedy",
    [
        ("secrets", ({"DEPLOY_TOKEN": "production"}, ""), "use long random secrets"),
        ("judgement", ({"HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED": "off"}, ""), "remove the variable"),
        ("judgement", ({"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "off"}, ""), "remove the variable"),
        (
            "judgement",
            ({"HYDRAFLOW_PR_REVIEW_ADVISOR_ENABLED": "off"}, ""),
            "HYDRAFLOW_PR_REVIEW_ADVISOR_ENABLED is off",
        ),
        (
            "judgement",
            ({"HYDRAFLOW_VISUAL_GATE_ADVISOR_ENABLED": "off"}, ""),
            "HYDRAFLOW_VISUAL_GATE_ADVISOR_ENABLED is off",
        ),
        ("outage", ({"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO": ""}, ""), 'fail_on = "degraded"'),
        ("own work", ({}, '[github]\nself_settle = "admins"\n'), 'github.self_settle = "never"'),
        ("settings", ({}, "unknown = 1\n"), "unknown key"),
    ],
)
def test_a_weak_setup_fails_one_check_and_reads_the_remedy(
    terminal: Terminal, claude: Path, name: str, setup: tuple[dict[str, str], str], remedy: str
) -> None:
    env, config = setup
    Repo(terminal.folder).write(".review-advisor.toml", config)
    done = secured(terminal, claude, **env)
    failed = [each for each, word in words(done).items() if word == "failed"]
    assert name in failed
    assert failed == [name] or name == "settings"
    assert remedy in says(done, name)
    assert done.code == 3


def test_a_configuration_that_calls_a_person_after_an_outage_passes(terminal: Terminal, claude: Path) -> None:
    Repo(terminal.folder).write(".review-advisor.toml", 'fail_on = "degraded"\n')
    done = terminal.run("doctor", "--security", "--json", "--claude-bin", claude)
    assert words(done)["outage"] == "ok"


def test_an_untested_cli_fails(terminal: Terminal, tmp_path: Path) -> None:
    newer = fake_claude(tmp_path, CLAUDE.replace("2.1.329", "2.1.999"))
    done = secured(terminal, newer)
    assert words(done)["claude CLI"] == "failed"
    assert "install that one" in says(done, "claude CLI")


def test_a_tool_that_runs_commands_would_be_noticed(
    terminal: Terminal, claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not argv.EVERY_TOOL & set(argv._NEVER)
    monkeypatch.setattr(security, "EVERY_TOOL", argv.EVERY_TOOL | {"Bash"})
    assert words(secured(terminal, claude))["tools"] == "failed"


def test_a_day_whose_money_nothing_bounds_is_said_without_github(terminal: Terminal, claude: Path) -> None:
    unbound = secured(terminal, claude)
    assert (words(unbound)["money"], unbound.code) == ("-", 0)
    assert says(unbound, "money") == "nothing warns of what reviews cost a day: set github.repository_day_usd."
    Repo(terminal.folder).write(".review-advisor.toml", "[github]\nrepository_day_usd = 20\n")
    assert "20.00 USD" in says(secured(terminal, claude), "money")


def test_branches_that_are_trusted_are_not_measured_here(terminal: Terminal, claude: Path) -> None:
    Repo(terminal.folder).write(".review-advisor.toml", '[github]\ntrusted_bases = ["release"]\n')
    done = secured(terminal, claude)
    assert (words(done)["bases"], done.code) == ("-", 0)


def test_no_value_of_a_secret_is_printed(terminal: Terminal, claude: Path) -> None:
    done = secured(terminal, claude, DEPLOY_TOKEN="sesameseed", SOME_API_KEY=LONG)
    assert "DEPLOY_TOKEN" in done.out
    assert "sesameseed" not in done.out
    assert LONG not in done.out


@pytest.mark.every_case
def test_fit_reads_the_last_three_months_of_the_ledger(shop: Path) -> None:
    found = {each.name: each for each in examine_fit(shop, datetime(2026, 7, 1, tzinfo=UTC))}
    assert found["time allows"].ok is False
    assert "times the executor's time, wanted < 1.50 x; people wait for the advisor" in found["time allows"].says
    assert found["not too hard"].ok is not None
    assert {each.ok for each in examine_fit(shop, datetime(2027, 7, 1, tzinfo=UTC))} == {None}


def test_fit_fails_nothing_where_too_little_is_known(terminal: Terminal) -> None:
    record(terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3", *five())
    done = terminal.run("doctor", "--fit", "--json")
    assert (set(words(done).values()), done.code) == ({"-"}, 0)


def test_fit_without_a_ledger_is_a_sentence(terminal: Terminal) -> None:
    assert terminal.run("doctor", "--fit").sentence.startswith("There is no ledger")


def test_outside_a_repository_no_agent_can_review(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal.run("doctor").out.splitlines()[-1] == "Agents that can review here: embedded"
    outside = terminal.run("doctor", cwd=tmp_path)
    assert (outside.code, outside.out.splitlines()[-1]) == (2, "Agents that can review here: none")
    assert f"repository     {tmp_path} is not in a git repository" in outside.out


def test_the_top_of_a_place_that_cannot_be_looked_into_is_the_place_itself(tmp_path: Path) -> None:
    beyond = tmp_path / ("a" * 300)  # no system has such a name, and says so by an error
    assert repository_top(beyond) == beyond
    Repo(tmp_path)
    assert repository_top(beyond) == tmp_path


def test_a_folder_above_is_a_repository_only_if_git_says_so(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "mine")
    shared = repo.path / "shared"
    work = shared / "work"
    work.mkdir(parents=True)
    (shared / ".git").mkdir()
    assert repository_top(work) == repo.path, "git passes over an empty folder, and goes on further up"
    (shared / ".git").rmdir()
    (shared / ".git").write_text("gitdir: nowhere\n")
    assert repository_top(work) == work, "git refuses"
