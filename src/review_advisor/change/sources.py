"""A change read from git: a range, the index, or the working tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from review_advisor.change.around import UseCollector
from review_advisor.change.change import Change, Earlier, Edits, FileChange, SourceError, Spec, Touched
from review_advisor.change.decision_records import may_be_record, same_decision
from review_advisor.change.diff_text import shown_path, touched_lines
from review_advisor.change.git import GitRepository, open_repository
from review_advisor.change.git_diff import changed_files
from review_advisor.change.git_store import ContentMissingError, ObjectStore, missing
from review_advisor.change.git_trees import MaskedFile, collect_uses, exported, small_texts
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import OWN_PIPELINE, PYPROJECT, may_configure
from review_advisor.change.pull_request import LinkedIssue, PullRequest, spec_of_issues, spec_path
from review_advisor.change.running_workflows import read_workflows
from review_advisor.change.source import AsShown
from review_advisor.change.tree_edits import patch_between, read_back

_SHORT = 12
_LARGEST_RECORD = 200_000

_MOST_RECORDS = 50
"""A longer record, in bytes, and every further one count as decided anew: nobody compares them."""

_LARGEST_TEXT = 10_000_000
"""Of a larger file, in bytes, nobody reads the whole text."""

_MOST_LOG = 1_000_000

_LONGEST_NAME = 10_000
"""Bytes of commit messages, and characters of a subject or an author's name, that are read.

Prompts show less of each, so the report names what is left out.
"""

_LOG_SECONDS = 60.0

_LARGEST_CONFIG = 1_000_000
"""In bytes: GitHub hands out no larger file to the other jobs."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a change. ``base`` and ``head`` are commits, or trees where there is no commit."""

    base: str
    head: str
    base_tree: str
    head_tree: str
    commits: bool
    """``head`` is a commit; the index's tree is not one."""
    rules: str
    """The commit whose configuration, attributes and specifications hold (or the tree, where ``base`` is one).

    It is the tip of what the user named, because whoever writes a branch chooses where its diff begins.
    """
    kind: str = "staged"
    """What a head that is no commit is called in the label."""
    title: str = "staged changes"
    """The title of a head that is no commit."""


@dataclass(frozen=True, slots=True)
class About:
    """What the user or the forge states about a change; where they state nothing, its commits do."""

    title: str | None = None
    """The user's, as are ``body`` and ``spec``: they come first."""
    body: str | None = None
    spec: Spec | None = None
    pull_request: PullRequest | None = None
    rules_ref: str | None = None
    """The branch whose configuration holds for the pull request."""
    issues: tuple[LinkedIssue, ...] = ()
    """The issues that the pull request closes."""
    fix_attempts: int = 0
    """How often it was sent back before."""
    earlier: Earlier | None = None
    """Its last review."""
    server: str = ""
    """The address of the GitHub that it is on."""


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
        """This source, of a change that was reviewed before and sent back so often.

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
        """The files of the head tree which declare advisors, by their paths."""
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
        """The first ``most`` bytes of a regular file of the head tree, None if there is none."""
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
        records = [file.path for file in files if may_be_record(file)]
        change = Change(
            label=self.label,
            title=sides.title,
            base_sha=sides.base,
            head_sha=sides.head if sides.commits else None,
            rules_sha=sides.rules,
            files=files,
            same_decisions=tuple(path for path in records[:_MOST_RECORDS] if self._decides_the_same(path)),
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
            change = self._with_messages(change)
        change = replace(
            change,
            title=change.title if about.title is None else about.title,
            body=change.body if about.body is None else about.body,
        )
        spec = about.spec or self._linked_spec(change.body)
        if spec is None and about.pull_request is not None:
            spec = spec_of_issues(about.issues, about.pull_request.repository)
        return replace(change, spec=spec)

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

    def _with_messages(self, change: Change) -> Change:
        """Title, body and author from the commits: one commit's own message, or all of them, oldest first."""
        left_out = [] if self._sides.base == self._sides.base_tree else [f"^{self._sides.base}"]
        commits, whole = self._log("--reverse", "--topo-order", self._sides.head, *left_out)
        head = commits[-1] if commits and whole else self._log("--max-count=1", self._sides.head)[0][0]
        match commits:
            case []:
                body = ""
            case [only]:
                body = only.body
            case _:
                body = "\n\n".join(commit.message for commit in commits)
        return replace(change, title=head.subject, body=body, author=head.author)

    def _log(self, *arguments: str) -> tuple[list[_Commit], bool]:
        """The messages of these commits, and whether that is all of them: beyond a bound nothing is read."""
        form = "--format=tformat:%an%x00%s%x00%B"
        how = ("log", "-z", "--encoding=UTF-8", "--no-mailmap", form, *arguments, "--")
        output, code = self._store.git.beginning(*how, most=_MOST_LOG, seconds=_LOG_SECONDS)
        whole = len(output) <= _MOST_LOG
        if whole and code != 0:
            raise SourceError("git log failed, or took too long (a partial or damaged clone?).")
        fields = output[:_MOST_LOG].decode("utf-8", "replace").split("\0")
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
        head_name = f"head {sides.head[:_SHORT]}" if sides.commits else "the index"
        for tree, where in ((self._rules_tree, f"base {sides.rules[:_SHORT]}"), (sides.head_tree, head_name)):
            text = self._store.blob(tree, path, _LARGEST_TEXT + 1)
            if text is not None and len(text) > _LARGEST_TEXT:
                raise SourceError(f"The specification {path} is larger than {_LARGEST_TEXT:,} bytes.")
            if text is not None:
                return Spec(f"{path} at {where}", text.decode("utf-8", "replace"))
        return None


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
        name = branch.removeprefix("refs/remotes/").removeprefix("refs/heads/")
        forked = _merge_base(repository, store, name, rules, head)
        base, since = (forked, f"{name} ({forked[:_SHORT_NAME]})") if forked != head else (base, since)
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
