"""Where GitHub answers, and which repository is meant: names and URLs from outside, checked before anything is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.this_machine import is_this_machine
from review_advisor.core.safety.terminal import one_line
from review_advisor.ports.forge import ForgeError, ForgeRejected

DEFAULT_API_URL = "https://api.github.com"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_PRINTABLE = re.compile(r"[!-~]+")
_COMMIT = re.compile(OBJECT_NAME)
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?")
_MOST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class ApiAddress:
    """The base URL of GitHub's REST API, without a slash at its end, and its parts."""

    url: str
    scheme: str
    host: str
    port: int | None
    loopback: bool


def api_address(url: str) -> ApiAddress:
    """A checked base URL; empty is GitHub's own. ``https``, or ``http`` on this machine; no credentials, no query.

    Raises ``ForgeError``; its sentence never repeats the URL, which may hold a secret.
    """
    given = url.strip() or DEFAULT_API_URL
    try:
        parts = urlsplit(given)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ForgeError("GitHub's API URL cannot be read.") from None
    if parts.username is not None or parts.password is not None:
        raise ForgeError("GitHub's API URL holds credentials: give the token by its own variable instead.")
    if not _PRINTABLE.fullmatch(given) or not _HOST.fullmatch(host) or "\\" in given or parts.query or parts.fragment:
        raise ForgeError("GitHub's API URL must be a host and a path, such as https://ghe.example.com/api/v3.")
    loopback = is_this_machine(host)
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise ForgeError("GitHub's API URL must begin with https://: anything else would show the token to others.")
    return ApiAddress(given.rstrip("/"), parts.scheme, host, port, loopback)


def repository_name(name: str) -> str:
    """``owner/name``, checked. Raises ``ForgeError``."""
    if not _REPOSITORY.fullmatch(name):
        raise ForgeError(f"{quoted(name)} is not the name of a repository: write OWNER/NAME.")
    return name


def token_value(token: str) -> str:
    """A token that may stand in a header. Raises ``ForgeError``, whose sentence never repeats it."""
    given = token.strip()
    if not given:
        raise ForgeError("There is no GitHub token: set GITHUB_TOKEN.")
    if not _PRINTABLE.fullmatch(given):
        raise ForgeError("The GitHub token holds spaces or control characters, so it was not copied whole.")
    return given


def commit_name(commit: str) -> str:
    """A commit's full object name. Raises ``ForgeRejected``."""
    if not _COMMIT.fullmatch(commit):
        raise ForgeRejected(f"{quoted(commit)} is not the full name of a commit.")
    return commit


def is_login(login: str) -> bool:
    """Whether an account can have this name."""
    return _LOGIN.fullmatch(login) is not None


def quoted(text: str) -> str:
    """A name from outside in quotes, short and on one line, for a sentence."""
    line = one_line(text)
    return repr(line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}...")
