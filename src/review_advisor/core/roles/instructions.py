"""The standing instructions of the roles: texts from ``agents/``, handed in once by the composition root."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from review_advisor.core.policy.surfaces import Role, Surface

WORDS = 7
"""Raised with every change of the words that prompts have from code. A test holds their digest."""
ADVISOR = "hydraflow-review-advisor"


@dataclass(frozen=True, slots=True)
class Instructions:
    """The texts by name: the advisor's definition, one file a role, one file a surface."""

    texts: Mapping[str, str]

    @property
    def version(self) -> str:
        """What the prompts of a review are known by: the version of our words in code, and a digest of these texts."""
        facts = json.dumps(sorted(self.texts.items()))
        return f"{WORDS}.{hashlib.sha256(facts.encode()).hexdigest()[:10]}"

    def advisor(self, role: str) -> str:
        """The advisor's own words, then those of the role it plays."""
        return f"{without_frontmatter(self.texts[ADVISOR])}\n\n{self.texts[role].strip()}"

    def declared(self, words: str, surface: Surface) -> str:
        """The system prompt of a declared advisor on one surface: what advisors are, then its own words."""
        return f"{without_frontmatter(self.texts[ADVISOR])}\n\n{words}\n\n{self.texts[surface.value].strip()}"

    def system_prompt(self, role: Role, surface: Surface) -> str:
        """The system prompt of one role on one surface."""
        spoken = self.texts[role.value].strip() if role is Role.EXECUTOR else self.advisor(role.value)
        return f"{spoken}\n\n{self.texts[surface.value].strip()}"


def without_frontmatter(text: str) -> str:
    """The words of a file behind its frontmatter; one that does not end is none."""
    _, end, words = text.partition("\n---\n")
    return (words if end and text.startswith("---\n") else text).strip()
