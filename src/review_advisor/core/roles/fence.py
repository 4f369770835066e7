"""The one place where untrusted text enters a prompt: cleaned, then fenced with the run's nonce."""

from __future__ import annotations

import re
from functools import lru_cache

from pydantic import TypeAdapter

from review_advisor.core.roles.secret_shapes import redact

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_FACTS: TypeAdapter[object] = TypeAdapter(object)


def clean(text: str) -> str:
    """``text``, redacted, with invisible and bidi characters shown as ``<U+XXXX>``; line feeds and tabs stay."""
    found = redact(text)
    if found.isascii() and (found.isprintable() or found.replace("\n", "").replace("\t", "").isprintable()):
        return found
    return _INVISIBLE.sub(lambda m: f"<U+{ord(m[0]):04X}>", found)


@lru_cache(maxsize=16)
def _cleaned(text: str) -> str:
    """Every role of a part is shown the same matter: it is cleaned once."""
    return clean(text)


def fence(label: str, text: str, nonce: str) -> str:
    """``text``, cleaned, between two marker lines that only this run can know.

    Nothing inside can end the fence: the nonce is taken out of the text.
    """
    inside = _cleaned(text).replace(nonce, "[nonce removed]")
    return f"<<<UNTRUSTED {label} {nonce}\n{inside}\n{label} {nonce} UNTRUSTED>>>"


def fence_facts(label: str, facts: object, nonce: str) -> str:
    """The same for values: as JSON."""
    return fence(label, facts_text(facts), nonce)


def facts_text(facts: object) -> str:
    """Plain values, dataclasses and answers as JSON to read."""
    return _FACTS.dump_json(facts, indent=1).decode()


def fenced(prompt: str, label: str, nonce: str) -> str | None:
    """What stands inside the first fence of that label, or None: the inverse of ``fence``."""
    _, opening, rest = prompt.partition(f"<<<UNTRUSTED {label} {nonce}\n")
    if not opening:
        return None
    return rest.partition(f"\n{label} {nonce} UNTRUSTED>>>")[0]
