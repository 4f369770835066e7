import pytest

from review_advisor.change.change import Spec
from review_advisor.change.pull_request import LinkedIssue, spec_of_issues, spec_path


@pytest.mark.parametrize(
    "body, path",
    [
        ("spec: docs/spec.md", "docs/spec.md"),
        ("words\nSpec:   `docs/a b.md`  \nmore", "docs/a b.md"),
        ("spec: ./docs//x.md", "docs/x.md"),
        ("spec: /etc/passwd\nspec: docs/x.md", "docs/x.md"),
        ("spec: https://example.org/x.md", None),
        ("spec: ../x.md", None),
        ("spec: a\\b.md", None),
        ("spec: docs/..", None),
        ("spec: a/../../x.md", None),
        ("Words.\r\nSPEC:   `./docs//x y.md`  \r\nmore", "docs/x y.md"),
        ("spec: -x", "-x"),
        ("spec: docs/../x.md", None),
        ("spec: docs/..x.md", "docs/..x.md"),
        ("spec: docs/\u200bx.md", None),
        ("spec: docs/\x1bx.md", None),
        ("spec: <docs/x.md>", "docs/x.md"),
        ("spec:", None),
        ("spec:\ndocs/x.md", None),
        (" spec: docs/x.md", None),
        ("spec: docs/", None),
        ("spec: .", None),
        ("my spec: docs/x.md", None),
        ("", None),
    ],
)
def test_where_a_change_says_its_spec_is(body: str, path: str | None) -> None:
    assert spec_path(body) == path


HERE = "octo/app"


def test_no_issue_is_no_specification() -> None:
    assert spec_of_issues((), HERE) is None


def test_one_issue_is_the_specification() -> None:
    issue = LinkedIssue("Octo/App", 3, "Add two", "Because.\n")
    assert spec_of_issues((issue,), HERE) == Spec("issue #3", "# #3: Add two\n\nBecause.")


def test_several_issues_stand_under_their_own_headings_also_those_of_another_repository() -> None:
    issues = (LinkedIssue(HERE, 3, "Add two", "Because."), LinkedIssue("octo/lib", 9, "Three", ""))
    text = "# #3: Add two\n\nBecause.\n\n# octo/lib#9: Three"
    assert spec_of_issues(issues, HERE) == Spec("issues #3, octo/lib#9", text)
