"""The pull request of a story: pushes move it, and reviews read from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from review_advisor.change.change import Change, Earlier, FileChange, Spec, Status, Touched, TouchedLines, touched
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.pull_request import Permission
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import GitHub, contents_of, listing_of
from review_advisor.mockworld.github_records import Pull
from review_advisor.mockworld.story import PullRequestBlock, PushBlock


@dataclass(frozen=True, slots=True)
class Head:
    """The whole change as it stands after a push. ``texts`` are whole files at that head.

    ``pictures`` are the pairs that were made of it, before and after. ``bare``: it is a patch without a tree.
    """

    files: tuple[FileChange, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    pictures: tuple[PictureDifference, ...] = ()
    bare: bool = False


class StoryStepError(ValueError):
    """A step that cannot happen as the story tells it. One sentence."""


class HeadBranch:
    """One pull request: pushes move it, and reviews read from it what git and GitHub would tell them.

    ``whole``: GitHub has the files themselves and not only their names, for whoever reads them there.
    """

    def __init__(self, github: GitHub, block: PullRequestBlock, *, whole: bool) -> None:
        self.github = github
        self._told = block
        self._whole = whole
        self._heads: dict[str, Head] = {}
        self._pull: Pull | None = None
        github.opens_repository(block.repository)
        github.workflow_token()
        if block.fork:
            github.forks(block.repository, block.author)
        else:
            github.grants(block.repository, block.author, Permission.WRITE)

    @property
    def pull(self) -> Pull:
        """The pull request, once the first push has opened it."""
        if self._pull is None:
            raise StoryStepError("the pull request is not open yet: a push opens it")
        return self._pull

    @property
    def head(self) -> Head:
        """What stands at the present head."""
        return self._heads[self.pull.head_sha]

    @property
    def forge(self) -> FakeForge:
        """GitHub as the bot's token reaches it."""
        return FakeForge(self.github, self._told.repository, "github-actions[bot]")

    def push(self, block: PushBlock, *, forced: bool = False) -> None:
        """Somebody pushes; the first push opens the pull request."""
        before = Head() if self._pull is None else self.head
        head = before
        if block.files is not None:
            head = Head(
                tuple(file.facts() for file in block.files),
                {file.path: file.whole for file in block.files if file.whole is not None},
                tuple(picture.facts() for picture in block.pictures),
                block.bare,
            )
        self._pushed(before, head, block.by, forced=forced)

    def rename(self, path: str, to: str, by: str) -> None:
        """Somebody pushes the same change with one of its files under another name."""
        before = self.head
        moved = next((file for file in before.files if file.path == path), None)
        if moved is None:
            raise StoryStepError(f"no file of the change is called {path}")
        now = replace(moved, path=to)
        if moved.status is not Status.ADDED:
            now = replace(now, status=Status.RENAMED, old_path=moved.old_path or path)
        files = tuple(now if file is moved else file for file in before.files)
        self._pushed(before, replace(before, files=files), by)

    def _pushed(self, before: Head, head: Head, by: str, *, forced: bool = False) -> None:
        if self._pull is not None and self._pull.state != "open":
            raise StoryStepError("the pull request is closed: a push does not move its head any more")
        contents: dict[str, str | None] = {"change.txt": f"{len(self._heads)}\n"}  # another tree after each push
        if self._whole:
            after = contents_of(head.files)
            contents = {path: None for path in contents_of(before.files) if path not in after} | after
        listing = listing_of(head.files)
        if self._pull is None:
            block = self._told
            self._pull = self.github.opens(
                block.repository, contents, by=block.author, title=block.title, body=block.body, number=block.number,
                draft=block.draft, listing=listing,
            )  # fmt: skip
        elif forced:
            self.github.force_pushes(self._pull, contents, by=by or None, listing=listing)
        else:
            self.github.pushes(self._pull, contents, by=by or None, listing=listing)
        self._heads[self._pull.head_sha] = head

    def change(self) -> Change:
        """What a review of the present head looks at."""
        block, pull, head = self._told, self.pull, self.head
        base_sha = self.github.base_sha(pull)
        return Change(
            label=f"pr-{pull.number}",
            title=pull.title,
            body=pull.body,
            author=pull.author,
            base_ref=pull.base_ref,
            base_sha=base_sha,
            head_sha=pull.head_sha,
            files=head.files,
            spec=None if block.spec is None else Spec("docs/spec.md", block.spec),
            prior_fix_attempts=block.prior_fix_attempts,
            own_repository=block.own_repository,
            config_in_pyproject=block.config_in_pyproject,
            tree=None if head.bare else self.github.commit(pull.head_sha).tree,
            repository=pull.repository,
            pull_request=pull.number,
            server="https://github.com",
            rules_ref=pull.base_ref,
            rules_sha=base_sha,
        )

    def since(self, earlier: Earlier) -> Earlier:
        """The last review, with what git knows of it: what differs since, and whether it is part of the history."""
        head = self.pull.head_sha
        if earlier.head_sha not in self.github.objects.ancestry(head):
            return earlier
        before = {file.path: file for file in self._heads[earlier.head_sha].files}
        now = {file.path: file for file in self.head.files}
        differing = {path for path in {*before, *now} if before.get(path) != now.get(path)}
        gone, new = differing - now.keys(), differing - before.keys()
        renames = {(old, path) for old in gone for path in new if before[old].hunks == now[path].hunks}
        known = replace(earlier, is_ancestor=True, paths=frozenset(differing), renames=frozenset(renames))
        return replace(known, touched=self._touched(earlier))

    def _touched(self, earlier: Earlier) -> Touched | None:
        """The lines that differ since the last complete review of the change into the same base branch."""
        whole = earlier.whole
        if whole is None or whole.base_ref != self.pull.base_ref:
            return None
        before, now = (contents_of(head.files) for head in (self._heads[whole.head_sha], self.head))
        return {
            path: tuple(_replaced(before.get(path, "").splitlines(), text.splitlines()))
            for path, text in now.items()
            if before.get(path) != text
        }


def _replaced(before: list[str], now: list[str]) -> Iterator[TouchedLines]:
    for tag, old, old_end, new, new_end in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if tag != "equal":
            yield touched(new + 1, new_end - new, old_end - old)
