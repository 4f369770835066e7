"""The harness's own secrets, taken out of every text that passes: whole, encoded, reversed, or with one end cut off."""

from __future__ import annotations

import base64
import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from review_advisor.core.roles.fence import REDACTED, redact

SHORTEST = 8
_LONG = 16
_FEWEST_CHARACTERS = 6
_LETTER = re.compile(r"[^\W\d_]")
_NOT_IN_WORDS = re.compile(r"[^\w\s./:@-]|\d")
_PUBLIC_PART = re.compile(
    r"sk-ant-(?:[a-z]+\d*-)?|sk-(?:proj-)?|gh[pousr]_|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|ASIA|AIza"
    r"|eyJ[A-Za-z0-9_-]+\.(?=eyJ)"
)
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|CREDENTIAL"
    r"|(?<![A-Z0-9])(?:KEY|PASS|PAT|AUTH|BEARER|COOKIE|PRIVATE|DSN)(?![A-Z0-9])",
    re.IGNORECASE,
)
_PASSWORD_IN_URL = re.compile(r"://[^/@\s]*:([^/@\s]+)@")
_RUN = re.compile(r"[^\s\"',;{}]{20,}")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Redactor:
    """Removes what has the shape of a secret, and the secrets that ``redactor`` found.

    Of these it knows each value plain, in hex and in base64 wherever in a base64 text it begins, all of them also
    reversed, and every piece of eight characters or more that begins or ends with the value: a token printed without
    its first seven characters is still found. Pieces cut at both ends, other encodings and spaced-out letters are not.

    No line disappears: a match never crosses a line feed, and words stay. A piece counts only if it cannot be a word:
    it has at least six different characters, and either sixteen in all, or letters with a digit or a sign among them.
    So ``production`` or ``12345678`` as a value removes nothing. What every token of its kind begins with (``sk-ant-``,
    ``ghp_``) is no secret either.
    """

    own: re.Pattern[str] | None = field(default=None, repr=False)

    def redact(self, text: str) -> str:
        """``text`` without secrets; half characters (lone surrogates, which UTF-8 cannot spell) become ``?``."""
        found = redact(text if text.isascii() else _whole(text))
        if self.own is None:
            return found
        forward = self.own.sub(REDACTED, found)
        return self.own.sub(REDACTED[::-1], forward[::-1])[::-1]

    def everywhere(self, value: Value) -> Value:
        """``value`` with every text in it redacted; what holds no secret is handed back as it is."""
        made: Any = self._made(value)
        return made  # type: ignore[no-any-return]

    def _made(self, value: Any) -> Any:
        if not value:
            return value
        kind: Any = type(value)
        if kind is str:
            return self.redact(value) if len(value) >= SHORTEST or not value.isascii() else value
        if kind is list or kind is tuple:
            each = [self._made(item) for item in value]
            return value if all(map(operator.is_, each, value)) else kind(each)
        if kind is dict:
            return {self._made(key): self._made(item) for key, item in value.items()}
        parts = _parts_of(kind)
        if not parts:
            return value
        changed = {}
        for name in parts:
            old = getattr(value, name)
            new = self._made(old)
            if new is not old and new != old:
                changed[name] = new
        if not changed:
            return value
        return value.model_copy(update=changed) if isinstance(value, BaseModel) else replace(value, **changed)


@cache
def _parts_of(kind: Any) -> tuple[str, ...]:
    """The fields of a model or dataclass that may hold text; nothing of any other kind."""
    if issubclass(kind, BaseModel):
        hints = {name: field.annotation for name, field in kind.model_fields.items()}
    else:
        hints = get_type_hints(kind) if is_dataclass(kind) else {}
    return tuple(name for name, hint in hints.items() if _may_hold_text(hint))


@cache
def _may_hold_text(hint: Any) -> bool:
    """Whether text from outside can stand where a field says this: not in numbers, moments and fixed words."""
    if get_origin(hint) is Literal:
        return False
    if inner := get_args(hint):
        return any(_may_hold_text(each) for each in inner if each is not Ellipsis)
    if not isinstance(hint, type):
        return True
    if issubclass(hint, BaseModel) or is_dataclass(hint):
        return bool(_parts_of(hint))
    return not issubclass(hint, (Enum, int, float, datetime, NoneType))


def redactor(environ: Mapping[str, str]) -> Redactor:
    """The redactor that also knows this environment's secrets.

    They are the values of secret-looking names that are no paths, and the passwords in URLs.
    """
    forms = {form for value in _secret_values(environ) for secret in _secrets_in(value) for form in _forms(secret)}
    pieces = sorted({_piece(each) for form in forms for each in (form, form[::-1])} - {""})
    return Redactor(re.compile("|".join(pieces)) if pieces else None)


def _secret_values(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        yield from _PASSWORD_IN_URL.findall(value)
        if _SECRET_NAME.search(name) and not value.startswith("/"):
            yield value


def _whole(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def _secrets_in(value: str) -> Iterator[str]:
    """The value without its public first part; of a text of several lines (a key, a JSON file) its long runs."""
    stripped = value.strip()
    parts = _RUN.findall(stripped) if "\n" in stripped else [stripped]
    for part in parts:
        secret = _PUBLIC_PART.sub("", part, count=1) if _PUBLIC_PART.match(part) else part
        if _telling(secret):
            yield secret


def _telling(piece: str) -> bool:
    """Whether a text that holds this piece can only have it from the secret."""
    if len(piece) < SHORTEST or len(set(piece)) < _FEWEST_CHARACTERS:
        return False
    mixed = _LETTER.search(piece) is not None and _NOT_IN_WORDS.search(piece) is not None
    return len(piece) >= _LONG or mixed


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "replace")
    yield secret
    yield raw.hex()
    yield raw.hex().upper()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        last = len(encoded) - (1 if (before + len(raw)) % 3 else 0)  # it also depends on what follows
        inner = encoded[(0, 2, 3)[before] : last]  # and the first ones on what stands before
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _piece(form: str) -> str:
    """A pattern for ``form`` or its beginning: the shortest telling piece, then what may follow of the rest."""
    for length in range(SHORTEST, len(form) + 1):
        if _telling(form[:length]):
            rest = form[length:]
            signs = "".join(re.escape(each) for each in sorted(set(rest)))
            return re.escape(form[:length]) + (f"[{signs}]{{0,{len(rest)}}}" if rest else "")
    return ""
