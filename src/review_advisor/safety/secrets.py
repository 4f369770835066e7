"""Finds what looks like a secret in a text, by form, name, place or key, and masks it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from review_advisor.safety.assigned_secrets import ASSIGNED_KINDS, assigned
from review_advisor.safety.data_spans import Piece, runs_on_line
from review_advisor.safety.placed_secrets import IN_URL, in_file, in_urls, placed
from review_advisor.safety.private_keys import PRIVATE_KEY, in_base64, private_keys
from review_advisor.safety.secret_issuers import FORMATS, NEAR, PAIRS, Format
from review_advisor.safety.secret_reading import (
    SHORTEST_TOKEN,
    Words,
    encoded,
    in_low_ascii,
    looks_random,
    of_both_cases,
    read,
    words_of,
)

REDACTED = "[secret removed]"
"""Stands for a secret of the harness's own. It does not say of which kind."""

MORE = "[*]"
"""Stands for what more of a secret there is behind its first sign that is neither letter nor digit."""

_MARK = re.compile(r"\[secret(?: removed|: (?P<kind>[A-Za-z0-9][A-Za-z0-9 .'/-]{1,48}))\]")

_ONE_SECRET = re.compile(
    rf"(?:{_MARK.pattern.replace('?P<kind>', '?:')}|\[\*\])(?:[^\w\s\[\]]{{0,4}}(?:\[secret[^\]\n]{{0,60}}\]|\[\*\]))*+"
)


def mark(kind: str) -> str:
    """What stands for a recognised secret: it says the kind, and is the same for any two secrets of one kind."""
    return f"[secret: {kind}]"


def holds_mark(text: str) -> bool:
    """Whether something was taken out of ``text``."""
    return _MARK.search(text) is not None


def is_mark(text: str) -> bool:
    """Whether ``text`` is a mark and nothing else."""
    return _MARK.fullmatch(text) is not None


def kind_marked(text: str) -> str:
    """The kind that the first mark in ``text`` names; empty if there is none, or it names none."""
    found = _MARK.search(text)
    return (found["kind"] or "") if found else ""


def without_kinds(text: str) -> str:
    """``text`` with one mark for each secret, whatever its kind is taken for and whatever signs are in it."""
    return _ONE_SECRET.sub("[secret]", text)


Found = tuple[int, int, str]
"""Where a secret begins and ends, and its kind."""

KINDS = tuple(
    dict.fromkeys(
        (*(form.kind for form in FORMATS), *(pair.kind for pair in PAIRS), PRIVATE_KEY, *ASSIGNED_KINDS, IN_URL)
    )
)
"""Every kind of secret that a mark may name."""

LIKELY = frozenset((*ASSIGNED_KINDS, IN_URL))
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


def _redacted(text: str) -> str:
    for _ in range(MOST_ROUNDS):
        found = masks(text, secrets_in(text), (Piece(0, len(text), 0, "prose"),))
        masked = with_masks(text, (mask for of_one in found for mask in of_one))
        if masked == text:
            break
        text = masked
    return text


_redacted_word = lru_cache(maxsize=2_048)(_redacted)
"""Paths, ids and names come by again and again."""

_redacted_page = lru_cache(maxsize=64)(_redacted)
"""Instructions come by with every call, and what a model says as its reply, as an answer and in an event."""


def secrets_in(text: str, path: str = "") -> list[Found]:
    """Where secrets stand in ``text``, in order, none within another and none across a line feed.

    Of a file whose ``path`` is known, the name may tell that all of it is one secret.
    """
    reading = read(text)
    found = [(*place, kind) for start, end, kind in _all(reading.text) for place in reading.places(start, end)]
    if reading.text != text:  # what an escape or a broken literal looks like may be a secret's own
        found += in_urls(text)
        found += _issued(text, words_of(text))
    found += in_file(text, path)
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
    yield from ((start, end, PRIVATE_KEY) for start, end in private_keys(text, words))
    yield from assigned(text, low, words)
    yield from placed(text, low, words)
    yield from in_urls(text)
    for spans, meant in encoded(text, words):
        if not in_base64(text[spans[0][0] : spans[-1][1]]) and (inner := secrets_in(meant)):
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
            if found is not None and _form_counts(form, found):
                group = found.lastindex or 0
                yield *found.span(group), form.kind
                at = text.find(form.holds, found.end())
            else:
                at = text.find(form.holds, at + len(form.holds))


def _form_counts(form: Format, found: re.Match[str]) -> bool:
    if _BLANK_TO_FILL in found[0].lower():
        return False
    if not form.weak:
        return True
    before = found.string[found.start() - 1] if found.start() else " "
    drawn = found[found.lastindex or 0]
    return not before.isalnum() and looks_random(drawn.removeprefix(form.holds), _RANDOM_ENOUGH)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


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


_RUN = re.compile(r"(?:[^\W_]|[/+=])++")
_QUOTES = "\"'`"
_SEPARATOR = re.compile(r"[;|&<>]")
_SHELL_SEPARATORS = ";&|<>()"
_COMMAND_AFTER = re.compile(r"[;|&<>](?=[^\s<>/$(`]{0,300}+[\s<>/$(`])")

_HOLE = re.compile(
    r"(?P<mark>\[(?:secret[^\]\n]{0,60}|\*)\])|(?P<sure>\$[({]|[`]|#\{|\{\{|<[%?])"
    r"|(?P<call>(?<![\w.])[A-Za-z_][\w.]{2,}+(?=\())?(?P<group>[({\[])|#(?P<between>[^#\s]{1,80}+)#"
)
"""What looks like an interpolation or a call in any language: a group counts where it ends and holds a name."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_CALL = re.compile(r"[A-Za-z_0-9]\(")
_LONGEST_GROUP = 200
_HOLE_ENDS = {"$(": "()", "${": "{}", "#{": "{}", "{{": "{}"}


@dataclass(frozen=True, slots=True)
class Mask:
    """What stands for one run of letters and digits of a secret."""

    start: int
    end: int
    kind: str
    first: bool
    """It is the secret's first run."""
    sure: bool = True
    """It cannot hide code."""

    @property
    def shown(self) -> str:
        """The mark: that of the kind for the first run of a secret."""
        return mark(self.kind) if self.first else MORE


def masks(text: str, secrets: Iterable[tuple[int, int, str]], pieces: Sequence[Piece]) -> list[list[Mask]]:
    """For each of these ``secrets`` what is masked of it: its letters, digits and ``/ + =`` where they are data.

    ``pieces`` are the data of ``text``, in order. An interpolation within the secret stays, with all that it holds.
    What is not in quotes by itself ends at a sign that separates commands.
    """
    starts = [piece.start for piece in pieces]
    return [_masks_of(text, secret, pieces, starts) for secret in secrets]


def _masks_of(text: str, secret: tuple[int, int, str], pieces: Sequence[Piece], starts: Sequence[int]) -> list[Mask]:
    start, end, kind = secret
    first = bisect_right(starts, start)
    while first > 0 and pieces[first - 1].end > start:
        first -= 1
    here = [piece for piece in pieces[first : bisect_left(starts, end)] if piece.end > start]
    depth = min((piece.depth for piece in here), default=0)
    found: list[Mask] = []
    for begin, stop, sure in _data_within(text, start, end, [piece for piece in here if piece.depth == depth]):
        found += (
            Mask(begin + run.start(), begin + run.end(), kind, False, sure) for run in _RUN.finditer(text[begin:stop])
        )
    return [Mask(each.start, each.end, kind, number == 0, each.sure) for number, each in enumerate(found)]


def _data_within(text: str, start: int, end: int, pieces: Sequence[Piece]) -> Iterator[tuple[int, int, bool]]:
    """The parts of a secret that are data, to where it ends."""
    enclosed = start > 0 and text[start - 1] in _QUOTES and end < len(text) and text[end] in _QUOTES
    reached = start
    for piece in pieces:
        between = text[reached : piece.start].lstrip(_QUOTES)
        if between and between[0] in _SHELL_SEPARATORS:
            return
        begin, stop = max(start, piece.start), min(end, piece.end)
        reached = piece.end
        if piece.kind == "bare":
            yield begin, stop, piece.sure
            continue
        ends, sure = None, piece.sure
        if not enclosed and (piece.kind != "scalar" or runs_on_line(text, start)):
            ends = _COMMAND_AFTER if piece.kind == "dotenv" else _SEPARATOR
        for one, other in _outside_holes(text, begin, stop):
            cut = ends.search(text, one, other) if ends else None
            if cut is not None:
                yield one, cut.start(), sure
                return
            sure = sure and (ends is not _COMMAND_AFTER or _SEPARATOR.search(text, one, other) is None)
            yield one, other, sure


def _outside_holes(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between what looks like an interpolation in any language; one that does not end goes on to the end."""
    at = reached = start
    while at < end:
        hole = _HOLE.search(text, at, end)
        if hole is None:
            break
        stop = _end_of_hole(text, hole, end)
        if stop < 0:
            at = hole.end() - (hole["between"] is not None)
        else:
            yield reached, hole.start()
            at = reached = stop
    if reached < end:
        yield reached, end


def looks_like_code(text: str, start: int, end: int) -> bool:
    """Whether a part of a text has in it what looks like an interpolation or a call in any language."""
    part = _ONE_SECRET.sub("", text[start:end])
    return [*_outside_holes(part, 0, len(part))] not in ([(0, len(part))], []) or _CALL.search(part) is not None


def _end_of_hole(text: str, hole: re.Match[str], end: int) -> int:
    """Where it ends; -1 if it is none."""
    if hole["mark"] is not None:
        return hole.end()
    if hole["between"] is not None:
        return hole.end() if "(" in hole["between"] or _NAME.fullmatch(hole["between"]) else -1
    if hole["group"] is not None:
        return _end_of_group(text, hole, min(end, hole.end() + _LONGEST_GROUP))
    brackets = _HOLE_ENDS.get(hole[0])
    if brackets is None:
        closing = {"`": "`", "<%": "%>", "<?": "?>"}[hole[0]]
        stop = text.find(closing, hole.end(), end)
        return end if stop < 0 else stop + len(closing)
    deep = 0
    for at in range(hole.start(), end):
        deep += (text[at] == brackets[0]) - (text[at] == brackets[1])
        if not deep and at >= hole.end() - 1:
            return at + 1
    return end


def _end_of_group(text: str, hole: re.Match[str], end: int) -> int:
    """Where brackets that a name is in, or before, are closed; -1 if nowhere."""
    first = hole.end() - 1
    closing = {"(": ")", "{": "}", "[": "]"}[text[first]]
    deep = 0
    for at in range(first, end):
        deep += (text[at] == text[first]) - (text[at] == closing)
        if not deep:
            is_call = text[first] == "(" and hole["call"] is not None
            return at + 1 if is_call or _NAME.search(text, first, at) else -1
    return -1


def with_masks(text: str, found: Iterable[Mask]) -> str:
    """``text`` with these masks, which are in order."""
    parts: list[str] = []
    at = 0
    for each in found:
        parts += text[at : each.start], each.shown
        at = each.end
    return "".join([*parts, text[at:]]) if parts else text
