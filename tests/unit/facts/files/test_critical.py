import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, FileChange, Status
from review_advisor.change.kinds import CRITICAL_PATHS_ADR, CRITICAL_PATHS_HYDRAFLOW, CriticalPaths, PathRule
from review_advisor.mockworld.world import edited, renamed

NAMED = """
    .gitlab-ci.yml Jenkinsfile Dockerfile.dev
    docker-compose.prod.yaml network.tf prod.tfvars app/migrations/0001_first.py db/migrate/001_first.rb
    ops/infra/network.yml ops/terraform/plan.json ops/k8s/pod.yml ops/helm/values.yml ops/deploy/run.sh CODEOWNERS
    .gitattributes .gitmodules
"""
WORDED = """
    src/auth/a.py src/user_auth.py src/authn.go src/authz.go src/authentication.rb src/AuthorizationFilter.java
    lib/oauth_client.rb src/oidc.py src/saml.rb src/sso.ts src/jwt.go web/login/form.tsx src/session.py src/sessions.py
    src/token.py app/tokens_controller.rb src/password.go src/passwords.py src/permission_check.py
    app/user_permissions.py src/security/rules.py src/crypto/hash.c ops/secret.py ops/secrets/load.py src/credential.py
    src/credentials.py web/csrf.ts src/payment.go services/payments/charge.go src/billing/invoice.py
"""
ORDINARY = """
    src/app.py src/author.py src/authority.py src/sessionize.py src/tokenizer.py src/deployment.py src/secretary.py
    app/infrastructure/clock.py src/obsession.py
"""
HYDRAFLOW = """
    src/orchestrator.py src/service_registry.py src/coordinator.py src/review_phase.py src/review_advisor.py
    src/persistence/store.py src/state/run.py src/review_loop.py
"""
NEVER_BY_NAME = """
    docs/auth.md docs/security.mdx README.md migrations.md tests/test_auth.py src/auth/session_test.go
    src/login/__tests__/form.tsx tests/fixtures/auth.py spec/models/token_spec.rb pkg/auth/testdata/token.json
    assets/login.png src/test/java/shop/SessionHelper.java crates/auth/tests/login.rs docs_src/security/tutorial001.py
"""


def test_what_is_critical_in_any_repository_d19() -> None:
    assert [path for path in f"{NAMED} {WORDED}".split() if not CRITICAL_PATHS_ADR.matches(path)] == []


def test_a_longer_word_that_only_begins_or_ends_alike_is_not_critical() -> None:
    assert [path for path in ORDINARY.split() if CRITICAL_PATHS_ADR.matches(path)] == []


def test_documentation_and_tests_are_critical_never_by_name_but_by_the_users_own_globs() -> None:
    for path in NEVER_BY_NAME.split():
        assert not CRITICAL_PATHS_ADR.matches(path)
        assert CriticalPaths(globs=(f"/{path}",)).matches(path)


def test_each_name_and_each_word_of_the_default_has_an_example() -> None:
    lone = [CriticalPaths(names=(each,)) for each in CRITICAL_PATHS_ADR.names]
    lone += [CriticalPaths(words=(each,)) for each in CRITICAL_PATHS_ADR.words]
    assert [each for each in lone if not any(map(each.matches, f"{NAMED} {WORDED}".split()))] == []


def test_each_glob_of_the_adrs_own_list_has_an_example() -> None:
    paths = HYDRAFLOW.split()
    assert [path for path in paths if not CRITICAL_PATHS_HYDRAFLOW.matches(path)] == []
    assert [glob for glob in CRITICAL_PATHS_HYDRAFLOW.globs if not any(map(PathRule((glob,)).matches, paths))] == []


def test_both_sides_of_a_rename_are_looked_at_d17() -> None:
    assert CRITICAL_PATHS_ADR.touched_by([renamed("src/auth/a.py", "b.py")]) == ("src/auth/a.py",)
    assert CRITICAL_PATHS_ADR.touched_by([renamed("b.py", "src/auth/a.py")]) == ("src/auth/a.py",)


def test_hiding_critical_code_under_a_tests_name_is_a_rename_of_critical_code() -> None:
    moved = renamed("src/auth/login.py", "tests/test_login.py")
    assert CRITICAL_PATHS_ADR.touched_by([moved]) == ("src/auth/login.py",)


@pytest.mark.parametrize("mode", [SYMLINK_MODE, SUBMODULE_MODE])
def test_a_link_in_place_of_a_critical_folder_is_that_folder(mode: str) -> None:
    link = FileChange(Status.TYPE_CHANGED, "ops/infra", new_mode=mode)
    assert CRITICAL_PATHS_ADR.touched_by([link]) == ("ops/infra",)
    assert CRITICAL_PATHS_ADR.touched_by([edited("ops/infra")]) == ()


@given(st.lists(st.sampled_from(["auth", "x", "Login", "author", "lib", "AUTH_LOG"]), min_size=1, max_size=4))
def test_a_whole_word_is_seen_in_whichever_part_of_a_path_it_stands_and_in_any_case(words: list[str]) -> None:
    path = "/".join(words) + "/main.c"
    assert CRITICAL_PATHS_ADR.matches(path) is bool({"auth", "Login", "AUTH_LOG"} & set(words))


def test_what_makes_a_path_critical_is_named() -> None:
    assert CRITICAL_PATHS_ADR.because("src/tokens/k8s/login.py") == ("**/k8s/", "login", "token")
    assert CriticalPaths(globs=("*.md", "docs/")).because("docs/auth.md") == ("*.md", "docs/")


@given(
    st.sampled_from(["src/auth/a.py", "author.py", "docs/auth.md", "tests/test_login.py", "a.tf", "deploy/x.sh", "x.c"])
)
def test_a_path_is_critical_exactly_if_something_makes_it_so(path: str) -> None:
    assert bool(CRITICAL_PATHS_ADR.because(path)) is CRITICAL_PATHS_ADR.matches(path)
