"""The composition root of what is written on pull requests: an event begins, an outcome is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from review_advisor.adapters.actions import GithubEnvironment, read_github
from review_advisor.adapters.artifacts import BROKEN, read_refusal
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.git.apply import GitPatcher
from review_advisor.adapters.git.repository import why_not_yours
from review_advisor.adapters.github.forge import connect
from review_advisor.adapters.user_file import UserFileError, read_user_file
from review_advisor.app.configuration import (
    believed_base,
    files_of,
    load_config,
    mended_on,
    mode_that_stands,
    publication_rules,
    rules_that_stand,
)
from review_advisor.app.pull_requests.own_facts import NOT_ALL_LISTED, not_shown, own_facts
from review_advisor.app.roster.known_kinds import kind_notes
from review_advisor.app.settings import ConfigError, make_settings
from review_advisor.core.facts.actions_event import ActionsEvent, CommentEvent, MergeGroupEvent, PullRequestEvent
from review_advisor.core.facts.files.called_files import CalledFiles
from review_advisor.core.facts.files.paths import OWN_PIPELINE, PYPROJECT, may_configure
from review_advisor.core.facts.pull_request import BelievedBase, PullRequest
from review_advisor.core.forge_text.check import check_did_not_run
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document, read_outcome
from review_advisor.core.outcome.events import PolicyFrozen
from review_advisor.core.outcome.own_facts import OwnFacts, contradiction
from review_advisor.core.outcome.soundness import unsound
from review_advisor.core.policy.escalation_rules import PROFILES
from review_advisor.core.policy.guard import implementation_globs
from review_advisor.core.pull_request.beginning import queued_pull_request
from review_advisor.core.pull_request.commands import ReviewAgain, read_command
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.seals import LEAST_KEY
from review_advisor.core.pull_request.state import names_base
from review_advisor.core.pull_request.unreviewed import NeverLeftOut
from review_advisor.core.safety.redaction import Redactor, redactor
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.ports.forge import Forge, ForgeError, ForgeRejected
from review_advisor.ports.review import SourceError
from review_advisor.pull_request.begin import BeginPhase, Begun
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.publish import DidNotRun, Published, PublishPhase
from review_advisor.pull_request.shadow_publish import ShadowPublishPhase, drop_check_of_other_mode, take_back_borrowed
from review_advisor.pull_request.unfinished import Unfinished
from review_advisor.pull_request.writer import PullRequestWriter

STATE_KEY = "REVIEW_ADVISOR_STATE_KEY"
"""The variable of `begin` and `publish` with the key that seals what is remembered; empty is unset."""
_MOST_CALLED = 40
"""The most local actions and workflows that are read of what the bot's workflow calls: each takes a request."""
MOST_BYTES = 100_000_000
"""The largest outcome that a review writes."""


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """What is published where.

    ``pull_request`` is its name, ``head`` the commit to review (empty: the present head, for a check that says that
    nothing ran). ``asked``: a person asked for the review.
    """

    outcome: Path
    pull_request: str
    head: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class PublishedReview:
    """What stands on the pull request, and the document behind it, if there is one."""

    published: Published
    document: OutcomeDocument | None


def run_begin(event_file: str, environ: Mapping[str, str]) -> Begun:
    """Do what an event asks for. Raises ``SourceError`` and ``ForgeError``.

    A base whose configuration cannot be used gets a failed check that says so, if the event would begin anything.
    """
    github = read_github(environ)
    event = github.event(event_file)
    forge = open_forge(github, event.repository)
    believed = _believed(forge, event)
    rules, broken = rules_at(forge, believed.commit)
    if broken is not None and not isinstance(event, MergeGroupEvent):
        if not _counts(event, forge, rules):
            return Begun(review=False, because="there is no command of a person with write permission")
        if mended_on(forge, forge.pull_request(event.number), believed.commit) is None:
            return _refused(_bot(forge, rules, event.repository, github, environ), event, broken)
    bot = _bot(forge, rules, event.repository, github, environ)
    if broken is None and isinstance(event, CommentEvent) and read_command(event.body) == ReviewAgain(consult=True):
        bot = replace(bot, consults=_consults(forge, believed.commit))
    if broken is not None:
        nothing_left_out = {"skip_paths": (), "skip_bases": (), "skip_authors": (), "shadow_percent": 100.0}
        bot = replace(bot, rules=rules.model_copy(update=nothing_left_out))
    elif rules.skip_paths or rules.skip_authors:
        never = _never_left_out(forge, believed.commit, github, event.repository)
        bot = replace(bot, never_left_out=never, believed_branch=believed.branch)
    return BeginPhase(bot).begin(event)


def _consults(forge: Forge, commit: str) -> bool:
    """Whether reviews by this commit's configuration may consult the advisor."""
    config, _ = load_config(Path(), None, files_of(forge, commit))
    return PROFILES[config.escalation.profile] is not None


def _never_left_out(forge: Forge, commit: str, github: GithubEnvironment, repository: str) -> NeverLeftOut:
    """What the configuration cannot leave unreviewed, by the believed commit."""
    config, stands_at = load_config(Path(), None, files_of(forge, commit))
    here = forge.file(OWN_PIPELINE, commit) is not None
    called, followed = _called(forge, commit, github.workflow, repository)
    rules = make_settings(config, {}, profile=None, config_path=stands_at).rules
    return NeverLeftOut(
        rules.critical_paths,
        implementation_globs(rules.own_globs, here=here, pyproject=_names_bot(forge, commit)),
        called,
        followed,
    )


def _names_bot(forge: Forge, commit: str) -> bool:
    """Whether a commit's pyproject.toml may configure the bot; so may one that is too large to be handed out."""
    try:
        return may_configure(forge.file(PYPROJECT, commit))
    except ForgeRejected:
        return True


def _called(forge: Forge, commit: str, workflow: str, repository: str) -> tuple[CalledFiles, bool]:
    """What the workflow calls, however many steps away, and whether all of it could be read."""
    called = CalledFiles((), repository)
    waiting, asked, found = {workflow} - {""}, set[str](), set[str]()
    while waiting:
        asked |= waiting
        if len(asked) > _MOST_CALLED:
            return called, False
        for path in sorted(waiting):
            try:
                text = forge.file(path, commit)
            except ForgeRejected:
                return called, False
            if text is not None:
                found.add(path)
                called.read(path, text.decode("utf-8", "replace"))
        waiting = set(called.sought) - asked
    return called, not called.lacks_a_step(found)


def state_key(environ: Mapping[str, str]) -> bytes | None:
    """The key that seals what is remembered, if there is one. Raises ``ConfigError`` for a key that is too short."""
    key = environ.get(STATE_KEY, "").strip()
    if key and len(key) < LEAST_KEY:
        raise ConfigError(f"{STATE_KEY} has fewer than {LEAST_KEY} characters: make one with `openssl rand -hex 32`.")
    return key.encode() or None


def _bot(
    forge: Forge, rules: PublicationRules, repository: str, github: GithubEnvironment, environ: Mapping[str, str]
) -> Bot:
    return Bot(
        forge=forge,
        clock=SystemClock(),
        rules=rules,
        details_url=github.run_url,
        run=github.run,
        redactor=redactor(environ),
        repository=repository,
        state_key=state_key(environ),
    )


def _counts(event: PullRequestEvent | CommentEvent, forge: Forge, rules: PublicationRules) -> bool:
    """Whether an event may touch the check: a stranger's remark or label takes no passed one back."""
    match event:
        case PullRequestEvent(action="labeled"):
            return event.label == rules.fork_label and forge.permission(event.sender).may_write
        case PullRequestEvent():
            return True
        case CommentEvent():
            heard = event.action == "created" and event.on_pull_request and read_command(event.body) is not None
            return heard and forge.permission(event.author).may_write


def _refused(bot: Bot, event: PullRequestEvent | CommentEvent, why: str) -> Begun:
    """The check says so, and nothing else does: it is no failure of the head, which would count, and no review."""
    number = event.number
    writer = PullRequestWriter(bot, number)
    pull_request = writer.pull_request()
    take_back_borrowed(bot, pull_request, retargeted=event.action == "edited")
    if pull_request.state == "open":
        writer.checks.stand(pull_request.head_sha, check_did_not_run(bot.rules, number, why))
    return Begun(review=False, because=why, pull_request=pull_request)


def run_publish(options: PublishOptions, environ: Mapping[str, str]) -> PublishedReview:
    """Publish an outcome, or that there is none. Raises ``SourceError`` before it asks anything, and ``ForgeError``."""
    try:
        github = read_github(environ)
        repository, number = github.pull_request(options.pull_request)
        forge, at_the_end = open_forge(github, repository), open_forge(github, repository)
    except ForgeError as problem:
        raise SourceError(str(problem)) from None
    unfinished = Unfinished(_bot(forge, PublicationRules(), repository, github, environ), number, options.head)
    with INTERRUPTION.with_last_words(lambda _: unfinished.last_words(at_the_end)), unfinished.decided():
        pull_request = forge.pull_request(number)
        believed = believed_base(forge, pull_request)
        rules, _ = rules_at(forge, believed.commit)
        bot = _bot(forge, rules, repository, github, environ)
        unfinished.is_known(bot, options.head or pull_request.head_sha)
        outcome = _outcome(options, pull_request, github, environ)
        known: OwnFacts | str | None = None
        if isinstance(outcome, OutcomeDocument) and _is_of(outcome, pull_request, bot.redactor):
            state = PullRequestWriter(bot, number).remembered() if _is_dismissed(outcome) else None
            dismissed = () if state is None else [each.id for each in state.findings if each.status == "dismissed"]
            label = _added_by_label(outcome)
            known = own_facts(forge, pull_request, believed.commit, environ, added=label, dismissed=dismissed)
            outcome = _held_against(known, outcome, github)
        unlisted = NOT_ALL_LISTED if isinstance(known, OwnFacts) and known.cut else None
        unseen = not_shown(known.unseen) if isinstance(known, OwnFacts) else None
        notes = tuple(filter(None, (_breaks_configuration(forge, pull_request), unlisted, unseen)))
        if rules.is_shadow:
            published = ShadowPublishPhase(bot, unfinished.stands).publish(
                number, outcome, asked=options.asked, notes=notes
            )
        else:
            if isinstance(outcome, OutcomeDocument):
                unusable: list[str] = []
                known_kinds = kind_notes(files_of(forge, believed.commit), outcome, unusable.append)
                bot, notes = replace(bot, finding_notes=known_kinds), (*notes, *unusable)
            phase = PublishPhase(bot, GitPatcher(), unfinished.stands)
            published = phase.publish(number, outcome, asked=options.asked, notes=notes)
        if rules.is_shadow or isinstance(outcome, DidNotRun):
            drop_check_of_other_mode(bot, number, outcome.head_sha or "")
    return PublishedReview(published, outcome if isinstance(outcome, OutcomeDocument) else None)


def read_document(file: Path, environ: Mapping[str, str]) -> OutcomeDocument | str:
    """The document in ``file`` without this process's secrets, or a sentence that says why it is not trusted.

    The file comes from a job that ran models on hostile text: it counts only if all of it follows from its own events,
    and if no branch can have brought it.
    """
    if why := why_not_yours(file):
        return f"The outcome {file} does not count: {why}."
    try:
        raw = read_user_file(file, MOST_BYTES)
    except UserFileError as problem:
        refusal = read_refusal(file)
        if refusal is not None:
            return f"The review was refused: {redactor(environ).redact(refusal)}"
        return f"There is no outcome to publish: {problem}. The run's log says why."
    try:
        document = read_outcome(raw)
    except ValidationError:
        return "The outcome is not a document of this version of review-advisor."
    why = unsound(document.events)
    if why is not None:
        return f"The outcome is not a review's: {why}."
    if replace(outcome_document(document.events), shadows=document.shadows) != document:
        return "The outcome does not follow from its own events: it was altered or cut."
    return redactor(environ).everywhere(document)


def _outcome(
    options: PublishOptions, pull_request: PullRequest, github: GithubEnvironment, environ: Mapping[str, str]
) -> OutcomeDocument | DidNotRun:
    """The review, if the file holds one of this pull request; else why it is as if none had run."""
    document = read_document(options.outcome, environ)
    why = document if isinstance(document, str) else _of_another(document, options, pull_request)
    if isinstance(document, str) or why is not None:
        refusal = None if options.outcome.exists() else read_refusal(options.outcome)
        asked = refusal is None or refusal.endswith(BROKEN)
        return DidNotRun(github.run_id, options.head or pull_request.head_sha, why or "", may_have_asked=asked)
    return document


def _is_of(document: OutcomeDocument, pull_request: PullRequest, redactor: Redactor) -> bool:
    """Whether head and base branch are still those that were reviewed; otherwise the check is superseded."""
    same_head = document.head_sha == pull_request.head_sha
    return same_head and names_base(document.base_ref, pull_request.base_ref, redactor)


def _is_dismissed(document: OutcomeDocument) -> bool:
    """Whether, as its record says, a secret was dismissed."""
    return any(each.settled == "dismissed" for each in document.secrets)


def _added_by_label(document: OutcomeDocument) -> tuple[str, ...]:
    """The ids of the advisors that, as its record says, a label has added."""
    return tuple(each.id for each in document.policy.roster.advisors if each.by_label)


def _held_against(
    known: OwnFacts | str, document: OutcomeDocument, github: GithubEnvironment
) -> OutcomeDocument | DidNotRun:
    """The review, unless it contradicts what is known without it."""
    (first, *_) = document.events
    why: str | None = known if isinstance(known, str) else None
    if isinstance(known, OwnFacts) and isinstance(first, PolicyFrozen):
        found = contradiction(first, known)
        why = None if found is None else f"The outcome does not fit this change: {found}. Review it again."
    return document if why is None else DidNotRun(github.run_id, document.head_sha or "", why, may_have_asked=True)


def _of_another(document: OutcomeDocument, options: PublishOptions, pull_request: PullRequest) -> str | None:
    """Why a document is not of what was to be reviewed, or None."""
    repository = (document.repository or "").casefold()
    if (repository, document.pull_request) != (pull_request.repository.casefold(), pull_request.number):
        return "The outcome is of another pull request."
    if document.head_sha is None or options.head not in ("", document.head_sha):
        return "The outcome is of another head than the one to review."
    if not document.base_ref:
        return "The outcome does not name the base branch that the head was reviewed against: review it again."
    return None


def open_forge(github: GithubEnvironment, repository: str) -> Forge:
    """The forge as the environment says. Raises ``ForgeError``."""
    return connect(repository, token=github.token, api_url=github.api_url, clock=SystemClock())


def _believed(forge: Forge, event: ActionsEvent) -> BelievedBase:
    """The branch and the commit whose configuration holds for what an event is about.

    A merge queue's own base may be another queued commit, so its pull request's is asked. Where its branch names none,
    the event's has to do: the check that this makes never passes.
    """
    if not isinstance(event, MergeGroupEvent):
        return believed_base(forge, forge.pull_request(event.number))
    queued = queued_pull_request(event.head_ref)
    return BelievedBase("", event.base_sha) if queued is None else believed_base(forge, forge.pull_request(queued))


def rules_at(forge: Forge, commit: str) -> tuple[PublicationRules, str | None]:
    """What a commit's configuration says. If it cannot be used: the part that still holds, and a sentence."""
    try:
        return publication_rules(load_config(Path(), None, files_of(forge, commit))[0]), None
    except ConfigError as problem:
        rules = rules_that_stand(files_of(forge, commit)).of_mode(mode_that_stands(files_of(forge, commit)))
        return rules, (
            f"The base's configuration cannot be used: {problem} This is the file of commit {commit[:12]}. Mend it "
            "with a pull request that changes nothing else, which is reviewed with the defaults."
        )


def _breaks_configuration(forge: Forge, pull_request: PullRequest) -> str | None:
    """What is wrong with the configuration at the head. The review used the base's: the next one would break."""
    try:
        load_config(Path(), None, files_of(forge, pull_request.head_sha))
    except ConfigError as problem:
        return f"this pull request breaks the configuration: {problem}"
    return None
