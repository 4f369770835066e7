"""``retro apply``: one branch, one commit, one file, and only after an evaluation by exactly these rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Done, Terminal
from tests.adapters.git_repository import Repo
from tests.unit.retro.test_proposals import answer, proposal

from review_advisor.app.configuration import load_instructions
from review_advisor.app.eval import read_arm
from review_advisor.lab.evaluation_folder import keep_evaluation
from review_advisor.lab.trials import USUAL_ARMS, Arm, CountedTrial, EvaluationManifest, ReviewSums, Trial
from review_advisor.tasks.retro import checked_proposals

pytestmark = pytest.mark.every_case

RULE = "- Say it once."
THRESHOLD = "[[threshold]]\nvalue = 0.8"
EDIT = proposal("review_rules", id="say-once", title="Say it once", proposed_change=f"Append to REVIEW.md:\n{RULE}")
TUNED = proposal(
    "threshold_table",
    id="tuned",
    proposed_change=f"Append to .review-advisor/thresholds.toml:\n{THRESHOLD}",
)
BRANCH = "review-advisor/retro-say-once"


@pytest.fixture
def file(terminal: Terminal) -> Path:
    """Proposals, outside of the repository."""
    path = terminal.folder.parent / "proposals" / "improvement_proposals.json"
    path.parent.mkdir()
    path.write_text(checked_proposals(answer(EDIT, TUNED), "run-1").as_json())
    return path


def evaluation(
    folder: Path,
    arm: Arm,
    today: Arm,
    *,
    share: float = 1.0,
    before: float = 0.5,
    missed: float = 1.0,
    lost: int = 0,
    **facts: Any,
) -> Path:
    """By models: the arm reviews so large a share correctly for half the price of a single, and today's rules another.

    ``missed``: how many known faults each review misses. ``lost``: how many reviews by today's rules got no answer.
    """
    singles = USUAL_ARMS[:2]
    manifest = EvaluationManifest(
        schema="evaluation.v1",
        answers="live",
        set_name="own",
        set_digest="d" * 64,
        cases=tuple(f"case-{number}" for number in range(40)),
        arms=tuple(each.facts for each in (*singles, today, arm)),
        prompts=load_instructions().version,
    )
    manifest = replace(manifest, **facts)
    trials = [
        CountedTrial(
            Trial(case, each.name, 1, "approved", "complete", usd=usd),
            case,
            ReviewSums(reviews=1, decidable=1, correct=right, missed=missed, usd=usd),
        )
        for case in manifest.cases
        for each, right, usd in (*((single, 0.5, 0.2) for single in singles), (today, before, 0.1), (arm, share, 0.1))
    ]
    silent = [each for each in trials if each.trial.arm == today.name][:lost]
    trials = [_lost(each) if each in silent else each for each in trials]
    keep_evaluation(folder, manifest, trials)
    return folder


def _lost(review: CountedTrial) -> CountedTrial:
    """As an outage leaves it: nothing was found, and nothing paid."""
    trial = replace(review.trial, verdict="none", status="lost", usd=0.0, why="An outage.")
    return replace(review, trial=trial, sums=ReviewSums(reviews=1, decidable=1, missed=1, lost=1))


def apply(terminal: Terminal, file: Path, *words: str | Path, proposal: str = "say-once") -> Done:
    return terminal.run("retro", "apply", file, "--proposal", proposal, *words)


def state(repo: Repo) -> tuple[bytes, ...]:
    """All that a branch must leave alone: HEAD, the index, the files and their states."""
    index = (repo.path / ".git" / "index").read_bytes()
    return index, repo.git("symbolic-ref", "HEAD"), repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")


def test_without_an_evaluation_there_is_no_branch_and_the_arm_to_evaluate_is_written(
    terminal: Terminal, file: Path
) -> None:
    repo = Repo(terminal.folder)
    repo.write("REVIEW.md", "# Rules\n")
    repo.write(".review-advisor.toml", 'fail_on = "degraded"\n')
    repo.commit()
    before = state(repo)
    done = apply(terminal, file)

    assert done.code == 2
    arm = file.parent / "arm-retro-say-once"
    assert done.sentence.startswith(
        "No branch is made without an evaluation of these rules beside today's. Run `review-advisor eval run"
    )
    today = file.parent / "arm-today-say-once"
    assert f"--arm today-say-once={today} --arm retro-say-once={arm}`" in done.sentence
    assert (today / "REVIEW.md").read_text() == "# Rules\n"
    assert (arm / "REVIEW.md").read_text() == f"# Rules\n\n{RULE}\n"
    assert (arm / ".review-advisor.toml").read_text() == 'fail_on = "degraded"\n'
    assert state(repo) == before
    assert repo.git("branch", "--list", "--all") == b"* main\n"


@pytest.mark.one_of_its_kind
def test_an_evaluated_proposal_becomes_a_branch_of_one_commit_with_one_file(terminal: Terminal, file: Path) -> None:
    repo = Repo(terminal.folder)
    repo.write("REVIEW.md", "# Rules\n")
    head = repo.commit()
    repo.write("app.py", "changed = True\n")
    apply(terminal, file)
    done = evaluated(terminal, file)

    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == f"branch: {BRANCH}"
    assert done.out.splitlines()[-1] == f"set: own ({'d' * 64})"
    assert f"evaluated on own ({'d' * 64})." in repo.git("log", "-1", "--format=%b", BRANCH).decode()
    assert "the pull request of this branch is judged with veto authority, and a person has to approve it" in done.err
    assert repo.git("rev-list", "--count", f"{head}..{BRANCH}") == b"1\n"
    assert repo.rev(f"{BRANCH}~1") == head
    assert repo.git("diff", "--name-status", head, BRANCH) == b"M\tREVIEW.md\n"
    assert repo.git("show", f"{BRANCH}:REVIEW.md").decode() == f"# Rules\n\n{RULE}\n"


def test_no_word_of_a_model_stands_in_the_commit(terminal: Terminal, file: Path) -> None:
    title = f"[skip ci] Say it once {'ghp_' + 'a1B2' * 9}"
    file.write_text(checked_proposals(answer(EDIT | {"title": title}), "run-1").as_json())
    repo = Repo(terminal.folder)
    apply(terminal, file)
    assert evaluated(terminal, file).code == 0
    told = repo.git("log", "-1", "--format=%B", BRANCH).decode()
    assert told.startswith("Apply the proposal say-once\n")
    assert "skip" not in told
    assert "ghp_" not in told


def evaluated(terminal: Terminal, file: Path, name: str = "say-once", **facts: Any) -> Done:
    """Apply it after an evaluation of the arms that ``apply`` wrote."""
    arm = read_arm(f"retro-{name}", file.parent / f"arm-retro-{name}")
    today = read_arm(f"today-{name}", file.parent / f"arm-today-{name}")
    folder = evaluation(file.parent / f"evaluation-{name}", arm, today, **facts)
    return apply(terminal, file, "--eval", folder, proposal=name)


@pytest.mark.every_case
def test_files_index_and_head_stay_as_they_are_also_from_a_folder_inside(terminal: Terminal, file: Path) -> None:
    repo = Repo(terminal.folder)
    repo.write("REVIEW.md", "# Rules\n")
    repo.write("deep/er/x.py", "x = 1\n")
    repo.commit()
    repo.write("app.py", "staged = True\n")
    repo.git("add", "app.py")
    repo.write("app.py", "unstaged = True\n")
    apply(terminal, file)
    before = state(repo)
    arm, today = (read_arm(name, file.parent / f"arm-{name}") for name in ("retro-say-once", "today-say-once"))
    folder = evaluation(file.parent / "evaluation", arm, today)
    done = terminal.run(
        "retro", "apply", file, "--proposal", "say-once", "--eval", folder, cwd=terminal.folder / "deep" / "er"
    )

    assert done.code == 0, done.err
    assert state(repo) == before
    assert repo.git("diff", "--name-status", "main", BRANCH) == b"M\tREVIEW.md\n"


def test_thresholds_become_a_branch_too_where_there_were_none(terminal: Terminal, file: Path) -> None:
    repo = Repo(terminal.folder)
    apply(terminal, file, proposal="tuned")
    assert evaluated(terminal, file, "tuned").code == 0
    name = "review-advisor/retro-tuned"
    assert repo.git("diff", "--name-status", "main", name) == b"A\t.review-advisor/thresholds.toml\n"
    assert repo.git("show", f"{name}:.review-advisor/thresholds.toml").decode() == f"{THRESHOLD}\n"


def test_a_branch_that_is_there_is_not_moved(terminal: Terminal, file: Path) -> None:
    repo = Repo(terminal.folder)
    apply(terminal, file)
    assert evaluated(terminal, file).code == 0
    first = repo.rev(BRANCH)
    again = evaluated(terminal, file)
    assert (again.code, again.sentence) == (2, f"There is a branch {BRANCH} already: delete it, or go on with it.")
    assert repo.rev(BRANCH) == first


@pytest.mark.parametrize(
    "facts, why",
    [
        ({"answers": "simulated"}, "no model was asked"),
        ({"prompts": "older"}, "other prompts"),
        ({"share": 0.15, "before": 0.0}, "says fail"),
        ({"share": 0.8, "before": 1.0}, "at most 2 points fewer correct reviews than today-say-once is not shown"),
        ({"lost": 32}, "cannot be compared: 32 of 40 reviews by today-say-once got no answer."),
        ({"missed": 0.0}, "No case of it has a fault that is known"),
    ],
)
def test_an_evaluation_that_does_not_show_it_makes_no_branch(
    terminal: Terminal, file: Path, facts: dict[str, Any], why: str
) -> None:
    apply(terminal, file)
    done = evaluated(terminal, file, **facts)
    assert done.code == 2
    assert why in done.sentence
    assert Repo(terminal.folder).git("branch", "--list", "--all") == b"* main\n"


def test_an_evaluation_of_other_rules_makes_no_branch(terminal: Terminal, file: Path) -> None:
    apply(terminal, file)
    repo = Repo(terminal.folder)
    repo.write("REVIEW.md", "# Rules that came later\n")
    repo.commit()
    done = evaluated(terminal, file)
    assert done.sentence.endswith("None of its arms reviewed by exactly these rules.")
    assert "holds no evaluation" in apply(terminal, file, "--eval", file.parent).sentence


@pytest.mark.parametrize(
    "change, name, why",
    [
        ({}, "memory-schema", "recommends no change"),
        ({}, "nobody", "has no proposal nobody"),
        ({"proposed_change": "Be stricter."}, "say-once", "a person has to make one of it"),
        ({"id": "ghp_" + "a1B2" * 9}, "ghp_" + "a1B2" * 9, "its id holds a secret"),
        ({"status": "approved"}, "say-once", "are not valid"),
        ({"target": "memory_schema"}, "say-once", "review-advisor memory approve"),
        ({"proposed_change": f"Append to REVIEW.md:\nkey {'ghp_' + 'a1B2' * 9}"}, "say-once", "holds a secret"),
    ],
)
def test_what_is_no_edit_is_refused_with_what_a_person_has_to_do(
    terminal: Terminal, file: Path, change: dict[str, Any], name: str, why: str
) -> None:
    file.write_text(checked_proposals(answer(EDIT | change), "run-1").as_json())
    done = apply(terminal, file, proposal=name)
    assert done.code == 2
    assert why in done.sentence
    assert not (file.parent / f"arm-retro-{name}").exists()


def test_a_file_of_something_else_and_a_repository_that_reads_no_such_rules_are_refused(
    terminal: Terminal, file: Path
) -> None:
    other = file.parent / "other.json"
    other.write_text(json.dumps({"schema_version": "improvement-proposals.v2"}))
    assert "holds no improvement proposals" in apply(terminal, other).sentence
    assert "cannot be read" in apply(terminal, file.parent / "none.json").sentence
    repo = Repo(terminal.folder)
    repo.write("REVIEW.md", f"{RULE}\n")
    repo.commit()
    assert "holds its text already" in apply(terminal, file).sentence
    repo.write(".review-advisor.toml", 'guideline_files = ["AGENTS.md"]\n')
    repo.commit()
    assert "The configuration has no review read REVIEW.md." in apply(terminal, file).sentence


def test_a_file_of_other_line_ends_keeps_them_and_gets_no_text_twice(terminal: Terminal, file: Path) -> None:
    repo = Repo(terminal.folder)
    repo.write("REVIEW.md", b"# Rules\r\n")
    repo.commit()
    apply(terminal, file)
    assert evaluated(terminal, file).code == 0
    assert repo.git("cat-file", "blob", f"{BRANCH}:REVIEW.md") == f"# Rules\r\n\r\n{RULE}\r\n".encode()


def test_rules_behind_a_symbolic_link_are_left_alone(terminal: Terminal, file: Path) -> None:
    repo = Repo(terminal.folder)
    repo.symlink("REVIEW.md", "app.py")
    repo.commit()
    done = apply(terminal, file)
    assert done.code == 2
    assert "symbolic link" in done.sentence


def test_a_folder_is_an_arm_whose_rules_a_golden_case_is_reviewed_by(terminal: Terminal, file: Path) -> None:
    """By static checks, which read no rules: what is seen is that they stand at the base."""
    apply(terminal, file)
    case = terminal.folder / "set" / "one.toml"
    case.parent.mkdir()
    case.write_text('kind = "clean"\n[[files]]\npath = "a.py"\nbefore = "x = 1\\n"\nafter = "x = 2\\n"\n')
    arm = file.parent / "arm-retro-say-once"
    words = ("--set", case.parent, "--answers", "embedded", "--arm", f"mine={arm}", "--out", "out", "--json")
    done = terminal.run("eval", "run", *words)

    assert done.code == 0, done.err
    (outcome,) = terminal.folder.glob("out/*/reviews/*/mine/1/outcome.json")
    policy = json.loads(outcome.read_text())["events"][0]
    assert "REVIEW.md" in json.dumps(policy)
    empty = file.parent / "empty"
    empty.mkdir()
    refused = terminal.run("eval", "run", "--set", case.parent, "--answers", "embedded", "--arm", f"mine={empty}")
    assert "holds neither .review-advisor.toml nor REVIEW.md" in refused.sentence
