"""What a comment commands: only a paragraph that everybody who reads the comment sees as the command."""

import pytest

from review_advisor.github.commands import (
    Command,
    Dismiss,
    Explain,
    Help,
    Misspelt,
    Override,
    ReviewAgain,
    read_command,
)

SAID = "/advisor review"


@pytest.mark.parametrize(
    "body",
    [
        SAID,
        f"Please look again.\n\n{SAID}\n",
        f"> three is wrong\n\n{SAID}",
        f"```\n<b>\n```\n\n{SAID}\n\nThank you.",
        f"a `b` c\r\n\r\n{SAID}\r\n \t\r\nmore",
        f"{SAID}\n\n<details>more</details>",
        f"1 < 2\n\n{SAID}",
    ],
)
def test_a_paragraph_of_its_own_is_a_command(body: str) -> None:
    assert read_command(body) == ReviewAgain()


@pytest.mark.parametrize(
    "body",
    [
        f"`a\n{SAID}\nb`",
        f'[x]: y "\n{SAID}\n"',
        f"> quoted\n{SAID}",
        f"1. > quoted\n{SAID}",
        f"words\n{SAID}",
        f"{SAID}\nwords",
        f"`a\n\u00a0\n{SAID}\n\u00a0\nb`",
        f"a\n\x0c\n{SAID}",
    ],
)
def test_a_line_within_a_paragraph_is_none_and_the_way_to_say_it_is_told(body: str) -> None:
    heard = read_command(body)
    assert isinstance(heard, Misspelt)
    assert "an empty line above and below" in heard.why


@pytest.mark.parametrize(
    "above",
    [
        "<code>",
        "<blockquote>",
        "a <kbd>",
        "<textarea>",
        "<div hidden>",
        "<!-- x",
        "<details>",
        "</p>",
        "$$",
        "- ```",
        "- a\n  ~~~",
        "1. ~~~",
    ],
)
def test_what_could_hide_it_above_makes_it_none(above: str) -> None:
    heard = read_command(f"{above}\n\n{SAID}\n\n")
    assert isinstance(heard, Misspelt)
    assert "hidden" in heard.why


@pytest.mark.parametrize(
    "body",
    [
        f"```\n\n{SAID}\n\n```",
        f"```\n  ```\n```\n\n{SAID}",
        f"~~~\n```\n\n{SAID}",
        f"- ```\n  ~~~\n~~~\n\n{SAID}\n\n~~~",
        f"    {SAID}",
    ],
)
def test_code_is_text(body: str) -> None:
    assert read_command(body) is None


FINDING = "f-01234567890123456789012345678901"
SHA = "0123456789abcdef0123456789abcdef01234567"
NO_FINDING = Misspelt("Name a finding by its id, `f-` and all its digits, as the comment about it has it.")
NO_HEAD = Misspelt("Name the head commit with all its digits, and say why.")
NO_COMMAND = Misspelt("This is not one of the commands.")


@pytest.mark.parametrize(
    "words, command",
    [
        ("", Help()),
        ("help", Help()),
        ("review", ReviewAgain()),
        ("consult", ReviewAgain(consult=True)),
        (f"explain {FINDING}", Explain(FINDING)),
        (f"dismiss {FINDING} it is wrong", Dismiss(FINDING, "it is wrong")),
        (f"dismiss  {FINDING}\tit  is wrong ", Dismiss(FINDING, "it  is wrong")),
        (f"override {SHA} I looked", Override(SHA, "I looked")),
        (f"dismiss {FINDING} " + "x" * 500, Dismiss(FINDING, "x" * 500)),
        (f"dismiss {FINDING} " + "x" * 501, Dismiss(FINDING, "x" * 500)),
        (f"override {SHA} " + "x" * 501, Override(SHA, "x" * 500)),
    ],
)
def test_each_command_is_read_to_its_end(words: str, command: Command) -> None:
    assert read_command(f"/advisor {words}".rstrip(" ") if not words else f"/advisor {words}") == command


@pytest.mark.parametrize(
    "words, why",
    [
        ("reviews", NO_COMMAND),
        ("review please", NO_COMMAND),
        ("help me", NO_COMMAND),
        ("Review", NO_COMMAND),
        ("approve", NO_COMMAND),
        ("explain", NO_FINDING),
        (f"explain {FINDING} please", NO_FINDING),
        ("dismiss", NO_FINDING),
        (f"dismiss {FINDING}", NO_FINDING),
        ("override", NO_HEAD),
        (f"override {SHA}", NO_HEAD),
        (f"override {SHA[:7]} I looked", NO_HEAD),
        (f"override {SHA}0 I looked", NO_HEAD),
        (f"override x{SHA} I looked", NO_HEAD),
        *(
            (said.format(name), NO_FINDING)
            for said in ("explain {}", "dismiss {} it is wrong")
            for name in (FINDING[:-1], f"{FINDING}0", f"{FINDING}.", f"x{FINDING}", FINDING.upper(), FINDING[2:])
        ),
    ],
)
def test_what_does_not_fit_to_its_end_is_no_command_and_how_to_say_it_is_told(words: str, why: Misspelt) -> None:
    assert read_command(f"/advisor {words}") == why


def test_two_commands_in_a_comment_are_none() -> None:
    assert read_command(f"{SAID}\n\n/advisor help") == Misspelt("A comment may hold one command only.")
