from dataclasses import replace

import pytest

from review_advisor.ledger.queries import EVERY_SESSION, Between, TaskFilter, session_query

Asked = list[tuple[str, str]]


@pytest.mark.parametrize(
    "asked, query",
    [
        ([("backend", "k2")], replace(EVERY_SESSION, backend="k2")),
        (
            [("status", "completed"), ("consults", "2")],
            replace(EVERY_SESSION, status="completed", consults=Between(2, 2)),
        ),
        ([("text", "Mend it"), ("error", "none")], replace(EVERY_SESSION, text="Mend it", error="none")),
        ([], None),
        ([("backend", "")], None),
        ([("limit", "9")], None),
        ([("consults", "1..")], None),
        ([("consults", "\u00b2")], None),
        ([("consults", "9" * 10)], None),
        ([("text", "a"), ("text", "b")], None),
    ],
)
def test_an_address_asks_for_what_is_known_or_means_nothing(asked: Asked, query: TaskFilter | None) -> None:
    assert session_query(asked) == query
