"""What a change of a lock file brings in, and which of its hunks a reviewer has to see: facts, without a model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from review_advisor.core.facts.change import FileChange, Hunk
from review_advisor.core.facts.lockfiles.lock_entries import LockEntry
from review_advisor.core.facts.lockfiles.lock_formats import ecosystem_of
from review_advisor.core.facts.lockfiles.named_hosts import LONGEST_LINE, hosts_in, is_usual_host, names_a_source

MOST_TOLD = 12_000
"""Characters of names and hosts that reviewers are told of one file. A change that brings in more of them is read."""
MOST_DOUBTS = 200
_LONGEST_VERSION = 200
_SCRIPT = re.compile(
    r"(?:(?:pre|post)?(?:install|prepare)|prepublish(?:only)?)\"?'?\s*:|install[-_]?script", re.IGNORECASE
)
_NOUGHTS = re.compile(r"^v|(?<![0-9a-z])0+(?=[0-9])|(?:\.0+)+(?=$|[+-])")
_RELEASE = re.compile(r"(?:v|==)?([0-9]+(?:\.[0-9]+)*)")


@dataclass(frozen=True, slots=True)
class Incoming:
    """What the added lines bring in. ``doubts`` are why the hunks numbered ``read`` are put before the reviewers."""

    hosts: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    changed: int = 0
    doubts: tuple[str, ...] = ()
    read: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Why lines ``first`` to ``last`` of the head, or of the base, have to be read."""

    why: str
    first: int
    last: int
    at_base: bool = False

    def touches(self, hunk: Hunk) -> bool:
        start, count = (hunk.old_start, hunk.old_count) if self.at_base else (hunk.new_start, hunk.new_count)
        return self.first <= start + count and self.last >= start - 1


def incoming(file: FileChange, head: str) -> Incoming | str:
    """What a change of a file brings in, ``head`` being its whole text; or why all of it has to be read."""
    base = text_before(head, file.hunks)
    if base is None or "\ufffd" in head:
        return "its text is not the one that the diff leads to, or is not UTF-8"
    ecosystem = ecosystem_of(file.path)
    doubts: list[_Doubt] = []
    versions: set[str] = set()
    packages: tuple[str, ...] = ()
    changed = 0
    if ecosystem:
        if any(len(line) > LONGEST_LINE for _, line in _added(file.hunks)):
            return f"a line of it is longer than {LONGEST_LINE} characters"
        from review_advisor.core.facts.lockfiles.lock_readers import LOCK_READERS  # noqa: PLC0415 - many models

        read = LOCK_READERS[file.path.rpartition("/")[2]]
        try:
            before, after = read(base), read(head)
        except (ValueError, RecursionError):
            return f"it is not written as {ecosystem} writes it"
        doubts += _entry_doubts(before, after)
        versions = {entry.version for entry in (*before, *after)}
        old = {entry.name for entry in before}
        fresh = [entry for entry in _changed(before, after) if not entry.setting]
        packages = tuple(dict.fromkeys(f"{each.name} {each.version}" for each in fresh if each.name not in old))
        changed = len(fresh)
    doubts = [*_odd_lines(file.hunks, base, versions), *doubts]
    hosts = tuple(dict.fromkeys(host for _, line in _added(file.hunks) for host in hosts_in(line, versions)))
    if sum(map(len, (*hosts, *packages))) > MOST_TOLD:
        return "it brings in more than can be told in a few words"
    return _put_back(file.hunks, doubts, Incoming(hosts, packages, changed))


def _put_back(hunks: Sequence[Hunk], doubts: Sequence[_Doubt], made: Incoming) -> Incoming | str:
    if len(doubts) > MOST_DOUBTS:
        return f"more than {MOST_DOUBTS} things about it are unusual"
    read = {number for doubt in doubts for number, hunk in enumerate(hunks) if doubt.touches(hunk)}
    if any(not any(doubt.touches(hunk) for hunk in hunks) for doubt in doubts):
        return "what is unusual about it stands in no hunk"
    told = tuple(dict.fromkeys(doubt.why for doubt in doubts))
    return Incoming(made.hosts, made.packages, made.changed, told, tuple(sorted(read)))


def text_before(head: str, hunks: Sequence[Hunk]) -> str | None:
    """The text that the hunks were applied to; None if ``head`` is not what they lead to."""
    after = head.split("\n")
    ended = after[-1] == ""
    lines = after[:-1] if ended else after
    before: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.new_start - 1 if hunk.new_count else hunk.new_start
        shown = [line[1:] for line in hunk.lines if line[:1] in (" ", "+")]
        if start < at or lines[start : start + len(shown)] != shown:
            return None
        before += lines[at:start]
        before += [line[1:] for line in hunk.lines if line[:1] in (" ", "-")]
        at = start + len(shown)
    before += lines[at:]
    return "\n".join([*before, ""]) if before else ""


def _added(hunks: Sequence[Hunk]) -> Iterator[tuple[int, str]]:
    for hunk in hunks:
        number = hunk.new_start
        for line in hunk.lines:
            if line.startswith("+"):
                yield number, line[1:]
            number += line[:1] in (" ", "+")


def _odd_lines(hunks: Sequence[Hunk], base: str, versions: Collection[str]) -> Iterator[_Doubt]:
    """Added lines that are unusual in any file: what they name, and how they are written."""
    before = set(base.split("\n"))
    known = {host for line in before for host in hosts_in(line, versions)}
    for number, line in _added(hunks):
        for host in hosts_in(line, versions):
            if host not in known:
                yield _Doubt(f"the host {host[:100]} is new to the file", number, number)
            elif not is_usual_host(host):
                yield _Doubt(f"the host {host[:100]} is written in an unusual way", number, number)
        if line in before:
            continue
        if len(line) > LONGEST_LINE:
            yield _Doubt(f"line {number} is longer than {LONGEST_LINE} characters", number, number)
            continue
        if not line.strip("\t").isprintable():
            yield _Doubt(f"line {number} holds invisible characters", number, number)
        if _SCRIPT.search(line):
            yield _Doubt(f"line {number} speaks of an install script", number, number)
        if names_a_source(line):
            yield _Doubt(f"line {number} holds a git, http or file source, or an escape", number, number)


def _changed(before: Sequence[LockEntry], after: Sequence[LockEntry]) -> Iterator[LockEntry]:
    old = {(entry.key, entry.content) for entry in before}
    return (entry for entry in after if (entry.key, entry.content) not in old)


def _entry_doubts(before: Sequence[LockEntry], after: Sequence[LockEntry]) -> Iterator[_Doubt]:
    same = defaultdict[str, list[LockEntry]](list)
    for entry in before:
        same[entry.name].append(entry)
    known = {source for entry in before for source in entry.sources}
    times = Counter(entry.key for entry in after)
    twice = _hashed_twice(after)
    for entry in _changed(before, after):
        said = {doubt for each in same[entry.name] for doubt in each.doubts}
        for doubt in (*entry.doubts, *_against_base(entry, same[entry.name], known)):
            if doubt not in said:
                yield _Doubt(f"{entry.name[:100]}: {doubt[:300]}", entry.first, entry.last)
        if times[entry.key] > 1:
            yield _Doubt(f"{entry.name[:100]} stands there more than once", entry.first, entry.last)
        if (entry.name, _spelled(entry.version)) in twice:
            why = f"{entry.name[:100]}: version {entry.version[:300]} has several hashes in the file"
            yield _Doubt(why, entry.first, entry.last)
    kept = {entry.key for entry in after}
    gone = (entry for entry in before if entry.setting and entry.doubts and entry.key not in kept)
    yield from (_Doubt(f"{entry.name[:100]} is gone", entry.first, entry.last, at_base=True) for entry in gone)


def _hashed_twice(entries: Iterable[LockEntry]) -> set[tuple[str, str]]:
    """The names and versions that have one hash here and another one there: no version has two."""
    hashes = defaultdict[tuple[str, str], set[tuple[str, ...]]](set)
    for entry in entries:
        if entry.digests:
            hashes[entry.name, _spelled(entry.version)].add(entry.digests)
    return {of for of, found in hashes.items() if len(found) > 1}


def _spelled(version: str) -> str:
    """A version in one spelling: registries hold 1.0, 1.0.0 and 01.0 for the same. No version is as long as the cut."""
    return _NOUGHTS.sub("", version[:_LONGEST_VERSION].casefold())


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version up to its first mark of another kind: 1.2.0-rc.1 is (1, 2), like 1.2.0."""
    found = _RELEASE.match(version[:_LONGEST_VERSION])
    numbers = [int(each) for each in found[1].split(".")] if found else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _against_base(entry: LockEntry, same: Sequence[LockEntry], known: set[str]) -> Iterator[str]:
    """What is unusual about a package only beside the entries of the same name at the base."""
    for source in entry.sources:
        if source not in known:
            yield f"nothing at the base comes from {source}"
        elif same and not entry.setting and source not in {each for old in same for each in old.sources}:
            yield f"at the base it does not come from {source}"
    for old in same:
        if _spelled(old.version) == _spelled(entry.version) and old.digests != entry.digests:
            yield f"version {entry.version} has other hashes than at the base"
    if same and not entry.setting and _release(entry.version) < min(_release(old.version) for old in same):
        yield f"version {entry.version} is older than at the base"
    alike = [old.traits for old in same if old.version == entry.version and old.traits]
    if entry.traits and alike and entry.traits not in alike:
        yield f"version {entry.version} has other commands or platforms than at the base: {entry.traits}"
    for offer in sorted({offer for old in same for offer in old.offers} - {*entry.offers}):
        yield f"it has no {offer}, unlike at the base"
