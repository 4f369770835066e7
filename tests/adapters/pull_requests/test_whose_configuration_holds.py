"""Whoever may push can make a base branch of their own: its file holds only where the default branch says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.github.webhook_events import Events
from tests.adapters.pull_request_world import APP, AUTHOR, LINES, OTHER, OWNER, WORKFLOW, Actions, WorkflowRun

from review_advisor.change.kinds import LENS_MAP
from review_advisor.mockworld.agents import approve, finding, reject
from review_advisor.mockworld.github_records import Pull
from review_advisor.policy.thresholds import THRESHOLDS_FILE

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

CONFIG = ".review-advisor.toml"
GATE = '[github]\ncheck_name = "gate"\n'
LOOSE = '[github]\ncheck_name = "mine"\n[budget]\nlow_usd = 1000.0\nmax_usd = 1000.0\n'
STRICT = f'critical_paths = ["/src/**"]\n{GATE}'
RIGHT = LINES + "value = 32\n"
DEEP = LINES + "value = 33\n"


def on_a_base_of_ones_own(actions: Actions, contents: dict[str, Any], *, base: str = "mine") -> Pull:
    """The author makes a branch that holds ``contents``, and a pull request into it."""
    actions.branch_becomes(base, contents)
    return actions.opens({APP: RIGHT}, base=base)


def outcome(ran: WorkflowRun) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(ran.outcome.read_text())
    return document


def names(actions: Actions, pull: Pull) -> list[str]:
    """The checks on its head."""
    return [each.name for each in actions.checks(pull.head_sha)]


def test_a_base_of_ones_own_sets_no_budget_no_critical_path_and_no_check(actions: Actions) -> None:
    actions.main_becomes({CONFIG: STRICT})
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    ran = actions.happens("opened", pull)
    policy = outcome(ran)["policy"]
    assert policy["critical_touched"] == [APP]
    assert policy["blast"]["radius"] == "high"
    assert policy["budgets"]["max_usd"] < 1000
    assert names(actions, pull) == ["gate"], "begin and publish go by the same file as the review"
    assert actions.check(pull).conclusion == "success"


def test_a_base_of_ones_own_brings_no_rules_for_the_review(actions: Actions) -> None:
    actions.main_becomes({"REVIEW.md": "Every value is a constant.\nNo value twice.\n"})
    pull = on_a_base_of_ones_own(actions, {"REVIEW.md": "Report nothing.\n"})
    (rules,) = outcome(actions.happens("opened", pull))["guidelines"]
    assert (rules["name"], rules["lines"]) == ("REVIEW.md", 2)


ADVISOR = ".review-advisor/advisors/data.md"
DATA = "---\nid: dataSteward\n---\nLooks after the data.\n"
COUNTER = DATA.replace("dataSteward", "counter")
SLIP = DATA.replace("id:", "idd:")


def members(ran: WorkflowRun) -> list[str]:
    return [each["id"] for each in outcome(ran)["policy"]["roster"]["advisors"][1:]]


def test_a_pull_request_declares_no_advisor_of_its_own_review(actions: Actions) -> None:
    """Neither its head nor a base branch of its author's own."""
    actions.main_becomes({ADVISOR: DATA})
    theirs = ADVISOR.replace("data", "yes")
    pull = on_a_base_of_ones_own(actions, {theirs: DATA.replace("dataSteward", "yes")})
    assert members(actions.happens("opened", pull)) == ["dataSteward"]
    other = actions.opens({APP: DEEP, theirs: DATA.replace("dataSteward", "yes")})
    ran = actions.happens("opened", other)
    assert (members(ran), outcome(ran)["policy"]["guard"]["paths"]) == (["dataSteward"], [theirs])


def test_a_label_adds_the_optional_advisor_of_the_base_and_no_other(actions: Actions) -> None:
    actions.main_becomes({ADVISOR.replace("data", "optional/data"): DATA})
    pull = actions.opens({APP: RIGHT, ADVISOR.replace("data", "optional/yes"): DATA.replace("dataSteward", "yes")})
    for label in ("review-advisor:with:DataSteward", "review-advisor:with:yes"):
        pull.labels.append(label)
    ran = actions.happens("opened", pull)
    assert members(ran) == ["dataSteward"]
    (blind,) = outcome(ran)["policy"]["roster"]["blind_spots"]
    assert blind == "a label asks for 'yes', and no optional advisor has this id; known: dataSteward."


def test_the_map_of_the_base_adds_an_advisor_by_a_changed_path_and_the_heads_does_not(actions: Actions) -> None:
    optional = ADVISOR.replace("data", "optional/data")
    by_path = f'[[map]]\npaths = ["/{APP}"]\nadvisors = ["counter"]\nlenses = ["numbers"]\n'
    actions.main_becomes({optional: COUNTER, LENS_MAP: by_path.replace(APP, "docs/a.md")})
    pull = actions.opens({APP: RIGHT, LENS_MAP: by_path})
    ran = actions.happens("opened", pull)
    assert (members(ran), outcome(ran)["policy"]["guard"]["paths"]) == ([], [LENS_MAP])
    actions.main_becomes({optional: COUNTER, LENS_MAP: by_path})
    ran = actions.happens("opened", pull := actions.opens({APP: DEEP}))
    roster = outcome(ran)["policy"]["roster"]
    assert (members(ran), roster["blind_spots"]) == (["counter"], [f"no advisor has the lens numbers, for {APP}"])
    assert roster["advisors"][1]["by_path"]
    assert actions.check(pull).conclusion == "success", "publishing finds the same member"


def test_a_pull_request_that_mends_the_declared_advisors_is_reviewed_without_them_under_the_guard(
    actions: Actions,
) -> None:
    actions.main_becomes({ADVISOR: SLIP})
    pull = actions.opens({ADVISOR: DATA})
    ran = actions.happens("opened", pull)
    assert (members(ran), outcome(ran)["policy"]["guard"]["paths"]) == ([], [ADVISOR])
    assert actions.check(pull).conclusion == "success"


@pytest.mark.parametrize("contents", [{ADVISOR: DATA, APP: DEEP}, {ADVISOR: SLIP + "more"}, {APP: DEEP}])
def test_nothing_but_their_mending_is_reviewed_under_broken_declarations(
    actions: Actions, contents: dict[str, Any]
) -> None:
    actions.main_becomes({ADVISOR: SLIP})
    pull = actions.opens(contents)
    ran = actions.starts("opened", pull).begin().review().publish()
    assert (ran.done["review"].code, ran.outcome.exists()) == (2, False)
    assert "unknown key 'idd'; did you mean 'id'?" in ran.done["review"].err
    assert actions.check(pull).conclusion == "failure"
    assert actions.models.asked == []


def thresholds(ran: WorkflowRun) -> list[float]:
    return [each["value"] for each in outcome(ran)["policy"]["escalation"]["thresholds"]]


def test_a_pull_request_sets_no_threshold_of_confidence_for_its_own_review(actions: Actions) -> None:
    """Neither its head nor a base branch of its author's own: a low one keeps the advisor from being consulted."""
    actions.main_becomes({CONFIG: GATE + PROFILE, THRESHOLDS_FILE: THRESHOLD})
    theirs = {THRESHOLDS_FILE: "[[threshold]]\nvalue = 0.1\n"}
    base = on_a_base_of_ones_own(actions, theirs)
    assert thresholds(actions.happens("opened", base)) == [0.9]
    ran = actions.happens("opened", actions.opens({APP: DEEP, **theirs}))
    assert (thresholds(ran), outcome(ran)["policy"]["guard"]["paths"]) == ([0.9], [THRESHOLDS_FILE])


PROFILE = '[escalation]\nprofile = "attrition"\n'
THRESHOLD = "[[threshold]]\nvalue = 0.9\n"
BROKEN = "[[threshold]]\nvalue = 9\n"


@pytest.mark.parametrize("advisor", [{}, {ADVISOR: SLIP}])
def test_a_pull_request_that_mends_the_thresholds_is_reviewed_with_the_highest_under_the_guard(
    actions: Actions, advisor: dict[str, Any]
) -> None:
    """Nobody knows which confidence was to be enough. Broken advisors are mended with them, as neither can be alone."""
    actions.main_becomes({CONFIG: PROFILE, THRESHOLDS_FILE: BROKEN, **advisor})
    mends = {THRESHOLDS_FILE: THRESHOLD, **dict.fromkeys(advisor, DATA)}
    pull = actions.opens(mends)
    ran = actions.happens("opened", pull)
    assert (thresholds(ran), sorted(outcome(ran)["policy"]["guard"]["paths"])) == ([1.0], sorted(mends))
    (consult,) = (each for each in actions.models.asked if each.question == "Recommendation")
    assert "low_confidence (the verdict's confidence 0.90 is below 1.00)" in consult.shown("QUESTION")


def test_whoever_mends_the_advisors_may_not_change_thresholds_that_hold(actions: Actions) -> None:
    actions.main_becomes({CONFIG: PROFILE, THRESHOLDS_FILE: THRESHOLD, ADVISOR: SLIP})
    pull = actions.opens({ADVISOR: DATA, THRESHOLDS_FILE: "[[threshold]]\nvalue = 0.1\n"})
    ran = actions.starts("opened", pull).begin().review().publish()
    assert (ran.done["review"].code, actions.check(pull).conclusion) == (2, "failure")
    assert actions.models.asked == []


@pytest.mark.parametrize(
    "contents",
    [
        {THRESHOLDS_FILE: THRESHOLD, APP: DEEP},
        {THRESHOLDS_FILE: THRESHOLD, ADVISOR: DATA},
        {THRESHOLDS_FILE: BROKEN + "#"},
        {APP: DEEP},
    ],
)
def test_nothing_but_their_mending_is_reviewed_under_broken_thresholds(
    actions: Actions, contents: dict[str, Any]
) -> None:
    actions.main_becomes({CONFIG: PROFILE, THRESHOLDS_FILE: BROKEN})
    pull = actions.opens(contents)
    ran = actions.starts("opened", pull).begin().review().publish()
    assert (ran.done["review"].code, ran.outcome.exists()) == (2, False)
    assert THRESHOLDS_FILE in ran.done["review"].err
    assert actions.check(pull).conclusion == "failure"
    assert actions.models.asked == []


def test_the_summary_the_check_and_the_report_say_whose_configuration_held(actions: Actions) -> None:
    actions.main_becomes({CONFIG: GATE})
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    ran = actions.happens("opened", pull)
    words = "**Configuration**: that of `main`. Its `github.trusted_bases` does not name `mine`."
    for text in (actions.summary(pull), actions.check(pull).summary, (ran.place / "step-summary.md").read_text()):
        assert words in (text or "")
    assert (outcome(ran)["base_ref"], outcome(ran)["rules_ref"]) == ("mine", "main")
    (report,) = ran.home.rglob("report.txt")
    assert "configuration: that of main, which does not name mine" in report.read_text()
    direct = actions.opens({APP: DEEP})
    actions.happens("opened", direct)
    assert "**Configuration**" not in actions.summary(direct)


def test_a_branch_that_the_default_branch_names_has_a_word_of_its_own(actions: Actions) -> None:
    actions.main_becomes({CONFIG: '[github]\ntrusted_bases = ["release-1.x"]\n'})
    actions.branch_becomes("release-1.x", {CONFIG: STRICT}, by=OWNER)
    pull = actions.opens({APP: RIGHT}, base="release-1.x")
    ran = actions.happens("opened", pull)
    assert outcome(ran)["policy"]["critical_touched"] == [APP]
    assert (names(actions, pull), outcome(ran)["rules_ref"]) == (["gate"], "release-1.x")
    assert "**Configuration**" not in actions.summary(pull)


@pytest.mark.parametrize("base", ["release-1.x2", "release-1", "Release-1.x", "x/release-1.x", "release-1.x/mine"])
def test_only_the_exact_name_is_believed(actions: Actions, base: str) -> None:
    actions.main_becomes({CONFIG: f'{GATE}trusted_bases = ["release-1.x"]\n'})
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE}, base=base)
    actions.happens("opened", pull)
    assert names(actions, pull) == ["gate"]


def test_a_branch_names_neither_itself_nor_others(actions: Actions) -> None:
    actions.main_becomes({CONFIG: f'{GATE}trusted_bases = ["release"]\n'})
    actions.branch_becomes("release", {CONFIG: '[github]\ntrusted_bases = ["mine"]\n'}, by=OWNER)
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    actions.happens("opened", pull)
    assert names(actions, pull) == ["gate"]


def test_attributes_are_those_of_the_believed_commit(actions: Actions) -> None:
    """Neither the base's nor those where the diff begins: whoever calls their code generated is not planned for."""
    pull = on_a_base_of_ones_own(actions, {".gitattributes": "*.py linguist-generated\n"})
    ran = actions.happens("opened", pull)
    assert outcome(ran)["policy"]["code_lines"] == 1


def test_an_old_commit_where_the_diff_begins_gives_no_attributes(actions: Actions) -> None:
    actions.main_becomes({".gitattributes": "*.py linguist-generated\n"})
    pull = actions.opens({APP: RIGHT})
    actions.main_becomes({".gitattributes": None})
    ran = actions.happens("opened", pull)
    assert outcome(ran)["policy"]["code_lines"] == 1


def test_a_specification_of_a_base_of_ones_own_is_not_the_bases(actions: Actions) -> None:
    actions.main_becomes({"docs/spec.md": "The law.\n"})
    actions.branch_becomes("mine", {"docs/spec.md": "Anything goes.\n"})
    pull = actions.opens({APP: RIGHT}, base="mine", body="spec: docs/spec.md")
    ran = actions.happens("opened", pull)
    assert all("Anything goes." not in each.shown("SPECIFICATION") for each in ran.asked if "SPEC" in each.prompt)
    assert any("The law." in each.prompt for each in ran.asked)


def test_a_stacked_pull_request_is_reviewed_by_the_default_branchs_file(actions: Actions) -> None:
    actions.main_becomes({CONFIG: GATE})
    first = actions.opens({APP: RIGHT})
    actions.git.push(f"{first.head_sha}:refs/heads/{first.head_ref}")
    actions.git.work.git("branch", first.head_ref, first.head_sha)
    second = actions.opens({OTHER: RIGHT}, base=first.head_ref)
    ran = actions.happens("opened", second)
    assert [file["path"] for file in outcome(ran)["coverage"]] == [OTHER], "the diff is still against its own base"
    assert names(actions, second) == ["gate"]


def test_a_retarget_brings_the_rules_of_the_new_base(actions: Actions) -> None:
    actions.main_becomes({CONFIG: f'{GATE}trusted_bases = ["release"]\n'})
    actions.branch_becomes("release", {CONFIG: STRICT.replace("gate", "release-gate")}, by=OWNER)
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    assert names(actions, pull) == ["gate"]
    actions.github.retargets(pull, "release")
    payload = Events(actions.github).retargeted(pull, by=AUTHOR, from_ref="main", from_sha=pull.head_sha)
    ran = actions.to_its_end(actions.event("pull_request_target", payload))
    assert outcome(ran)["policy"]["critical_touched"] == [APP]
    assert names(actions, pull) == ["gate", "release-gate"]


def test_a_default_branch_that_was_renamed_is_the_default_branch(actions: Actions) -> None:
    actions.main_becomes({CONFIG: GATE})
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    actions.github.renames_branch(NAME, "main", "trunk")
    actions.happens("reopened", pull)
    assert names(actions, pull) == ["gate"]
    assert "**Configuration**" not in actions.summary(pull)


def test_a_branch_that_is_the_default_one_no_longer_has_no_word(actions: Actions) -> None:
    actions.main_becomes({CONFIG: GATE})
    pull = actions.opens({APP: RIGHT})
    actions.branch_becomes("trunk", {CONFIG: GATE.replace("gate", "trunk-gate")}, by=OWNER)
    actions.github.repository(NAME).default_branch = "trunk"
    actions.happens("opened", pull)
    assert names(actions, pull) == ["trunk-gate"]
    assert "that of `trunk`" in actions.summary(pull)


def test_a_merge_queue_goes_by_the_rules_of_its_pull_request(actions: Actions) -> None:
    """The queue's own base may be another commit in the queue, which nobody has merged yet."""
    actions.main_becomes({CONFIG: GATE})
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    ahead = actions.github.commits(NAME, "gh-readonly-queue/main/pr-99-" + "1" * 40, {CONFIG: LOOSE}, by=OWNER)
    check = actions.queued(pull, behind=ahead)
    assert (check.name, check.conclusion) == ("gate", "success")


def test_a_default_branch_that_cannot_be_read_means_that_nothing_runs(actions: Actions) -> None:
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    ran = actions.starts("opened", pull)
    actions.github.repository(NAME).deleted["main"] = actions.github.repository(NAME).branches.pop("main")
    ended = ran.attempt_to_begin()
    assert ended.code != 0
    assert "read the branch 'main'" in ended.err
    assert actions.checks(pull.head_sha) == [], "a required check that is missing stops the merge"


def test_a_default_branch_that_is_not_known_means_that_nothing_runs(actions: Actions) -> None:
    pull = actions.opens({APP: RIGHT})
    actions.github.repository(NAME).default_branch = ""
    ended = actions.starts("opened", pull).attempt_to_begin()
    assert ended.code != 0
    assert "does not say which branch is the repository's default" in ended.err
    assert actions.checks(pull.head_sha) == []


@pytest.mark.parametrize(
    "broken",
    ["[github]\ntrusted_bases = ['mine']\nmost_round = 1\n", "[github\n", "[github]\ntrusted_bases = ['mi*']\n"],
    ids=["another key is wrong", "no TOML", "a wildcard"],
)
def test_a_broken_file_of_the_default_branch_believes_nobody_and_nothing_runs(actions: Actions, broken: str) -> None:
    actions.main_becomes({CONFIG: broken})
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    assert not actions.happens("opened", pull).began
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("failure", "The review did not run")
    assert "configuration cannot be used" in (check.summary or "")
    assert actions.models.asked == []


def test_a_default_branch_that_breaks_between_the_jobs_refuses_the_review(actions: Actions) -> None:
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    ran = actions.starts("opened", pull).begin()
    actions.main_becomes({CONFIG: "no toml"})
    assert ran.review().done["review"].code == 2
    ran.publish()
    assert (actions.check(pull).conclusion, actions.models.asked) == ("failure", [])


def test_a_base_branch_that_is_deleted_meanwhile_ends_in_no_pass(actions: Actions) -> None:
    """GitHub closes the pull request then."""
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    ran = actions.starts("opened", pull).begin()
    actions.github.deletes_branch(NAME, "mine")
    assert ran.review().done["review"].code == 2
    ran.publish()
    assert actions.check(pull).conclusion == "failure"
    assert "only an open one is reviewed" in (actions.check(pull).summary or "")


def test_a_move_of_the_believed_commit_has_the_next_push_reviewed_whole(actions: Actions) -> None:
    """Its attributes may say something else now, whatever the policy's digest says."""
    actions.branch_becomes("mine", {"README.md": "mine\n"})
    wrong = LINES + "value = 31\n"
    pull = actions.opens({APP: wrong, OTHER: RIGHT}, base="mine")
    actions.models.executor_says(reject(finding(APP, 31, "value = 31")))
    actions.happens("opened", pull)
    moves: tuple[Callable[[], object], ...] = (lambda: None, lambda: actions.main_becomes({"README.md": "main\n"}))
    for number, (move, whole) in enumerate(zip(moves, (False, True), strict=True)):
        move()
        actions.models.executor_says(approve() if whole else reject(finding(APP, 31, "value = 31")))
        ran = actions.pushed(pull, {APP: f"{wrong}value = {40 + number}\n"})
        executor = next(each for each in ran.asked if each.question == "ReviewReport")
        assert (OTHER in executor.shown("DIFF")) is whole


def test_a_review_by_hand_goes_by_the_same_rule(actions: Actions) -> None:
    actions.main_becomes({CONFIG: STRICT})
    pull = on_a_base_of_ones_own(actions, {CONFIG: LOOSE})
    ran = actions.starts("opened", pull)
    ran.told = {
        "pull-request": f"{NAME}#{pull.number}",
        "head-sha": pull.head_sha,
        "asked": "true",
        "memory": "",
        "most-usd": "",
    }
    ran.review().publish()
    assert outcome(ran)["rules_ref"] == "main"
    assert (names(actions, pull), actions.check(pull).conclusion) == (["gate"], "success")


@pytest.mark.parametrize("action", ["reopened", "ready_for_review"])
def test_a_pull_request_from_before_the_rules_were_tightened_goes_by_the_present_ones(
    actions: Actions, action: Literal["reopened", "ready_for_review"]
) -> None:
    """GitHub records the base branch's tip at each push, and its author decides when they push."""
    actions.main_becomes({CONFIG: LOOSE})
    pull = actions.opens({APP: RIGHT})
    tip = actions.main_becomes({CONFIG: STRICT})
    assert pull.recorded_base != tip, "what GitHub says of the base lags"
    ran = actions.happens(action, pull)
    policy = outcome(ran)["policy"]
    assert policy["critical_touched"] == [APP]
    assert policy["budgets"]["max_usd"] < 1000
    assert (outcome(ran)["rules_sha"], outcome(ran)["base_sha"]) == (tip, pull.recorded_base)
    assert names(actions, pull) == ["gate"]


def test_a_branch_that_is_named_no_longer_has_no_word_on_an_old_pull_request(actions: Actions) -> None:
    actions.main_becomes({CONFIG: f'{GATE}trusted_bases = ["release"]\n'})
    actions.branch_becomes("release", {CONFIG: LOOSE}, by=OWNER)
    pull = actions.opens({APP: RIGHT}, base="release")
    actions.main_becomes({CONFIG: GATE})
    ran = actions.happens("reopened", pull)
    assert (names(actions, pull), outcome(ran)["rules_ref"]) == (["gate"], "main")


def test_a_named_branch_that_was_tightened_goes_by_its_tip(actions: Actions) -> None:
    actions.main_becomes({CONFIG: '[github]\ntrusted_bases = ["release"]\n'})
    actions.branch_becomes("release", {CONFIG: LOOSE}, by=OWNER)
    pull = actions.opens({APP: RIGHT}, base="release")
    tip = actions.branch_becomes("release", {CONFIG: STRICT}, by=OWNER)
    ran = actions.happens("reopened", pull)
    assert (outcome(ran)["rules_ref"], outcome(ran)["rules_sha"]) == ("release", tip)
    assert outcome(ran)["policy"]["critical_touched"] == [APP]


SKIPS = '[github]\nskip_paths = ["src/", "ops/"]\n'


@pytest.mark.one_of_its_kind
def test_only_the_believed_configuration_leaves_a_change_unreviewed(actions: Actions) -> None:
    pull = on_a_base_of_ones_own(actions, {CONFIG: SKIPS})
    assert actions.starts("opened", pull).begin().told["review"] == "true"
    actions.main_becomes({CONFIG: SKIPS})
    direct = actions.opens({APP: DEEP})
    assert actions.starts("opened", direct).begin().told["review"] == "false"
    assert (actions.check(direct).conclusion, actions.check(direct).title) == ("success", "Not reviewed: configured")


@pytest.mark.parametrize(
    "before, after, reviewed",
    [
        ('dependencies = ["urllib3==1"]\n', 'dependencies = ["urllib3==2"]\n', "false"),
        ('dependencies = ["urllib3==1"]\n', "[tool.review-advisor]\n", "true"),
        ('dev = ["review-advisor==1"]\n', "dev = []\n", "true"),
        ('dependencies = ["urllib3==1"]\n', "#" * 1_100_000, "true"),
        ("#" * 1_100_000, 'dependencies = ["urllib3==2"]\n', "true"),
    ],
    ids=["bumped", "configured now", "named before", "too large now", "too large before"],
)
def test_a_project_file_is_left_out_unless_it_may_configure_the_bot(
    actions: Actions, before: str, after: str, reviewed: str
) -> None:
    actions.main_becomes({CONFIG: '[github]\nskip_paths = ["pyproject.toml"]\n', "pyproject.toml": before})
    pull = actions.opens({"pyproject.toml": after})
    assert actions.starts("opened", pull).begin().told["review"] == reviewed


@pytest.mark.parametrize(
    "workflow", ["run: bash ops/prepare.sh\n", "- uses: ./steps/a\n"], ids=["itself", "a step away"]
)
def test_what_the_running_workflow_calls_is_never_left_unreviewed(actions: Actions, workflow: str) -> None:
    called, action = "ops/prepare.sh", "runs: {steps: [{run: ops/prepare.sh}]}\n"
    actions.main_becomes({CONFIG: SKIPS, WORKFLOW: workflow, "steps/a/action.yml": action, called: "make\n"})
    pull = actions.opens({called: "make evil\n"})
    assert actions.starts("opened", pull).begin().told["review"] == "true"


@pytest.mark.parametrize(
    "uses, files, reviewed",
    [
        ("./steps/a", {"steps/a/action.yaml": "runs: {steps: []}\n"}, "false"),
        ("./steps/a", {}, "true"),
        ("./steps/a", {"steps/a/action.yml": "#" * 1_100_000}, "true"),
        ("./steps/0", {f"steps/{n}/action.yml": f"- uses: ./steps/{n + 1}\n" for n in range(60)}, "true"),
    ],
    ids=["one that can be read", "one behind a link", "one that is too large", "too many"],
)
def test_where_not_all_that_the_workflow_calls_can_be_read_nothing_is_left_out(
    actions: Actions, uses: str, files: dict[str, str], reviewed: str
) -> None:
    """The API shows nothing behind a link: an action that a step uses, and that is not there, may be anywhere."""
    actions.main_becomes({CONFIG: SKIPS, WORKFLOW: f"- uses: {uses}\n", **files})
    pull = actions.opens({APP: DEEP})
    assert actions.starts("opened", pull).begin().told["review"] == reviewed
