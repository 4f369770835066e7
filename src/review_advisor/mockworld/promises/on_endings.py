"""The promises about endings: trouble stops, nothing is silent, nothing is half decided."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.change.change import Status
from review_advisor.change.lock_formats import DEFAULT_EXCLUDE
from review_advisor.mockworld.promises.on_verdicts import has_veto
from review_advisor.mockworld.promises.played_review import Reading, answer_of
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import FileCoverage, outcome_types, read_outcome
from review_advisor.review.events import CallEnded, CallStarted, ReviewEnded
from review_advisor.review.report import verdict_words
from review_advisor.review.soundness import unsound

EXIT = {"nothing_to_review": 0, "approved": 0, "changes_requested": 10, "escalated": 11, "stopped": 12}
HUMAN = 11


def trouble_with_the_account_stops(reading: Reading) -> Iterator[str]:
    """Spent credit, a refused credential and an interrupt end the review as stopped, and no further call starts."""
    if reading.stop_at is None:
        return
    if reading.review.ended not in ("stopped", "broken", "died"):
        yield f"ended as {reading.review.ended} although call {reading.stop_at + 1} met a stop"
    later = len(reading.review.asked) - reading.stop_at - 1
    if later:
        yield f"{later} calls started after the stop at call {reading.stop_at + 1}"


def the_exit_code_is_the_outcomes(reading: Reading) -> Iterator[str]:
    """0, 10, 11 and 12, and 11 for an unverified approval where the team wants that."""
    review, document = reading.review, reading.review.document
    if document is None:
        return
    unverified = document.flags.degraded or bool(document.flags.advisor_disabled)
    strict = review.ended == "approved" and review.rules.fail_on_degraded and unverified
    wanted = HUMAN if strict else EXIT[review.ended]
    if review.exit_code != wanted:
        yield f"{review.ended} exits with {review.exit_code}, not {wanted}"


def what_is_unread_is_never_approved(reading: Reading) -> Iterator[str]:
    """An approved change was shown to the executor to the last line; only true binaries are excepted, by name."""
    document = reading.review.document
    if not reading.approved or document is None:
        return
    for gap in document.coverage:
        if gap.read != "read" and gap.why != "binary" and not _may_stay_unread(reading, gap):
            yield f"approved although {gap.path} was read {gap.read}: {gap.why}"


def _may_stay_unread(reading: Reading, gap: FileCoverage) -> bool:
    """Whether it is a lock file under a default name that the change only modifies."""
    files = [file for file in reading.review.change.files if file.path == gap.path]
    is_lock = gap.path.rpartition("/")[2] in DEFAULT_EXCLUDE
    return gap.read == "excluded" and is_lock and [file.status for file in files] == [Status.MODIFIED]


def what_is_called_read_was_shown(reading: Reading) -> Iterator[str]:
    """A file that the coverage calls read was shown, line by line, to an executor that answered, now or before."""
    document = reading.review.document
    if document is None:
        return
    before = reading.earlier if any(each.earlier for each in document.coverage) else ()
    shown = "\n".join(map(_shown, (reading, *map(Reading, before))))
    read = {each.path for each in document.coverage if each.read == "read"}
    for file in reading.review.change.files:
        for hunk in file.hunks if file.path in read else ():
            for line in {hunk.lines[0], hunk.lines[len(hunk.lines) // 2], hunk.lines[-1]}:
                if line.isprintable() and f"\n{line}\n" not in f"\n{shown}\n":
                    yield f"{line!r} of {file.path} is called read and was shown to no executor that answered"


def _shown(reading: Reading) -> str:
    """What executors of pr_review that answered were shown of the diff."""
    return "\n".join(
        inside.get("DIFF", "")
        for each, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True)
        if each.call.role is Role.EXECUTOR and each.call.surface == "pr_review" and each.call.attempt == 0
        if not each.call.blind and answer_of(each) is not None
    )


def coverage_names_every_file(reading: Reading) -> Iterator[str]:
    """Every changed file stands in the coverage, read or not, and the report names those that were not."""
    document = reading.review.document
    if document is None:
        return
    named = {each.path for each in document.coverage}
    for file in reading.review.change.files:
        if file.path not in named:
            yield f"{file.path} is not in the coverage"
    gaps = [gap for gap in document.coverage if gap.read != "read" and gap.path.isascii()]
    told = reading.report.replace("\n", " ") if gaps else ""
    for gap in gaps:
        if gap.path not in told:
            yield f"{gap.path} was read {gap.read} and the report does not name it"


def degraded_is_never_silent(reading: Reading) -> Iterator[str]:
    """An accepted verdict whose judgement did not come is flagged, and the report says so in its first line."""
    document = reading.review.document
    if document is None:
        return
    for key, judgement in reading.judgements.items():
        asked = reading.last(key, Role.POST_VERIFY)
        if reading.approved and asked is not None and judgement is None:
            if not document.flags.degraded:
                yield f"the judgement of {key[0]}, part {key[1] + 1}, was lost and no flag says so"
            elif f"{key[0]}/post_verify" not in document.flags.lost and has_veto(reading, key[0]):
                yield f"the judgement of {key[0]} is not among the lost answers"
    if document.flags.degraded and "DEGRADED" not in reading.report.partition("\n")[0]:
        yield "degraded, and the report's first line does not say so"


def every_lost_answer_is_named(reading: Reading) -> Iterator[str]:
    """Whoever was asked in vain, the first time and when asked again, is among the lost answers by name."""
    document = reading.review.document
    if document is None or reading.stop_at is not None:
        return
    heard: dict[tuple[str, str, int, int, bool, str], bool] = {}
    for asked in reading.review.asked:
        call = asked.call
        key = (call.surface.value, call.role.value, call.shard, call.attempt, call.blind, call.advisor)
        heard[key] = heard.get(key, False) or answer_of(asked) is not None or bool(getattr(asked.result, "said", ()))
    for (surface, role, _, _, blind, advisor), answered in heard.items():
        name = f"{surface}/{role}" + (f"/{advisor}" if advisor != role else "") + (" (blind)" if blind else "")
        if not answered and name not in document.flags.lost:
            yield f"{name} was asked in vain and is not among the lost answers"


def every_call_is_accounted_for(reading: Reading) -> Iterator[str]:
    """Each call that was made has its start and its end in the events, and the stream ends with the outcome."""
    if reading.review.document is None:
        return
    started = sorted(event.number for event in reading.events(CallStarted))
    ended = sorted(event.number for event in reading.events(CallEnded) if event.ended != "refused")
    made = sorted(asked.call.number for asked in reading.review.asked)
    if not started == ended == made or len(set(made)) < len(made):
        yield f"the calls {made} were made, {started} started and {ended} ended in the events"
    if not isinstance(reading.review.events[-1], ReviewEnded):
        yield "the last event is not the review's end"


def the_report_says_how_it_ended(reading: Reading) -> Iterator[str]:
    """Whatever was decided, there is a report to read, and the verdict is its first word."""
    document = reading.review.document
    if document is not None and not reading.report.startswith(verdict_words(document)):
        yield f"{document.outcome}, and the report begins with {reading.report[:40]!r}"


def the_document_survives_json(reading: Reading) -> Iterator[str]:
    """outcome.json reads back as the same document."""
    document = reading.review.document
    if document is None:
        return
    text = outcome_types().dump_json(document)  # outcome_json writes the same, in twice the time: a unit test has it
    if read_outcome(text) != document:
        yield "outcome.json does not read back as the document"


def whoever_publishes_believes_it(reading: Reading) -> Iterator[str]:
    """The events of a whole review lead to its outcome, for one who has nothing but them."""
    document = reading.review.document
    why = None if document is None else unsound(document.events)
    if why is not None:
        yield f"whoever publishes it says: {why}"


def what_died_decided_nothing(reading: Reading) -> Iterator[str]:
    """A review that was killed, or whose folder could not be written, leaves no outcome behind."""
    if reading.review.ended in ("died", "broken") and (reading.review.document or reading.review.files):
        yield f"{reading.review.ended}, and there is an outcome"


def a_verdict_is_of_the_head_it_read(reading: Reading) -> Iterator[str]:
    """The outcome names the head that was under review, also when another one was pushed meanwhile."""
    document = reading.review.document
    if document is not None and document.head_sha != reading.review.change.head_sha:
        yield f"the outcome is of {document.head_sha}, reviewed was {reading.review.change.head_sha}"
