"""A checkout that wants to take part: its modules are not imported, its words are not commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal, fake_claude, project, script, scripted_review
from tests.adapters.git_repository import Repo

from review_advisor.review.report import report_text

MODULES = ("json", "sitecustomize", "usercustomize", "click", "pydantic", "rich", "signal", "ruff")
SECRET = "ghp_" + "a1B2" * 9
NASTY = f"fine\n::error file=x::pwned\n##[error]pwned \x1b[31mred\x1b]0;title\x07 {SECRET} \u202eabc"


def harmless(text: str) -> bool:
    commands = [line for line in text.splitlines() if line.lstrip().startswith("::") or "##[" in line]
    return not commands and not {"\x1b", "\x07", "\u202e"} & set(text) and SECRET not in text


@pytest.mark.every_case
def test_no_module_of_the_checkout_is_imported(terminal: Terminal, tmp_path: Path) -> None:
    repo = Repo(terminal.folder)
    mark = tmp_path / "imported"
    trap = f"open({str(mark)!r}, 'a').write(__name__)\nraise SystemExit(0)\n"
    for name in MODULES:
        repo.write(f"{name}.py", trap)
    for package in ("review_advisor", "review_advisor/embedded", "pathspec"):
        repo.write(f"{package}/__init__.py", trap)
        repo.write(f"{package}/__main__.py", trap)
    repo.commit("A trap")
    embedded = ("--agent", "embedded", "--range", "HEAD~1..HEAD")
    done = terminal.process("review", *embedded)
    assert done.code in (0, 10, 11), done.err
    assert not mark.exists()
    done = terminal.process("demo")
    assert done.code == 0
    assert not mark.exists()


@pytest.mark.every_case
def test_neither_git_nor_claude_of_the_checkout_is_run(terminal: Terminal, tmp_path: Path) -> None:
    mark = tmp_path / "run"
    for name in ("git", "claude", "python", "ruff"):
        fake_claude(terminal.folder / name, then=f"touch {mark}")
        (terminal.folder / name / "claude").rename(terminal.folder / name / name)
    places = ":".join(str(terminal.folder / name) for name in ("git", "claude", "python", "ruff"))
    path = {"PATH": f"{places}:.:{terminal.environment()['PATH']}"}
    assert terminal.process("review", "--agent", "embedded", "--range", "HEAD~1..HEAD", env=path).code == 0
    assert not mark.exists()


def test_what_the_models_say_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    repo = project(tmp_path / "project")
    finding = {
        "path": "app.py",
        "line": 2,
        "severity": "low",
        "category": NASTY,
        "title": NASTY,
        "body": NASTY,
        "confidence": 0.9,
        "evidence": "y = 2",
        "suggestion": NASTY,
    }
    report = {"answer": {"verdict": "reject", "summary": NASTY, "confidence": 0.9, "findings": [finding]}}
    verdict = {"answer": {"verdict": "APPROVE", "reasoning": NASTY}}
    review = scripted_review(repo.path, script(tmp_path, ReviewReport=[report], PostVerifyResult=[verdict]))
    assert harmless(report_text(review.document))
    assert "pwned" in report_text(review.document)
    assert SECRET not in (review.folder / "outcome.json").read_text()


def test_what_the_change_says_is_shown_and_never_obeyed(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write(b"a\n::error::x\x1b[31m.py", "z = 1\n")
    repo.commit(f"::error::pwned \x1b[31m {SECRET}\n\n{NASTY}")
    done = terminal.review()
    assert done.code == 0, done.err
    assert harmless(done.out)
    assert harmless(done.err)


def test_what_a_claude_says_about_itself_is_not_obeyed(terminal: Terminal, tmp_path: Path) -> None:
    claude = fake_claude(tmp_path, then="cat > /dev/null; printf '::error::x\\n\\033[31mred' >&2; exit 3")
    credential = {"ANTHROPIC_API_KEY": "none-needed"}
    done = terminal.run("review", "--range", "HEAD~1..HEAD", "--claude-bin", claude, env=credential)
    assert done.code == 12
    assert harmless(done.out)
    assert harmless(done.err)


def test_no_line_break_of_ours_turns_words_into_a_command(tmp_path: Path) -> None:
    """The runner obeys ``::error`` at the start of a line, indented or not: wherever the report wraps, too."""
    repo = project(tmp_path / "project")
    document = scripted_review(repo.path, script(tmp_path)).document
    titles = [f"{'x' * length}{gap}::error::pwned" for length in range(120) for gap in ("", " ", "- ")]
    reports = [report_text(replace(document, title=title, because=(title,))) for title in titles]
    assert [report for report in reports if not harmless(report)] == []
