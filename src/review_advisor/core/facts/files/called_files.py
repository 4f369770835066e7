"""Which files of a repository the workflows that run the bot call: by path, through links, by its own name.

A reading of text, not of YAML: what may name a file counts as naming it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from posixpath import dirname, join, normpath

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
