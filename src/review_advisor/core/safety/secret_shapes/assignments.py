"""Secrets without a form of their own: what a telling name is given, and what stands before the host of a URL."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from .randomness import looks_random
from .reading import MARGIN

PASSWORD, TOKEN, KEY, SECRET = "password", "token", "key", "secret"
IN_URL = "password in a URL"
FROM_AWS = "AWS secret access key"
KINDS = (PASSWORD, TOKEN, KEY, SECRET, IN_URL)

_KEY_OF = re.compile(
    r"(?:api|access|account|admin|app|application|auth|client|consumer|crypt|data|deploy|encrypt|encryption|ingest"
    r"|ingestion|license|master|preshared|private|secret|server|service|session|shared|sign|signing|ssh|storage"
    r"|subscription|webhook|write)[_\-. ]?\Z|(?<![a-z])[a-z]{1,12}_\Z"
)
_STEMS: tuple[tuple[str, str, re.Pattern[str] | None, re.Pattern[str]], ...] = (
    ("pass", PASSWORD, None, re.compile(r"(?:w(?:or)?d|phrase|code)|(?<![a-z]pass)(?![a-z])")),
    ("pwd", PASSWORD, None, re.compile("")),
    ("key", KEY, _KEY_OF, re.compile("")),
    ("token", TOKEN, None, re.compile("")),
    ("pat", TOKEN, None, re.compile(r"(?<![a-z]pat)(?![a-z])")),
    ("bearer", TOKEN, None, re.compile("")),
    ("jwt", TOKEN, None, re.compile("")),
    ("auth", TOKEN, None, re.compile(r"orization|(?<=_auth)(?![a-z0-9])")),
    ("secret", SECRET, None, re.compile("")),
    ("cred", SECRET, None, re.compile(r"ential|s(?![a-z])")),
    ("salt", SECRET, None, re.compile(r"(?<![a-z]salt)(?![a-z])")),
)
"""The words that make a name tell of a secret: what may stand before, and what has to follow."""
_REST = re.compile(r"[a-z0-9_\-.]{0,40}+")
_FEED = rf"(?:\n{MARGIN}[ \t]{{0,80}})?"
_GIVEN = re.compile(
    rf"{_REST.pattern}[\"'`]?[\])]?(?:"
    # XML, and lists of names and values
    r"[\"']?[ \t]{0,8},?[ \t]{0,8}" + _FEED + r"[\"']?value[\"']?[ \t]{0,8}[=:][ \t]{0,8}|>"
    # an operator, perhaps after a type and before a new line
    r"|[ \t]{0,20}(?::[ \t]{0,2}[&*a-z][\w\[\]|.?&* ]{0,40}?)?[ \t]{0,20}(?:=>|:=|\?=|\|\|=|={1,3}|[:,(])[ \t]{0,20}"
    r"(?:[>|][-+]?(?=[ \t]{0,4}\n)|\((?=[ \t]{0,4}\n))?[ \t]{0,4}" + _FEED + r"|[ \t]{1,4})"
    r"(?:(?:bearer|token)[ \t]{1,4}(?=[^ \t]))?"
)
_QUOTED = re.compile(r"[brfu@$]{0,2}(?P<quote>[\"'`])(?:(?:[Bb]earer|[Tt]oken) )?(?P<value>[^\"'`\s]{8,300})(?P=quote)")
_BARE = re.compile(r"(?P<value>[^\s\"'`,;<>(){}\[\]&|\\]{8,300})(?=[\s\"'`,;<&|\\]|$)")
_PLAIN = re.compile(r"[A-Za-z0-9+/_=~.-]+")
_BEFORE = re.compile(r"[\w.-]*\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_UUID_ISSUERS = re.compile(r"heroku|snyk|postmark|scaleway|sendbird|hubspot|carbon|cdn|pubnub|api_?key|secret_?key")
_HARMLESS_NAME = re.compile(
    r"public|pub_?key|hash|digest|sha\d|md5|checksum|fingerprint|integrity|csrf|xsrf|nonce|next_?(?:page)?_?token"
    r"|page_?token|continuation|cursor|placeholder|example|dummy|fake|mock|expected|_id$|[a-z]id$|_ids$|_name$|_type$"
    r"|_url$|_uri$|_path$|_file$|_len|_count|_version$|_label$|_etag$|cache|primary_key|foreign_key|sort_key"
    r"|partition_key|author(?!iz)|tokenizer|translation"
)
_PLACEHOLDER = re.compile(
    r"example|change.?me|your|placeholder|dummy|xxxx|insert|replace|redacted|fake|sample|\*\*\*|\.\.\.|<|>|\$\{|\{\{|%\("
    r"|secret-?removed|\$\("
)
_SHORTEST_PASSWORD, _SHORTEST = 8, 16
_LONGEST_WORD, _LONGEST_NAME = 16, 40
_LONG = 24
_RANDOM, _RANDOM_IN_CODE = 0.65, 0.75
_AWS_SECRET = re.compile(r"[A-Za-z0-9/+]{40}")
_URL = re.compile(r":(?:\\{0,2}/){2}([^\s/?#:@\"'<>\\]{0,80})(?::([^\s/@\"'<>\\]{3,200}))?@(?=[\w\[$])")
_USER_OPTION = re.compile(r"(?:(?<=\s-u)|(?<=--user)|(?<=--proxy-user))[ =]{1,2}[\"']?[\w.@-]{1,60}:([^\s\"']{6,200})")
_BASIC = re.compile(r"basic ", re.IGNORECASE)

Found = Iterator[tuple[int, int, str]]


def assigned(text: str) -> Found:
    """The values of names that speak of a secret, where a value cannot be words."""
    low = text.encode("ascii", "replace").lower().decode("ascii")
    for stem, kind, before, after in _STEMS:
        at = low.find(stem)
        while at >= 0:
            found = None
            end = after.match(low, at + len(stem))
            if end is not None and (before is None or before.search(low[max(0, at - _LONGEST_WORD) : at])):
                found = _value(text, low, at, end.end(), kind)
            if found is not None:
                yield found
            at = low.find(stem, found[1] if found else at + len(stem))


def _value(text: str, low: str, at: int, end: int, kind: str) -> tuple[int, int, str] | None:
    """The secret that the name around this word is given, if it is given one."""
    given = _GIVEN.match(low, end)
    value = given and (_QUOTED.match(text, given.end()) or _BARE.match(text, given.end()))
    if not value:
        return None
    before = _BEFORE.search(low[max(0, at - _LONGEST_NAME) : at])
    rest = _REST.match(low, end)
    name = (before[0] if before else "") + low[at:end] + (rest[0] if rest else "")
    if not _counts(name, kind, value["value"], quoted=value.re is _QUOTED):
        return None
    if "aws" in name and _AWS_SECRET.fullmatch(value["value"]):
        kind = FROM_AWS
    return *value.span("value"), kind


def _counts(name: str, kind: str, value: str, *, quoted: bool) -> bool:
    """Whether this value of this name is a secret."""
    if _HARMLESS_NAME.search(name) or _PLACEHOLDER.search(value.lower()):
        return False
    if kind == PASSWORD:
        return telling_password(value)
    if len(value) < _SHORTEST or not (quoted or _PLAIN.fullmatch(value)):
        return False
    if _UUID.fullmatch(value):
        return _UUID_ISSUERS.search(name) is not None
    return _mixed(value) and looks_random(value, _RANDOM if quoted or len(value) >= _LONG else _RANDOM_IN_CODE)


def mixed_case(value: str) -> bool:
    """Whether it has digits, and letters of both cases."""
    return _mixed(value) and value != value.lower() and value != value.upper()


def _mixed(value: str) -> bool:
    return any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)


def telling_password(value: str) -> bool:
    """Whether it is a password that somebody had made up by chance, not a word, a path or a call."""
    if len(value) < _SHORTEST_PASSWORD or _PLACEHOLDER.search(value.lower()) or not _mixed(value):
        return False
    return looks_random(value, _RANDOM_IN_CODE)


def in_urls(text: str) -> Found:
    """The passwords in URLs and in ``user:password`` options."""
    if "@" in text and "/" in text:
        for found in _URL.finditer(text):
            if found[2] is not None and telling_password(found[2]):
                yield *found.span(2), IN_URL
            elif (
                found[2] is None
                and len(found[1]) >= _SHORTEST
                and _mixed(found[1])
                and looks_random(found[1], _RANDOM_IN_CODE)
            ):
                yield *found.span(1), IN_URL
    if "-u" in text:
        for found in _USER_OPTION.finditer(text):
            if telling_password(found[1]):
                yield *found.span(1), PASSWORD


def basic_credentials(text: str) -> Found:
    """What follows ``Basic`` in a header: the base64 of a user and a password."""
    for found in _BASIC.finditer(text):
        value = _BARE.match(text, found.end())
        if value is not None and _is_basic(value["value"]):
            yield *value.span("value"), PASSWORD


def _is_basic(value: str) -> bool:
    try:
        user, colon, password = base64.b64decode(value, validate=True).decode("ascii").partition(":")
    except ValueError:  # it is not ASCII, or no base64, or not of ASCII
        return False
    return bool(user and colon) and telling_password(password)
