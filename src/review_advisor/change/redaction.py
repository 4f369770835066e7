"""What reviewers see of a change: without its secrets and without the harness's own."""

from __future__ import annotations

import base64
import html
import json
import operator
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache, lru_cache
from itertools import groupby, islice
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from review_advisor.change.change import EXECUTABLE_MODE, MASKED_LINE, WRITES_MARK, FileChange
from review_advisor.safety.data_spans import Piece, pieces_of, readings, runs_on_line
from review_advisor.safety.fence import whole
from review_advisor.safety.languages import END_OF_LINE, Grammar, Trust, language_of, trust_in
from review_advisor.safety.private_keys import PRIVATE_KEY
from review_advisor.safety.secret_reading import looks_random
from review_advisor.safety.secrets import (
    LIKELY,
    MORE,
    MOST_ROUNDS,
    REDACTED,
    Found,
    Mask,
    holds_mark,
    issued_kind,
    kind_marked,
    looks_like_code,
    mark,
    masks,
    redact,
    secrets_in,
    with_masks,
)

RUN = re.compile(r"[A-Za-z0-9+/_-]{16,}+")
"""What of a secret can be known again where nothing around it tells what it is."""

_TELLING = 0.5
_WORD_SIGN = re.compile(r"\w")

_SIDES = ("+ ", "- ")
"""The lines of the new side and of the old one, by their first character."""

Certainty = Literal["issued", "likely"]
"""``issued``: the value has the form of a known issuer, or of a private key. ``likely``: its name or place tells."""


@dataclass(frozen=True, slots=True)
class AddedSecret:
    """A secret on added lines, which everybody is shown masked.

    A private key is one mask, any other secret one for each line and kind.
    """

    path: str
    line: int
    """Its first line on the new side."""
    end_line: int
    """Its last line on the new side."""
    kind: str
    certainty: Certainty
    shown: str
    """Its first line, masked."""


def added_secrets(file: FileChange) -> tuple[AddedSecret, ...]:
    """Every mask on the added lines of a file, in order."""
    file = without_line_ends(file)
    masked_file = shown_file(file)
    if masked_file == file:
        return ()
    spans = iter(_found(file))
    masks: list[AddedSecret] = []
    for hunk, masked in zip(file.hunks, masked_file.hunks, strict=True):
        number = hunk.new_start
        for line, seen, found in zip(hunk.lines, masked.lines, spans, strict=False):
            if line.startswith("+") and line != seen:
                for kind in _kinds(line[1:], found) or (kind_marked(seen) or "secret",):
                    certainty: Certainty = "likely" if kind in LIKELY else "issued"
                    _add(masks, AddedSecret(file.path, number, number, kind, certainty, seen[1:]))
            number += line[:1] in ("+", " ")
    return tuple(masks)


def _kinds(line: str, found: Iterable[Found]) -> tuple[str, ...]:
    """The kinds of the secrets in a line. A value that is only likely may hold one of a known issuer's form."""
    return tuple(
        dict.fromkeys(issued_kind(line[start:end]) or kind if kind in LIKELY else kind for start, end, kind in found)
    )


def _add(masks: list[AddedSecret], mask: AddedSecret) -> None:
    last = masks[-1] if masks else None
    goes_on = last is not None and last.kind == mask.kind == PRIVATE_KEY and last.end_line + 1 == mask.line
    if last is not None and goes_on:
        masks[-1] = replace(last, end_line=mask.line)
    else:
        masks.append(mask)


def text_as_shown(file: FileChange, text: str, redacted: Callable[[str], str]) -> str:
    """The text of a changed file at the head: the lines of its hunks as a prompt shows them, the others masked.

    ``redacted`` is what every prompt passes. The text keeps its number of lines, and its line ends.
    """
    raw, lines = text.split("\n"), redacted(masked_text(file.path, text)).split("\n")
    before = [line for line in _lines(without_line_ends(file)) if line[:1] in ("+", " ")]
    masked_lines = [line for line in _lines(shown_file(file)) if line[:1] in ("+", " ")]
    seen = redacted("\n".join(line[1:] for line in masked_lines)).split("\n")
    pairs = iter(zip(before, seen, strict=True) if before else ())
    for hunk in file.hunks:
        count = sum(line[:1] in ("+", " ") for line in hunk.lines)
        for at, (was, masked) in enumerate(islice(pairs, count), start=hunk.new_start - 1):
            if at < len(lines):
                end = "\r" if raw[at].endswith("\r") and not was.endswith("\r") else ""
                lines[at] = raw[at] if was[1:] == masked else masked + end
    return "\n".join(lines)


@lru_cache(maxsize=512)
def shown_file(file: FileChange) -> FileChange:
    """The file with marks for every secret in its data; all lines are still there, and all code as it is.

    Nothing more is taken out of it where agents see it: so the line that they quote is the line that their quote is
    compared with. A file of Windows line ends is shown without them, where all lines have them; where only some have,
    they are what the change is about.
    """
    *_, last = _rounds(file)
    return last


def _rounds(file: FileChange) -> Iterator[FileChange]:
    """The file before each round of masking, and as it is shown in the end."""
    file = without_line_ends(file)
    yield file
    for _ in range(MOST_ROUNDS):
        masked = [[mask for value in values for mask in value] for values in _values(file)]
        if not any(masked):
            break
        lines = (line[:1] + with_masks(line[1:], found) for line, found in zip(_lines(file), masked, strict=True))
        file = _with_lines(file, lines)
        yield file


def without_line_ends(file: FileChange) -> FileChange:
    """The file without the carriage returns of Windows line ends, if all of its lines have them."""
    lines = list(_lines(file))
    # The last line of a file may have no line end: git says so below it.
    ended = [line for line, below in zip(lines, [*lines[1:], ""], strict=False) if not below.startswith("\\")]
    ended = [line for line in ended if not line.startswith("\\")]
    if not ended or not all(line.endswith("\r") for line in ended):
        return file
    return _with_lines(file, (line.removesuffix("\r") for line in lines))


def _with_lines(file: FileChange, lines: Iterator[str]) -> FileChange:
    hunks = (hunk.with_lines(islice(lines, len(hunk.lines))) for hunk in file.hunks)
    return replace(file, hunks=tuple(hunks))


def secrets_of(files: Iterable[FileChange]) -> Iterator[tuple[str, str]]:
    """The parts of the secrets in these files by which they are known again anywhere, and the kind of each.

    Nothing is known again that is a name or a path in use: no part that stands in code or in a path of the change.
    """
    files = tuple(files)
    known: dict[str, str] = {}
    for file in files:
        for line, spans in zip(_lines(file), _found(file), strict=True):
            for start, end, kind in spans:
                known.update((run, kind) for run in RUN.findall(line[1:][start:end]) if looks_random(run, _TELLING))
    if known:
        used = {run for file in files for run in _in_use(file, known)}
        yield from ((run, kind) for run, kind in known.items() if run not in used)


def _in_use(file: FileChange, known: Mapping[str, str]) -> Iterator[str]:
    """Which of the ``known`` runs stand in the file's code, or in its path."""
    yield from (run for path in file.paths for run in RUN.findall(path) if run in known)
    row = language_of(file.path)
    for hunk in file.hunks:
        text = "\n".join([line[1:] for line in hunk.lines])
        runs = [run for run in RUN.finditer(text) if run[0] in known]
        if runs:
            pieces = pieces_of(row, text, 0, len(text))
            starts = [piece.start for piece in pieces]
            for run in runs:
                before = bisect_right(starts, run.start()) - 1
                if before < 0 or pieces[before].end < run.end():
                    yield run[0]


def hunks_with_secrets(file: FileChange) -> frozenset[int]:
    """The hunks, by their numbers from 0, in which something looks like a secret."""
    spans = iter(_found(file))
    return frozenset(number for number, hunk in enumerate(file.hunks) if any(list(islice(spans, len(hunk.lines)))))


def _lines(file: FileChange) -> Iterator[str]:
    return (line for hunk in file.hunks for line in hunk.lines)


@lru_cache(maxsize=16)
def _found(file: FileChange) -> tuple[tuple[Found, ...], ...]:
    """Where secrets stand in the data of each line, counted from behind its sign."""
    return tuple(tuple((each[0].start, each[-1].end, each[0].kind) for each in of_line) for of_line in _values(file))


def doubtful_lines(file: FileChange) -> tuple[int, ...]:
    """The lines of the head (of the base, where they are removed) in which a mask may hide code.

    A diff does not show in what its hunks begin: if in a literal, what seems to be data is code.
    """
    numbers = (
        number
        for each_round in islice(_rounds(file), MOST_ROUNDS)
        for (number, _), values in zip(_numbered(each_round), _values(each_round), strict=True)
        if not all(each.sure for value in values for each in value)
    )
    return tuple(sorted(set(numbers)))


def _numbered(file: FileChange) -> Iterator[tuple[int, str]]:
    for hunk in file.hunks:
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            yield (old if line[:1] == "-" else new), line
            old += line[:1] in "- "
            new += line[:1] in "+ "


@lru_cache(maxsize=16)
def _values(file: FileChange) -> tuple[tuple[tuple[Mask, ...], ...], ...]:
    """The masks of each value in each line, in order, counted from behind its sign."""
    lines = list(_lines(file))
    found: dict[int, list[tuple[Mask, ...]]] = {}
    for side in _SIDES if any(line.startswith("-") for line in lines) else _SIDES[:1]:
        numbers = array("Q", (number for number, line in enumerate(lines) if line[:1] in side))
        secrets = secrets_in("\n".join([lines[number][1:] for number in numbers]), file.path)
        if secrets:
            _collect(found, file, side, secrets)
    return tuple(tuple(_apart(found.get(number, []))) for number in range(len(lines)))


def _apart(values: list[tuple[Mask, ...]]) -> Iterator[tuple[Mask, ...]]:
    """Of the values of both sides that overlap, the first and longest."""
    end = 0
    for value in sorted(values, key=lambda each: (each[0].start, -each[-1].end)):
        if value[0].start >= end:
            yield value
            end = value[-1].end


def _collect(found: dict[int, list[tuple[Mask, ...]]], file: FileChange, side: str, secrets: Sequence[Found]) -> None:
    """Add the masks of these ``secrets`` of one side's text to their lines."""
    position = number = 0
    rest = iter(secrets)
    secret = next(rest, None)
    for hunk in file.hunks:
        numbers = [number + at for at, line in enumerate(hunk.lines) if line[:1] in side]
        text = "".join([f"{line[1:]}\n" for line in hunk.lines if line[:1] in side])
        number += len(hunk.lines)
        here = []
        while secret is not None and secret[0] < position + len(text):
            here.append((secret[0] - position, secret[1] - position, secret[2]))
            secret = next(rest, None)
        if here:
            start = hunk.old_start if side == _SIDES[1] else hunk.new_start
            _by_line(found, numbers, text, _masks_in(file, text, here, whole=start <= 1))
        position += len(text)


def _by_line(
    found: dict[int, list[tuple[Mask, ...]]], numbers: Sequence[int], text: str, values: Iterable[Sequence[Mask]]
) -> None:
    at = position = 0
    ends = [each.start() for each in re.finditer("\n", text)]
    for value in values:
        while value[0].start > ends[at]:
            position = ends[at] + 1
            at += 1
        moved = tuple(replace(each, start=each.start - position, end=each.end - position) for each in value)
        found.setdefault(numbers[at], []).append(moved)


def _masks_in(file: FileChange, text: str, secrets: Sequence[Found], *, whole: bool) -> list[Sequence[Mask]]:
    """The masks of each secret that has any, in a part of a file: sure where what stands around them is evidence."""
    first_line = text if whole else ""
    row = language_of(file.path, first_line)
    trust = trust_in(file.path, first_line)
    if trust == "data" and (file.new_mode == EXECUTABLE_MODE or first_line.startswith("#!")):
        trust = "nothing"
    by_reading = [masks(text, secrets, pieces) for pieces in readings(row, text, whole=whole)]
    values: list[Sequence[Mask]] = []
    for secret, first, *others in zip(secrets, *by_reading, strict=True):
        candidates = [first] if first and _own_quotes(text, secret) else [first, *others]
        most = max(candidates, key=lambda value: sum(mask.end - mask.start for mask in value))
        most = most or _in_code(text, secret)
        agreed = len({tuple((each.start, each.end) for each in one) for one in candidates}) == 1
        if agreed and first and _hides_no_code(trust, row, text, secret):
            values.append(most)
        elif most:
            values.append([replace(each, sure=False) for each in most])
    return values


_OTHER_LINE_END = re.compile("\r(?!\n)|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_BEFORE_QUOTE = re.compile(r"(?:[^\w)\]}\"'`$]|\A|(?<!\w)(?:[rbfu]|[rb]f|f[rb]|rb|br|@|\$@?|@\$))\Z", re.IGNORECASE)

_AHEAD = re.compile(
    r"(?:(?:[\w-]{1,40}: ?)?(?:Bearer|Basic|token) |[a-z][a-z0-9+]{1,30}://[^\s\"'`;|&<>$(){}]{0,200})?\Z",
    re.IGNORECASE,
)
"""What may stand ahead of a secret between its quotes: how it is used, or the beginning of a URL."""

_BEHIND = re.compile(r"@[^\s\"'`;|<>$(){}]{1,200}")

_RUNS = re.compile(r"[;|&<>`]|\$\(")
"""What separates or runs commands."""

_NAME = r"[A-Za-z_][\w.-]{0,80}"

_ASSIGNED = re.compile(
    rf"[ \t]*(?:(?:export|local|readonly|declare|typeset|env|ENV|ARG)[ \t]+)?(?:{_NAME}=[\w./:-]{{0,80}}[ \t]+){{0,3}}"
    rf"{_NAME}=[\"']?\Z"
)

_OPTION = re.compile(r"[ \t]-{1,2}[A-Za-z][\w-]{0,40}[ \t=][\"']\Z")

_SET = re.compile(
    r"[ \t]*+(?:-[ \t]++)?(?:export[ \t]++)?[\"']?[^\s\"'`;|&<>$(){}=]{1,120}[\"']?[ \t]*+(?:=|:(?![^\s\"']))"
    r"[ \t]*+[\"']?\Z"
)

_SET_IN_YAML = re.compile(
    r"[ \t]*+(?:-[ \t]++){0,4}+(?:[\"']?[\w./@-]{1,120}[\"']?[ \t]*+:[ \t]++[\"']?|[\"']?[A-Z_][A-Z0-9_]{0,80}=)\Z"
)

_IN_A_GROUP = re.compile(r"[=:,\[{][ \t]*[\"']\Z")
_LONGEST_AHEAD, _LONGEST_BEHIND = 400, 2_000


def _own_quotes(text: str, secret: Found) -> bool:
    """Whether a secret has quotes of its own, on its line: behind one that ended a literal, no word could begin."""
    start, end, _ = secret
    ahead = text[max(0, start - _LONGEST_AHEAD) : start].rpartition("\n")[2]
    at = max(ahead.rfind(sign) for sign in "\"'`")
    if at < 0 or not _AHEAD.match(ahead, at + 1) or not _BEFORE_QUOTE.search(ahead[:at]):
        return False
    behind = _BEHIND.match(text, end)
    close = behind.end() if behind else end
    return text[close : close + 1] == ahead[at] and text[start].isalnum() and not text[close + 1 : close + 2].isalnum()


def _hides_no_code(trust: Trust, row: Grammar | str, text: str, secret: Found) -> bool:
    """Whether what stands around a secret, which all readings take for data, is evidence that it is."""
    start, end, _ = secret
    if trust in ("data", "nothing"):
        return trust == "data"
    began = max(text.rfind("\n", max(0, start - _LONGEST_AHEAD), start) + 1, start - _LONGEST_AHEAD, 0)
    stop = text.find("\n", end, end + _LONGEST_BEHIND)
    stop = stop if stop >= 0 else min(len(text), end + _LONGEST_BEHIND)
    ahead, rest = text[began:start], text[start : stop + 1]
    if _OTHER_LINE_END.search(text, began, min(len(text), stop + 1)) or looks_like_code(text, start, end):
        return False
    quoted = _own_quotes(text, secret)
    if _is_comment(trust, row, ahead):
        return True
    if trust in ("tested", "json"):
        return quoted
    if trust == "xml":
        return not runs_on_line(text, start) and (quoted or (ahead.endswith(">") and text.startswith("</", end)))
    if trust == "shell":
        if quoted and (_ASSIGNED.match(ahead) or _OPTION.search(ahead)):
            return True
        return _ASSIGNED.match(ahead) is not None and not _RUNS.search(rest)
    used = _AHEAD.search(ahead)
    before = ahead[: used.start()] if used else ahead
    is_set = _SET_IN_YAML.match(before) if trust == "yaml" else _SET.match(before)
    is_set = is_set or (_IN_A_GROUP.search(before) if quoted else None)
    is_one_word = quoted or not any(map(str.isspace, text[start:end]))
    return is_set is not None and is_one_word and not _RUNS.search(rest) and not runs_on_line(text, start)


def _is_comment(trust: Trust, row: Grammar | str, ahead: str) -> bool:
    """Whether a line begins as a comment does."""
    ahead = ahead.lstrip(" \t")
    if not isinstance(row, Grammar):
        return trust != "json" and ahead.startswith(("# ", "##", "#\t"))
    ends = (END_OF_LINE, r"\*/")
    return any(re.match(each.begin, ahead) for each in row.quotes if each.end.startswith((*ends, r"(?=\n|\?>)"))) or (
        ahead.startswith("* ") and any(each.end == ends[1] for each in row.quotes)
    )


_HEX_KEY = re.compile(r"0[xX][0-9a-fA-F]{64}n?")


def _in_code(text: str, secret: Found) -> list[Mask]:
    """The masks of a secret that stands in code: a token of a known issuer's form, or a key as a hexadecimal number.

    A token may be a name, so its masks are not sure.
    """
    start, end, kind = secret
    word = text[start:end]
    is_whole = not _WORD_SIGN.match(text[start - 1 : start]) and not _WORD_SIGN.match(text[end : end + 1])
    is_token = is_whole and issued_kind(word) == kind and looks_random(word, _TELLING)
    if not is_token and not _HEX_KEY.fullmatch(word):
        return []
    (found,) = masks(text, [secret], [Piece(0, len(text), 0, "prose")])
    return [replace(each, sure=False) for each in found]


def masked_text(path: str, text: str) -> str:
    """The text of the whole file at ``path`` with a mark for every secret in its data, and all other text as it is."""
    for _ in range(MOST_ROUNDS):
        found = masks_of_text(path, text)
        if not found:
            break
        text = with_masks(text, found)
    return text


def masks_of_text(path: str, text: str) -> list[Mask]:
    """What is masked of the text of a whole file, in order."""
    secrets = secrets_in(text, path)
    if not secrets:
        return []
    values = masks(text, secrets, pieces_of(language_of(path, text), text, 0, len(text)))
    return [each for secret, value in zip(secrets, values, strict=True) for each in value or _in_code(text, secret)]


SHORTEST = 8
_LONG = 16
_LONG_NUMBER = 12
_FEWEST_CHARACTERS = 6
_LETTER = re.compile(r"[^\W\d_]")
_NOT_IN_WORDS = re.compile(r"[^\w\s./:@-]|\d")

_PUBLIC_PART = re.compile(
    r"sk-ant-(?:[a-z]+\d*-)?|sk-(?:proj-)?|gh[pousr]_|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|ASIA|AIza"
    r"|eyJ[A-Za-z0-9_-]+\.(?=eyJ)|https?://[^/@\s]+/"
)

_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|WEBHOOK|_PWD(?![A-Z0-9])"
    r"|(?:API|SSH|ACCESS|ACCOUNT|DEPLOY|ENCRYPTION|HOST|MASTER|PRIVATE|SIGNING|STORAGE)KEY"
    r"|(?<![A-Z0-9])(?:KEY|PASS|PAT|AUTH|BEARER|COOKIE|CREDS|DSN|PEM|PRIVATE)(?![A-Z0-9])",
    re.IGNORECASE,
)

_PATH_NAME = re.compile(
    r"(?:_(?:FILE|PATH|DIR|DIRECTORY|SOCK|SOCKET)|APPLICATION_CREDENTIALS)(?:_OVERRIDE)?$", re.IGNORECASE
)

_PASSWORD_IN_URL = re.compile(r"://[^/@\s:]*+:([^/@\s]++)@")
_SIGN = re.compile(r"[^A-Za-z0-9_.~-]")
_RUN = re.compile(r"[^\s\"',;{}]{20,}")
_AROUND_BEGINS, _AROUND_ENDS = "<<<UNTRUSTED AROUND ", " UNTRUSTED>>>"
_SIGNS = ("", "+", "-", "++", "+-", "-+", "--")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Redactor:
    """Removes what has the shape of a secret, the secrets that ``redactor`` found, and those of the change.

    Of its own it knows each value plain, in hex and in base64 wherever in a base64 text it begins, all of them also
    reversed, and every piece of eight characters or more that begins or ends with the value: a token printed without
    its first seven characters is still found. Whole, it is also found with its signs written as JSON, HTML or URLs
    write them. Pieces cut at both ends, other encodings and spaced-out letters are not.

    No line disappears: a match never crosses a line feed, and words stay. A piece counts only if it cannot be a word:
    it has at least six different characters, and either sixteen in all, or twelve without a letter, or letters with a
    digit or a sign among them. So ``production`` or ``12345678`` as a value removes nothing. What every token of its
    kind begins with (``sk-ant-``, ``ghp_``, a URL's host) is no secret either.
    """

    own: re.Pattern[str] | None = field(default=None, repr=False)
    seen: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def knowing(self, files: Iterable[FileChange]) -> Redactor:
        """This redactor, which also knows the secrets in ``files`` where nothing beside them tells what they are."""
        return replace(self, seen=dict(secrets_of(files)))

    def redact(self, text: str) -> str:
        """``text`` without secrets; half characters (lone surrogates, which UTF-8 cannot spell) become ``?``."""
        return self._without_seen(redact(self._without_own(whole(text))))

    def in_prompt(self, prompt: str) -> str:
        """A prompt, all parts of which are clean, without the secrets that ``redactor`` found and those of the change.

        It is not looked through for the shapes of secrets: what was masked file by file would lose code. Nor are the
        change's secrets known again in the code around it, where a name may be equal to one.
        """
        before, opening, rest = self._without_own(whole(prompt)).partition(_AROUND_BEGINS)
        around, ending, after = rest.partition(_AROUND_ENDS)
        return self._without_seen(before) + opening + around + ending + self._without_seen(after)

    def _without_own(self, text: str) -> str:
        if self.own is None:
            return text
        forward = self.own.sub(REDACTED, text)
        return self.own.sub(REDACTED[::-1], forward[::-1])[::-1]

    def _without_seen(self, text: str) -> str:
        return RUN.sub(self._seen_again, text) if self.seen else text

    def _seen_again(self, run: re.Match[str]) -> str:
        """A mark for a run that the change has as a secret, also behind the signs of a diff's line."""
        for signs in _SIGNS:
            kind = self.seen.get(run[0][len(signs) :]) if run[0].startswith(signs) else None
            if kind is not None:
                return signs + mark(kind)
        return run[0]

    def everywhere(self, value: Value) -> Value:
        """``value`` with every text in it redacted; what holds no secret is handed back as it is."""
        result: Any = self._redacted(value)
        return result  # type: ignore[no-any-return]

    def _redacted(self, value: Any) -> Any:
        if not value:
            return value
        kind: Any = type(value)
        if kind is str:
            redacted = self.redact(value) if len(value) >= SHORTEST or not value.isascii() else value
            return value if redacted == value else redacted
        if kind is list or kind is tuple:
            items = [self._redacted(item) for item in value]
            return value if all(map(operator.is_, items, value)) else kind(items)
        if kind is dict:
            members = {self._redacted(key): self._redacted(item) for key, item in value.items()}
            return value if members == value else members
        changed = {}
        for name in _parts_of(kind):
            old = getattr(value, name)
            if not old or (type(old) is str and len(old) < SHORTEST and old.isascii()):
                continue
            new = self._redacted(old)
            if new is not old:
                changed[name] = new
        if not changed:
            return value
        return value.model_copy(update=changed) if isinstance(value, BaseModel) else replace(value, **changed)


NO_SECRETS = Redactor()
"""Knows no secret of its own, only what has the shape of one."""


@cache
def _parts_of(kind: Any) -> tuple[str, ...]:
    """The fields of a model or dataclass that may hold text; nothing of any other kind."""
    if issubclass(kind, BaseModel):
        hints = {name: field.annotation for name, field in kind.model_fields.items()}
    else:
        hints = get_type_hints(kind) if is_dataclass(kind) else {}
    return tuple(name for name, hint in hints.items() if _may_hold_text(hint))


@cache
def _may_hold_text(hint: Any) -> bool:
    """Whether text from outside can stand where a field says this: not in numbers, moments and fixed words."""
    if get_origin(hint) is Literal:
        return False
    if inner := get_args(hint):
        return any(_may_hold_text(each) for each in inner if each is not Ellipsis)
    if not isinstance(hint, type):
        return True
    if issubclass(hint, BaseModel) or is_dataclass(hint):
        return bool(_parts_of(hint))
    return not issubclass(hint, (Enum, int, float, datetime, NoneType))


def redactor(environ: Mapping[str, str]) -> Redactor:
    """The redactor that also knows this environment's secrets.

    They are the values of secret-looking names, unless the name says that it holds a path, and the passwords in URLs.
    """
    values = [value for name, value in environ.items() if _names_a_secret(name)]
    values += (password for value in environ.values() for password in _PASSWORD_IN_URL.findall(value))
    secrets = {secret for value in values for secret in _secrets_in(value)}
    if not secrets:
        return Redactor()
    forms = {form for secret in secrets for form in _forms(secret)}
    pieces = _pieces(each for form in forms for each in (form, form[::-1]))
    return Redactor(_any_of([*sorted(filter(None, map(_escaped, secrets))), *pieces]))


def unrecognised(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of this environment's secrets that the redactor cannot know by their values, in order."""
    named = (name for name, value in environ.items() if _names_a_secret(name) and value.strip())
    return tuple(sorted(name for name in named if not any(_secrets_in(environ[name]))))


@lru_cache(maxsize=1_024)
def _names_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None and _PATH_NAME.search(name) is None


def _secrets_in(value: str) -> Iterator[str]:
    """The value without its public first part; of a text of several lines (a key, a JSON file) its long runs."""
    stripped = value.strip()
    parts = _RUN.findall(stripped) if "\n" in stripped else [stripped]
    for part in parts:
        secret = _PUBLIC_PART.sub("", part, count=1) if _PUBLIC_PART.match(part) else part
        if _telling(secret):
            yield secret


def _telling(piece: str) -> bool:
    """Whether a text that holds this piece can only have it from the secret."""
    if len(piece) < SHORTEST or len(set(piece)) < _FEWEST_CHARACTERS:
        return False
    if _LETTER.search(piece) is None:
        return len(piece) >= _LONG_NUMBER
    return len(piece) >= _LONG or _NOT_IN_WORDS.search(piece) is not None


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "replace")
    yield secret
    yield raw.hex()
    yield raw.hex().upper()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        last = len(encoded) - (1 if (before + len(raw)) % 3 else 0)  # it also depends on what follows
        inner = encoded[(0, 2, 3)[before] : last]  # and the first ones on what stands before
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _pieces(forms: Iterable[str]) -> Iterator[str]:
    """Patterns for every form or its beginning: the shortest telling piece, then what may follow of the rest."""
    rests: dict[str, list[str]] = {}
    for form in forms:
        head = _telling_head(form)
        rests.setdefault(head, []).append(form[len(head) :])
    for head, tails in sorted(rests.items()):
        signs = "".join(re.escape(each) for each in sorted(set("".join(tails))))
        yield re.escape(head) + (f"[{signs}]{{0,{max(map(len, tails))}}}" if signs else "")


def _telling_head(form: str) -> str:
    """All of ``form`` where no piece tells: encoded, a short secret may be letters only, and is one all the same."""
    return next((form[:end] for end in range(SHORTEST, len(form)) if _telling(form[:end])), form)


def _escaped(secret: str) -> str:
    """A pattern for all of ``secret``, each of its signs as it is or escaped; empty if it has none."""
    if _SIGN.search(secret) is None:
        return ""
    return "".join(_spellings(each) if _SIGN.match(each) else re.escape(each) for each in secret)


def _spellings(sign: str) -> str:
    """A pattern for one sign, plain or as JSON, HTML and URLs write it."""
    percent = "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "replace"))
    each = {sign, json.dumps(sign)[1:-1], html.escape(sign), f"&#{ord(sign)};", percent, percent.lower()}
    return f"(?:{'|'.join(map(re.escape, sorted(each)))})"


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    """One pattern, sorted by first letter: most of a text is passed over by looking at one letter of each group."""
    groups = groupby(sorted(patterns, key=_first), key=_first)
    return re.compile(
        "|".join(f"{first}(?:{'|'.join(each[len(first) :] for each in group)})" for first, group in groups)
    )


def _first(pattern: str) -> str:
    """A pattern's first letter, as the pattern spells it; nothing where there is a choice."""
    return "" if pattern.startswith("(") else pattern[: 2 if pattern.startswith("\\") else 1]


def over_masks(
    before: str,
    hidden: Collection[int],
    edits: Iterable[tuple[Iterable[int], Iterable[str]]],
    shown: Collection[str] = (),
) -> str | None:
    """Why these edits of a file that is shown with marks cannot be taken, or None: nobody knows what they come to.

    ``before`` is what is known of the file's real text, ``hidden`` are the numbers of its masked lines, and ``shown``
    these lines as they are shown. Each edit is the numbers of the lines that go and the lines that are written. The
    mark of a secret's further runs may be code: it counts where ``before`` has none.
    """
    marks = {line.strip() for line in shown}
    for gone, written in edits:
        if any(line in hidden for line in gone):
            return MASKED_LINE
        for line in written:
            if holds_mark(line) or line.strip() in marks or (MORE in line and MORE not in before):
                return WRITES_MARK
    return None
