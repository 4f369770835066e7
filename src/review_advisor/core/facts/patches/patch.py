"""The hunk walker: where each file's section and each hunk of a patch begins and ends.

Boundaries come from the hunks' own counts, never from what a line looks like: inside a hunk a line that
reads ``diff --git`` or ``@@`` is content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from review_advisor.core.facts.change import Hunk

_HUNK = re.compile(rb"@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@(.*)", re.DOTALL)
_BLOCK = 65_536
_FILE = b"diff --git "
_COMBINED = (b"diff --cc ", b"diff --combined ")
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_QUOTING = re.compile(rb"(?:[ \t>|X]++|- )*+")
"""What ``patch`` takes off the lines of a diff that stands in a mail or is indented."""
_APPLIED = re.compile(
    rb"diff --git |@@ -\d|\*\*\* \d|\d[\d,]*[acd][\d,]*[pln]*\s*$"  # git, unified, context; ed and normal
)
_BEGINNINGS = frozenset(bytes((each,)) for each in b"d@*-I0123456789")
"""With what every line begins that may be taken for a diff."""
_COMMAND = re.compile(rb"\d[\d,]*[acd]")
_MIME = re.compile(rb"^content-(type|transfer-encoding)[ \t]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_PLAIN_ENCODING = re.compile(rb"(?:[78]bit)?", re.IGNORECASE)
_CHARSET = rb"(?:utf-?8|(?:us-)?ascii|iso-8859-\d\d?|latin-?1|windows-125\d|koi8-[ru])"
_PLAIN_TYPE = re.compile(
    rb"text/plain(?:[ \t]*;[ \t]*(?:charset[ \t]*=[ \t]*\"?%s\"?|format[ \t]*=[ \t]*\"?fixed\"?))*[ \t]*;?" % _CHARSET,
    re.IGNORECASE,
)
_BASE85 = re.compile(rb"(?:literal|delta) \d+|[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+")
_HEADER = re.compile(
    rb"(?:(?:old|new|deleted file|new file) mode|(?:copy|rename) (?:from|to)|(?:dis)?similarity index|index|---|\+\+\+"
    rb"|Binary files) |GIT binary patch"
)


class PatchError(ValueError):
    """The text is not a whole, well-formed patch. One sentence, with the line's number."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """One file's part of a patch: the header lines as bytes (no line ends), and its hunks."""

    header: tuple[bytes, ...]
    hunks: tuple[Hunk, ...]

    @property
    def binary(self) -> bool:
        """Whether the patch says that the file is binary."""
        return any(line.startswith((b"Binary files ", b"GIT binary patch")) for line in self.header)


def split_git_diff(data: bytes) -> tuple[FilePatch, ...]:
    """The sections of ``git diff`` output, in order. Every line must be accounted for; raises ``PatchError``."""
    return tuple(git_diff_sections(_blocks(data)))


def git_diff_sections(blocks: Iterable[bytes]) -> Iterator[FilePatch]:
    """The same of output that comes in blocks, cut anywhere: each section as soon as it is whole."""
    lines = _Lines(blocks)
    while (line := lines.ahead()) is not None:
        if not line.startswith(_FILE):
            raise PatchError(f"line {lines.read + 1} of git's diff belongs to no file")
        yield _section(lines)


def split_patch(data: bytes) -> tuple[FilePatch, ...]:
    """The sections of a patch from anywhere: ``git diff``, ``git format-patch``, ``diff -u``.

    Text before, between and after the sections (a mail's message and signature) is passed over, as ``git apply``
    does. Raises ``PatchError`` for a hunk that is cut short or has no file, for a merge's combined diff, and for text
    outside of the sections that ``git am`` or ``patch`` might apply all the same: encoded mails, other kinds of diffs,
    quoted and indented ones.
    """
    if data.startswith(_BYTE_ORDER_MARKS):
        raise PatchError("it begins with a byte order mark: it has to be UTF-8 without one")
    lines = _Lines(_blocks(data))
    sections: list[FilePatch] = []
    between = _Between()
    while (line := lines.ahead()) is not None:
        if line.startswith(_FILE) or _plain_header(lines):
            sections.append(_section(lines))
            between.ends(sections[-1])
        else:
            between.passes(line, lines.ahead(1) or b"", lines.read + 1)
            lines.take(1)
    between.ends(None)
    return tuple(sections)


class _Between:
    """The text between two sections. Raises ``PatchError`` for what another program might apply."""

    def __init__(self) -> None:
        self._header: list[bytes] | None = []
        """The lines of a mail's header so far; None outside of one."""
        self._indexed = b""

    def passes(self, line: bytes, following: bytes, number: int) -> None:
        """Take one line, and look at the one that follows."""
        if b"\0" in line:
            raise PatchError(f"line {number}: a NUL byte: it has to be UTF-8")
        plain = _freed(line)
        if plain[:1] in _BEGINNINGS:
            self._looks(line, plain, following, number)
        self._in_header(line.removesuffix(b"\r"))

    def _looks(self, line: bytes, plain: bytes, following: bytes, number: int) -> None:
        if plain.startswith(_COMBINED):
            raise PatchError(f"line {number}: a merge's combined diff cannot be reviewed, make it against one parent")
        if plain == line and _HUNK.fullmatch(line):
            raise PatchError(f"line {number}: a hunk without a file header")
        normal = _COMMAND.match(plain) is not None and following.lstrip().startswith((b"< ", b"> "))
        if normal or _is_applied(plain, _freed(following)):
            raise PatchError(
                f"line {number}: it resembles a diff that is indented, quoted or of another kind than a unified one"
            )
        if plain.startswith(b"Index:"):
            self._is_indexed(plain[6:].strip())

    def ends(self, section: FilePatch | None) -> None:
        """A section begins here, or the patch ends."""
        self._header_ends()
        if self._indexed and (section is None or self._indexed not in _stated_names(section)):
            raise PatchError("an `Index:` line names another file than the diff below it")
        self._indexed = b""

    def _is_indexed(self, name: bytes) -> None:
        if self._indexed:
            raise PatchError("two `Index:` lines stand above one diff")
        self._indexed = name

    def _in_header(self, line: bytes) -> None:
        if line.startswith(b"From "):
            self._header_ends()
            self._header = []
        elif not line and self._header:
            self._header_ends()
        elif line and self._header is not None:
            self._header.append(line)

    def _header_ends(self) -> None:
        header, self._header = self._header, None
        for kind, value in _MIME.findall(re.sub(rb"\n[ \t]+", b" ", b"\n".join(header or ()))):
            encoding = kind.lower() != b"type"
            if not (_PLAIN_ENCODING if encoding else _PLAIN_TYPE).fullmatch(value.strip()):
                what = "an encoding" if encoding else "a type"
                said = value.strip()[:60].decode("ascii", "backslashreplace")
                raise PatchError(f"a mail has {what} ({said!r}) other than plain text in 7bit or 8bit")


def _freed(line: bytes) -> bytes:
    """The line without what ``patch`` takes off a quoted or indented diff."""
    found = _QUOTING.match(line)
    return line[found.end() :] if found and found.end() else line


def _is_applied(line: bytes, following: bytes) -> bool:
    """Whether ``patch`` may take a line, freed from quoting, for the beginning of a diff, by it and the next one."""
    return (
        _APPLIED.match(line) is not None
        or (line.startswith(b"--- ") and following.startswith(b"+++ "))
        or (line.startswith(b"*** ") and following.startswith(b"--- "))
        or (line.startswith(b"********") and following.startswith(b"*** "))
    )


def _stated_names(section: FilePatch) -> set[bytes]:
    """The names in the lines ``---`` and ``+++``, with and without the prefixes of git."""
    names = {line[4:].partition(b"\t")[0] for line in section.header if line.startswith((b"--- ", b"+++ "))}
    return names | {name[2:] for name in names if name.startswith((b"a/", b"b/"))}


def _blocks(data: bytes) -> Iterator[bytes]:
    return (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))


class _Lines:
    """The lines of a patch without their ends, read once, from the first to the last.

    Objects for all lines of a large patch would take more memory than the patch: few are held at a time.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._held: list[bytes] = []
        self._taken = 0
        self._begun = b""
        self.read = 0
        """How many lines were taken so far."""

    def ahead(self, further: int = 0) -> bytes | None:
        """The line that is next, or the one that comes so many lines later; None behind the last one."""
        while self._taken + further >= len(self._held):
            if not self._hold_more():
                return None
        return self._held[self._taken + further]

    def take(self, count: int) -> list[bytes]:
        """So many lines, or as many as there are."""
        lines: list[bytes] = []
        while len(lines) < count and self.ahead() is not None:
            more = self._held[self._taken : self._taken + count - len(lines)]
            self._taken += len(more)
            lines += more
        self.read += len(lines)
        return lines

    def _hold_more(self) -> bool:
        """Read up to the next end of a line; False if nothing is left."""
        pieces, self._begun = [self._begun], b""
        for block in self._blocks:
            pieces.append(block)
            if b"\n" in block:
                *more, self._begun = b"".join(pieces).split(b"\n")
                break
        else:
            more = list(filter(None, [b"".join(pieces)]))
        self._held = [*self._held[self._taken :], *more]
        self._taken = 0
        return bool(more)


def _plain_header(lines: _Lines) -> bool:
    old, new, hunk = (lines.ahead(further) or b"" for further in range(3))
    return old.startswith(b"--- ") and new.startswith(b"+++ ") and _HUNK.fullmatch(hunk) is not None


def _section(lines: _Lines) -> FilePatch:
    """The section that begins with the next line."""
    header = lines.take(1)
    while _HEADER.match(lines.ahead() or b""):
        header += lines.take(1)
    section = FilePatch(tuple([line.removesuffix(b"\r") for line in header]), tuple(_hunks(lines)))
    if section.binary and section.hunks:
        raise PatchError(f"line {lines.read}: a file that is said to be binary has lines")
    if section.header[-1] == b"GIT binary patch":
        _pass_binary(lines)
    return section


def _pass_binary(lines: _Lines) -> None:
    """Take the content of a binary file and, where there is one, its reverse: each ends with an empty line."""
    while (lines.ahead() or b"").startswith((b"literal ", b"delta ")):
        while _BASE85.fullmatch((lines.ahead() or b"").removesuffix(b"\r")):
            lines.take(1)
        if lines.ahead() in (b"", b"\r"):
            lines.take(1)


def _hunks(lines: _Lines) -> Iterator[Hunk]:
    while match := _HUNK.fullmatch(lines.ahead() or b""):
        lines.take(1)
        yield _hunk(match, lines)
    if (lines.ahead() or b"").startswith(b"@@ -"):
        raise PatchError(f"line {lines.read + 1}: a hunk's header that cannot be read")


def _hunk(head: re.Match[bytes], lines: _Lines) -> Hunk:
    old_start, old_count, new_start, new_count = (1 if count is None else int(count) for count in head.groups()[:4])
    own = _counted_lines(lines, old_count, new_count)
    while (lines.ahead() or b"").startswith(b"\\ "):
        own += lines.take(1)
    section = head.group(5).decode("utf-8", "replace").removesuffix("\r").removeprefix(" ")
    return Hunk(old_start, old_count, new_start, new_count, section, _text(own))


def _counted_lines(lines: _Lines, old_count: int, new_count: int) -> list[bytes]:
    """The hunk's lines up to the last counted one. Raises ``PatchError`` where lines and counts disagree."""
    old_left, new_left = old_count, new_count
    before = lines.read
    own: list[bytes] = []
    while old_left or new_left:
        # A line takes one from at least one count, so this many are the hunk's own: counted at once, not one by one.
        run = lines.take(max(old_left, new_left))
        marks = Counter([line[:1] for line in run])
        both = marks[b" "] + marks[b""]  # diff.suppressBlankEmpty writes an empty context line as nothing at all
        old_left -= both + marks[b"-"]
        new_left -= both + marks[b"+"]
        own += run
        if not run or min(old_left, new_left) < 0 or both + marks[b"-"] + marks[b"+"] + marks[b"\\"] < len(run):
            raise _damage(own, before, old_count, new_count)
    return own


def _damage(lines: list[bytes], before: int, old_left: int, new_left: int) -> PatchError:
    """Where the hunk with these lines, which come after so many others, goes wrong first."""
    for number, line in enumerate(lines, before + 1):
        mark = line[:1]
        if mark not in b"+- \\":
            return PatchError(f"line {number}: not a line of the hunk that line {before} begins")
        old_left -= mark in b"- "
        new_left -= mark in b"+ "
        if min(old_left, new_left) < 0:
            return PatchError(f"line {number}: more lines than the hunk at line {before} announces")
    return PatchError(f"the hunk at line {before} is cut short: the patch ends inside it")


def _text(lines: list[bytes]) -> tuple[str, ...]:
    """The lines as one, with the line ends between them: of a large hunk they would take ten times the memory."""
    if b"" in lines:
        lines = [line or b" " for line in lines]
    return (b"\n".join(lines).decode("utf-8", "replace"),) if lines else ()
