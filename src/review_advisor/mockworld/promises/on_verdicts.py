"""The promises about verdicts: whose word counts, and what no one may pass over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from review_advisor.agents.calls import Lost
from review_advisor.change.change import FileChange
from review_advisor.mockworld.agents import PlayedCall
from review_advisor.mockworld.promises.played_review import Reading, answer_of, fault_of
from review_advisor.policy.roster import VOICES
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded, Recommended, Repaired, RoleSkipped, UnfoundedRejection, Verified

VETO_SURFACES = {"pr_review", "pre_merge_spec_check", "adr_review", "visual_gate"}
"""ADR-0059's matrix, read from its text."""
DIFFS = {"pr_review", "adr_review"}
"""The surfaces on which a diff can be judged without a word about it."""
OWN_ROOTS = (".github/workflows/",)
OWN_NAMES = {".claude", ".mcp.json", "claude.md", "review.md", ".review-advisor.toml"}
OWN_FILES = {"src/review_advisor.py", "src/review_phase.py"}
OWN_HERE = ("src/review_advisor/", "requirements/", "tools/", ".ci/")
OWN_FILES_HERE = {"action.yml", "makefile", "pyproject.toml", "src/review_advisor"}
CRITICAL_FOLDERS = {"auth", "oauth", "login", "security", "crypto", "secrets", "migrations", "payments", "billing"}
OUTAGES = {"crash", "silent", "truncated", "server_error"}
"""What no change can cause; anything else may come from its content."""
RATE_LIMIT = "rate_limited"
"""The author may cause it, by the size and the number of pull requests: it leaves a no, and approves nothing."""
CRASHES_OF_CONTENT = 2
"""One question that crashes so often is no outage."""
ON = {"true", "1", "yes", "on"}


def touches_itself(reading: Reading) -> bool:
    """Whether the change touches the bot's own implementation, read from the paths alone.

    A workflow that is only deleted runs nothing any more; the bot's own one names it, and none of a world does.
    """
    files = [file for file in reading.review.change.files if not _deletes_a_workflow(file)]
    return any(is_its_own(path, reading) for file in files for path in file.paths)


def _deletes_a_workflow(file: FileChange) -> bool:
    return file.status == "deleted" and file.path.casefold().startswith(".github/workflows/")


def is_its_own(path: str, reading: Reading) -> bool:
    """Whether a path is one of the bot's own implementation."""
    change, path = reading.review.change, path.casefold()
    *folders, name = path.split("/")
    anywhere = name in OWN_NAMES or path in OWN_FILES or path.startswith(OWN_ROOTS) or ".claude" in folders
    here = change.own_repository and (path in OWN_FILES_HERE or path.startswith(OWN_HERE))
    configured = change.config_in_pyproject and path == "pyproject.toml"
    return anywhere or here or configured or path == (reading.review.rules.config_path or "").casefold()


def in_critical_folder(reading: Reading) -> bool:
    """Whether the change touches a folder that is critical by default, where the default holds."""
    code = [path for path in reading.paths if path.endswith(".py") and "test" not in path.casefold()]
    folders = {folder.casefold() for path in code for folder in path.split("/")[:-1]}
    return bool(folders & CRITICAL_FOLDERS) and "auth" in reading.review.rules.critical_paths.words


def has_veto(reading: Reading, surface: str) -> bool:
    """Whether post-verify may block on that surface."""
    return surface in VETO_SURFACES or touches_itself(reading)


def an_unanswered_veto_goes_to_a_human(reading: Reading) -> Iterator[str]:
    """A veto on a veto surface stands until post-verify takes it back, or an outage leaves the executor's own no."""
    if reading.review.ended not in {"approved", "changes_requested"}:
        return
    for (surface, shard), asked in reading.parts.items():
        said = [answer for each in asked if each.call.role is Role.POST_VERIFY and (answer := answer_of(each))]
        vetoed = bool(said) and said[-1]["verdict"] == "VETO" and has_veto(reading, surface)
        if vetoed and not (reading.review.ended == "changes_requested" and _an_outage_leaves_a_no(reading, asked)):
            yield f"{reading.review.ended} although the last judgement of {surface}, part {shard + 1}, is a veto"


def _an_outage_leaves_a_no(reading: Reading, asked: Sequence[PlayedCall]) -> bool:
    """Whether the executor rejected after all judgements that came, and only an outage took the one on that."""
    no = max((at for at, each in enumerate(asked) if each.call.role is Role.EXECUTOR), default=0)
    answer, judges = answer_of(asked[no]), asked[no + 1 :]
    faults = [fault_of(each) for each in judges if isinstance(each.result, Lost)]
    explained = {*OUTAGES, RATE_LIMIT}
    out = 0 < len(faults) == len(judges) and explained.issuperset(faults) and faults.count("crash") < CRASHES_OF_CONTENT
    rejects = answer is not None and answer["verdict"] == "reject"
    return rejects and out and not (touches_itself(reading) or fails_as_veto(reading))


def fails_as_veto(reading: Reading) -> bool:
    """Whether the team wants a lost judgement to be a veto."""
    value = reading.review.environment.get("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "")
    return value.strip().lower() in ON


def approval_is_judged_or_called_degraded(reading: Reading) -> Iterator[str]:
    """An approval was judged in every part, or says that it was not."""
    document = reading.review.document
    if not reading.approved or document is None:
        return
    for (surface, shard), judgement in reading.judgements.items():
        advisory = not has_veto(reading, surface)
        said = document.flags.degraded or bool(document.flags.advisor_disabled)
        if judgement != "APPROVE" and not advisory and not said:
            yield f"approved without a judgement of {surface}, part {shard + 1}, and no flag says so"


def the_executors_no_is_never_merged(reading: Reading) -> Iterator[str]:
    """What the executor rejected is never approved, whatever the advisor says."""
    for (surface, shard), verdict in reading.verdicts.items() if reading.approved else ():
        if verdict != "approve" and surface != "wiki_ingest":
            yield f"approved although the executor of {surface}, part {shard + 1}, said {verdict or 'nothing'}"


def a_rejection_says_what_to_change(reading: Reading) -> Iterator[str]:
    """Nobody is left with a no that names nothing, and such a no is never turned into an approval."""
    document = reading.review.document
    if reading.review.ended not in ("approved", "changes_requested") or document is None:
        return
    bare = {(event.surface, event.shard) for event in reading.events(UnfoundedRejection)}
    for surface in document.surfaces:
        for part in surface.parts:
            key = (surface.surface, part.shard)
            said = reading.verdicts.get(key)
            if said == "reject" and not any(report.findings for report in part.reports[-1:]):
                yield f"{reading.review.ended} although {key[0]}, part {key[1] + 1}, was rejected without a finding"
            if key in bare and said != "reject" and reading.last(key, Role.POST_VERIFY) is None:
                yield f"{reading.review.ended} although {key[0]}, part {key[1] + 1}, took a rejection back"


def a_verdict_that_flips_calls_a_human(reading: Reading) -> Iterator[str]:
    """What the diff alone came to is what the first report comes to, and what an approval does, or a human decides."""
    if reading.review.ended not in ("approved", "changes_requested"):
        return
    for key, alone in reading.blind.items():
        first = next((answer for each in reading.parts.get(key, ()) if (answer := answer_of(each))), None)
        if alone is not None and first is not None and first["verdict"] != alone:
            yield f"{reading.review.ended} although {key[0]}, part {key[1] + 1}, turned from {alone}"
        if alone == "reject" and reading.verdicts.get(key) == "approve":
            yield f"{reading.review.ended} although the diff of {key[0]}, part {key[1] + 1}, was rejected alone"


def a_diff_that_is_to_be_judged_alone_is(reading: Reading) -> Iterator[str]:
    """Where the pass is on, an approval had it in every part of the diff, or says that it was lost; off, nobody has."""
    document = reading.review.document
    on = reading.review.rules.metadata_blind
    if reading.blind and not on:
        yield "a diff was judged alone, and nobody wanted that"
    if not on or not reading.approved or document is None:
        return
    for key in reading.verdicts:
        lost = reading.blind.get(key) is None
        if key[0] in DIFFS and lost and (not document.flags.degraded or touches_itself(reading)):
            yield f"approved although the diff of {key[0]}, part {key[1] + 1}, was not judged alone"


def changes_to_the_bot_are_judged_or_escalated(reading: Reading) -> Iterator[str]:
    """A change to the bot itself is never approved on a lost, refused or disabled post-verify."""
    if not reading.approved or not touches_itself(reading):
        return
    for (surface, shard), judgement in reading.judgements.items():
        if judgement != "APPROVE":
            yield f"a change to the bot approved without a judgement of {surface}, part {shard + 1}"


def a_refused_judgement_is_no_approval(reading: Reading) -> Iterator[str]:
    """Nobody can buy an approval by making the judgement too expensive or too slow."""
    for event in reading.events(CallEnded):
        judges = event.role is Role.POST_VERIFY and event.advisor != VOICES
        refused = judges and event.ended in ("refused", "cut_short")
        if refused and reading.approved and has_veto(reading, event.surface):
            yield f"approved although the judgement of {event.surface} was refused ({event.reason})"


def an_outage_is_a_veto_where_the_team_wants_it(reading: Reading) -> Iterator[str]:
    """With FAIL_AS_VETO a lost judgement on a veto surface is never an approval."""
    if not fails_as_veto(reading) or not reading.approved:
        return
    for key, judgement in reading.judgements.items():
        if judgement is None and reading.last(key, Role.POST_VERIFY) is not None and has_veto(reading, key[0]):
            yield f"approved although the judgement of {key[0]}, part {key[1] + 1}, was lost under FAIL_AS_VETO"


def a_judge_that_the_change_may_have_silenced_does_not_approve(reading: Reading) -> Iterator[str]:
    """A judgement on a veto surface that no outage explains the loss of leaves nothing approved or rejected."""
    if reading.review.ended not in ("approved", "changes_requested"):
        return
    for key in reading.judgements:
        asked = reading.last(key, Role.POST_VERIFY)
        if asked is None or answer_of(asked) is not None or not has_veto(reading, key[0]):
            continue
        leaves_a_no = fault_of(asked) == RATE_LIMIT and reading.review.ended == "changes_requested"
        if fault_of(asked) not in OUTAGES and not leaves_a_no:
            yield f"{reading.review.ended} although the judgement of {key[0]} was lost by {fault_of(asked)!r}"


def a_judgement_is_what_was_said(reading: Reading) -> Iterator[str]:
    """What is recorded as judged is, in order, what post-verify said last in each call."""
    said = [
        answer["verdict"]
        for asked in reading.review.asked
        if asked.call.role is Role.POST_VERIFY and (answer := answer_of(asked)) is not None
    ]
    recorded = [event.judged.result.verdict for event in reading.events(Verified)]
    if reading.review.document is not None and said != recorded:
        yield f"post-verify said {said}, recorded is {recorded}"


def an_idle_retry_is_not_judged_again(reading: Reading) -> Iterator[str]:
    """A retry that repeats its report word for word, and repairs nothing, is judged again only after advice."""
    repaired = {(e.surface, e.shard, e.attempt) for e in reading.events(Repaired) if e.result != "refused"}
    advised = {(each.surface, each.shard) for each in reading.events(Recommended)}
    for (surface, shard), asked in reading.parts.items():
        before: dict[str, object] | None = None
        idle = False
        for each in asked if (surface, shard) not in advised else ():
            answer = answer_of(each)
            if each.call.role is Role.POST_VERIFY and idle:
                yield f"{surface}, part {shard + 1}: judged again although nothing changed"
            if each.call.role is Role.EXECUTOR and answer is not None:
                facts = {key: answer[key] for key in ("verdict", "findings", "answers")}
                moved = answer["answers"] or (surface, shard, each.call.attempt) in repaired
                idle = before == facts and not moved
                before = facts


def a_stop_signal_calls_a_human(reading: Reading) -> Iterator[str]:
    """When the advisor asks to stop, nothing is approved."""
    for each in reading.advice if reading.approved else ():
        heard = each.line is not None and each.line.fault in ("", "misshapen", "two_answers", "slow", "stale_head")
        if heard and each.line is not None and (each.line.answer or {}).get("stop_signal"):
            yield f"approved although the advisor asked to stop when asked {each.question!r}"


def an_open_question_about_a_critical_path_calls_a_human(reading: Reading) -> Iterator[str]:
    """A question that the cap denied and that names a critical path leaves nothing approved."""
    document = reading.review.document
    if not reading.approved or document is None:
        return
    for each in reading.advice:
        named = [path for path in document.policy.critical_touched if path in each.question]
        if each.line is None and named:
            yield f"approved although the question {each.question!r} about {named[0]} was denied"


def nothing_is_remembered_without_a_verdict(reading: Reading) -> Iterator[str]:
    """The wiki takes entries of reviews that ended in a verdict, and of a change to the bot only those confirmed."""
    if not reading.review.wiki:
        return
    if reading.review.ended == "escalated":
        yield f"{', '.join(reading.review.wiki)} entered the wiki from a review that was {reading.review.ended}"
    judged = reading.judgements.get((Surface.WIKI_INGEST, 0))
    if touches_itself(reading) and judged != "APPROVE":
        yield f"{', '.join(reading.review.wiki)} entered the wiki from a change to the bot, judged {judged}"


def what_did_not_run_says_why(reading: Reading) -> Iterator[str]:
    """A role that did not run on a surface has an event with its reason."""
    for event in reading.events(RoleSkipped):
        if not any(words.strip() for words in event.because):
            yield f"{event.role} did not run on {event.surface}, and nobody says why"
