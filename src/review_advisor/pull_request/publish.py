"""Putting a review on its pull request, in the order that is safe to be killed in: the verdict's check comes last.

After it only a repair is pushed, if there is one to push: that makes a new head, which gets a review of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.forge_text.check import (
    check_did_not_run,
    check_of,
    check_superseded,
    check_waiting,
)
from review_advisor.core.forge_text.conclusion import SUPERSEDED
from review_advisor.core.forge_text.inline import inline_comments, review_body
from review_advisor.core.forge_text.page_links import rule_links
from review_advisor.core.forge_text.summary import open_findings, summary_body, summary_did_not_run, summary_overtaken
from review_advisor.core.outcome.blocking import blocking_findings
from review_advisor.core.outcome.council_records import council_findings
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.markers import is_newer
from review_advisor.core.pull_request.memory import (
    come_back,
    failed,
    followed,
    overtaken,
    overtaken_untold,
    remembered,
    remembered_beside,
    round_of,
    with_estimate,
)
from review_advisor.core.pull_request.repair_push import NotPushed, coming_note, not_pushed_note, pushed_note
from review_advisor.core.pull_request.rounds import Posting, is_grave_or_blocks, postings
from review_advisor.core.pull_request.standing import StandingCheck, Thread
from review_advisor.core.pull_request.state import Marks, State, names_base, with_dismissals_of
from review_advisor.core.pull_request.threads import (
    about,
    finding_ids_ever_said,
    finding_ids_with_open_thread,
    finding_ids_with_thread,
    left_behind,
    with_marks,
)
from review_advisor.core.pull_request.waiting import same_head
from review_advisor.core.pull_request.writes import Check, Conclusion, InlineComment
from review_advisor.core.safety.redaction import Redactor
from review_advisor.ports.forge import Patcher
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.repair_commit import Committer, Ready
from review_advisor.pull_request.writer import PullRequestWriter

LEFT = "another run has begun on this head since, and has the word on the check"


@dataclass(frozen=True, slots=True)
class DidNotRun:
    """There is no outcome: ``run_id`` tells this failure from another one, ``reason`` is a sentence.

    ``may_have_asked``: models may have been asked before it failed, and nobody knows what that cost.
    """

    run_id: str
    head_sha: str
    reason: str
    may_have_asked: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """What now stands: the check, and in words what could not be written."""

    check: Check
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Coming:
    """A push that comes after the check, and how the summary is said with other notes than those that announce it."""

    repair: Ready
    say: Callable[[tuple[str, ...]], None]


class PublishPhase:
    """Publishes reviews of one repository. What stands already is not written again.

    ``stands`` is called as soon as the check does: a push of a repair may follow.
    """

    def __init__(self, bot: Bot, patcher: Patcher, stands: Callable[[], None] = lambda: None) -> None:
        self._bot = bot
        self._patcher = patcher
        self._stands = stands

    def publish(
        self, number: int, outcome: OutcomeDocument | DidNotRun, *, asked: bool, notes: tuple[str, ...] = ()
    ) -> Published:
        """Make the pull request say what the review came to. Raises ``ForgeError``.

        A head that has moved since gets a superseded check on the old one, and the summary counts what the review
        cost. So does one whose base branch is another now. A check that another run has begun anew since is that run's,
        and so is one that a newer run has concluded: this one says what it reviewed and leaves the check. It says
        nothing else where it has no review, or where the summary is of a review that a newer run ended.
        ``asked``: a person wanted this review, so it is no round of its own. ``notes`` are said in the summary and on
        the check's page. A repair that cannot be pushed is a note.
        """
        writer = PullRequestWriter(self._bot, number)
        head, name = outcome.head_sha or "", self._bot.rules.check_name
        left = writer.checks.left_to_another(head, name)
        if left is not None and self._is_outdone(writer, outcome):
            self._count(writer, outcome, asked=asked)
            return left_to_another(left)
        pull_request = writer.pull_request_at(head)
        written, coming = None, None
        if is_of(outcome, pull_request, self._bot.redactor):
            written, coming = self._written(writer, pull_request, outcome, asked=asked, notes=notes)
        else:
            self._count(writer, outcome, asked=asked)
        stands = writer.checks.conclude(head, name, partial(self._now, writer, outcome, written))
        self._stands()
        if isinstance(stands, StandingCheck):
            published = left_to_another(stands, () if written is None else written.notes)
        elif written is None or stands.conclusion is SUPERSEDED:
            return Published(stands)
        else:
            published = replace(written, check=stands)
        return published if coming is None else self._pushed(writer, pull_request, published, coming)

    def _count(self, writer: PullRequestWriter, outcome: OutcomeDocument | DidNotRun, *, asked: bool) -> None:
        """Remember what a review cost of which nothing else is said: fast pushes must not hide what they cost."""
        if isinstance(outcome, DidNotRun) and not outcome.may_have_asked:
            return
        spent = writer.checks.spent

        def words(body: str, standing: State | None) -> str:
            if isinstance(outcome, DidNotRun):
                state = overtaken_untold(standing, outcome.run_id, outcome.head_sha, spent, asked=asked)
            else:
                state = overtaken(standing, outcome, spent, asked=asked)
            return "" if state is None else summary_overtaken(body, state)

        writer.summary(words)
        if writer.has_written:
            writer.reseal()

    def _is_outdone(self, writer: PullRequestWriter, outcome: OutcomeDocument | DidNotRun) -> bool:
        """Whether there is nothing to say of it beside another run: no review, or an older one than the summary's."""
        if isinstance(outcome, DidNotRun):
            return True
        standing = writer.remembered()
        return standing is not None and is_newer(standing.reviewed_in, self._bot.run)

    def _now(self, writer: PullRequestWriter, outcome: OutcomeDocument | DidNotRun, written: Published | None) -> Check:
        """The check of what was written, as the pull request is at this moment."""
        pull_request = writer.pull_request() if written is None else writer.pull_request_at(outcome.head_sha or "")
        if written is None or not is_of(outcome, pull_request, self._bot.redactor):
            return check_superseded(self._bot.rules, pull_request, outcome.head_sha or "", self._bot.redactor)
        return self._alone(pull_request, written.check)

    def _pushed(
        self, writer: PullRequestWriter, pull_request: PullRequest, published: Published, coming: _Coming
    ) -> Published:
        kept = self._committer(writer).push(pull_request, coming.repair)
        if kept is None:
            return replace(published, notes=(*published.notes, pushed_note(pull_request)))
        notes = (*published.notes, not_pushed_note(kept))
        coming.say(notes)
        writer.reseal()
        return replace(published, notes=notes)

    def _committer(self, writer: PullRequestWriter) -> Committer:
        return Committer(self._bot, writer, self._patcher)

    def _written(
        self,
        writer: PullRequestWriter,
        pull_request: PullRequest,
        outcome: OutcomeDocument | DidNotRun,
        *,
        asked: bool,
        notes: tuple[str, ...],
    ) -> tuple[Published, _Coming | None]:
        """Everything but the check and the push; those are returned."""
        before = writer.remembered()
        number, spent = pull_request.number, writer.checks.spent
        if isinstance(outcome, DidNotRun):
            why = (outcome.run_id, outcome.head_sha, outcome.reason)
            after = partial(with_estimate, spent=spent, asked=asked) if outcome.may_have_asked else failed
            writer.summary(lambda _, standing: summary_did_not_run(outcome.reason, after(standing, *why)))
            check = check_did_not_run(self._bot.rules, number, outcome.reason)
            return Published(replace(check, seal=writer.seal())), None
        state = remembered(before, outcome, asked=asked, spent=spent)
        not_placed, unsaid = self._review(writer, outcome, before, state)
        notes += () if unsaid is None else (unsaid,)
        first_time = before is None or before.run_id != state.run_id
        settled = self._resolved(writer, outcome, state)
        denied = (*self._called(writer, pull_request, outcome, first_time=first_time), *filter(None, (settled,)))
        repair = self._committer(writer).prepare(pull_request, outcome)
        notes += (not_pushed_note(repair),) if isinstance(repair, NotPushed) and repair.said else ()
        say = partial(
            self._say,
            writer,
            outcome,
            partial(remembered_beside, before=before, document=outcome, asked=asked, run=self._bot.run, spent=spent),
            not_placed,
            marks=writer.marks(pull_request.author, before),
            denied=denied,
        )
        coming = None if isinstance(repair, NotPushed) else _Coming(repair, say)
        say(notes if coming is None else (*notes, coming_note(pull_request)))
        now = with_dismissals_of(state, writer.remembered())
        still_open = open_findings(outcome, now)
        check = check_of(
            outcome,
            self._bot.rules,
            number,
            notes,
            run_page=self._bot.details_url,
            found=[each.severity for each in still_open.values()],
            held=tuple(each for each in not_placed if each.folded),
            dismissed={each.id for each in outcome.findings} - still_open.keys(),
        )
        return Published(replace(check, seal=writer.seal()), (*notes, *denied)), coming

    def _say(
        self,
        writer: PullRequestWriter,
        document: OutcomeDocument,
        beside: Callable[[State | None], State],
        not_placed: tuple[Posting, ...],
        notes: tuple[str, ...],
        *,
        marks: Mapping[str, Marks],
        denied: tuple[str, ...],
    ) -> None:
        """Write the summary. What people dismissed while the review was published stays dismissed.

        What they marked is remembered and named there, and settles nothing.
        """

        def words(_: str, standing: State | None) -> str:
            return summary_body(
                document,
                self._bot.rules,
                with_marks(beside(standing), marks),
                not_placed,
                notes,
                denied=denied,
                run_page=self._bot.details_url,
                finding_notes=self._bot.finding_notes,
            )

        writer.summary(words)

    def _review(
        self, writer: PullRequestWriter, document: OutcomeDocument, before: State | None, state: State
    ) -> tuple[tuple[Posting, ...], str | None]:
        """Post the comments in the diff that are new; the findings that have none there, and a note if that is odd.

        A finding has one comment in its whole life; only one that blocks is said again where its comment lost its lines
        or was closed before it came back. The words of a milder one stand in the summary then.
        """
        dismissed = {each.id for each in state.findings if each.status == "dismissed"}
        wanted = tuple(each for each in document.findings if each.id not in dismissed)
        closed = come_back(before, document)
        found = [each.severity for each in open_findings(document, state).values()]

        blocking = blocking_findings(document)
        few = council_findings(document.events).few
        narrowing = replace(self._bot.rules.narrowing(round_of(before, document)), few=few)
        mild = {each.id for each in wanted if not is_grave_or_blocks(each, blocking)}
        moved = followed(before, state, document)

        def shown(threads: tuple[Thread, ...]) -> frozenset[str]:
            return finding_ids_with_open_thread(threads) | (finding_ids_with_thread(threads) - closed)

        def already(threads: tuple[Thread, ...]) -> frozenset[str]:
            ever = finding_ids_ever_said(threads)
            return shown(threads) | (mild & (ever | {new for new, old in moved.items() if old in ever}))

        def words(threads: tuple[Thread, ...]) -> tuple[str, tuple[InlineComment, ...]]:
            decided = postings(wanted, blocking, already(threads), narrowing)
            allowed = (each.finding for each in decided if each.allowed)
            comments = inline_comments(allowed, rule_links(document), self._bot.finding_notes)
            return review_body(document, len(comments), found), comments

        writer.reviews.discard_unfinished(document.run_id)
        note = writer.reviews.post(document.head_sha or "", document.run_id, words)
        threads = writer.reviews.threads()
        gone = already(threads) - shown(threads)
        elsewhere = tuple(Posting(each) for each in wanted if each.id in gone)
        return (*postings(wanted, blocking, already(threads), narrowing), *elsewhere), note

    def _resolved(self, writer: PullRequestWriter, document: OutcomeDocument, state: State) -> str | None:
        """Resolve the threads of what is settled, and those that are left behind; a note where the token may not."""
        settled = {each.id for each in state.findings if each.status != "open"}
        known = {each.id for each in state.findings} | {each.id for each in document.findings}
        threads = writer.reviews.threads()
        return writer.resolve(dict.fromkeys((*about(threads, settled), *left_behind(threads, known))))

    def _called(
        self, writer: PullRequestWriter, pull_request: PullRequest, document: OutcomeDocument, *, first_time: bool
    ) -> tuple[str, ...]:
        """Call people to an escalation, once; any other outcome loses the label. What could not be done, in words."""
        escalated = document.outcome is Outcome.ESCALATED
        label = self._bot.rules.escalation_label
        note = writer.label(label, wanted=escalated, present=label in pull_request.labels)
        asked = writer.ask(self._bot.rules.reviewers) if escalated and first_time else ()
        return (*(() if note is None else (note,)), *asked)

    def _alone(self, pull_request: PullRequest, check: Check) -> Check:
        """The check, which never passes while another open pull request has the same head: a check is a commit's."""
        if check.conclusion is not Conclusion.SUCCESS:
            return check
        found = self._bot.forge.open_pull_requests(pull_request.head_sha)
        others = [each.number for each in found if each.number != pull_request.number]
        if not others:
            return check
        waits = check_waiting(self._bot.rules, pull_request.number, same_head(min(others)))
        return replace(waits, seal=check.seal)


def is_of(outcome: OutcomeDocument | DidNotRun, pull_request: PullRequest, redactor: Redactor) -> bool:
    """Whether it is about what the pull request is now. What did not run was against no base branch."""
    if pull_request.head_sha != outcome.head_sha:
        return False
    return isinstance(outcome, DidNotRun) or names_base(outcome.base_ref, pull_request.base_ref, redactor)


def left_to_another(standing: StandingCheck, notes: tuple[str, ...] = ()) -> Published:
    """The check as another run has it: it is left to that one."""
    concluded = next((each for each in Conclusion if each == standing.conclusion), None)
    return Published(Check(standing.name, standing.external_id, standing.title, "", concluded), (*notes, LEFT))
