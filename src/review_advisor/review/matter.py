"""What one review is about: the request, the change as it is read, its policy, its parts, and what is around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from review_advisor.agents.committed_secrets import OwnFinding, committed_secrets
from review_advisor.agents.evidence import ShownChange
from review_advisor.agents.prompts import (
    MEMORY_FILE,
    NO_LESSONS,
    Instructions,
    Lessons,
    cuts,
    diff_length,
    lessons_of,
    look_around,
    rules_cut,
    shown_files,
)
from review_advisor.agents.roles import Briefing, Part
from review_advisor.agents.surface_inputs import SURFACE_INPUTS, Proposal, Subject, propose
from review_advisor.change.around import partly_shown, room_for
from review_advisor.change.change import Change, Status
from review_advisor.change.guidelines import FoundGuidelines, found_guidelines, looked_for
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.redaction import Redactor, doubtful_lines, hunks_with_secrets, text_as_shown
from review_advisor.change.shards import CHARACTERS_PER_TOKEN, Unsent, must_be_read, shards, unsent_of
from review_advisor.change.source import AsShown, Source
from review_advisor.change.tool_remarks import ToolRemark
from review_advisor.policy.exclusion import Exclusion, excluding_glob, unchecked_files
from review_advisor.policy.policy import Policy, RepairMode, Rules, SurfacePolicy, decide_policy, left_unread
from review_advisor.policy.scope import Scope, most_dangerous_first, review_scope
from review_advisor.policy.switches import Switches
from review_advisor.review.document import file_facts, knowledge_of
from review_advisor.review.events import Event, FileFact
from review_advisor.review.ports import Ports
from review_advisor.safety.stop import ConsultRecord

_MOST_LINES_NAMED = 10


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The request for one review."""

    run_id: str
    nonce: str
    """Fresh random text that no change can know."""
    rules: Rules
    switches: Switches
    redactor: Redactor = field(default_factory=Redactor)
    """It knows the harness's own secrets."""
    repair: RepairMode = "suggest"
    earlier_consults: tuple[ConsultRecord, ...] = ()
    """Those that earlier runs of the same review paid for: they count towards its cap."""
    tool_remarks: tuple[ToolRemark, ...] = ()
    """Findings of other tools, which reviewers do not repeat."""
    consult_requested: bool = False
    """A person asks for a consult, which a profile of escalation then makes."""
    priced_by: str = ""
    """The repository's own list of prices; empty where the shipped one counts alone."""


@dataclass(frozen=True, slots=True)
class Matter:
    """What one review is about, and every decision before its first call."""

    change: Change
    policy: Policy
    redactor: Redactor
    """It knows the secrets of the change, too."""
    parts: int
    """How many parts the change has."""
    files: tuple[FileFact, ...]
    unsent: tuple[Unsent, ...]
    cut: tuple[str, ...]
    """What the prompts shorten, in words."""
    pictures: tuple[PictureDifference, ...]
    scope: Scope
    guidelines: FoundGuidelines
    lessons: Lessons
    secrets: tuple[OwnFinding, ...]

    def briefing(
        self, request: ReviewRequest, policy: Policy, instructions: Instructions, tree: Path | None
    ) -> Briefing:
        """What all questions about the head share, under the review's own policy or another one."""
        return Briefing(
            request.run_id,
            request.nonce,
            self.change,
            policy,
            instructions,
            tree,
            pictures=self.pictures,
            scope=self.scope,
            guidelines=self.guidelines,
            lessons=self.lessons,
            secrets=self.secrets,
        )


def matter_of(ports: Ports, request: ReviewRequest) -> Matter:
    """The source's change, read once, and the decisions on it. Raises ``SourceError`` if it cannot be read."""
    whole = replace(ports.source.change(), tool_remarks=request.tool_remarks)
    rules = request.rules
    excluded = left_unread(whole, rules, ports.source.head_text, hunks_with_secrets)
    change = excluded.applied_to(whole)
    parts, unsent = shards(change, rules.shard_tokens)
    if len(parts) > 1:
        change = most_dangerous_first(change, rules)
        parts, unsent = shards(change, rules.shard_tokens)
    pictures = ports.pictures.differences(change, ports.agents.check_interrupt) if change.files else ()
    policy = decide_policy(
        change,
        rules,
        request.switches,
        len(parts),
        pictures=pictures,
        repair=request.repair,
        excluded=excluded,
        consult_requested=request.consult_requested,
    )
    scope = review_scope(change, policy, len(parts))
    unsent += tuple(_where_masks_may_hide_code(change))
    unsent = excluded.unsent + unsent + must_be_read(change, (*policy.critical_touched, *policy.guard.paths))
    guidelines, lessons = _of_the_base(ports, change, rules)
    if policy.static is not None:
        unchecked = unchecked_files(change, pictures, rules.static_languages, waived=rules.allow_unchecked)
        unsent += tuple(gap for gap in unchecked if not excluded.covers(gap.path))
    redactor = request.redactor.knowing(whole.files)
    return Matter(
        change,
        policy,
        redactor,
        len(parts),
        file_facts(change, parts, scope),
        unsent,
        (*cuts(whole), *rules_cut(guidelines, parts), *lessons.left),
        pictures,
        scope,
        guidelines,
        lessons,
        secrets_of_change(change, rules, redactor),
    )


def _where_masks_may_hide_code(change: Change) -> Iterator[Unsent]:
    """The files in which what is masked as a secret may be code: nobody has read it."""
    for file in change.files:
        lines = doubtful_lines(file)
        if lines:
            named = ", ".join(map(str, lines[:_MOST_LINES_NAMED]))
            yield Unsent(file.path, "partly", f"what is masked as a secret may be code in line {named}")


def as_shown(change: Change, policy: Policy, redactor: Redactor) -> AsShown | None:
    """What the files of a change hold where agents read them; None where static checks read them as they are."""
    if policy.static is not None:
        return None
    texts = (file for file in change.files if file.status is not Status.DELETED and not file.binary)
    return {file.path: partial(text_as_shown, file, redacted=redactor.in_prompt) for file in texts}


def secrets_of_change(change: Change, rules: Rules, redactor: Redactor) -> tuple[OwnFinding, ...]:
    """The secrets on the added lines of a change, each with the harness's finding."""
    earlier = change.earlier
    dismissed = {each.id for each in earlier.findings if each.status == "dismissed"} if earlier is not None else set()
    touched = None if earlier is None else earlier.touched
    shown = ShownChange(change.files, redactor=redactor, touched=touched)
    return committed_secrets(change.files, shown, rules.holds_samples, dismissed)


def _of_the_base(ports: Ports, change: Change, rules: Rules) -> tuple[FoundGuidelines, Lessons]:
    """The team's own rules for the files of the change, and the memory: read where the configuration comes from."""
    paths = [file.path for file in change.files]
    wanted = (*looked_for(rules.guidelines, paths), MEMORY_FILE)
    texts = ports.source.base_texts(wanted) if paths else {}
    memory = texts.get(MEMORY_FILE)
    lessons = NO_LESSONS if memory is None else lessons_of(memory, ports.clock.now())
    return found_guidelines(rules.guidelines, paths, texts, rules.config_path), lessons


def subject_of(
    ports: Ports, request: ReviewRequest, briefing: Briefing, events: Callable[[], Sequence[Event]]
) -> Subject:
    """What the surfaces look at. ``events`` are those of the review, from which it learns when somebody first asks."""
    change = briefing.change
    whole = ShownChange(
        change.files,
        redactor=request.redactor,
        head_text=ports.source.head_text,
        touched=change.earlier.touched if change.earlier is not None else None,
    )
    return Subject(
        change=change,
        rules=request.rules,
        whole=whole,
        redactor=request.redactor,
        head_text=ports.source.head_text,
        pictures=briefing.pictures,
        proposal=cache(partial(_proposal, ports.source, request.rules, events)),
        secrets=briefing.secrets,
    )


def _proposal(source: Source, rules: Rules, events: Callable[[], Sequence[Event]]) -> Proposal:
    """What the review has learned when somebody first asks for it: wiki_ingest, which runs last."""
    return propose(knowledge_of(events()), source.base_names(rules.wiki_folder or ""))


def parts_of(ports: Ports, row: SurfacePolicy, subject: Subject, nonce: str) -> list[Part]:
    """The parts of one surface's matter, in the order of reading."""
    looks = SURFACE_INPUTS[row.surface]
    cut, unsent = shards(looks.narrow(subject), subject.rules.shard_tokens)
    return [
        Part(
            shard,
            len(cut),
            unsent_of(shard, unsent),
            about=looks.about,
            section=looks.section(subject, nonce),
            gallery=ports.pictures.gallery if looks.reads == "gallery" else None,
            unread=looks.unread(subject.pictures),
        )
        for shard in cut
    ]


def looked_around(source: Source, briefing: Briefing, row: SurfacePolicy, part: Part, tree: str | None = None) -> Part:
    """The part with what stands around its hunks in the head, or in ``tree``. Once for all its calls: they begin alike.

    It has none on another surface, without a tree, or in a review by static checks, where nobody would read it.
    """
    policy = briefing.policy
    if not SURFACE_INPUTS[row.surface].looks_around or briefing.tree is None or policy.static is not None:
        return part
    files = shown_files(part.shard.files, briefing.change, briefing.scope)
    room = room_for(diff_length(files), int(policy.shard_tokens * CHARACTERS_PER_TOKEN))
    withheld = cache(partial(_is_withheld, policy.excluded))
    texts = (
        source.head_texts([file.path for file in partly_shown(files) if not withheld(file.path)], tree) if room else {}
    )
    search = partial(source.collect_uses, tree=tree)
    return replace(part, around=look_around(files, texts, search, room, withheld=withheld))


def _is_withheld(excluded: Exclusion, path: str) -> bool:
    """Whether the base's configuration leaves a file unread: also one that the change leaves alone."""
    return excluded.covers(path) or excluding_glob(excluded.globs, path) is not None
