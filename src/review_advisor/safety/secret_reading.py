"""A text as a program reads it, and whether a piece was drawn at random."""

from __future__ import annotations

import base64
import html
import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_NUMBERED = r"(?= *\d)[ \d]{15,40}[ +-]"

MARGIN = rf"(?:{_NUMBERED}|[+-])?"
"""What a diff sets before a line: a sign, after the line numbers where there are any."""

SHORTEST_TOKEN = 15  # xoxb- and ten characters
_RUN = re.compile(rf"[A-Za-z0-9+/=_.$%:~-]{{{SHORTEST_TOKEN},}}+")
_BEFORE_LITERAL = rf"(?:{_NUMBERED}|\+|-(?![ \t]))?"  # a dash and a space begin an item of a list
_QUOTE = r"\\{0,3}[\"'`]"
_AND = r"(?:\.\.|\|\||[+.&])"
_QUOTE_SIGN = "[\"'`]"

_GOES_ON = (
    rf"(?:[ \t]{{0,20}}(?:{_AND}[ \t]{{0,20}}|\\)?\n{_BEFORE_LITERAL}[ \t]{{0,80}}(?:{_AND}[ \t]{{0,20}})?"
    # What follows is no name in a list of names and values.
    rf"[brfu]?{_QUOTE}(?![^\"'`\n]{{0,80}}[\"'`][ \t]{{0,8}}[=:])"
    rf"|[ \t]{{0,4}}{_AND}[ \t]{{0,4}}{_QUOTE})"
)

_CODE = "2[0-9A-Fa-f]|3[A-Fa-f]|40|0[AaDd]"

_UNDONE = re.compile(
    # A set comes first, so that the search skips to the few characters that can begin something.
    r"[\"'`\\%&](?:"
    rf"(?<={_QUOTE_SIGN})(?P<joint>{_GOES_ON})"
    # Of a line that ends in a backslash, a sign alone may be the secret's own.
    rf"|(?<=\\)(?:(?P<escaped_joint>\\{{0,2}}{_QUOTE_SIGN}{_GOES_ON}|\\?\n(?:{_NUMBERED})?[ \t]{{0,80}})"
    rf"|\\{{0,3}}(?:(?P<plain>[\"'`/])|(?P<blank>[nrt])|(?:u00|x)(?P<code>{_CODE})))"
    rf"|(?<=%)(?P<percent>{_CODE})"
    r"|(?<=&)(?P<entity>quot|apos|amp|lt|gt|#(?:3[49]|4[37]|61|x2[2-7BbFf]|x3[Dd]));)"
)

_LONGEST_LINE = 1_000

_ASCII_IN_BASE64 = re.compile(
    # Of each four characters three have a bit that is never set where the text is ASCII.
    r"(?<![A-Za-z0-9+/_-])(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4,}+"
    r"(?:[A-Za-f][AQgw]|[A-Za-f][A-HQ-Xg-nw-z0-3][AEIMQUYcgkosw048])?={0,2}(?![A-Za-z0-9+/_-])"
)

_NEXT_OF_BASE64 = re.compile(rf"[\"'\\,]{{0,3}}\r?\n{MARGIN}[ \t\"'#*|]{{0,40}}")
_LETTERS_IN_PERCENT = re.compile(r"(?:%[2-7][0-9A-Fa-f]|[A-Za-z0-9_.~+/=:-]){12,}+")
_A_LETTER_IN_PERCENT = re.compile(r"%(?:[46][1-9A-Fa-f]|[57][0-9AaFf]|3[0-9])")
_CODED = re.compile("%([2-7][0-9A-Fa-f])")
_FEWEST_CODES = 3
_BLANKS = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Words:
    """Every word of a text once, one a line: what is in none of them need not be looked for in the text.

    ``low`` are they in lower case, with ``?`` for what is not ASCII, ``long`` the runs that may be tokens.
    """

    all: str
    low: str
    long: str
    longest: int

    def may_hold(self, phrase: str) -> bool:
        """Whether the text has all words of the phrase."""
        return all(word in self.all for word in phrase.split())


def words_of(text: str) -> Words:
    """The words of ``text``."""
    every = "\n".join(set(text.split()))
    runs = _RUN.findall(every)
    return Words(every, in_low_ascii(every), "\n".join(runs), max(map(len, runs), default=0))


def in_low_ascii(text: str) -> str:
    """``text`` in lower case, each character that is not ASCII as ``?``."""
    return text.encode("ascii", "replace").lower().decode("ascii")


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text as a program reads it, in pieces that stand for parts of the original."""

    text: str
    starts: tuple[int, ...] = (0,)
    """Where each piece begins in ``text``."""
    origins: tuple[int, ...] = (0,)
    """Where each piece begins in the original."""
    widths: tuple[int, ...] = (0,)
    """How many characters of the original each piece stands for; 0: as many as it has."""
    joints: tuple[int, ...] = ()
    """Where a literal was broken."""

    def places(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where this part of the text stands in the original: in several places if a literal was broken in it."""
        first, last = bisect_right(self.joints, start), bisect_left(self.joints, end)
        bounds = [start, *self.joints[first:last], end]
        for begin, finish in itertools.pairwise(bounds):
            if begin < finish:
                yield self._place(begin)[0], self._place(finish - 1)[1]

    def _place(self, position: int) -> tuple[int, int]:
        """Where the character at this position begins and ends in the original."""
        piece = bisect_right(self.starts, position) - 1
        began = self.origins[piece] + (0 if self.widths[piece] else position - self.starts[piece])
        return began, began + (self.widths[piece] or 1)


def read(text: str) -> DecodedText:
    """``text`` as it is read."""
    parts: list[str] = []
    starts, origins, widths, joints = [0], [0], [0], []
    length = at = 0
    for found in _UNDONE.finditer(text):
        parts.append(text[at : found.start()])
        length += found.start() - at
        at = found.end() + _sign_after(found)
        meant = _meant(found)
        if meant:
            parts.append(meant)
            starts.append(length)
            origins.append(found.start())
            widths.append(at - found.start())
            length += 1
        else:
            joints.append(length)
        starts.append(length)
        origins.append(at)
        widths.append(0)
    if not parts:
        return DecodedText(text)
    parts.append(text[at:])
    return DecodedText("".join(parts), tuple(starts), tuple(origins), tuple(widths), tuple(joints))


def _sign_after(found: re.Match[str]) -> int:
    """How long the sign of a diff is behind the end of a line that goes on: the sign of that line, or none."""
    text, end = found.string, found.end()
    if not _joins(found) or text[end : end + 1] not in {"+", "-"} or text[end - 1] != "\n":
        return 0
    began = text.rfind("\n", max(0, found.start() - _LONGEST_LINE), found.start()) + 1
    return int(text[began] == text[end])


def _joins(found: re.Match[str]) -> bool:
    """Whether a broken literal goes on here."""
    return found["joint"] is not None or found["escaped_joint"] is not None


def _meant(found: re.Match[str]) -> str:
    """The character that an escape stands for; empty where a literal was broken."""
    if _joins(found):
        return ""
    code = found["code"] or found["percent"]
    if code is not None:
        return chr(int(code, 16))
    if found["entity"] is not None:
        return html.unescape(found[0])
    return found["plain"] or _BLANKS[found["blank"]]


def encoded(text: str, words: Words) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """The ASCII texts that are written in base64, perhaps in several lines, or with letters as ``%41``.

    Each with its places, none of which is across a line feed.
    """
    spans: list[tuple[int, int]] = []
    for found in _ASCII_IN_BASE64.finditer(text) if _ASCII_IN_BASE64.search(words.long) else ():
        gap = _NEXT_OF_BASE64.fullmatch(text, spans[-1][1], found.start()) if spans else None
        if spans and gap is None:
            yield spans, _of_base64(text, spans)
            spans = []
        spans.append(found.span())
    if spans:
        yield spans, _of_base64(text, spans)
    if "%" in text and _A_LETTER_IN_PERCENT.search(text):
        for found in _LETTERS_IN_PERCENT.finditer(text):
            if len(_A_LETTER_IN_PERCENT.findall(found[0])) >= _FEWEST_CODES:
                yield [found.span()], _CODED.sub(lambda code: chr(int(code[1], 16)), found[0])


def _of_base64(text: str, spans: list[tuple[int, int]]) -> str:
    """What the base64 in these places says; of what is cut off, as far as it goes."""
    written = "".join(text[start:end].rstrip("=") for start, end in spans)
    whole = written[: len(written) - (len(written) % 4 == 1)]
    return base64.urlsafe_b64decode(whole.replace("+", "-").replace("/", "_") + "=" * (-len(whole) % 4)).decode(
        "ascii", "replace"
    )


_FOLLOWERS = (
    "abcdfgilmnprstu baelu caehklort dadeioru eabcdefilmnpqrstvwx faeior geirs haeiot iacdefglmnoprstv kes "
    "ladeilotuy maeiop nacdefginostv ocdlmnoprstuvw paeloprtu qu racegilmorstuy sacehiopstu tacefhioprstuy "
    "ueglnprst vaei wi xt yp"
)

_COMMON_PAIRS = frozenset(word[0] + letter for word in _FOLLOWERS.split() for letter in word[1:])
"""The pairs of letters that make up seven eighths of the words in source code. Random letters hit a quarter of them."""

_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")

_EXAMINED = 64
"""A longer text is judged by its beginning: the answer does not change, and the time stays bounded."""

_MOST_IN_A_ROW = 0.3
_MOST_IN_A_ROW_OF_HEX = 0.55
_FEWEST_DIFFERENT = 6
_SHORTEST_HEX = 16
_LETTERS_ONLY, _ONE_CASE_ONLY = 0.85, 0.6
_SHORTEST_OF_ONE_CASE = 16

_SIGNS = "!#$%^&*+=?@~|;"
"""No identifier, path or sentence is full of them."""

_IN_CODE = re.compile(r"[()\[\]{}<>.:]|[^\x21-\x7e]")


def looks_made_up(value: str) -> bool:
    """Whether a password or a token was drawn at random. The measure is stricter for one without a digit."""
    letters = "".join(filter(str.isalpha, value))
    if not letters:
        return False
    if any(map(str.isdigit, value)):
        return looks_random(value)
    if _IN_CODE.search(value):
        return False
    if letters not in {letters.lower(), letters.upper()}:
        return looks_random(value, _LETTERS_ONLY)
    return len(letters) >= _SHORTEST_OF_ONE_CASE and looks_random(value, _ONE_CASE_ONLY)


def of_both_cases(value: str) -> bool:
    """Whether it has digits, and letters of both cases."""
    return any(map(str.isdigit, value)) and value != value.lower() and value != value.upper()


def looks_random(text: str, least: float = 0.65) -> bool:
    """Whether ``text`` cannot be words: ``least`` is the share of unlikely neighbours that random text has.

    Random letters and digits reach 1.4 on average and 0.85 in 98 of 100 texts of sixteen characters; of the
    identifiers in source code one in a hundred reaches 0.65.
    """
    return _looks_random(text[:_EXAMINED], least)


@lru_cache(maxsize=1_024)
def _looks_random(piece: str, least: float) -> bool:
    if len(set(piece)) < _FEWEST_DIFFERENT:
        return False
    if _looks_like_hex(piece):
        return _in_a_row(piece) <= _MOST_IN_A_ROW_OF_HEX
    return _in_a_row(piece) <= _MOST_IN_A_ROW and _unlikely(piece) >= least


def _looks_like_hex(piece: str) -> bool:
    """Whether it is hexadecimal as a digest is: digits and letters mixed, neither of them rare."""
    if len(piece) < _SHORTEST_HEX or _HEX.fullmatch(piece) is None:
        return False
    digits = sum(letter.isdigit() for letter in piece)
    return 0.3 * len(piece) <= digits <= 0.92 * len(piece)


def _unlikely(piece: str) -> float:
    """How often upper case, lower case and digits take turns, and how many pairs of letters are rare in words."""
    neighbours = turns = pairs = rare = 0
    for one, other in itertools.pairwise(piece):
        kinds = _kind(one), _kind(other)
        if "" in kinds:
            continue
        neighbours += 1
        turns += kinds[0] != kinds[1]
        if one.isalpha() and other.isalpha():
            pairs += 1
            rare += (one + other).lower() not in _COMMON_PAIRS
    return turns / max(1, neighbours) + (rare / pairs if pairs else 0)


def _kind(letter: str) -> str:
    if letter.isdigit():
        return "digit"
    if letter in _SIGNS:
        return "sign"
    return ("upper" if letter.isupper() else "lower") if letter.isalpha() else ""


def _in_a_row(piece: str) -> float:
    """How much of it is a row such as ``abcdef`` or ``0000``: neighbours in the alphabet, or repeated."""
    return sum(abs(ord(one) - ord(other)) <= 1 for one, other in itertools.pairwise(piece)) / len(piece)
