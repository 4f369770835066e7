"""One remark of a check, as all static checks make it."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.answers.answers import GRAVE, ReportedFinding
from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.ruff_run import Fix


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One remark of a check. ``evidence`` is the added line as the diff shows it, or a part of it.

    ``silenced``: why it is no finding, if it is none: a comment in the code says so, or it is a mild bug in a file that
    is generated or test data. It is counted and named.
    """

    path: str
    line: int
    check: rules.CheckKind
    rule: str
    message: str
    evidence: str
    worth: rules.Worth
    fix: Fix | None = None
    silenced: str = ""

    @property
    def serious(self) -> bool:
        """Whether it alone makes a change unfit to be approved."""
        return self.worth.severity in GRAVE

    @property
    def place(self) -> str:
        """Rule, line and severity, as a disagreement names them."""
        return f"{self.rule} at {self.path}:{self.line} ({self.worth.severity})"

    def reported(self) -> ReportedFinding:
        """The same as the executor's answer carries it."""
        return ReportedFinding(
            path=self.path,
            line=self.line,
            end_line=None if self.fix is None else self.fix.last,
            suggestion=None if self.fix is None else self.fix.text.removesuffix("\n"),
            severity=self.worth.severity,
            category=f"{self.check}/{self.rule}",
            title=self.message[:200],
            body=f"Found by a static check ({self.rule}), not by a model.",
            confidence=self.worth.confidence,
            evidence=self.evidence,
        )
