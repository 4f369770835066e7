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
    base = Repo(terminal.folder).rev("HEAD~1")[:12]
    broken = f"{CONFIG} is not valid TOML: Invalid value (at line 1, column 11)."
    mend = f" This is the file at the base, {base}: mend it there, or name another one with --config."
    assert (done.code, done.sentence) == (2, broken + mend)


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
    assert "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED = false  # HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED" in text


RULES = """\
critical_paths = ["src/api/"]
guideline_files = ["REVIEW.md", ".github/copilot-instructions.md"]
[[guidelines]]
paths = ["*.py"]
text = "No bare except."
[[guidelines]]
paths = ["*.py"]
file = "docs/gone.md"
"""


def with_rules(terminal: Terminal) -> str:
    """A repository with rules of its own, committed; one more is not. The commit's name."""
    repo = Repo(terminal.folder)
    for name in ("REVIEW.md", "src/api/REVIEW.md", "web/REVIEW.md", ".github/copilot-instructions.md", "AGENTS.md"):
        repo.write(name, f"the rules of {name}\n")
    repo.write(CONFIG, RULES)
    commit = repo.commit()
    repo.write("src/REVIEW.md", "not committed\n")
    return commit


def test_show_says_what_applies_to_a_path_and_where_each_of_it_comes_from(terminal: Terminal) -> None:
    head = f"HEAD {with_rules(terminal)[:12]}"
    assert terminal.run("config", "show", "--for", "src/api/users.py").out.splitlines() == [
        "src/api/users.py",
        "kind = code  # its name",
        f"critical path = src/api/  # {CONFIG}",
        "the bot's own path = no  # the self-modification guard",
        "excluded = no  # the default",
        "decision record = no  # the default",
        "compared as a picture = no  # the default",
        f"rules 1 = guidelines[1]  # {CONFIG}",
        f"rules 2 = src/api/REVIEW.md  # {head}",
        f"rules 3 = REVIEW.md  # {head}",
        f"rules 4 = .github/copilot-instructions.md  # {head}",
        f"rules = docs/gone.md is not applied: it does not exist at the base  # {head}",
    ]
    shown = json.loads(terminal.run("config", "show", "--for", "./web/REVIEW.md", "--json").out)
    assert shown["path"] == "web/REVIEW.md"
    told = {each["name"]: each["value"] for each in shown["applies"]}
    told_of = told["kind"], told["the bot's own path"], told["rules 1"]
    assert told_of == ("docs", "REVIEW.md", "web/REVIEW.md")


def test_show_says_whether_a_path_is_excluded_or_why_not(terminal: Terminal) -> None:
    def excluded(path: str) -> str:
        return terminal.run("config", "show", "--for", path).out.split("excluded = ")[1].split("\n")[0]

    left = "left unread unless it is added, deleted or renamed  # the default"
    assert excluded("web/package-lock.json") == f"package-lock.json: a lock file of npm, {left}"
    because = "it is a critical path or one that the guard watches"
    assert excluded("auth/uv.lock") == f"no: uv.lock matches, and {because}  # the default"
    assert excluded("web/app.js") == "no  # the default"
    (terminal.folder / CONFIG).write_text('exclude = ["made/"]\n', encoding="utf-8")
    assert excluded("made/a.py") == f"made/: a file, {left.replace('the default', CONFIG)}"
    assert excluded("uv.lock") == f"no  # {CONFIG}"


def test_doctor_names_the_rules_that_are_read_and_those_that_are_not(terminal: Terminal) -> None:
    with_rules(terminal)
    told = [line for line in terminal.run("doctor").out.splitlines() if "team rules" in line]
    assert told[0].startswith("ok       rules     team rules     .github/copilot-instructions.md, REVIEW.md, src/api/")
    assert told[0].endswith("not read, because `guideline_files` does not name them: AGENTS.md")
    assert told[1].startswith("ADVICE   rules     team rules     docs/gone.md is not read")


def test_doctor_says_where_rules_would_stand(terminal: Terminal) -> None:
    (row,) = (line for line in terminal.run("doctor").out.splitlines() if "team rules" in line)
    assert row.endswith("none: a REVIEW.md in the repository would hold your own rules for reviews")


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
        "repository": "ok",
        "environment": "ok",
        "claude": "MISSING",
        "credential": "MISSING",
        "ruff": "ok",
        "team": "ok",
        "recording": "ok",
    }
    assert "npm install --global @anthropic-ai/claude-code@" in done.out
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


def test_options_that_only_ci_uses_are_shown_with_all_others(terminal: Terminal) -> None:
    of_ci = ("--head SHA", "--memory WORD", "--settle SECONDS")
    shown, everything = terminal.run("review", "--help").out, terminal.run("review", "--help", "--all").out
    assert [option for option in of_ci if option in shown] == []
    assert [option for option in of_ci if option in everything] == list(of_ci)
    assert "--help --all" in shown
