"""``config``, ``doctor`` and ``--version``; and whose configuration judges a change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.adapters.command_line import Terminal, fake_claude
from tests.adapters.git_repository import Repo

from review_advisor import __version__

CONFIG = ".review-advisor.toml"


def rewrite(terminal: Terminal, before: str | None, after: str | None, name: str = CONFIG) -> None:
    """The base commit has one configuration, the change brings another."""
    repo = Repo(terminal.folder)
    for text, message in ((before, "The base"), (after, "The change")):
        if text is None:
            (terminal.folder / name).unlink(missing_ok=True)
        else:
            repo.write(name, text)
        repo.write("app.py", f"# {message}\n")
        repo.commit(message)


def reviewed(terminal: Terminal, *words: str) -> dict[str, Any]:
    done = terminal.review("--json", *words)
    document: dict[str, Any] = json.loads(done.out or "{}")
    return document | {"code": done.code}


def test_a_change_is_judged_under_the_bases_configuration(terminal: Terminal) -> None:
    """The guard holds as well: nobody loosens the rules in the change that they are to judge."""
    rewrite(terminal, 'critical_paths = ["app.py"]\n[budget]\nmax_usd = 7\n', "critical_paths = []\n")
    policy = reviewed(terminal)["policy"]
    assert policy["critical_touched"] == ["app.py"]
    assert (policy["guard"]["paths"], policy["blast"]["radius"]) == ([CONFIG], "high")


@pytest.mark.every_case
def test_without_the_change_of_rules_the_guard_does_not_hold(terminal: Terminal) -> None:
    rewrite(terminal, "fail_on = 'degraded'\n", "fail_on = 'degraded'\n")
    assert reviewed(terminal)["policy"]["guard"]["paths"] == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("after", ["profile = \n", "unknown = 1\n", "\xff", None])
def test_a_configuration_that_the_change_breaks_does_not_matter(terminal: Terminal, after: str | None) -> None:
    rewrite(terminal, "fail_on = 'degraded'\n", after)
    document = reviewed(terminal)
    assert document["policy"]["fail_on_degraded"] is True
    assert document["policy"]["guard"]["paths"] == [CONFIG]


def test_a_configuration_that_is_broken_at_the_base_is_a_refusal(terminal: Terminal) -> None:
    rewrite(terminal, "profile = \n", "profile = 'adr'\n")
    done = terminal.review()
    assert (done.code, done.sentence) == (2, f"{CONFIG} is not valid TOML: Invalid value (at line 1, column 11).")


@pytest.mark.every_case
def test_a_configuration_that_only_the_change_has_does_not_count_yet(terminal: Terminal) -> None:
    rewrite(terminal, None, 'critical_paths = ["app.py"]\n')
    assert reviewed(terminal)["policy"]["critical_touched"] == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "text,critical",
    [
        ('[tool.review-advisor]\ncritical_paths = ["app.py"]\n', ["app.py"]),
        ("[tool.other]\nx = 1\n", []),
        ("[tool.other\n", []),
    ],
)
def test_pyproject_configures_too(terminal: Terminal, text: str, critical: list[str]) -> None:
    rewrite(terminal, text, text, "pyproject.toml")
    assert reviewed(terminal)["policy"]["critical_touched"] == critical


def test_a_broken_pyproject_that_configures_us_is_a_refusal(terminal: Terminal) -> None:
    text = "[tool.review-advisor]\nfail_on = \n"
    rewrite(terminal, text, text, "pyproject.toml")
    done = terminal.review()
    assert (done.code, done.sentence.startswith("pyproject.toml is not valid TOML: ")) == (2, True)


def test_the_work_tree_decides_nothing(terminal: Terminal) -> None:
    (terminal.folder / CONFIG).write_text("unknown = 1\n")
    assert reviewed(terminal)["code"] == 0


# --- config show, check, schema -------------------------------------------------------------------


def test_show_prints_what_is_in_effect(terminal: Terminal) -> None:
    (terminal.folder / CONFIG).write_text('profile = "hydraflow"\n[budget]\nmax_usd = 7\n')
    switched = {"HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED": "Off", "HYDRAFLOW_REVIEW_ADVISOR_MODEL": "haiku"}
    shown = json.loads(terminal.run("config", "show", "--json", env=switched).out)
    assert shown["config"]["profile"] == "hydraflow"
    assert shown["config"]["budget"]["max_usd"] == 7
    assert shown["switches"]["HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED"] is False
    assert shown["models"]["pr_review"] == {"executor": "sonnet", "advisor": "haiku"}
    text = terminal.run("config", "show", env=switched).out.splitlines()
    assert text[0] == f"from {CONFIG} and the environment"
    assert "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED = false" in text


def test_check_says_where_the_settings_are_or_what_is_wrong(terminal: Terminal) -> None:
    assert terminal.run("config", "check").out == "no configuration file: defaults: ok\n"
    (terminal.folder / CONFIG).write_text("")
    assert terminal.run("config", "check").out == f"{CONFIG}: ok\n"
    (terminal.folder / CONFIG).write_text("shard_token = 3000\n")
    refused = terminal.run("config", "check")
    said = f"{CONFIG}: unknown key 'shard_token'; did you mean 'shard_tokens'?"
    assert (refused.code, refused.sentence) == (2, said)
    (terminal.folder / CONFIG).write_text("")
    refused = terminal.run("config", "check", env={"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "perhaps"})
    assert (refused.code, refused.sentence.partition(":")[0]) == (2, "HYDRAFLOW_REVIEW_ADVISOR_ENABLED is 'perhaps'")


def test_names_from_a_hostile_file_are_not_printed_raw(terminal: Terminal) -> None:
    (terminal.folder / CONFIG).write_text('"\\u001b[31m\\n::error::x" = 3\n')
    refused = terminal.run("config", "check")
    assert refused.code == 2
    assert "\x1b" not in refused.err
    assert not [line for line in refused.err.splitlines() if line.lstrip().startswith("::")]


def test_the_schemas_are_schemas_and_accept_the_defaults(terminal: Terminal) -> None:
    schema = json.loads(terminal.run("config", "schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(terminal.run("config", "show", "--json").out)["config"], schema)
    assert all(field.get("description") for field in schema["properties"].values())


# --- doctor and the rest --------------------------------------------------------------------------


def test_doctor_names_what_is_missing_and_how_to_get_it(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.run("doctor", "--claude-bin", tmp_path / "missing")
    assert done.code == 0
    rows = {line.split()[2]: line.split()[0] for line in done.out.splitlines()[:-2]}
    assert rows == {
        "git": "ok",
        "environment": "ok",
        "claude": "MISSING",
        "credential": "MISSING",
        "ruff": "ok",
    }
    assert "npm install @anthropic-ai/claude-code@" in done.out
    assert done.out.splitlines()[-1] == "Agents that can review here: embedded"


def test_doctor_finds_both_agents(terminal: Terminal, tmp_path: Path) -> None:
    claude = fake_claude(tmp_path)
    done = terminal.run("doctor", "--json", "--claude-bin", claude, env={"CLAUDE_CODE_OAUTH_TOKEN": "s3cret-value"})
    answer = json.loads(done.out)
    assert (done.code, answer["ready"]) == (0, ["claude", "embedded"])
    assert all(check["ok"] for check in answer["checks"])
    assert "s3cret-value" not in done.out


def test_doctor_ends_with_2_when_nobody_can_review(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = terminal.run("doctor", "--json", env={"PATH": str(tmp_path / "bin")})
    assert (done.code, json.loads(done.out)["ready"]) == (2, [])
    done = terminal.run("doctor", env={"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "perhaps"})
    assert (done.code, done.out.splitlines()[-1]) == (2, "Agents that can review here: none")


def test_version(terminal: Terminal) -> None:
    assert terminal.run("--version").out == f"review-advisor, version {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["review", "--help"], ["config", "--help"], ["demo", "-h"]])
def test_help_cuts_no_sentence_short(terminal: Terminal, words: list[str]) -> None:
    done = terminal.run(*words)
    assert done.code == 0
    assert "..." not in done.out.partition("\n")[2].replace("A...B", "")


def test_help_lists_every_exit_code(terminal: Terminal) -> None:
    shown = " ".join(terminal.run("--help").out.split())
    assert [code for code in ("0 ", "10 ", "11 ", "12 ", "2 ", "130 ", "143 ", "1 ") if f" {code}" not in shown] == []
