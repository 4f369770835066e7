"""Which characters nobody sees: the whole of Unicode, one by one."""

from __future__ import annotations

import sys
import unicodedata

from review_advisor.core.safety.frame import visible

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


DEFAULT = frozenset(DEFAULT_IGNORABLE)


def test_every_invisible_character_of_unicode_is_shown_and_no_other() -> None:
    shown = {code for code in range(sys.maxunicode + 1) if visible(chr(code)) != chr(code)}
    expected = {code for code in range(sys.maxunicode + 1) if is_invisible(code)}
    assert sorted(map(hex, expected - shown)) == []
    assert sorted(map(hex, shown - expected - NOT_YET_ASSIGNED)) == []


def test_it_is_shown_by_its_number() -> None:
    assert visible("a\U0001bca0b\u2800c\U00016fe4") == "a<U+1BCA0>b<U+2800>c<U+16FE4>"


def test_scripts_that_need_signs_around_their_digits_keep_them() -> None:
    assert visible("\u06dd\u0661\u0662 \u0600\u0661") == "\u06dd\u0661\u0662 \u0600\u0661"
