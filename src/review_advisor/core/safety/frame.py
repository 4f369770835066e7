"""How untrusted text is shown to a model: what cannot be seen is spelled out, and marks of the run stand around it.

What cannot be seen is what Unicode calls default ignorable, what controls or formats a text (but not the Arabic, Syriac
and Kaithi signs that are written around what follows them), separators of lines and paragraphs, halves of characters,
what is no character, and the letters and signs of which a font shows a blank.
"""

from __future__ import annotations

import re

CONTROLS = "\0-\x08\x0b-\x1f\x7f-\x9f"
_DEFAULT_IGNORABLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_FORMATS = "\ufff9-\ufffb\U00013430-\U0001343f"
_SEPARATORS = "\u2028\u2029\u202f"
NO_CHARACTERS = "\ud800-\udfff\ufdd0-\ufdef" + "".join(
    f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
_BLANKS = "\u2800\U0001d159\U00016fe4"
_INVISIBLE = re.compile(f"[{CONTROLS}{_DEFAULT_IGNORABLE}{_FORMATS}{_SEPARATORS}{NO_CHARACTERS}{_BLANKS}]")


def with_shown(characters: re.Pattern[str], text: str) -> str:
    """``text`` with each of the ``characters`` as ``<U+XXXX>``."""
    return characters.sub(lambda m: f"<U+{ord(m[0]):04X}>", text)


def visible(text: str) -> str:
    """``text`` with invisible and bidi characters shown as ``<U+XXXX>``; line feeds and tabs stay."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # as the slow way would leave it
    return with_shown(_INVISIBLE, text)


def whole(text: str) -> str:
    """The text as UTF-8 can spell it: half characters (lone surrogates) become ``?``."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def framed(label: str, text: str, nonce: str) -> str:
    """``text`` between two marker lines that only this run can know.

    Nothing inside can end the fence: the nonce is taken out of the text.
    """
    inside = text.replace(nonce, "[nonce removed]")
    return f"<<<UNTRUSTED {label} {nonce}\n{inside}\n{label} {nonce} UNTRUSTED>>>"
