import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, FileChange, Status
from review_advisor.change.kinds import (
    NEVER_REPAIRED,
    OWN_IMPLEMENTATION_ANYWHERE,
    OWN_IMPLEMENTATION_HERE,
    CriticalPaths,
    PathRule,
    globs_of,
    is_glob,
    is_readable_glob,
    literal,
)
from review_advisor.mockworld.world import deleted, edited, renamed
from review_advisor.policy.exclusion import excluding_glob

CRITICAL = PathRule(("**/auth/",))


@pytest.mark.parametrize("path", ["src/build.yml", "pipelines.py", "docs/jenkins.md", "drone.yml", "src/agents/a.py"])
def test_a_name_that_only_looks_alike_may_be_repaired(path: str) -> None:
    assert not PathRule(NEVER_REPAIRED).matches(path)


def test_both_sides_of_a_rename_are_looked_at_d17() -> None:
    assert CRITICAL.touched_by([renamed("src/auth/a.py", "b.py")]) == ("src/auth/a.py",)
    assert CRITICAL.touched_by([renamed("b.py", "src/auth/a.py")]) == ("src/auth/a.py",)


def test_a_deletion_touches_d17() -> None:
    assert CRITICAL.touched_by([deleted("src/auth/a.py")]) == ("src/auth/a.py",)


@pytest.mark.parametrize("mode", [SYMLINK_MODE, SUBMODULE_MODE])
def test_a_link_in_place_of_a_critical_folder_is_that_folder(mode: str) -> None:
    assert CRITICAL.touched_by([FileChange(Status.TYPE_CHANGED, "src/auth", new_mode=mode)]) == ("src/auth",)
    assert CRITICAL.touched_by([FileChange(Status.TYPE_CHANGED, "src/auth", old_mode=mode)]) == ("src/auth",)
    assert CRITICAL.touched_by([FileChange(Status.MODIFIED, "src/auth")]) == ()


def test_hits_come_in_order_and_once() -> None:
    files = [edited("src/auth/b.py"), edited("x.py"), renamed("src/auth/b.py", "src/auth/a.py")]
    assert CRITICAL.touched_by(files) == ("src/auth/b.py", "src/auth/a.py")


def test_patterns_are_gitignores() -> None:
    rule = PathRule(("/src/*.py", "!/src/safe.py", "deep/**/x"))
    assert [rule.matches(p) for p in ("src/a.py", "src/safe.py", "b/src/a.py", "deep/1/2/x")] == [
        True,
        False,
        False,
        True,
    ]


EXAMPLES: list[tuple[tuple[str, ...], str]] = [
    (
        OWN_IMPLEMENTATION_ANYWHERE,
        """
        .review-advisor.toml .review-advisor/advisors/scribe.md .claude/agents/advisor.md .mcp.json CLAUDE.md REVIEW.md
        src/review_advisor.py src/review_phase.py
        """,
    ),
    (
        OWN_IMPLEMENTATION_HERE,
        """
        src/review_advisor/core/x.py action.yml Makefile pyproject.toml requirements/base.txt tools/check.py
        .ci/run
        """,
    ),
    (
        NEVER_REPAIRED,
        """
        .github/x .gitea/x .forgejo/x .gitlab/x .gitlab-ci-release.yml .circleci/x Jenkinsfile.release ops/Jenkinsfile
        nightly.Jenkinsfile .travis.yml azure-pipelines.yml .azure-pipelines/x .azuredevops/x
        bitbucket-pipelines.yml .drone.star .buildkite/x .woodpecker/x .woodpecker.yml appveyor.yml
        .appveyor.yml .cirrus.star .semaphore/x .teamcity/x .tekton/x .builds/x .build.yml buildspec-test.yml
        cloudbuild.yaml action.yml action.yaml CODEOWNERS .gitattributes .gitmodules .gitignore .gitconfig
        .lfsconfig .husky/x .pre-commit-config.yaml .vscode/x .idea/x .devcontainer/x .envrc .npmrc .pypirc
        AGENTS.md GEMINI.md CLAUDE.local.md .cursor/x .cursorrules .windsurf/x .windsurfrules .clinerules
        .gemini/x .codex/x .agents/x
        """,
    ),
]


@pytest.mark.parametrize("patterns, paths", EXAMPLES)
def test_each_path_of_a_list_is_covered_and_each_pattern_of_it_has_an_example(
    patterns: tuple[str, ...], paths: str
) -> None:
    assert [path for path in paths.split() if not PathRule(patterns).matches(path)] == []
    assert [each for each in patterns if not any(map(PathRule((each,)).matches, paths.split()))] == []


@given(
    st.text("ab/*?[]!# \\", min_size=1, max_size=8).filter(lambda path: path.strip(" /") == path and "//" not in path)
)
def test_a_literal_pattern_means_its_own_path_whatever_characters_it_holds(path: str) -> None:
    assert PathRule((literal(path),)).matches(path)


def test_a_literal_pattern_means_no_other_path() -> None:
    for path, other in (("a*", "ab"), ("a?", "ab"), ("[ab]", "a"), ("!a", "a"), ("a\\b", "ab")):
        assert not PathRule((literal(path),)).matches(other)


@given(st.text(st.sampled_from("aZz-[]!^\\*?/# .&|~"), max_size=8))
@example("[[]")
@example("[a&&b||c~~d]")
def test_a_glob_that_is_readable_can_be_compared_and_no_other_is_taken(glob: str) -> None:
    """What a configuration takes never ends a review: neither as it stands nor in small letters."""
    if not is_readable_glob(glob):
        assert not is_glob(glob)
        return
    assert PathRule((glob,)).matches("src/zA.py") in (True, False)
    CriticalPaths(globs=(glob,)).matches("src/zA.py")
    excluding_glob((glob,), "src/zA.py")


@pytest.mark.parametrize(
    "glob,says", [("**", True), ("!x", True), ("#x", False), ("", False), ("[z-a]", False), ("[Z-a]", False)]
)
def test_a_glob_matches_paths_or_takes_them_out(glob: str, says: bool) -> None:
    assert is_glob(glob) is says


_NAMES = st.text(st.sampled_from("aB._-"), min_size=1, max_size=3)


@given(
    st.lists(st.builds("".join, st.tuples(st.sampled_from(["", "*", "**/", "/", "!", "!*"]), _NAMES)), max_size=4),
    st.lists(_NAMES.filter(lambda name: name not in {".", ".."}), min_size=1, max_size=3),
)
@example(["*.png", "!a.png"], ["a.png"])
@example(["A_b"], ["a_B", "x"])
@example(["b"], ["ab"])
def test_names_and_their_ends_are_compared_as_git_compares_them(globs: list[str], parts: list[str]) -> None:
    path = "/".join(parts)
    readable = tuple(filter(is_readable_glob, globs))
    as_git_does = globs_of(glob.casefold() for glob in readable).match_file(path.casefold())
    assert PathRule(readable).matches(path) is as_git_does
