"""The difference of two trees, by plumbing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from review_advisor.change.change import SUBMODULE_MODE, CommittedFile, FileChange, PatchRefused, SourceError, Status
from review_advisor.change.git import Git, OutputTooLargeError, find_git
from review_advisor.change.git_store import RENAMES, ObjectStore, entries
from review_advisor.change.patch import FilePatch, count_lines, git_diff_sections, shown_name
from review_advisor.safety.children import temporary_folder

_DIFF = ("diff-tree", "-r", *RENAMES, "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv", "--no-color")
_FACTS = ("--raw", "--numstat", "-z", "--no-abbrev")

_TEXT = (
    "-p",
    "-U3",
    "--inter-hunk-context=0",
    "--full-index",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--no-indent-heuristic",
)

_STATUS = {
    b"A": Status.ADDED,
    b"M": Status.MODIFIED,
    b"D": Status.DELETED,
    b"R": Status.RENAMED,
    b"C": Status.COPIED,
    b"T": Status.TYPE_CHANGED,
}

_NO_BLOB = (b"000000", SUBMODULE_MODE.encode("ascii"))

_PATIENCE = 600.0
"""So many seconds git may take to compare two trees."""

MOST_DIFF_BYTES = 100_000_000
"""A larger diff is read by nobody: at 60,000 tokens a part it would be hundreds of parts."""
_MOVED = (Status.RENAMED, Status.COPIED)
_ATTRIBUTES = ("linguist-generated", "linguist-vendored", "linguist-documentation")
_VALUES = {b"set": True, b"true": True, b"unset": False, b"false": False}
_INDEX = "attributes-index"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One record of ``--raw`` with its record of ``--numstat``."""

    status: Status
    old_mode: str
    new_mode: str
    old_object: bytes
    new_object: bytes
    old_name: bytes
    name: bytes
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class _Attributes:
    """The three linguist attributes; None where nothing is said."""

    generated: bool | None = None
    vendored: bool | None = None
    documentation: bool | None = None


def changed_files(store: ObjectStore, base: str, head: str, rules: str) -> tuple[FileChange, ...]:
    """Every difference between the trees ``base`` and ``head``, in git's order, with the attributes of ``rules``.

    A type change (a file that becomes a symbolic link) has the hunks of a deletion and of a creation, and counts their
    lines; git's own ``--numstat`` would leave out lines that both sides share.
    """
    # First: it also finds out whether the base can be read at all.
    by_tree = {tree: _rules_of(store, tree) for tree in dict.fromkeys((base, rules))}
    entries = _entries(b"".join(_diff_output(store, base, head, *_FACTS)))
    if not entries:
        return ()
    attributes = _attributes_by(store, by_tree[rules], [entry.name for entry in entries])
    sections = git_diff_sections(_diff_output(store, base, head, *_TEXT))
    files = tuple(_file(entry, sections, given) for entry, given in zip(entries, attributes, strict=True))
    if next(sections, None) is not None:
        raise AssertionError("git's diff has more sections than changed files")
    return files


def _diff_output(store: ObjectStore, base: str, head: str, *how: str) -> Iterator[bytes]:
    """The output of ``git diff-tree``. Raises ``SourceError``, also where it is larger than any reviewed change."""
    try:
        yield from store.git.blocks(*_DIFF, *how, base, head, "--", most=MOST_DIFF_BYTES, seconds=_PATIENCE)
    except OutputTooLargeError:
        raise SourceError(f"The text of the change is larger than {MOST_DIFF_BYTES:,} bytes: it is not read.") from None
    except SourceError as error:
        absent = _absent(store, base, head)
        if absent is None:
            raise
        raise SourceError(
            f"The content of {absent!r}, a file of the change, is not in the repository (a partial or damaged clone): "
            "fetch all objects first."
        ) from error


def _absent(store: ObjectStore, base: str, head: str) -> str | None:
    """The first changed file with a side whose content is not in the repository; None if there is none."""
    fields = store.git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", base, head, "--").split(
        b"\0"
    )
    sides = [
        (name, path)
        for facts, path in zip(fields[:-1:2], fields[1::2], strict=True)
        for mode, name in zip(facts[1:].split(b" ")[:2], facts.split(b" ")[2:4], strict=True)
        if mode not in _NO_BLOB
    ]
    output = store.git.run("cat-file", "--batch-check", stdin=b"".join(name + b"\n" for name, _ in sides))
    gone = {line.split()[0] for line in output.splitlines() if line.endswith(b" missing")}
    return next((shown_name(path) for name, path in sides if name in gone), None)


def _rules_of(store: ObjectStore, tree: str) -> list[bytes]:
    """The rule files of ``tree``, as entries of an index. Raises ``SourceError`` for a tree beyond the limits."""
    return [
        f"{entry.mode} {entry.name}\t".encode("ascii") + entry.path
        for entry in entries(store.git, tree)
        if entry.has_content and entry.path.rpartition(b"/")[2] == b".gitattributes"
    ]


def _attributes_by(store: ObjectStore, rules: Sequence[bytes], names: Sequence[bytes]) -> list[_Attributes]:
    """The attributes of each name, in order, by these rules alone."""
    if not rules or not names:
        return [_Attributes()] * len(names)
    # git 2.39 has no `check-attr --source`: an index that holds the tree's rule files does the same.
    use = {"GIT_INDEX_FILE": str(store.folder / _INDEX)}
    store.git.run("read-tree", "--empty", environment=use)
    store.git.run("update-index", "-z", "--index-info", stdin=_joined(rules), environment=use)
    answer = store.git.run(
        "check-attr", "--cached", "-z", "--stdin", *_ATTRIBUTES, stdin=_joined(names), environment=use
    )
    values = answer.split(b"\0")[2:-1:3]
    step = len(_ATTRIBUTES)
    if len(values) != step * len(names):
        raise AssertionError(f"git check-attr answered {len(values)} times for {len(names)} paths")
    return [
        _Attributes(*(_VALUES.get(value) for value in values[at : at + step])) for at in range(0, len(values), step)
    ]


def _joined(parts: Sequence[bytes]) -> bytes:
    return b"".join(part + b"\0" for part in parts)


def _entries(output: bytes) -> list[_Entry]:
    fields = iter(output.split(b"\0")[:-1])
    raws: list[tuple[list[bytes], bytes, bytes]] = []
    counts: list[tuple[bytes, bytes]] = []
    for record in fields:
        if record.startswith(b":"):
            facts = record[1:].split(b" ")
            old = next(fields)
            raws.append((facts, old, next(fields) if _STATUS[facts[4][:1]] in _MOVED else old))
        else:
            added, removed, name = record.split(b"\t", 2)
            where = (next(fields), next(fields)) if not name else (name,)
            if where[-1] != raws[len(counts)][2]:
                raise AssertionError(f"git's numstat is out of step with its raw diff at {shown_name(where[-1])!r}")
            counts.append((added, removed))
    return [_entry(raw, count) for raw, count in zip(raws, counts, strict=True)]


def _entry(raw: tuple[list[bytes], bytes, bytes], count: tuple[bytes, bytes]) -> _Entry:
    (old_mode, new_mode, old_object, new_object, letter), old_name, name = raw
    added, removed = (None if number == b"-" else int(number) for number in count)
    return _Entry(
        _STATUS[letter[:1]],
        old_mode.decode("ascii"),
        new_mode.decode("ascii"),
        old_object,
        new_object,
        old_name,
        name,
        added,
        removed,
    )


def _file(entry: _Entry, sections: Iterator[FilePatch], attributes: _Attributes) -> FileChange:
    typed = entry.status is Status.TYPE_CHANGED
    own = [section for _, section in zip(range(1 + typed), sections, strict=False)]
    hunks = tuple(hunk for section in own for hunk in section.hunks)
    added, removed = count_lines(hunks)
    binary = entry.added is None if not typed else any(section.binary for section in own)
    _check(entry, own, (added, removed), typed=typed)
    return FileChange(
        status=entry.status,
        path=shown_name(entry.name),
        old_path=shown_name(entry.old_name) if entry.status in _MOVED else None,
        old_mode=entry.old_mode,
        new_mode=entry.new_mode,
        added=added,
        removed=removed,
        binary=binary,
        hunks=hunks,
        generated=attributes.generated,
        vendored=attributes.vendored,
        documentation=attributes.documentation,
    )


def _check(entry: _Entry, own: list[FilePatch], counted: tuple[int, int], *, typed: bool) -> None:
    """Stop if the patch's section is not this entry's: a wrong pairing would show one file's text as another's."""
    path = shown_name(entry.name)
    if len(own) != 1 + typed:
        raise AssertionError(f"git's diff has no section for {path!r}")
    if not typed and counted != (entry.added or 0, entry.removed or 0):
        raise AssertionError(f"git counts {entry.added} and {entry.removed} lines in {path!r}, its patch has {counted}")
    none = b"0" * len(entry.old_object)
    pairs = [(entry.old_object, none), (none, entry.new_object)] if typed else [(entry.old_object, entry.new_object)]
    for section, (old, new) in zip(own, pairs, strict=True):
        stated = [line[6:].split(b" ")[0] for line in section.header if line.startswith(b"index ")]
        if stated not in ([], [old + b".." + new]):
            raise AssertionError(f"git's patch section for {path!r} is of other objects")


class GitPatcher:
    """``ports.Patcher`` by the installed git, in a private bare repository that is gone afterwards."""

    def apply(self, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
        """All files there are once the patch is applied: every hunk of it, or nothing. Raises ``PatchRefused``."""
        try:
            with temporary_folder("patch") as place:
                git = Git(find_git(Path.cwd()), place, environment={"GIT_DIR": str(place)})
                return _applied(git, patch, files)
        except SourceError as error:
            raise PatchRefused(str(error)) from None
        except OSError as error:
            raise PatchRefused(f"A temporary folder cannot be filled: {error.strerror}.") from None


def _applied(git: Git, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
    git.run("init", "--bare", "--quiet", "--template=")
    for file in files:
        name = git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=file.content).strip()
        entry = b"%s %s\t%s\0" % (file.mode.encode(), name, file.path.encode())
        git.run("update-index", "-z", "--index-info", stdin=entry)
    reply = git.attempt("apply", "--cached", "--whitespace=nowarn", "-p1", "-", stdin=patch.encode())
    if reply.code != 0:
        raise PatchRefused(f"git does not apply the patch: {reply.complaint}.")
    return tuple(_read(git, entry) for entry in git.run("ls-files", "--stage", "-z").split(b"\0")[:-1])


def _read(git: Git, entry: bytes) -> CommittedFile:
    facts, _, path = entry.partition(b"\t")
    mode, name, _ = facts.decode("ascii").split(" ")
    return CommittedFile(path.decode("utf-8", "backslashreplace"), mode, git.run("cat-file", "blob", name))
