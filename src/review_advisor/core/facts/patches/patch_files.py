"""File facts from a patch alone: what its header lines say, when there is no repository to ask."""

from __future__ import annotations

import re
from collections.abc import Sequence

from review_advisor.core.facts.change import FileChange, Hunk, Status
from review_advisor.core.facts.patches.patch import FilePatch, PatchError, split_patch

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
    """The same with each section on its own, as ``git apply --numstat`` lists them."""
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
