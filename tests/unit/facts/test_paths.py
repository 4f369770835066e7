import pytest

from review_advisor.core.facts.change import SUBMODULE_MODE, SYMLINK_MODE, FileChange, Status
from review_advisor.core.facts.paths import CRITICAL_PATHS_ADR, NEVER_REPAIRED, PathRule
from review_advisor.mockworld.world import deleted, edited, renamed

CRITICAL = PathRule(CRITICAL_PATHS_ADR)


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        "src/auth/login.py",
        "lib/oauth_client.rb",
        "db/MIGRATIONS/001.sql",
        "services/payments/charge.go",
        "Dockerfile",
        "ops/dockerfile.prod",
        "infra/main.tf",
        ".gitattributes",
        "CODEOWNERS",
        "app/user_permissions.py",
    ],
)
def test_what_is_critical_in_any_repository_d19(path: str) -> None:
    assert CRITICAL.matches(path)


@pytest.mark.parametrize("path", ["src/app.py", "docs/guide.md", "migrations.md", "src/deployment.py", "README.md"])
def test_what_is_not(path: str) -> None:
    assert not CRITICAL.matches(path)


@pytest.mark.parametrize(
    "path",
    [
        *(".github/workflows/ci.yml", ".gitea/workflows/ci.yaml", ".forgejo/workflows/ci.yaml"),
        *(".gitlab-ci.yml", ".gitlab/ci/build.yml", ".circleci/config.yml", ".travis.yml"),
        *("Jenkinsfile", "ops/Jenkinsfile.release", "nightly.jenkinsfile"),
        *("azure-pipelines.yml", "azure-pipelines-release.yaml", ".azure-pipelines/steps.yml"),
        *("bitbucket-pipelines.yml", ".drone.yml", ".drone.star", ".buildkite/pipeline.yml"),
        *(".woodpecker.yml", ".woodpecker/test.yaml", "appveyor.yml", ".cirrus.yml", ".semaphore/semaphore.yml"),
        *(".teamcity/settings.kts", ".tekton/push.yaml", ".build.yml", "buildspec.yml", "cloudbuild.yaml"),
    ],
)
def test_no_repair_touches_what_tells_a_ci_system_what_to_do(path: str) -> None:
    assert PathRule(NEVER_REPAIRED).matches(path)


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


def test_a_file_says_what_it_is() -> None:
    link = FileChange(Status.ADDED, "a", new_mode=SYMLINK_MODE)
    assert (link.is_symlink, link.is_submodule, link.paths) == (True, False, ("a",))
