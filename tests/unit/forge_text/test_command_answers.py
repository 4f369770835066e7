"""The answers to commands in comments."""

import pytest

from review_advisor.github.answers import (
    DOES,
    a_review_decides,
    approved,
    dismissed,
    explained,
    helped,
    refused,
    some_still_block,
    unknown,
    verdict_stays,
)
from review_advisor.github.commands import USAGE
from review_advisor.github.state import KnownFinding, State


def test_every_command_is_listed_with_what_it_does() -> None:
    lines = helped().split("\n")
    assert lines[0] == "Write each command on its own line of a comment. Commands need write permission."
    assert lines[1:] == ["", *(f"- `{each}`: {DOES[each]}" for each in USAGE)]


def test_what_was_wrong_stands_in_a_paragraph_of_its_own() -> None:
    assert helped("No such command.") == f"No such command.\n\n{helped()}"


def test_what_was_not_done_is_said_with_why() -> None:
    assert refused("It is <closed>.") == "Nothing was done. It is &lt;closed&gt;."
    assert unknown(FINDING).startswith(f"Nothing was done. No finding `{FINDING}` is known")


FINDING = "f-01234567890123456789012345678901"
KNOWN = KnownFinding(id=FINDING, path="a.py", line=7, title="it is <wrong>", severity="high")
IN_THIS_FILE = (
    "The same was dismissed in this file, but equal lines came or went since: which of them was meant is unknown."
)
HOLD = "The comment on these lines and the check's page show the finding."


@pytest.mark.parametrize(
    "more, status, ends",
    [
        ({}, "open", ""),
        ({"status": "fixed"}, "fixed", ""),
        (
            {"status": "dismissed", "by": "ada", "reason": "it is <meant>"},
            "dismissed",
            "\n\nDismissed by `ada`: it is &lt;meant&gt;",
        ),
        (
            {"dismissed_under": "a.py"},
            "open",
            f"\n\n{IN_THIS_FILE}",
        ),
        (
            {"dismissed_under": "b.py"},
            "open",
            "\n\nThe same was dismissed under `b.py`, but git names no rename from there to here.",
        ),
        ({"status": "fixed", "dismissed_under": "b.py"}, "fixed", ""),
    ],
)
def test_a_finding_is_explained_with_what_people_did_with_it(more: dict[str, str], status: str, ends: str) -> None:
    told = explained(KNOWN.model_copy(update=more))
    assert told == f"**high** `a.py:7`: it is &lt;wrong&gt; (`{FINDING}`), {status}.\n\n{HOLD}{ends}"


def test_what_a_command_did_is_said_with_what_comes_next() -> None:
    assert dismissed(FINDING, "a *test*", some_still_block(2)) == (
        f"`{FINDING}` is dismissed: a \\*test\\*\n\nIt is not raised again. 2 findings still block; the verdict stays."
    )
    assert a_review_decides("Why.") == "Nothing open blocks any more, and a new review of this head decides: Why."
    assert verdict_stays("Why.") == ("The verdict stays until the next review, for which `/advisor review` asks. Why.")
    state = State.model_construct(head_sha="a" * 40, approved_by="ada")
    assert approved(state) == f"The check of `{'a' * 40}` passes in the name of `ada`. A push is reviewed again."
