import pytest

from review_advisor.core.facts.spec import spec_path


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
        ("spec: docs/", None),
        ("spec: .", None),
        ("my spec: docs/x.md", None),
        ("", None),
    ],
)
def test_where_a_change_says_its_spec_is(body: str, path: str | None) -> None:
    assert spec_path(body) == path
