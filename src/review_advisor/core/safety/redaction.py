"""The harness's own secrets, taken out of every text that passes: whole, encoded, reversed, or with one end cut off."""

from __future__ import annotations

import base64
import html
import json
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache, lru_cache
from itertools import groupby
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from review_advisor.core.facts.change import FileChange
from review_advisor.core.safety.frame import whole
from review_advisor.core.safety.secret_shapes import REDACTED, mark, redact
from review_advisor.core.safety.shown_change import RUN, secrets_of

SHORTEST = 8
_LONG = 16
_LONG_NUMBER = 12
_FEWEST_CHARACTERS = 6
_LETTER = re.compile(r"[^\W\d_]")
_NOT_IN_WORDS = re.compile(r"[^\w\s./:@-]|\d")
_PUBLIC_PART = re.compile(
    r"sk-ant-(?:[a-z]+\d*-)?|sk-(?:proj-)?|gh[pousr]_|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|ASIA|AIza"
    r"|eyJ[A-Za-z0-9_-]+\.(?=eyJ)|https?://[^/@\s]+/"
)
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|WEBHOOK|_PWD(?![A-Z0-9])"
    r"|(?:API|SSH|ACCESS|ACCOUNT|DEPLOY|ENCRYPTION|HOST|MASTER|PRIVATE|SIGNING|STORAGE)KEY"
    r"|(?<![A-Z0-9])(?:KEY|PASS|PAT|AUTH|BEARER|COOKIE|CREDS|DSN|PEM|PRIVATE)(?![A-Z0-9])",
    re.IGNORECASE,
)
_PATH_NAME = re.compile(
    r"(?:_(?:FILE|PATH|DIR|DIRECTORY|SOCK|SOCKET)|APPLICATION_CREDENTIALS)(?:_OVERRIDE)?$", re.IGNORECASE
)
_PASSWORD_IN_URL = re.compile(r"://[^/@\s:]*+:([^/@\s]++)@")
_SIGN = re.compile(r"[^A-Za-z0-9_.~-]")
_RUN = re.compile(r"[^\s\"',;{}]{20,}")
_AROUND_BEGINS, _AROUND_ENDS = "<<<UNTRUSTED AROUND ", " UNTRUSTED>>>"
_SIGNS = ("", "+", "-", "++", "+-", "-+", "--")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Redactor:
    """Removes what has the shape of a secret, the secrets that ``redactor`` found, and those of the change.

    Of its own it knows each value plain, in hex and in base64 wherever in a base64 text it begins, all of them also
    reversed, and every piece of eight characters or more that begins or ends with the value: a token printed without
    its first seven characters is still found. Whole, it is also found with its signs written as JSON, HTML or URLs
    write them. Pieces cut at both ends, other encodings and spaced-out letters are not.

    No line disappears: a match never crosses a line feed, and words stay. A piece counts only if it cannot be a word:
    it has at least six different characters, and either sixteen in all, or twelve without a letter, or letters with a
    digit or a sign among them. So ``production`` or ``12345678`` as a value removes nothing. What every token of its
    kind begins with (``sk-ant-``, ``ghp_``, a URL's host) is no secret either.
    """

    own: re.Pattern[str] | None = field(default=None, repr=False)
    seen: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def knowing(self, files: Iterable[FileChange]) -> Redactor:
        """The same that also knows the secrets in ``files`` where nothing beside them tells what they are."""
        return replace(self, seen=dict(secrets_of(files)))

    def redact(self, text: str) -> str:
        """``text`` without secrets; half characters (lone surrogates, which UTF-8 cannot spell) become ``?``."""
        return self._without_seen(redact(self._without_own(whole(text))))

    def in_prompt(self, prompt: str) -> str:
        """A prompt, all parts of which are clean, without the secrets that ``redactor`` found and those of the change.

        It is not looked through for the shapes of secrets: what was masked file by file would lose code. Nor are the
        change's secrets known again in the code around it, where a name may be equal to one.
        """
        before, opening, rest = self._without_own(whole(prompt)).partition(_AROUND_BEGINS)
        around, ending, after = rest.partition(_AROUND_ENDS)
        return self._without_seen(before) + opening + around + ending + self._without_seen(after)

    def _without_own(self, text: str) -> str:
        if self.own is None:
            return text
        forward = self.own.sub(REDACTED, text)
        return self.own.sub(REDACTED[::-1], forward[::-1])[::-1]

    def _without_seen(self, text: str) -> str:
        return RUN.sub(self._seen_again, text) if self.seen else text

    def _seen_again(self, run: re.Match[str]) -> str:
        """A mark for a run that the change has as a secret, also behind the signs of a diff's line."""
        for signs in _SIGNS:
            kind = self.seen.get(run[0][len(signs) :]) if run[0].startswith(signs) else None
            if kind is not None:
                return signs + mark(kind)
        return run[0]

    def everywhere(self, value: Value) -> Value:
        """``value`` with every text in it redacted; what holds no secret is handed back as it is."""
        made: Any = self._made(value)
        return made  # type: ignore[no-any-return]

    def _made(self, value: Any) -> Any:
        if not value:
            return value
        kind: Any = type(value)
        if kind is str:
            told = self.redact(value) if len(value) >= SHORTEST or not value.isascii() else value
            return value if told == value else told
        if kind is list or kind is tuple:
            each = [self._made(item) for item in value]
            return value if all(map(operator.is_, each, value)) else kind(each)
        if kind is dict:
            made = {self._made(key): self._made(item) for key, item in value.items()}
            return value if made == value else made
        changed = {}
        for name in _parts_of(kind):
            old = getattr(value, name)
            if not old or (type(old) is str and len(old) < SHORTEST and old.isascii()):
                continue
            new = self._made(old)
            if new is not old:
                changed[name] = new
        if not changed:
            return value
        return value.model_copy(update=changed) if isinstance(value, BaseModel) else replace(value, **changed)


NO_SECRETS = Redactor()
"""Knows no secret of its own, only what has the shape of one."""


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

    They are the values of secret-looking names, unless the name says that it holds a path, and the passwords in URLs.
    """
    secrets = {secret for value in _secret_values(environ) for secret in _secrets_in(value)}
    if not secrets:
        return Redactor()
    forms = {form for secret in secrets for form in _forms(secret)}
    pieces = _pieces(each for form in forms for each in (form, form[::-1]))
    return Redactor(_any_of([*sorted(filter(None, map(_escaped, secrets))), *pieces]))


def unrecognised(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of this environment's secrets that the redactor cannot know by their values, in order."""
    named = (name for name, value in environ.items() if _names_a_secret(name) and value.strip())
    return tuple(sorted(name for name in named if not any(_secrets_in(environ[name]))))


def _secret_values(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        yield from _PASSWORD_IN_URL.findall(value)
        if _names_a_secret(name):
            yield value


@lru_cache(maxsize=1_024)
def _names_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None and _PATH_NAME.search(name) is None


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
    if _LETTER.search(piece) is None:
        return len(piece) >= _LONG_NUMBER
    return len(piece) >= _LONG or _NOT_IN_WORDS.search(piece) is not None


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


def _pieces(forms: Iterable[str]) -> Iterator[str]:
    """Patterns for every form or its beginning: the shortest telling piece, then what may follow of the rest."""
    rests: dict[str, list[str]] = {}
    for form in forms:
        head = _telling_head(form)
        rests.setdefault(head, []).append(form[len(head) :])
    for head, tails in sorted(rests.items()):
        signs = "".join(re.escape(each) for each in sorted(set("".join(tails))))
        yield re.escape(head) + (f"[{signs}]{{0,{max(map(len, tails))}}}" if signs else "")


def _telling_head(form: str) -> str:
    """All of ``form`` where no piece tells: encoded, a short secret may be letters only, and is one all the same."""
    return next((form[:end] for end in range(SHORTEST, len(form)) if _telling(form[:end])), form)


def _escaped(secret: str) -> str:
    """A pattern for all of ``secret``, each of its signs as it is or escaped; empty if it has none."""
    if _SIGN.search(secret) is None:
        return ""
    return "".join(_spellings(each) if _SIGN.match(each) else re.escape(each) for each in secret)


def _spellings(sign: str) -> str:
    """A pattern for one sign, plain or as JSON, HTML and URLs write it."""
    percent = "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "replace"))
    each = {sign, json.dumps(sign)[1:-1], html.escape(sign), f"&#{ord(sign)};", percent, percent.lower()}
    return f"(?:{'|'.join(map(re.escape, sorted(each)))})"


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    """One pattern, sorted by first letter: most of a text is passed over by looking at one letter of each group."""
    groups = groupby(sorted(patterns, key=_first), key=_first)
    return re.compile(
        "|".join(f"{first}(?:{'|'.join(each[len(first) :] for each in group)})" for first, group in groups)
    )


def _first(pattern: str) -> str:
    """A pattern's first letter, as the pattern spells it; nothing where there is a choice."""
    return "" if pattern.startswith("(") else pattern[: 2 if pattern.startswith("\\") else 1]
