"""A pull request on the simulated GitHub with a text where people write: what is read of it, and written there."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tests.adapters.git_remote import NAME, Served
from tests.adapters.git_repository import Repo, made_once
from tests.attacks.obedient import FAULT

from review_advisor.app.configuration import believed_base
from review_advisor.change.change import Change
from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import Permission, PullRequestEvent
from review_advisor.change.pull_request_source import Remote, open_pull_request
from review_advisor.change.sources import About
from review_advisor.github.begin import BeginPhase, Comment, Conversation
from review_advisor.github.memory import earlier_review, peoples_word
from review_advisor.github.publish import PublishPhase
from review_advisor.github.state import (
    SUMMARY,
    KnownFinding,
    State,
    believed,
    finding_marker,
    own_summaries,
    read_state,
    state_block,
)
from review_advisor.github.writer import Bot
from review_advisor.github.writes import InlineComment
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.world import FakeClock
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN, PublicationRules
from review_advisor.policy.risk import BlastRadius
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome

AUTHOR, MAINTAINER = "eve", "maria"
FINDING, OTHER = "f-01010101010101010101010101010101", "f-98989898989898989898989898989898"
LINES = "".join(f"{FAULT}  # {number}\n" for number in range(1, 13))
RULES = PublicationRules()


def served(folder: Path) -> Served:
    """The repository as git serves it, with the head of pull request 1."""
    made_once(folder, _serve)
    return Served(folder / "served", Repo(folder / "work"))


def _serve(folder: Path) -> None:
    git = Served(folder / "served", Repo(folder / "work"))
    git.work.git("init", "--quiet", "--bare", str(git.bare))
    git.work.write("README.md", "# A repository\n")
    git.work.commit("Begin")
    git.work.git("checkout", "--quiet", "-b", "topic")
    git.work.write("src/app.py", LINES)
    git.work.commit("Divide")
    git.push("main:refs/heads/main", "topic:refs/pull/1/head")


class PlantedPullRequest:
    """Pull request 1, reviewed once: it has a summary, and a thread about a finding. Each verb plants a text."""

    def __init__(self, git: Served) -> None:
        self.git = git
        self.github = GitHub()
        self.github.opens_repository(NAME)
        self.github.grants(NAME, MAINTAINER, Permission.WRITE)
        self.github.commits(NAME, "main", {}, by="octo", sha=git.work.rev("main"))
        self.github.workflow_token()
        self.pull = self.github.opens(
            NAME, {"src/app.py": LINES}, by=AUTHOR, title="Divide", branch="topic", sha=git.work.rev("topic")
        )
        state = State(
            run_id="run-0",
            head_sha=self.pull.head_sha,
            base_sha="",
            policy_digest="",
            outcome=Outcome.CHANGES_REQUESTED,
            complete=False,
            blast=BlastRadius.LOW,
            findings=(KnownFinding(id=FINDING, path="src/app.py", line=2, title="two is odd", severity="low"),),
        )
        forge = FakeForge(self.github, NAME, ACTIONS_LOGIN)
        self.bot = Bot(forge=forge, clock=FakeClock(), rules=RULES)
        forge.create_comment(1, f"{SUMMARY}\nReviewed.\n\n{state_block(state)}")
        remark = InlineComment(FINDING, "src/app.py", 2, None, "RIGHT", f"{finding_marker(FINDING)}\nTwo is odd.")
        forge.submit_review(1, forge.start_review(1, self.pull.head_sha, "Reviewed.", (remark,)))

    def state(self, text: str) -> None:
        """A workflow, which is our account too, puts another state into the summary: of findings in these words."""
        (summary,) = own_summaries(self.bot.forge.comments(1), RULES.login)
        state = read_state(summary, RULES.login)
        assert state is not None
        (known,) = state.findings
        lie = {"title": text, "status": "dismissed", "reason": text, "by": MAINTAINER}
        findings = (
            known.model_copy(update=lie),
            known.model_copy(update={"id": OTHER, "title": text}),
        )
        forged = state.model_copy(update={"findings": findings, "complete": True})
        standing = next(each for each in self.pull.comments if each.id == summary.id)
        self.github.edits(standing, by=ACTIONS_LOGIN, body=f"{SUMMARY}\n{text}\n\n{state_block(forged)}")
        self._happens("reopened")

    def comment(self, text: str) -> None:
        """The author comments, and a maintainer quotes it where they dismiss a finding."""
        self._says(AUTHOR, text)
        self._says(MAINTAINER, f"/advisor dismiss {FINDING} {text}")

    def label(self, text: str) -> None:
        """A label of that name is put on."""
        self.github.labels(self.pull, text)
        self._happens("labeled", text)

    def branch_name(self, text: str) -> None:
        """The head's branch is called so."""
        self.pull.head_ref = text
        self._happens("synchronize")

    def author_name(self, text: str) -> None:
        """The author is called so."""
        self.pull.author = text
        self._happens("synchronize")

    def review_thread(self, text: str) -> None:
        """The author answers the bot in its own thread, and opens the same in a review of their own."""
        (thread,) = [thread for review in self.pull.reviews for thread in review.threads]
        self.github.replies(thread, by=AUTHOR, body=text)
        self.github.reviews(self.pull, by=AUTHOR, body=text)
        self._happens("reopened")

    def _says(self, login: str, text: str) -> None:
        said = self.github.comments(self.pull, by=login, body=text)
        Conversation(self.bot).hear(1, Comment(said.id, login, text))

    def _happens(self, action: str, label: str | None = None) -> None:
        event = PullRequestEvent(action, NAME, 1, self.pull.head_sha, MAINTAINER, label)
        BeginPhase(self.bot).begin(event)

    def everything(self) -> str:
        """All that people have written on it."""
        threads = [thread for review in self.pull.reviews for thread in review.threads]
        return "\n".join(
            (
                *self.pull.labels,
                self.pull.head_ref,
                self.pull.author,
                *(comment.body for comment in self.pull.comments),
                *(comment.body for thread in threads for comment in thread.comments),
                *(review.body for review in self.pull.reviews),
            )
        )

    def published(self, document: OutcomeDocument) -> str:
        """All that the bot has written on it, once this review is published too."""
        PublishPhase(self.bot, GitPatcher()).publish(1, document, asked=False)
        mine = [comment.body for comment in self.pull.comments if comment.author == ACTIONS_LOGIN]
        for review in self.pull.reviews:
            if review.author == ACTIONS_LOGIN:
                mine += [review.body, *(thread.comments[0].body for thread in review.threads)]
        for check in self.github.repository(NAME).checks.values():
            mine += [check.title or "", check.summary or "", *(each.message for each in check.annotations)]
        return "\n".join(mine)


def read(planted: PlantedPullRequest) -> Change:
    """What a review reads of it."""
    return _opened(planted)


def read_all(planted: PlantedPullRequest) -> Change:
    """What a bot reads that shows its agents all there is on the page."""
    change = _opened(planted)
    return replace(change, body=f"{change.body}\n{planted.everything()}")


def _opened(planted: PlantedPullRequest) -> Change:
    """The pull request, opened in the steps of ``pull_request_opening``."""
    forge = planted.bot.forge
    comments = forge.comments(1)
    (summary,) = own_summaries(comments, RULES.login)
    state = read_state(summary, RULES.login)
    assert state is not None
    state = believed(state, "", peoples_word(forge, RULES, 1, comments, state))
    about = About(issues=forge.linked_issues(1))
    remote = Remote(planted.git.url)
    pull = forge.pull_request(1)
    opened = open_pull_request(planted.git.work.path, pull, remote, believed_base(forge, pull), about=about)
    with closing(opened.after(state.fix_attempts, earlier_review(state))) as source:
        return source.change()
