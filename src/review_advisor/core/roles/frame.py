"""How untrusted text is shown to a model: what cannot be seen is spelled out, and marks of the run stand around it.

Standard library only, one file: the consult hook, which runs outside this package, loads it by its path.
"""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
QUESTION = "QUESTION"
"""The label of an executor's question to its advisor."""


def visible(text: str) -> str:
    """``text`` with invisible and bidi characters shown as ``<U+XXXX>``; line feeds and tabs stay."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()):
        return text
    return _INVISIBLE.sub(lambda m: f"<U+{ord(m[0]):04X}>", text)


def framed(label: str, text: str, nonce: str) -> str:
    """``text`` between two marker lines that only this run can know.

    Nothing inside can end the fence: the nonce is taken out of the text.
    """
    inside = text.replace(nonce, "[nonce removed]")
    return f"<<<UNTRUSTED {label} {nonce}\n{inside}\n{label} {nonce} UNTRUSTED>>>"
