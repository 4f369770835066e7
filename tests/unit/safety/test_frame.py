"""What a prompt shows in place of a character that nobody sees, at the ends of each range of them."""

import pytest

from review_advisor.core.safety.frame import framed, visible

INVISIBLE = [
    *("\0", "\x08", "\x0b", "\x1f", "\x7f", "\x9f", "\xad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4"),
    *("\u17b5", "\u180b", "\u180f", "\u200b", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u202f"),
    *("\u2060", "\u206f", "\u2800", "\u3164", "\ufe00", "\ufe0f", "\ufeff", "\uffa0", "\ufff0", "\ufff8"),
    *("\ufff9", "\ufffb", "\U0001bca0", "\U0001bca3", "\U0001d173", "\U0001d17a", "\U00013430", "\U0001343f"),
    *("\U0001d159", "\U00016fe4", "\U000e0000", "\U000e0fff", "\ud800", "\udfff", "\ufdd0", "\ufdef"),
]
NO_CHARACTERS = [chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)]


@pytest.mark.parametrize("character", INVISIBLE + NO_CHARACTERS, ids=lambda character: f"{ord(character):04X}")
def test_an_invisible_character_is_shown_by_its_number(character: str) -> None:
    assert visible(f"a{character}b") == f"a<U+{ord(character):04X}>b"


@pytest.mark.parametrize("text", ["", "a b", "a\tb\nc", "\n", "\xa0", "\u0600\u0661", "\u2027\u2030", "\ufffc\ufffd"])
def test_what_a_reader_sees_stays(text: str) -> None:
    assert visible(text) == text


def test_a_frame_names_its_label_and_the_nonce_at_both_ends() -> None:
    assert framed("DIFF", "a n0nce b", "n0nce") == (
        "<<<UNTRUSTED DIFF n0nce\na [nonce removed] b\nDIFF n0nce UNTRUSTED>>>"
    )
