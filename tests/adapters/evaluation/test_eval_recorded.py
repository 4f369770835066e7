"""``eval run`` on answers of earlier reviews, and on commits of a repository that already exists."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.adapters.command_line import Done, Terminal
from tests.adapters.git_repository import Repo

pytestmark = pytest.mark.every_case

SHELL = """import subprocess


def deliver(name):
    return subprocess.call(["cp", name, "/srv/archive"], shell=True)
"""
LABEL = '[[labels]]\nfile = "delivery.py"\nfirst_line = 5\nseverity = "high"\ntext = "A name runs any command."\n'
CASE = f'kind = "faulty"\nexhaustive = true\n[[files]]\npath = "delivery.py"\nafter = """\n{SHELL}\n"""\n{LABEL}'
CLEAN = 'kind = "clean"\n[[files]]\npath = "a.py"\nafter = "total = 1 + 2\\n"\n'
ARM = ("--arms", "executor-only")


def written(folder: Path, **cases: str) -> Path:
    for name, text in cases.items():
        path = folder / f"{name.replace('__', '/')}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return written(tmp_path / "cases", python__shell=CASE)


@pytest.fixture
def recorded(terminal: Terminal, cases: Path, tmp_path: Path) -> Path:
    out = ("--out", str(tmp_path / "made"))
    done = terminal.run("eval", "run", "--set", str(cases), "--answers", "embedded", *ARM, *out)
    assert done.code == 0, done.err
    (outcome,) = (tmp_path / "made").rglob("outcome.json")
    return outcome


def scored(terminal: Terminal, cases: Path, recordings: Path) -> Done:
    out = ("--out", str(recordings.parent / "again"), "--json")
    given = ("--answers", "recorded", "--recorded", str(recordings))
    return terminal.run("eval", "run", "--set", str(cases), *given, *ARM, *out)


def recall(done: Done) -> float:
    assert done.code == 0, done.err
    found: float = json.loads(done.out)["arms"][0]["measures"]["recall"]["value"]
    return found


def laid_out(outcome: Path, place: Path) -> None:
    place.parent.mkdir(parents=True)
    shutil.copy(outcome, place)


def test_outcomes_may_lie_where_their_case_is_called_so(
    terminal: Terminal, cases: Path, recorded: Path, tmp_path: Path
) -> None:
    laid_out(recorded, tmp_path / "mine/python/shell/executor-only/1/outcome.json")

    assert recall(scored(terminal, cases, tmp_path / "mine")) == 1.0


def test_other_recordings_are_another_evaluation(
    terminal: Terminal, cases: Path, recorded: Path, tmp_path: Path
) -> None:
    place = tmp_path / "mine/python/shell/executor-only/1/outcome.json"
    laid_out(recorded, place)
    first = scored(terminal, cases, tmp_path / "mine")
    place.write_text(recorded.read_text().replace(str(json.loads(recorded.read_text())["run_id"]), "another"))
    second = scored(terminal, cases, tmp_path / "mine")

    assert json.loads(first.out)["id"] != json.loads(second.out)["id"]
    assert "All was there already" not in second.err


def test_a_folder_without_these_recordings_is_no_result(terminal: Terminal, cases: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    for folder, says in (("none", "is no folder."), ("empty", "has no CASE/ARM/REPETITION/outcome.json of these")):
        refused = scored(terminal, cases, tmp_path / folder)
        assert refused.code == 2
        assert says in refused.sentence
    assert not (tmp_path / "again").exists()


@pytest.mark.one_of_its_kind
def test_an_outcome_of_another_change_is_refused(terminal: Terminal, recorded: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other", sum=CLEAN)
    laid_out(recorded, tmp_path / "mine/sum/executor-only/1/outcome.json")

    refused = scored(terminal, other, tmp_path / "mine")

    assert refused.code == 2
    assert "outcome.json is of another change than sum: of " in refused.sentence


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Repo, str]:
    """A repository, and a case about two of its commits; its name is not that of a folder."""
    repo = Repo(tmp_path / "clone")
    repo.write("delivery.py", "import subprocess\n")
    base = repo.commit("Begin")
    repo.write("delivery.py", SHELL)
    head = repo.commit("Deliver")
    case = f'kind = "faulty"\nrepository = "octo/hello"\nbase = "{base}"\nhead = "{head}"\n{LABEL}'
    return repo, case


def test_commits_are_reviewed_in_the_clone_that_is_named(
    terminal: Terminal, repository: tuple[Repo, str], tmp_path: Path
) -> None:
    repo, text = repository
    named = written(tmp_path / "named", pull=text)
    itself = written(tmp_path / "itself", pull=text.replace("octo/hello", str(repo.path)))
    ways = [(named, ("--clone", str(repo.path))), (named, ("--clone", f"Octo/Hello={repo.path}")), (itself, ())]

    for number, (cases, clone) in enumerate(ways):
        out = ("--out", str(tmp_path / f"out{number}"), "--json")
        done = terminal.run("eval", "run", "--set", str(cases), "--answers", "embedded", *ARM, *clone, *out)
        assert recall(done) == 1.0


def test_without_the_commits_nothing_is_asked(terminal: Terminal, repository: tuple[Repo, str], tmp_path: Path) -> None:
    cases = written(tmp_path / "cases", a=CLEAN, pull=repository[1])
    (tmp_path / "elsewhere").mkdir()
    Repo(tmp_path / "elsewhere")
    words = ("eval", "run", "--set", str(cases), "--answers", "embedded", *ARM, "--out", str(tmp_path / "out"))
    ways = (
        ((), "A case is about commits of octo/hello: name a clone of it with --clone."),
        (("--clone", str(tmp_path / "elsewhere")), "does not hold the commit"),
        (("--clone", "a", "--clone", "b"), "--clone without OWNER/NAME= is the clone of every other repository"),
    )

    for clone, says in ways:
        refused = terminal.run(*words, *clone)
        assert refused.code == 2
        assert says in refused.sentence
    assert not (tmp_path / "out").exists()
