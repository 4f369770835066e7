"""A change read from git: a range, the index, a patch, or a pull request."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath

from review_advisor.change.around import UseCollector
from review_advisor.change.change import (
    OBJECT_NAME,
    Change,
    Earlier,
    Edits,
    FileChange,
    SourceError,
    Spec,
    Status,
    Touched,
    Workflows,
)
from review_advisor.change.ci_files import WORKFLOW_FOLDER, WORKFLOWS, CalledFiles, link_target
from review_advisor.change.decision_records import may_be_record, same_decision
from review_advisor.change.diff_text import shown_path, touched_lines
from review_advisor.change.git import (
    ContentMissingError,
    Git,
    GitRepository,
    ObjectStore,
    Reply,
    find_git,
    missing,
    open_repository,
)
from review_advisor.change.git_diff import changed_files
from review_advisor.change.git_trees import MaskedFile, collect_uses, exported, patch_between, read_back, small_texts
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import OWN_NAME, OWN_PIPELINE, PYPROJECT, may_configure
from review_advisor.change.patch import PatchError, entries_of_patch, merged_types, shown_name
from review_advisor.change.pull_request import BelievedBase, LinkedIssue, PullRequest, spec_of_issues, spec_path
from review_advisor.change.source import AsShown
from review_advisor.safety.children import temporary_folder

_CI = ".github"


_LARGEST = 1_000_000
"""A larger file, in bytes, is none that GitHub runs: its text counts as unknown."""


_MOST = 200
"""More names of local actions and workflows than that, or more links, nobody follows in one tree."""


_NONE_FOUND = 1


def read_workflows(
    store: ObjectStore, trees: tuple[str, str], files: Iterable[FileChange], repository: str | None
) -> Workflows:
    """What runs the bot in the trees (whose rules hold, and the head's), and the text of each changed workflow.

    ``repository`` is the repository's own name; None where it is unknown.
    """
    rules, head = trees
    touched = {path for file in files for path in file.paths if path.casefold().startswith(f"{_CI}/")}
    looked_at = dict.fromkeys((rules, head) if touched else (rules,))
    found = [_Running(store, tree, repository) for tree in looked_at]
    heads = ((path, _text(store, head, path)) for path in sorted(filter(WORKFLOWS.matches, touched)))
    return Workflows(
        running=tuple(sorted({pair for each in found for pair in each.texts.items()})),
        heads=tuple((path, text) for path, text in heads if text is not None),
        followed=all(each.followed for each in found),
        links=tuple(sorted({pair for each in found for pair in each.links.items()})),
    )


class _Running:
    """The files of CI that name the bot, those that name the local action that does, and whatever these call.

    ``followed``: everything that they call was read, and every link was followed.
    """

    def __init__(self, store: ObjectStore, tree: str, repository: str | None) -> None:
        self._store, self._tree = store, tree
        found = _naming(store, tree, (OWN_NAME, OWN_NAME.replace("-", "_")))
        actions = [str(PurePosixPath(path).parent) for path in found if not path.startswith(WORKFLOW_FOLDER)]
        # One that cannot be read is named all the same, so that a change of it is watched.
        every = sorted(found | (_naming(store, tree, actions) if actions else set()))
        self.texts = {path: _text(store, tree, path) or "" for path in every}
        self.links: dict[str, str] = {}
        self._called = CalledFiles(self.texts.items(), repository)
        self._asked: set[str] = set()
        self._waiting = set(store.link_paths(tree)) if every else set[str]()
        self.followed = True
        while self.followed and (self._more_links() or self._more_texts()):
            pass

    def _more_links(self) -> bool:
        """Follow the links that are called by now; whether there was one."""
        touched = sorted(filter(self._called.goes_through, self._waiting))
        self._waiting -= set(touched)
        for link in touched:
            text = self._store.link_text(self._tree, link)
            target = None if text is None else link_target(link, text)
            self.followed = self.followed and target is not None and len(self.links) < _MOST
            if target is not None:
                self.links[link] = target
                self._called.follow(link, target)
        return bool(touched)

    def _more_texts(self) -> bool:
        """Read what is named by now; whether there was anything."""
        waiting = set(self._called.sought) - self._asked - self.texts.keys()
        self._asked |= waiting
        self.followed = len(self._asked) <= _MOST
        for path in sorted(waiting) if self.followed else ():
            try:
                raw = self._store.blob(self._tree, path, _LARGEST + 1)
            except ContentMissingError:
                self.followed = False
                continue
            if raw is not None and len(raw) > _LARGEST:
                self.followed = False
            elif raw is not None:
                self.texts[path] = raw.decode("utf-8", "replace")
                self._called.read(path, self.texts[path])
        return bool(waiting)


def _naming(store: ObjectStore, tree: str, words: Iterable[str]) -> set[str]:
    patterns = [part for word in words for part in ("-e", word)]
    reply = store.git.attempt("grep", "-l", "-z", "-i", "-a", "-F", "--full-name", *patterns, tree, "--", _CI)
    if reply.code not in (0, _NONE_FOUND):
        raise SourceError(f"The workflows of the tree {tree[:12]} cannot be read (a partial or damaged clone?).")
    listed = (shown_name(name).partition(":")[2] for name in reply.stdout.split(b"\0") if name)
    return {path for path in listed if path.casefold().endswith((".yml", ".yaml"))}


def _text(store: ObjectStore, tree: str, path: str) -> str | None:
    try:
        raw = store.blob(tree, path, _LARGEST + 1)
    except ContentMissingError:
        return None
    return None if raw is None or len(raw) > _LARGEST else raw.decode("utf-8", "replace")


_SHORT = 12


_LARGEST_RECORD = 200_000


_MOST_RECORDS = 50
"""A longer record, in bytes, and every further one count as decided anew: nobody compares them."""


_LARGEST_TEXT = 10_000_000
"""Of a larger file, in bytes, nobody reads the whole text."""


_MOST_WORDS = 1_000_000


_LONGEST_NAME = 10_000
"""Bytes of commit messages, and characters of a subject or an author's name, that are read.

Prompts show less of each, so the report names what is left out.
"""


_WORDS_SECONDS = 60.0


_LARGEST_CONFIG = 1_000_000
"""In bytes: GitHub hands out no larger file to the other jobs."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a change. ``base`` and ``head`` are commits, or trees where there is no commit.

    ``commits`` says whether ``head`` is a commit; the index's tree is not one. ``rules`` is the commit whose
    configuration, attributes and specifications hold (or the tree, where ``base`` is one): the tip of what the user
    named, because whoever writes a branch chooses where its diff begins. ``kind`` and ``title`` name a head that is no
    commit.
    """

    base: str
    head: str
    base_tree: str
    head_tree: str
    commits: bool
    rules: str
    kind: str = "staged"
    title: str = "staged changes"


@dataclass(frozen=True, slots=True)
class About:
    """What is said about a change from outside; where nothing is said, its commits speak.

    ``title``, ``body`` and ``spec`` are the user's and come first. ``issues`` are those that ``pull_request`` closes,
    ``rules_ref`` is the branch whose configuration holds for it, ``fix_attempts`` how often it was sent back before,
    ``earlier`` its last review, ``server`` the address of the GitHub that it is on.
    """

    title: str | None = None
    body: str | None = None
    spec: Spec | None = None
    pull_request: PullRequest | None = None
    rules_ref: str | None = None
    issues: tuple[LinkedIssue, ...] = ()
    fix_attempts: int = 0
    earlier: Earlier | None = None
    server: str = ""


@dataclass(frozen=True, slots=True)
class _Commit:
    author: str
    subject: str
    message: str

    @property
    def body(self) -> str:
        """The message without its subject."""
        return self.message.partition("\n\n")[2].strip()


class GitSource:
    """A range of commits, a pull request, or HEAD against the index. Made by the functions of ``open``.

    ``base_sha`` is the full name of the commit where the diff begins (of the empty tree, where there is none yet),
    ``rules_sha`` that of the commit whose rules hold.
    ``fetching`` fetches a commit that may be missing, if it can.
    ``remarks`` are sentences on what was chosen, for the user.
    """

    def __init__(
        self,
        store: ObjectStore,
        sides: Sides,
        about: About,
        remarks: tuple[str, ...] = (),
        *,
        fetching: Callable[[str], None] = lambda _commit: None,
    ) -> None:
        self.base_sha: str | None = sides.base
        self.rules_sha: str | None = sides.rules
        self.remarks = remarks
        self._store = store
        self._sides = sides
        self._about = about
        self._rules_tree = sides.base_tree if sides.rules == sides.base else store.tree(sides.rules)
        self._fetching = fetching
        self._change: Change | None = None
        self._masked: dict[Path, Mapping[bytes, MaskedFile]] = {}

    def after(self, fix_attempts: int, earlier: Earlier) -> GitSource:
        """The same source, of a change that was reviewed before and sent back so often.

        What differs since, and whether that head is part of the present history, is looked up here.
        """
        since = self._store.changed_since(earlier.head_sha, self._sides.head) if earlier.head_sha else None
        paths, renames = since or (frozenset(), frozenset())
        known = replace(earlier, is_ancestor=since is not None, paths=paths, renames=renames)
        about = replace(self._about, fix_attempts=fix_attempts, earlier=known)
        return GitSource(self._store, self._sides, about, fetching=self._fetching)

    @property
    def label(self) -> str:
        """The change's, which is known before anything of it is read."""
        if self._about.pull_request is not None:
            return self._about.pull_request.label
        names = (self._sides.base, self._sides.head) if self._sides.commits else (self._sides.head,)
        return "-".join(("range" if self._sides.commits else self._sides.kind, *(name[:_SHORT] for name in names)))

    def change(self) -> Change:
        """The facts, read once. Raises ``SourceError`` with one clear sentence."""
        if self._change is None:
            self._change = self._read()
        return self._change

    @contextmanager
    def head_tree(self, tree: str | None = None, shown: AsShown | None = None) -> Iterator[Path]:
        """A fresh private folder that holds the head tree (the index, for staged changes), or ``tree``.

        The files in ``shown`` hold what that makes of them, all others exactly what the tree has.
        """
        with exported(self._store, tree or self._sides.head_tree, shown) as made:
            self._masked[made.folder] = made.masked
            try:
                yield made.folder
            finally:
                del self._masked[made.folder]

    def edits(self, folder: Path) -> Edits:
        """What was edited in a folder of ``head_tree``, against the head. Raises ``SourceError``."""
        head = self._sides.head_tree
        tree, unfit = read_back(self._store, head, folder, self._masked.get(folder))
        return Edits(
            tree=tree,
            patch=patch_between(self._store, head, tree),
            change=replace(self.change(), files=self._changed(self._sides.base_tree, tree)),
            touched=self._changed(head, tree),
            unfit=unfit,
        )

    def base_file(self, path: str) -> bytes | None:
        """A regular file at the base, None if there is none. Raises ``SourceError`` for a symbolic link.

        Of a pull request it is the believed commit's, whatever its base branch is and wherever its diff begins.
        """
        return self._store.blob(self._rules_tree, path, refuse_links=True)

    def base_texts(self, paths: Iterable[str]) -> dict[str, BaseText]:
        """What stands at these paths of the tree that ``base_file`` reads; a path with nothing is left out."""
        return self._store.texts(self._rules_tree, paths)

    def base_declared(self) -> dict[str, BaseText]:
        """The files of the tree that ``base_file`` reads which declare advisors, by their paths."""
        return self._store.declared(self._rules_tree)

    def head_declared(self) -> dict[str, BaseText]:
        """The same of the head tree."""
        return self._store.declared(self._sides.head_tree)

    @property
    def is_pull_request(self) -> bool:
        """Whether a pull request is read, which is known before anything of it is."""
        return self._about.pull_request is not None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the pull request; none of any other change."""
        return () if self._about.pull_request is None else self._about.pull_request.labels

    def base_part(self, path: str, most: int) -> bytes | None:
        """The first ``most`` bytes of a regular file of the base tree, None if there is none."""
        return self._store.blob(self._sides.base_tree, path, most)

    def head_part(self, path: str, most: int) -> bytes | None:
        """The same of the head tree."""
        return self._store.blob(self._sides.head_tree, path, most)

    def head_config(self, path: str) -> bytes | None:
        """As much of a file of the head tree as a configuration may hold."""
        return self.head_part(path, _LARGEST_CONFIG)

    def base_names(self, folder: str) -> tuple[str, ...]:
        """The names of what lies directly in a folder of the base tree."""
        return self._store.names(self._sides.base_tree, folder)

    def head_text(self, path: str) -> str | None:
        """The whole text of a regular file at the head; None for a binary or huge file, a missing one, or none."""
        try:
            raw = self._store.blob(self._sides.head_tree, path, _LARGEST_TEXT + 1)
        except ContentMissingError:
            return None
        return None if raw is None or b"\0" in raw or len(raw) > _LARGEST_TEXT else raw.decode("utf-8", "replace")

    def head_texts(self, paths: Iterable[str], tree: str | None = None) -> dict[str, str]:
        """The texts of small regular files of the head tree, or of ``tree``; a path without one is left out."""
        return small_texts(self._store.git, tree or self._sides.head_tree, paths)

    def collect_uses(self, collector: UseCollector, tree: str | None = None) -> bool:
        """Give ``collector`` the lines of the head tree, or of ``tree``, with its names; False if not all of them."""
        return collect_uses(self._store.git, tree or self._sides.head_tree, collector)

    def close(self) -> None:
        """Remove the private folder that the reading goes through. Happens by itself at the latest at exit."""
        self._store.close()

    def _read(self) -> Change:
        sides, about = self._sides, self._about
        trees = dict.fromkeys((sides.head_tree, sides.base_tree, self._rules_tree))
        # Before git compares anything: it would unpack the largest tree that a few bytes can stand for.
        absent = missing(self._store.git, sides.head_tree)
        files = self._changed(sides.base_tree, sides.head_tree)
        change = Change(
            label=self.label,
            title=sides.title,
            base_sha=sides.base,
            head_sha=sides.head if sides.commits else None,
            rules_sha=sides.rules,
            files=files,
            same_decisions=tuple(path for path in _records(files)[:_MOST_RECORDS] if self._decides_the_same(path)),
            workflows=read_workflows(
                self._store,
                (self._rules_tree, sides.head_tree),
                files,
                about.pull_request.repository if about.pull_request is not None else None,
            ),
            own_repository=any(self._store.has(tree, OWN_PIPELINE) for tree in trees),
            config_in_pyproject=any(map(self._may_configure, trees)),
            tree=sides.head_tree,
            missing=absent.names,
            missing_files=absent.count,
        )
        if about.pull_request is not None:
            earlier = about.earlier and replace(about.earlier, touched=self._touched(about.earlier, about.pull_request))
            known = replace(about, earlier=earlier)
            change = _of_pull_request(change, about.pull_request, known)
        elif sides.commits:
            change = self._with_words(change)
        change = replace(
            change,
            title=change.title if about.title is None else about.title,
            body=change.body if about.body is None else about.body,
        )
        return replace(change, spec=about.spec or self._linked_spec(change.body) or self._issues_spec())

    def _touched(self, earlier: Earlier, pull_request: PullRequest) -> Touched | None:
        """The lines that differ since the last complete review; None where that cannot be told for certain.

        It cannot where the base is another one, or was taken back: lines that are the same may be part of the change
        for the first time then.
        """
        whole = earlier.whole
        if whole is None or whole.base_ref != pull_request.base_ref:
            return None
        if not self._store.comes_after(whole.base_sha, pull_request.base_sha):
            return None
        self._fetching(whole.head_sha)
        try:
            return touched_lines(self._changed(self._store.tree(whole.head_sha), self._sides.head_tree))
        except SourceError:
            return None

    def _decides_the_same(self, path: str) -> bool:
        """Whether a record has the same decision and status on both sides, as far as can be known."""
        try:
            trees = (self._sides.base_tree, self._sides.head_tree)
            sides = [self._store.blob(tree, path, _LARGEST_RECORD) for tree in trees]
        except ContentMissingError:
            return False
        if any(raw is not None and len(raw) == _LARGEST_RECORD for raw in sides):
            return False
        before, after = (None if raw is None else raw.decode("utf-8", "replace") for raw in sides)
        return before is not None and after is not None and same_decision(before, after)

    def _may_configure(self, tree: str) -> bool:
        """Whether the pyproject.toml of a tree names the bot, as far as can be known."""
        try:
            raw = self._store.blob(tree, PYPROJECT, _LARGEST_TEXT + 1)
        except ContentMissingError:
            return True
        return may_configure(raw) or len(raw or b"") > _LARGEST_TEXT

    def _changed(self, old: str, new: str) -> tuple[FileChange, ...]:
        return changed_files(self._store, old, new, self._rules_tree)

    def _with_words(self, change: Change) -> Change:
        """Title, body and author from the commits: one commit's own words, or all messages, oldest first."""
        commits, whole = self._log("--reverse", "--topo-order", self._sides.head, *self._left_out())
        head = commits[-1] if commits and whole else self._log("--max-count=1", self._sides.head)[0][0]
        match commits:
            case []:
                body = ""
            case [only]:
                body = only.body
            case _:
                body = "\n\n".join(commit.message for commit in commits)
        return replace(change, title=head.subject, body=body, author=head.author)

    def _left_out(self) -> list[str]:
        return [] if self._sides.base == self._sides.base_tree else [f"^{self._sides.base}"]

    def _log(self, *arguments: str) -> tuple[list[_Commit], bool]:
        """The words of these commits, and whether that is all of them: beyond a bound nothing is read."""
        form = "--format=tformat:%an%x00%s%x00%B"
        how = ("log", "-z", "--encoding=UTF-8", "--no-mailmap", form, *arguments, "--")
        output, code = self._store.git.beginning(*how, most=_MOST_WORDS, seconds=_WORDS_SECONDS)
        whole = len(output) <= _MOST_WORDS
        if whole and code != 0:
            raise SourceError("git log failed, or took too long (a partial or damaged clone?).")
        fields = output[:_MOST_WORDS].decode("utf-8", "replace").split("\0")
        if whole:
            fields.pop()
        triples = (fields[at : at + 3] for at in range(0, len(fields), 3))
        padded = ((*triple, "", "")[:3] for triple in triples)
        commits = [
            _Commit(author[:_LONGEST_NAME], subject[:_LONGEST_NAME], message.strip())
            for author, subject, message in padded
        ]
        return commits, whole

    def _linked_spec(self, body: str) -> Spec | None:
        """The file that a ``spec:`` line names: the base's, so that a change cannot rewrite it, else the head's."""
        path = spec_path(body)
        if path is None:
            return None
        sides = self._sides
        for tree, where in ((self._rules_tree, f"base {sides.rules[:_SHORT]}"), (sides.head_tree, self._head_name())):
            text = self._store.blob(tree, path, _LARGEST_TEXT + 1)
            if text is not None and len(text) > _LARGEST_TEXT:
                raise SourceError(f"The specification {path} is larger than {_LARGEST_TEXT:,} bytes.")
            if text is not None:
                return Spec(f"{path} at {where}", text.decode("utf-8", "replace"))
        return None

    def _issues_spec(self) -> Spec | None:
        pull_request = self._about.pull_request
        return None if pull_request is None else spec_of_issues(self._about.issues, pull_request.repository)

    def _head_name(self) -> str:
        return f"head {self._sides.head[:_SHORT]}" if self._sides.commits else "the index"


def _records(files: tuple[FileChange, ...]) -> list[str]:
    return [file.path for file in files if may_be_record(file)]


def _of_pull_request(change: Change, pull_request: PullRequest, about: About) -> Change:
    return replace(
        change,
        label=pull_request.label,
        title=pull_request.title,
        body=pull_request.body,
        author=pull_request.author,
        base_ref=pull_request.base_ref,
        rules_ref=about.rules_ref,
        base_sha=pull_request.base_sha,
        repository=pull_request.repository,
        pull_request=pull_request.number,
        server=about.server,
        prior_fix_attempts=about.fix_attempts,
        earlier=about.earlier,
    )


_SHORT_DIGEST = 12


_ACCEPTED = "make it with `git diff` or `git format-patch`, with the prefixes a/ and b/, and pass it as it is"


_MOST_MAILS = 1_000


_MOST_LISTED = 200_000_000


_SECONDS = 60


class PatchSource:
    """A patch from a file. Made by ``open_patch``; ``base`` is the tree of the repository around it, if any."""

    base_sha: str | None = None
    rules_sha: str | None = None

    remarks: tuple[str, ...] = ()

    def __init__(
        self, patch: bytes, *, title: str, body: str, spec: Spec | None, base: tuple[ObjectStore, str] | None = None
    ) -> None:
        self._patch = patch
        self._base = base
        self._title = title
        self._body = body
        self._spec = spec
        self._read: tuple[FileChange, ...] | None = None

    @property
    def label(self) -> str:
        """The change's, which is known before anything of it is read."""
        return f"patch-{hashlib.sha256(self._patch).hexdigest()[:_SHORT_DIGEST]}"

    def change(self) -> Change:
        """The facts, as far as the patch tells them. Raises ``SourceError`` for a damaged patch."""
        files = self._files()
        if not files:
            raise SourceError("The patch holds no change: make it with `git diff` or `git format-patch`.")
        lines = (line for file in files if PYPROJECT in file.paths for hunk in file.hunks for line in hunk.lines)
        configured = may_configure(self.base_file(PYPROJECT))
        return Change(
            label=self.label,
            title=self._title,
            body=self._body,
            files=files,
            spec=self._spec,
            own_repository=self.base_file(OWN_PIPELINE) is not None,
            config_in_pyproject=configured or any(may_configure(line.encode()) for line in lines),
        )

    def _files(self) -> tuple[FileChange, ...]:
        """The files of the patch, once git was seen to read the same."""
        if self._read is None:
            try:
                entries = entries_of_patch(self._patch)
            except PatchError as error:
                raise SourceError(f"The patch cannot be read: {error}; {_ACCEPTED}.") from error
            _check_with_git(self._patch, entries)
            self._read = merged_types(entries)
        return self._read

    def head_tree(
        self,
        tree: str | None = None,  # noqa: ARG002 (as GitSource)
        shown: AsShown | None = None,  # noqa: ARG002 (as above)
    ) -> AbstractContextManager[None]:
        """A patch comes without a tree: None."""
        return nullcontext()

    def edits(self, folder: Path) -> Edits:
        """A bug: nobody can edit a tree that is not there."""
        raise AssertionError(f"a patch has no tree that could be edited in {folder}")

    def base_file(self, path: str) -> bytes | None:
        """A regular file at the HEAD of the repository around the patch; None without one."""
        if self._base is None:
            return None
        store, tree = self._base
        return store.blob(tree, path, refuse_links=True)

    def base_texts(self, paths: Iterable[str]) -> dict[str, BaseText]:
        """What stands at these paths of that HEAD; nothing without one."""
        return {} if self._base is None else self._base[0].texts(self._base[1], paths)

    def base_declared(self) -> dict[str, BaseText]:
        """The files of that HEAD which declare advisors; none without one."""
        return {} if self._base is None else self._base[0].declared(self._base[1])

    def base_part(self, path: str, most: int) -> bytes | None:  # noqa: ARG002 (as above)
        """A patch comes without a base: None."""
        return None

    def head_part(self, path: str, most: int) -> bytes | None:  # noqa: ARG002 (as above)
        """A patch comes without a tree: None."""
        return None

    def base_names(self, folder: str) -> tuple[str, ...]:
        """The names in a folder of the repository around it; none without one."""
        return () if self._base is None else self._base[0].names(self._base[1], folder)

    def head_text(self, path: str) -> str | None:
        """The text of a file that the patch adds, which stands in it whole; None for any other."""
        for file in self._files():
            if file.path == path and file.status is Status.ADDED and not file.binary:
                return "\n".join(line[1:] for hunk in file.hunks for line in hunk.lines if line.startswith("+"))
        return None

    def head_texts(self, paths: Iterable[str], tree: str | None = None) -> dict[str, str]:  # noqa: ARG002 (as above)
        """A patch comes without a tree: none."""
        return {}

    def collect_uses(self, collector: UseCollector, tree: str | None = None) -> bool:  # noqa: ARG002 (as above)
        """A patch comes without a tree: nothing is found."""
        return False

    def close(self) -> None:
        """Remove the private folder that the reading goes through."""
        if self._base is not None:
            self._base[0].close()


def _check_with_git(patch: bytes, entries: Sequence[FileChange]) -> None:
    """Raise ``SourceError`` unless git reads these files and counts in the patch, as a diff and as mails."""
    due = [(str(each.added), str(each.removed), each.path) for each in entries]
    due = [("-", "-", each.path) if each.binary else counts for each, counts in zip(entries, due, strict=True)]
    with temporary_folder("patch") as place:
        git = Git(find_git(Path.cwd()), place, environment={"GIT_CEILING_DIRECTORIES": str(place.parent)})
        try:
            (place / "diff").write_bytes(patch.replace(b"\r\n", b"\n"))
            (place / "mails").write_bytes(patch)
            for said in (_numstat(git, "diff"), _numstat(git, _mailed(git))) if entries else ():
                if said != due:
                    raise SourceError(f"The patch means something else to git than to this review: {_ACCEPTED}.")
        except OSError as error:
            raise SourceError(f"The patch cannot be given to git: {error.strerror}.") from error


def _numstat(git: Git, name: str) -> list[tuple[str, ...]] | None:
    """Added and removed lines and path of each section in a file; None if git cannot read it.

    By git's rule the first step of each path is a prefix; only where that leaves no name, paths have none.
    """
    for strip in ("-p1", "-p0"):
        output, code = git.beginning("apply", "--numstat", "-z", strip, name, most=_MOST_LISTED, seconds=_SECONDS)
        if code == 0:
            lines = output.split(b"\0")[:-1]
            return [tuple(map(shown_name, line.split(b"\t", 2))) for line in lines]
    return None


def _mailed(git: Git) -> str:
    """The name of a file with all diffs that ``git am`` finds in the patch. Raises ``SourceError``."""
    (git.folder / "split").mkdir()
    _, code = git.beginning("mailsplit", "-b", "-osplit", "mails", most=100, seconds=_SECONDS)
    mails = sorted((git.folder / "split").iterdir())
    if code != 0 or len(mails) > _MOST_MAILS:
        raise SourceError(f"The patch cannot be read as mails, or holds over {_MOST_MAILS} of them: {_ACCEPTED}.")
    with (git.folder / "mailed").open("wb") as mailed:
        for mail in mails:
            with mail.open("rb") as one_mail:
                _, code = git.beginning(
                    "mailinfo", "-n", "message", "body", most=100_000, seconds=_SECONDS, stdin=one_mail
                )
            if code != 0:
                raise SourceError(f"A mail of the patch cannot be read: {_ACCEPTED}.")
            with (git.folder / "body").open("rb") as body:
                shutil.copyfileobj(body, mailed)
            mailed.write(b"\n")
    return "mailed"


_SHORT_NAME = 12


_MOST_NAMED = 5


def open_range(repo: Path, revisions: str, about: About | None = None, rules: str = "") -> GitSource:
    """``A..B`` (from A to B) or ``A...B`` (from their merge base to B); a right side left out is HEAD.

    All paths of the range count, also where ``repo`` is a folder inside the repository. The rules are those of A, not
    of the merge base, or of the commit ``rules``. Raises ``SourceError``, also for a range that is empty in a shallow
    clone.
    """
    dots = "..." if "..." in revisions else ".."
    left, found, right = revisions.partition(dots)
    if not found:
        raise SourceError(f"{revisions!r} is not a range: write A..B, or A...B to start from the merge base.")
    if not left:
        raise SourceError(
            f"{revisions!r} names no base: write A..B (an undefined variable in a script looks like this)."
        )
    repository = open_repository(repo)
    store = ObjectStore(repository)
    head = repository.commit(right or "HEAD")
    tip = repository.base(left) if dots == ".." else repository.commit(left)
    base = tip if dots == ".." else _merge_base(repository, store, left, tip, head)
    _refuse_cut_off(repository, left, base, head)
    return _between(store, base, head, about, repository.commit(rules) if rules else tip)


def open_commit(repo: Path, revision: str = "HEAD") -> GitSource:
    """A commit that changes nothing, to read its files. Raises ``SourceError``."""
    repository = open_repository(repo)
    commit = repository.commit(revision)
    return _between(ObjectStore(repository), commit, commit, None, commit)


def open_base(repo: Path, ref: str, about: About | None = None) -> GitSource:
    """What HEAD has brought since it left ``ref``: from their merge base to HEAD, by the rules of the tip of ``ref``.

    Raises ``SourceError``, also for a short name that several refs have, and where a shallow clone holds nothing that
    HEAD has brought.
    """
    repository = open_repository(repo)
    store = ObjectStore(repository)
    head, tip = repository.commit("HEAD"), repository.commit(ref)
    base = _merge_base(repository, store, ref, tip, head)
    _refuse_cut_off(repository, ref, base, head)
    return _between(store, base, head, about, tip)


def _refuse_cut_off(repository: GitRepository, ref: str, base: str, head: str) -> None:
    """Refuse an empty range of a shallow clone: the commits that it lacks are not known to change nothing."""
    if repository.shallow and base == head:
        raise _no_base(repository, f"The head is no newer than {ref!r}, so there is no base to compare with")


def _default_branch(repository: GitRepository) -> str | None:
    """The default branch's full name; None where nobody else could have named one. Raises ``SourceError``."""
    branch = repository.default_branch()
    if branch is None and (repository.shallow or repository.has_remote()):
        raise _no_base(repository)
    return branch


def _no_base(repository: GitRepository, reason: str = "There is no base to compare with") -> SourceError:
    """Why nothing is reviewed without a base: the change would look empty or smaller, or bring its own rules."""
    where = "in this shallow clone" if repository.shallow else "here"
    ways = "name one with --base REF"
    if repository.has_remote():
        ways = f"run `{repository.fetch_command}` (in CI: `fetch-depth: 0`), or {ways}"
        if repository.default_branch() is None:
            ways += ", or have git ask for the default branch after that (`git remote set-head origin --auto`)"
    return SourceError(f"{reason} {where}: {ways}.")


def _between(store: ObjectStore, base: str, head: str, about: About | None, rules: str) -> GitSource:
    base_tree, head_tree = store.trees(base, head)
    return GitSource(store, Sides(base, head, base_tree, head_tree, commits=True, rules=rules), about or About())


def open_staged(repo: Path, about: About | None = None) -> GitSource:
    """What is staged: HEAD (nothing, before the first commit) against the index as it is.

    In a hook it is the index of the commit that is being made. The rules are those of the default branch's tip, because
    the earlier commits of a branch are its author's. Only where there is no remote, and no ``main`` or ``master``, they
    are those of HEAD. Raises ``SourceError``, also where the default branch is not here.
    """
    repository = open_repository(repo).of_commit_in_progress()
    branch = _default_branch(repository)
    store = ObjectStore(repository)
    base = repository.head() or store.empty_tree()
    rules = base if branch is None else repository.commit(branch)
    staged = store.staged_tree(repository)
    return GitSource(store, Sides(base, staged, store.tree(base), staged, commits=False, rules=rules), about or About())


def open_working_tree(repo: Path, about: About | None = None, *, untracked: bool = False) -> GitSource:
    """All that a developer has: what HEAD has brought since the default branch, and tracked files as they are on disk.

    ``untracked``: the files that git does not know, too; ignored ones never. What was chosen is told in ``remarks``.
    The rules are those of the default branch's tip. Raises ``SourceError``, also where the default branch is not here
    and the change may therefore be larger than what can be seen of it.
    """
    repository = open_repository(repo)
    top = repository.top()
    head, branch = repository.head(), _default_branch(repository)
    store = ObjectStore(repository)
    base, since = head or store.empty_tree(), "the last commit"
    rules = base if branch is None else repository.commit(branch)
    if head is not None and branch is not None:
        shown = branch.removeprefix("refs/remotes/").removeprefix("refs/heads/")
        forked = _merge_base(repository, store, shown, rules, head)
        base, since = (forked, f"{shown} ({forked[:_SHORT_NAME]})") if forked != head else (base, since)
    others = repository.untracked(top)
    tree = store.working_tree(repository, top, others if untracked else ())
    base_tree = store.tree(base)
    if head in (None, base) and tree == base_tree and (branch is None or repository.shallow):
        raise _no_base(repository)
    title = f"changes since {since}, with what is not committed"
    sides = Sides(base, tree, base_tree, tree, commits=False, rules=rules, kind="work", title=title)
    return GitSource(store, sides, about or About(), remarks=tuple(_remarks(since, others, sent=untracked)))


def _remarks(since: str, untracked: Sequence[str], *, sent: bool) -> Iterator[str]:
    yield f"Reviewing the changes since {since}, with what is not committed of tracked files."
    if untracked:
        named = ", ".join(map(shown_path, untracked[:_MOST_NAMED]))
        more = f" and {len(untracked) - _MOST_NAMED} more" if len(untracked) > _MOST_NAMED else ""
        word = "Untracked and sent" if sent else "Untracked and not sent (--untracked sends them)"
        yield f"{word}: {named}{more}."


def open_patch(
    path: Path,
    about: About | None = None,
    repo: Path | None = None,
    read: Callable[[Path], bytes] = Path.read_bytes,
) -> PatchSource:
    """A patch file, as ``git diff``, ``git format-patch`` or ``diff -u`` write it. Raises ``SourceError``.

    With a repository around (``repo``), its HEAD is the patch's base: for the configuration and the guard.
    """
    try:
        patch = read(path)
    except OSError as error:
        raise SourceError(f"The patch {path} cannot be read: {error.strerror}.") from error
    said = about or About()
    title = path.stem if said.title is None else said.title
    head = open_head(repo) if repo is not None else None
    base = None if head is None else (head.store, head.tree)
    return PatchSource(patch, title=title, body=said.body or "", spec=said.spec, base=base)


@dataclass(frozen=True, slots=True)
class CheckedOutHead:
    """The commit that is checked out, and its ``tree`` in a ``store`` that whoever opened it closes."""

    commit: str
    store: ObjectStore
    tree: str


def open_head(repo: Path) -> CheckedOutHead | None:
    """HEAD; None outside a repository and before the first commit."""
    try:
        repository = open_repository(repo)
    except SourceError:
        return None
    commit = repository.head()
    if commit is None:
        return None
    store = ObjectStore(repository)
    return CheckedOutHead(commit, store, store.tree(commit))


def _merge_base(repository: GitRepository, store: ObjectStore, ref: str, tip: str, head: str) -> str:
    base = store.merge_base(tip, head)
    if base is None:
        advice = repository.advice("compare them with A..B instead, or")
        raise SourceError(f"{ref!r} and the head have no common ancestor here: {advice}.")
    return base


DEPTHS = (64, 512, 4_096)
"""How much history is asked for, one after the other, where the clone is shallow."""


_HEAD = "refs/review/head"


_BASE = "refs/review/base"


_BELIEVED = "refs/review/believed"


_EARLIER = "refs/review/earlier"


_KNOWN = "refs/review/known"


_SETTINGS = (
    "core.alternateRefsCommand=:",  # nothing runs in the user's repository
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "protocol.version=2",
)


_FETCH = (
    *(word for setting in _SETTINGS for word in ("-c", setting)),
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-show-forced-updates",
)


_COMMIT = re.compile(OBJECT_NAME)


_NO_ACCESS = (b"could not read Username", b"Authentication failed", b"error: 403", b"error: 401")


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a repository is fetched from.

    ``url`` is https, http or file. ``token`` goes along with a request to this very address, never onto a command line
    or a disk. ``network`` are the variables that say how the network is reached (proxy, certificates).
    """

    url: str
    token: str | None = field(default=None, repr=False)
    network: Mapping[str, str] = field(default_factory=dict, repr=False)

    def environment(self) -> dict[str, str]:
        """What git's environment says about this remote."""
        scheme = self.url.partition(":")[0]
        variables = {**self.network, "GIT_ALLOW_PROTOCOL": scheme}
        if self.token is not None and scheme != "file":
            credential = base64.b64encode(f"x-access-token:{self.token}".encode()).decode("ascii")
            variables |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"http.{self.url}.extraHeader",
                "GIT_CONFIG_VALUE_0": f"Authorization: Basic {credential}",
            }
        return variables


def open_pull_request(
    repo: Path, pull_request: PullRequest, remote: Remote, believed: BelievedBase, about: About | None = None
) -> GitSource:
    """A pull request, from its merge base to its head; what the clone lacks is fetched from ``remote``.

    Nothing is checked out and the clone is not written to. Configuration, attributes and specifications are those of
    ``believed``. Raises ``SourceError``, also where the head is no longer the one of ``pull_request``.
    """
    repository = open_repository(repo)
    store = ObjectStore(repository)
    sides = _fetch_sides(store, repository, remote, pull_request, believed.commit)
    told = replace(about or About(), pull_request=pull_request, rules_ref=believed.branch)
    return GitSource(store, sides, told, fetching=partial(_fetch_commit, store, repository, remote))


def _fetch_sides(
    store: ObjectStore, repository: GitRepository, remote: Remote, pull_request: PullRequest, rules: str
) -> Sides:
    """Both sides of a pull request, from their merge base to its head, fetched into ``store``.

    A clone that is shallow is deepened in steps, in the store. Raises ``SourceError``: nothing to fetch, a head that is
    no longer the one of ``pull_request``, or no merge base within reach.
    """
    if not all(map(_COMMIT.fullmatch, (pull_request.base_sha, pull_request.head_sha, rules))):
        raise SourceError(f"Pull request #{pull_request.number} names no commits.")
    known = repository.head()
    if known is not None:
        store.git.run("update-ref", _KNOWN, known)
    for depth in DEPTHS if repository.shallow else (None,):
        head = _fetch_head(store, remote, pull_request, rules, depth)
        base = store.merge_base(pull_request.base_sha, head)
        if base is not None:
            return Sides(base, head, store.tree(base), store.tree(head), commits=True, rules=rules)
    where = f"within {DEPTHS[-1]:,} commits; check out the whole history (in CI: `fetch-depth: 0`)"
    raise SourceError(
        f"Pull request #{pull_request.number} and its base have no common ancestor"
        f"{f' {where}' if repository.shallow else ': their histories are unrelated'}."
    )


def _fetch_head(store: ObjectStore, remote: Remote, pull_request: PullRequest, rules: str, depth: int | None) -> str:
    """Fetch head, base and the commit ``rules``; the head's name, which is the one that was asked for."""
    number = pull_request.number
    wanted = (f"+refs/pull/{number}/head:{_HEAD}", f"+{pull_request.base_sha}:{_BASE}", f"+{rules}:{_BELIEVED}")
    reply = fetch(store, remote, wanted, depth)
    if reply.code != 0:
        raise SourceError(not_fetched(reply, remote, number))
    head = store.git.run("rev-parse", "--verify", f"{_HEAD}^{{commit}}").decode("ascii").strip()
    if head != pull_request.head_sha:
        raise SourceError(
            f"The head of pull request #{number} moved from {pull_request.head_sha[:12]} to {head[:12]} while it was "
            "being read: start the review again."
        )
    return head


def _fetch_commit(store: ObjectStore, repository: GitRepository, remote: Remote, commit: str) -> None:
    """Fetch a commit that no branch leads to any more, if the forge still has it."""
    if _COMMIT.fullmatch(commit) and not store.has_commit(commit):
        fetch(store, remote, (f"+{commit}:{_EARLIER}",), 1 if repository.shallow else None)


def fetch(store: ObjectStore, remote: Remote, references: tuple[str, ...], depth: int | None) -> Reply:
    """Fetch into ``store`` and nowhere else. ``depth`` is how much history, None for all of it."""
    return store.git.attempt(
        *_FETCH,
        *(() if depth is None else (f"--depth={depth}",)),
        "--end-of-options",
        remote.url,
        *references,
        environment=remote.environment(),
    )


def not_fetched(reply: Reply, remote: Remote, number: int) -> str:
    """Why a fetch for a pull request failed, as a sentence."""
    if any(sign in reply.stderr for sign in _NO_ACCESS):
        needed = "this token may not read it" if remote.token else "it needs a token (GITHUB_TOKEN)"
        return f"Pull request #{number} cannot be fetched from {remote.url}: {needed}."
    return f"Pull request #{number} cannot be fetched from {remote.url}: {reply.complaint}."
