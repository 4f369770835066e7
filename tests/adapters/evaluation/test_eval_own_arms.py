"""``eval run --arm NAME=FOLDER``: exactly the rules of the folder hold, and what would not is refused beforehand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Done, Terminal
from tests.adapters.git_repository import Repo

pytestmark = pytest.mark.every_case

OWN = "# Rules of the case\n"
CHANGE = """--- a/a.py
+++ b/a.py
@@ -1 +1 @@
-total = 1
+total = 2
"""
FILES = f"""kind = "clean"
files = [
  {{path = "REVIEW.md", before = {json.dumps(OWN)}, after = {json.dumps(OWN)}}},
  {{path = "a.py", before = "total = 1\\n", after = "total = 2\\n"}},
]
"""
PATCH = f"""kind = "clean"
patch = {json.dumps(CHANGE)}
files = [{{path = "REVIEW.md", before = {json.dumps(OWN)}}}, {{path = "a.py", before = "total = 1\\n"}}]
"""


@pytest.fixture
def clone(tmp_path: Path) -> Repo:
    """A clone with rules of its own and two commits."""
    repo = Repo(tmp_path / "clone")
    repo.write("REVIEW.md", OWN)
    repo.write("a.py", "total = 1\n")
    repo.commit("Begin")
    repo.write("a.py", "total = 2\n")
    repo.commit("Go on")
    return repo


@pytest.fixture
def cases(tmp_path: Path, clone: Repo) -> Path:
    """The same change as whole files, as a patch, and as commits."""
    folder = tmp_path / "cases"
    folder.mkdir()
    base, head = clone.rev("HEAD~1"), clone.rev("HEAD")
    named = f'kind = "clean"\nrepository = "octo/hello"\nbase = "{base}"\nhead = "{head}"\n'
    for name, text in (("files", FILES), ("patch", PATCH), ("commits", named)):
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """The change as whole files alone."""
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "files.toml").write_text(FILES, encoding="utf-8")
    return folder


def arm(folder: Path, **files: str) -> Path:
    """An arm: ``__`` of a name is a folder, and a file without a name of its own is the configuration."""
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_two_arms_of_one_configuration_may_differ_in_their_models(
    terminal: Terminal, case: Path, clone: Repo, tmp_path: Path
) -> None:
    strict = tmp_path / "strict.toml"
    strict.write_text('fail_on = "degraded"\n', encoding="utf-8")
    named = (f"cheap={strict}", f"usual={strict}")
    done = run(terminal, case, clone, *named, more=("--models", "cheap=haiku,sonnet"))
    assert done.code == 0, done.err
    (manifest,) = (case.parent / "out").glob("*/manifest.json")
    arms = {each["name"]: each for each in json.loads(manifest.read_text())["arms"]}
    assert (arms["cheap"]["models"], arms["usual"]["models"]) == (["haiku", "sonnet"], ["sonnet", "opus"])
    assert arms["cheap"]["settings"] != arms["usual"]["settings"]


@pytest.mark.parametrize(
    "refused",
    [
        ("nobody=haiku,opus", "--models is for 'nobody': no --arm is called so."),
        ("cheap=haiku", "--models is 'cheap=haiku': use NAME=EXECUTOR,ADVISOR, once for each arm."),
        ("cheap=haiku,", "--models is 'cheap=haiku,': use NAME=EXECUTOR,ADVISOR, once for each arm."),
    ],
)
def test_models_of_no_arm_are_refused(
    terminal: Terminal, case: Path, clone: Repo, tmp_path: Path, refused: tuple[str, str]
) -> None:
    models, said = refused
    (tmp_path / "strict.toml").write_text("", encoding="utf-8")
    done = run(terminal, case, clone, f"cheap={tmp_path / 'strict.toml'}", more=("--models", models))
    assert (done.code, said in done.err) == (2, True)


def run(terminal: Terminal, cases: Path, clone: Repo, *arms: str, more: Sequence[str] = ()) -> Done:
    words = (
        "eval",
        "run",
        "--set",
        cases,
        "--answers",
        "embedded",
        "--clone",
        clone.path,
        "--out",
        cases.parent / "out",
    )
    return terminal.run(*words, *(word for each in arms for word in ("--arm", each)), *more)


def guidelines(cases: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """By case and arm, which rules held in each review, as its own record tells."""
    found = {}
    for outcome in (cases.parent / "out").rglob("outcome.json"):
        events = json.loads(outcome.read_text())["events"]
        (policy,) = (event for event in events if event["kind"] == "policy_frozen")
        found[outcome.parts[-4], outcome.parts[-3]] = policy["guidelines"]
    return found


def test_the_rules_of_an_arm_hold_in_the_place_of_the_cases_own_whatever_names_its_change(
    terminal: Terminal, cases: Path, clone: Repo, tmp_path: Path
) -> None:
    before = clone.git("count-objects", "-v")
    mine = arm(tmp_path / "mine", **{"REVIEW.md": "# One\n# Two\n# Three\n"})
    done = run(terminal, cases, clone, f"mine={mine}")

    assert done.code == 0, done.err
    held = {case: [(each["name"], each["lines"]) for each in rules] for (case, _), rules in guidelines(cases).items()}
    assert held == {name: [("REVIEW.md", 3)] for name in ("files", "patch", "commits")}
    assert clone.git("count-objects", "-v") == before, "a clone is not changed"


def test_a_folder_without_rules_has_none_and_a_file_has_the_cases_own(
    terminal: Terminal, case: Path, clone: Repo, tmp_path: Path
) -> None:
    none = arm(tmp_path / "none", **{".review-advisor.toml": ""})
    done = run(terminal, case, clone, f"none={none}", f"file={none / '.review-advisor.toml'}")

    assert done.code == 0, done.err
    held = {name: [each["name"] for each in rules] for (_, name), rules in guidelines(case).items()}
    assert held == {"none": [], "file": ["REVIEW.md"]}


def test_rules_that_the_configuration_names_are_the_arms_too(
    terminal: Terminal, case: Path, clone: Repo, tmp_path: Path
) -> None:
    config = 'guideline_files = ["AGENTS.md"]\n[[guidelines]]\npaths = ["*.py"]\nfile = "docs/team/rules.md"\n'
    files = {".review-advisor.toml": config, "AGENTS.md": "# A\n", "docs__team__rules.md": "# B\n"}
    folder = arm(tmp_path / "named", **files)
    done = run(terminal, case, clone, f"named={folder}")

    assert done.code == 0, done.err
    assert {tuple(each["name"] for each in told) for told in guidelines(case).values()} == {
        ("docs/team/rules.md", "AGENTS.md")
    }


def test_the_outcomes_of_an_arm_of_ones_own_can_be_scored_again(
    terminal: Terminal, case: Path, clone: Repo, tmp_path: Path
) -> None:
    mine = arm(tmp_path / "mine", **{"REVIEW.md": "# One\n"})
    assert run(terminal, case, clone, f"mine={mine}").code == 0
    (reviews,) = (tmp_path / "out").glob("eval_*/reviews")
    again = terminal.run(
        *("eval", "run", "--set", case, "--answers", "recorded", "--recorded", reviews, "--arm", f"mine={mine}"),
        *("--out", tmp_path / "again", "--json"),
    )

    assert again.code == 0, again.err
    assert json.loads(again.out)["arms"][0]["lost"] == 0


@pytest.mark.one_of_its_kind
@pytest.mark.parametrize(
    "files,says",
    [
        ({".review-advisor.toml": "no_such_key = 1\n"}, "no_such_key"),
        ({".review-advisor.toml": "mode = \n"}, "is not valid TOML"),
        ({".review-advisor__thresholds.toml": "[[threshold]]\nvalue = 8\n"}, ".review-advisor/thresholds.toml: "),
        ({"REVIEW.md": "#", ".review-advisor__advisors__a.toml": ""}, ".review-advisor/advisors/a.toml is not read"),
        ({"REVIEW.md": "#", ".review-advisor__calibration.toml": ""}, ".review-advisor/calibration.toml is not read"),
        ({"REVIEW.md": "#", "pyproject.toml": "[tool.review-advisor]\njobs = 2\n"}, "pyproject.toml is not read"),
        ({"OTHER.md": "#"}, "holds neither .review-advisor.toml nor REVIEW.md nor .review-advisor/thresholds.toml."),
    ],
)
def test_what_a_review_could_not_use_or_would_not_read_is_refused_before_any_arm_reviews(
    terminal: Terminal, case: Path, clone: Repo, files: dict[str, str], says: str
) -> None:
    done = run(terminal, case, clone, f"mine={arm(case.parent / 'mine', **files)}")

    assert done.code == 2
    assert says in done.sentence
    assert not (case.parent / "out").exists()


def test_a_typo_in_a_configuration_file_is_refused_too(
    terminal: Terminal, case: Path, clone: Repo, tmp_path: Path
) -> None:
    done = run(terminal, case, clone, f"mine={arm(tmp_path / 'mine', wrong='no_such_key = 1') / 'wrong'}")

    assert done.code == 2
    assert "no_such_key" in done.sentence
