"""A declared advisor in the words of a prompt. They come from the base, so they are instructions and not fenced."""

from __future__ import annotations

from collections.abc import Mapping

from review_advisor.core.roster.advisor import Advisor, Temperament

_LONGEST_FIELD = 160
_TEMPERAMENTS: Mapping[Temperament, str] = {
    "dissenting": "You are here to dissent: look first for reasons against, and give them though all others agree.",
    "cautious": "You are cautious: ask what happens if it fails, and whether it can be taken back.",
    "pragmatic": "You are pragmatic: ask what it gains, and let pass what is good enough.",
}


def as_advisor(advisor: Advisor, what: str = "review") -> str:
    """Who it is to be in ``what``, and what it looks at first."""
    focus = f" Look first at: {'; '.join(advisor.scopes)}. The rest is yours to see as well." if advisor.scopes else ""
    temperament = f"\n\n{_TEMPERAMENTS[advisor.temperament]}" if advisor.temperament else ""
    return f"In this {what} you are the advisor {advisor.id}.{focus}\n\n{advisor.persona}{temperament}"


def field_of(advisor: Advisor) -> str:
    """What it knows, on one line: its scopes, or the beginning of its persona."""
    return ", ".join(advisor.scopes) or " ".join(advisor.persona.split())[:_LONGEST_FIELD]
