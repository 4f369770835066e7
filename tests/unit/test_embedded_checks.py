"""The static checks as functions: what is found, asked, judged and answered."""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.changes import added_file

from review_advisor.agents import prompts
from review_advisor.agents.answers import Consult, Guidance, PostVerifyResult, ReportedFinding, ReviewPlan, ReviewReport
from review_advisor.agents.evidence import CheckedReport, ShownChange
from review_advisor.agents.static.checks import StaticChecks
from review_advisor.agents.static.material import Material, material_of
from review_advisor.agents.static.programs import TOLD_SECRETS
from review_advisor.agents.static.roles import (
    RUN,
    SKIP,
    NoAdvice,
    focus_of,
    guide,
    judge,
    plan,
    report,
    security_question,
)
from review_advisor.change.change import SYMLINK_MODE, FileChange, Hunk, Status
from review_advisor.change.checker_settings import RuffSettings, ruff_settings
from review_advisor.change.diff_text import changed_lines, render_files, render_statistics, shown_path
from review_advisor.safety.fence import fence
from review_advisor.safety.secrets import KINDS, REDACTED, mark, redact

NONCE = "nonce-7"
GITHUB_TOKEN = "ghp_" + "a1B2" * 9
DRAWN_TOKEN = "ghp_" + "".join(Random(7).choices(ascii_letters + digits, k=36))
STRIPE_KEY = "sk_live_" + "a1B2c3D4" * 3
SHELL = "import subprocess\n\n\ndef run(command):\n    return subprocess.run([command, '-l'], shell=True)\n"
CLEAN = "def add(left, right):\n    return left + right\n"


def written(tree: Path, texts: dict[str, str]) -> tuple[FileChange, ...]:
    for path, text in texts.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    return tuple(added_file(path, text) for path, text in texts.items())


def prompt(files: tuple[FileChange, ...], **sections: str) -> str:
    fences = {prompts.FILES: render_statistics(files), prompts.DIFF: render_files(files), **sections}
    return "\n".join([prompts.opening("r-1", NONCE), *(fence(label, text, NONCE) for label, text in fences.items())])


def material(files: tuple[FileChange, ...], **sections: BaseModel | str) -> Material:
    texts = {label: one if isinstance(one, str) else one.model_dump_json() for label, one in sections.items()}
    return material_of(prompt(files, **texts))


def transcript(result: PostVerifyResult) -> str:
    points = [{"id": f"d0.{at}", **point.model_dump()} for at, point in enumerate(result.disagreements)]
    return json.dumps({"attempts": [{"attempt": 0, "verdict": result.verdict, "disagreements": points}]})


def checks(given: Material, tree: Path | None) -> StaticChecks:
    return StaticChecks(given.lines, tree)


def found(tree: Path, path: str, text: str) -> dict[str, str]:
    files = written(tree, {path: text})
    return {one.rule: one.worth.severity for one in checks(material(files), tree).everything() if not one.silenced}


def answer_alone(files: tuple[FileChange, ...], tree: Path, *, allow_unchecked: bool = False) -> ReviewReport:
    given = material(files)
    return report(given, checks(given, tree), "ruff", None, allow_unchecked=allow_unchecked)


def held(files: tuple[FileChange, ...], *findings: ReportedFinding) -> CheckedReport:
    return ShownChange(files).check(ReviewReport(verdict="reject", summary="x", confidence=1, findings=findings))


# --- what is found --------------------------------------------------------------------------------


def test_only_added_lines_are_remarked_on(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import os\nimport sys\nprint(sys.path)\n")
    file = FileChange(
        Status.MODIFIED,
        "app.py",
        added=1,
        hunks=(Hunk(1, 2, 1, 3, "", (" import os", "+import sys", " print(sys.path)")),),
    )
    assert checks(material((file,)), tmp_path).everything() == ()


def test_bug_and_security_rules_carry_their_severity(tmp_path: Path) -> None:
    text = "import os\nimport subprocess\n\n\ndef run(command, seen):\n    seen == command\n"
    text += "    subprocess.run([command, '-l'], shell=True)\n    return missing\n"
    assert found(tmp_path, "app.py", text) == {"B015": "medium", "F821": "high", "S602": "high"}


@pytest.mark.parametrize(
    "text",
    [
        "print(f'{1}')\n\n\ndef broken(:\n    pass\n",
        "def add(left: int) -> int:\n    return left +\n",
        "<<<<<<< HEAD\nA = 1\n=======\nA = 2\n>>>>>>> other\n",
    ],
)
def test_what_python_3_cannot_parse_is_a_bug(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, "app.py", text) == {"invalid-syntax": "high"}


def test_security_rules_leave_tests_alone(tmp_path: Path) -> None:
    assert found(tmp_path, "test_app.py", SHELL) == {}


@pytest.mark.parametrize(
    "path,severity",
    [("app.py", "critical"), ("settings.ini", "critical"), ("README.md", "medium"), ("test_app.py", "medium")],
)
def test_a_committed_token_is_found_in_any_file(tmp_path: Path, path: str, severity: str) -> None:
    assert found(tmp_path, path, f'key = "{DRAWN_TOKEN}"\n') == {"GitHub token": severity}


@pytest.mark.parametrize("path", ["README.md", "test_app.py"])
@pytest.mark.parametrize(
    "line", [f'key = "{GITHUB_TOKEN}"', f'key = "{"ghp_" + "x" * 36}"', 'password = "hG7kLm9xQ2vB"']
)
def test_placeholder_secrets_in_documentation_and_tests_are_no_finding(tmp_path: Path, path: str, line: str) -> None:
    assert found(tmp_path, path, line + "\n") == {}


def test_a_committed_private_key_is_one_finding(tmp_path: Path) -> None:
    body = "".join(f"{base64.b64encode(bytes(range(at, at + 48))).decode()}\n" for at in range(0, 200, 40))
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\n"
    given = material((added_file("server.key", redact(text)),))
    (tmp_path / "server.key").write_text(text)
    (one,) = checks(given, tmp_path).everything()
    assert (one.line, one.rule, one.worth.severity) == (1, "private key", "critical")
    assert one.evidence == "-----BEGIN RSA PRIVATE KEY-----"


def test_what_a_provider_issued_is_a_finding_where_the_redactor_took_it_out(tmp_path: Path) -> None:
    for at, kind in enumerate(KINDS):
        text = f"value = {mark(kind)}\n"
        path = f"kept{at}.ini"
        given = material((added_file(path, text),))
        (tmp_path / path).write_text("value = what stood here\n")
        told = [(one.rule, one.serious) for one in checks(given, tmp_path).everything()]
        assert told == ([(kind, True)] if kind in TOLD_SECRETS else [])


def test_no_report_repeats_a_secret_that_the_redactor_does_not_know(tmp_path: Path) -> None:
    files = written(tmp_path, {"app.ini": f"payment_key = {STRIPE_KEY}\n"})
    (one,) = checks(material(files), tmp_path).everything()
    assert STRIPE_KEY not in one.reported().model_dump_json()
    assert held(files, one.reported()).findings


def test_plain_words_and_the_redactors_own_mark_are_no_secret(tmp_path: Path) -> None:
    assert found(tmp_path, "app.ini", f"password = hunter2\nnote = {REDACTED}\nBEGIN PRIVATE KEY is a phrase\n") == {}


def test_every_finding_stands_in_the_change(tmp_path: Path) -> None:
    files = written(tmp_path, {"src/app.py": SHELL + f'TOKEN = "{GITHUB_TOKEN}"\nprint(missing)\n'})
    reported = [one.reported() for one in checks(material(files), tmp_path).everything()]
    checked = held(files, *reported)
    assert len(checked.findings) == len(reported) == 3
    assert not checked.refused
    assert all(not one.corrected for one in checked.findings)


def test_the_trees_own_configuration_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text('lint.ignore = ["ALL"]\nexclude = ["*"]\n')
    assert found(tmp_path, "app.py", SHELL) == {"S602": "high"}


def test_a_path_that_looks_like_an_option_is_a_file(tmp_path: Path) -> None:
    assert found(tmp_path, "--config=x.py", SHELL) == {"S602": "high"}


def test_links_and_paths_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    tree.mkdir()
    outside.mkdir()
    (outside / "app.py").write_text(SHELL)
    (tree / "linked.py").symlink_to(outside / "app.py")
    (tree / "folder").symlink_to(outside)
    files = tuple(added_file(path, SHELL) for path in ("linked.py", "folder/app.py", "../outside/app.py", "gone.py"))
    one = checks(material(files), tree)
    assert one.everything() == ()
    assert len(one.unread) == 4


def test_without_a_tree_only_secrets_are_looked_for() -> None:
    given = material((added_file("app.py", SHELL + f'TOKEN = "{GITHUB_TOKEN}"\n'),))
    assert [(one.rule, one.worth.severity) for one in checks(given, None).everything()] == [("GitHub token", "high")]


# --- the plan -------------------------------------------------------------------------------------


def test_the_plan_names_the_most_changed_code_files() -> None:
    texts = {f"f{size}.py": "x = 1\n" * size for size in (1, 4, 2, 3)} | {"README.md": "word\n" * 50}
    made = plan(material(tuple(added_file(path, text) for path, text in texts.items())), "ruff 1")
    assert [area.files for area in made.focus_areas] == [("f4.py",), ("f3.py",), ("f2.py",)]
    assert made.risk_summary.startswith("Static checks, no model: ruff 1.")
    assert made.rubric
    assert made.escalation_signals


def test_documentation_alone_gets_one_focus_area() -> None:
    files = (added_file("a.md", "one\n"), added_file("b.md", "one\ntwo\n"))
    assert [area.files for area in plan(material(files), "").focus_areas] == [("b.md",)]


def test_what_has_no_text_is_no_focus() -> None:
    files = (
        FileChange(Status.ADDED, "logo.png", binary=True),
        FileChange(Status.ADDED, "link.py", new_mode=SYMLINK_MODE, added=1),
        FileChange(Status.RENAMED, "new.py", old_path="old.py"),
    )
    made = plan(material(files), "")
    assert made.focus_areas == ()
    assert "Changed files: 3" in made.risk_summary


def test_a_rename_is_counted_under_its_new_path() -> None:
    file = FileChange(Status.RENAMED, "new: name.py", old_path="old.py", added=2)
    (count,) = material((file,)).files
    assert (count.added, count.changed, count.is_text) == (2, 2, True)


TELLING = st.sampled_from(
    [", ", ": ", ",", ":", " ", "x", '"', "\\", "binary, not shown", "symlink", "mode 1 to 2", ", from "]
)
HOSTILE_PATH = st.lists(TELLING, min_size=1, max_size=8).map("".join)


@given(HOSTILE_PATH, HOSTILE_PATH, st.sampled_from(["100644", "100755", SYMLINK_MODE]), st.booleans())
def test_no_path_forges_a_fact_in_the_list_of_files(path: str, old: str, mode: str, binary: bool) -> None:
    file = FileChange(Status.RENAMED, path, old_path=old, new_mode=mode, added=2, binary=binary)
    (count,) = material((file,)).files
    assert (count.path, count.is_text) == (shown_path(path), not binary and mode != SYMLINK_MODE)


# --- the question and its answer ------------------------------------------------------------------


def test_the_advisor_follows_the_words_of_the_added_lines() -> None:
    lines = tuple(changed_lines(render_files((added_file("app.py", SHELL),))))
    risky = guide("<!-- a sentinel {with} a brace -->\n" + security_question("app.py", lines).model_dump_json())
    assert (risky.action, risky.stop_signal) == (RUN, False)
    assert "runs a process" in risky.risk_flags
    assert guide(security_question("app.py", ()).model_dump_json()).action == SKIP


def test_the_advisor_says_when_it_cannot_answer() -> None:
    assert guide("What is the meaning of { this?").action == "go on by your own judgment"


# --- the executor and the judge -------------------------------------------------------------------


@pytest.mark.parametrize(
    "guidance,verdict,said",
    [
        (Guidance(action=RUN), "reject", RUN),
        (Guidance(action=SKIP), "approve", SKIP),
        (NoAdvice("the cap is reached"), "approve", "the cap is reached"),
    ],
)
def test_the_executor_does_what_the_advisor_says(
    tmp_path: Path, guidance: Guidance | NoAdvice, verdict: str, said: str
) -> None:
    given = material(written(tmp_path, {"app.py": SHELL}))
    asked: list[Consult] = []

    def ask(consult: Consult) -> Guidance | NoAdvice:
        asked.append(consult)
        return guidance

    made = report(given, checks(given, tmp_path), "ruff 1", ask)
    assert made.verdict == verdict
    assert said in made.summary
    assert len(asked) == 1


def test_the_question_is_about_the_plans_file() -> None:
    files = (added_file("a.py", CLEAN), added_file("b.py", CLEAN))
    area = {"description": "b", "files": ["b.py"]}
    given = material(files, PLAN=ReviewPlan.model_validate({"risk_summary": "x", "focus_areas": [area]}))
    assert focus_of(given) == "b.py"
    assert focus_of(material(files)) == "a.py"
    assert focus_of(material(())) is None


def test_a_retry_asks_nobody(tmp_path: Path) -> None:
    given = material(written(tmp_path, {"app.py": CLEAN}), TRANSCRIPT='{"attempts": []}')

    def ask(consult: Consult) -> Guidance:
        raise AssertionError(consult)

    assert report(given, checks(given, tmp_path), "", ask).verdict == "approve"


def test_a_report_without_a_tree_says_what_did_not_run() -> None:
    given = material((added_file("app.py", CLEAN),))
    made = report(given, checks(given, None), "", None)
    assert "ruff: not run: no tree" in made.summary
    assert made.confidence == 0.5


def test_a_report_names_files_that_were_not_checked(tmp_path: Path) -> None:
    files = tuple(added_file(f"{name}.py", "x = 1\n") for name in "abcdefg")
    answered = answer_alone(files, tmp_path)
    assert "Not checked: a.py, b.py, c.py, d.py, e.py and 2 more." in answered.summary
    assert [each.path for each in answered.unchecked] == [file.path for file in files]


def test_a_change_that_breaks_a_file_by_taking_a_line_away_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("print(\n    1\n\n\ndef f():\n    pass\n")
    file = FileChange(Status.MODIFIED, "app.py", removed=1, hunks=(Hunk(1, 3, 1, 2, "", (" print(", "     1", "-)")),))
    (unchecked,) = answer_alone((file,), tmp_path).unchecked
    assert unchecked.path == "app.py"
    assert "cannot be parsed" in unchecked.why


def test_a_file_name_that_hides_the_file_from_the_checks_is_not_checked(tmp_path: Path) -> None:
    files = written(tmp_path, {'a"b.py': SHELL})
    assert [each.path for each in answer_alone(files, tmp_path).unchecked] == [shown_path('a"b.py')]


def test_a_line_that_moved_and_breaks_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def f() -> int:\nreturn 1\n")
    hunk = Hunk(1, 2, 1, 2, "", ("-    return 1", " def f() -> int:", "+return 1"))
    file = FileChange(Status.MODIFIED, "app.py", added=1, removed=1, hunks=(hunk,))
    assert answer_alone((file,), tmp_path).verdict == "reject"


def test_a_missed_finding_is_vetoed_then_adopted_then_confirmed(tmp_path: Path) -> None:
    files = written(tmp_path, {"app.py": SHELL, "b.py": CLEAN})
    made = plan(material(files), "")
    one = checks(material(files), tmp_path)
    first = report(material(files, PLAN=made), one, "", lambda _: NoAdvice("nobody is there"))
    vetoed = judge(material(files, PLAN=made, REPORT=first), one, "")
    assert any("S602 at app.py:5 (high)" in point.advisor_assessment for point in vetoed.disagreements)
    (point,) = vetoed.disagreements
    assert vetoed.reasoning.endswith(f" 1 objection: {point.advisor_assessment}")
    second = report(material(files, PLAN=made, TRANSCRIPT=transcript(vetoed)), one, "", None)
    assert second.verdict == "reject"
    ids = [answer.disagreement for answer in second.answers]
    assert ShownChange(files).check(second, ids).settled == tuple(ids) == ("d0.0",)
    assert judge(material(files, PLAN=made, REPORT=second), one, "").verdict == "APPROVE"


def test_what_a_right_rejection_missed_is_a_concern(tmp_path: Path) -> None:
    files = written(tmp_path, {"app.py": SHELL + "print(missing)\n"})
    one = checks(material(files), tmp_path)
    made = report(material(files), one, "", lambda _: NoAdvice("nobody is there"))
    confirmed = judge(material(files, REPORT=made), one, "")
    assert made.verdict == "reject"
    assert (confirmed.verdict, [point.severity for point in confirmed.disagreements]) == ("APPROVE", ["concern"])


def test_a_report_that_was_held_against_the_change_is_understood(tmp_path: Path) -> None:
    files = written(tmp_path, {'od"d.py': CLEAN})
    finding = {"path": shown_path('od"d.py'), "line": 1, "severity": "low", "category": "c", "title": "t"}
    finding |= {"confidence": 1, "evidence": "def add(left, right):"}
    checked = json.dumps(asdict(held(files, ReportedFinding.model_validate(finding))))
    checked = checked.replace('"reject"', '"approve"')
    area = {"description": "x", "files": [shown_path('od"d.py')]}
    made = ReviewPlan.model_validate({"risk_summary": "x", "focus_areas": [area]})
    given = material(files, PLAN=made, REPORT=checked)
    assert judge(given, checks(given, tmp_path), "").verdict == "APPROVE"


def test_a_transcript_that_cannot_be_read_is_still_a_retry() -> None:
    assert material((), TRANSCRIPT="{").disagreements == ()


@pytest.mark.parametrize("text", ["{", '{"verdict": "approve"}'])
def test_a_report_that_cannot_be_read_is_vetoed(text: str) -> None:
    given = material((added_file("app.py", CLEAN),), REPORT=text)
    assert judge(given, checks(given, None), "").verdict == "VETO"


def test_a_disagreement_nobody_can_settle_is_contested(tmp_path: Path) -> None:
    past = json.dumps({"attempts": [{"disagreements": [{"id": "d0.0", "advisor_assessment": "I have a feeling"}]}]})
    given = material(written(tmp_path, {"app.py": CLEAN}), TRANSCRIPT=past)
    (answer,) = report(given, checks(given, tmp_path), "", None).answers
    assert (answer.position, answer.evidence) == ("contested", "")


# --- what the base allows, and what ruff would write ------------------------------------------------------------------


def settings(text: str, folder: str = "", name: str = "ruff.toml") -> tuple[RuffSettings, ...]:
    found = ruff_settings(text, folder, name)
    assert found is not None
    return (found,)


def found_under(tree: Path, allowed: tuple[RuffSettings, ...], path: str, text: str) -> dict[str, str]:
    given = material(written(tree, {path: text}))
    return {one.rule: one.worth.severity for one in StaticChecks(given.lines, tree, allowed).everything()}


UNUSED = "def run(command, seen):\n    seen == command\n"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "text",
    [
        'ignore = ["B015"]',
        '[lint]\nignore = ["B"]',
        '[lint]\nextend-ignore = ["ALL"]',
        '[lint.per-file-ignores]\n"src/*" = ["B015"]',
        '[lint.per-file-ignores]\n"app.py" = ["B0"]',
        '[lint.extend-per-file-ignores]\n"!tests/**" = ["B015"]',
        'exclude = ["src"]',
        'extend-exclude = ["*/deep"]',
        '[lint]\nexclude = ["src/**/*.py"]',
    ],
)
def test_what_the_bases_own_ruff_configuration_allows_is_no_finding(tmp_path: Path, text: str) -> None:
    path = "src/deep/app.py"
    assert "B015" in found_under(tmp_path, (), path, UNUSED)
    assert found_under(tmp_path, settings(text), path, UNUSED) == {}


@pytest.mark.parametrize(
    "text",
    ['ignore = ["B007"]', '[lint.per-file-ignores]\n"tests/*" = ["B015"]', 'exclude = ["other"]', 'select = ["E"]', ""],
)
def test_what_it_does_not_name_stays_a_finding(tmp_path: Path, text: str) -> None:
    assert found_under(tmp_path, settings(text), "src/app.py", UNUSED) == {"B015": "medium"}


def test_the_nearest_configuration_of_the_base_holds(tmp_path: Path) -> None:
    both = (*settings('ignore = ["B"]'), *settings("", "part"))
    assert found_under(tmp_path, both, "part/app.py", UNUSED) == {"B015": "medium"}
    assert found_under(tmp_path, both, "app.py", UNUSED) == {}


def test_a_pyproject_counts_only_with_a_table_of_ruffs() -> None:
    assert ruff_settings("[tool.black]\n", "", "pyproject.toml") is None
    (one,) = settings('[tool.ruff]\nbuiltins = ["_"]\n', name="pyproject.toml")
    assert one.allows("F821", "app.py", "_")
    assert not one.allows("F821", "app.py", "missing")
    assert ruff_settings("not toml", "", "ruff.toml") is None


def test_a_comment_silences_what_is_mild_and_nothing_serious(tmp_path: Path) -> None:
    mild = "def run(command, seen):\n    seen == command  # noqa: B015\n"
    assert found(tmp_path, "a.py", mild) == {}
    assert found(tmp_path, "b.py", mild.replace("B015", "B008")) == {"B015": "medium"}
    assert found(tmp_path, "c.py", "# ruff: noqa\n" + UNUSED) == {}


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: S602, F821", "# type: ignore[name-defined]"])
@pytest.mark.parametrize(
    "line, rule",
    [
        ("subprocess.run(['ls', input()], shell=True)", "S602"),
        ("print(missing)", "F821"),
    ],
)
def test_no_comment_turns_a_rejection_into_an_approval(tmp_path: Path, line: str, rule: str, comment: str) -> None:
    files = written(tmp_path, {"app.py": f"# ruff: noqa\nimport subprocess\n\n{line}  {comment}\n"})
    answered = answer_alone(files, tmp_path)
    assert answered.verdict == "reject"
    assert [one.category.partition("/")[2] for one in answered.findings] == [rule]


def test_a_comment_may_say_that_a_name_of_python_2_is_meant(tmp_path: Path) -> None:
    assert found(tmp_path, "a.py", "text = unicode  # noqa: F821\n") == {}
    told = answer_alone(written(tmp_path, {"b.py": "text = unicode\n"}), tmp_path)
    assert [(one.path, one.why) for one in told.unchecked] == [("b.py", "it is written for Python 2")]
    versions = "import sys\n\nPY2 = sys.version_info[0] == 2\n"
    assert found(tmp_path, "c.py", versions + "text = unicode if PY2 else str\n") == {}
    assert found(tmp_path, "d.py", versions + "text = missing if PY2 else str\n") == {"F821": "high"}


def test_what_comments_silence_is_counted_and_named(tmp_path: Path) -> None:
    lines = "".join(f"def f{at}(a):\n    a == 1  # noqa: B015\n" for at in range(7))
    answered = answer_alone(written(tmp_path, {"app.py": lines}), tmp_path)
    assert (answered.verdict, answered.findings) == ("approve", ())
    named = ", ".join(f"B015 at app.py:{at}" for at in range(2, 11, 2))
    assert f"Not reported, because the code says so: 7 ({named} and 2 more)." in answered.summary


def test_ruffs_own_fix_is_a_suggestion_of_whole_lines(tmp_path: Path) -> None:
    text = "def text(value):\n    if value is 'a':\n        return 1\n    return value\n"
    files = written(tmp_path, {"app.py": text})
    (one,) = (each.reported() for each in checks(material(files), tmp_path).everything())
    assert (one.suggestion, one.line, one.category) == ("    if value == 'a':", 2, "bug/F632")
    assert [each.suggestion for each in held(files, one).findings] == [one.suggestion]


def test_a_fix_that_would_touch_lines_outside_the_change_is_no_suggestion(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import sys\n\nif (\n    sys.argv[0] is\n    'a'\n):\n    print()\n")
    lines = (" import sys", " ", "+if (", "     sys.argv[0] is", "     'a'", " ):", "     print()")
    file = FileChange(Status.MODIFIED, "app.py", added=1, hunks=(Hunk(1, 6, 1, 7, "", lines),))
    assert [one.fix for one in checks(material((file,)), tmp_path).everything()] == []


# --- what no reviewer would say ---------------------------------------------------------------------------------------


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "path,text",
    [
        ("app.py", "def find(names=[]):\n    return len(names)\n"),
        ("app.py", "def find(_cache={}):\n    _cache[1] = 2\n"),
        ("app.py", "import os\n"),
        ("app.py", "def find(names=[]):\n    names.append(1)\n"),
        ("app.py", "class A:\n    def __delitem__(self, key, other):\n        pass\n"),
        ("app.py", "from a import all_names\n\n__all__ = ['one'] + all_names\n"),
        ("app.py", "def find(name, memo={}):\n    memo[name] = 1\n    return memo\n"),
        ("app.py", "return 1\n"),
        ("app.py", "from a import *\n\nprint(given)\n"),
        ("app.py", "import subprocess\n\n\ndef run(command):\n    subprocess.run(command, shell=True)\n"),
        ("app.py", "import subprocess\n\n\ndef run(name):\n    subprocess.run(['ls ' + name], shell=True)\n"),
        ("test_a.py", "import a\n\ntry:\n    a.b == 1\nexcept TypeError:\n    pass\n"),
        ("test_a.py", "from a import lock\n\n\ndef test_b(lock):\n    assert lock\n"),
        ("tests/helpers.py", SHELL),
        ("app.py", f"TOKEN = '{'3f9a0c7be1d24856' * 4}'\n"),
        ("app.py", "password = 'hG7kLm9xQ2vB4z'\n"),
        ("app.js", "apiKey = 'hG7kLm9xQ2vB4zPq8RtY'\n"),
        ("test_a.py", "import pytest\n\nwith pytest.raises(TypeError):\n    1 < 'a'\n"),
        ("app.py", "import logging\n\nlogging.warning('{0}', 1)\n"),
        ("app.py", "import a.b\nimport a.b\n\nprint(a)\n"),
        ("app.py", "from a import on\n\n\n@on('x')\ndef f():\n    pass\n\n\n@on('y')\ndef f():\n    pass\n"),
    ],
)
def test_what_is_right_by_the_letter_alone_is_no_finding(tmp_path: Path, path: str, text: str) -> None:
    assert found(tmp_path, path, text) == {}


def test_a_line_that_only_moved_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("if True:\n    print(missing)\n")
    lines = ("-print(missing)", "+if True:", "+    print(missing)")
    file = FileChange(Status.MODIFIED, "app.py", added=2, removed=1, hunks=(Hunk(1, 1, 1, 2, "", lines),))
    assert checks(material((file,)), tmp_path).everything() == ()


def test_a_name_that_lines_outside_the_change_use_as_well_comes_from_somewhere_else(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("print(given)\nprint(given)\n")
    lines = (" print(given)", "+print(given)")
    file = FileChange(Status.MODIFIED, "app.py", added=1, hunks=(Hunk(1, 1, 1, 2, "", lines),))
    told = answer_alone((file,), tmp_path)
    assert (told.findings, told.unchecked) == ((), ())


def test_a_file_of_many_faults_is_one_finding(tmp_path: Path) -> None:
    text = "async def a():\n    pass\n" + "<body a=1>\n" * 9
    assert len(checks(material(written(tmp_path, {"a.py": text})), tmp_path).everything()) == 1


@pytest.mark.parametrize(
    "text, rule",
    [
        ("import subprocess\n\nsubprocess.run(['ls', '-l'], shell=True)\n", "S602"),
        ("try:\n    a = 1\nfinally:\n    a == 2\n", "B015"),
        ("def f():\n    return 1\n\n\ndef f():\n    return 2\n", "F811"),
    ],
)
def test_what_is_lost_is_found(tmp_path: Path, text: str, rule: str) -> None:
    assert list(found(tmp_path, "app.py", text)) == [rule]


MANY: dict[str, Callable[[int], str]] = {
    "B015": lambda count: "a = 1\n" + "a == 2\n" * count,
    "F811": lambda count: "def f():\n    return 1\n" * (count + 1),
}


@pytest.mark.parametrize("rule", MANY)
def test_twice_as_many_remarks_of_a_file_take_twice_as_many_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    walk = ast.walk
    steps = 0

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal steps
        for each in walk(node):
            steps += 1
            yield each

    monkeypatch.setattr(ast, "walk", counted)

    def steps_for(count: int) -> int:
        nonlocal steps
        steps = 0
        answered = answer_alone(written(tmp_path, {f"app{count}.py": MANY[rule](count)}), tmp_path)
        assert len(answered.findings) == count
        return steps

    assert steps_for(40) < 2.2 * steps_for(20)


# --- what is not run as it stands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path, text, why",
    [
        ("app.py", "print 'hello'\n", "it is written for Python 2"),
        ("app.py", "raise ValueError, 'no'\n", "it is written for Python 2"),
        ("app.py", "import asyncio\n\n\ndef run():\n    asyncio.async(f'')\n", "it is written for a Python before 3.7"),
        ("app.py", "class <%= name %>:\n    pass\n", "it is a template"),
        ("app.py", "../other.py", "line 1 cannot be parsed, and nothing in it is of Python 3"),
        ("app.py", "send(read)\n", "it uses 2 unknown names"),
        ("tests/data/app.py", "print(missing)\n", "tests read it, and it cannot run: F821 in line 1"),
        ("a/testlibs/app.py", "print(missing)\n", "tests read it, and it cannot run: F821 in line 1"),
        ("tests/format/app.py", "def broken(:\n", "tests read it, and it cannot run: invalid-syntax in line 1"),
    ],
)
def test_a_file_that_is_not_run_as_it_stands_is_neither_rejected_nor_checked(
    tmp_path: Path, path: str, text: str, why: str
) -> None:
    told = answer_alone(written(tmp_path, {path: text}), tmp_path)
    assert told.findings == ()
    assert [(one.path, one.why, one.waived) for one in told.unchecked] == [(path, why, False)]


def test_a_name_that_two_files_lack_comes_from_whoever_runs_them(tmp_path: Path) -> None:
    told = answer_alone(written(tmp_path, {"a.py": "cmd(1)\n", "b.py": "cmd(2)\n"}), tmp_path)
    assert told.findings == ()
    assert [(one.path, one.why) for one in told.unchecked] == [
        ("a.py", "cmd is unknown in other files, too"),
        ("b.py", "cmd is unknown in other files, too"),
    ]


def test_nothing_that_makes_a_file_look_unfit_to_run_hides_a_security_finding(tmp_path: Path) -> None:
    told = answer_alone(written(tmp_path, {"app.py": f"{SHELL}\n\nfirst(second)\n"}), tmp_path)
    assert (told.verdict, [one.category for one in told.findings]) == ("reject", ["security/S602"])


def test_a_file_that_could_not_be_parsed_before_the_change_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def broken(:\n    pass\n\n\ndef worse(:\n    pass\n")
    hunk = Hunk(4, 2, 4, 3, "", (" ", "+def worse(:", "     pass"))
    told = answer_alone((FileChange(Status.MODIFIED, "app.py", added=1, hunks=(hunk,)),), tmp_path)
    assert told.findings == ()
    assert [one.path for one in told.unchecked] == ["app.py"]


# --- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["app.py", "app.pyi", "app.PY"])
def test_a_file_with_line_ends_that_git_does_not_count_is_not_checked(tmp_path: Path, path: str) -> None:
    lines = ("+# a\r# b\r# c", "+print(missing)")
    (tmp_path / path).write_bytes(b"# a\r# b\r# c\nprint(missing)\n")
    file = FileChange(Status.ADDED, path, old_mode="000000", added=2, hunks=(Hunk(0, 0, 1, 2, "", lines),))
    told = answer_alone((file,), tmp_path)
    assert [(one.path, one.why) for one in told.unchecked] == [(path, "it has line ends that git does not count")]
    assert f"Not checked: {path}." in told.summary


def test_a_file_with_the_line_ends_of_windows_is_checked(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_bytes(b"import os\r\nprint(missing)\r\n")
    told = answer_alone((added_file("app.py", "import os\nprint(missing)\n"),), tmp_path)
    assert told.unchecked == ()
    assert [one.line for one in told.findings] == [2]


@pytest.mark.parametrize("path", ["app.py", "app.PY", "app.Pyi", "@app.py", "a/@b.PY"])
def test_whatever_counts_as_python_is_read_as_python(tmp_path: Path, path: str) -> None:
    assert found(tmp_path, path, "print(missing)\n") == {"F821": "high"}


@pytest.mark.parametrize("path", ["tests/data/conftest.py", "a_pb2.py"])
def test_a_name_that_says_generated_or_test_data_hides_nothing_serious(tmp_path: Path, path: str) -> None:
    told = answer_alone(written(tmp_path, {path: f"print(missing)\n\n\n{UNUSED}"}), tmp_path)
    assert (told.verdict, [one.category for one in told.findings]) == ("reject", ["bug/F821"])


def test_a_line_that_is_nested_too_deeply_for_python_ends_no_review(tmp_path: Path) -> None:
    told = answer_alone(written(tmp_path, {"app.py": f"y = {'~' * 6_000}1\nprint(missing)\n"}), tmp_path)
    assert (told.verdict, [one.category for one in told.findings]) == ("reject", ["bug/F821"])


def test_a_vendored_file_is_judged_as_any_other(tmp_path: Path) -> None:
    assert found(tmp_path, "vendor/a.py", UNUSED) == {"B015": "medium"}


@pytest.mark.parametrize("path, text", [("tests/data/a.py", "def f(:\n"), ("b.py", "text = unicode\n")])
def test_leave_for_what_no_rule_reads_lets_nothing_pass_that_a_rule_has_read(
    tmp_path: Path, path: str, text: str
) -> None:
    told = answer_alone(written(tmp_path, {path: text}), tmp_path, allow_unchecked=True)
    assert [one.waived for one in told.unchecked] == [False]


def test_a_vendored_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    told = answer_alone((added_file("vendor/gone.py", CLEAN),), tmp_path)
    assert [one.path for one in told.unchecked] == ["vendor/gone.py"]
