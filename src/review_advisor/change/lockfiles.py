"""Lock files: which entries changed, and which hunks a reviewer must see."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Literal

from review_advisor.change.change import FileChange, Hunk
from review_advisor.change.lock_formats import BERRY, FORMATS, KeyPatterns, LockFormat
from review_advisor.change.lock_trees import BETWEEN, Node, read_tree

LONGEST_LINE = 2_000

_HASH = re.compile(
    r"(?<![^\s\"'{\[])(?:h1:[A-Za-z0-9+/]{43}=|sha256-[A-Za-z0-9+/]{43}=|sha384-[A-Za-z0-9+/]{64}"
    r"|sha512-[A-Za-z0-9+/]{86}==)(?![^\s\"',}\]])"
)
"""A whole hash in base64. By chance it begins like an address (h1://...) or holds a word such as ``git+``."""

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"

_IPV4 = rf"(?<![\w.+-])(?<![<>~^!])(?<![<>=~!]=)(?<![<>=~!]= ){_OCTET}(?:\.{_OCTET}){{3}}(?!\.?\w)"
"""No part of a longer version, of a file's name or of a range: registries hold versions of four numbers, too."""

_GROUP = r"[0-9A-Fa-f]{1,4}"

_IPV6 = (
    rf"(?<![\w:.])(?:(?:{_GROUP}:){{1,6}}(?::{_GROUP}){{1,6}}|(?:{_GROUP}:){{1,7}}:|:(?::{_GROUP}){{1,7}}"
    rf"|(?:{_GROUP}:){{7}}{_GROUP})(?![\w:]|\.[0-9])"
)

_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://+(?:[^/@\s\"'<>]*@)?([^/\s\"'<>?#,;)\]}]+)"
    r"|(?<![\w.-])[\w.-]+@([A-Za-z][\w-]*(?:\.[\w-]+)*\.[A-Za-z]{2,}):"
)

_IP = re.compile(rf"{_IPV4}|{_IPV6}")
_NAMED_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]+)?")

_PLACE = re.compile(
    r"git\+|git@|git://|\.git(?:#|\")|#commit=|%3A%2F%2F|(?<![a-z+])http://|\\[ux][0-9a-f]|^(?:<<<<<<<|=======|>>>>>>>)"
    r"|\b(?:github|gitlab|bitbucket|gist):(?=\w)|[\"'`(=]//(?=[\w\[])|\bregistry\s*="
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}[:/]|\w@(?!npm:)(?:[\w-]+:(?=[\w~/.])|\[)"
    r"|(?<![^\s\"'`@(=])(?:file|link|portal|patch|exec|workspace|ssh|ftp|https?):(?=[^\s/]|/(?!/))",
    re.IGNORECASE,
)


def hosts_in(line: str, versions: Collection[str] = ()) -> list[str]:
    """Every host that ``line`` names, in an address or as a bare IP address, as it stands there.

    None of a line that is too long to look at. What is one of the file's ``versions`` is no IP address.
    """
    if len(line) > LONGEST_LINE:
        return []
    line = _HASH.sub("#", line)
    named = [found.span(found.lastindex or 0) for found in _ADDRESS.finditer(line)]
    bare = [
        found.span()
        for found in _IP.finditer(line)
        if found[0] not in versions and not any(start <= found.start() < end for start, end in named)
    ]
    return list(dict.fromkeys(line[start:end] for start, end in named + bare))


def is_usual_host(host: str) -> bool:
    """Whether a host is written as package managers write it."""
    return _NAMED_HOST.fullmatch(host) is not None


def names_a_source(line: str) -> bool:
    """Whether a line holds a git or http source, a file, folder or patch that is installed, or an escape."""
    return _PLACE.search(_HASH.sub("#", line)) is not None


LONGEST_SUMMARY = 12_000
"""Characters of names and hosts that reviewers are told of one file. A change that brings in more of them is read."""

LONGEST_ENTRIES = 12_000
"""Characters of the facts on changed entries, each with its hashes, or without them, or the first ones and a number."""

MOST_DOUBTS = 200
_LONGEST_VERSION = 200
_LONGEST_NAME = 100
_HASH_BEGINNING = 20

_SCRIPT = re.compile(
    r"(?:(?:pre|post)?(?:install|prepare)|prepublish(?:only)?)\"?'?\s*:|install[-_]?script", re.IGNORECASE
)

_RELEASE = re.compile(r"(?:v|==)?([0-9]+(?:\.[0-9]+)*)(.*)", re.DOTALL)
_EXACT = re.compile(r"(?:[^\s()]+ )?(v?[0-9][^\s()]*)(?:[ (].*)?")
_EXACT_PART = re.compile("<<([^<>]*)>>")

_EXACTLY = "\1"
"""Stands for words that are exactly those of an entry, while the text around them is looked at."""

_REPOSITORY = re.compile(r"https://github\.com/([A-Za-z0-9._-]+/[A-Za-z0-9._-]+?)(?:\.git)?")
_NEED_FIELDS = ("dependencies", "devDependencies", "optionalDependencies", "requires", "optional-dependencies")
_LONGEST_FACT = 300

VersionOrder = tuple[tuple[int, ...], bool, tuple[tuple[int, int, str], ...]]
"""A version that can be compared: its numbers, whether it is a release, and what stands behind them."""

May = Literal["pinned", "harmless", "unchanging"]
"""What a key may do: not go, change freely, or change together with the version alone."""

_NO_VERSION: VersionOrder = ((), False, ())


@dataclass(frozen=True, slots=True)
class Incoming:
    """What the added lines bring in."""

    hosts: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    changed: int = 0
    """How many packages are new or changed."""
    doubts: tuple[str, ...] = ()
    """Why the hunks in ``read`` are put before the reviewers."""
    read: tuple[int, ...] = ()
    """The hunks that reviewers have to read, by their numbers from 0."""
    entries: tuple[str, ...] = ()
    """A line on each changed or removed package, and on each other part of the file in which keys differ.

    Of a package: name, old and new version, source, reference, old and new hash, other keys that differ.
    """


@dataclass(frozen=True, slots=True)
class LockEntry:
    """One package of a lock file, or another part of it, on lines ``first`` to ``last``."""

    key: str
    kind: Literal["package", "section", "setting"]
    name: str
    version: str
    first: int
    last: int
    leaves: tuple[tuple[str, str], ...]
    """Its values, each with its path."""
    is_placed: bool = True
    """Its key is one that the format has."""

    def all(self, paths: Collection[str]) -> tuple[str, ...]:
        """The sorted values at these paths that are not empty."""
        return tuple(sorted(value for path, value in self.leaves if value and _plain_path(path) in paths))


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
    form = lock_format(file.path, head)
    doubts: list[_Doubt] = []
    versions: set[str] = set()
    made = Incoming()
    if form is not None:
        if any(len(line) > LONGEST_LINE for _, line in _added(file.hunks)):
            return f"a line of it is longer than {LONGEST_LINE} characters"
        try:
            before, after = lock_entries(form, base), lock_entries(form, head)
        except (ValueError, RecursionError):
            return f"it is not written as {form.ecosystem} writes it"
        difference = _Difference(form, before, after)
        doubts += islice(difference.doubts(), MOST_DOUBTS + 1)
        versions = {entry.version for entry in (*before, *after)}
        old = {entry.name for entry in before}
        fresh = [entry for entry in difference.changed if entry.kind == "package"]
        packages = tuple(dict.fromkeys(f"{each.name} {each.version}" for each in fresh if each.name not in old))
        made = Incoming((), packages, len(fresh), entries=_bounded(list(difference.facts())))
    doubts = [*_odd_lines(file.hunks, base, versions, form), *doubts]
    hosts = tuple(dict.fromkeys(host for _, line in _added(file.hunks) for host in hosts_in(line, versions)))
    if sum(map(len, (*hosts, *made.packages))) > LONGEST_SUMMARY:
        return "it brings in more than can be told in a few words"
    return _put_back(file.hunks, doubts, replace(made, hosts=hosts))


def lock_format(path: str, text: str) -> LockFormat | None:
    """The format of the lock file at ``path``; None for any other file."""
    name = path.rpartition("/")[2]
    return BERRY if name == "yarn.lock" and "\n__metadata:\n" in text else FORMATS.get(name)


def _bounded(facts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The facts that have room: each with its details, else without them, else the first ones and how many follow."""
    whole, short = [f"{line}{more}" for line, more in facts], [line for line, _ in facts]
    lines = whole if sum(map(len, whole)) <= LONGEST_ENTRIES else short
    room = LONGEST_ENTRIES
    for at, line in enumerate(lines):
        room -= len(line)
        if room < 0:
            return (*lines[:at], f"and {len(lines) - at:,} more, which the diff of the file names")
    return tuple(lines)


def _put_back(hunks: Sequence[Hunk], doubts: Sequence[_Doubt], made: Incoming) -> Incoming | str:
    if len(doubts) > MOST_DOUBTS:
        return f"more than {MOST_DOUBTS} things about it are unusual"
    read = {number for doubt in doubts for number, hunk in enumerate(hunks) if doubt.touches(hunk)}
    if any(not any(doubt.touches(hunk) for hunk in hunks) for doubt in doubts):
        return "what is unusual about it stands in no hunk"
    reasons = tuple(dict.fromkeys(doubt.why for doubt in doubts))
    return replace(made, doubts=reasons, read=tuple(sorted(read)))


def text_before(head: str, hunks: Sequence[Hunk]) -> str | None:
    """The text that the hunks were applied to; None if ``head`` is not what they lead to."""
    after = head.split("\n")
    ended = after[-1] == ""
    lines = after[:-1] if ended else after
    before: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.new_start - 1 if hunk.new_count else hunk.new_start
        visible = [line[1:] for line in hunk.lines if line[:1] in (" ", "+")]
        if start < at or lines[start : start + len(visible)] != visible:
            return None
        before += lines[at:start]
        before += [line[1:] for line in hunk.lines if line[:1] in (" ", "-")]
        at = start + len(visible)
    before += lines[at:]
    return "\n".join([*before, ""]) if before else ""


def _added(hunks: Sequence[Hunk]) -> Iterator[tuple[int, str]]:
    for hunk in hunks:
        number = hunk.new_start
        for line in hunk.lines:
            if line.startswith("+"):
                yield number, line[1:]
            number += line[:1] in (" ", "+")


def _odd_lines(
    hunks: Sequence[Hunk], base: str, versions: Collection[str], form: LockFormat | None
) -> Iterator[_Doubt]:
    """Added lines that are unusual in any file: what they name, and how they are written."""
    before = set(base.split("\n"))
    known = {host for line in before for host in hosts_in(line, versions)}
    for number, line in _added(hunks):
        for host in hosts_in(line, versions):
            if host not in known:
                yield _Doubt(f"the host {host[:100]} is new to the file", number, number)
            elif not is_usual_host(host):
                yield _Doubt(f"the host {host[:100]} is written in an unusual way", number, number)
        if line not in before:
            yield from (_Doubt(f"line {number} {why}", number, number) for why in _odd_ways(line, form))


def _odd_ways(line: str, form: LockFormat | None) -> Iterator[str]:
    if len(line) > LONGEST_LINE:
        yield f"is longer than {LONGEST_LINE} characters"
        return
    if not line.strip("\t").isprintable():
        yield "holds invisible characters"
    if form is not None and re.fullmatch(form.line, line) is None:
        yield f"is one that {form.ecosystem} does not write, or holds a comment"
    if _SCRIPT.search(line):
        yield "speaks of an install script"
    if names_a_source(line):
        yield "holds a git, http or file source, or an escape"


def lock_entries(form: LockFormat, text: str) -> tuple[LockEntry, ...]:
    """Every entry of a lock file. Raises ``ValueError`` where one cannot be told from another."""
    entries = tuple(_entries(form, read_tree(text, form.syntax)))
    if len({entry.key for entry in entries}) != len(entries):
        raise ValueError("an entry stands twice")
    return entries


def _entries(form: LockFormat, root: Node) -> Iterator[LockEntry]:
    for key, node in root.children:
        if key in form.containers or key in form.sections:
            yield from _below(form, key, node, f"{key}/")
        elif "" in form.containers:
            yield _package(form, form.containers[""], "", key, node)
        else:
            yield LockEntry(key, "setting", key, "", node.first, node.last, tuple(node.leaves(key)))


def _below(form: LockFormat, container: str, node: Node, above: str) -> Iterator[LockEntry]:
    """The entries of a container. Those of npm's ``dependencies`` hold further ones below the same key."""
    inner = container if container == "dependencies" else ""
    for key, child in node.children:
        if container in form.sections:
            is_placed = re.fullmatch(form.sections[container], key) is not None
            leaves = tuple(child.leaves())
            yield LockEntry(
                above + key, "section", f"{container} {key}", "", child.first, child.last, leaves, is_placed
            )
        else:
            yield _package(form, form.containers[container], above, key, child)
        for named, below in child.children:
            if inner and named == inner:
                yield from _below(form, inner, below, f"{above}{key}/{inner}/")


def _package(form: LockFormat, place: str, above: str, key: str, node: Node) -> LockEntry:
    leaves = tuple(node.leaves(None, "dependencies" if above.endswith("dependencies/") else ""))
    values = {path.replace(BETWEEN, " "): value for path, value in leaves}
    found = re.fullmatch(place, key)
    named = {} if found is None else found.groupdict()
    name = named.get("name") or values.get("module") or values.get("name") or key
    version = (named.get("version") or values.get("version", "")).removeprefix("==")
    if form.python_names:
        name, key = python_name(name), python_name(key)
    if form.key:
        key = " ".join(values.get(path, "") for path in form.key)
    is_placed = found is not None or bool(form.key)
    return LockEntry(above + key, "package", name, version, node.first, node.last, leaves, is_placed)


def python_name(name: str) -> str:
    """The one spelling of a Python package's name that stands for all of them."""
    return re.sub(r"[-_.]+", "-", name).lower()


@lru_cache(maxsize=4_096)
def _order(version: str) -> VersionOrder:
    """Where a version stands among others. Registries hold 1.0, 1.0.0, 01.0 and 1.0.0+x for the same."""
    found = _RELEASE.match(version[:_LONGEST_VERSION].casefold())
    if found is None:
        return (), False, ((0, 0, version[:_LONGEST_VERSION]),)
    numbers = [int(each) for each in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    behind = found[2].partition("+")[0]
    parts = re.findall(r"[0-9]+|[a-z]+", behind)
    is_release = not behind or re.match(r"[.-]?post", behind) is not None
    return tuple(numbers), is_release, tuple((1, int(each), "") if each.isdecimal() else (0, 0, each) for each in parts)


@dataclass(frozen=True, slots=True)
class _Peers:
    """What the entries of the base say that an entry is held against: any of them, and in ``common`` all of them."""

    leaves: Collection[tuple[str, str]]
    values: Mapping[str, str]
    common: set[tuple[str, str]]
    orders: Collection[VersionOrder]
    digests: Collection[tuple[str, ...]]
    installed: Collection[tuple[tuple[str, str], ...]]


class _Difference:
    """The entries of the head that differ from those of the base, and what is unusual about them.

    One name may stand in thousands of entries, so what they say is collected once for all that are held against them.
    """

    def __init__(self, form: LockFormat, before: Sequence[LockEntry], after: Sequence[LockEntry]) -> None:
        self._form, self._before, self._after = form, before, after
        harmless = _compiled(form.harmless, "harmless")
        self._rules = {
            "package": (*_compiled(form.pinned, "pinned"), *harmless, *_compiled(form.unchanging, "unchanging")),
            "section": harmless,
            "setting": _compiled(form.settings, "harmless"),
        }
        self._of_path: dict[tuple[str, str], _Rule | None] = {}
        self._at_base = {entry.key: entry for entry in before}
        self._groups = defaultdict[tuple[object, ...], list[LockEntry]](list)
        self._origins = defaultdict[str, set[str]](set)
        for entry in before:
            self._origins[entry.name] |= self._origins_of(entry)
            for group in (("key", entry.key), ("name", entry.name), ("version", entry.name, _order(entry.version))):
                self._groups[group].append(entry)
        self._peers: dict[tuple[object, ...], _Peers] = {}
        self._known = set[str]().union(*self._origins.values())
        self._kept = {entry.key for entry in after}
        self._newest: dict[str, VersionOrder] = {}
        for entry in after:
            self._newest[entry.name] = max(_order(entry.version), self._newest.get(entry.name, _NO_VERSION))
        self.changed = [
            each
            for each in after
            if each.key not in self._at_base
            or each != replace(self._at_base[each.key], first=each.first, last=each.last)  # on other lines
        ]
        self._replaced = dict(self._pairs())

    def doubts(self) -> Iterator[_Doubt]:
        """What a reviewer has to see, each with the whole value that it is about."""
        hashes = defaultdict[tuple[str, VersionOrder], set[tuple[str, ...]]](set)
        for entry in self._after:
            if entry.kind == "package" and self._digests(entry):
                hashes[entry.name, _order(entry.version)].add(self._digests(entry))
        for entry in self.changed:
            peers = self._peers_of(entry)
            found = [*self._odd_values(entry, peers), *self._gone(entry, peers), *_older_needs(entry, peers)]
            if entry.kind == "package":
                found += self._odd_hashes(entry, peers)
                if len(hashes[entry.name, _order(entry.version)]) > 1:
                    found.append(f"version {entry.version} has several hashes in the file")
            for why in found:
                yield _Doubt(f"{entry.name[:_LONGEST_NAME]}: {why[:300]}", entry.first, entry.last)
        yield from self._gone_entries()

    def _peers_of(self, entry: LockEntry) -> _Peers:
        """The entries of the base that this one is held against: the one it was, else those of its version or name."""
        groups = (("key", entry.key), ("version", entry.name, _order(entry.version)))
        return self._together(next((group for group in groups if group in self._groups), ("name", entry.name)))

    def _together(self, group: tuple[object, ...]) -> _Peers:
        if group not in self._peers:
            entries = self._groups.get(group, [])
            self._peers[group] = _Peers(
                leaves={leaf for each in entries for leaf in each.leaves},
                values={path: value for each in entries for path, value in each.leaves},
                common=set.intersection(*(set(_offers(each)) for each in entries)) if entries else set(),
                orders={_order(each.version) for each in entries},
                digests={self._digests(each) for each in entries},
                installed={self._installed(each) for each in entries},
            )
        return self._peers[group]

    def _rule(self, kind: str, path: str) -> _Rule | None:
        if (kind, path) not in self._of_path:
            fitting = (rule for rule in self._rules[kind] if rule.path.fullmatch(path))
            self._of_path[kind, path] = next(fitting, None)
        return self._of_path[kind, path]

    def _match(self, entry: LockEntry, path: str, value: str) -> re.Match[str] | None:
        """The value as the format writes it; None if the path or the value is not known."""
        rule = self._rule(entry.kind, path)
        return None if rule is None or len(value) > LONGEST_LINE else rule.match(entry, value)

    def _origins_of(self, entry: LockEntry) -> set[str]:
        found = (
            self._match(entry, path, value)
            for path, value in entry.leaves
            if (rule := self._rule(entry.kind, path)) is not None and "origin" in rule.value.groupindex
        )
        return {each["origin"].replace(_EXACTLY, f"/{entry.name}") for each in found if each is not None}

    def _is_closed(self, entry: LockEntry) -> bool:
        """Whether no version explains that a key of this entry comes or goes: it is no package, or the repository."""
        return entry.key in self._at_base and (entry.kind == "section" or not entry.is_placed)

    def _odd_values(self, entry: LockEntry, peers: _Peers) -> Iterator[str]:
        if not entry.is_placed and entry.key not in self._at_base:
            yield f"it stands in {entry.key}"
        is_same_version = _order(entry.version) in peers.orders
        for path, value in dict.fromkeys(entry.leaves):
            rule = self._rule(entry.kind, path)
            is_bound = rule is not None and ("{version}" in rule.exact or "{release}" in rule.exact)
            if (path, value) in peers.leaves and (is_same_version or not is_bound):
                continue
            if (
                self._match(entry, path, value) is None
                or (is_same_version and rule is not None and rule.may == "unchanging")
                or (self._is_closed(entry) and path not in peers.values)
            ):
                yield f"{_readable_path(path)} = {value}"
        if entry.kind == "package":
            for origin in sorted(self._origins_of(entry)):
                if origin not in self._known:
                    yield f"nothing at the base comes from {origin}"
                elif ("name", entry.name) in self._groups and origin not in self._origins[entry.name]:
                    yield f"at the base it does not come from {origin}"

    def _gone(self, entry: LockEntry, peers: _Peers) -> Iterator[str]:
        """What every peer says and this entry does not, where it may not go: a source, a hash, the last wheel."""
        is_same_version = _order(entry.version) in peers.orders
        for path, offer in sorted(peers.common - set(_offers(entry))):
            rule = self._rule(entry.kind, path)
            may = "pinned" if rule is None else rule.may
            if may == "pinned" or (may == "unchanging" and is_same_version) or self._is_closed(entry):
                yield f"it has no {_readable_path(path)}{offer}, unlike at the base"

    def _digests(self, entry: LockEntry) -> tuple[str, ...]:
        return entry.all((*self._form.integrity, *self._form.reference))

    def _odd_hashes(self, entry: LockEntry, peers: _Peers) -> Iterator[str]:
        if self._installed(entry) not in peers.installed:
            hashes = [leaf for leaf in entry.leaves if _plain_path(leaf[0]) in self._form.integrity]
            if not hashes or any(self._match(entry, *leaf) is None for leaf in hashes):
                yield f"no hash of its content seals version {entry.version}"
            counts = Counter(_plain_path(path) for path, _ in entry.leaves)
            files = {path.rpartition(" ")[0] for path in self._form.integrity if "[] " in path}
            pinned = [path for paths in self._form.pinned for path in paths.split("|")]
            listed = [{counts[each] for each in pinned if each.rpartition(" ")[0] == folder} for folder in files]
            if any(len(numbers) > 1 for numbers in listed):
                yield "not every file of it has one address and one hash"
        same = self._together(("version", entry.name, _order(entry.version))).digests
        if same and self._digests(entry) not in same:
            yield f"version {entry.version} has other hashes than at the base"
        old = self._replaced.get(entry.key)
        bar = _order(old.version) if old else max(self._together(("name", entry.name)).orders, default=None)
        if bar is not None and _order(entry.version) < bar:
            yield f"version {entry.version} is older than at the base"

    def _installed(self, entry: LockEntry) -> tuple[tuple[str, str], ...]:
        """The leaves that say what is installed."""
        return tuple(
            leaf for leaf in entry.leaves if (rule := self._rule(entry.kind, leaf[0])) and rule.may == "pinned"
        )

    def _pairs(self) -> Iterator[tuple[str, LockEntry]]:
        """The key of each entry with the entry of the base that it replaces: its own, else one that is gone."""
        new = defaultdict[str, list[LockEntry]](list)
        for entry in self._after:
            if entry.key in self._at_base:
                yield entry.key, self._at_base[entry.key]
            else:
                new[entry.name].append(entry)
        for name, entries in new.items():
            gone = [entry for entry in self._groups.get(("name", name), ()) if entry.key not in self._kept]
            for entry, old in zip(_newest_first(entries), _newest_first(gone), strict=False):
                yield entry.key, old

    def _gone_entries(self) -> Iterator[_Doubt]:
        for entry in self._before:
            if entry.key in self._kept:
                continue
            why, name = "", entry.name[:_LONGEST_NAME]
            if entry.kind != "package":
                is_known = entry.is_placed and all(self._rule(entry.kind, path) for path, _ in entry.leaves)
                why = "" if is_known else f"{name} is gone"
            elif entry.name in self._newest and self._newest[entry.name] < _order(entry.version):
                why = f"{name}: version {entry.version} is gone, and only older ones stay"
            if why:
                yield _Doubt(why, entry.first, entry.last, at_base=True)

    def facts(self) -> Iterator[tuple[str, str]]:
        """Each changed package, each removed one, and the keys that differ in other parts: a line, and its details."""
        packages = [entry for entry in self.changed if entry.kind == "package"]
        yield from map(self._fact, packages)
        stay = {*self._kept, *(old.key for old in self._replaced.values())}
        for entry in self._before:
            if entry.kind == "package" and entry.key not in stay:
                yield _readable(f"{entry.name} {entry.version} -> removed"), ""
        for entry in self.changed:
            if entry.kind != "package" and entry.key in self._at_base:
                yield _readable(entry.name), f"; keys {_readable(self._keys(entry, self._at_base[entry.key]))}"

    def _fact(self, entry: LockEntry) -> tuple[str, str]:
        """A changed package: its name with both versions, and where it comes from, its hashes, its other changes."""
        old = self._replaced.get(entry.key)
        origins = sorted(self._origins_of(entry)) or entry.all(self._form.source)
        hashes = [_short(each.all(self._form.integrity)) for each in (old, entry) if each is not None]
        details = (
            ("source", ", ".join(each or "the configured registry" for each in origins)),
            ("reference", ", ".join(entry.all(self._form.reference))),
            ("integrity", " -> ".join(dict.fromkeys(each or "none" for each in hashes))),
            ("keys", "" if old is None else self._keys(entry, old)),
        )
        line = f"{entry.name} {old.version if old else 'new'} -> {entry.version}"
        return _readable(line), "".join(f"; {what} {_readable(detail)}" for what, detail in details if detail)

    def _keys(self, entry: LockEntry, old: LockEntry) -> str:
        """The keys that differ between the two, without those that say what is installed."""
        differ = {path for path, _ in {*entry.leaves} ^ {*old.leaves}}
        pinned = {path for path, _ in (*self._installed(entry), *self._installed(old))}
        return ", ".join(map(_readable_path, sorted(differ - pinned)))


@dataclass(frozen=True, slots=True)
class _Rule:
    """The form of a path and of its value, in which ``_EXACTLY`` stands for the words ``exact``."""

    path: re.Pattern[str]
    value: re.Pattern[str]
    exact: str
    may: May

    def match(self, entry: LockEntry, value: str) -> re.Match[str] | None:
        """The value, if it is as the rule says of this entry."""
        if _EXACTLY in value:
            return None
        if self.exact:
            before, exact, behind = value.replace("%2B", "+").rpartition(_filled(self.exact, entry, value))
            value = f"{before}{_EXACTLY}{behind}" if exact else value
        return self.value.fullmatch(value)


def _compiled(rules: KeyPatterns, may: May) -> tuple[_Rule, ...]:
    named = {"[]": rf"\[\][^{BETWEEN}]*", "*": f"[^{BETWEEN}]+"}
    made: list[_Rule] = []
    for paths, form in rules.items():
        exact = _EXACT_PART.search(form)
        value = re.compile(_EXACT_PART.sub(_EXACTLY, form))
        for path in paths.split("|"):
            keys = re.compile(BETWEEN.join(named.get(word, re.escape(word)) for word in path.split(" ")))
            made.append(_Rule(keys, value, "" if exact is None else exact[1], may))
    return tuple(made)


def _filled(template: str, entry: LockEntry, value: str) -> str:
    """The template with the entry's own values in it."""
    file = value.rpartition("/")[2]
    project = file.partition("-")[0] if file.endswith(".whl") else file.partition(f"-{entry.version}.")[0]
    repository = _REPOSITORY.fullmatch("".join(entry.all(("source url",)))) if "{repository}" in template else None
    values = {
        "name": entry.name,
        "bare": entry.name.rpartition("/")[2],
        "project": project if python_name(project) == entry.name else _EXACTLY,
        "version": entry.version,
        "release": entry.version.partition("+")[0],
        "reference": "".join(entry.all(("source reference",))) if "{reference}" in template else "",
        "repository": _EXACTLY if repository is None else repository[1],
    }
    return template.format_map(values) or _EXACTLY


def _older_needs(entry: LockEntry, peers: _Peers) -> Iterator[str]:
    """The exact versions of other packages that it takes: an older copy of them may stand in the file."""
    for path, value in entry.leaves:
        new, old = _EXACT.fullmatch(value), _EXACT.fullmatch(peers.values.get(path, ""))
        if path.startswith(_NEED_FIELDS) and new and old and _order(new[1]) < _order(old[1]):
            yield f"{_readable_path(path)} = {value} is older than at the base"


def _newest_first(entries: Sequence[LockEntry]) -> list[LockEntry]:
    return sorted(entries, key=lambda entry: _order(entry.version), reverse=True)


def _offers(entry: LockEntry) -> Iterator[tuple[str, str]]:
    return ((path, " of a wheel" if value.endswith(".whl") else "") for path, value in entry.leaves)


@lru_cache(maxsize=16_384)
def _plain_path(path: str) -> str:
    return re.sub(rf"\[\][^{BETWEEN}]*", "[]", path).replace(BETWEEN, " ")


def _readable_path(path: str) -> str:
    return path.replace(BETWEEN, ".") or "its value"


def _short(hashes: Sequence[str]) -> str:
    first = "".join(hashes[:1])
    more = f" and {len(hashes) - 1} more" if len(hashes) > 1 else ""
    return f"{first[:_HASH_BEGINNING]}{'...' if len(first) > _HASH_BEGINNING else ''}{more}"


def _readable(text: str) -> str:
    return (text if text.isprintable() else ascii(text))[:_LONGEST_FACT]
