"""``init``: what it writes into a repository, and everything that it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.adapters.command_line import Done, Terminal, project

from review_advisor.app.init import WORKFLOW_FILE, config_text, drift, published_commit, repository_of, workflow_text
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.settings import CONFIG_FILE, BudgetConfig, Config, parse_config, without_links

COMMIT = "0123456789" * 4
ACTION = f"some-owner/review-advisor@{COMMIT}"


def init(terminal: Terminal, *words: str | Path) -> Done:
    return terminal.run("init", "--ref", ACTION, *words)


def test_a_repository_gets_the_workflow_and_the_configuration(terminal: Terminal) -> None:
    done = init(terminal)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:2] == [f"wrote        {WORKFLOW_FILE}", f"wrote        {CONFIG_FILE}"]
    workflow = yaml.safe_load((terminal.folder / WORKFLOW_FILE).read_text())
    used = {step["uses"] for job in workflow["jobs"].values() for step in job["steps"]}
    assert ACTION in used
    assert terminal.run("config", "check").out == f"{CONFIG_FILE}: ok\n"


def test_it_says_what_is_left_to_do(terminal: Terminal) -> None:
    said = init(terminal).out
    for needed in (
        "ANTHROPIC_API_KEY",
        "ruleset",
        "GitHub App",
        "doctor --github",
        "self_settle",
        "review --base origin/main --gate",
    ):
        assert needed in said


def test_a_dry_run_shows_every_line_and_writes_nothing(terminal: Terminal) -> None:
    before = sorted(terminal.folder.rglob("*"))
    done = init(terminal, "--dry-run")
    assert done.code == 0
    assert f"would write  {WORKFLOW_FILE}\n" in done.out
    for text in (workflow_text(ACTION), config_text()):
        assert all(f"    {line}\n" in done.out for line in text.splitlines() if line)
    assert sorted(terminal.folder.rglob("*")) == before


@pytest.mark.parametrize("path", [WORKFLOW_FILE, CONFIG_FILE])
def test_what_is_there_is_left_as_it_is(terminal: Terminal, path: str) -> None:
    file = terminal.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# mine\n")
    done = init(terminal)
    assert done.code == 0
    assert f"left         {path}: there is one already\n" in done.out
    assert file.read_text() == "# mine\n"


def test_a_table_in_pyproject_is_not_silenced_by_a_new_file(terminal: Terminal) -> None:
    (terminal.folder / "pyproject.toml").write_text('[tool.review-advisor]\nfail_on = "degraded"\n')
    done = init(terminal)
    assert done.code == 0
    assert f"left         {CONFIG_FILE}: pyproject.toml has a table" in done.out
    assert not (terminal.folder / CONFIG_FILE).exists()


@pytest.mark.parametrize("link", [".github", ".github/workflows"])
@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_nothing_is_written_through_a_symbolic_link(
    terminal: Terminal, tmp_path: Path, link: str, words: list[str]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (terminal.folder / link).parent.mkdir(exist_ok=True)
    (terminal.folder / link).symlink_to(outside)
    done = init(terminal, *words)
    assert done.code == 2
    assert f"REFUSED      {WORKFLOW_FILE}: {link} is a symbolic link\n" in done.out
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", [WORKFLOW_FILE, CONFIG_FILE])
def test_a_link_in_the_place_of_a_file_is_left_and_not_followed(terminal: Terminal, tmp_path: Path, path: str) -> None:
    aim = tmp_path / "aim"
    (terminal.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (terminal.folder / path).symlink_to(aim)
    assert f"left         {path}: there is one already\n" in init(terminal).out
    assert not aim.exists()


def test_a_subfolder_means_the_repository_around_it(terminal: Terminal) -> None:
    (terminal.folder / "inner").mkdir()
    assert init(terminal, "--repo", terminal.folder / "inner").code == 0
    assert (terminal.folder / WORKFLOW_FILE).is_file()
    assert list((terminal.folder / "inner").iterdir()) == []


def test_outside_a_repository_nothing_is_written(terminal: Terminal, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = init(terminal, "--repo", elsewhere)
    assert (done.code, done.sentence) == (2, f"{elsewhere} is not in a git repository.")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "ref",
    ["some-owner/review-advisor@v1", "some-owner/review-advisor@0123456", COMMIT, f"a/b@{COMMIT}\n  - run: x", "x"],
)
def test_only_a_whole_commit_is_pinned(terminal: Terminal, ref: str) -> None:
    done = terminal.run("init", "--ref", ref)
    assert (done.code, done.sentence.startswith("--ref takes OWNER/REPOSITORY@COMMIT")) == (2, True)
    assert not (terminal.folder / ".github").exists()


# --- where the action comes from when nobody says --------------------------------------------------------------------


def test_a_published_checkout_pins_its_commit(tmp_path: Path) -> None:
    checkout = project(tmp_path / "checkout")
    head = checkout.git("rev-parse", "HEAD").decode().strip()
    checkout.git("remote", "add", "origin", "git@github.com:some-owner/review-advisor.git")
    assert published_commit(checkout.path) == (None, ""), "nobody else can fetch a commit that was not pushed"
    checkout.git("update-ref", "refs/remotes/origin/main", head)
    assert published_commit(checkout.path) == ("some-owner/review-advisor", head)


def test_what_is_no_checkout_pins_nothing(tmp_path: Path) -> None:
    assert published_commit(tmp_path) == (None, "")


@pytest.mark.parametrize(
    "url,repository",
    [
        ("https://github.com/a/b.git", "a/b"),
        ("https://x:token@ghe.example.com/a/b", "a/b"),
        ("git@github.com:a/b.git", "a/b"),
        ("ssh://git@github.com/a/b.git", "a/b"),
        ("file:///srv/a/b", None),
        ("../a/b", None),
        ("https://example.com/x/a/b", None),
        ("", None),
    ],
)
def test_the_repository_is_read_from_a_remote(url: str, repository: str | None) -> None:
    assert repository_of(url) == repository


# --- the configuration -----------------------------------------------------------------------------------------------


def test_an_approval_that_nobody_judged_does_not_pass_the_check_that_init_sets_up() -> None:
    assert parse_config(config_text(), CONFIG_FILE) == Config(fail_on="degraded")
    assert parse_config(config_text(shadow=True), CONFIG_FILE) == Config(fail_on="degraded", mode="shadow")


def test_every_line_without_its_mark_is_the_default() -> None:
    text = "\n".join(line.removeprefix("#") if line[:2] != "# " else line for line in config_text().splitlines())
    assert text != config_text()
    assert parse_config(text, CONFIG_FILE) == Config(fail_on="degraded")


def test_every_setting_is_explained() -> None:
    text = config_text()
    for table in (Config, BudgetConfig, PublicationRules):
        for name, field in table.model_fields.items():
            assert f"# {without_links(field.description or '')}\n" in text
            assert name in text


@pytest.mark.parametrize("words", [(), ("--shadow",), ("--evaluation",), ("--agent", "claude-code")])
def test_no_file_of_a_stranger_points_to_a_page_that_it_does_not_have(
    terminal: Terminal, words: tuple[str, ...]
) -> None:
    before = set(terminal.folder.rglob("*"))
    done = terminal.run("init", *words) if "--agent" in words else init(terminal, *words)
    assert done.code == 0
    written = {path for path in set(terminal.folder.rglob("*")) - before if path.is_file()}
    assert written
    assert [path.name for path in written if "](" in path.read_text(encoding="utf-8")] == []
    assert "](" not in terminal.run("config", "schema").out


def test_a_team_begins_in_shadow_mode(terminal: Terminal) -> None:
    """The workflow is the same; the configuration also sets the mode."""
    done = init(terminal, "--shadow")
    assert (terminal.folder / WORKFLOW_FILE).read_text() == workflow_text(ACTION)
    assert parse_config((terminal.folder / CONFIG_FILE).read_text(), CONFIG_FILE) == Config(
        fail_on="degraded", mode="shadow"
    )
    assert "Require neither that check nor review-advisor" in done.out
    assert "The mode is shadow: nothing is enforced." in terminal.run("doctor").out


def test_without_it_shadow_mode_is_offered_and_not_set(terminal: Terminal) -> None:
    assert "init --shadow" in init(terminal).out
    assert "mode is shadow" not in terminal.run("doctor").out


@pytest.mark.parametrize("there", ["", "mode = 'enforce'\n"])
def test_shadow_mode_is_not_written_into_a_configuration_that_is_there(terminal: Terminal, there: str) -> None:
    (terminal.folder / CONFIG_FILE).write_text(there)
    done = init(terminal, "--shadow")
    assert (terminal.folder / CONFIG_FILE).read_text() == there
    assert 'write mode = "shadow" into it yourself' in done.out


def test_shadow_mode_is_no_matter_of_an_agent(terminal: Terminal) -> None:
    done = terminal.run("init", "--agent", "claude-code", "--shadow")
    assert (done.code, "--agent excludes --ref, --shadow and --evaluation" in done.err) == (2, True)


# --- drift -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def workflow(terminal: Terminal) -> Path:
    init(terminal)
    return terminal.folder / WORKFLOW_FILE


def told(terminal: Terminal) -> tuple[bool, str]:
    rows = json.loads(terminal.run("doctor", "--json").out)["checks"]
    return next((row["ok"], row["says"]) for row in rows if row["name"] == "workflow")


def test_a_workflow_as_it_was_written_has_not_drifted(terminal: Terminal, workflow: Path) -> None:
    assert told(terminal) == (True, f"{WORKFLOW_FILE} is the one that `init` writes")


def test_doctor_names_the_lines_that_are_others(terminal: Terminal, workflow: Path) -> None:
    lines = workflow.read_text().splitlines(keepends=True)
    changed = next(number for number, line in enumerate(lines) if "timeout-minutes: 10" in line)
    lines[changed] = lines[changed].replace("10", "360")
    lines.remove("permissions: {}\n")
    workflow.write_text("".join(lines))
    ok, says = told(terminal)
    assert not ok
    assert f"not as it was written: line {changed}; lines taken out: 1" in says
    assert [line[:7] for line in terminal.run("doctor").out.splitlines() if WORKFLOW_FILE in line] == ["ADVICE "]


@pytest.mark.parametrize("action", [f"fork/advisor@{'a' * 40}", f"some-owner/review-advisor@{'b' * 40} # v1.2.0"])
def test_another_commit_of_the_action_is_no_drift(action: str) -> None:
    assert drift(workflow_text(ACTION).replace(ACTION, action)) is None


def test_a_tag_in_its_place_is() -> None:
    assert drift(workflow_text(ACTION).replace(ACTION, "some-owner/review-advisor@v1")) is not None


def test_a_repository_without_the_workflow_has_no_row_for_it(terminal: Terminal) -> None:
    assert "workflow" not in terminal.run("doctor").out


def test_the_workflow_of_an_evaluation_runs_this_very_program(terminal: Terminal) -> None:
    first = terminal.run("init", "--evaluation", "--ref", ACTION)
    again = terminal.run("init", "--evaluation", "--ref", ACTION)

    repository, commit = ACTION.split("@")
    text = (terminal.folder / ".github" / "workflows" / "review-advisor-eval.yml").read_text(encoding="utf-8")
    assert (first.code, again.code) == (0, 0)
    assert "wrote        .github/workflows/review-advisor-eval.yml" in first.out
    assert "there is one already" in again.out
    assert (text.count(f"repository: {repository}\n"), text.count(f"ref: {commit}\n")) == (2, 2)
    assert "REVIEW_ADVISOR_" not in text
    assert not (terminal.folder / ".review-advisor.toml").exists()
