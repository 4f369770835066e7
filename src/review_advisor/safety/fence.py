"""How untrusted text enters a prompt or becomes a value: cleaned, legible, and fenced with the run's nonce."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from review_advisor.safety.secrets import redact

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


def clean(text: str) -> str:
    """``text``, redacted, with invisible and bidi characters shown as ``<U+XXXX>``; line feeds and tabs stay."""
    return visible(redact(text))


_clean_once = lru_cache(maxsize=16)(clean)
"""Every role of a part is shown the same matter: it is cleaned once."""


def fence(label: str, text: str, nonce: str, *, is_masked: bool = False) -> str:
    """``text``, cleaned, between two marker lines that only this run can know (see ``framed``).

    Text that ``is_masked`` was masked file by file: read once more as prose it would lose code.
    """
    return framed(label, visible(text) if is_masked else _clean_once(text), nonce)


def fence_facts(label: str, facts: object, nonce: str) -> str:
    """Values as JSON between two marker lines (see ``fence``)."""
    return fence(label, facts_text(facts), nonce)


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


_FACTS: TypeAdapter[object] = TypeAdapter(object)


def as_facts(facts: object) -> Any:
    """Plain values, dataclasses and answers as JSON's own kinds of value."""
    return _FACTS.dump_python(facts, mode="json")


def facts_text(facts: object) -> str:
    """Plain values, dataclasses and answers as JSON to read."""
    return _FACTS.dump_json(facts, indent=1).decode()


def fenced(prompt: str, label: str, nonce: str) -> str | None:
    """What stands inside the first fence of that label, or None: the inverse of ``fence``."""
    _, opening, rest = prompt.partition(f"<<<UNTRUSTED {label} {nonce}\n")
    if not opening:
        return None
    return rest.partition(f"\n{label} {nonce} UNTRUSTED>>>")[0]


DEEPEST = 32
"""No answer that we ask for is nested a third as deep."""

LARGEST = 2**53
"""The largest number up to which every reader of JSON knows all whole numbers."""

_CUT = "[nested too deeply]"

_LONGEST_NUMBER = 400
"""Digits of a whole number that are read. Python refuses to read thousands of them."""

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_UNPRINTABLE = re.compile(f"[{CONTROLS}{NO_CHARACTERS}]")
Value = TypeVar("Value")


def legible(value: Value) -> Value:
    """``value`` with every text in it, keys included, made of characters that a text can hold.

    Control characters other than line feed and tab, lone surrogates and non-characters are shown as ``<U+XXXX>``, as
    the prompts show them; a line break of two characters becomes a line feed. What is nested deeper than ``DEEPEST``
    is cut, a number beyond ``LARGEST`` becomes it, and one that JSON cannot spell becomes null.
    """
    result: Any = _legible(value, DEEPEST)
    return result  # type: ignore[no-any-return]


def _legible(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        # A subclass says more than its letters: a member of an enumeration stays what it is.
        if type(value) is not str or _UNPRINTABLE.search(value) is None:
            return value
        return with_shown(_UNPRINTABLE, value.replace("\r\n", "\n"))
    if isinstance(value, dict | list | tuple):
        return _legible_parts(value, depth - 1) if depth else _CUT
    if isinstance(value, int):
        return value if -LARGEST <= value <= LARGEST else LARGEST if value > 0 else -LARGEST
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: made for name, part in parts.items() if (made := _legible(part, depth)) is not part}
        return replace(value, **changed) if changed else value
    return value


def _legible_parts(value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
    if isinstance(value, dict):
        return {_legible(key, depth): _legible(inner, depth) for key, inner in value.items()}
    return type(value)(_legible(inner, depth) for inner in value) if value else value


def read_json(text: str | bytes) -> Any:
    """What a text of JSON says, whatever its depth, its digits and its bytes. Raises ``ValueError`` if it is no JSON.

    What Python cannot nest is cut at ``DEEPEST``, bytes that are no UTF-8 are replaced, and a key that one object gives
    different values has the list of them, so that none outweighs another unseen.
    """
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        return _DECODER.decode(decoded)
    except RecursionError:
        return _DECODER.decode(_shallow(decoded))


def _shallow(text: str) -> str:
    """JSON with null in the place of whatever is nested deeper than ``DEEPEST``."""
    kept, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth == DEEPEST + 1:
                kept.append(text[start : token.start()])
        elif token[0] in ("]", "}"):
            if depth == DEEPEST + 1:
                kept.append("null")
                start = token.end()
            depth -= 1
    return "".join([*kept, text[start:] if depth <= DEEPEST else ""])


def _all_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    for name in found:
        values = [value for key, value in pairs if key == name]
        if any(value != values[0] for value in values):
            found[name] = values
    return found


_DECODER = json.JSONDecoder(
    parse_int=lambda digits: int(digits[:_LONGEST_NUMBER]), object_pairs_hook=_all_values, strict=False
)
