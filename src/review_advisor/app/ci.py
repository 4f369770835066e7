"""`begin`, `publish` and `observe`."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
from pydantic import ValidationError

from review_advisor.app.configuration import (
    base_config,
    believed_base,
    believed_declarations,
    declares_on,
    files_of,
    kind_notes,
    load_config,
    mended_by,
    mended_on,
    mode_that_stands,
    publication_rules,
    rules_that_stand,
)
from review_advisor.app.options import AS_JSON, LEDGER, PATH
from review_advisor.app.terminal import NOT_TO_ITS_END, ExitWithCode, clear_refusals, note, plain, put
from review_advisor.change.change import FileChange, SourceError, Status
from review_advisor.change.ci_files import WORKFLOWS, CalledFiles, CiEdit, concern, own_names
from review_advisor.change.git import why_not_yours
from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.git_history import LOOKED_AT, GitHistory, open_history
from review_advisor.change.kinds import OWN_IMPLEMENTATION_HERE, OWN_PIPELINE, PYPROJECT, PathRule, may_configure
from review_advisor.change.patch import PatchError, split_patch
from review_advisor.change.pull_request import (
    ActionsEvent,
    BelievedBase,
    CommentEvent,
    MergeGroupEvent,
    PullRequest,
    PullRequestEvent,
)
from review_advisor.change.pull_request_source import Remote, open_pull_request
from review_advisor.change.redaction import Redactor, added_secrets, redactor
from review_advisor.change.sources import About, GitSource
from review_advisor.github.actions import GithubEnvironment, read_github
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.beginning import NeverLeftOut, queued_pull_request
from review_advisor.github.check_text import check_did_not_run
from review_advisor.github.client import connect
from review_advisor.github.commands import ReviewAgain, read_command
from review_advisor.github.forge import MOST_LISTED, Forge, ForgeError, ForgeRejected, ListedFile
from review_advisor.github.memory import believed_memory, earlier_review, peoples_word
from review_advisor.github.observation import ObservePhase
from review_advisor.github.publish import (
    DidNotRun,
    Published,
    PublishPhase,
    ShadowPublishPhase,
    Unfinished,
    drop_check_of_other_mode,
    take_back_borrowed,
)
from review_advisor.github.state import LEAST_KEY, names_base
from review_advisor.github.writer import Bot, PullRequestWriter, settled_head
from review_advisor.ledger.artifacts import BROKEN, read_refusal
from review_advisor.ledger.recorder import finding_places, keep, open_ended
from review_advisor.policy.escalation_rules import PROFILES
from review_advisor.policy.lenses import roster_for_paths
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.risk import implementation_globs
from review_advisor.policy.settings import Config, ConfigError, make_settings
from review_advisor.policy.switches import SwitchError
from review_advisor.review.document import OutcomeDocument, outcome_document, read_outcome
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.observed import Observed
from review_advisor.review.own_facts import OwnFacts, contradiction
from review_advisor.review.soundness import unsound
from review_advisor.safety.clock import SystemClock
from review_advisor.safety.files import UserFileError, read_user_file
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.markdown import code


@click.command()
@click.option(
    "--event",
    envvar="GITHUB_EVENT_PATH",
    required=True,
    metavar="FILE",
    help="The event's payload. [default: GITHUB_EVENT_PATH]",
)
def begin(event: str) -> None:
    """Decide what an event on GitHub asks for, and create the check that says so.

    A push begins a review, a comment may give a command, a merge queue asks for the check of a commit. The values for
    the next jobs go to GITHUB_OUTPUT, or to stdout if that is not set: review, pull-request, head-sha, asked, memory,
    settle-seconds, most-usd and consult.
    """
    with clear_refusals():
        begun = run_begin(event, os.environ)
    note(f"{'A review begins' if begun.review else 'No review begins'}: {plain(begun.because)}")
    if begun.alert:
        note(f"::warning title=review-advisor::{begun.alert}" if os.environ.get("GITHUB_ACTIONS") else begun.alert)
    text = "".join(f"{name}={value}\n" for name, value in _outputs(begun).items())
    target = os.environ.get("GITHUB_OUTPUT")
    if not target:
        put(text)
        return
    try:
        with Path(target).open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise ExitWithCode(f"GITHUB_OUTPUT cannot be written: {error.strerror}.", 2) from None


def _outputs(begun: Begun) -> dict[str, str]:
    """Words, numbers and object names only: nothing that somebody could have written."""
    pull_request = begun.pull_request
    if not begun.review or pull_request is None:
        return {"review": "false"}
    return {
        "review": "true",
        "pull-request": f"{pull_request.repository}#{pull_request.number}",
        "head-sha": pull_request.head_sha,
        "asked": "true" if begun.asked else "false",
        "memory": begun.memory,
        "settle-seconds": str(begun.settle_seconds),
        "most-usd": "" if begun.most_usd is None else f"{begun.most_usd:.2f}",
        "consult": "true" if begun.consult else "false",
    }


@click.command()
@click.argument("outcome", type=PATH)
@click.option("--pr", "pull_request", required=True, metavar="OWNER/REPO#N", help="The pull request.")
@click.option("--head", default="", metavar="SHA", help="The commit that was to be reviewed. [default: any]")
@click.option("--asked", is_flag=True, help="A person asked for the review, so it is no automatic round.")
@click.option("--sarif", type=PATH, metavar="FILE", help="Also write the findings as SARIF 2.1.0.")
def publish(outcome: Path, pull_request: str, head: str, asked: bool, sarif: Path | None) -> None:
    """Publish the review in OUTCOME on its pull request.

    It writes the check, the comments on the diff, the summary, labels and requests. Publishing again changes nothing.
    Without a valid outcome the check fails and says that no review ran. Exit code 0 once everything is written,
    whatever the verdict.
    """
    with clear_refusals():
        from review_advisor.github.forge import ForgeDenied, ForgeError

        options = PublishOptions(outcome, pull_request, head, asked)
        try:
            done = run_publish(options, os.environ)
        except ForgeDenied as denied:
            _in_the_log(read_document(outcome, os.environ))
            raise ExitWithCode(f"{denied} The findings are in the log only.", NOT_TO_ITS_END) from None
        except ForgeError as problem:
            raise ExitWithCode(f"{problem} The publication may be incomplete: run it again.", NOT_TO_ITS_END) from None
    _leave(done, sarif)
    check = done.published.check
    note(f"{check.name}: {plain(check.title)} ({check.conclusion or 'in progress'})")
    for each in done.published.notes:
        note(f"Note: {plain(each)}")


def _leave(done: PublishedReview, sarif: Path | None) -> None:
    """What is left beside the pull request: the job's summary, and a SARIF file, which shadow mode does not write."""
    document, check = done.document, done.published.check
    if document is None:
        return
    from review_advisor import __version__
    from review_advisor.github.log_text import job_summary
    from review_advisor.github.sarif import sarif_json
    from review_advisor.policy.policy import is_shadow_name
    from review_advisor.safety.markdown import phrase

    is_shadow = is_shadow_name(check.name)
    page = (
        f"## {phrase(check.title)}\n\n{check.summary}\n" if is_shadow else job_summary(document, done.published.notes)
    )
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    try:
        if target:
            with Path(target).open("a", encoding="utf-8", errors="replace") as stream:
                stream.write(page)
        if sarif is not None and not is_shadow:
            sarif.write_text(sarif_json(document, __version__), encoding="utf-8", errors="replace")
    except OSError as error:
        note(f"The outcome is published, but a file cannot be written: {error.strerror}.")


def _in_the_log(document: OutcomeDocument | str) -> None:
    """The findings as workflow commands: the runner shows them on the lines, whatever the token may not do."""
    from review_advisor.github.log_text import log_lines

    if isinstance(document, str):
        put(f"{document}\n")
        return
    for line in log_lines(document):
        put(f"{line}\n")


@click.command()
@click.option("--pr", metavar="OWNER/REPO#N", help="The pull request: in this form, its address, or its number.")
@click.option("--event", metavar="FILE", help="The payload of the GitHub event that closed it (GITHUB_EVENT_PATH).")
@click.option("--again", is_flag=True, help="Look again at the latest merges in the ledger: was one reverted since?")
@click.option("--repo", type=PATH, default=Path(), metavar="DIR", help="A clone of it.  [default: the current folder]")
@LEDGER
@AS_JSON
def observe(pr: str | None, event: str | None, again: bool, repo: Path, ledger_file: Path, as_json: bool) -> None:
    """Read from GitHub and git what happened to each finding on a closed pull request, and record it in the ledger.

    It looks at the merged lines, threads, thumbs, dismissals, approved escalations and reverts. It asks no model
    and writes nothing on GitHub. Running it twice records nothing new. It gives the reason for each unknown. If it
    cannot read the history of a merge, it records nothing.
    """
    if [pr is not None, event is not None, again].count(True) != 1:
        raise click.UsageError(
            "Name the pull request with --pr, the event that closed it with --event, or say --again."
        )
    with clear_refusals():
        if again:
            _again(repo, ledger_file, as_json)
        elif pr is not None:
            _tell(observe_named(repo, pr, ledger_file, os.environ), as_json)
        else:
            _tell(observe_of_event(repo, event or "", ledger_file, os.environ), as_json)


def _again(repo: Path, ledger: Path, as_json: bool) -> None:

    unseen = 0
    for each in observe_again(repo, ledger, os.environ):
        if isinstance(each, NotSeen):
            unseen += 1
            note(f"Not observed: {each.sentence}")
        else:
            _tell(each, as_json)
    if unseen:
        raise ExitWithCode(f"Not every pull request could be observed: {unseen} could not.", NOT_TO_ITS_END)


def _tell(seen: Observation, as_json: bool) -> None:
    """One JSON object a line, or the labels for a person; what became of it in the ledger goes to stderr."""
    from review_advisor.review.observed import observed_text
    from review_advisor.safety.wording import printable_line

    observed = seen.observed
    put(json.dumps(observed.as_json()) + "\n" if as_json else observed_text(observed))
    became = "recorded" if seen.recorded else "nothing new: the ledger holds the same facts already"
    note(f"{printable_line(observed.repository)}#{observed.pull_request}: {became}")


NOT_ALL_LISTED = f"GitHub lists {MOST_LISTED:,} files of a pull request; the others were not compared with the review"


_HEADER = b"--- old\n+++ new\n"
"""GitHub's patches begin with their first hunk."""


def own_facts(
    forge: Forge,
    pull_request: PullRequest,
    commit: str,
    environ: Mapping[str, str],
    *,
    added: Iterable[str] = (),
    dismissed: Iterable[str] = (),
) -> OwnFacts | str:
    """What is known, by the configuration of ``commit``; or why nothing is. Raises ``ForgeError``.

    ``added`` are the ids of the advisors that a label has added, by the record. The label may be gone, so each is in
    the roster if the configuration offers it to a label. ``dismissed`` are the ids of findings, by the believed memory.
    """
    try:
        config, stands_at = _config(forge, pull_request, commit)
        files = forge.changed_files(pull_request.number)
        paths = tuple(dict.fromkeys(path for file in files for path in (file.path, file.old_path) if path is not None))
        declares = declares_on(forge, pull_request, commit, paths, files_of(forge, pull_request.head_sha))
        declares = replace(declares, wanted=tuple(dict.fromkeys((*declares.wanted, *added))))
        roster, thresholds, _ = believed_declarations(config, files_of(forge, commit), declares)
        settings = make_settings(
            config, environ, profile=None, config_path=stands_at, roster=roster, thresholds=thresholds
        )
    except (ConfigError, SwitchError) as problem:
        return f"The configuration cannot be used any more: {problem}"
    sides = (pull_request.base_sha, pull_request.head_sha)
    here = PathRule(OWN_IMPLEMENTATION_HERE)
    cleaned = redactor(environ)
    patches = [(file, _patched(file)) for file in files]
    return OwnFacts(
        paths=paths,
        rules=replace(settings.rules, roster=cleaned.everywhere(roster_for_paths(roster, paths))),
        of_map=cleaned.everywhere(tuple(each for rule in roster.mapped for each in rule.advisors)),
        implementation=implementation_globs(
            settings.rules.own_globs,
            here=any(map(here.matches, paths)) and any(_at(forge, OWN_PIPELINE, side) is not None for side in sides),
            pyproject=PYPROJECT in paths and any(may_configure(_at(forge, PYPROJECT, each)) for each in sides),
        ),
        fail_as_veto=settings.switches.fail_as_veto,
        redact=cleaned.redact,
        watched=tuple(_watched(forge, files, pull_request.head_sha, settings.rules.check_name)),
        modified=tuple(file.path for file in files if file.status == "modified"),
        cut=len(files) >= MOST_LISTED,
        committed=tuple(
            (mask.path, mask.kind)
            for _, patched in patches
            if patched is not None
            for mask in added_secrets(patched)
            if mask.certainty == "issued"
        ),
        dismissed=frozenset(dismissed),
        unseen=tuple(cleaned.redact(file.path) for file, patched in patches if patched is None and file.changed > 0),
    )


def not_shown(paths: Sequence[str]) -> str | None:
    """A note on the files whose patch the forge does not show whole; None without any."""
    if not paths:
        return None
    others = f" and {len(paths) - 1} more" if paths[1:] else ""
    which = f"{code(paths[0])}{others}"
    return f"GitHub shows no whole patch of {which}: the secrets there were not compared with the review"


def _patched(file: ListedFile) -> FileChange | None:
    """The file with the lines of its patch; None where the forge shows no whole one."""
    try:
        sections = split_patch(_HEADER + (file.patch or "").encode("utf-8", "replace"))
    except PatchError:
        return None
    hunks = tuple(hunk for section in sections for hunk in section.hunks)
    return FileChange(Status.MODIFIED, file.path, hunks=hunks) if hunks else None


def _config(forge: Forge, pull_request: PullRequest, commit: str) -> tuple[Config, str | None]:
    try:
        return base_config(files_of(forge, commit))
    except ConfigError:
        mended = mended_on(forge, pull_request, commit)
        if mended is None:
            raise
        return mended


def _watched(forge: Forge, files: Iterable[ListedFile], head: str, check_name: str) -> Iterator[str]:
    """The changed workflows that concern the bot, as far as the forge shows it."""
    names = own_names(check_name)
    for file in filter(lambda listed: WORKFLOWS.matches(listed.path), files):
        lines = None if file.patch is None else tuple(line for line in file.patch.split("\n") if line[:1] in {"+", "-"})
        gone = file.status == "removed"
        text = b"" if gone else _at(forge, file.path, head)
        after = None if text is None else text.decode("utf-8", "replace")
        edit = CiEdit(lines, in_place=gone or file.status in {"modified", "changed"}, after=after)
        if concern(edit, names) is not None:
            yield file.path


def _at(forge: Forge, path: str, commit: str) -> bytes | None:
    """A file of a commit; nothing of one that the forge does not hand out for its size."""
    try:
        return forge.file(path, commit)
    except ForgeRejected:
        return b""


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
        nothing_left_out = {"skip_paths": (), "skip_bases": (), "skip_authors": ()}
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
    if outcome_document(document.events) != document:
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


@dataclass(frozen=True, slots=True)
class Observation:
    """What is known now. ``recorded`` is False if the ledger already holds the same."""

    observed: Observed
    recorded: bool


@dataclass(frozen=True, slots=True)
class NotSeen:
    """A pull request that could not be observed, and why: one sentence."""

    sentence: str


def observe_named(repo: Path, name: str, ledger: Path, environ: Mapping[str, str]) -> Observation:
    """Observe the closed pull request of this name. Raises ``SourceError``, ``ForgeError`` and ``LedgerError``.

    Nothing is recorded then, because a merge must not be observed in part.
    """
    return _observe(repo, read_github(environ).pull_request(name), ledger, environ)


def observe_of_event(repo: Path, event_file: str, ledger: Path, environ: Mapping[str, str]) -> Observation:
    """Observe the pull request that the event in this file closed. Raises as ``observe_named`` does."""
    event = read_github(environ).event(event_file)
    if not isinstance(event, PullRequestEvent) or event.action != "closed":
        raise SourceError("This event does not close a pull request: name one with --pr.")
    return _observe(repo, (event.repository, event.number), ledger, environ)


def observe_again(repo: Path, ledger: Path, environ: Mapping[str, str]) -> Iterator[Observation | NotSeen]:
    """Observe again every merge that is recent enough to be reverted and is not.

    Raises ``LedgerError``; a pull request that can no longer be read does not stop the others.
    """
    for named in open_ended(ledger, datetime.now(UTC) - LOOKED_AT):
        try:
            yield _observe(repo, named, ledger, environ)
        except (ForgeError, SourceError) as problem:
            yield NotSeen(str(problem))


def _observe(repo: Path, named: tuple[str, int], ledger: Path, environ: Mapping[str, str]) -> Observation:
    repository, number = named
    github = read_github(environ)
    forge = open_forge(github, repository)
    pull_request = forge.pull_request(number)
    if pull_request.state == "open":
        raise SourceError(f"Pull request #{number} is open: observe it once it is closed.")
    rules, _ = rules_at(forge, believed_base(forge, pull_request).commit)
    known = finding_places(ledger, repository, number)
    now = datetime.now(UTC)
    with ExitStack() as opened:
        history = _history(repo, pull_request, github, opened)
        listening = partial(peoples_word, forge, rules, number)
        phase = ObservePhase(forge, history, rules.login, known, now, listening=listening, silent=rules.is_shadow)
        labels = phase.observe(pull_request)
    observed = Observed(
        at=now,
        run_id=f"observed_{now:%Y%m%dT%H%M%SZ}_{secrets.token_hex(4)}",
        repository=repository,
        pull_request=number,
        head_sha=pull_request.head_sha,
        labels=labels,
    )
    return Observation(*keep(ledger, redactor(environ).everywhere(observed)))


def _history(repo: Path, pull_request: PullRequest, github: GithubEnvironment, opened: ExitStack) -> GitHistory | None:
    """The history of what was merged; None of what was not. Raises ``SourceError``, in a sentence."""
    if pull_request.state != "merged":
        return None
    remote = Remote(github.clone_url(pull_request.repository), github.token, github.network)
    try:
        history = open_history(repo, pull_request, remote)
    except SourceError as problem:
        because = str(problem).rstrip(".")
        raise SourceError(f"What became of pull request #{pull_request.number} cannot be seen: {because}.") from problem
    opened.callback(history.close)
    return history


@dataclass(frozen=True, slots=True)
class Named:
    """A pull request by its name.

    ``head`` is the only head that is reviewed; empty: any. ``memory`` is what ``begin`` said of the state; empty if it
    said nothing. ``settle_seconds``: how long to wait for a newer push.
    """

    name: str
    head: str = ""
    memory: str = ""
    settle_seconds: int = 0


def open_named(repo: Path, named: Named, about: About, config: Path | None, environ: Mapping[str, str]) -> GitSource:
    """Open the pull request of this name. Raises ``SourceError`` and ``ConfigError``."""
    github = read_github(environ)
    try:
        return _opened(repo, named, about, config, github)
    except ForgeError as problem:
        raise SourceError(str(problem)) from None


def _opened(repo: Path, named: Named, about: About, config: Path | None, github: GithubEnvironment) -> GitSource:
    repository, number = github.pull_request(named.name)
    clock = SystemClock()
    forge: Forge = connect(repository, token=github.token, api_url=github.api_url, clock=clock)
    pull_request = settled_head(forge, clock, number, named.settle_seconds)
    _check(pull_request, named.head)
    about = replace(about, issues=forge.linked_issues(number), server=github.web_address)
    remote = Remote(github.clone_url(repository), github.token, github.network)
    source = open_pull_request(repo, pull_request, remote, believed_base(forge, pull_request), about)
    try:
        rules = publication_rules(load_config(repo, config, source.base_file)[0])
    except ConfigError:
        mended = mended_by(source)
        if mended is None or config is not None:
            raise
        rules = publication_rules(mended[0])
    state = believed_memory(forge, rules, number, named.memory)
    return source if state is None else source.after(state.fix_attempts, earlier_review(state))


def _check(pull_request: PullRequest, head: str) -> None:
    """Refuse what nobody is to review, before anything is fetched. Raises ``SourceError``."""
    number, now = pull_request.number, pull_request.head_sha
    if pull_request.state != "open":
        raise SourceError(f"Pull request #{number} is {pull_request.state}: only an open one is reviewed.")
    if head not in ("", now):
        raise SourceError(
            f"The head of pull request #{number} is {now[:12]} by now, not {head[:12]}: the push that moved it "
            "starts a review of its own."
        )
