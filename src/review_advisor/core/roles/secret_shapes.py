"""What has the shape of a secret, and how it is taken out of a text.

Standard library only, one file: the consult hook, which runs outside this package, loads it by its path.
"""

from __future__ import annotations

import re
from functools import lru_cache

REDACTED = "[secret removed]"

_SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"sk-ant-[A-Za-z0-9_-]{16,}",
    r"s(?<![A-Za-z0-9]s)k-(?:proj-)?[A-Za-z0-9_-]{32,}",  # each shape begins with its letter: four times as fast
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"npm_[A-Za-z0-9]{36}",
    r"AIza[A-Za-z0-9_-]{35}",
    # A header of any length is looked for where a word begins, within one a short one: else each "eyJ" of a long line
    # would be followed to its end.
    r"e(?<![A-Za-z0-9_-]e)yJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"eyJ[A-Za-z0-9_-]{10,400}+\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
)
_SECRETS = re.compile("|".join(_SHAPES))
_SIGNS = {
    "_": re.compile(r"_(?<=gh[pousr]_)|_(?<=github_pat_)|_(?<=npm_)"),
    "-": re.compile(r"-(?<=sk-)|-(?<=xox[abeoprs]-)|-(?<=glpat-)"),
    "A": re.compile(r"A(?=KIA|SIA|Iza)"),
    "J": re.compile(r"J(?<=eyJ)"),
}
"""Every shape holds one of these. A single letter is found five times as fast as the beginning of any shape."""
_SHORTEST_SECRET = 15  # xoxb- and ten characters
_SHORT_TEXT = 128
_KEY_HEAD = "PRIVATE KEY-----"
_PRIVATE_KEY = re.compile(
    r"(?<=PRIVATE KEY-----)(?:\n.{0,18}?[A-Za-z0-9+/]{60,}={0,2}[ \t]*(?=\n|$))+"  # its full lines: 64 or 76 long
    r"(?:\n.{0,18}?[A-Za-z0-9+/]{1,59}={0,2}[ \t]*(?=\n.{0,18}?-----END))?"  # and its last one
)
_KEY_LINE = re.compile(r"[A-Za-z0-9/][A-Za-z0-9+/]*={0,2}[ \t]*$", re.MULTILINE)  # a leading "+" may be a diff's sign


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
    found = text
    for letter, sign in _SIGNS.items():
        if letter in text and sign.search(text):
            found = _SECRETS.sub(REDACTED, text)
            break
    return _PRIVATE_KEY.sub(lambda m: _KEY_LINE.sub(REDACTED, m[0]), found) if _KEY_HEAD in found else found
