"""The rules about the checkout itself that no other tool checks."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, entry_points, packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
DRAWERS = {"util", "utils", "helper", "helpers", "common", "misc"}


def files_of_the_project() -> list[Path]:
    """Tracked files and new ones that are not ignored."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, capture_output=True, check=True).stdout.decode().split("\0")
    return sorted(path for name in names if name and (path := ROOT / name).is_file() and not path.is_symlink())


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{shown(path)}:{number}: {line.strip()[:120]}"
        for path in files_of_the_project()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if pattern.search(line)
    ]


# Each pattern is written so that it does not match the line it stands on.
@pytest.mark.parametrize(
    "pattern",
    [
        r"pypi[.]org|pythonhosted[.]org|npmjs[.]org|npmjs[.]com|yarnpkg[.]com",
        r"--(?:extra-)?index[-]url|--find[-]links|\bregistry\s*=\s*\"?http",
        r"\"resolved\"\s*:\s*\"http",
    ],
)
def test_no_file_names_a_package_index(pattern: str) -> None:
    assert lines_matching(re.compile(pattern)) == []


def test_no_file_holds_a_path_of_the_machine_it_was_written_on() -> None:
    assert lines_matching(re.compile(r"(?<![\w.*}~)-])/(?:root|wor[k]|Users/[a-z]+)/")) == []


def requirements() -> dict[str, list[str]]:
    """Per file, each requirement as one line with its continuation lines joined, comments left out."""
    joined = {}
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        joined[path.name] = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return joined


def test_every_requirement_is_pinned_and_hashed() -> None:
    files = requirements()
    assert {"runtime.txt", "dev.txt"} <= files.keys()
    pinned = re.compile(r"[a-z0-9.-]+(\[[a-z0-9,-]+\])?==[^\s;]+(\s*;[^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*")
    assert [line[:80] for lines in files.values() for line in lines if not pinned.fullmatch(line)] == []


def test_a_pin_names_the_extras_that_another_package_asks_for() -> None:
    """An older pip looks for ``name[extra]`` apart from ``name``: it takes the newest, whose hash nobody pinned."""
    pins = [Requirement(line.split(" --hash")[0]) for line in requirements()["dev.txt"]]
    here = [pin.name for pin in pins if pin.marker is None or pin.marker.evaluate()]
    asked = [(name, Requirement(text)) for name in here for text in distribution(name).requires or ()]
    due = {
        (canonicalize_name(need.name), extra)
        for name, need in asked
        for extra in need.extras
        if need.marker is None or any(need.marker.evaluate({"extra": each}) for each in ("", *_extras_of(name, pins)))
    }
    assert due - {(canonicalize_name(pin.name), extra) for pin in pins for extra in pin.extras} == set()
    assert ("coverage", "toml") in due


def _extras_of(name: str, pins: list[Requirement]) -> set[str]:
    return {extra for pin in pins if pin.name == name for extra in pin.extras}


def test_what_users_run_is_what_was_tested() -> None:
    versions = {name: {line.split(" ")[0] for line in lines} for name, lines in requirements().items()}
    assert versions["runtime.txt"] - versions["dev.txt"] == set()


def floors() -> dict[str, Version]:
    """The lowest version of each dependency that ``pyproject.toml`` allows its users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    named = [need.partition(">=") for need in needs]
    return {name.lower(): Version(lowest) for name, _, lowest in named}


def test_the_lowest_versions_that_are_allowed_are_those_that_ci_tests() -> None:
    pins = [line.split(" ")[0].partition("==") for line in requirements()["lowest.txt"]]
    tested = {name: Version(version) for name, _, version in pins}
    assert {name: tested.get(name) for name in floors()} == floors()


def development_tools() -> set[str]:
    """Every distribution that is installed for development alone, but for stubs of types, which mypy finds itself."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    needs = [need for group in groups.values() for need in group if isinstance(need, str)]
    return {need.partition(">=")[0] for need in needs if not need.startswith("types-")}


def ways_to_use(name: str) -> set[str]:
    """What stands somewhere in the checkout if a distribution is used: an import, a command, or a build's back end."""
    modules = {module for module, owners in packages_distributions().items() if name in owners}
    commands = {f"/{entry.name}" for entry in distribution(name).entry_points if entry.group == "console_scripts"}
    imports = {f"{word} {module}" for module in modules for word in ("import", "from")}
    return {*commands, *imports, f"/{name} ", f'with_name("{name}")', f'"{name}.build"'}


def test_what_is_installed_for_development_is_used() -> None:
    folders = [ROOT / "tests", ROOT / "tools"]
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")]
    texts += [(ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "pyproject.toml")]
    used_elsewhere = {"editables"}  # by hatchling, for an editable installation
    plugins = {entry.dist.name for entry in entry_points(group="pytest11") if entry.dist is not None}
    tools = development_tools() - used_elsewhere - plugins
    assert sorted(name for name in tools if not any(way in text for way in ways_to_use(name) for text in texts)) == []


def test_no_module_is_a_drawer_for_anything() -> None:
    paths = [path.relative_to(ROOT) for path in files_of_the_project()]
    assert [str(path) for path in paths if DRAWERS & {*path.parts[:-1], path.stem}] == []


def make_targets() -> dict[str, str]:
    """Every phony target and its help text, empty if it has none."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = " ".join(re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE)).split()
    described = dict(re.findall(r"^([a-z0-9-]+):[^\n]*## (.+)$", makefile, re.MULTILINE))
    return {target: described.get(target, "") for target in phony}


def test_every_make_target_says_what_it_does() -> None:
    targets = make_targets()
    assert {"help", "setup", "demo", "review", "test", "quality", "e2e", "bench", "clean"} <= targets.keys()
    assert [target for target, text in targets.items() if not text] == []


def test_make_without_a_target_lists_the_targets() -> None:
    listed = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True).stdout
    assert [target for target in make_targets() if f"make {target} " not in listed] == []


def test_make_targets_named_in_prose_exist() -> None:
    prose = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", ".ci/run")] + list((ROOT / "docs").rglob("*.md"))
    named = {
        (shown(path), target)
        for path in prose
        if path.exists()
        for target in re.findall(r"(?:`|^)make ([a-z0-9-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named
    assert sorted((path, target) for path, target in named if target not in make_targets()) == []


def test_workflows_pin_every_action_to_a_commit() -> None:
    uses = [
        (shown(path), line.strip())
        for path in files_of_the_project()
        if path.suffix in {".yml", ".yaml"} and (".github" in path.parts or path.name.startswith("action."))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    assert uses
    pinned = re.compile(r"(- )?uses: (\./\S*|[\w./-]+@[0-9a-f]{40} # v\d\S*)")
    assert [(path, line) for path, line in uses if not pinned.fullmatch(line)] == []


def test_the_one_command_for_ci_runs_what_the_readme_promises() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111, "it must be executable"
    ran = re.findall(r"^make (\S+)$", script.read_text(encoding="utf-8"), re.MULTILINE)
    assert ran == ["setup", "test-all", "quality", "lowest", "eval", "e2e"]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert set(ran) <= set(re.findall(r"^ +run: make (\S+)", workflow, re.MULTILINE))


class Checkout:
    """A throw-away repository in which the base of a comparison is looked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.test", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, "-C", str(self.folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self) -> str:
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")
        return self.git("rev-parse", "HEAD")

    def base(self, wanted: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "tools" / "comparison_base.py")]
        environment = {"PATH": os.environ["PATH"], "QUALITY_BASE": wanted}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_base_is_the_fork_point_from_main(checkout: Checkout) -> None:
    fork_point = checkout.commit()
    checkout.git("update-ref", "refs/remotes/origin/main", fork_point)
    checkout.commit()
    checkout.commit()
    assert checkout.base().stdout == f"{fork_point}\n"


def test_no_tag_stands_for_the_base(checkout: Checkout) -> None:
    fork_point = checkout.commit()
    checkout.git("update-ref", "refs/remotes/origin/main", fork_point)
    checkout.commit()
    checkout.git("update-ref", "refs/tags/origin/main", checkout.commit())
    assert checkout.base().stdout == f"{fork_point}\n"
    assert checkout.base("refs/remotes/origin/main").stdout == f"{fork_point}\n"
    refused = checkout.base("origin/main")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "names more than one" in refused.stderr


def test_the_base_on_main_itself_is_the_commit_before(checkout: Checkout) -> None:
    before = checkout.commit()
    checkout.git("update-ref", "refs/remotes/origin/main", checkout.commit())
    assert checkout.base().stdout == f"{before}\n"


def test_a_named_base_goes_before_the_others_and_must_exist(checkout: Checkout) -> None:
    first = checkout.commit()
    checkout.commit()
    checkout.commit()
    assert checkout.base(first).stdout == f"{first}\n"
    refused = checkout.base("no-such-branch")
    assert (refused.returncode, refused.stderr) == (1, "QUALITY_BASE=no-such-branch is not a commit of this checkout\n")


def test_without_a_base_it_says_why(checkout: Checkout) -> None:
    answers = [checkout.base()]
    checkout.commit()
    answers.append(checkout.base())
    checkout.commit()
    (checkout.folder / ".git" / "shallow").write_text(checkout.git("rev-parse", "HEAD") + "\n")
    answers.append(checkout.base())
    assert [answer.returncode for answer in answers] == [3, 3, 3]
    assert "no commit yet" in answers[0].stderr
    assert "one commit only" in answers[1].stderr
    assert "shallow" in answers[2].stderr
