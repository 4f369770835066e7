"""What the bot remembers of a pull request between pushes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from review_advisor.agents.findings import Finding, id_at
from review_advisor.change.change import CompleteReview, Earlier, EarlierFinding
from review_advisor.change.pull_request import Makers, PullRequest
from review_advisor.github.commands import (
    Dismiss,
    Override,
    is_settled_by_dismissal,
    may_settle,
    read_command,
    rests_on_findings,
)
from review_advisor.github.forge import Forge
from review_advisor.github.money import NOTHING, PaidSoFar, is_counted, so_far, with_cost
from review_advisor.github.state import (
    Dismissal,
    Failing,
    KnownFinding,
    PeoplesWord,
    StandingComment,
    State,
    Vouched,
    Whole,
    believed,
    own_summaries,
    read_state,
    sealed_on,
    unsettled,
    vouched_by_word,
    weightiest_first,
    with_dismissals_of,
)
from review_advisor.policy.budgets import USD_OF_AN_UNTOLD_REVIEW
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.scope import policy_digest
from review_advisor.review.document import OutcomeDocument, blocking_findings
from review_advisor.review.ends import stopped_by_settings
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.rulings import EXIT_CODES, Outcome

OPENS_BREAKER = 3
"""So often the same failure on the same head, and no push starts another review of it."""

MOST_FINDINGS = 120
"""So many are remembered, the weightiest: more do not fit into a comment."""

_OVERTAKEN = "a newer push overtook the review"


def state_after(
    before: State | None, document: OutcomeDocument, *, asked: bool, run: str = "", spent: PaidSoFar = NOTHING
) -> State:
    """The state after a review that ran. ``asked``: a person wanted it, so that it is no round of its own.

    Neither is one that the account or the settings stopped, because no author causes that; every other one that a push
    started is a round, whatever it came to. ``run`` is the workflow run that it ran in; empty outside of one. ``spent``
    is what the earlier reviews cost, as far as it is known without ``before``.

    The same review remembered twice changes nothing, but tells anew what no check vouches for. A finding that the
    review raised is open, unless it was dismissed, also under the name that its file had before git says that it was
    renamed. The same lines in any other file are not settled by that, and neither is one of several equal lines after
    some of them came or went: which of them was meant cannot be told then.
    One that it did not raise again is fixed if its file was read whole this time, or is gone from the change while
    nothing that could hold it was left unread; it stays as it was otherwise. After an escalation fix attempts are
    counted anew.
    """
    if before is not None and before.run_id == document.run_id:
        return _state_after_repetition(before, document)
    if document.outcome is Outcome.STOPPED:
        counted = with_cost(before, document, spent, asked=asked)
        reason = "; ".join(document.because)
        state = failed(before, document.run_id, document.head_sha or "", reason)
        is_round = not asked and not stopped_by_settings(document.events)
        return state.model_copy(update={"rounds": state.rounds + is_round, **counted})
    settled = _settled_paths(document)
    known = _moved(before.findings, document) if before is not None else {}
    blocking = blocking_findings(document)
    raised = [_raised(each, known.get(each.id), document.run_id) for each in document.findings]
    findings = {each.id: each.model_copy(update={"blocks": each.id in blocking}) for each in raised}
    for each in known.values():
        fixed = each.status == "open" and settled(each.path)
        now = each.model_copy(update={"status": "fixed", "changed_in": document.run_id}) if fixed else each
        findings.setdefault(each.id, now)
    weighed = weightiest_first(findings.values())
    kept, forgotten = weighed[:MOST_FINDINGS], weighed[MOST_FINDINGS:]
    rejected = document.outcome is Outcome.CHANGES_REQUESTED
    attempts = before.fix_attempts if before is not None else 0
    new_head = before is None or before.head_sha != document.head_sha
    return State(
        run_id=document.run_id,
        head_sha=document.head_sha or "",
        base_sha=document.base_sha or "",
        base_ref=document.base_ref or "",
        rules_sha=document.rules_sha or "",
        reviewed_in=run,
        policy_digest=policy_digest(document.policy),
        outcome=Outcome.ESCALATED if document.exit_code == EXIT_CODES[Outcome.ESCALATED] else document.outcome,
        complete=_complete(document) and not unsettled(forgotten),
        blast=document.policy.blast.radius,
        findings=kept,
        forgotten=unsettled(each for each in forgotten if each.id in known),
        rounds=(before.rounds if before is not None else 0) + (not asked),
        fix_attempts=attempts + new_head if rejected else 0,
        whole=_whole(before, document),
        rests_on_findings=rests_on_findings(document),
        **with_cost(before, document, spent, asked=asked),
    )


def merged_state_after(
    standing: State | None,
    before: State | None,
    document: OutcomeDocument,
    *,
    asked: bool,
    run: str = "",
    spent: PaidSoFar = NOTHING,
) -> State:
    """The state after a review, with everything that people have dismissed or approved since ``before`` was read.

    ``standing`` is what stands now. Whoever dismisses a finding by the id that it had before its file was renamed means
    the one that it is now. Whoever approves an escalation means the review that it is of, and no other.
    """
    settled = with_dismissals_of(before, standing) if before is not None else None
    new = state_after(settled, document, asked=asked, run=run, spent=spent)
    now = with_dismissals_of(new, standing)
    if standing is None or standing.run_id != document.run_id:
        return now
    return now.model_copy(update={"approved_by": standing.approved_by})


def failed_with_estimate(
    before: State | None, run_id: str, head_sha: str, reason: str, *, spent: PaidSoFar = NOTHING, asked: bool = False
) -> State:
    """The state after a run that left no outcome and may have asked models: what that cost is estimated, once.

    It is what the reviews so far cost on average, and at least what one attempt at a part of full size may cost. If a
    push started it, it is a round.
    """
    state = failed(before, run_id, head_sha, reason)
    if before is not None and is_counted(before, run_id):
        return state
    return _with_estimate_of(state, spent, asked=asked).model_copy(update={"rounds": state.rounds + (not asked)})


def superseded_without_outcome(
    before: State | None, run_id: str, head_sha: str, spent: PaidSoFar = NOTHING, *, asked: bool = False
) -> State | None:
    """The state after a superseded run that left no outcome: an estimate counts. None where it does already."""
    if before is not None and is_counted(before, run_id):
        return None
    state = before or failed(None, run_id, head_sha, _OVERTAKEN)
    return _with_estimate_of(state.model_copy(update={"counted": run_id}), spent, asked=asked)


def _with_estimate_of(state: State, spent: PaidSoFar, *, asked: bool) -> State:
    usd_so_far, today = so_far(state, spent)
    usd = round(max(USD_OF_AN_UNTOLD_REVIEW, usd_so_far / max(1, state.rounds)), 2)
    today = today if asked else today.plus(usd)
    sums = {"spent_usd": round(usd_so_far + usd, 4), "estimated_usd": round(state.estimated_usd + usd, 2)}
    return state.model_copy(update={**sums, "day": today.day, "day_usd": today.usd})


def superseded(
    before: State | None, document: OutcomeDocument, spent: PaidSoFar = NOTHING, *, asked: bool = False
) -> State | None:
    """The state after a superseded review: its cost counts. None where it is known already, or nothing."""
    counted = with_cost(before, document, spent, asked=asked)
    if counted["spent_usd"] == (before.spent_usd if before is not None else 0.0):
        return None
    state = before or failed(None, document.run_id, document.head_sha or "", _OVERTAKEN)
    return state.model_copy(update={**counted})


def _whole(before: State | None, document: OutcomeDocument) -> Whole | None:
    """The last complete review once this one is over. Against another base branch it is counted anew."""
    if not _complete(document):
        return None if before is None else before.whole
    return Whole(
        run_id=document.run_id,
        number=round_of(before, document),
        head_sha=document.head_sha or "",
        base_sha=document.base_sha or "",
        base_ref=document.base_ref or "",
    )


def round_of(before: State | None, document: OutcomeDocument) -> int:
    """The number of this complete review, from 1."""
    known = before.whole if before is not None else None
    if known is None or known.base_ref != document.base_ref:
        return 1
    return known.number if known.run_id == document.run_id else known.number + 1


def _state_after_repetition(before: State, document: OutcomeDocument) -> State:
    """The state after the review that it is of: base branch, and the places of what is open, are taken from it."""
    places = {each.id: each.occurrences for each in document.findings}
    findings = tuple(
        each.model_copy(update={"occurrences": places.get(each.id, each.occurrences)})
        if each.status == "open"
        else each
        for each in before.findings
    )
    return before.model_copy(update={"base_ref": document.base_ref or "", "findings": findings})


def reopened(before: State | None, document: OutcomeDocument) -> frozenset[str]:
    """The findings that the review raised and that were remembered as fixed or not at all: their threads are closed.

    What went under another name meanwhile is not remembered either. Where the memory is not whole, or there is none,
    nobody knows what was forgotten and what is new: only what it calls fixed comes back, and what it calls dismissed
    if that does not hold any more.
    """
    if before is None:
        return frozenset()
    known = {each.id: each for each in before.findings}
    unknown = {each.id for each in document.findings if each.id not in known} if before.complete else set[str]()
    raised = [(each, known[each.id]) for each in document.findings if each.id in known]
    back = {
        new.id
        for new, old in raised
        if old.status == "fixed" or (old.status == "dismissed" and not _stays_dismissed(new, old))
    }
    return frozenset(unknown | back)


def renamed_findings(before: State | None, state: State, document: OutcomeDocument) -> dict[str, str]:
    """The findings that were known under another name of their file: their old ids, by the present ones.

    ``state`` is what is remembered after this review. A memory that nothing vouches for follows nothing.
    """
    if before is None or before.whole is None:
        return {}
    kept = {each.id for each in state.findings if each.changed_in != document.run_id}
    known = {each.id: each for each in before.findings}
    return {
        new.id: old.id
        for new in document.findings
        for old in known.values()
        if new.id in kept - known.keys() and id_at(old.path, new) == old.id
    }


def _stays_dismissed(finding: Finding, before: KnownFinding) -> bool:
    """A dismissal is of one place. Once equal places came or went, the same id may name another one of them."""
    return before.status == "dismissed" and before.occurrences == finding.occurrences


def earlier_review(state: State) -> Earlier:
    """The state as facts for the next review; what only git knows is still missing."""
    whole = state.whole
    return Earlier(
        head_sha=state.head_sha,
        base_sha=state.base_sha,
        policy_digest=state.policy_digest,
        rules_sha=state.rules_sha,
        complete=state.complete,
        is_ancestor=False,
        paths=frozenset(),
        findings=tuple(
            EarlierFinding(each.id, each.path, each.line, each.title, each.severity, each.status, each.reason, each.by)
            for each in state.findings
            if each.status != "fixed"
        ),
        whole=None if whole is None else CompleteReview(whole.head_sha, whole.base_sha, whole.base_ref),
    )


def failed(before: State | None, run_id: str, head_sha: str, reason: str) -> State:
    """The state after a review that did not run to its end: nothing was learned, and the failure is counted."""
    reason = reason[:200]
    last = before.failing if before is not None else None
    if before is not None and before.run_id == run_id:
        return before
    times = last.times + 1 if last is not None and (last.head_sha, last.reason) == (head_sha, reason) else 1
    failing = Failing(head_sha=head_sha, reason=reason, times=times)
    if before is None:
        before = State(
            run_id=run_id,
            head_sha=head_sha,
            base_sha="",
            policy_digest="",
            outcome=Outcome.STOPPED,
            complete=False,
            blast=BlastRadius.HIGH,
        )
    stopped = {"run_id": run_id, "failing": failing, "complete": False, "outcome": Outcome.STOPPED, "approved_by": ""}
    stopped["rests_on_findings"] = False
    return before.model_copy(update=stopped)


def _settled_paths(document: OutcomeDocument) -> Callable[[str], bool]:
    """Whether a finding at a path, which the review did not raise again, stands nowhere any more."""
    facts = _frozen(document).files
    now = {file.old_path: file.path for file in facts if file.old_path is not None}
    must_be_read = {gap.path for gap in _frozen(document).unsent}
    media = {file.path for file in facts if file.binary} - must_be_read
    read = {file.path for file in document.coverage if file.read == "read" and not file.earlier}
    unread = {file.path for file in document.coverage if not file.read_or_excluded} - media
    there = {file.path for file in document.coverage}

    def settled(path: str) -> bool:
        place = path if path in there else now.get(path, path)
        return place in read or (place not in there and not unread)

    return settled


def _moved(known: Iterable[KnownFinding], document: OutcomeDocument) -> dict[str, KnownFinding]:
    """What is known, by id: under the new id where the review raised it in a file that has another name since.

    An id is made of the path, so the same quote in the place of one whose file is gone from the change is that finding.
    What was dismissed follows only where git names the rename: anybody can put the same lines elsewhere.
    """
    there = {file.path for file in document.coverage}
    renames = {(old, file.path) for file in _frozen(document).files for old in (file.old_path, file.earlier_path)}
    now = {each.id: each for each in known}
    gone = [each for each in now.values() if each.path not in there]
    unknown = [new for new in document.findings if new.id not in now]
    pairs = [(each, new) for each in gone for new in unknown if id_at(each.path, new) == each.id]
    for each, new in sorted(pairs, key=lambda pair: (pair[0].path, pair[1].path) not in renames):
        if each.id not in now or new.id in now:
            continue
        place: dict[str, object] = {"id": new.id, "path": new.path, "line": new.line}
        if each.status != "dismissed" or (each.path, new.path) in renames:
            now[new.id] = now.pop(each.id).model_copy(update=place)
        else:
            undone: dict[str, object] = {"status": "open", "changed_in": document.run_id, "dismissed_under": each.path}
            now[new.id] = each.model_copy(update=place | undone)
    return now


def _frozen(document: OutcomeDocument) -> PolicyFrozen:
    """The first event: an outcome's events begin with it."""
    return next(event for event in document.events if isinstance(event, PolicyFrozen))


def _raised(finding: Finding, before: KnownFinding | None, run_id: str) -> KnownFinding:
    if before is not None and _stays_dismissed(finding, before):
        return before
    again = before is not None and before.status == "open"
    dismissed_under = ""  # where a person dismissed the same lines although this finding is open
    if before is not None:
        dismissed_under = before.path if before.status == "dismissed" else before.dismissed_under
    return KnownFinding(
        id=finding.id,
        path=finding.path,
        line=finding.line,
        title=finding.title[:120],
        severity=finding.severity,
        changed_in=before.changed_in if again and before is not None else run_id,
        dismissed_under=dismissed_under,
        occurrences=finding.occurrences,
    )


def _complete(document: OutcomeDocument) -> bool:
    """Whether a later review may rest on this one."""
    sound = not (document.flags.degraded or document.flags.lost or document.flags.advisor_disabled)
    return sound and all(file.read_or_excluded for file in document.coverage)


def believed_memory(forge: Forge, rules: PublicationRules, number: int, word: str) -> State | None:
    """What a review is told of earlier ones, as far as ``begin``, by its ``word``, and people vouch for it.

    The job that reviews holds no key. None where there is no summary, or none that can be read, and in shadow mode.
    Raises ``ForgeError``.
    """
    if rules.is_shadow:
        return None
    comments = forge.comments(number)
    for summary in own_summaries(comments, rules.login)[:1]:
        state = read_state(summary, rules.login)
        if state is not None:
            return as_vouched(forge, rules, number, comments, state, found=vouched_by_word(word, summary.body))
    return None


def as_vouched(
    forge: Forge,
    rules: PublicationRules,
    number: int,
    comments: Iterable[StandingComment],
    state: State,
    *,
    found: Vouched,
) -> State:
    """The state, as far as it counts. People are asked unless ``found`` vouches for all. Raises ``ForgeError``."""
    people = PeoplesWord() if found == "signed" else peoples_word(forge, rules, number, comments, state)
    return believed(state, found, people)


def peoples_word(
    forge: Forge, rules: PublicationRules, number: int, comments: Iterable[StandingComment], state: State
) -> PeoplesWord:
    """Who dismissed what the state calls dismissed, and who approved its head. Raises ``ForgeError``.

    A comment counts that nobody edited, by somebody who may write, by the forge's present word, and who is not the bot.
    The author's counts only where the configuration lets them settle their own work. Whoever made a commit is not
    looked for: a commit's names are its pusher's own word.
    """
    decisions = list(_decisions(comments, rules, state))
    if not decisions:
        return PeoplesWord()
    pull_request = forge.pull_request(number)
    logins = {each.author.casefold(): each.author for each, _ in decisions}
    people = {name for name, login in logins.items() if _may_settle(forge, rules, pull_request, login)}
    counting = [(each.author, command) for each, command in decisions if each.author.casefold() in people]
    return PeoplesWord(
        dismissed={
            command.finding: Dismissal(login, command.reason)
            for login, command in counting
            if isinstance(command, Dismiss)
        },
        approved=frozenset(
            login.casefold()
            for login, command in counting
            if isinstance(command, Override) or is_settled_by_dismissal(state)
        ),
    )


def _may_settle(forge: Forge, rules: PublicationRules, pull_request: PullRequest, login: str) -> bool:
    permission = forge.permission(login)
    return permission.may_write and may_settle(login, permission, pull_request, Makers(()), rules.self_settle).granted


def _decisions(
    comments: Iterable[StandingComment], rules: PublicationRules, state: State
) -> Iterator[tuple[StandingComment, Dismiss | Override]]:
    """The comments whose command is about what the state says; the oldest first."""
    dismissed = {each.id for each in state.findings if each.status == "dismissed"}
    if not dismissed and not state.approved_by:
        return  # a comment may be long, and there may be thousands
    for each in comments:
        if each.edited_by or rules.is_ours(each.author):
            continue
        command = read_command(each.body)
        if isinstance(command, Dismiss) and command.finding in dismissed:
            yield each, command
        if isinstance(command, Override) and command.sha == sealed_on(state) and state.approved_by:
            yield each, command
