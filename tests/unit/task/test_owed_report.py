"""The report that a run may owe: what the executor is told of it, and how its texts are known."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.core.task.blocks import BlockTag
from review_advisor.core.task.owed_report import OwedReport, ReadReport

OWED = OwedReport(BlockTag.READINESS, "Give it.", '{"verdict":"go"}', lambda _body: ReadReport("{}", "go"))


def test_its_block_is_asked_for_with_the_runs_nonce() -> None:
    told = '<RELEASE_READINESS_REPORT nonce="abc">\n{"verdict":"go"}\n</RELEASE_READINESS_REPORT>'
    assert OWED.section("abc") == f"Give it.\n{told}"


def test_its_version_changes_with_its_texts() -> None:
    assert OWED.version == replace(OWED).version
    assert OWED.version != replace(OWED, rules="Give it now.").version != replace(OWED, form="{}").version
