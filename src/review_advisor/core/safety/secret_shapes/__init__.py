"""What has the shape of a secret, and how it is taken out of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from review_advisor.core.safety.data_spans import Piece

from . import assignments, places, private_keys
from .issuers import FORMATS, NEAR, PAIRS, Format
from .marks import REDACTED, Mask, holds_mark, is_mark, kind_marked, mark, masks, with_masks, without_kinds
from .randomness import looks_random, of_both_cases
from .reading import SHORTEST_TOKEN, Words, encoded, in_low_ascii, read, words_of

__all__ = [
    "REDACTED",
    "Found",
    "Mask",
    "apart",
    "holds_mark",
    "is_mark",
    "issued_kind",
    "kind_marked",
    "mark",
    "masks",
    "redact",
    "secrets_in",
    "with_masks",
    "without_kinds",
]

Found = tuple[int, int, str]
"""Where a secret begins and ends, and its kind."""

KINDS = tuple(
    dict.fromkeys(
        [
            *(form.kind for form in FORMATS),
            *(pair.kind for pair in PAIRS),
            private_keys.KIND,
            *assignments.KINDS,
            places.IN_URL,
        ]
    )
)
"""Every kind of secret that a mark may name."""
LIKELY = frozenset((*assignments.KINDS, places.IN_URL))
"""The kinds that a name or a place tells, and no form of their own: such a value is likely a secret, not surely."""
MOST_ROUNDS = 4
"""What stands beside a mark may be a secret only now that it stands alone: it is looked for until nothing is found."""
_SHORT_TEXT, _LONG_TEXT = 128, 16_384
_RANDOM_ENOUGH = 0.6
_BLANK_TO_FILL = "x" * 12
_BY_LAST_SIGN = {
    sign: tuple(form for form in FORMATS if form.holds[-1] == sign)
    for sign in dict.fromkeys(form.holds[-1] for form in FORMATS)
}
"""Most texts lack most of the signs that the beginnings of tokens end with."""
_NEXT_FILE = "\n\nFILE "
"""Where the diff that the bot shows goes on with another file: an id there belongs to no secret here."""


def redact(text: str) -> str:
    """``text``, which is prose, with marks for everything that looks like a secret; it has as many lines as before."""
    if len(text) < SHORTEST_TOKEN:
        return text
    if len(text) < _SHORT_TEXT:
        return _redacted_word(text)
    return _redacted_page(text) if len(text) < _LONG_TEXT else _redacted(text)


@lru_cache(maxsize=2_048)
def _redacted_word(text: str) -> str:
    """Paths, ids and names come by again and again."""
    return _redacted(text)


@lru_cache(maxsize=64)
def _redacted_page(text: str) -> str:
    """Instructions come by with every call, and what a model says as its reply, as an answer and in an event."""
    return _redacted(text)


def _redacted(text: str) -> str:
    for _ in range(MOST_ROUNDS):
        found = masks(text, secrets_in(text), (Piece(0, len(text), 0, "prose"),))
        shown = with_masks(text, (each for of_one in found for each in of_one))
        if shown == text:
            break
        text = shown
    return text


def secrets_in(text: str, path: str = "") -> list[Found]:
    """Where secrets stand in ``text``, in order, none within another and none across a line feed.

    Of a file whose ``path`` is known, the name may tell that all of it is one secret.
    """
    reading = read(text)
    found = [(*place, kind) for start, end, kind in _all(reading.text) for place in reading.places(start, end)]
    if reading.text != text:  # what an escape or a broken literal looks like may be a secret's own
        found += places.in_urls(text)
        found += _issued(text, words_of(text))
    found += places.in_file(text, path)
    return apart(found)


def issued_kind(text: str) -> str:
    """The kind of the first secret in ``text`` that has the form of a known issuer; empty without one."""
    return next((kind for _, _, kind in _issued(text, words_of(text))), "")


def _all(text: str) -> Iterator[Found]:
    words = words_of(text)
    low = in_low_ascii(text.replace("\uff1a", ":"))
    issued = list(_issued(text, words))
    yield from issued
    yield from _paired(text, issued)
    yield from ((start, end, private_keys.KIND) for start, end in private_keys.private_keys(text, words))
    yield from assignments.assigned(text, low, words)
    yield from places.placed(text, low, words)
    yield from places.in_urls(text)
    for spans, meant in encoded(text, words):
        if not private_keys.in_base64(text[spans[0][0] : spans[-1][1]]) and (inner := secrets_in(meant)):
            yield from ((*span, inner[0][2]) for span in spans)


def _issued(text: str, words: Words) -> Iterator[Found]:
    runs = words.long
    held = [form for sign, forms in _BY_LAST_SIGN.items() if sign in runs for form in forms if form.holds in runs]
    for form in sorted(held, key=FORMATS.index):
        if not form.before and not _compiled(form.pattern).search(words.all):
            continue
        at = text.find(form.holds)
        while at >= 0:
            found = _compiled(form.pattern).match(text, at - form.before) if at >= form.before else None
            if found is not None and _counts(form, found):
                group = found.lastindex or 0
                yield *found.span(group), form.kind
                at = text.find(form.holds, found.end())
            else:
                at = text.find(form.holds, at + len(form.holds))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _counts(form: Format, found: re.Match[str]) -> bool:
    if _BLANK_TO_FILL in found[0].lower():
        return False
    if not form.weak:
        return True
    before = found.string[found.start() - 1] if found.start() else " "
    drawn = found[found.lastindex or 0]
    return not before.isalnum() and looks_random(drawn.removeprefix(form.holds), _RANDOM_ENOUGH)


def _paired(text: str, issued: Iterable[Found]) -> Iterator[Found]:
    """The secrets that stand near the id that they belong to, or near its mark."""
    for pair in PAIRS:
        near = [(start, end) for start, end, kind in issued if kind == pair.id_kind]
        if (known := mark(pair.id_kind)) in text:
            near += [found.span() for found in re.finditer(re.escape(known), text)]
        done = 0
        for start, end in sorted(near):
            first = max(done, text.rfind(_NEXT_FILE, max(0, start - NEAR), start), start - NEAR)
            after = text.find(_NEXT_FILE, end, end + NEAR)
            last = after if after >= 0 else end + NEAR
            for found in _compiled(pair.pattern).finditer(text, first, last):
                if of_both_cases(found[0]) and looks_random(found[0]):
                    yield *found.span(), pair.kind
            done = last


def apart(found: list[Found]) -> list[Found]:
    """Of what overlaps, one: from the first beginning to the last end, of the kind of the longest."""
    merged: list[Found] = []
    for start, end, kind in sorted(found, key=lambda each: (each[0], -each[1])):
        if merged and start < merged[-1][1]:
            begin, stop, first = merged[-1]
            merged[-1] = (begin, max(stop, end), first)
        else:
            merged.append((start, end, kind))
    return merged
