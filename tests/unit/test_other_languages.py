"""Static checks of other languages than Python, by the programs that are installed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.changes import added_file

from review_advisor.agents.answers import ReviewReport
from review_advisor.agents.static.checks import StaticChecks, require_extra
from review_advisor.agents.static.material import Material
from review_advisor.agents.static.programs import CheckerError, bounded_run
from review_advisor.agents.static.roles import report
from review_advisor.app.review import installed
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.checker_settings import CHECKERS, languages_of, switched_off
from review_advisor.change.diff_text import changed_lines, render_files, shown_path

WORKFLOW = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: {}\n"
INJECTED = WORKFLOW.format("echo ${{ github.event.issue.title }}")
FLOW_FILE = ".github/workflows/ci.yml"
DUPLICATE = "export const a = { b: 1, b: 2 };\n"


def answered(
    tree: Path,
    files: Sequence[FileChange],
    programs: Mapping[str, str] | None = None,
    allowed: Mapping[str, Sequence[str]] | None = None,
) -> ReviewReport:
    lines = tuple(changed_lines(render_files(files)))
    checks = StaticChecks(lines, tree, (), installed() if programs is None else programs, allowed)
    return report(Material(lines=lines), checks, "", None)


def written(tree: Path, path: str, text: str) -> FileChange:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(text, encoding="utf-8")
    return added_file(path, text)


def found(tree: Path, path: str, text: str, allowed: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    told = answered(tree, [written(tree, path, text)], allowed=allowed)
    assert told.unchecked == ()
    return {one.category.partition("/")[2]: one.severity for one in told.findings}


def test_the_environment_of_the_tests_has_every_program() -> None:
    assert set(installed()) == {checker.name for checker in CHECKERS}
    assert languages_of(installed()) == {"JavaScript", "TypeScript", "Shell", "GitHub Actions"}
    assert [each.split()[0] for each in require_extra(installed()).split(", ")] == ["ruff", *installed()]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "path, text, rules",
    [
        ("app.js", DUPLICATE, {"no-dupe-keys": "medium"}),
        ("app.ts", "const a: number = 1;\na = 2;\n", {"no-const-assign": "high"}),
        ("app.tsx", "export const a = <div>{!b in c}</div>;\n", {"no-unsafe-negation": "medium"}),
        ("app.js", "export const f = (a) => {\n  debugger;\n  return eval(a);\n  f();\n};\n", {}),
        ("types.d.ts", "export class A {\n  constructor(a: string);\n  set(a: string): A;\n}\n", {}),
        ("app.test.js", "describe.only('a', () => {});\n", {"no-focused-tests": "medium"}),
        ("run.sh", "#!/bin/bash\nif [ -n $1 ]; then echo; fi\n", {"SC2070": "medium"}),
        ("run.sh", 'rm -rf "$FOLDER/"\nls $@\n', {}),
        ("run.sh", "echo $1\n", {}),
        (FLOW_FILE, INJECTED, {"template-injection": "high"}),
        (
            FLOW_FILE,
            WORKFLOW.format("|\n          true\n          echo ${{ github.head_ref }}"),
            {"template-injection": "high"},
        ),
        (FLOW_FILE, WORKFLOW.format("echo ${{ inputs.name }} ${{Matrix.version}} ${{ github.sha }}"), {}),
        (FLOW_FILE, WORKFLOW.format("echo hello"), {}),
        (FLOW_FILE, WORKFLOW.format("echo ${{ github.event.pull_request.base.label }}"), {}),
        (
            FLOW_FILE,
            WORKFLOW.format("echo ${{ github.event.pull_request.head.label }}"),
            {"template-injection": "high"},
        ),
        ("app.js", "export const a = typeof b === 'strnig';\n", {}),
        (FLOW_FILE, WORKFLOW.format("echo ${{ github.event.release.tag_name }}"), {}),
        ("app.test.js", DUPLICATE, {}),
        (FLOW_FILE, WORKFLOW.format("echo ${{ github.ref_name }}"), {}),
        (FLOW_FILE, WORKFLOW.replace("on: push", "on: pull_request_target").format("gh pr checkout 1"), {}),
    ],
)
def test_what_is_broken_is_found_and_style_is_not(
    tmp_path: Path, path: str, text: str, rules: Mapping[str, str]
) -> None:
    assert found(tmp_path, path, text) == rules


@pytest.mark.parametrize("path", ["app.min.js", "tests/app.test.js"])
def test_no_name_hides_what_is_serious_in_another_language(tmp_path: Path, path: str) -> None:
    assert found(tmp_path, path, "const a = 1;\na = 2;\n") == {"no-const-assign": "high"}


@pytest.mark.parametrize(
    "path, text, why",
    [
        ("tests/data/app.js", "const a = 1;\na = 2;\n", "tests read it, and it cannot run: no-const-assign in line 2"),
        ("app.js", "const a = 1;" + " " * 2_000 + "a = 2;\n", "a program packed it"),
    ],
)
def test_what_is_serious_where_nobody_could_mend_it_is_not_checked_instead(
    tmp_path: Path, path: str, text: str, why: str
) -> None:
    told = answered(tmp_path, [written(tmp_path, path, text)])
    assert told.findings == ()
    assert [(one.path, one.why, one.waived) for one in told.unchecked] == [(path, why, False)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "expression",
    [
        "github['head_ref']",
        "github.EVENT.issue.title",
        "github.event['issue'].title",
        "github . head_ref",
        "toJSON(github.event)",
        "github.event.label.name",
        "inputs.name || github.event.issue.title",
    ],
)
def test_no_spelling_of_what_outsiders_write_hides_an_injection(tmp_path: Path, expression: str) -> None:
    text = WORKFLOW.format("echo ${{ inputs.name }} ${{ " + expression + " }}")
    assert found(tmp_path, FLOW_FILE, text) == {"template-injection": "high"}


@pytest.mark.parametrize(
    "sets",
    [
        "",
        "env:\n  TITLE: ${{ github.sha }}\n",
        "env:\n  TITLE: ${{ github.event.issue.title }}\n",
        "env:\n  TITLE: >-\n    ${{ github.event.issue.title }}\n",
    ],
)
def test_a_variable_may_come_from_anywhere_and_hides_no_injection(tmp_path: Path, sets: str) -> None:
    text = WORKFLOW.format("echo ${{ env.TITLE }}")
    assert found(tmp_path, FLOW_FILE, sets + text) == {"template-injection": "high"}


def test_of_the_expressions_of_one_step_those_of_outsiders_are_told(tmp_path: Path) -> None:
    text = WORKFLOW.format(
        "|\n          echo ${{ github.event.pull_request.base.ref }}\n          echo ${{ github.head_ref }}"
    )
    told = answered(tmp_path, [written(tmp_path, FLOW_FILE, text)])
    assert [text.split("\n")[one.line - 1].strip() for one in told.findings] == ["echo ${{ github.head_ref }}"]


def test_only_added_lines_are_remarked_on_in_other_languages(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(DUPLICATE + "export const c = 1;\n")
    hunk = Hunk(1, 1, 1, 2, "", (" " + DUPLICATE.strip(), "+export const c = 1;"))
    file = FileChange(Status.MODIFIED, "app.js", added=1, hunks=(hunk,))
    assert answered(tmp_path, [file]).findings == ()


def test_a_remark_stands_on_whichever_of_its_lines_is_added(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text("const a = 1;\na = 2;\n")
    hunk = Hunk(1, 2, 1, 2, "", ("-let a = 1;", "+const a = 1;", " a = 2;"))
    file = FileChange(Status.MODIFIED, "app.js", added=1, removed=1, hunks=(hunk,))
    (one,) = answered(tmp_path, [file]).findings
    assert (one.category, one.line) == ("bug/no-const-assign", 1)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "config, says",
    [
        (".oxlintrc.json", '{"rules": {"no-dupe-keys": "off"}, "ignorePatterns": ["**"]}'),
        (".eslintignore", "*"),
        (".gitignore", "*"),
        (".shellcheckrc", "disable=SC2070"),
        (".github/zizmor.yml", "rules: {template-injection: {disable: true}}"),
    ],
)
@pytest.mark.parametrize("folder", ["", "src/"])
def test_the_heads_own_configuration_of_a_checker_counts_for_nothing(
    tmp_path: Path, folder: str, config: str, says: str
) -> None:
    written(tmp_path, folder + config, says)
    assert found(tmp_path, "src/app.js", DUPLICATE) == {"no-dupe-keys": "medium"}
    assert found(tmp_path, "src/run.sh", "[ -n $1 ]\n") == {"SC2070": "medium"}
    assert found(tmp_path, FLOW_FILE, INJECTED) == {"template-injection": "high"}


def test_what_the_base_switches_off_is_not_told(tmp_path: Path) -> None:
    assert found(tmp_path, "app.js", DUPLICATE, {"oxlint": ["no-dupe-keys"]}) == {}
    assert found(tmp_path, "app.js", DUPLICATE, {"shellcheck": ["no-dupe-keys"]}) == {"no-dupe-keys": "medium"}


@pytest.mark.parametrize(
    "checker, text, rules",
    [
        (
            "oxlint",
            '{\n // mild\n"rules": {"eslint/no-eval": "off", "a": 0, "b": ["off"], "c": "warn"}}',
            "no-eval a b",
        ),
        ("oxlint", "{", ""),
        ("oxlint", '{"rules": ["no-eval"]}', ""),
        ("shellcheck", "external-sources=true\ndisable=SC2199,SC2115\n# disable=SC1\n", "SC2199 SC2115"),
        ("shellcheck", "nonsense", ""),
        ("zizmor", "rules:\n  github-env: {disable: true}\n  artipacked: {ignore: [a.yml]}\n", "github-env"),
        ("zizmor", "rules: [a", ""),
        ("zizmor", "- rules", ""),
    ],
)
def test_a_configuration_switches_off_what_it_names(checker: str, text: str, rules: str) -> None:
    assert switched_off(checker, text) == tuple(rules.split())


@pytest.mark.parametrize(
    "path, text",
    [
        ("app.js", "// eslint-disable-next-line\n" + DUPLICATE),
        ("app.js", "/* oxlint-disable */\n" + DUPLICATE),
        ("run.sh", "# shellcheck disable=SC2070\n[ -n $1 ]\n"),
        ("run.sh", "#\u00a0shellcheck disable=SC2070\n[ -n $1 ]\n"),
        ("run.sh", "#\u00a0shellcheck\u00a0disable=all\n[ -n $1 ]\n"),
        ("app.js", "__webpack_require__(1);\n" + DUPLICATE),
    ],
)
def test_what_is_silenced_in_other_languages_is_counted_and_named(tmp_path: Path, path: str, text: str) -> None:
    told = answered(tmp_path, [written(tmp_path, path, text)])
    assert (told.verdict, told.findings) == ("approve", ())
    assert "Not reported, because the code says so: 1 (" in told.summary


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "path, text",
    [
        ("app.js", "/* eslint-disable */\nconst a = 1;\na = 2; // eslint-disable-line\n"),
        (FLOW_FILE, INJECTED.rstrip("\n") + " # zizmor: ignore[template-injection]\n"),
        (FLOW_FILE, INJECTED.rstrip("\n") + " # zizmor:ignore[template-injection]\n"),
        (FLOW_FILE, INJECTED.rstrip("\n") + " # zizmor: ignore[template-injection] shellcheck\n"),
    ],
)
def test_no_comment_in_another_language_turns_a_rejection_into_an_approval(
    tmp_path: Path, path: str, text: str
) -> None:
    assert answered(tmp_path, [written(tmp_path, path, text)]).verdict == "reject"


@pytest.mark.parametrize(
    "path", ["--fix.js", "-c.js", "a b;$(touch c).js", "rules.json.js", "deep/--config=x.JS", "é.js"]
)
def test_a_hostile_file_name_is_only_a_name(tmp_path: Path, path: str) -> None:
    assert found(tmp_path, path, DUPLICATE) == {"no-dupe-keys": "medium"}
    assert [each.name for each in tmp_path.rglob("*") if each.is_file()] == [Path(path).name]


@pytest.mark.parametrize(
    "path, text, why",
    [
        ("run.sh", "#!/usr/bin/env zsh\necho ${(U)x}\n", "ShellCheck does not know its shell"),
        (FLOW_FILE, "on: [push\n", "zizmor cannot read it as a workflow"),
        ("big.js", "//" + "x" * 2_000_000 + "\n", "it has more than 2,000,000 bytes"),
        ('a"b.js', DUPLICATE, "its name cannot be shown as it is"),
    ],
)
def test_a_file_that_its_checker_cannot_read_is_named(tmp_path: Path, path: str, text: str, why: str) -> None:
    told = answered(tmp_path, [written(tmp_path, path, text)])
    assert [(each.path, each.why) for each in told.unchecked] == [(shown_path(path), why)]
    assert f"Not checked: {shown_path(path)}." in told.summary


@pytest.mark.parametrize("path", ["app.js", "app.ts"])
def test_a_script_with_line_ends_that_git_does_not_count_is_not_checked(tmp_path: Path, path: str) -> None:
    (tmp_path / path).write_bytes(b"// a\r// b\r// c\n" + DUPLICATE.encode())
    told = answered(tmp_path, [added_file(path, "// a\r// b\r// c\n" + DUPLICATE)])
    assert [(each.path, each.why) for each in told.unchecked] == [(path, "it has line ends that git does not count")]


def test_a_file_that_a_removed_line_breaks_is_named(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text("function a() {\n")
    file = FileChange(Status.MODIFIED, "app.js", removed=1, hunks=(Hunk(1, 2, 1, 1, "", (" function a() {", "-}")),))
    (unchecked,) = answered(tmp_path, [file]).unchecked
    assert unchecked.why.startswith("line ")


def executable(folder: Path, says: str) -> str:
    program = folder / "oxlint"
    program.write_text(f"#!{sys.executable}\n{says}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    "says, why",
    [
        ("raise SystemExit(2)", "oxlint ended with 2"),
        ("print('not JSON')", "what oxlint wrote cannot be read"),
        ("", "what oxlint wrote cannot be read"),
    ],
)
def test_a_checker_that_fails_has_checked_nothing(tmp_path: Path, says: str, why: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    told = answered(tree, [written(tree, "app.js", DUPLICATE)], {"oxlint": executable(tmp_path, says)})
    assert [(each.path, each.why) for each in told.unchecked] == [("app.js", why)]


def test_a_file_that_stops_the_checker_leaves_no_other_file_unread(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    texts = {"a.js": DUPLICATE, "b.js": "hostile\n", "c.js": DUPLICATE}
    says = (
        "import json, pathlib, sys\n"
        "copies = sys.argv[sys.argv.index('--') + 1 :]\n"
        "if any('hostile' in pathlib.Path(each).read_text() for each in copies):\n    raise SystemExit(2)\n"
        "said = [{'filename': each, 'message': 'm', 'code': 'eslint(no-dupe-keys)'} for each in copies]\n"
        "print(json.dumps({'diagnostics': said}))"
    )
    files = [written(tree, path, text) for path, text in texts.items()]
    told = answered(tree, files, {"oxlint": executable(tmp_path, says)})
    assert [(each.path, each.why) for each in told.unchecked] == [("b.js", "oxlint ended with 2")]
    assert [each.path for each in told.findings] == ["a.js", "c.js"]


def test_a_checker_that_is_gone_has_checked_nothing(tmp_path: Path) -> None:
    told = answered(tmp_path, [written(tmp_path, "app.js", DUPLICATE)], {"oxlint": str(tmp_path / "gone")})
    assert [each.why for each in told.unchecked] == ["gone cannot be run: No such file or directory"]


def test_a_checker_is_bounded_in_time_and_output(tmp_path: Path) -> None:
    with pytest.raises(CheckerError, match="did not end within 0 seconds"):
        bounded_run([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, timeout=0.05)
    with pytest.raises(CheckerError, match="more than 100 bytes"):
        bounded_run([sys.executable, "-c", "while True: print('x' * 1000)"], tmp_path, most_output=100)
