"""The rules that keep a workflow with a credential safe on pull requests of strangers, each one shown to bite."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.project.workflow_files import (
    ACTION_FILE,
    PINNED,
    ROOT,
    Parsed,
    Runner,
    action_step,
    every_workflow,
    own_workflow,
    parsed,
    steps,
    strings,
    written_workflow,
)

from review_advisor.agents.recordings import RECORDINGS
from review_advisor.app.main import group
from review_advisor.github.actions import read_github
from review_advisor.github.commands import USAGE
from review_advisor.ledger.chain import LEDGER_FILE

REVIEWS = {"review.yml": own_workflow(), "written by init": written_workflow()}
CREDENTIAL = re.compile(r"\bsecrets\b|anthropic|claude|api[-_]key|oauth", re.IGNORECASE)
ONE_PLACE = "jobs.review.steps[1].with.anthropic-api-key"
STATE_KEY = "${{ secrets.REVIEW_ADVISOR_STATE_KEY }}"
"""No model credential: what is remembered is sealed with it, by the jobs that never read a change."""
PERMISSIONS = {
    "begin": {"contents": "read", "checks": "write", "pull-requests": "write"},
    "review": {"contents": "read", "issues": "read", "pull-requests": "read"},
    "publish": {"contents": "read", "checks": "write", "issues": "write", "pull-requests": "write"},
    "observe": {"contents": "read", "pull-requests": "read"},
}
TRIGGERS = {
    "pull_request_target": {
        "types": ["opened", "reopened", "synchronize", "ready_for_review", "labeled", "edited", "closed"]
    },
    "issue_comment": {"types": ["created"]},
    "merge_group": {"types": ["checks_requested"]},
}


# --- what holds for every workflow, and for the action ---------------------------------------------------------------


def permissions_on_top(document: Parsed) -> list[str]:
    return [] if document.get("permissions") == {} else ["permissions are not empty on top"]


def scripts_with_expressions(document: Parsed) -> list[str]:
    return [step["run"] for step in steps(document) if "${{" in step.get("run", "")]


def actions_not_pinned(document: Parsed) -> list[str]:
    pinned = re.compile(r"\./|[\w.-]+/[\w./-]+@[0-9a-f]{40}")
    return [step["uses"] for step in steps(document) if "uses" in step and not pinned.fullmatch(step["uses"])]


def credentials_left_in_checkouts(document: Parsed) -> list[str]:
    found = [step.get("with", {}) for step in steps(document) if step.get("uses", "").startswith("actions/checkout@")]
    return [f"checkout with {with_}" for with_ in found if with_.get("persist-credentials") is not False]


def jobs_without_an_end(document: Parsed) -> list[str]:
    most = 350 if document["name"] == "review-advisor evaluation" else 60
    return [name for name, job in document["jobs"].items() if not 0 < job.get("timeout-minutes", 0) <= most]


EVERYWHERE = [
    permissions_on_top,
    scripts_with_expressions,
    actions_not_pinned,
    credentials_left_in_checkouts,
    jobs_without_an_end,
]


@pytest.mark.parametrize("name", every_workflow())
@pytest.mark.parametrize("rule", EVERYWHERE)
def test_every_workflow_keeps_the_rules(name: str, rule: Callable[[Parsed], list[str]]) -> None:
    assert rule(parsed(every_workflow()[name])) == []


def test_the_action_keeps_those_that_concern_it() -> None:
    action = parsed(ACTION_FILE.read_text(encoding="utf-8"))
    assert scripts_with_expressions(action) == []
    assert actions_not_pinned(action) == []


# --- what holds for the workflow that reviews ------------------------------------------------------------------------


def other_permissions(document: Parsed) -> list[str]:
    return [name for name, job in document["jobs"].items() if job.get("permissions") != PERMISSIONS[name]]


def other_triggers(document: Parsed) -> list[str]:
    return [] if document["on"] == TRIGGERS else [str(document["on"])]


def checkouts_of_something_else(document: Parsed) -> list[str]:
    """Without a ``ref`` it is the commit that the workflow itself comes from, never the head of a pull request.

    Said by its name, actions/checkout 7 refuses it where it is the merge of a fork.
    """
    found = [step.get("with", {}) for step in steps(document) if step.get("uses", "").startswith("actions/checkout@")]
    others = [with_.keys() - {"fetch-depth", "persist-credentials"} for with_ in found]
    return [str(keys) for keys in others if keys]


def credentials_in_other_places(document: Parsed) -> list[str]:
    found = [w for w, text in strings(document) if CREDENTIAL.search(f"{w} {text}") and text != STATE_KEY]
    return [] if found == [ONE_PLACE] else found


def credentials_beside_a_writing_token(document: Parsed) -> list[str]:
    writing = [job for job in document["jobs"].values() if "write" in job["permissions"].values()]
    found = [text for job in writing for where, text in strings(job) if CREDENTIAL.search(f"{where} {text}")]
    return [text for text in found if text != STATE_KEY]


def state_key_beside_a_model(document: Parsed) -> list[str]:
    """The key is for `begin` and `publish`: a job in which a model reads a change never holds it."""
    given = [name for name, job in document["jobs"].items() for _, text in strings(job) if text == STATE_KEY]
    return [] if given == ["begin", "publish"] else given


def scripts_of_its_own(document: Parsed) -> list[str]:
    return [step["run"] for step in steps(document) if "run" in step]


def queues_that_strangers_reach(document: Parsed) -> list[str]:
    """Only behind ``begin``, which decides, may anything wait for or cancel anything."""
    jobs = document["jobs"]
    found = [name for name in ("concurrency",) if name in document] + ["begin"] * ("concurrency" in jobs["begin"])
    for name, started_by in (("review", "review-advisor"), ("publish", "review-advisor-publish")):
        group = (
            f"{started_by}-${{{{ needs.begin.outputs.review == 'true' && needs.begin.outputs.pull-request "
            "|| github.run_id }}"
        )
        found += [name] * (jobs[name].get("concurrency", {}).get("group") != group)
        found += [name] * (
            "begin" not in jobs[name]["needs"] or "needs.begin.outputs.review == 'true'" not in jobs[name]["if"]
        )
    return found


def cancelled_in_the_middle(document: Parsed) -> list[str]:
    """A push may end the review of the head before it. Writing is never cut off."""
    jobs = document["jobs"]
    pushes_only = "${{ github.event.action == 'synchronize' }}"
    found = ["review"] * (jobs["review"]["concurrency"].get("cancel-in-progress") != pushes_only)
    return found + ["publish"] * (jobs["publish"]["concurrency"].get("cancel-in-progress") is not False)


def reviews_that_may_stay_untold(document: Parsed) -> list[str]:
    condition = document["jobs"]["publish"]["if"]
    return [] if condition == "always() && needs.begin.outputs.review == 'true'" else [condition]


REVIEWING = [
    other_permissions,
    other_triggers,
    checkouts_of_something_else,
    credentials_in_other_places,
    credentials_beside_a_writing_token,
    state_key_beside_a_model,
    scripts_of_its_own,
    queues_that_strangers_reach,
    cancelled_in_the_middle,
    reviews_that_may_stay_untold,
]


@pytest.mark.parametrize("name", REVIEWS)
@pytest.mark.parametrize("rule", REVIEWING)
def test_the_reviewing_workflow_keeps_its_rules(name: str, rule: Callable[[Parsed], list[str]]) -> None:
    assert rule(parsed(REVIEWS[name])) == []


SABOTAGE = [
    (permissions_on_top, "permissions: {}", "permissions: read-all"),
    (actions_not_pinned, PINNED, "some-owner/review-advisor@v1"),
    (credentials_left_in_checkouts, "persist-credentials: false", "persist-credentials: true"),
    (jobs_without_an_end, "    timeout-minutes: 15\n", ""),
    (
        scripts_with_expressions,
        "      - uses: actions/checkout",
        "      - run: echo ${{ github.head_ref }}\n      - uses: x",
    ),
    (other_permissions, "      issues: read", "      checks: write"),
    (other_triggers, "types: [created]", "types: [created, edited]"),
    (checkouts_of_something_else, "fetch-depth: 0", "ref: ${{ github.event.pull_request.head.sha }}"),
    (checkouts_of_something_else, "fetch-depth: 0", "repository: ${{ github.event.pull_request.head.repo.full_name }}"),
    (
        credentials_in_other_places,
        "          step: begin",
        "          step: begin\n          token: ${{ secrets.APP }}",
    ),
    (credentials_in_other_places, "jobs:\n", "env:\n  KEY: ${{ secrets.ANTHROPIC_API_KEY }}\njobs:\n"),
    (credentials_beside_a_writing_token, "step: publish", "step: publish\n          anthropic-api-key: x"),
    (state_key_beside_a_model, "step: review", f"step: review\n          state-key: {STATE_KEY}"),
    (
        state_key_beside_a_model,
        f"          step: publish\n          state-key: {STATE_KEY}\n",
        "          step: publish\n",
    ),
    (scripts_of_its_own, "      - uses: actions/checkout", "      - run: make install\n      - uses: x"),
    (queues_that_strangers_reach, "permissions: {}", "permissions: {}\nconcurrency: all"),
    (queues_that_strangers_reach, "  begin:\n", "  begin:\n    concurrency: all\n"),
    (queues_that_strangers_reach, "    if: needs.begin.outputs.review == 'true'", "    if: success()"),
    (cancelled_in_the_middle, "cancel-in-progress: false", "cancel-in-progress: true"),
    (reviews_that_may_stay_untold, "always() && ", ""),
]


@pytest.mark.parametrize("rule,before,after", SABOTAGE)
def test_each_rule_notices_its_fault(rule: Callable[[Parsed], list[str]], before: str, after: str) -> None:
    text = written_workflow()
    assert before in text
    assert rule(parsed(text.replace(before, after, 1)))


def test_every_rule_is_shown_to_notice_a_fault() -> None:
    assert {rule for rule, _, _ in SABOTAGE} == {*EVERYWHERE, *REVIEWING}


def test_this_repository_runs_what_init_writes() -> None:
    """The only differences: the action of this very commit, and the checkout that brings it."""
    own, written = parsed(own_workflow()), parsed(written_workflow())
    for name, job in own["jobs"].items():
        if name not in ("review", "observe"):
            checkout = job["steps"].pop(0)
            assert checkout["uses"].startswith("actions/checkout@")
    text = str(own).replace("'./'", f"'{PINNED}'")
    assert text == str(written)


def test_workflow_and_action_speak_of_the_same_things() -> None:
    action = parsed(ACTION_FILE.read_text(encoding="utf-8"))
    workflow = parsed(written_workflow())
    given = {key for step in steps(workflow) if step["uses"] == PINNED for key in step["with"]}
    assert given - action["inputs"].keys() == set()
    asked = set(re.findall(r"steps\.advisor\.outputs\.([\w-]+)", written_workflow()))
    assert action["outputs"].keys() - asked == {"sarif", "sarif-ref"}  # of a step that one adds (docs/github.md)
    produced = set(re.findall(r"needs\.(?:begin|review)\.outputs\.([\w-]+)", written_workflow()))
    assert produced == asked


# --- which events start anything -------------------------------------------------------------------------------------


def starts(job: str, event: str, payload: dict[str, Any]) -> bool:
    """Whether the condition of a job holds: GitHub's expression, read as Python's."""

    class Context(dict[str, Any]):
        def __missing__(self, key: str) -> Context:
            return Context()

        def __getattr__(self, key: str) -> Any:
            value = self[key]
            return Context(value) if isinstance(value, dict) else value

    condition = parsed(written_workflow())["jobs"][job]["if"]
    python = condition.replace("&&", " and ").replace("||", " or ").replace("\n", " ")
    github = Context(event_name=event, event=payload)
    return bool(eval(python, {"__builtins__": {}}, {"github": github, "contains": lambda text, part: part in text}))


PULL_REQUEST = {"number": 7}
EVENTS = [
    ("pull_request_target", {"action": "opened"}, True),
    ("pull_request_target", {"action": "synchronize"}, True),
    ("pull_request_target", {"action": "labeled"}, True),
    ("pull_request_target", {"action": "edited", "changes": {"title": {"from": "x"}}}, False),
    ("pull_request_target", {"action": "edited", "changes": {"base": {"ref": {"from": "main"}}}}, True),
    ("issue_comment", {"issue": {"pull_request": PULL_REQUEST}, "comment": {"body": "/advisor review"}}, True),
    ("issue_comment", {"issue": {"pull_request": PULL_REQUEST}, "comment": {"body": "thank you"}}, False),
    ("issue_comment", {"issue": {}, "comment": {"body": "/advisor review"}}, False),
    ("merge_group", {"action": "checks_requested"}, True),
    ("pull_request_target", {"action": "closed"}, False),
]


@pytest.mark.parametrize("event,payload,wanted", EVENTS)
def test_what_starts_the_first_job(event: str, payload: dict[str, Any], wanted: bool) -> None:
    assert starts("begin", event, payload) is wanted
    assert starts("observe", event, payload) is (payload.get("action") == "closed")


# --- the action's steps, run -----------------------------------------------------------------------------------------


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    made.prepare()
    return made


def installed(runner: Runner, code: int) -> Path:
    """In place of the installed product: what it was called with is written down, and it ends with a code."""
    heard = runner.folder / "heard"
    python = runner.temporary / "review-advisor" / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {heard}\nenv > {heard}.env\nexit {code}\n')
    python.chmod(0o755)
    return heard


@pytest.mark.parametrize("code,job", [(0, 0), (10, 0), (11, 0), (12, 0), (1, 1), (2, 2), (130, 130), (143, 143)])
def test_a_verdict_never_fails_the_job_and_everything_else_does(runner: Runner, code: int, job: int) -> None:
    installed(runner, code)
    assert runner.run(action_step("Review"), {"pull-request": "7"}).returncode == job


@pytest.mark.parametrize("wanted", ["true", "", "false", "; touch pwned"])
def test_sarif_is_about_the_head_and_only_on_request(runner: Runner, wanted: str) -> None:
    """Under pull_request_target the run's own ref is the base's, and code scanning would look there."""
    heard = installed(runner, 0)
    log = runner.temporary / "review-advisor" / "findings.sarif"
    log.write_text("{}")
    values = {"pull-request": "octo/demo#7", "head-sha": "a" * 40, "sarif": wanted}
    assert runner.run(action_step("Publish"), values).returncode == 0
    output = runner.folder / "output"
    told = output.read_text().splitlines() if output.exists() else []
    assert told == ([f"sarif={log}", "sarif-ref=refs/pull/7/head"] if wanted == "true" else [])
    assert ("--sarif" in heard.read_text().splitlines()) == (wanted == "true")


@pytest.mark.parametrize("name", ["Review", "Publish"])
def test_inputs_are_data_and_never_commands(runner: Runner, name: str) -> None:
    installed(runner, 0)
    hostile = '7"; touch broken; $(touch broken) `touch broken`'
    runner.run(
        action_step(name), dict.fromkeys(("pull-request", "head-sha", "asked", "token", "memory", "state-key"), hostile)
    )
    assert list(runner.workspace.iterdir()) == []


GIVEN = {
    "pull-request": "octo/demo#7",
    "head-sha": "a" * 40,
    "anthropic-api-key": "k",
    "token": "t",
    "memory": "noted-1",
    "state-key": "s",
}


def test_the_review_gets_the_credential_and_the_token(runner: Runner) -> None:
    heard = installed(runner, 0)
    assert runner.run(action_step("Review"), GIVEN).returncode == 0
    words = heard.read_text().splitlines()
    assert words[:8] == ["-I", "-m", "review_advisor", "review", "--pr", "octo/demo#7", "--head", "a" * 40]
    assert words[words.index("--memory") + 1] == "noted-1"
    assert words[words.index("--output") + 1] == str(runner.temporary / "review-advisor" / "outcome.json")
    environment = Path(f"{heard}.env").read_text().splitlines()
    assert {"ANTHROPIC_API_KEY=k", "GH_TOKEN=t"} <= set(environment)
    assert not any(each.startswith("REVIEW_ADVISOR_STATE_KEY") for each in environment)


@pytest.mark.parametrize("name", ["Read what the event asks for", "Review", "Publish", "Observe what became of it"])
def test_the_token_that_is_given_is_the_one_that_is_used(name: str) -> None:
    """A job may have tokens of its own in its environment; a step's variable hides the job's of that name only."""
    given = {key: "given" for key, value in action_step(name)["env"].items() if value == "${{ inputs.token }}"}
    jobs = {"GITHUB_TOKEN": "the job's", "GH_TOKEN": "the job's"}
    assert read_github({**jobs, **given}).token == "given"


@pytest.mark.parametrize("asked,words", [("true", ["--asked"]), ("false", []), ("", []), ("--sarif", [])])
def test_publish_gets_no_model_credential(runner: Runner, asked: str, words: list[str]) -> None:
    heard = installed(runner, 0)
    assert runner.run(action_step("Publish"), {**GIVEN, "asked": asked}).returncode == 0
    outcome = str(runner.temporary / "review-advisor" / "fetched" / "outcome.json")
    said = ["publish", outcome, "--pr", "octo/demo#7", "--head", "a" * 40, *words]
    assert heard.read_text().splitlines()[3:] == said
    assert "ANTHROPIC" not in Path(f"{heard}.env").read_text()


def test_a_publish_that_fails_fails_its_job(runner: Runner) -> None:
    installed(runner, 12)
    assert runner.run(action_step("Publish"), GIVEN).returncode == 12


@pytest.mark.parametrize("name", ["Read what the event asks for", "Review", "Publish", "Observe what became of it"])
def test_the_command_line_knows_what_the_action_says(name: str) -> None:
    script = action_step(name)["run"]
    verb = re.search(r"-m review_advisor (\w+)", script)
    assert verb
    known = {option for parameter in group.commands[verb[1]].params for option in parameter.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", script)) - known == set()


def test_only_the_step_that_reviews_gets_the_credential() -> None:
    action = parsed(ACTION_FILE.read_text(encoding="utf-8"))
    found = {where for where, text in strings(action["runs"]) if re.search(r"inputs\.(anthropic|claude)", text)}
    number = next(n for n, step in enumerate(steps(action)) if step["name"] == "Review")
    names = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")
    assert found == {f"steps[{number}].env.{name}" for name in names}


def test_the_ledger_that_is_kept_is_the_one_that_the_review_writes(runner: Runner) -> None:
    words = installed(runner, 0)
    runner.run(action_step("Review"), GIVEN)
    said = words.read_text().splitlines()
    written = Path(said[said.index("--artifacts") + 1]).relative_to(runner.temporary) / LEDGER_FILE
    kept = action_step("Keep the ledger of this run")
    assert kept["with"]["path"] == f"${{{{ runner.temp }}}}/{written}*", "with what a killed process left beside it"
    assert kept["if"] == "always() && (inputs.step == 'review' || inputs.step == 'observe')"
    assert kept["continue-on-error"] is True


def test_what_observes_is_given_the_event_and_keeps_its_ledger_in_the_same_place(runner: Runner) -> None:
    words = installed(runner, 0)
    assert runner.run(action_step("Observe what became of it"), GIVEN).returncode == 0
    said = words.read_text().splitlines()
    assert said[3:6] == ["observe", "--event", str(runner.folder / "event.json")]
    written = Path(said[said.index("--ledger") + 1]).relative_to(runner.temporary)
    assert action_step("Keep the ledger of this run")["with"]["path"] == f"${{{{ runner.temp }}}}/{written}*"
    assert "ANTHROPIC" not in Path(f"{words}.env").read_text()


def test_a_step_that_does_not_exist_is_refused(runner: Runner) -> None:
    done = runner.run(action_step("Refuse a step that does not exist"), {})
    assert (done.returncode, done.stdout) == (
        2,
        "::error::The input 'step' must be begin, review, publish or observe.\n",
    )


# --- the page about it ------------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("job", PERMISSIONS)
def test_the_page_says_what_each_job_may_do(job: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{job}` |"))
    granted = ", ".join(f"`{name}: {level}`" for name, level in PERMISSIONS[job].items())
    assert row.split(" | ")[2] == granted
    assert row.split(" | ")[3].startswith("yes" if job == "review" else "no")


def test_the_action_says_which_step_takes_each_input() -> None:
    """The page links to it instead of a table of its own."""
    inputs = parsed(ACTION_FILE.read_text(encoding="utf-8"))["inputs"]
    of_steps = {name: told["description"] for name, told in inputs.items() if name != "step"}
    steps = re.findall(r"`(\w+)`", inputs["step"]["description"])
    assert [name for name, told in of_steps.items() if not any(f"`{step}`" in told for step in steps)] == []
    assert "](../action.yml)" in PAGE


def test_the_page_names_every_command() -> None:
    named = re.findall(r"^\| `(/advisor [^`]+)` \|", PAGE.partition("| command |")[2], re.MULTILINE)
    assert named == list(USAGE)


def test_the_page_says_how_long_the_outcome_is_kept() -> None:
    assert action_step("Keep the outcome for the job that publishes it")["with"]["retention-days"] == 3
    assert "as an artifact for three days" in PAGE


def uploads() -> list[Parsed]:
    """What each upload of a workflow or the action takes along."""
    documents = [*every_workflow().values(), ACTION_FILE.read_text(encoding="utf-8")]
    found = (step for text in documents for step in steps(parsed(text)))
    return [step["with"] for step in found if "upload-artifact" in step.get("uses", "")]


def test_no_upload_takes_recordings_along() -> None:
    """An upload leaves folders out that begin with a dot, unless it asks for them, and none names theirs."""
    assert RECORDINGS.startswith(".")
    assert len(uploads()) >= 2
    for upload in uploads():
        assert "include-hidden-files" not in upload
        assert RECORDINGS not in upload["path"]
