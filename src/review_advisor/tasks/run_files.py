"""A run of a task as files."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from review_advisor.ledger.task_events import (
    BlockIgnored,
    BlockMalformed,
    ConsultHeard,
    CouncilVoted,
    GuidanceHeard,
    GuidanceUsed,
    MemoryProposal,
    OpinionHeard,
    PatchRead,
    ProposalHeard,
    ReportHeard,
    Speaker,
    TaskBegun,
    TaskCalled,
    TaskEnded,
    TaskEvent,
    counted_votes,
    error_mode,
)
from review_advisor.tasks.prompts import council_document

POLICY_FILE = "policy.json"


SCHEMA_FILE = "memory_schema.json"


PATCH_FILE = "executor.patch"


Prompts = Mapping[tuple[Speaker, int], str]


Json = dict[str, Any]
"""One object of a file, with the format's own keys; what nobody knows is None."""


_VALUES: TypeAdapter[object] = TypeAdapter(object)


_KEEPS_IT = " keeps it."


def task_files(events: Sequence[TaskEvent], prompts: Prompts) -> dict[str, str]:
    """The texts of the folder's files by name, ``outcome.json`` last. The first event is the run's beginning.

    ``prompts`` are those that are kept, by speaker and number; of the others the folder has length and digest.
    """
    first = events[0]
    if not isinstance(first, TaskBegun):
        raise TypeError("a task's events begin with TaskBegun")
    files = {"task.md": f"{first.task}\n"}
    for call in events:
        if isinstance(call, TaskCalled):
            files |= _call_files(first.run_id, call, prompts)
    council = {"advisors": first.advisors, "actions": first.actions} if first.advisors else {}
    policy = json_text({"limits": first.limits, "edit": first.edit, **council})
    schema = json_text(MemoryProposal.model_json_schema())
    manifest = _manifest(first, policy, schema)
    patches = [event.made for event in events if isinstance(event, PatchRead) and event.made.patch]
    if patches:
        files[PATCH_FILE] = patches[-1].patch
    return {
        **files,
        "session_events.jsonl": json_lines(_line(first.run_id, event) for event in events),
        "advisor_consults.jsonl": json_lines(_consults(first.run_id, events)),
        "advisor_guidance.jsonl": json_lines(_guidance(events)),
        "memory_proposals.jsonl": json_lines(_proposals(first.run_id, events)),
        "malformed_blocks.jsonl": json_lines(_malformed(events)),
        POLICY_FILE: policy,
        SCHEMA_FILE: schema,
        "version_manifest.json": json_text(manifest),
        "outcome.json": json_text(task_outcome(events) | {"version_manifest": manifest}),
    }


def task_outcome(events: Sequence[TaskEvent]) -> Json:
    """What ``outcome.json`` says, without the manifest. Turns are counted by their numbers, never by names."""
    first, last = events[0], events[-1]
    if not isinstance(first, TaskBegun):
        raise TypeError("a task's events begin with TaskBegun")
    calls = [event for event in events if isinstance(event, TaskCalled)]
    executor = [call for call in calls if call.speaker == "executor" and call.ended != "refused"]
    ended = last if isinstance(last, TaskEnded) else None
    malformed = _malformed(events)
    council = council_document(events)
    status = ended.status if ended else "running"
    return {
        "run_id": first.run_id,
        "status": status,
        "reason": ended.reason if ended else "",
        "error_mode": error_mode(status, malformed[-1]["tag"] if malformed else ""),
        "executor_backend": first.executor_backend,
        "advisor_backend": first.advisor_backend,
        "executor_session_id": executor[-1].session_id if executor else "",
        "executor_turn_count": len(executor),
        "advisor_consult_count": len(_consults(first.run_id, events)),
        "advisor_guidance_count": len(_guidance(events)),
        "memory_proposal_count": len(_proposals(first.run_id, events)),
        "malformed_block_count": len(malformed),
        "malformed_blocks": malformed,
        "max_turns": first.limits.max_turns,
        "max_advisor_calls": first.limits.max_advisor_calls,
        "executor_done": ended.done if ended and ended.done else {},
        "completed_at": ended.at if ended else None,
        "guidance_applied": {each.id: each.disposition for each in events if isinstance(each, GuidanceUsed)},
        "patch": next(
            (
                {"files": each.made.files, "refused": each.made.refused}
                for each in events
                if isinstance(each, PatchRead)
            ),
            None,
        ),
        "usage": {speaker: _usage_of(calls, speaker) for speaker in ("executor", "advisor")},
        **({} if council is None else {"council": council}),
    }


def task_outcome_json(events: Sequence[TaskEvent]) -> str:
    """The same as JSON."""
    return json_text(task_outcome(events))


def _usage_of(calls: Sequence[TaskCalled], speaker: str) -> Json:
    own = [call for call in calls if call.speaker == speaker]
    return usage_json(own) | {"duration_seconds": sum(call.duration_seconds for call in own if call.ended != "refused")}


def usage_json(calls: Iterable[TaskCalled]) -> Json:
    """What the calls used. The cost is None unless each of them reported one."""
    made = [call.usage for call in calls if call.ended != "refused"]
    costs = [usage.cost_usd for usage in made]
    return {
        "calls": len(made),
        "input_tokens": sum(usage.input_tokens for usage in made),
        "output_tokens": sum(usage.output_tokens for usage in made),
        "cache_read_tokens": sum(usage.cache_read_tokens for usage in made),
        "cache_write_tokens": sum(usage.cache_write_tokens for usage in made),
        "cost_usd": None if None in costs else sum(cost for cost in costs if cost is not None),
    }


def prompt_digest(characters: int, sha256: str, keeper: str = "--recording full") -> str:
    """What stands in the place of a prompt that is not kept."""
    return f"A prompt of {characters} characters, sha256 {sha256}. {keeper}{_KEEPS_IT}"


def is_prompt_digest(text: str) -> bool:
    """Whether the file of a prompt tells its length and digest alone."""
    return text.startswith("A prompt of ") and text.endswith(f"{_KEEPS_IT}\n") and text.count("\n") == 1


def _call_files(run_id: str, call: TaskCalled, prompts: Prompts) -> Json:
    name = f"{call.speaker}_turn_{call.number}"
    prompt = prompts.get((call.speaker, call.number))
    digest = prompt_digest(call.prompt_characters, call.prompt_sha256)
    shown = f"{digest if prompt is None else prompt}\n"
    stdout = (
        "What the backend wrote to stdout is not kept."
        if prompt is None
        else f"`review-advisor runs recording {run_id}` prints what claude or embedded wrote; of others, the reply."
    )
    raw = {
        "exit_code": call.exit_code,
        "events_path": None,
        "session_id": call.session_id,
        "raw_artifacts": call,
    }
    files = {
        f"{name}.prompt.md": shown,
        f"{name}.final.md": f"{call.message}\n",
        f"{name}.stdout.txt": f"{stdout}\n",
        f"{name}.stderr.txt": f"{call.detail or 'What the backend wrote to stderr is not kept.'}\n",
        f"{name}.raw.json": json_text(raw),
    }
    if (call.speaker, call.number) == ("executor", 1):
        files["executor_initial.prompt.md"] = shown
    return files


def _manifest(first: TaskBegun, policy: str, schema: str) -> Json:
    names = ("executor_start", "advisor_guidance", "executor_resume", *(["advisor_vote"] if first.actions else []))
    return {
        "schema_version": "run-version-manifest.v1",
        "created_at": first.at,
        "prompt_versions": dict.fromkeys(names, first.prompts),
        "memory_schema": {"version": "memory-record.v1", "path": SCHEMA_FILE, "sha256": sha256(schema)},
        "policy_files": {"routing_policy": {"path": POLICY_FILE, "sha256": sha256(policy)}},
    }


def _line(run_id: str, event: TaskEvent) -> Json:
    """A line of ``session_events.jsonl``, by the format's own names where it has them."""
    kind, told = _told(run_id, event)
    turn = event.number if isinstance(event, TaskCalled) else event.turn
    return {"created_at": event.at, "run_id": run_id, "type": kind, "turn": turn, **told}


def _told(run_id: str, event: TaskEvent) -> tuple[str, Json]:  # noqa: C901, PLR0911, PLR0912 (a line for each kind of event)
    match event:
        case TaskBegun():
            backends = {"executor_backend": event.executor_backend, "advisor_backend": event.advisor_backend}
            return "run_started", {"task": event.task, **backends, "limits": event.limits}
        case TaskCalled():
            final = {"exit_code": event.exit_code, "final_message": event.message, "ended": event.ended}
            used = {"usage": event.usage, "duration_seconds": event.duration_seconds}
            declared = {"advisor": event.advisor} if event.advisor else {}
            return f"{event.speaker}_turn", {**final, **used, **declared}
        case ConsultHeard() if event.refused:
            return "alert", {"reason": f"a question was refused: {event.refused}"}
        case ConsultHeard():
            return "advisor_consult", {"consult": _consult(run_id, event)}
        case GuidanceHeard():
            return "advisor_guidance", {"guidance": _given(event)}
        case GuidanceUsed():
            return "guidance_used", {"id": event.id, "disposition": event.disposition, "reason": event.reason}
        case ProposalHeard():
            return "memory_proposal", {"proposal": _proposal(run_id, event)}
        case BlockMalformed():
            return "malformed_block", {"block": _bad(event)}
        case BlockIgnored():
            return "ignored_block", {"tag": event.tag, "reason": event.why}
        case ReportHeard():
            handed_in = {"tag": event.tag, "action": event.action, "report": event.report, "error": event.error}
            return "executor_report", handed_in
        case PatchRead():
            return "patch", {"files": event.made.files, "refused": event.made.refused}
        case OpinionHeard():
            said = {"opinion": event.opinion, "concerns": event.concerns, "own": event.own, "lost": event.lost}
            return "advisor_opinion", {"advisor": event.advisor, **said}
        case CouncilVoted():
            winner = counted_votes(event).winner
            return "council_vote", {
                "moment": event.moment,
                "actions": event.actions,
                "votes": event.votes,
                "winner": winner,
            }
        case TaskEnded():
            return "run_completed", {"status": event.status, "reason": event.reason}


def _consults(run_id: str, events: Sequence[TaskEvent]) -> list[Json]:
    """The questions that the advisor was asked."""
    return [_consult(run_id, each) for each in events if isinstance(each, ConsultHeard) and not each.refused]


def _consult(run_id: str, event: ConsultHeard) -> Json:
    asked = {"advisor": event.asked} if event.asked else {}
    said = event.consult.model_dump()
    return {"id": event.id, "run_id": run_id, "turn": event.turn, **said, **asked, "created_at": event.at}


def _guidance(events: Sequence[TaskEvent]) -> list[Json]:
    return [_given(each) for each in events if isinstance(each, GuidanceHeard)]


def _given(event: GuidanceHeard) -> Json:
    named = {"id": event.id, "consult_id": event.consult_id}
    note = {"note": "the advisor sent no block: this is its whole text"} if event.wrapped else {}
    return {**named, **dict(event.guidance), **note, "created_at": event.at}


def _proposals(run_id: str, events: Sequence[TaskEvent]) -> list[Json]:
    return [_proposal(run_id, each) for each in events if isinstance(each, ProposalHeard)]


def _proposal(run_id: str, event: ProposalHeard) -> Json:
    made = {"approved_by": None, "created_at": event.at}
    return {"id": event.id, "source_run": run_id, "run_id": run_id, **dict(event.proposal), **made}


def _malformed(events: Sequence[TaskEvent]) -> list[Json]:
    return [_bad(each) for each in events if isinstance(each, BlockMalformed)]


def _bad(event: BlockMalformed) -> Json:
    at: datetime = event.at
    return {"tag": event.tag, "turn": event.turn, "error": event.error, "speaker": event.speaker, "created_at": at}


def sha256(text: str) -> str:
    """The digest of a file's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def json_text(value: Json) -> str:
    """The text of a file that holds one object."""
    return _VALUES.dump_json(value, indent=2).decode() + "\n"


def json_lines(rows: Iterable[Json]) -> str:
    """The text of a file with one object in each line."""
    return "".join(_VALUES.dump_json(row).decode() + "\n" for row in rows)


SKILL_FILE = ".claude/skills/review-advisor/SKILL.md"


AGENTS_FILE = "AGENTS.md"


START, END = "<!-- review-advisor:start -->", "<!-- review-advisor:end -->"


_CONDITIONS = """\
Ask before you go on alone, when
1. a step is critical: authentication, permissions, migrations, deletion, payments, workflows, a public interface;
2. two tool calls in a row have failed;
3. your confidence in the next step is below 0.7, or somebody asks for a second opinion."""


BLOCK = f"""\
{START}
## A second opinion

`review-advisor run "TASK"` lets an executor do a task with a stronger advisor.
`review-advisor review` reviews your branch.
{_CONDITIONS}

Say what became of each advice: applied, or why not. The log of a task stands in `runs/<run id>/`, that of a review in
`review_logs/`. `review-advisor init --agent claude-code` writes this block anew: change nothing between its marks.
{END}
"""


SKILL = f"""\
---
name: review-advisor
description: Ask a stronger model for a second opinion, or a review of the branch, when a step is critical or fails.
---

{START}
{_CONDITIONS}

- A task with an advisor: `review-advisor run "TASK" --max-advisor-calls 3`. Only exit code 0 means completed.
- A review of the branch: `review-advisor review`. 0 approves, 10 asks for changes, 11 calls a person.

Apply an advice if it fits your evidence; otherwise say why not. Never ask the same twice.
{END}
"""


class MarksError(ValueError):
    """The marks of a file are not one start and one end behind it. One sentence."""


def with_line_ends_of(text: str, written: str) -> str:
    """``written`` with the line ends of ``text``: Windows' if its first line ends so."""
    first = text.find("\n")
    return written.replace("\n", "\r\n") if first > 0 and text[first - 1] == "\r" else written


def with_block(text: str, block: str) -> str:
    """``text`` with ``block`` in the place of the marked one, or at its end if none is marked.

    The block has the line ends of the text. Doing it twice is doing it once. Raises ``MarksError``.
    """
    starts, ends = text.count(START), text.count(END)
    if starts == ends == 0:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return text + with_line_ends_of(text + gap, f"{gap}{block}")
    first, last = text.find(START), text.find(END)
    if (starts, ends) != (1, 1) or last < first:
        raise MarksError(f"its marks {START} and {END} do not stand once each, in this order: mend or remove them")
    return f"{text[:first]}{with_line_ends_of(text, block.rstrip())}{text[last + len(END) :]}"


_RUN = re.compile(r"run_\d{8}T\d{6}Z_[0-9a-f]{8}", re.ASCII)


_PROMPTS = "*.prompt.md"


_BEGINNING = 400


def forget_prompts(runs: Path, now: datetime, days: int) -> int:
    """Delete prompts below ``runs`` that were written more than ``days`` ago; of how many runs those were.

    What only tells a prompt's length and digest stays, and so does all that is no file of a run. No link is followed.
    """
    oldest = (now - timedelta(days=days)).timestamp()
    gone = set[Path]()
    for path in _prompts(runs):
        with suppress(OSError):
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode) or facts.st_mtime >= oldest:
                continue
            with path.open(encoding="utf-8", errors="replace") as file:
                told = file.read(_BEGINNING)
            if not is_prompt_digest(told):
                path.unlink()
                gone.add(path.parent)
    return len(gone)


def _prompts(runs: Path) -> Iterator[Path]:
    if runs.is_symlink():
        return
    with suppress(OSError):
        for folder in sorted(runs.iterdir()):
            if _RUN.fullmatch(folder.name) and not folder.is_symlink():
                yield from sorted(folder.glob(_PROMPTS))
