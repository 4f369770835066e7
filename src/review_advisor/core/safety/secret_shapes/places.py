"""Passwords that are known by the place they stand in: a URL, a header, an option of a command, a file of passwords."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from .assignments import PASSWORD, telling_password
from .randomness import looks_made_up

IN_URL = "password in a URL"

_SHORTEST_USER = 16
_URL = re.compile(r":(?:\\{0,2}/){2}([^\s/?#:@\"'<>\\]{0,80})(?::([^\s/@\"'<>\\]{3,200}))?@(?=[\w\[$])")
_OPTIONS = (
    ("-u", re.compile(r"(?:(?<=\s-u)|(?<=--user)|(?<=--proxy-user))[ =]{1,2}[\"']?[\w.@-]{1,60}:([^\s\"']{8,200})")),
    ("mysql", re.compile(r"mysql[^\n|;]{0,200}?[ \t]-p[\"']?([^\s\"']{8,200})")),
    ("mariadb", re.compile(r"mariadb[^\n|;]{0,200}?[ \t]-p[\"']?([^\s\"']{8,200})")),
    ("sshpass", re.compile(r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?([^\s\"']{8,200})")),
    ("redis-cli", re.compile(r"redis-cli[^\n|;]{0,200}?[ \t]-a[ \t]{1,4}[\"']?([^\s\"']{8,200})")),
)
"""The options of commands that take a password, each with a word that stands in every such command."""
_FILE_OF_PASSWORDS = re.compile(
    r":(?:\d{2,5}|\*):[^\s:\"']{1,63}:[^\s:\"']{1,63}:([^\s:\"'`,;\\]{8,200})(?![^\s\"'`,;\\])"
)
"""The rest of a line of PostgreSQL's: host, port, database, user and password."""
_ENCODED = re.compile(r"(?:[Bb][Aa][Ss][Ii][Cc] |\"auth\"\s{0,3}:\s{0,3}\")([A-Za-z0-9+/]{8,400}={0,2})")
"""The base64 of a user and a password: in a header, or in the file of registries that Docker keeps."""

FoundSecrets = Iterator[tuple[int, int, str]]


def placed(text: str) -> FoundSecrets:
    """The passwords in headers, in options of commands and in files of passwords."""
    for found in _ENCODED.finditer(text) if '"auth"' in text or "basic " in text.lower() else ():
        if _is_user_and_password(found[1]):
            yield *found.span(1), PASSWORD
    options = [option for word, option in _OPTIONS if word in text]
    for option in [*options, _FILE_OF_PASSWORDS]:
        for found in option.finditer(text):
            if telling_password(found[1]):
                yield *found.span(1), PASSWORD


def in_urls(text: str) -> FoundSecrets:
    """The passwords in URLs, and users that can only be tokens."""
    if "@" not in text:
        return
    for found in _URL.finditer(text):
        if found[2] is not None and telling_password(found[2]):
            yield *found.span(2), IN_URL
        elif found[2] is None and len(found[1]) >= _SHORTEST_USER and looks_made_up(found[1]):
            yield *found.span(1), IN_URL


def _is_user_and_password(encoded: str) -> bool:
    try:
        user, colon, password = base64.b64decode(encoded, validate=True).decode("ascii").partition(":")
    except ValueError:  # it is not ASCII, or no base64, or not of ASCII
        return False
    return bool(user and colon) and telling_password(password)
