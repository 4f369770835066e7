"""The steps of a played story for readers: what happened, and what is different on GitHub afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from review_advisor.core.policy.mode import is_shadow_name
from review_advisor.core.report.wording import counted
from review_advisor.mockworld.stories.snapshot import Snapshot, visible_lines
from review_advisor.mockworld.stories.stage import PlayedStep


def step_words(step: PlayedStep) -> str:
    """What happened, in a line."""
    told = step.told
    if step.review is not None:
        change = step.review.change
        files = counted(len(change.files), "file")
        return f"review {step.review.number} of {change.label} at {(change.head_sha or '')[:8]}, {files}"
    words = told.happening.words if told.happening is not None else _settings(told.switches or {}, told.mode)
    commit = f", {step.head[:8]}" if told.kind in ("push", "force_push", "rename", "queue") else ""
    return f"{told.kind.replace('_', ' ')}{words}{commit}"


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
    for said in now.said:
        if before is None or said not in before.said:
            yield str(said)
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
