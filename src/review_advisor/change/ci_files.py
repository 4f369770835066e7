"""Workflows of a repository: which run the bot, what they call, and which changes concern it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from posixpath import dirname, join, normpath

from review_advisor.change.change import Change, FileChange, Status, Workflows
from review_advisor.change.kinds import OWN_NAME, PathRule

_LOCAL = re.compile(r"\./([\w.@+/-]*)")
_STEP = re.compile(r"uses:\s*[\"']?\./([\w.@+/-]*)")
_ROOT_ACTION = re.compile(r"uses:\s*[\"']?\./?[\"']?\s*$", re.MULTILINE)
_WORD = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")

_PUBLISHED = re.compile(r"(?<![\w.-])([\w.-]++/[\w.-]++)((?:/[\w.+-]++)*+)(@[\w./+-])?")
"""An action or a workflow by its repository, if a version follows: its own name reaches its files as ``./`` does."""

_ACTION_FILES = ("action.yml", "action.yaml")


class CalledFiles:
    """What some texts of CI are, and which files of their repository they name.

    ``repository`` is its own name, ``owner/name``; None where nobody knows it, so that any name may be its own.
    ``links`` are its symbolic links that they go through, each with where it leads.
    """

    def __init__(
        self, texts: Iterable[tuple[str, str]], repository: str | None = None, links: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._own = None if repository is None else repository.casefold()
        self._links: dict[str, str] = {}
        self._words: set[str] = set()
        self._folders: set[str] = set()
        self._sought: dict[str, None] = {}
        self._steps: set[tuple[str, ...]] = set()
        for path, text in texts:
            self.read(path, text)
        for link, target in links:
            self.follow(link, target)

    def read(self, path: str, text: str) -> None:
        """Add a text, and whatever it names."""
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        self._words |= {path.casefold(), *(word.removeprefix("./").casefold() for word in _WORD.findall(code))}
        if _ROOT_ACTION.search(code):
            self._words |= set(_ACTION_FILES)
        for name in dict.fromkeys((*_LOCAL.findall(text), *self._published(text))):
            self._uses(normpath(name.strip("/")))
        self._steps |= {_may_be(normpath(name.strip("/"))) for name in _STEP.findall(code)}
        self._spread()

    def _published(self, text: str) -> Iterator[str]:
        """What of this repository is used by the repository's own name."""
        for name, rest, version in _PUBLISHED.findall(text):
            if version and (rest or self._own in (None, name.casefold())):
                yield rest

    def _uses(self, name: str) -> None:
        named = _may_be(name)
        if named != (name,):
            self._folders |= {name.casefold()} - {"."}
        self._words |= {each.casefold() for each in named}
        self._sought.update(dict.fromkeys(named))

    @property
    def sought(self) -> tuple[str, ...]:
        """Where the actions and reusable workflows lie that are named, with links followed."""
        return tuple(dict.fromkeys(map(self._real, self._sought)))

    def lacks_a_step(self, found: Collection[str]) -> bool:
        """Whether a step uses an action or a workflow of which no file was found: a link may lead to it."""
        return any(not set(files) & set(found) for files in self._steps)

    def _real(self, path: str) -> str:
        for _ in range(len(self._links)):
            through = next((link for link in self._links if path == link or path.startswith(f"{link}/")), None)
            if through is None:
                break
            path = normpath(self._links[through] + path[len(through) :])
        return path

    def goes_through(self, link: str) -> bool:
        """Whether a link stands in a called place, or on the way to one."""
        below = f"{link.casefold()}/"
        return self.names(link) or any(each.startswith(below) for each in (*self._words, *self._folders))

    def follow(self, link: str, target: str) -> None:
        """What is called through the link is called where it leads, too."""
        self._links[link] = target
        self._spread()

    def _spread(self) -> None:
        """Let each link lead on whatever is called through it, in rounds, because a link may lead to another one."""
        for _ in self._links:
            before = len(self._words) + len(self._folders)
            for old, new in ((link.casefold(), target.casefold()) for link, target in self._links.items()):
                if self.names(old):
                    self._words.add(new)
                    self._folders.add(new)
                for known in (self._words, self._folders):
                    known |= {new + each[len(old) :] for each in known if each.startswith(f"{old}/")}
            if len(self._words) + len(self._folders) == before:
                return

    def names(self, path: str) -> bool:
        """Whether ``path`` is one of them: by its whole name, a tail of it, or a folder that it lies in."""
        parts = path.casefold().split("/")
        tails = ("/".join(parts[at:]) for at in range(len(parts)) if at < len(parts) - 1 or "." in parts[-1])
        folders = ["/".join(parts[:at]) for at in range(1, len(parts))]
        named = any(name in self._words for name in (*tails, *folders[1:]))
        return named or any(name in self._folders for name in (*folders, "/".join(parts)))


def _may_be(name: str) -> tuple[str, ...]:
    """The files that may be meant where a workflow uses ``name``: itself, or the action in that folder."""
    if name.casefold().endswith((".yml", ".yaml")):
        return (name,)
    return tuple(normpath(join(name, file)) for file in _ACTION_FILES)


def link_target(link: str, text: str) -> str | None:
    """Where in its repository a symbolic link leads; None where that is outside of it, or nowhere."""
    target = normpath(join(dirname(link), text))
    outside = text.startswith("/") or target in ("", ".") or target.startswith("..") or "\0" in text
    return None if outside else target


WORKFLOW_FOLDER = ".github/workflows"
WORKFLOWS = PathRule((f"/{WORKFLOW_FOLDER}",))

CI = PathRule((f"/{WORKFLOW_FOLDER}", "/.github/actions", "action.yml", "action.yaml"))
"""What runs in GitHub Actions."""

OWN_SECRETS = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "REVIEW_ADVISOR_STATE_KEY")
"""The secrets of the workflow that ``init`` writes; those of the repository's own workflow count too."""

_USES = re.compile(
    r"""[+-](?P<before>\s*(?:-\s+)?uses:\s*["']?(?!\./|docker:)[^@\s"'#]+)@(?P<ref>[^\s"'#]+)["']?\s*(?:\#.*)?"""
)

_BREAK_WITHIN = re.compile(r"[\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029](?!(?<=\r)\Z)")
"""What YAML or a reader may take for a line's end where git sees none: whatever follows it hides behind the line."""

_PINNED = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*")

_OTHER_SCOPES = (
    "actions attestations deployments discussions id-token issues models packages pages pull-requests security-events"
)

_OTHER_WRITE = re.compile(
    rf"(?<![\w&*!-])(?:{'|'.join(_OTHER_SCOPES.split())})[\"']?[ \t]*:[ \t]*[\"']?write(?![\w-])", re.IGNORECASE
)

_WRITE = re.compile(r"(?<![\w-])write(?:-all)?(?![\w-])|\\[xuU]", re.IGNORECASE)
"""The word, wherever it stands, and what could spell it in another way."""

_LOOSENS = re.compile(r"^-.*(?:\bpermissions\b|:\s*[\"']?(?:read|none)\b)", re.IGNORECASE)
_TRUSTED_RUN = re.compile(r"^\+.*\b(?:pull_request_target|workflow_run)\b", re.IGNORECASE)

_FOLD = re.compile(r"\\(?:\r\n|[\n\r\x85\u2028\u2029])\s*")
"""Where a word in double quotes goes on in the next line."""

_OTHERWISE_SPELT = re.compile(r"\\[xuU]|(?<!\s)\\(?:[\r\x85\u2028\u2029]|\Z)")
"""What spells a word in another way in a single line. A shell's line that goes on has a space before the backslash."""

_ANY_SECRET = re.compile(
    r"(?<![\w.-])secrets(?![\w-]|\.[A-Za-z_]|[\"']?\s*:)|(?<![\w-])inherit(?![\w-])", re.IGNORECASE
)
"""The secrets as a whole, in whatever expression; a mapping's key is none, but its value may be ``inherit``."""

_SECRET = re.compile(r"\bsecrets\.([A-Za-z_]\w*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CiEdit:
    """A change of one file of CI. ``lines`` are the changed ones, with their ``+`` or ``-``.

    They are None where the forge shows none; then only what the text names is known. ``in_place``: a regular file was
    modified or deleted under its own name. ``after`` is its text at the head, of a deleted file nothing; None if it is
    unknown.
    """

    lines: tuple[str, ...] | None
    in_place: bool
    after: str | None


def edit_of(file: FileChange, after: str | None) -> CiEdit:
    """The edit that a change of a file is; ``after`` is its text at the head, if that was read."""
    kept = file.status in (Status.MODIFIED, Status.DELETED) and not (file.is_symlink or file.is_submodule)
    return CiEdit(
        None if file.binary else tuple(file.signed_lines),
        in_place=kept and not file.binary,
        after="" if file.status is Status.DELETED else after,
    )


def only_bumps(lines: Iterable[str]) -> bool:
    """Whether the changed lines do nothing but move pinned actions to another commit or version.

    A commit's full name never gives way to a name that can move: that would unpin the action.
    """
    changed = list(lines)
    if any(map(_BREAK_WITHIN.search, changed)):
        return False
    old, new = ([_USES.fullmatch(line) for line in changed if line.startswith(mark)] for mark in "-+")
    return bool(old) and len(old) == len(new) and all(map(_bump, old, new))


def _bump(old: re.Match[str] | None, new: re.Match[str] | None) -> bool:
    if old is None or new is None or old["before"] != new["before"]:
        return False
    if _PINNED.fullmatch(new["ref"]):
        return True
    return bool(_VERSION.fullmatch(old["ref"]) and _VERSION.fullmatch(new["ref"]))


def concern(edit: CiEdit, ours: Iterable[str]) -> str | None:
    """How a workflow's edit concerns the bot, whose names and secrets are ``ours``; None if it does not."""
    if not edit.in_place:
        return "a workflow is added, or takes another's place"
    if edit.after is None:
        return "its text is unknown"
    lines = edit.lines or ()
    after = f"{edit.after}\n{_FOLD.sub('', edit.after)}"
    named = _names("\n".join((after, *lines)), ours)
    if named is not None:
        return named
    if any(map(_OTHERWISE_SPELT.search, lines)):
        return "it may spell a word in another way"
    if edit.lines is None or not edit.after or only_bumps(lines):
        return None
    if _WRITE.search(_OTHER_WRITE.sub("", after)):
        return "it may write checks, statuses or contents"
    if any(map(_LOOSENS.match, lines)):
        return "a limit of its permissions is gone"
    return "it runs with the base's rights now" if any(map(_TRUSTED_RUN.match, lines)) else None


def _names(text: str, ours: Iterable[str]) -> str | None:
    normalised = " ".join(text.replace("\\/", "/").casefold().split())
    named = next((name for name in ours if " ".join(name.casefold().split()) in normalised), None)
    if named is not None:
        return f"it names {named}"
    return "it takes whichever secret it likes" if _ANY_SECRET.search(text) else None


def own_names(check_name: str, workflows: Workflows | None = None) -> tuple[str, ...]:
    """What a workflow must not name unwatched: the bot, its check, and the secrets of the workflow that runs it."""
    texts = workflows.running if workflows else ()
    secrets = {name for _, text in texts for name in _SECRET.findall(text)} - {"GITHUB_TOKEN"}
    return tuple(dict.fromkeys((OWN_NAME, OWN_NAME.replace("-", "_"), check_name, *OWN_SECRETS, *sorted(secrets))))


def watched(change: Change, check_name: str) -> Iterator[str]:
    """The paths of a change, on either side, that concern the bot as CI: its workflow, what that calls, and others."""
    facts, ours = change.workflows, own_names(check_name, change.workflows)
    heads = dict(facts.heads) if facts else {}
    called = CalledFiles(facts.running, change.repository, facts.links) if facts else CalledFiles(())
    for file in change.files:
        as_folder = file.is_symlink or file.is_submodule
        for path in file.paths:
            in_folder = WORKFLOWS.matches(path) or (as_folder and WORKFLOWS.matches(f"{path}/x"))
            edit = edit_of(file, heads.get(file.path) if facts else None)
            unfollowed = facts is not None and not facts.followed and (CI.matches(path) or in_folder)
            calls = called.names(path) or (as_folder and called.goes_through(path))
            if unfollowed or calls or (in_folder and concern(edit, ours) is not None):
                yield path
