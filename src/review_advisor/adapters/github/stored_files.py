"""A file from where GitHub stores artifacts: its address is signed and short-lived, and never gets the token."""

from __future__ import annotations

from http.client import HTTPException, HTTPResponse
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from review_advisor.adapters.github.address import ApiAddress
from review_advisor.adapters.github.failures import Unanswered
from review_advisor.core.facts.this_machine import is_this_machine
from review_advisor.ports.forge import ForgeRejected
from review_advisor.ports.review import Clock

MOST_SECONDS = 300.0
"""So long one file may take, however slowly it comes."""
_TIMEOUT_SECONDS = 15
_CHUNK = 1 << 20
_SERVER_ERROR = 500


def fetch_stored(doing: str, location: str, api: ApiAddress, clock: Clock, most: int) -> bytes:
    """The bytes at an address that GitHub gave, ``most`` at the most. Raises ``ForgeError``, without the address.

    ``ForgeRejected`` where another try would hear the same: the store refuses it, or it is too large or too slow.
    ``https`` only; ``http`` on this machine, if GitHub's API itself is there.
    """
    _refuse_address(doing, location, api)
    opener = OpenerDirector()  # which follows nothing
    for handler in (HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    opener.add_handler(ProxyHandler({} if api.loopback else None))
    request = Request(location, headers={"User-Agent": "review-advisor"})  # noqa: S310 (the scheme was looked at)
    try:
        with opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
            return _bounded(doing, answer, clock, most)
    except HTTPError as refusal:
        kind = Unanswered if refusal.code >= _SERVER_ERROR else ForgeRejected
        raise kind(f"GitHub did not {doing}: its store answered with status {refusal.code}.") from None
    except (OSError, HTTPException, ValueError) as error:
        raise Unanswered(f"GitHub did not {doing}: its store gave no answer ({type(error).__name__}).") from None


def _bounded(doing: str, answer: HTTPResponse, clock: Clock, most: int) -> bytes:
    begun, found = clock.monotonic(), bytearray()
    while chunk := answer.read1(min(_CHUNK, most + 1 - len(found))):
        found += chunk
        if len(found) > most:
            raise ForgeRejected(f"GitHub could not {doing}: it is larger than {most // 1024**2} MB.")
        if clock.monotonic() - begun > MOST_SECONDS:
            raise ForgeRejected(f"GitHub did not {doing}: it took longer than {MOST_SECONDS:.0f} seconds.")
    return bytes(found)


def _refuse_address(doing: str, location: str, api: ApiAddress) -> None:
    try:
        parts = urlsplit(location)
        host, has_user = parts.hostname or "", parts.username is not None
    except ValueError:
        host, has_user = "", False
    secure = location.startswith("https://") and bool(host)
    here = api.loopback and location.startswith("http://") and is_this_machine(host)
    if not (secure or here) or has_user or not location.isprintable() or " " in location:
        raise ForgeRejected(f"GitHub could not {doing}: it is not stored at an address that begins with https://.")
