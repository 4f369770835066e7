"""Plays a story through the real pipeline."""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor as Pool
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import timedelta
from difflib import SequenceMatcher
from functools import partial
from itertools import count
from typing import Any, Literal, ParamSpec, TypeVar, assert_never

from review_advisor.agents.calls import LostReason
from review_advisor.change.change import Change, Earlier, FileChange, Spec, Status, Touched, TouchedLines, touched
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.pull_request import ActionsEvent, CommentEvent, MergeGroupEvent, Permission, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.commands import WORD
from review_advisor.github.memory import believed_memory, earlier_review, peoples_word
from review_advisor.github.observation import ObservePhase
from review_advisor.github.publish import DidNotRun, PublishPhase, ShadowPublishPhase, Unfinished
from review_advisor.github.state import PREFIX, SUMMARY, StandingComment, State, finding_in, is_check_of, read_state
from review_advisor.github.writer import Bot
from review_advisor.mockworld import agents as lines
from review_advisor.mockworld.agents import FakeAdvisorRunner, Json, Killed, Line, PlayedCall
from review_advisor.mockworld.copies import Bench, NoPatcher
from review_advisor.mockworld.github import (
    CheckRun,
    GitHub,
    IssueComment,
    MergedHistory,
    NoAnswer,
    Pull,
    ReactionContent,
    RequestMoment,
    ReviewThread,
    contents_of,
    killed,
    listing_of,
    time_of,
)
from review_advisor.mockworld.github_doors import FakeForge
from review_advisor.mockworld.story import (
    DEFAULT_FILE,
    SLOW,
    AdviceLine,
    CloseStep,
    CommandStep,
    CommentStep,
    Deed,
    ExecutorLine,
    Fault,
    FindingBlock,
    JudgementLine,
    LabelStep,
    Meanwhile,
    PendingStep,
    PlanLine,
    PullRequestBlock,
    PushBlock,
    QueueStep,
    ReactStep,
    ResolveStep,
    ReviewBlock,
    SpokenLine,
    StepBlock,
    Story,
    StoryEnd,
    TroubleBlock,
    VoteLine,
)
from review_advisor.mockworld.world import (
    FakeClock,
    FakePictures,
    FakeSource,
    MemoryArtifacts,
    MemoryJournal,
    MockWorld,
)
from review_advisor.policy.policy import Mode, RepairMode, Rules, is_shadow_name
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallStarted, Event
from review_advisor.review.observed import ObservedLabel
from review_advisor.review.ports import ArtifactError, Clock
from review_advisor.review.report import PATCH_FILE, headline
from review_advisor.safety.stated_values import nearest_of
from review_advisor.safety.wording import counted


@dataclass(frozen=True, slots=True)
class Head:
    """The whole change as it stands after a push. ``texts`` are whole files at that head.

    ``pictures`` are the pairs that were made of it, before and after. ``bare``: it is a patch without a tree.
    """

    files: tuple[FileChange, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    pictures: tuple[PictureDifference, ...] = ()
    bare: bool = False


class StoryStepError(ValueError):
    """A step that cannot happen as the story tells it. One sentence."""


class HeadBranch:
    """One pull request: pushes move it, and reviews read from it what git and GitHub would tell them.

    ``whole``: GitHub has the files themselves and not only their names, for whoever reads them there.
    """

    def __init__(self, github: GitHub, told: PullRequestBlock, *, whole: bool) -> None:
        self.github = github
        self._told = told
        self._whole = whole
        self._heads: dict[str, Head] = {}
        self._pull: Pull | None = None
        github.opens_repository(told.repository)
        github.workflow_token()
        if told.fork:
            github.forks(told.repository, told.author)
        else:
            github.grants(told.repository, told.author, Permission.WRITE)

    @property
    def pull(self) -> Pull:
        """The pull request, once the first push has opened it."""
        if self._pull is None:
            raise StoryStepError("the pull request is not open yet: a push opens it")
        return self._pull

    @property
    def head(self) -> Head:
        """What stands at the present head."""
        return self._heads[self.pull.head_sha]

    @property
    def forge(self) -> FakeForge:
        """GitHub as the bot's token reaches it."""
        return FakeForge(self.github, self._told.repository, "github-actions[bot]")

    def push(self, told: PushBlock, *, forced: bool = False) -> None:
        """Somebody pushes; the first push opens the pull request."""
        before = Head() if self._pull is None else self.head
        head = before
        if told.files is not None:
            head = Head(
                tuple(file.facts() for file in told.files),
                {file.path: file.whole for file in told.files if file.whole is not None},
                tuple(picture.facts() for picture in told.pictures),
                told.bare,
            )
        self._pushed(before, head, told.by, forced=forced)

    def rename(self, path: str, to: str, by: str) -> None:
        """Somebody pushes the same change with one of its files under another name."""
        before = self.head
        moved = next((file for file in before.files if file.path == path), None)
        if moved is None:
            raise StoryStepError(f"no file of the change is called {path}")
        now = replace(moved, path=to)
        if moved.status is not Status.ADDED:
            now = replace(now, status=Status.RENAMED, old_path=moved.old_path or path)
        files = tuple(now if file is moved else file for file in before.files)
        self._pushed(before, replace(before, files=files), by)

    def _pushed(self, before: Head, head: Head, by: str, *, forced: bool = False) -> None:
        if self._pull is not None and self._pull.state != "open":
            raise StoryStepError("the pull request is closed: a push does not move its head any more")
        contents: dict[str, str | None] = {"change.txt": f"{len(self._heads)}\n"}  # another tree after each push
        if self._whole:
            after = contents_of(head.files)
            contents = {path: None for path in contents_of(before.files) if path not in after} | after
        listing = listing_of(head.files)
        if self._pull is None:
            told = self._told
            self._pull = self.github.opens(
                told.repository, contents, by=told.author, title=told.title, body=told.body, number=told.number,
                draft=told.draft, listing=listing,
            )  # fmt: skip
        elif forced:
            self.github.force_pushes(self._pull, contents, by=by or None, listing=listing)
        else:
            self.github.pushes(self._pull, contents, by=by or None, listing=listing)
        self._heads[self._pull.head_sha] = head

    def change(self) -> Change:
        """What a review of the present head looks at."""
        told, pull, head = self._told, self.pull, self.head
        base_sha = self.github.base_sha(pull)
        return Change(
            label=f"pr-{pull.number}",
            title=pull.title,
            body=pull.body,
            author=pull.author,
            base_ref=pull.base_ref,
            base_sha=base_sha,
            head_sha=pull.head_sha,
            files=head.files,
            spec=None if told.spec is None else Spec("docs/spec.md", told.spec),
            prior_fix_attempts=told.prior_fix_attempts,
            own_repository=told.own_repository,
            config_in_pyproject=told.config_in_pyproject,
            tree=None if head.bare else self.github.commit(pull.head_sha).tree,
            repository=pull.repository,
            pull_request=pull.number,
            server="https://github.com",
            rules_ref=pull.base_ref,
            rules_sha=base_sha,
        )

    def since(self, earlier: Earlier) -> Earlier:
        """The last review, with what git knows of it: what differs since, and whether it is part of the history."""
        head = self.pull.head_sha
        if earlier.head_sha not in self.github.objects.ancestry(head):
            return earlier
        before = {file.path: file for file in self._heads[earlier.head_sha].files}
        now = {file.path: file for file in self.head.files}
        differing = {path for path in {*before, *now} if before.get(path) != now.get(path)}
        gone, new = differing - now.keys(), differing - before.keys()
        renames = {(old, path) for old in gone for path in new if before[old].hunks == now[path].hunks}
        known = replace(earlier, is_ancestor=True, paths=frozenset(differing), renames=frozenset(renames))
        return replace(known, touched=self._touched(earlier))

    def _touched(self, earlier: Earlier) -> Touched | None:
        """The lines that differ since the last complete review of the change into the same base branch."""
        whole = earlier.whole
        if whole is None or whole.base_ref != self.pull.base_ref:
            return None
        before, now = (contents_of(head.files) for head in (self._heads[whole.head_sha], self.head))
        return {
            path: tuple(_replaced(before.get(path, "").splitlines(), text.splitlines()))
            for path, text in now.items()
            if before.get(path) != text
        }


def _replaced(before: list[str], now: list[str]) -> Iterator[TouchedLines]:
    for tag, old, old_end, new, new_end in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if tag != "equal":
            yield touched(new + 1, new_end - new, old_end - old)


_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DiffComment:
    """A comment of the bot in the diff, about a ``finding`` (its id); ``line`` is where it stands, or stood."""

    finding: str
    path: str
    line: int
    title: str
    state: Literal["open", "resolved", "outdated"]

    def __str__(self) -> str:
        state = "" if self.state == "open" else f" ({self.state})"
        return f"comment on {self.path}:{self.line}{state}: {self.title}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What stands on the pull request at one moment.

    ``checks`` are the bot's check runs on any commit, ``memory`` is what its one summary remembers. ``pending`` are the
    id and the text of each review that somebody has not submitted.
    """

    head: str
    checks: tuple[CheckRun, ...]
    said: tuple[DiffComment, ...]
    summaries: tuple[str, ...]
    answers: tuple[str, ...]
    labels: frozenset[str]
    pending: frozenset[tuple[int, str]]
    memory: State | None

    def checks_on(self, commit: str) -> tuple[CheckRun, ...]:
        """The bot's check runs on a commit that may be required."""
        return tuple(run for run in self.checks if run.commit == commit and not is_shadow_name(run.name))

    def shadows_on(self, commit: str) -> tuple[CheckRun, ...]:
        """Those of shadow mode."""
        return tuple(run for run in self.checks if run.commit == commit and is_shadow_name(run.name))

    def check_on(self, commit: str) -> str:
        """What the check on a commit concludes, in the words of a story."""
        return _concludes(self.checks_on(commit))

    def shadow_on(self, commit: str) -> str:
        """The same of the check of shadow mode."""
        return _concludes(self.shadows_on(commit))

    def title_on(self, commit: str, mode: Mode = "enforce") -> str:
        """The title of the check on a commit, of this mode."""
        runs = self.shadows_on(commit) if mode == "shadow" else self.checks_on(commit)
        return next((run.title or "" for run in runs), "")

    @property
    def findings(self) -> dict[str, str]:
        """What the bot remembers of each finding, by title."""
        return {} if self.memory is None else {each.title: each.status for each in self.memory.findings}

    @property
    def twins(self) -> tuple[str, ...]:
        """The titles that several remembered findings have."""
        titles = Counter(each.title for each in self.memory.findings) if self.memory is not None else Counter()
        return tuple(title for title, times in titles.items() if times > 1)


def _concludes(runs: tuple[CheckRun, ...]) -> str:
    return next((run.conclusion or run.status for run in runs), "none")


def snapshot(github: GitHub, pull: Pull, rules: PublicationRules) -> Snapshot:
    """What stands now. Later changes do not touch it."""
    own = [each for each in pull.comments if rules.is_ours(each.author)]
    summaries = [each for each in own if each.body.startswith(SUMMARY)]
    checks = github.repository(pull.repository).checks.values()
    reviews = [each for each in pull.reviews if rules.is_ours(each.author) and each.state != "PENDING"]
    return Snapshot(
        head=pull.head_sha,
        checks=tuple(replace(run) for run in checks if is_check_of(pull.number, run.external_id)),
        said=tuple(_said(each) for review in reviews for each in review.threads),
        summaries=tuple(each.body for each in summaries),
        answers=tuple(each.body for each in own if each.body.startswith(f"{PREFIX}answer ")),
        labels=frozenset(pull.labels),
        pending=frozenset(
            (each.id, each.body) for each in pull.reviews if each.state == "PENDING" and not rules.is_ours(each.author)
        ),
        memory=_memory(summaries[0], rules) if summaries else None,
    )


def _said(thread: ReviewThread) -> DiffComment:
    first = thread.comments[0]
    state: Literal["open", "resolved", "outdated"] = "outdated" if thread.outdated else "open"
    state = "resolved" if thread.resolved_by else state
    title = visible_lines(first.body)[0].strip("*")
    return DiffComment(finding_in(first.body) or "", first.path, first.line or first.original_line, title, state)


def _memory(summary: IssueComment, rules: PublicationRules) -> State | None:
    return read_state(StandingComment(summary.id, summary.author, summary.body, summary.editor or ""), rules.login)


def visible_lines(body: str) -> list[str]:
    """The lines of a comment that a reader sees; one empty line if there are none."""
    return [line for line in _HIDDEN.sub("", body).splitlines() if line.strip()] or [""]


NO_OUTCOME = "There is no outcome to publish: the review's job ended without one."


NO_TROUBLE = TroubleBlock()


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the workflow that has begun a review of ``head``."""

    number: int
    head: str
    begun: Begun


@dataclass(frozen=True, slots=True)
class _Publication:
    run: Run
    outcome: OutcomeDocument | DidNotRun


class Workflow:
    """Runs of the workflow: an event begins one, its review is played elsewhere, and what came of it is published.

    ``due`` are the runs whose review has not been played yet, the oldest first. ``unmet`` counts the troubles of the
    last publication that did not come, ``killed`` says whether it was killed.
    """

    def __init__(self, branch: HeadBranch, clock: Clock, rules: Rules) -> None:
        self.rules = PublicationRules().of_mode(rules.mode)
        self._consults = rules.escalation.caps is not None
        self.due: deque[Run] = deque()
        self._branch = branch
        self._clock = clock
        self._numbers = count(1)
        self._starter: ActionsEvent | None = None
        self._last: _Publication | None = None
        self.unmet = 0
        self.killed = False

    # --- events ---

    def happened(self, action: str, by: str, label: str | None = None) -> Begun:
        """Something happened to the pull request."""
        pull = self._branch.pull
        return self._begin(PullRequestEvent(action, pull.repository, pull.number, pull.head_sha, by, label))

    def commented(self, by: str, body: str) -> Begun:
        """Somebody comments."""
        pull = self._branch.pull
        made = self._branch.github.comments(pull, by=by, body=body)
        return self._begin(CommentEvent("created", pull.repository, pull.number, made.id, by, body, True))

    def queued(self) -> str:
        """The merge queue makes a commit, and asks for its check; that commit."""
        github, pull = self._branch.github, self._branch.pull
        name = f"gh-readonly-queue/{pull.base_ref}/pr-{pull.number}-{pull.head_sha}"
        made = github.commits(pull.repository, name, {}, by="github-merge-queue[bot]")
        base = github.base_sha(pull)
        self._begin(MergeGroupEvent("checks_requested", pull.repository, made, f"refs/heads/{name}", base))
        return made

    def _begin(self, event: ActionsEvent) -> Begun:
        number = next(self._numbers)
        begun = BeginPhase(self._bot(number)).begin(event)
        if begun.review:
            if isinstance(event, PullRequestEvent) and event.action == "synchronize":
                self._cancel()
            self._starter = event
            self.due.append(Run(number, self._branch.pull.head_sha, begun))
        return begun

    def _cancel(self) -> None:
        """A push ends the reviews that are under way, as the workflow's concurrency group does."""
        while self.due:
            self.publish(self.due.popleft(), None)

    def next_run(self) -> Run | str:
        """The run whose review is due; where none is, the last one is started again. A sentence if nothing begins."""
        if not self.due:
            again = self._starter or self._opened()
            if not (begun := self._begin(again)).review:
                return begun.because
        return self.due.popleft()

    def _opened(self) -> ActionsEvent:
        pull = self._branch.pull
        return PullRequestEvent("opened", pull.repository, pull.number, pull.head_sha, pull.author)

    # --- the jobs ---

    def remembered(self, change: Change, run: Run) -> Change:
        """The change as the run's review is told of it: with the last review, as far as that is believed."""
        state = believed_memory(self._branch.forge, self.rules, self._branch.pull.number, run.begun.memory)
        if state is None:
            return change
        earlier = self._branch.since(earlier_review(state))
        return replace(change, prior_fix_attempts=change.prior_fix_attempts + state.fix_attempts, earlier=earlier)

    def publish(self, run: Run, document: OutcomeDocument | None, trouble: TroubleBlock = NO_TROUBLE) -> None:
        """Publish what came of a run's review. A job that is killed leaves what it has written."""
        outcome = document or DidNotRun(f"job-{run.number}", run.head, NO_OUTCOME)
        self._last = _Publication(run, outcome)
        traffic = self._branch.github.traffic
        if trouble.publisher_killed_at is not None:
            traffic.meets(killed(), _write(trouble.publisher_killed_at))
        if trouble.second_publisher_at is not None:
            traffic.meanwhile(partial(self._publish, self._last), _write(trouble.second_publisher_at))
        if trouble.answer_lost_at is not None:
            traffic.meets(NoAnswer(), replace(_write(trouble.answer_lost_at), after=True))
        self.killed = False
        try:
            self._publish(self._last)
        except Killed:
            self.killed = True
        self.unmet = traffic.calm()

    def publish_again(self) -> None:
        """Start the job that published last again."""
        if self._last is None:
            raise StoryStepError("nothing was published before")
        self._publish(self._last)

    def _publish(self, what: _Publication) -> None:
        number, bot = self._branch.pull.number, self._bot(what.run.number)
        unfinished = Unfinished(bot, number, what.run.head)
        with unfinished.decided():
            unfinished.is_known(bot, what.run.head)
            if self.rules.is_shadow:
                ShadowPublishPhase(bot, unfinished.stands).publish(number, what.outcome)
                return
            PublishPhase(bot, NoPatcher(), unfinished.stands).publish(number, what.outcome, asked=what.run.begun.asked)

    def observe(self, after_days: int) -> tuple[ObservedLabel, ...]:
        """What is observed of the closed pull request, so many days later."""
        branch, pull = self._branch, self._branch.pull
        history = MergedHistory(branch.github, pull) if pull.merged else None
        listening = partial(peoples_word, branch.forge, self.rules, pull.number)
        now = time_of(branch.github.second) + timedelta(days=after_days)
        phase = ObservePhase(branch.forge, history, self.rules.login, {}, now, listening=listening)
        return phase.observe(branch.forge.pull_request(pull.number))

    def _bot(self, run: int) -> Bot:
        return Bot(
            forge=self._branch.forge,
            clock=self._clock,
            rules=self.rules,
            run=str(run),
            repository=self._branch.pull.repository,
            consults=self._consults,
        )


def _write(number: int) -> RequestMoment:
    return RequestMoment(number - 1, kind="write")


@dataclass(frozen=True, slots=True)
class Came:
    """What came of it. ``head`` is the commit whose check it is about; empty for the head of the pull request."""

    begun: Begun | None = None
    head: str = ""
    observed: tuple[ObservedLabel, ...] = ()


class Life:
    """Lets people and GitHub do what a step says."""

    def __init__(self, branch: HeadBranch, workflow: Workflow) -> None:
        self._branch = branch
        self._workflow = workflow

    def lives(self, step: StepBlock) -> Came:
        """Let it happen. Raises ``StoryStepError`` for what cannot."""
        told = step.happening
        if isinstance(told, Deed):
            self._branch.github.grants(self._branch.pull.repository, told.by, told.may)
        match told:
            case CommentStep() | CommandStep():
                body = told.says if isinstance(told, CommentStep) else self._command(told)
                return Came(self._workflow.commented(told.by, body))
            case LabelStep():
                return Came(self._labelled(told))
            case QueueStep():
                return Came(head=self._workflow.queued())
            case CloseStep():
                return Came(observed=self._closed(told))
            case ReactStep():
                thumb: ReactionContent = "THUMBS_UP" if told.thumb == "up" else "THUMBS_DOWN"
                self._branch.github.reacts(self._thread_of(told.finding).comments[0], thumb, by=told.by)
            case ResolveStep():
                self._branch.github.resolves(self._thread_of(told.finding), by=told.by)
            case PendingStep():
                self._drafted(told)
            case _:
                self._workflow.publish_again()
        return Came()

    def _command(self, told: CommandStep) -> str:
        match told.says:
            case "dismiss":
                return f"{WORD} dismiss {self._id_of(told.finding)} {told.reason}"
            case "explain":
                return f"{WORD} explain {self._id_of(told.finding)}"
            case "override":
                return f"{WORD} override {self._branch.pull.head_sha} {told.reason}"
            case _:
                return f"{WORD} {told.says}"

    def _id_of(self, title: str) -> str:
        memory = snapshot(self._branch.github, self._branch.pull, self._workflow.rules).memory
        known = memory.findings if memory is not None else ()
        found = [each.id for each in known if each.title == title]
        if len(found) > 1:
            raise StoryStepError(f"the bot remembers {len(found)} findings {title!r}: give each a title of its own")
        if not found:
            near = f"; {nearest_of(title, (each.title for each in known))}" if known else ""
            raise StoryStepError(f"the bot remembers no finding {title!r}{near}")
        return found[0]

    def _labelled(self, told: LabelStep) -> Begun:
        github, pull = self._branch.github, self._branch.pull
        if told.put:
            github.labels(pull, told.put, by=told.by)
            return self._workflow.happened("labeled", told.by, told.put)
        if not github.takes_label(pull, told.take, by=told.by):
            raise StoryStepError(f"the label {told.take} is not on")
        return Begun(review=False, because="the workflow does not run for a label that is taken off")

    def _thread_of(self, title: str) -> ReviewThread:
        """The last thread about a finding."""
        identity = self._id_of(title)
        threads = [thread for review in self._branch.pull.reviews for thread in review.threads]
        found = [thread for thread in threads if finding_in(thread.comments[0].body) == identity]
        if not found:
            raise StoryStepError(f"no comment in the diff is about {title!r}")
        return found[-1]

    def _drafted(self, told: PendingStep) -> None:
        pull = self._branch.pull
        if any(each.state == "PENDING" and each.author == told.by for each in pull.reviews):
            raise StoryStepError(f"{told.by} has a review that is not submitted: GitHub takes only one")
        self._branch.github.reviews(pull, by=told.by, body=told.says, state="PENDING")

    def _closed(self, told: CloseStep) -> tuple[ObservedLabel, ...]:
        github, pull = self._branch.github, self._branch.pull
        if pull.state != "open":
            raise StoryStepError("the pull request is closed already")
        if not told.may.may_write and (told.merged or told.by != pull.author):
            raise StoryStepError(f"{told.by} may only {told.may.value}: who merges or closes may write")
        if not told.merged:
            github.closes(pull, by=told.by)
            return self._workflow.observe(told.after_days)
        merge = github.merges(pull, by=told.by)
        if told.reverted:
            message = f'Revert "{pull.title}"\n\nThis reverts commit {merge}.'
            github.commits(pull.repository, pull.base_ref, {}, by=told.by, message=message)
        return self._workflow.observe(told.after_days)


NOTHING_ASKED = 2


NOT_TO_ITS_END = 12


P = ParamSpec("P")


T = TypeVar("T")


class OneAfterTheOther(Pool):
    """A pool that does each task at once: the money is divided as for parallel calls, the order is always the same."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do it now. What a kill raises comes out here, as it would end the process."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (handed on as the future's, like every pool does)
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True)
class Over:
    """What a review came to."""

    ended: StoryEnd
    exit_code: int | None
    because: tuple[str, ...]
    document: OutcomeDocument | None = None


def run(world: MockWorld) -> Over:
    """One review and its folder.

    As in the product, a review whose folder cannot be written decides nothing.
    """
    artifacts = world.artifacts
    try:
        document = world.review()
        artifacts.write("report.txt", headline(document))  # the whole is written out by the promises that read it
        if document.repair is not None:
            artifacts.write(PATCH_FILE, document.repair.patch)
    except Killed:
        artifacts.files.clear()
        return Over("died", None, ("the process was killed",))
    except ArtifactError as problem:
        artifacts.files.clear()
        asked = any(isinstance(event, CallStarted) for event in world.journal.events)
        return Over("broken", NOT_TO_ITS_END if asked else NOTHING_ASKED, (str(problem),))
    return Over(document.outcome.value, document.exit_code, document.because, document)


ENDINGS: dict[Fault, Callable[[], Line]] = {
    "garbage": lines.garbage,
    "prose": lines.text_only,
    "credit_gone": lines.credit_gone,
    "auth_gone": lines.authentication_gone,
    "model_not_found": lines.model_unknown,
    "interrupted": lines.interrupted,
    "killed": lambda: Line(bug=Killed()),
}
"""The faults that take the place of an answer. Any other one is called like the reason why the answer is lost."""


Doing = Callable[[Meanwhile], None]


_NOTHING = Meanwhile()


def cast(agents: FakeAdvisorRunner, review: ReviewBlock, doing: Doing) -> None:
    """Give every role its lines; ``doing`` carries out what happens in the meantime."""
    roster: tuple[tuple[Role, tuple[SpokenLine, ...]], ...] = (
        (Role.PRE_FLIGHT, review.pre_flight),
        (Role.EXECUTOR, review.executor),
        (Role.MID_FLIGHT, review.mid_flight),
        (Role.POST_VERIFY, review.post_verify),
    )
    for role, spoken in roster:
        for each in spoken:
            agents.script(role, _Unspoken(each, doing), surface=Surface(each.surface) if each.surface else None)
    for vote in review.votes:
        agents.script(Role.POST_VERIFY, _Unspoken(vote, doing), advisor=vote.advisor)
    agents.struck.update({at: replace(ENDINGS[how](), fault=how) for how, at in _gives_out(review.trouble).items()})


def _gives_out(trouble: TroubleBlock) -> dict[Fault, int]:
    """How the account gives out, and at which call."""
    told: dict[Fault, int | None] = {"credit_gone": trouble.credit_gone_at_call, "auth_gone": trouble.auth_gone_at_call}
    return {how: at for how, at in told.items() if at is not None}


def unmet_troubles(trouble: TroubleBlock, world: MockWorld, *, published: bool) -> Iterator[str]:
    """The troubles of a review that is over which never came, one sentence each."""
    calls, events = len(world.agents.asked), len(world.journal.events)
    for how, at in _gives_out(trouble).items():
        if at > calls:
            yield f"its trouble never came: {how}_at_call is {at}, and the review has {counted(calls, 'call')}"
    if trouble.killed_at_event is not None and trouble.killed_at_event > events:
        at = trouble.killed_at_event
        yield f"its trouble never came: killed_at_event is {at}, and the review has {counted(events, 'event')}"
    if trouble.disk_full_at_write is not None and not world.artifacts.refused:
        at = trouble.disk_full_at_write
        yield f"its trouble never came: disk_full_at_write is {at}, and the review writes fewer artefacts"
    if not published and any(getattr(trouble, name) is not None for name in OF_PUBLICATION):
        yield "its trouble never came: the story is not published"


OF_PUBLICATION = ("publisher_killed_at", "second_publisher_at", "answer_lost_at")


@dataclass(frozen=True, slots=True)
class _Unspoken:
    """A line of the story; most of them are never asked for."""

    spoken: SpokenLine
    doing: Doing

    def line(self) -> Line:
        spoken = self.spoken
        words = spoken.summary if isinstance(spoken, ExecutorLine) else ""
        words = spoken.reasoning if isinstance(spoken, JudgementLine | VoteLine) else words
        return _line(
            spoken,
            fault=spoken.fault or "",
            questions=spoken.asks if isinstance(spoken, ExecutorLine) else (),
            quotes_nonce="{nonce}" in words,
            seconds=max(spoken.seconds, SLOW) if spoken.fault == "slow" else spoken.seconds,
            cost_usd=spoken.cost_usd,
            edits=tuple((each.path, each.edit()) for each in spoken.edits) if isinstance(spoken, ExecutorLine) else (),
            failures=spoken.failures if isinstance(spoken, ExecutorLine) else 0,
            opens=spoken.opens,
            meanwhile=self._meanwhile(),
        )

    def _meanwhile(self) -> Callable[[], None] | None:
        told = self.spoken.meanwhile or _NOTHING
        if self.spoken.fault == "stale_head" and told.push is None:
            told = told.model_copy(update={"push": PushBlock()})
        return partial(self.doing, told) if told.push is not None or told.switches else None

    def __str__(self) -> str:
        return str(self.spoken)


def _line(spoken: SpokenLine, **facts: Any) -> Line:
    """What is said, or what goes wrong instead, with all other ``facts`` of the line.

    What is slow, or comes when the head has moved, is an answer all the same.
    """
    if spoken.fault in (None, "slow", "stale_head"):
        return Line(_answer(spoken), **facts)
    if spoken.fault in SPOILT:
        return replace(SPOILT[spoken.fault](spoken), **facts)
    if spoken.fault in ENDINGS:
        return replace(ENDINGS[spoken.fault](), **facts)
    return Line(lost=LostReason(spoken.fault), **facts)


def _twice(spoken: SpokenLine) -> Line:
    """The line's own answer and a mild one beside it. A no of its own comes first, so that the last word is mild."""
    own, mild = _answer(spoken), _mild(spoken)
    if mild is None or own is None:
        return Line(own)
    return Line(mild, said=(own, mild)) if own["verdict"] in ("reject", "VETO") else Line(own, said=(mild, own))


def _mild(spoken: SpokenLine) -> Json | None:
    match spoken:
        case ExecutorLine():
            return lines.approve().answer
        case JudgementLine():
            return lines.confirm().answer
        case _:
            return None


def _misshapen(spoken: SpokenLine) -> Line:
    """The line's own answer in a form that its schema refuses."""
    own = _answer(spoken) or {}
    needed = {"summary", "reasoning", "risk_summary", "action"}
    bare = {key: value for key, value in own.items() if key not in needed}
    return Line({**bare, "verdict": str(own["verdict"]).capitalize()} if "verdict" in own else bare)


SPOILT: dict[Fault, Callable[[SpokenLine], Line]] = {"two_answers": _twice, "misshapen": _misshapen}
"""The faults that spoil the line's own answer."""


def _answer(spoken: SpokenLine) -> Json | None:
    match spoken:
        case PlanLine():
            return lines.plan(spoken.risk, spoken.focus, spoken.signals).answer
        case ExecutorLine():
            return report_line(spoken).answer
        case AdviceLine():
            found = tuple(map(_finding, spoken.findings))
            changes = [lines.change("change_verdict", verdict=spoken.verdict)] if spoken.verdict else []
            stop, flags = spoken.says == "stop", spoken.risk_flags
            return lines.guidance(spoken.action, *changes, stop=stop, findings=found, flags=flags).answer
        case JudgementLine():
            return _judgement(spoken)
        case VoteLine():
            weights = (spoken.approve, spoken.request_changes, spoken.block)
            return lines.vote(*weights, *spoken.points, on=spoken.on, why=spoken.reasoning).answer
        case _:
            raise TypeError(f"nobody speaks {type(spoken).__name__}")


def report_line(spoken: ExecutorLine) -> Line:
    """The report that a line of the executor says, whatever its fault."""
    found = map(_finding, spoken.findings)
    answers = tuple(lines.evidence(a.disagreement, a.path, a.evidence, a.position) for a in spoken.answers)
    match spoken.says:
        case "approve":
            said = lines.approve(*found, answers=answers, summary=spoken.summary or "looks right")
        case "reject":
            said = lines.reject(*found, answers=answers, summary=spoken.summary or "must not be merged")
        case _:
            assert_never(spoken.says)
    if spoken.knowledge:
        said = said.teaching(*(lines.learned(k.title, k.path, k.evidence, k.body) for k in spoken.knowledge))
    if spoken.applies:
        said = said.applying(*spoken.applies)
    for recommendation, reason in spoken.overrides.items():
        said = said.overriding(recommendation, reason)
    return said.sure(spoken.confidence)


def _finding(told: FindingBlock) -> Json:
    said = lines.finding(told.path, told.line, told.evidence, told.severity, told.title, confidence=told.confidence)
    return said | ({"rule": told.rule} if told.rule else {})


def _judgement(spoken: JudgementLine) -> Json:
    said = lines.confirm(*spoken.points) if spoken.says == "confirm" else lines.veto(*spoken.points)
    answer = {**(said.answer or {}), "suggested_fix_direction": spoken.direction}
    return {**answer, "reasoning": spoken.reasoning} if spoken.reasoning else answer


@dataclass(frozen=True, slots=True)
class PlayedReview:
    """One review as it happened. ``document`` is None when nothing was decided; ``files`` is what was stored.

    ``wiki`` is what reached the repository's wiki, ``environment`` what held when it began. ``stale``: the head moved
    meanwhile; ``flipped``: a switch did. ``unsaid`` are lines that nobody asked for, ``spared`` sentences about
    troubles that never came, both unless the story is loose.
    """

    number: int
    change: Change
    pictures: tuple[PictureDifference, ...]
    rules: Rules
    repair: RepairMode
    jobs: int
    environment: Mapping[str, str]
    run_id: str
    nonce: str
    asked: tuple[PlayedCall, ...]
    events: tuple[Event, ...]
    document: OutcomeDocument | None
    files: Mapping[str, str]
    wiki: Mapping[str, str]
    ended: StoryEnd
    exit_code: int | None
    because: tuple[str, ...]
    stale: bool
    flipped: bool
    unsaid: tuple[str, ...]
    spared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """One step as it happened. ``head`` is the commit whose check it is about.

    ``because`` says what the bot made of it, ``begins`` whether that is a review, and ``problem`` why the step could
    not happen as it is told. ``stands`` is None where nothing is published.
    ``mode`` is the one that holds. ``killed``: its publication was. ``due`` are the heads whose review has begun and is
    not played yet.
    """

    number: int
    told: StepBlock
    head: str
    review: PlayedReview | None = None
    begins: bool = False
    because: str = ""
    problem: str = ""
    stands: Snapshot | None = None
    observed: tuple[ObservedLabel, ...] = ()
    mode: Mode = "enforce"
    killed: bool = False
    due: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PlayedStory:
    """A story that is over. ``unplayed`` are the reviews that were begun and not played.

    ``github`` and ``pull`` are the pull request in the end.
    """

    story: Story
    reviews: tuple[PlayedReview, ...]
    steps: tuple[PlayedStep, ...]
    unplayed: tuple[str, ...]
    github: GitHub = field(compare=False, repr=False)
    pull: Pull = field(compare=False, repr=False)


def play(story: Story, reviews: int | None = None, *, flips: bool = True) -> PlayedStory:
    """Play ``story`` from its first step to its last, or to the review of number ``reviews``.

    Two plays of one story are equal, on any machine. Without ``flips`` no switch is set while a review runs.
    """
    stage = _Stage(story, flips=flips)
    steps: list[PlayedStep] = []
    played: list[PlayedReview] = []
    for step in stage.steps():
        steps.append(step)
        played += [step.review] if step.review is not None else []
        if len(played) == reviews:
            break
    pull = stage.branch.pull
    return PlayedStory(story, tuple(played), tuple(steps), stage.unplayed, stage.branch.github, pull)


class _Stage:
    """The world of one story while it is played."""

    def __init__(self, story: Story, *, flips: bool) -> None:
        self._story = story
        self._may_flip = flips
        self._clock = FakeClock()
        self._environment = dict(story.switches)
        self._rules = story.config.rules()
        self._flips = 0
        self._own: dict[str, str | None] = {}
        self._reviews = count(1)
        self.branch = HeadBranch(GitHub(), story.pull_request, whole=story.published)
        self._workflow = Workflow(self.branch, self._clock, self._rules) if story.published else None
        self._opened = False
        if story.steps[0].push is None:
            self._push(PushBlock())

    @property
    def unplayed(self) -> tuple[str, ...]:
        """The reviews that were begun and not played."""
        due = self._workflow.due if self._workflow is not None else ()
        return tuple(f"a review of {run.head[:8]} began and no step plays it: {run.begun.because}" for run in due)

    def steps(self) -> Iterator[PlayedStep]:
        """Take every step; what came of it."""
        for number, told in enumerate(self._story.steps, 1):
            try:
                played = self._step(number, told)
            except StoryStepError as problem:
                played = PlayedStep(number, told, self.branch.pull.head_sha, problem=str(problem))
            if self._workflow is not None:
                stands = snapshot(self.branch.github, self.branch.pull, self._workflow.rules)
                played = replace(played, stands=stands, due=frozenset(run.head for run in self._workflow.due))
            yield replace(played, mode=self._rules.mode)

    def _step(self, number: int, told: StepBlock) -> PlayedStep:
        if told.switches is not None:
            self._environment.update(told.switches)
            return PlayedStep(number, told, self.branch.pull.head_sha)
        if told.mode is not None and self._workflow is not None:
            self._rules = replace(self._rules, mode=told.mode)
            self._workflow.rules = PublicationRules().of_mode(told.mode)
            return PlayedStep(number, told, self.branch.pull.head_sha)
        if told.review is not None:
            return self._reviewed(number, told, told.review)
        begun: Begun | None = None
        if told.push is not None:
            begun = self._push(told.push)
        elif told.force_push is not None:
            begun = self._push(told.force_push, forced=True)
        elif told.rename is not None:
            self.branch.rename(told.rename.path, told.rename.to, told.rename.by)
            begun = self._happened("synchronize", told.rename.by or self.branch.pull.author)
        elif self._workflow is not None:
            return self._life(number, told, Life(self.branch, self._workflow))
        head = self.branch.pull.head_sha
        return PlayedStep(number, told, head, begins=begun is not None and begun.review, because=_because(begun))

    def _life(self, number: int, told: StepBlock, life: Life) -> PlayedStep:
        came = life.lives(told)
        head = came.head or self.branch.pull.head_sha
        begins = came.begun is not None and came.begun.review
        return PlayedStep(number, told, head, begins=begins, because=_because(came.begun), observed=came.observed)

    def _push(self, told: PushBlock, *, forced: bool = False) -> Begun | None:
        if told.files is None and not self._opened:
            told = told.model_copy(update={"files": (DEFAULT_FILE,)})
        self.branch.push(told, forced=forced)
        action, self._opened = "synchronize" if self._opened else "opened", True
        return self._happened(action, told.by or self.branch.pull.author)

    def _happened(self, action: str, by: str) -> Begun | None:
        return self._workflow.happened(action, by) if self._workflow is not None else None

    def _reviewed(self, number: int, told: StepBlock, block: ReviewBlock) -> PlayedStep:
        """The review that is due, and its publication."""
        change = self.branch.change()
        if self._workflow is None:
            review = self._review(block, change)
            return PlayedStep(number, told, change.head_sha or "", review)
        run = self._workflow.next_run()
        if isinstance(run, str):
            raise StoryStepError(f"no review begins: {run}")
        if run.head != change.head_sha:
            self._workflow.publish(run, None)
            raise StoryStepError(f"its review does not run: it began for {run.head[:8]}, and a push moved the head")
        review = self._review(block, self._workflow.remembered(change, run), consult=run.begun.consult)
        self._workflow.publish(run, review.document, block.trouble)
        problem = "its trouble never came: the publication has fewer writes to GitHub" if self._workflow.unmet else ""
        return PlayedStep(number, told, run.head, review, problem=problem, killed=self._workflow.killed)

    def _meanwhile(self, told: Meanwhile) -> None:
        switches = told.switches if self._may_flip else {}
        self._flips += bool(switches)
        self._environment.update(switches)
        for name, value in switches.items():
            self._own.setdefault(name, os.environ.get(name))
            os.environ[name] = value
        if told.push is not None:
            self._push(told.push)

    def _take_back(self) -> None:
        """A flip is one of this process's own environment, too, for whoever would read it; it ends with the review."""
        for name, value in self._own.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        self._own.clear()

    def _review(self, told: ReviewBlock, change: Change, *, consult: bool = False) -> PlayedReview:
        number = next(self._reviews)
        agents = FakeAdvisorRunner(self._clock, lifelike=True)
        cast(agents, told, self._meanwhile)
        flips, published = self._flips, self._story.published
        world = self._world(told, agents, change, number)
        world.consult_requested = consult
        environment = dict(self._environment)
        try:
            over = run(world)
        finally:
            self._take_back()
        for asked in agents.played:
            if isinstance(asked.came, BaseException):
                asked.came.__traceback__ = None  # it holds this whole review, in a circle
        return PlayedReview(
            number=number,
            change=change,
            pictures=world.pictures.stated,
            rules=world.rules,
            repair=told.repair,
            jobs=told.jobs,
            environment=environment,
            run_id=world.run_id,
            nonce=world.nonce,
            asked=tuple(agents.played),
            events=tuple(world.journal.events),
            document=over.document,
            files=world.artifacts.files,
            wiki=world.wiki.files,
            ended=over.ended,
            exit_code=over.exit_code,
            because=over.because,
            stale=self.branch.pull.head_sha != change.head_sha,
            flipped=self._flips != flips,
            unsaid=() if self._story.loose else tuple(agents.unsaid()),
            spared=() if self._story.loose else tuple(unmet_troubles(told.trouble, world, published=published)),
        )

    def _world(self, told: ReviewBlock, agents: FakeAdvisorRunner, change: Change, number: int) -> MockWorld:
        """The present state of the story as a world in which one review runs."""
        push = self.branch.head
        world = MockWorld(self._clock, agents)
        world.reviews = number - 1
        world.source = FakeSource(change, dict(push.texts), checkout=None if push.bare else Bench())
        world.source.guidelines = self._story.config.guidelines
        world.repair, agents.write = told.repair, world.source.write
        world.pictures = FakePictures(push.pictures)
        world.journal = MemoryJournal(killed_at=told.trouble.killed_at_event)
        world.artifacts = MemoryArtifacts(full_at=told.trouble.disk_full_at_write)
        world.rules, world.environment = self._rules, dict(self._environment)
        world.threads, world.jobs = (lambda _: OneAfterTheOther()), told.jobs
        return world


def _because(begun: Begun | None) -> str:
    return "" if begun is None else begun.because
