"""Publishes an outcome in an order that is safe to be killed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from review_advisor.change.change import SourceError
from review_advisor.change.pull_request import PullRequest
from review_advisor.change.redaction import Redactor
from review_advisor.github.beginning import same_head
from review_advisor.github.check_text import (
    check_did_not_run,
    check_mode_changed,
    check_not_published,
    check_of,
    check_superseded,
    check_waiting,
    shadow_check,
)
from review_advisor.github.comment_text import (
    inline_comments,
    open_findings,
    review_body,
    summary_body,
    summary_did_not_run,
    summary_overtaken,
)
from review_advisor.github.forge import Forge, ForgeError, Patcher
from review_advisor.github.memory import (
    failed,
    failed_with_estimate,
    merged_state_after,
    renamed_findings,
    reopened,
    round_of,
    state_after,
    superseded,
    superseded_without_outcome,
)
from review_advisor.github.money import DaySpent, with_cost
from review_advisor.github.repair_push import Committer, NotPushed, Ready, coming_note, not_pushed_note, pushed_note
from review_advisor.github.sections import SUPERSEDED, rule_links
from review_advisor.github.state import (
    Marks,
    StandingCheck,
    State,
    Thread,
    begun_by,
    day_in,
    external_id,
    is_newer,
    names_base,
    seal_in,
    usd_in,
    with_dismissals_of,
)
from review_advisor.github.threads import (
    Posting,
    about,
    finding_ids_ever_posted,
    finding_ids_with_open_thread,
    finding_ids_with_thread,
    is_grave_or_blocks,
    left_behind,
    postings,
    with_marks,
)
from review_advisor.github.writer import Bot, CheckRunWriter, PullRequestWriter
from review_advisor.github.writes import Check, Conclusion, InlineComment
from review_advisor.review.document import OutcomeDocument, blocking_findings, council_findings
from review_advisor.review.rulings import Outcome

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
class _PendingPush:
    """A push that comes after the check, and how to write the summary with other notes than those that announce it."""

    repair: Ready
    write_summary: Callable[[tuple[str, ...]], None]


class PublishPhase:
    """Publishes the reviews of one repository. Nothing is written twice.

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
        written, pending = None, None
        if is_of(outcome, pull_request, self._bot.redactor):
            written, pending = self._write(writer, pull_request, outcome, asked=asked, notes=notes)
        else:
            self._count(writer, outcome, asked=asked)
        stands = writer.checks.conclude(head, name, partial(self._check_now, writer, outcome, written))
        self._stands()
        if isinstance(stands, StandingCheck):
            published = left_to_another(stands, () if written is None else written.notes)
        elif written is None or stands.conclusion is SUPERSEDED:
            return Published(stands)
        else:
            published = replace(written, check=stands)
        return published if pending is None else self._push(writer, pull_request, published, pending)

    def _count(self, writer: PullRequestWriter, outcome: OutcomeDocument | DidNotRun, *, asked: bool) -> None:
        """Remember what a review cost of which nothing else is said: fast pushes must not hide what they cost."""
        if isinstance(outcome, DidNotRun) and not outcome.may_have_asked:
            return
        spent = writer.checks.spent

        def summary(body: str, standing: State | None) -> str:
            if isinstance(outcome, DidNotRun):
                state = superseded_without_outcome(standing, outcome.run_id, outcome.head_sha, spent, asked=asked)
            else:
                state = superseded(standing, outcome, spent, asked=asked)
            return "" if state is None else summary_overtaken(body, state)

        writer.summary(summary)
        if writer.has_written:
            writer.reseal()

    def _is_outdone(self, writer: PullRequestWriter, outcome: OutcomeDocument | DidNotRun) -> bool:
        """Whether there is nothing to say of it beside another run: no review, or an older one than the summary's."""
        if isinstance(outcome, DidNotRun):
            return True
        standing = writer.remembered()
        return standing is not None and is_newer(standing.reviewed_in, self._bot.run)

    def _check_now(
        self, writer: PullRequestWriter, outcome: OutcomeDocument | DidNotRun, written: Published | None
    ) -> Check:
        """The check of what was written, as the pull request is at this moment."""
        pull_request = writer.pull_request() if written is None else writer.pull_request_at(outcome.head_sha or "")
        if written is None or not is_of(outcome, pull_request, self._bot.redactor):
            return check_superseded(self._bot.rules, pull_request, outcome.head_sha or "", self._bot.redactor)
        return self._alone(pull_request, written.check)

    def _push(
        self, writer: PullRequestWriter, pull_request: PullRequest, published: Published, pending: _PendingPush
    ) -> Published:
        kept = Committer(self._bot, writer, self._patcher).push(pull_request, pending.repair)
        if kept is None:
            return replace(published, notes=(*published.notes, pushed_note(pull_request)))
        notes = (*published.notes, not_pushed_note(kept))
        pending.write_summary(notes)
        writer.reseal()
        return replace(published, notes=notes)

    def _write(
        self,
        writer: PullRequestWriter,
        pull_request: PullRequest,
        outcome: OutcomeDocument | DidNotRun,
        *,
        asked: bool,
        notes: tuple[str, ...],
    ) -> tuple[Published, _PendingPush | None]:
        """Everything but the check and the push; those are returned."""
        before = writer.remembered()
        number, spent = pull_request.number, writer.checks.spent
        if isinstance(outcome, DidNotRun):
            why = (outcome.run_id, outcome.head_sha, outcome.reason)
            after = partial(failed_with_estimate, spent=spent, asked=asked) if outcome.may_have_asked else failed
            writer.summary(lambda _, standing: summary_did_not_run(outcome.reason, after(standing, *why)))
            check = check_did_not_run(self._bot.rules, number, outcome.reason)
            return Published(replace(check, seal=writer.seal())), None
        state = state_after(before, outcome, asked=asked, spent=spent)
        not_placed, unsaid = self._review(writer, outcome, before, state)
        notes += () if unsaid is None else (unsaid,)
        first_time = before is None or before.run_id != state.run_id
        settled = self._resolve(writer, outcome, state)
        denied = (*self._escalate(writer, pull_request, outcome, first_time=first_time), *filter(None, (settled,)))
        repair = Committer(self._bot, writer, self._patcher).prepare(pull_request, outcome)
        notes += (not_pushed_note(repair),) if isinstance(repair, NotPushed) and repair.is_noted else ()
        write_summary = partial(
            self._write_summary,
            writer,
            outcome,
            partial(merged_state_after, before=before, document=outcome, asked=asked, run=self._bot.run, spent=spent),
            not_placed,
            marks=writer.marks(pull_request.author, before),
            denied=denied,
        )
        pending = None if isinstance(repair, NotPushed) else _PendingPush(repair, write_summary)
        write_summary(notes if pending is None else (*notes, coming_note(pull_request)))
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
        return Published(replace(check, seal=writer.seal()), (*notes, *denied)), pending

    def _write_summary(
        self,
        writer: PullRequestWriter,
        document: OutcomeDocument,
        state_beside: Callable[[State | None], State],
        not_placed: tuple[Posting, ...],
        notes: tuple[str, ...],
        *,
        marks: Mapping[str, Marks],
        denied: tuple[str, ...],
    ) -> None:
        """Write the summary. What people dismissed while the review was published stays dismissed.

        What they marked is remembered and named there, and settles nothing.
        """

        def summary(_: str, standing: State | None) -> str:
            return summary_body(
                document,
                self._bot.rules,
                with_marks(state_beside(standing), marks),
                not_placed,
                notes,
                denied=denied,
                run_page=self._bot.details_url,
                finding_notes=self._bot.finding_notes,
            )

        writer.summary(summary)

    def _review(
        self, writer: PullRequestWriter, document: OutcomeDocument, before: State | None, state: State
    ) -> tuple[tuple[Posting, ...], str | None]:
        """Post the comments in the diff that are new; the findings that have none there, and a note if that is odd.

        A finding has one comment in its whole life; only one that blocks is said again where its comment lost its lines
        or was closed before it came back. The words of a milder one stand in the summary then.
        """
        dismissed = {each.id for each in state.findings if each.status == "dismissed"}
        wanted = tuple(each for each in document.findings if each.id not in dismissed)
        closed = reopened(before, document)
        found = [each.severity for each in open_findings(document, state).values()]

        blocking = blocking_findings(document)
        few = council_findings(document.events).few
        narrowing = replace(self._bot.rules.narrowing(round_of(before, document)), few=few)
        mild = {each.id for each in wanted if not is_grave_or_blocks(each, blocking)}
        moved = renamed_findings(before, state, document)

        def visible(threads: tuple[Thread, ...]) -> frozenset[str]:
            return finding_ids_with_open_thread(threads) | (finding_ids_with_thread(threads) - closed)

        def posted(threads: tuple[Thread, ...]) -> frozenset[str]:
            ever = finding_ids_ever_posted(threads)
            return visible(threads) | (mild & (ever | {new for new, old in moved.items() if old in ever}))

        def review(threads: tuple[Thread, ...]) -> tuple[str, tuple[InlineComment, ...]]:
            decided = postings(wanted, blocking, posted(threads), narrowing)
            allowed = (each.finding for each in decided if each.allowed)
            comments = inline_comments(allowed, rule_links(document), self._bot.finding_notes)
            return review_body(document, len(comments), found), comments

        writer.reviews.discard_unfinished(document.run_id)
        note = writer.reviews.post(document.head_sha or "", document.run_id, review)
        threads = writer.reviews.threads()
        gone = posted(threads) - visible(threads)
        elsewhere = tuple(Posting(each) for each in wanted if each.id in gone)
        return (*postings(wanted, blocking, posted(threads), narrowing), *elsewhere), note

    def _resolve(self, writer: PullRequestWriter, document: OutcomeDocument, state: State) -> str | None:
        """Resolve the threads of what is settled, and those that are left behind; a note where the token may not."""
        settled = {each.id for each in state.findings if each.status != "open"}
        known = {each.id for each in state.findings} | {each.id for each in document.findings}
        threads = writer.reviews.threads()
        return writer.resolve(dict.fromkeys((*about(threads, settled), *left_behind(threads, known))))

    def _escalate(
        self, writer: PullRequestWriter, pull_request: PullRequest, document: OutcomeDocument, *, first_time: bool
    ) -> tuple[str, ...]:
        """Call people to an escalation, once; any other outcome loses the label. What could not be done, in words."""
        escalated = document.outcome is Outcome.ESCALATED
        label = self._bot.rules.escalation_label
        note = writer.label(label, wanted=escalated, present=label in pull_request.labels)
        notes = writer.ask(self._bot.rules.reviewers) if escalated and first_time else ()
        return (*(() if note is None else (note,)), *notes)

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


INTERRUPTED = "The job that publishes was told to end before it was done: it was cancelled, or it ran out of time."


class Unfinished:
    """The check of a pull request's head, while nobody has concluded it yet.

    Until it ``is_known`` which one that is, the bot may go by default rules. Without a head there is no check.
    """

    def __init__(self, bot: Bot, number: int, head_sha: str) -> None:
        self._bot = bot
        self._number = number
        self._head_sha = head_sha
        self._waits: StandingCheck | None = None
        self._stands = False

    def is_known(self, bot: Bot, head_sha: str) -> None:
        """By which rules the bot goes, and of which head the check is. Raises ``ForgeError``."""
        self._bot, self._head_sha = bot, head_sha
        self._waits = self._in_progress(bot)

    def stands(self) -> None:
        """The verdict's check stands: from now on it is left alone."""
        self._stands = True

    @contextmanager
    def decided(self) -> Iterator[None]:
        """Whatever is raised within, the check does not stay in progress: it fails, and says why.

        The error is raised all the same. A check that the forge does not take either stays as it is, and so does one
        that another run has begun anew.
        """
        try:
            yield
        except Exception as error:
            with suppress(ForgeError):
                self._fail(str(error) if isinstance(error, ForgeError | SourceError) else "")
            raise

    def _fail(self, why: str) -> None:
        if self._in_progress(self._bot) is not None:
            failed = check_not_published(self._bot.rules, self._number, why)
            PullRequestWriter(self._bot, self._number).checks.conclude(self._head_sha, failed.name, lambda: failed)

    def last_words(self, forge: Forge) -> str:
        """Conclude the check now, by one request if it is known which one it is. Returns the sentence for the user.

        ``forge`` is one that nobody else is using. The process ends within two seconds, whatever GitHub does.
        """
        if self._stands:
            return "Interrupted: the check stands, but what comes after it may be missing."
        bot, number = self._bot, self._number
        failed = check_not_published(bot.rules, number, INTERRUPTED)
        try:
            found = self._waits or self._in_progress(replace(bot, forge=forge))
            if found is None:
                return "Interrupted: no check was in progress."
            external = found.external_id
            name = external_id(number, bot.run, seal_in(external), usd_in(external), day_in(external))
            forge.update_check(found.id, replace(failed, external_id=name, details_url=bot.details_url))
        except ForgeError as problem:
            return f"Interrupted, and the check stays in progress: {problem}"
        return "Interrupted: the check says that the review could not be published."

    def _in_progress(self, bot: Bot) -> StandingCheck | None:
        return PullRequestWriter(bot, self._number).checks.in_progress(self._head_sha, bot.rules.check_name)


class ShadowPublishPhase:
    """Publishes reviews of one repository in shadow mode. Nothing of it is remembered but what it cost.

    ``stands`` is called as soon as the check does.
    """

    def __init__(self, bot: Bot, stands: Callable[[], None] = lambda: None) -> None:
        self._bot = bot
        self._stands = stands

    def publish(
        self, number: int, outcome: OutcomeDocument | DidNotRun, *, asked: bool = False, notes: tuple[str, ...] = ()
    ) -> Published:
        """Make the shadow check of the reviewed head say what the review would have come to. Raises ``ForgeError``.

        A review that did not run fails this check. A head or a base branch that is another now gets a superseded one. A
        check that another run has begun anew since is left to that run, and only says what this review cost. ``asked``:
        a person wanted this review, so that it is not the author's bill. ``notes`` are said on the check's page.
        """
        writer = PullRequestWriter(self._bot, number)
        head, name = outcome.head_sha or "", self._bot.rules.check_name
        left = writer.checks.left_to_another(head, name)
        self._count(writer.checks, outcome, asked=asked)
        if left is not None:
            self._carry_on(writer, head)
            return left_to_another(left)
        now = writer.pull_request_at(head)

        def check_now() -> Check:
            nonlocal now
            now = writer.pull_request()
            return self._check(outcome, now, notes)

        stands = writer.checks.conclude(head, name, check_now)
        self._stands()
        if isinstance(stands, StandingCheck):
            self._carry_on(writer, head)
            return left_to_another(stands)
        if now.head_sha != head:
            self._carry_on(writer, head)
        return Published(stands)

    def _carry_on(self, writer: PullRequestWriter, head: str) -> None:
        """Have the checks that others conclude say what the reviews have cost: of ``head``, and of the present one."""
        for commit in dict.fromkeys((head, writer.pull_request().head_sha)):
            writer.checks.mark(commit, self._bot.rules.check_name, "")

    def _check(self, outcome: OutcomeDocument | DidNotRun, now: PullRequest, notes: tuple[str, ...]) -> Check:
        rules = self._bot.rules
        if not is_of(outcome, now, self._bot.redactor):
            return check_superseded(rules, now, outcome.head_sha or "", self._bot.redactor)
        if isinstance(outcome, DidNotRun):
            return check_did_not_run(rules, now.number, outcome.reason)
        return shadow_check(outcome, rules, now.number, notes, self._bot.details_url)

    def _count(self, checks: CheckRunWriter, outcome: OutcomeDocument | DidNotRun, *, asked: bool) -> None:
        """Have the check say what the reviews have cost, with this one, unless this run has published it already."""
        standing = checks.standing(outcome.head_sha or "", self._bot.rules.check_name)
        ended_by = {None if each.conclusion is None else begun_by(each.external_id) for each in standing}
        if ended_by == {self._bot.run}:
            return
        if isinstance(outcome, OutcomeDocument):
            counted = with_cost(None, outcome, checks.spent, asked=asked)
            checks.has_cost(counted["spent_usd"], DaySpent(counted["day"], counted["day_usd"]))
        elif outcome.may_have_asked:
            why = (outcome.run_id, outcome.head_sha, outcome.reason)
            state = failed_with_estimate(None, *why, spent=checks.spent, asked=asked)
            checks.has_cost(state.spent_usd, DaySpent(state.day, state.day_usd))


def drop_check_of_other_mode(bot: Bot, number: int, head: str) -> None:
    """Conclude the check that this run began on ``head`` before the mode was changed: it says nothing any more."""
    other = bot.rules.of_mode("enforce" if bot.rules.is_shadow else "shadow")
    checks = PullRequestWriter(bot, number).checks
    if checks.in_progress(head, other.check_name) is not None:
        checks.conclude(head, other.check_name, lambda: check_mode_changed(other, number))


def take_back_borrowed(bot: Bot, pull_request: PullRequest, *, retargeted: bool) -> None:
    """In shadow mode, let no review of the same head against another base branch pass a required check here.

    In mode ``enforce`` the check that an event begins does that; shadow mode begins another one. Raises ``ForgeError``.
    """
    if not bot.rules.is_shadow or pull_request.state != "open":
        return
    rules = bot.rules.of_mode("enforce")
    own = check_superseded(rules, pull_request, pull_request.head_sha, bot.redactor) if retargeted else None
    PullRequestWriter(bot, pull_request.number).checks.take_back(pull_request.head_sha, rules, own)
