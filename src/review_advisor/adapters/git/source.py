"""Two trees of a repository as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from review_advisor.adapters.git.diff import changed_files
from review_advisor.adapters.git.edited_tree import patch_between, read_back
from review_advisor.adapters.git.head_lines import collect_uses, small_texts
from review_advisor.adapters.git.object_store import ContentMissingError, ObjectStore
from review_advisor.adapters.git.tree import MaskedFile, exported
from review_advisor.adapters.git.tree_entries import missing
from review_advisor.adapters.git.workflow_files import read_workflows
from review_advisor.core.facts.adr_record import may_be_record, same_decision
from review_advisor.core.facts.change import Change, FileChange, Spec
from review_advisor.core.facts.earlier_review import Earlier, Touched
from review_advisor.core.facts.files.paths import OWN_PIPELINE, PYPROJECT, may_configure
from review_advisor.core.facts.guidelines import BaseText
from review_advisor.core.facts.patches.around import UseCollector
from review_advisor.core.facts.patches.touched_lines import touched_lines
from review_advisor.core.facts.pull_request import LinkedIssue, PullRequest
from review_advisor.core.facts.repair_edits import Edits
from review_advisor.core.facts.spec import spec_of_issues, spec_path
from review_advisor.core.facts.tree_bounds import DEFAULT_BOUNDS, TreeBounds
from review_advisor.ports.review import AsShown, SourceError

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
        bounds: TreeBounds = DEFAULT_BOUNDS,
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
        self._bounds = bounds
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
        return GitSource(self._store, self._sides, about, self._bounds, fetching=self._fetching)

    def within(self, bounds: TreeBounds) -> GitSource:
        """The same source, which reads no tree that is larger than that."""
        if bounds == self._bounds:
            return self
        return GitSource(self._store, self._sides, self._about, bounds, self.remarks, fetching=self._fetching)

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
        with exported(self._store, tree or self._sides.head_tree, self._bounds, shown) as made:
            self._masked[made.folder] = made.masked
            try:
                yield made.folder
            finally:
                del self._masked[made.folder]

    def edits(self, folder: Path) -> Edits:
        """What was edited in a folder of ``head_tree``, against the head. Raises ``SourceError``."""
        head = self._sides.head_tree
        tree, unfit = read_back(self._store, head, folder, self._bounds, self._masked.get(folder))
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
        absent = missing(self._store.git, sides.head_tree, self._bounds)
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
        return changed_files(self._store, old, new, self._rules_tree, self._bounds)

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
