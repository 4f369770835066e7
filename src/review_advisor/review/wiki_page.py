"""A knowledge entry as a page of the wiki."""

from __future__ import annotations

import json
from dataclasses import dataclass

from review_advisor.agents.surface_inputs import Page
from review_advisor.safety.markdown import code_block, phrase, plain, prose


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry comes from. ``advisor``: post-verify's verdict on it, or that there was none."""

    run_id: str
    label: str
    head_sha: str | None
    advisor: str

    @property
    def refused(self) -> str:
        """Why an entry is a proposal, for people to decide on, and no knowledge; empty if its advisor approved it."""
        if self.advisor == "APPROVE":
            return ""
        return f"a proposal, because the verdict of its advisor is: {self.advisor}"


def page_text(page: Page, origin: Origin) -> str:
    """The page, its origin in front as JSON values; the body is prose, and the evidence a block that ends."""
    entry = page.entry
    facts = {
        "title": _line(entry.title),
        "status": "proposal" if origin.refused else "knowledge",
        "tags": [_line(tag) for tag in entry.tags],
        "run": origin.run_id,
        "change": _line(origin.label),
        "head": origin.head_sha,
        "path": _line(entry.path),
        "line": entry.line,
        "advisor": origin.advisor,
    }
    front = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items()]
    body = [f"# {phrase(entry.title)}", "", prose(entry.body), "", code_block(entry.evidence)]
    return "\n".join(["---", *front, "---", "", *body, ""])


def _line(text: str) -> str:
    return " ".join(plain(text).split())
