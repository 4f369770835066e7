"""The hosts and sources that a line of a file names, whatever kind of file it is."""

from __future__ import annotations

import re
from collections.abc import Collection

LONGEST_LINE = 2_000
_HASH = re.compile(
    r"(?<![^\s\"'{\[])(?:h1:[A-Za-z0-9+/]{43}=|sha256-[A-Za-z0-9+/]{43}=|sha384-[A-Za-z0-9+/]{64}"
    r"|sha512-[A-Za-z0-9+/]{86}==)(?![^\s\"',}\]])"
)
"""A whole hash in base64. By chance it begins like an address (h1://...) or holds a word such as ``git+``."""
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_IPV4 = rf"(?<![\w.+-])(?<![<>~^!])(?<![<>=~!]=)(?<![<>=~!]= ){_OCTET}(?:\.{_OCTET}){{3}}(?!\.?\w)"
"""No part of a longer version, of a file's name or of a range: registries hold versions of four numbers, too."""
_GROUP = r"[0-9A-Fa-f]{1,4}"
_IPV6 = (
    rf"(?<![\w:.])(?:(?:{_GROUP}:){{1,6}}(?::{_GROUP}){{1,6}}|(?:{_GROUP}:){{1,7}}:|:(?::{_GROUP}){{1,7}}"
    rf"|(?:{_GROUP}:){{7}}{_GROUP})(?![\w:]|\.[0-9])"
)
_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://+(?:[^/@\s\"'<>]*@)?([^/\s\"'<>?#,;)\]}]+)"
    r"|(?<![\w.-])[\w.-]+@([A-Za-z][\w-]*(?:\.[\w-]+)*\.[A-Za-z]{2,}):"
)
_IP = re.compile(rf"{_IPV4}|{_IPV6}")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]+)?")
_PLACE = re.compile(
    r"git\+|git@|git://|\.git(?:#|\")|#commit=|%3A%2F%2F|(?<![a-z+])http://|\\[ux][0-9a-f]|^(?:<<<<<<<|=======|>>>>>>>)"
    r"|\b(?:github|gitlab|bitbucket|gist):(?=\w)|[\"'`(=]//(?=[\w\[])|\bregistry\s*="
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}[:/]|\w@(?!npm:)(?:[\w-]+:(?=[\w~/.])|\[)"
    r"|(?<![^\s\"'`@(=])(?:file|link|portal|patch|exec|workspace|ssh|ftp|https?):(?=[^\s/]|/(?!/))",
    re.IGNORECASE,
)


def hosts_in(line: str, versions: Collection[str] = ()) -> list[str]:
    """Every host that ``line`` names, in an address or as a bare IP address, as it stands there.

    None of a line that is too long to look at. What is one of the file's ``versions`` is no IP address.
    """
    if len(line) > LONGEST_LINE:
        return []
    line = _HASH.sub("#", line)
    named = [found.span(found.lastindex or 0) for found in _ADDRESS.finditer(line)]
    bare = [
        found.span()
        for found in _IP.finditer(line)
        if found[0] not in versions and not any(start <= found.start() < end for start, end in named)
    ]
    return list(dict.fromkeys(line[start:end] for start, end in named + bare))


def is_usual_host(host: str) -> bool:
    """Whether a host is written as package managers write it."""
    return _HOST.fullmatch(host) is not None


def names_a_source(line: str) -> bool:
    """Whether a line holds a git or http source, a file, folder or patch that is installed, or an escape."""
    return _PLACE.search(_HASH.sub("#", line)) is not None
