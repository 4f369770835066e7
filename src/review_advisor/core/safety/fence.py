"""The one place where untrusted text enters a prompt: cleaned, then fenced with the run's nonce."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from review_advisor.core.safety.frame import framed, visible
from review_advisor.core.safety.secret_shapes import redact

_FACTS: TypeAdapter[object] = TypeAdapter(object)


def clean(text: str) -> str:
    """``text``, redacted, with invisible and bidi characters shown as ``<U+XXXX>``; line feeds and tabs stay."""
    return visible(redact(text))


@lru_cache(maxsize=16)
def _cleaned(text: str) -> str:
    """Every role of a part is shown the same matter: it is cleaned once."""
    return clean(text)


def fence(label: str, text: str, nonce: str, *, is_masked: bool = False) -> str:
    """``text``, cleaned, between two marker lines that only this run can know (see ``framed``).

    Text that ``is_masked`` was masked file by file: read once more as prose it would lose code.
    """
    return framed(label, visible(text) if is_masked else _cleaned(text), nonce)


def fence_facts(label: str, facts: object, nonce: str) -> str:
    """The same for values: as JSON."""
    return fence(label, facts_text(facts), nonce)


def as_facts(facts: object) -> Any:
    """Plain values, dataclasses and answers as JSON's own kinds of value."""
    return _FACTS.dump_python(facts, mode="json")


def facts_text(facts: object) -> str:
    """Plain values, dataclasses and answers as JSON to read."""
    return _FACTS.dump_json(facts, indent=1).decode()


def fenced(prompt: str, label: str, nonce: str) -> str | None:
    """What stands inside the first fence of that label, or None: the inverse of ``fence``."""
    _, opening, rest = prompt.partition(f"<<<UNTRUSTED {label} {nonce}\n")
    if not opening:
        return None
    return rest.partition(f"\n{label} {nonce} UNTRUSTED>>>")[0]
