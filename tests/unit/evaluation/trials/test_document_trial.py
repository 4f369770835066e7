"""Our own findings at lines of the new side, also those about lines that the change removes."""

from __future__ import annotations

from review_advisor.agents.findings import Finding
from review_advisor.lab.golden_cases import FilesChange, GoldenFile, NamedChange
from review_advisor.lab.trials import raised

BEFORE = "def pay(user):\n    check(user)\n    audit(user)\n    charge(user)\n"
AFTER = "import log\n\ndef pay(user):\n    charge(user)\n"
CHANGE = FilesChange((GoldenFile("pay.py", BEFORE, AFTER),))


def finding(*, removed: bool, line: int, end_line: int = 0, path: str = "pay.py") -> Finding:
    return Finding(
        "f-1", path, line, end_line or line, removed, "high", "security", "No check", "Anyone can pay.", None, 0.9, ""
    )


def test_a_finding_keeps_its_lines_and_says_all_its_words() -> None:
    found = raised(finding(removed=False, line=3, end_line=4), CHANGE)
    assert (found.file, found.first_line, found.last_line, found.severity) == ("pay.py", 3, 4, "high")
    assert found.text == "No check\nAnyone can pay."


def test_a_finding_about_removed_lines_is_where_they_were() -> None:
    for first, last in ((2, 2), (3, 3), (2, 3)):
        found = raised(finding(removed=True, line=first, end_line=last), CHANGE)
        assert (found.first_line, found.last_line) == (4, 4), (first, last)


def test_without_both_sides_it_has_no_place() -> None:
    for change in (NamedChange("x"), FilesChange((GoldenFile("pay.py", BEFORE, None),))):
        assert raised(finding(removed=True, line=2), change).first_line == 0
    assert raised(finding(removed=True, line=2, path="other.py"), CHANGE).first_line == 0
