"""The answer of a refuter."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from review_advisor.agents.answers import Answer, at_most, otherwise
from review_advisor.agents.evidence import ShownChange
from review_advisor.agents.findings import Finding

_MOST_WORDS = 2_000


_COMMENT = re.compile(
    r"\W*(#|//|/\*|\*|--|;|%|\{-|\"\"\"|''')|\s*(@?rem\b|dnl\b|=begin\b|[rubf]{1,2}(\"\"\"|'''))", re.IGNORECASE
)
"""How a line begins that may be a comment in some language: with its mark, whatever other signs stand before that."""


class Challenge(Answer):
    """What a refuter says of one finding. Whatever it cannot show is ``unsure``."""

    verdict: Annotated[Literal["refuted", "stands", "unsure"], otherwise("unsure")]
    reasoning: Annotated[str, at_most(_MOST_WORDS), otherwise("")] = Field(default="", description="at most 60 words")
    path: Annotated[str, otherwise("")] = Field(default="", description="the file of the quote")
    quote: Annotated[str, at_most(_MOST_WORDS), otherwise("")] = Field(
        default="", description="a verbatim quote of one to three lines of code that shows that the finding is wrong"
    )


def disproves(path: str, quote: str, finding: Finding, change: ShownChange) -> bool:
    """Whether a quote that is to show that a finding is wrong stands in code at the head.

    Comments and documentation prove nothing, because the author may write there what a refuter or an advisor is to
    say. The lines that the finding itself quotes prove nothing new.
    """
    return change.stands_in_code(path, quote, _is_comment, finding.evidence)


def _is_comment(line: str) -> bool:
    return _COMMENT.match(line) is not None
