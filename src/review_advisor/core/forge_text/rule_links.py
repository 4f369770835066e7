"""The team's own rules on a pull request: which of them applied, and a link to each at the base."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.facts.guidelines import GuidelineFact, cited
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.forge_text.fitting import Section
from review_advisor.core.forge_text.page_links import NOWHERE, CommitLinks
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.safety.markdown import code, phrase

MOST_NAMED_RULES = 20


@dataclass(frozen=True, slots=True)
class RuleLinks:
    """Where the rules of one review stand: files ``at`` a commit, by the names of the rules."""

    at: CommitLinks = NOWHERE
    rules: tuple[GuidelineFact, ...] = ()

    def to(self, citation: str) -> str:
        """A citation as Markdown, with a link to its lines on whatever host the comment stands."""
        words = code(shown_path(citation), 200)
        found = cited(citation, self.rules)
        if found is None:
            return words
        name, first, last = found
        file = next(each.file for each in self.rules if each.name == name)
        if not file:
            return words
        if file != name:  # a text within the configuration has no lines of its own there
            first = 0
        return self.at.to(words, file, first, last)


NO_LINKS = RuleLinks()


def rule_links(document: OutcomeDocument) -> RuleLinks:
    """The links of a review."""
    return RuleLinks(CommitLinks(document.repository or "", document.rules_sha or ""), document.guidelines)


def team_rules(document: OutcomeDocument) -> Section:
    """Which rules of the team's own applied, and which could not; nothing where there are none."""
    if not document.guidelines:
        return Section(())
    links = rule_links(document)
    told = [_told(each, links) for each in document.guidelines[:MOST_NAMED_RULES]]
    if len(document.guidelines) > MOST_NAMED_RULES:
        told.append(f"and {len(document.guidelines) - MOST_NAMED_RULES} more")
    return Section((f"**Team rules**: {', '.join(told)}.",))


def _told(fact: GuidelineFact, links: RuleLinks) -> str:
    if fact.problem:
        return f"{code(shown_path(fact.name))} (not applied: {phrase(fact.problem, 200)})"
    return links.to(fact.name) + (f" (cut by {fact.cut:,} characters)" if fact.cut else "")
