"""A small repository on MockWorld's GitHub, with one pull request: what the tests of its rules begin with."""

from dataclasses import dataclass, field

from review_advisor.github.writes import Annotation, Check, Conclusion, InlineComment
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import WORKFLOW_ABILITIES, GitHub
from review_advisor.mockworld.github_doors import Session
from review_advisor.mockworld.github_records import Pull, Token

SHOP = "octo/shop"
BOT = "github-actions[bot]"
NUMBER = 1
DONE = Check("review-advisor", "pr-1", "Approved", "All is well.", Conclusion.SUCCESS)
BEFORE = "".join(f"line {number}\n" for number in range(1, 41))
AFTER = BEFORE.replace("line 5\n", "LINE 5\n").replace("line 30\n", "LINE 30\n")


@dataclass
class Shop:
    """``forge`` is the port as the workflow's token has it."""

    github: GitHub = field(default_factory=GitHub)

    def __post_init__(self) -> None:
        self.github.opens_repository(SHOP, {"till.py": BEFORE}, organization=True)
        self.token = self.github.workflow_token()
        self.pull: Pull = self.github.opens(SHOP, {"till.py": AFTER}, by="ann", title="Count again")

    @property
    def forge(self) -> FakeForge:
        return FakeForge(self.github, SHOP, BOT)

    def session(self, token: Token | None = None) -> Session:
        """Single requests: of the workflow's token, unless another one is given."""
        return Session(self.github, SHOP, token or self.token)

    def may(self, *more: str) -> FakeForge:
        """The port of a workflow that may do more than publishing takes."""
        self.token = self.github.workflow_token(WORKFLOW_ABILITIES | set(more))
        return self.forge

    def reviewed(self, *remarks: InlineComment, body: str = "Look at this.") -> int:
        """The bot's pending review."""
        return self.forge.start_review(NUMBER, self.pull.head_sha, body, remarks)


def remark(line: int = 5, *, start: int | None = None, path: str = "till.py", body: str = "why?") -> InlineComment:
    """An inline comment on the new lines."""
    return InlineComment("f-01234567890123456789012345678901", path, line, start, "RIGHT", body)


def remarks_of_check(count: int) -> tuple[Annotation, ...]:
    """So many annotations."""
    return tuple(Annotation("till.py", 1, 1, "notice", "Title", f"Message {number}") for number in range(count))
