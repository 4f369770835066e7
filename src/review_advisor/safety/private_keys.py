"""The secret lines of private keys."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from review_advisor.safety.secret_reading import MARGIN, Words, looks_random

PRIVATE_KEY = "private key"

_HEAD = re.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}"
    r"|Private-Lines: \d{1,4}"
)

_FOOT = re.compile(r"-{4,5} ?END (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}")

_BEGINS = re.compile(
    # What the base64 of a private key's bytes begins with: RSA and DSA, those of elliptic curves, OpenSSH's own.
    r"(?<![A-Za-z0-9+/])(?:MII[A-Z][A-Za-z0-9+/][AQgw]IBA[AD]|MI[CG][A-Za-z0-9+/][AQgw]?[AQgw]IBA|MIG[HkI2][AQ]gE[AB]"
    r"|MIHuAgEA|MIHcAgEB|MIG[A-Za-z0-9+/]AgE[AB]|MH[A-Za-z0-9+/]CAQEE|MC4CAQAw|MEcCAQAw|b3BlbnNzaC1rZXkt"
    # What is encrypted by a password, the stores of PKCS 12 and of Java, and what OpenPGP's begins with.
    r"|MI[IG][A-Z0-9][A-Za-z0-9+/]{2,3}[BE]?[A-Za-z0-9+/]{0,2}BgkqhkiG9w0BBQ|MII[A-Z][A-Za-z0-9+/][AQgw]IBAzCC|/u3\+7QAAAAI"
    r"|(?:l[A-P][A-Za-z0-9+/]E[Q-h]|x[V-Z][A-Za-z0-9+/]E[Q-h]|lQ[A-Za-z0-9+/]{2}B[E-I]|x[c-f][A-Za-z0-9+/]{2}B[E-I])"
    r"(?=[A-Za-z0-9+/]{40}))"
)

_HINTS = ("PRIVATE KEY", "Private-Lines:", "OpenVPN Static key")
_JUNK = re.compile(rf"(?:\n{MARGIN}|[ \t\r\"'`,;\\|>#*(){{}}\[\].]|\+(?=[ \t\r\n\"'`])|-(?=[ \t]))*+")
_BODY = re.compile(r"[A-Za-z0-9+/]++={0,2}(?![A-Za-z0-9_(.:]|-(?!-{3}))")
_BASE64 = re.compile(r"[A-Za-z0-9+/]++")
_HEADER_LINE = re.compile(r"[A-Z][A-Za-z-]{2,20}: ?[^\n]{0,120}(?=\n)|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])")
_MOST_HEADER_LINES = 8
_SHORTEST_LINE = 16
_LONG_LINE, _LONGEST_LINE = 40, 200
_LONGEST_HEAD = 100

_LAST_LINE = re.compile(
    rf"\n?{MARGIN}[ \t\"'`#*|>/]{{0,200}}([A-Za-z0-9+/]{{1,200}}={{0,2}})[ \t\r\"'`,;+\\)\].]{{0,200}}\Z"
)

_IN_BASE64 = tuple(
    base64.b64encode(b"\0" * shift + b" PRIVATE KEY-----").decode()[(0, 2, 3)[shift] : (22, 23, 24)[shift]]
    for shift in range(3)
)
"""What stands in the base64 of a key's text, wherever in it the words begin."""

_MEMBER_OF_PRIVATE_KEYS = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,3}:\s{0,3}\"([A-Za-z0-9_-]{22,}+)\"")
_NEAR = 2_500
Spans = Iterator[tuple[int, int]]


def private_keys(text: str, words: Words) -> Spans:
    """Where the secret lines of private keys stand. What is not base64 from end to end is never part of one."""
    if any(words.may_hold(hint) for hint in _HINTS):
        yield from _between_head_and_foot(text)
    if _BEGINS.search(words.long):
        yield from _known_by_its_bytes(text)
    for hint in _IN_BASE64:
        if hint in words.long:
            yield from _encoded(text, hint)
    if '"kty"' in text:
        # The private members of a JSON Web Key.
        for member in _MEMBER_OF_PRIVATE_KEYS.finditer(text):
            if text.find('"kty"', max(0, member.start() - _NEAR), member.end() + _NEAR) >= 0:
                yield member.span(1)


def in_base64(text: str) -> bool:
    """Whether the base64 of a key's text is in it, which is found as such."""
    return any(hint in text for hint in _IN_BASE64)


def _between_head_and_foot(text: str) -> Spans:
    for head in _HEAD.finditer(text):
        yield from _lines_after(text, head.end())
    shown = 0
    for foot in _FOOT.finditer(text):
        yield from _lines_before(text, foot.start(), shown)
        shown = foot.end()


def _known_by_its_bytes(text: str) -> Spans:
    done = 0
    for begin in _BEGINS.finditer(text):
        if begin.start() >= done:
            for span in _lines_after(text, begin.start()):
                yield span
                done = span[1]


def _lines_after(text: str, at: int) -> Spans:
    """The lines of base64 that follow, as far as they go on; a short one counts only as the last of a whole key."""
    headers, width = 0, 0
    while True:
        at = _after_junk(text, at)
        body = _BODY.match(text, at)
        if body is not None and _belongs(body[0], width):
            width = width or len(body[0])
            yield body.span()
            at = body.end()
        elif body is not None and width and _FOOT.match(text, _after_junk(text, body.end())):
            yield body.span()
            return
        elif headers < _MOST_HEADER_LINES and (header := _HEADER_LINE.match(text, at)):
            headers += 1
            at = header.end()
        else:
            return


def _after_junk(text: str, at: int) -> int:
    junk = _JUNK.match(text, at)
    return junk.end() if junk else at


def _belongs(line: str, width: int) -> bool:
    """Whether a line is one of a key's, all of which are of one width but the last."""
    if len(line) < _SHORTEST_LINE:
        return False
    return len(line) == width or _BEGINS.match(line) is not None or looks_random(line)


def _lines_before(text: str, end: int, first: int) -> Spans:
    """The lines of base64 that go before, back to ``first``, of a key whose beginning is not shown."""
    found: list[tuple[int, int]] = []
    end = text.rfind("\n", 0, end)
    while end > first:
        start = text.rfind("\n", 0, end) + 1
        line = _LAST_LINE.match(text[start:end]) if end - start < _LONGEST_LINE else None
        if line is None or (found and not (len(line[1]) >= _LONG_LINE and looks_random(line[1]))):
            break
        found.append((start + line.start(1), start + line.end(1)))
        end = start - 1
    if any(stop - start >= _LONG_LINE and looks_random(text[start:stop]) for start, stop in found):
        yield from found


def _encoded(text: str, hint: str) -> Spans:
    """The lines of base64 in which the first words of a key are written."""
    at = text.find(hint)
    while at >= 0:
        start = at
        while start > 0 and at - start < _LONGEST_HEAD and (text[start - 1].isalnum() or text[start - 1] in "+/"):
            start -= 1
        run = _BASE64.match(text, at)
        at = run.end() if run else at + len(hint)  # another hint in the same run leads to the same lines
        for span in _lines_after(text, start):
            yield span
            at = max(at, span[1])
        at = text.find(hint, at)
