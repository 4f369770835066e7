"""One review of a golden case, in the process that ``eval run`` started for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from review_advisor.app.change_source import Selection
from review_advisor.app.doctor import AgentChoice
from review_advisor.app.review import ReviewOptions, run_review


def review_one(
    repo: Path,
    revisions: str,
    agent: Literal["embedded", "claude"],
    environ: Mapping[str, str],
    *,
    config: Path,
    output: Path,
    artifacts: Path,
    title: str | None,
    body_file: Path | None,
    spec_file: Path | None,
    most_usd: float | None,
    rules: str,
) -> int:
    """Review it past every cache and leave the outcome at ``output``: the exit code. Raises as a review does.

    ``rules`` is the commit whose rules hold; empty: the base.
    """
    options = ReviewOptions(
        repo=repo,
        selection=Selection("range", revisions, rules=rules),
        agent=AgentChoice(agent, staged=agent == "embedded"),
        artifacts=artifacts,
        output=output,
        config=config,
        title=title,
        body_file=body_file,
        spec_file=spec_file,
        repair="off",
        fresh=True,
        most_usd=most_usd,
    )
    stored = run_review(options, environ, lambda _event: None, lambda _sentence: None)
    return 128 + stored.interrupted_by if stored.interrupted_by else stored.document.exit_code
