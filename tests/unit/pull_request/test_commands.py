"""What a comment commands: only a paragraph that everybody who reads the comment sees as the command."""

import pytest

from review_advisor.core.pull_request.commands import Misspelt, ReviewAgain, read_command

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
    assert "stands alone" in heard.why


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
