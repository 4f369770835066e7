"""A pull request on MockWorld's GitHub, reviewed in MockWorld, and the bot that publishes there."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from review_advisor.change.change import FileChange
from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import Permission
from review_advisor.change.redaction import NO_SECRETS, Redactor
from review_advisor.github.begin import Comment as Words
from review_advisor.github.begin import CommentResult, Conversation
from review_advisor.github.forge import Forge
from review_advisor.github.publish import DidNotRun, Published, PublishPhase
from review_advisor.github.state import SUMMARY, State, own_summaries, read_state
from review_advisor.github.writer import Bot
from review_advisor.mockworld.agents import Line
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import CheckRun, IssueComment, Pull, Review, ReviewThread
from review_advisor.mockworld.world import FakeClock, MockWorld, edited
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.ports import Clock

REPOSITORY = "acme/shop"
AUTHOR = "ada"
MAINTAINER = "maria"
BOT = "github-actions[bot]"
PATH = "src/a.py"
LINES = "".join(f"value = {n}\n" for n in range(1, 31))


class Desk:
    """One pull request and everything that stands on it.

    ``redactor`` knows the secrets of the bot's environment, ``key`` seals what it remembers.
    """

    redactor: Redactor = NO_SECRETS
    key: bytes | None = b"k" * 32

    def __init__(self, rules: PublicationRules | None = None) -> None:
        self.rules = rules or PublicationRules()
        self.github = GitHub()
        self.github.opens_repository(REPOSITORY)
        self.github.grants(REPOSITORY, MAINTAINER, Permission.MAINTAIN)
        self.github.grants(REPOSITORY, AUTHOR, Permission.WRITE)
        self.github.workflow_token()
        self.pull: Pull = self.github.opens(REPOSITORY, {PATH: LINES}, by=AUTHOR)
        self.world = MockWorld()
        self.clock = FakeClock()

    @property
    def forge(self) -> FakeForge:
        return FakeForge(self.github, REPOSITORY, BOT)

    def bot(self, *, run: str = "", forge: Forge | None = None, clock: Clock | None = None) -> Bot:
        return Bot(
            forge=forge or self.forge,
            clock=clock or self.clock,
            rules=self.rules,
            run=run,
            redactor=self.redactor,
            repository=REPOSITORY,
            state_key=self.key,
            believed_branch="main",
        )

    @property
    def phase(self) -> PublishPhase:
        return PublishPhase(self.bot(), GitPatcher())

    def reviewed(
        self, *report: Line, judged: Iterable[Line] = (), files: tuple[FileChange, ...] = (edited(PATH, 30),)
    ) -> OutcomeDocument:
        """Review the present head: what the executor says in each attempt, and what its judge says."""
        self.world.source.stated = replace(
            self.world.source.stated,
            label=f"pr-{self.pull.number}",
            title=self.pull.title,
            author=self.pull.author,
            base_ref=self.pull.base_ref,
            base_sha=self.github.base_sha(self.pull),
            head_sha=self.pull.head_sha,
            files=files,
        )
        self.world.agents.script(Role.EXECUTOR, *report)
        self.world.agents.script(Role.POST_VERIFY, *judged)
        return self.world.review()

    def publish(self, outcome: OutcomeDocument | DidNotRun, *, asked: bool = False) -> Published:
        return self.phase.publish(self.pull.number, outcome, asked=asked)

    def hears(self, login: str, body: str, number: int = 77, *, run: str = "") -> CommentResult:
        """Somebody comments, and the bot hears it; a comment of the same number is the same one, heard again."""
        if all(each.id != number for each in self.pull.comments):
            self.github.comments(self.pull, by=login, body=body).id = number
        return Conversation(self.bot(run=run)).hear(self.pull.number, Words(number, login, body))

    @property
    def checks(self) -> list[CheckRun]:
        """The bot's check runs on the present head."""
        return self.checks_on(self.pull.head_sha)

    def checks_on(self, commit: str) -> list[CheckRun]:
        runs = self.github.repository(REPOSITORY).checks.values()
        return [run for run in runs if run.commit == commit and run.name == self.rules.check_name]

    @property
    def summaries(self) -> list[IssueComment]:
        return [each for each in self.pull.comments if each.body.startswith(SUMMARY)]

    @property
    def reviews(self) -> list[Review]:
        return [each for each in self.pull.reviews if each.author == self.rules.login]

    @property
    def threads(self) -> list[ReviewThread]:
        return [thread for review in self.reviews for thread in review.threads]

    @property
    def labels(self) -> list[str]:
        return list(self.pull.labels)

    @property
    def state(self) -> State | None:
        (summary,) = own_summaries(self.forge.comments(self.pull.number), self.rules.login)
        return read_state(summary, self.rules.login)


class Afternoon(FakeClock):
    """While somebody waits, something happens."""

    def __init__(self, happening: Callable[[], object]) -> None:
        super().__init__()
        self._happening = happening

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._happening()
