import pytest

from review_advisor.core.ledger.runs import Between
from review_advisor.core.ledger.session_query import SessionQuery, session_query

Asked = list[tuple[str, str]]


@pytest.mark.parametrize(
    "asked, query",
    [
        ([("backend", "k2")], SessionQuery(backend="k2")),
        ([("status", "completed"), ("consults", "2")], SessionQuery(status="completed", consults=Between(2, 2))),
        ([("text", "Mend it"), ("error", "none")], SessionQuery(text="Mend it", error="none")),
        ([], None),
        ([("backend", "")], None),
        ([("limit", "9")], None),
        ([("consults", "1..")], None),
        ([("consults", "\u00b2")], None),
        ([("consults", "9" * 10)], None),
        ([("text", "a"), ("text", "b")], None),
    ],
)
def test_an_address_asks_for_what_is_known_or_means_nothing(asked: Asked, query: SessionQuery | None) -> None:
    assert session_query(asked) == query
