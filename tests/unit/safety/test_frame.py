"""What a prompt shows in place of a character that nobody sees: at the ends of each range, and in all of Unicode."""

import sys
import unicodedata

import pytest

from review_advisor.safety.fence import framed, visible

INVISIBLE = [
    *("\0", "\x08", "\r", "\x0b", "\x1f", "\x7f", "\x9f", "\xad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4"),
    *("\u17b5", "\u180b", "\u180f", "\u200b", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u202f"),
    *("\u2060", "\u206f", "\u2800", "\u3164", "\ufe00", "\ufe0f", "\ufeff", "\uffa0", "\ufff0", "\ufff8"),
    *("\ufff9", "\ufffb", "\U0001bca0", "\U0001bca3", "\U0001d173", "\U0001d17a", "\U00013430", "\U0001343f"),
    *("\U0001d159", "\U00016fe4", "\U000e0000", "\U000e0fff", "\ud800", "\udfff", "\ufdd0", "\ufdef"),
]
NO_CHARACTERS = [chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)]


def test_an_invisible_character_is_shown_by_its_number() -> None:
    for character in INVISIBLE + NO_CHARACTERS:
        assert visible(f"a{character}b") == f"a<U+{ord(character):04X}>b"


@pytest.mark.parametrize("text", ["", "a b", "a\tb\nc", "\n", "\xa0", "\u0600\u0661", "\u2027\u2030", "\ufffc\ufffd"])
def test_what_a_reader_sees_stays(text: str) -> None:
    assert visible(text) == text


def test_a_frame_names_its_label_and_the_nonce_at_both_ends() -> None:
    assert framed("DIFF", "a n0nce b", "n0nce") == (
        "<<<UNTRUSTED DIFF n0nce\na [nonce removed] b\nDIFF n0nce UNTRUSTED>>>"
    )


# DerivedCoreProperties.txt, Default_Ignorable_Code_Point: reserved code points are in it, so it changes seldom.
DEFAULT_IGNORABLE = [
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010)),
    *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
    *(*range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
]
# PropList.txt, Prepended_Concatenation_Mark: signs around the digits that follow them, for all to see.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
# A glyph that is a blank: of Braille, of a musical note, of Khitan; and the narrow space that hides between letters.
BLANK = {0x2800, 0x1D159, 0x16FE4, 0x202F}
NOT_YET_ASSIGNED = set(range(0x13430, 0x13440))
"""Egyptian format controls: some are of a later Unicode than this interpreter's."""
DEFAULT = frozenset(DEFAULT_IGNORABLE)


def is_invisible(code: int) -> bool:
    """By the principle: nothing that a screen would show."""
    category = unicodedata.category(chr(code))
    return (
        (category == "Cc" and chr(code) not in "\n\t")
        or (category == "Cf" and code not in SEEN)
        or category in ("Zl", "Zp", "Cs")
        or code & 0xFFFE == 0xFFFE
        or 0xFDD0 <= code <= 0xFDEF
        or code in BLANK
        or code in DEFAULT
    )


@pytest.mark.every_case
def test_every_invisible_character_of_unicode_is_shown_and_no_other() -> None:
    shown = {code for code in range(sys.maxunicode + 1) if visible(chr(code)) != chr(code)}
    expected = {code for code in range(sys.maxunicode + 1) if is_invisible(code)}
    assert sorted(map(hex, expected - shown)) == []
    assert sorted(map(hex, shown - expected - NOT_YET_ASSIGNED)) == []
