"""A patch as text: its files, hunks and headers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from review_advisor.change.change import FileChange, Hunk, Status

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
    """The sections of ``git diff`` output that comes in blocks, cut anywhere: each as soon as it is whole."""
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
                quoted = value.strip()[:60].decode("ascii", "backslashreplace")
                raise PatchError(f"a mail has {what} ({quoted!r}) other than plain text in 7bit or 8bit")


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


_ABSENT = "000000"
_REGULAR = "100644"
_INDEX = re.compile(rb"index [0-9a-f]+\.\.[0-9a-f]+ ([0-7]{6})")

_FIELD = re.compile(
    rb"((?:old|new|deleted file|new file) mode|(?:copy|rename) (?:from|to)|diff --git|---|\+\+\+) (.*)", re.DOTALL
)

_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)")
_BLANK = re.compile(rb"\s")
_PREFIX = re.compile(rb"[abciow]/")

_TYPE = slice(0, 3)
"""Where a mode says whether it is a file, a symbolic link or a submodule."""

_CONTROLS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def files_of_patch(data: bytes) -> tuple[FileChange, ...]:
    """Every file a patch changes, in its order. Raises ``PatchError`` where the patch is damaged or contradicts itself.

    A file's deletion followed by its creation as something else is one type change, as git writes it. Modes that
    the patch does not state are taken to be those of a regular file.
    """
    return merged_types(entries_of_patch(data))


def entries_of_patch(data: bytes) -> tuple[FileChange, ...]:
    """The files of a patch, each section on its own, as ``git apply --numstat`` lists them."""
    return tuple(map(_file, split_patch(data)))


def merged_types(entries: Sequence[FileChange]) -> tuple[FileChange, ...]:
    """``entries`` with each deletion and creation that together change a file's type as one."""
    files: list[FileChange] = []
    for file in entries:
        if files and _is_type_change(files[-1], file):
            files[-1] = _type_change(files[-1], file)
        else:
            files.append(file)
    return tuple(files)


def shown_name(name: bytes) -> str:
    r"""A path as ``FileChange`` holds it: UTF-8, other bytes as ``\xNN``."""
    return name.decode("utf-8", "backslashreplace")


def count_lines(hunks: Sequence[Hunk]) -> tuple[int, int]:
    """The number of added and of removed lines."""
    marks = [line[:1] for hunk in hunks for line in hunk.lines]
    return marks.count("+"), marks.count("-")


def _file(section: FilePatch) -> FileChange:
    header = _fields(section)
    old, new = _names(section, header)
    old_mode, new_mode = _modes(header, absent_old=old is None, absent_new=new is None)
    added, removed = count_lines(section.hunks)
    path = new if new is not None else old
    if path is None:
        raise PatchError(f"a file section names no file: {shown_name(section.header[0])!r}")
    moved = None not in (old, new) and old != new
    return FileChange(
        status=_status(header, old, new),
        path=shown_name(path),
        old_path=shown_name(old) if moved and old is not None else None,
        old_mode=old_mode,
        new_mode=new_mode,
        added=0 if section.binary else added,
        removed=0 if section.binary else removed,
        binary=section.binary,
        hunks=section.hunks,
    )


def _status(header: dict[str, bytes], old: bytes | None, new: bytes | None) -> Status:
    if old is None:
        return Status.ADDED
    if new is None:
        return Status.DELETED
    if "copy to" in header:
        return Status.COPIED
    return Status.MODIFIED if old == new else Status.RENAMED


def _fields(section: FilePatch) -> dict[str, bytes]:
    fields: dict[str, bytes] = {}
    for key, rest in map(_split_header, section.header):
        if key in fields:
            raise PatchError(f"two {key!r} lines under {shown_name(section.header[0])!r}")
        if key:
            fields[key] = rest
    return fields


def _split_header(line: bytes) -> tuple[str, bytes]:
    if match := _INDEX.fullmatch(line):
        return "index", match[1]
    match = _FIELD.fullmatch(line)
    return (match[1].decode(), match[2]) if match else ("", b"")


def _modes(header: dict[str, bytes], *, absent_old: bool, absent_new: bool) -> tuple[str, str]:
    both = header.get("index", _REGULAR.encode())
    old = header.get("old mode", header.get("deleted file mode", both))
    new = header.get("new mode", header.get("new file mode", both))
    return (_ABSENT if absent_old else shown_name(old)), (_ABSENT if absent_new else shown_name(new))


def _names(section: FilePatch, header: dict[str, bytes]) -> tuple[bytes | None, bytes | None]:
    """The old and the new name, None for an absent side; all header lines must agree.

    Raises ``PatchError`` also for names of which ``patch`` takes another one than git.
    """
    where = repr(shown_name(section.header[0]))
    if any(_is_cut(header.get(side, b"")) for side in ("---", "+++")):
        raise PatchError(f"a name under {where} holds a blank, and no tab follows it")
    old: bytes | None
    new: bytes | None
    plain = (_plain_name(header["---"]), _plain_name(header["+++"])) if {"---", "+++"} <= header.keys() else None
    moved, pair = _moved(header, "rename") or _moved(header, "copy"), _git_pair(header.get("diff --git", b""))
    if moved and pair and moved != pair:
        raise PatchError(f"the header lines under {where} name different files")
    if stated := moved or pair:
        old, new = stated
        if plain and not all(raw is None or _same(raw, name) for raw, name in zip(plain, stated, strict=True)):
            raise PatchError(f"the header lines under {where} name different files")
    elif plain:
        old, new = _without_prefixes(*plain)
    else:
        raise PatchError(f"the names in {where} cannot be told apart")
    if "new file mode" in header or (plain and plain[0] is None):
        old = None
    if "deleted file mode" in header or (plain and plain[1] is None):
        new = None
    if not moved and None not in (old, new) and old != new:
        raise PatchError(f"two names under {where}, without lines that state a rename or a copy")
    if any(part in (b"", b".", b"..") for name in (old, new) if name is not None for part in name.split(b"/")):
        raise PatchError(f"a name under {where} is no plain path")
    return old, new


def _moved(header: dict[str, bytes], kind: str) -> tuple[bytes, bytes] | None:
    if f"{kind} from" not in header or f"{kind} to" not in header:
        return None
    return _token(header[f"{kind} from"]), _token(header[f"{kind} to"])


def _same(raw: bytes, name: bytes) -> bool:
    return raw == name or (_PREFIX.match(raw) is not None and raw[2:] == name)


def _without_prefixes(old: bytes | None, new: bytes | None) -> tuple[bytes | None, bytes | None]:
    """Without ``a/`` and ``b/``, which are prefixes only if both sides have one and they differ."""
    sides = [side for side in (old, new) if side is not None]
    if not all(map(_PREFIX.match, sides)) or len({side[:2] for side in sides}) < len(sides):
        return old, new
    return (old[2:] if old is not None else None), (new[2:] if new is not None else None)


def _git_pair(rest: bytes) -> tuple[bytes, bytes] | None:
    """Both names of a ``diff --git`` line, or None where the line alone cannot tell (a rename without quotes)."""
    if rest.startswith(b'"') or rest.endswith(b'"'):
        pair = _quoted_pair(rest)
    else:
        middle = len(rest) // 2
        pair = (rest[:middle], rest[middle + 1 :]) if rest[middle : middle + 1] == b" " else None
    if pair is None:
        return None
    old, new = pair
    if old == new:
        return old, new
    if _PREFIX.match(old) and _PREFIX.match(new) and old[2:] == new[2:]:
        return old[2:], new[2:]
    return None


def _quoted_pair(rest: bytes) -> tuple[bytes, bytes] | None:
    if (match := _QUOTED.match(rest)) and rest[match.end() : match.end() + 1] == b" ":
        return _token(match.group()), _token(rest[match.end() + 1 :])
    old, _, new = rest.partition(b' "')
    return (old, _token(b'"' + new)) if new else None


def _plain_name(rest: bytes) -> bytes | None:
    name = _token(rest) if rest.startswith(b'"') else rest.partition(b"\t")[0]
    return None if name == b"/dev/null" else name


def _is_cut(rest: bytes) -> bool:
    """Whether ``patch`` ends an unquoted name earlier than git: at a blank that is no part of a name before a tab."""
    name, tab, _ = rest.partition(b"\t")
    return not rest.startswith(b'"') and _BLANK.search(name) is not None and (not tab or name[-1:].isspace())


def _token(text: bytes) -> bytes:
    match = _QUOTED.match(text)
    if match is None:
        return text
    return _ESCAPE.sub(_unescape, match.group(1))


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match.group(1)
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _CONTROLS.get(code, code)


def _is_type_change(first: FileChange, second: FileChange) -> bool:
    return (
        first.status is Status.DELETED
        and second.status is Status.ADDED
        and first.path == second.path
        and first.old_mode[_TYPE] != second.new_mode[_TYPE]
    )


def _type_change(first: FileChange, second: FileChange) -> FileChange:
    return FileChange(
        status=Status.TYPE_CHANGED,
        path=second.path,
        old_mode=first.old_mode,
        new_mode=second.new_mode,
        added=second.added,
        removed=first.removed,
        binary=first.binary or second.binary,
        hunks=(*first.hunks, *second.hunks),
    )
