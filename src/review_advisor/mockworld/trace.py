"""A played story for readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from review_advisor.agents.calls import Answered, Lost
from review_advisor.mockworld.agents import PlayedCall
from review_advisor.mockworld.promises.on_flips import told_still
from review_advisor.mockworld.promises.on_github import broken_on_github
from review_advisor.mockworld.promises.played_review import answer_of, fault_of, split_prompt
from review_advisor.mockworld.seeds import judge
from review_advisor.mockworld.snapshot import Snapshot, visible_lines
from review_advisor.mockworld.stage import PlayedReview, PlayedStep, PlayedStory
from review_advisor.mockworld.story import Deed, ExpectBlock
from review_advisor.policy.policy import is_shadow_name
from review_advisor.review.document import unusual_advisor
from review_advisor.review.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Event,
    PartEnded,
    Repaired,
    Reported,
    RoleSkipped,
    Ruled,
    UnfoundedRejection,
)
from review_advisor.review.report import blind_words, repair_words
from review_advisor.safety.terminal import one_line
from review_advisor.safety.wording import counted


def step_line(step: PlayedStep) -> str:
    """What happened, in a line."""
    block = step.block
    if step.review is not None:
        change = step.review.change
        files = counted(len(change.files), "file")
        return f"review {step.review.number} of {change.label} at {(change.head_sha or '')[:8]}, {files}"
    text = block.happening.description if block.happening is not None else _settings(block.switches or {}, block.mode)
    commit = f", {step.head[:8]}" if block.kind in ("push", "force_push", "rename", "queue") else ""
    return f"{block.kind.replace('_', ' ')}{text}{commit}"


def _settings(switches: Mapping[str, str], mode: str | None) -> str:
    return ": " + (mode or ", ".join(f"{name}={value}" for name, value in switches.items()))


def begins(step: PlayedStep, before: Snapshot | None) -> str:
    """What the bot made of it, where nothing else says so."""
    if step.begins:
        return f"begins a review: {step.because}"
    answered = step.stands is not None and before is not None and len(step.stands.answers) > len(before.answers)
    return f"begins no review: {step.because}" if step.because and not answered else ""


def changes(step: PlayedStep, before: Snapshot | None) -> Iterator[str]:
    """What is different on GitHub after a step, a line each."""
    now = step.stands
    if now is None:
        return
    known = {} if before is None else {run.id: (run.title, run.conclusion, run.status) for run in before.checks}
    for run in now.checks:
        if known.get(run.id) != (run.title, run.conclusion, run.status):
            where = "" if run.commit == now.head else f" on {run.commit[:8]}"
            check = "shadow check" if is_shadow_name(run.name) else "check"
            yield f"{check}{where}: {(run.conclusion or run.status).replace('_', ' ')}, {run.title}"
    for comment in now.comments:
        if before is None or comment not in before.comments:
            yield str(comment)
    labels = frozenset() if before is None else before.labels
    yield from (f"label on: {name}" for name in sorted(now.labels - labels))
    yield from (f"label off: {name}" for name in sorted(labels - now.labels))
    if before is None or _headings(now) != _headings(before):
        yield from (f"summary: {each}" for each in _headings(now))
    remembered = {} if before is None else before.findings
    for title, status in now.findings.items():
        if remembered.get(title) != status:
            yield f"remembered as {status}: {title}"
    for answer in now.answers[len(before.answers) if before is not None else 0 :]:
        yield f"answer: {visible_lines(answer)[0]}"
    yield from (f"observed: {each.name.replace('_', ' ')} is {each.value}, {each.source}" for each in step.observed)


def _headings(stands: Snapshot) -> list[str]:
    lines = (visible_lines(each) for each in stands.summaries)
    return [next((line.lstrip("# ") for line in each if line.startswith("#")), each[0]) for each in lines]


def unmet(played: PlayedStory) -> tuple[str, ...]:
    """What is not as the story says, or breaks a promise, one sentence each; empty if everything held."""
    broken = [f"review {each.place} breaks a promise, {each}" for each in judge(played, told_still(played))]
    broken += [f"step {each.place} breaks a promise, {each}" for each in broken_on_github(played)]
    return (*differences(played), *broken)


def differences(played: PlayedStory) -> tuple[str, ...]:
    """What is not as the story says, one sentence each."""
    found: list[str] = []
    before: Snapshot | None = None
    for step in played.steps:
        found += [f"{_name(step)}: {difference}" for difference in _of_step(step, before, loose=played.story.loose)]
        found += [f"{_name(step)}: {difference}" for difference in _of_the_whole_life(played, step)]
        before = step.stands
    return (*found, *(() if played.story.loose else played.unplayed))


def _name(step: PlayedStep) -> str:
    return f"step {step.number}, {step.block.kind.replace('_', ' ')}"


def _of_step(step: PlayedStep, before: Snapshot | None, *, loose: bool) -> Iterator[str]:
    if step.problem and not loose:
        yield step.problem
    happening = step.block.happening
    expect = happening.expect if happening is not None else ExpectBlock()
    if step.review is not None:
        yield from _of_review(expect, step.review)
        yield from (f"nobody asked for the line {line}" for line in step.review.unsaid)
        yield from step.review.spared
    elif expect.model_fields_set & OF_REVIEWS:
        yield from _of_no_review(expect)
    if expect.begins is not None and expect.begins is not step.begins:
        why = f": {step.because}" if step.because else ", and nothing begins one"
        yield f"expected {'a' if expect.begins else 'no'} review to begin{why}"
    if step.stands is not None:
        yield from _on_github(expect, step, step.stands, before)
    elif expect.model_fields_set & ON_GITHUB:
        yield "expected something on GitHub, and the story is not published"


def _of_the_whole_life(played: PlayedStory, step: PlayedStep) -> Iterator[str]:
    """What is counted over the life of the pull request so far, and not at this moment."""
    happening = step.block.happening
    if happening is None or step.stands is None:
        return
    expect = happening.expect
    most = max(Counter(each.finding for each in step.stands.comments).values(), default=0)
    if expect.comments_per_finding is not None and expect.comments_per_finding != most:
        yield f"expected a finding to have {counted(expect.comments_per_finding, 'comment')} at most, were {most}"
    clicks = clicks_since_red(played, step)
    if expect.clicks is not None and expect.clicks != clicks:
        yield f"expected {counted(expect.clicks, 'click')} since the check first failed, were {clicks}"


def clicks_since_red(played: PlayedStory, until: PlayedStep) -> int:
    """How often somebody but the author did something since a review first left the check red, up to this step.

    A comment, a label, a reaction, a resolved thread, a draft and the merge are one each; typing is not counted.
    """
    red, clicks = False, 0
    for step in played.steps[: until.number]:
        red = red or (step.block.review is not None and step.stands is not None and not _passes(step, step.stands))
        deed = step.block.happening
        clicks += red and isinstance(deed, Deed) and deed.by != played.pull.author
    return clicks


def _passes(step: PlayedStep, stands: Snapshot) -> bool:
    return stands.check_on(step.head) == "success"


OF_REVIEWS = frozenset(("outcome", "exit_code", "asked", "calls", "reads", "flags", "repairs", "because"))
ON_GITHUB = frozenset(ExpectBlock.model_fields) - OF_REVIEWS


def _of_no_review(expect: ExpectBlock) -> Iterator[str]:
    """Where no review runs, nobody is asked."""
    if expect.asked or any(expect.calls.values()):
        yield "expected somebody to be asked, and no review ran"
    if expect.model_fields_set & (OF_REVIEWS - {"asked", "calls"}):
        yield "expected a review, and none ran"


def _on_github(expect: ExpectBlock, step: PlayedStep, stands: Snapshot, before: Snapshot | None) -> Iterator[str]:
    check, shadow, title = (
        stands.check_on(step.head),
        stands.shadow_on(step.head),
        stands.title_on(step.head, step.mode),
    )
    if expect.check is not None and expect.check != check:
        yield f"expected the check to be {expect.check}, was {check} ({title})"
    if expect.shadow is not None and expect.shadow != shadow:
        yield f"expected the check of shadow mode to be {expect.shadow}, was {shadow} ({title})"
    if expect.title is not None and expect.title not in title:
        yield f"expected a check with {expect.title!r} in its title, was {title!r}"
    if expect.comments is not None and expect.comments != len(stands.comments):
        yield f"expected {counted(expect.comments, 'comment')} in the diff, were {len(stands.comments)}"
    are_open = sum(each.state == "open" for each in stands.comments)
    if expect.open is not None and expect.open != are_open:
        yield f"expected {expect.open} of the comments in the diff to be open, were {are_open}"
    yield from _in_texts(expect, step, stands, before)


def _in_texts(expect: ExpectBlock, step: PlayedStep, stands: Snapshot, before: Snapshot | None) -> Iterator[str]:
    if expect.findings is not None and (twins := stands.twins):
        yield f"several findings are called {', '.join(map(repr, twins))}: give each a title of its own"
    elif expect.findings is not None and expect.findings != stands.findings:
        yield f"expected the findings {_listed(expect.findings)}, were {_listed(stands.findings)}"
    summary = "\n".join(stands.summaries)
    if expect.summary is not None and expect.summary not in summary:
        yield f"expected a summary with {expect.summary!r}"
    if expect.labels is not None and expect.labels != stands.labels:
        yield f"expected the labels {_named(expect.labels)}, were {_named(stands.labels)}"
    new = stands.answers[len(before.answers) if before is not None else 0 :]
    if expect.answer is not None and bool(expect.answer) is not any(expect.answer in each for each in new):
        yield f"expected {f'an answer with {expect.answer!r}' if expect.answer else 'no answer'}, said was: {list(new)}"
    for name, value in expect.observed.items():
        seen = [each.value for each in step.observed if each.name == name]
        if value not in seen:
            yield f"expected to observe {name}: {value}, was {', '.join(seen) or 'nothing'}"


def _listed(findings: Mapping[str, str]) -> str:
    return ", ".join(f"{title!r} {status}" for title, status in findings.items()) or "none"


def _of_review(expect: ExpectBlock, review: PlayedReview) -> Iterator[str]:
    if expect.outcome is not None and expect.outcome != review.ended:
        yield f"expected to be {expect.outcome}, was {review.ended} ({'; '.join(review.because)})"
    if expect.exit_code is not None and expect.exit_code != review.exit_code:
        yield f"expected exit code {expect.exit_code}, was {review.exit_code}"
    roles = tuple(each.call.role.value for each in review.asked)
    if expect.asked is not None and expect.asked != roles:
        yield f"expected to ask {', '.join(expect.asked) or 'nobody'}, asked {', '.join(roles) or 'nobody'}"
    counts = Counter(roles)
    counts["mid_flight"] += sum(advice.line is not None for each in review.asked for advice in each.advice)
    for role, count in expect.calls.items():
        if counts[role] != count:
            yield f"expected {count} of {role}, were {counts[role]}"
    document = review.document
    coverage = document.coverage if document is not None else ()
    reads = frozenset(each.path for each in coverage if each.read == "read" and not each.earlier)
    if expect.reads is not None and expect.reads != reads:
        yield f"expected to read {_named(expect.reads)}, read {_named(reads)}"
    if expect.flags is not None and expect.flags != flags_of(review):
        yield f"expected the flags {_named(expect.flags)}, were {_named(flags_of(review))}"
    repairs = tuple(event.result for event in review.events if isinstance(event, Repaired))
    if expect.repairs is not None and expect.repairs != repairs:
        yield f"expected the repairs {', '.join(expect.repairs) or 'none'}, were {', '.join(repairs) or 'none'}"
    if expect.because is not None and not any(expect.because in reason for reason in review.because):
        yield f"expected a reason with {expect.because!r}, said was: {'; '.join(review.because)}"


def _named(flags: frozenset[str]) -> str:
    return ", ".join(sorted(flags)) or "none"


def flags_of(review: PlayedReview) -> frozenset[str]:
    """The flags that are set, by their words in a story."""
    found = {"stale"} if review.stale else set()
    if review.document is not None:
        flags = review.document.flags
        found |= {
            name
            for name, is_set in (
                ("degraded", flags.degraded),
                ("recovered", flags.recovered),
                ("exhausted", flags.exhausted),
                ("advisor_disabled", bool(flags.advisor_disabled)),
                ("lost", bool(flags.lost)),
            )
            if is_set
        }
    return frozenset(found)


LONGEST = 100


def trace_text(origin: str, played: PlayedStory, unmet: Sequence[str]) -> str:
    """The whole story as lines of text, and whether it ended as it says."""
    lines = [f"{origin}: {one_line(played.story.story)}"]
    before: Snapshot | None = None
    for step in played.steps:
        lines += ["", f"  {step.number} {one_line(step_line(step))}"]
        lines += [f"    {_short(text)}"] if (text := begins(step, before)) else []
        lines += [*_review_lines(step.review)] if step.review is not None else []
        lines += [f"    on GitHub: {_short(line)}" for line in changes(step, before)]
        before = step.stands
    lines += ["", *(f"  NOT AS THE STORY SAYS: {one_line(text)}" for text in unmet)]
    lines += [] if unmet else ["  as the story says"]
    return "\n".join(lines) + "\n"


def _review_lines(review: PlayedReview) -> Iterator[str]:
    calls = {call.call.number: call for call in review.asked}
    number = 0
    for event in review.events:
        if isinstance(event, CallStarted):
            number += 1
            yield from _call_lines(number, calls[event.number], review.nonce)
        elif isinstance(event, Reported | UnfoundedRejection):
            yield from _refused_lines(event)
        else:
            yield from _event_lines(event)
    flags = ", ".join(sorted(flags_of(review)))
    code = "no exit code" if review.exit_code is None else f"exit {review.exit_code}"
    yield f"    => {review.ended} ({code}){f', {flags}' if flags else ''}: {_short('; '.join(review.because))}"


def _call_lines(number: int, played: PlayedCall, nonce: str) -> Iterator[str]:
    yield f"    {number:>2} {_who(played)}"
    yield f"         shown: {', '.join(shown_to(played, nonce))}"
    for each in played.advice:
        reply = "denied by the cap" if each.line is None else _answer_line(each.line.fault, each.line.answer)
        yield f"         consults: {_short(each.question)} -> {reply}"
    yield f"         says: {_answer(played)}"


def _refused_lines(event: Reported | UnfoundedRejection) -> Iterator[str]:
    """What of a report's findings does not count, and why."""
    for each in event.report.refused:
        yield f"         refused: {_short(f'{each.title}, {each.path}: {each.why}')}"


def _event_lines(event: Event) -> Iterator[str]:
    match event:
        case RoleSkipped():
            yield f"       {event.role.value} on {event.surface.value} does not run: {_short(', '.join(event.because))}"
        case CallEnded() if event.ended == "refused":
            yield f"       {event.role.value} on {event.surface.value} is refused: {_short(event.detail)}"
        case Ruled():
            yield f"       ruling: {event.ruling.move.value}, {_short(event.ruling.because)}"
        case Repaired():
            yield f"       repair {event.result}: {_short(repair_words(event))}"
        case BlindJudged():
            yield f"       by the diff alone: {_short(blind_words(event))}"
        case PartEnded():
            yield f"       {event.surface.value}, part {event.shard + 1}: {event.outcome.value}"
        case _:
            return


def _who(played: PlayedCall) -> str:
    call = played.call
    member = unusual_advisor(call.role, call.advisor)
    role = f"{call.role.value}/{member}" if member else call.role.value
    where = f"{role} on {call.surface.value}, attempt {call.attempt + 1}"
    where += ", diff alone" if call.blind else ""
    return where + (f", part {call.shard + 1}" if call.shard else "")


def shown_to(played: PlayedCall, nonce: str) -> tuple[str, ...]:
    """What stood in a prompt, by the labels of its fences."""
    own, inside = split_prompt(played.call.prompt, nonce)
    repeated = ("what was wrong with the reply before",) if "Your previous reply could not be used" in own else ()
    return (*(label.lower() for label in inside), *repeated)


def _answer(played: PlayedCall) -> str:
    fault = fault_of(played)
    if isinstance(played.result, Answered):
        return _answer_line(fault, answer_of(played))
    if isinstance(played.result, Lost):
        return f"nothing ({fault or played.result.reason.value})"
    return f"nothing ({fault or type(played.result).__name__})"


def _answer_line(fault: str, answer: dict[str, Any] | None) -> str:
    struck = f" ({fault})" if fault else ""
    if not answer or fault == "garbage":
        return f"nothing that can be used{struck}"
    what = answer.get("verdict") or ("stop" if answer.get("stop_signal") else "")
    text = answer.get("risk_summary") or answer.get("summary") or answer.get("reasoning") or answer.get("action") or ""
    return f"{what}{struck}{': ' if what else ''}{_short(str(text))}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def trace_json(origin: str, played: PlayedStory, unmet: Sequence[str]) -> dict[str, Any]:
    """The whole story as JSON, for programs."""
    return {
        "file": origin,
        "story": played.story.story,
        "held": not unmet,
        "unmet": list(unmet),
        "reviews": [_review_json(review) for review in played.reviews],
        "steps": list(_steps_json(played.steps)),
    }


def _steps_json(steps: Sequence[PlayedStep]) -> Iterator[dict[str, Any]]:
    before: Snapshot | None = None
    for step in steps:
        yield {
            "number": step.number,
            "step": step.block.kind,
            "head_sha": step.head,
            "begins": step.begins,
            "because": step.because,
            "on_github": list(changes(step, before)),
            "review": None if step.review is None else step.review.number,
        }
        before = step.stands


def _review_json(review: PlayedReview) -> dict[str, Any]:
    return {
        "number": review.number,
        "head_sha": review.change.head_sha,
        "outcome": review.ended,
        "exit_code": review.exit_code,
        "because": list(review.because),
        "flags": sorted(flags_of(review)),
        "asked": [
            {
                "role": played.call.role.value,
                "surface": played.call.surface.value,
                "attempt": played.call.attempt,
                "part": played.call.shard + 1,
                "shown": list(shown_to(played, review.nonce)),
                "consults": [
                    {"question": each.question, "answered": each.line is not None} for each in played.advice
                ],
                "fault": fault_of(played),
                "answer": played.result.value if isinstance(played.result, Answered) else None,
            }
            for played in review.asked
        ],
        "rulings": [
            {"surface": event.surface.value, "part": event.shard + 1, "move": event.ruling.move.value,
             "because": event.ruling.because}
            for event in review.events if isinstance(event, Ruled)
        ],
    }  # fmt: skip
