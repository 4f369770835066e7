"""The one place where untrusted text enters a prompt: cleaned, then fenced with the run's nonce."""

from __future__ import annotations

import re
from functools import lru_cache

from pydantic import TypeAdapter

_SECRET_SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"sk-ant-[A-Za-z0-9_-]{16,}",
    r"s(?<![A-Za-z0-9]s)k-(?:proj-)?[A-Za-z0-9_-]{32,}",  # each shape begins with its letter: four times as fast
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"npm_[A-Za-z0-9]{36}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
)
_SECRETS = re.compile("|".join(_SECRET_SHAPES))
_SHORTEST_SECRET = 15  # xoxb- and ten characters
_SHORT_TEXT = 128
_KEY_HEAD = "PRIVATE KEY-----"
_PRIVATE_KEY = re.compile(
    r"(?<=PRIVATE KEY-----)(?:\n.{0,18}?[A-Za-z0-9+/]{60,}={0,2}[ \t]*(?=\n|$))+"  # its full lines: 64 or 76 long
    r"(?:\n.{0,18}?[A-Za-z0-9+/]{1,59}={0,2}[ \t]*(?=\n.{0,18}?-----END))?"  # and its last one
)
_KEY_LINE = re.compile(r"[A-Za-z0-9/][A-Za-z0-9+/]*={0,2}[ \t]*$", re.MULTILINE)  # a leading "+" may be a diff's sign
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_FACTS: TypeAdapter[object] = TypeAdapter(object)

REDACTED = "[secret removed]"


def redact(text: str) -> str:
    """``text`` without anything that looks like a secret.

    No line can be made to disappear with it: of a private key only lines go that are base64 from end to end.
    """
    if len(text) < _SHORTEST_SECRET:
        return text
    return _redacted_word(text) if len(text) < _SHORT_TEXT else _redacted(text)


@lru_cache(maxsize=2_048)
def _redacted_word(text: str) -> str:
    """Paths, ids and names come by again and again."""
    return _redacted(text)


def _redacted(text: str) -> str:
    found = _SECRETS.sub(REDACTED, text)
    return _PRIVATE_KEY.sub(lambda m: _KEY_LINE.sub(REDACTED, m[0]), found) if _KEY_HEAD in found else found


def clean(text: str) -> str:
    """``text``, redacted, with invisible and bidi characters shown as ``<U+XXXX>``; line feeds and tabs stay."""
    found = redact(text)
    if found.isascii() and found.replace("\n", "").replace("\t", "").isprintable():
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
