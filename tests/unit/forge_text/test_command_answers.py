"""The answers to commands in comments."""

from review_advisor.core.forge_text.command_answers import DOES, helped, refused, unknown
from review_advisor.core.pull_request.commands import USAGE


def test_every_command_is_listed_with_what_it_does() -> None:
    lines = helped().split("\n")
    assert lines[0] == "Each command stands alone on a line of a comment. They need write permission."
    assert lines[1:] == ["", *(f"- `{each}`: {DOES[each]}" for each in USAGE)]


def test_what_was_wrong_stands_in_a_paragraph_of_its_own() -> None:
    assert helped("No such command.") == f"No such command.\n\n{helped()}"


def test_what_was_not_done_is_said_with_why() -> None:
    assert refused("It is <closed>.") == "Nothing was done. It is &lt;closed&gt;."
    assert unknown("f-0123456789").startswith("Nothing was done. No finding `f-0123456789` is known")
