"""Which parts of a text are data in which language: literals, comments, scalars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from review_advisor.safety.languages import (
    CSS,
    END_OF_LINE,
    HCL,
    HOLES,
    JAVASCRIPT,
    LANGUAGES,
    PROGRAMS,
    Grammar,
    Quote,
    R,
    language_of,
)

PieceKind = Literal["literal", "raw", "bare", "scalar", "dotenv", "prose"]


class Piece(NamedTuple):
    """Data from ``start`` to ``end``. ``depth`` counts the interpolations around it.

    ``literal`` stands between delimiters or in a comment, ``raw`` between some that interpolate nothing, ``bare`` is a
    word of a shell, ``scalar`` a value of a file of settings, ``dotenv`` of one that shells may read, ``prose`` any
    other text. Not ``sure``: it may be code.
    """

    start: int
    end: int
    depth: int
    kind: PieceKind
    sure: bool = True


@dataclass(slots=True)
class _Frame:
    """What the scanner stands in: code (no ``quote``) or a literal, and how often its brackets are open."""

    quote: Quote | None = None
    events: re.Pattern[str] | None = None
    literal_end: str = ""
    brackets: str = ""
    open: int = 0
    first_piece: int = 0


@lru_cache(maxsize=256)
def _code_events(row: Grammar, brackets: str) -> re.Pattern[str]:
    """Where something begins or ends in code, in order of trial."""
    parts = [f"(?P<doubt>{row.doubt})", f"(?P<skip>{row.skip})"]
    parts += [
        f"(?P<q{number}>{quote.begin.replace('(?P<h>', f'(?P<h{number}>')})" for number, quote in enumerate(row.quotes)
    ]
    if row.heredoc:
        parts += [f"(?P<heredoc>{row.heredoc})", r"(?P<line>\n)"]
    if row.template:
        parts.append(f"(?P<leave>{row.template[1]})")
    if row.regex:
        parts.append("(?P<slash>/)")
    if brackets:
        parts.append(f"(?P<bracket>[{re.escape(brackets)}])")
    return re.compile("|".join(parts))


@lru_cache(maxsize=512)
def _quote_events(quote: Quote, end: str, doubt: str) -> re.Pattern[str]:
    """Where something begins or ends in a literal."""
    parts = [f"(?P<doubt>{doubt})", f"(?P<escape>{quote.escape})"]
    parts += [f"(?P<hole{number}>{HOLES[hole][0]})" for number, hole in enumerate(quote.holes)]
    parts.append(f"(?P<end>{end})")
    if quote.nests:
        parts.append(f"(?P<again>{quote.begin})")
    if not quote.lines:
        parts.append(r"(?P<line>\n)")
    return re.compile("|".join(parts))


_JS_PATTERN = re.compile(r"/(?![/*])(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,200}+\]){1,400}+/")

_LONGEST_JS_PATTERN = 200
"""A line that goes on for longer than this may hold a pattern that is not looked at to its end."""

_BEFORE_PATTERN = re.compile(
    r"(?:^|[^\w)\]}\"'`\s])[ \t]*\Z|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|yield|await"
    r"|if|unless|and|or|not|when"
    r"|while)[ \t]*\Z"
)

_MOST_HEREDOCS_DEEP = 8


class _Scanner:
    """One pass over a part of a text by the rules of one row."""

    def __init__(self, row: Grammar, text: str, start: int, end: int, *, depth: int = 0, deep: int = 0) -> None:
        self.row, self.text, self.at, self.end = row, text, start, end
        self.depth, self.deep = depth, deep
        self.pieces: list[Piece] = []
        self.sure = True
        self.stack = [_Frame()]
        self.pending: list[re.Match[str]] = []
        self.left = 0
        """The end of the frame in which the text began: -1 if it goes on to the end."""

    def begin_within(self, quote: Quote, end: str) -> None:
        """The text begins inside such a literal."""
        self.stack.append(self._frame_of(quote, end))
        self.left = -1

    def scan(self) -> list[Piece]:
        """All pieces."""
        if self.row.template is not None and len(self.stack) == 1 and not self.depth:
            first = re.compile("|".join(self.row.template)).search(self.text, self.at, self.end)
            if first is not None and first[0].startswith("<?"):
                self._leave()
        while self.at < self.end:
            frame = self.stack[-1]
            if frame.quote is None:
                self._code(frame)
            else:
                self._literal(frame, frame.quote)
        for frame in self.stack[1:]:
            if frame.quote is not None and frame.quote.lines:
                self._doubt_from(frame.first_piece)
        return self.pieces

    def _doubt_from(self, first: int) -> None:
        self.pieces[first:] = [piece._replace(sure=False) for piece in self.pieces[first:]]

    def _add(self, start: int, end: int, quote: Quote, *, lines: bool = False) -> None:
        if start < end and quote.data:
            sure = self.sure and (quote.sure or not lines)
            kind: PieceKind = "literal" if quote.holes or quote.end in (END_OF_LINE, r"\*/") else "raw"
            self.pieces.append(Piece(start, end, self.depth, kind, sure))

    def _frame_of(self, quote: Quote, end: str) -> _Frame:
        if not quote.holes and quote.escape == "(?!)" and "{h}" in quote.end:
            return _Frame(quote, None, end, first_piece=len(self.pieces))
        pattern = re.escape(end) if "{h}" in quote.end else end
        return _Frame(quote, _quote_events(quote, pattern, self.row.doubt), first_piece=len(self.pieces))

    def _code(self, frame: _Frame) -> None:
        found = _code_events(self.row, frame.brackets).search(self.text, self.at, self.end)
        if found is None:
            self.at = self.end
            return
        self.at = found.end()
        kind = found.lastgroup or ""
        if found["doubt"]:
            self.sure = False
        elif kind == "bracket" or (frame.brackets and found.groupdict().get("bracket")):
            self._bracket(frame, found[0])
        elif self.row.regex and found["slash"]:
            self._slash(found.start())
        elif self.row.template and found["leave"]:
            self._leave()
        elif self.row.heredoc and found["heredoc"]:
            self.pending.append(found)
        elif self.row.heredoc and found["line"]:
            self._documents()
        elif found["skip"] is None:
            number, quote = next((n, q) for n, q in enumerate(self.row.quotes) if found[f"q{n}"] is not None)
            end = quote.end.replace("{h}", found[f"h{number}"]) if "{h}" in quote.end else quote.end
            self.stack.append(self._frame_of(quote, end))

    def _bracket(self, frame: _Frame, sign: str) -> None:
        if sign == frame.brackets[0]:
            frame.open += 1
        elif frame.open:
            frame.open -= 1
        else:
            self.stack.pop()
            self.depth -= 1

    def _slash(self, at: int) -> None:
        """A slash divides, or begins a pattern: by what stands before it. Where both may be, nothing after is sure."""
        pattern = _JS_PATTERN.match(self.text, at, self.end)
        if pattern is None:
            stop = self.text.find("\n", at, min(self.end, at + _LONGEST_JS_PATTERN))
            self.sure = self.sure and (stop >= 0 or self.end <= at + _LONGEST_JS_PATTERN)
            return
        before = self.text[max(0, at - 40) : at].rpartition("\n")[2]
        if _BEFORE_PATTERN.search(before):
            self.at = pattern.end()
        elif any(sign in pattern[0] for sign in "\"'`#"):
            self.sure = False

    def _leave(self) -> None:
        """The text around the code of a template, up to the next code."""
        begins = self.row.template[0] if self.row.template else "(?!)"
        found = re.compile(begins).search(self.text, self.at, self.end)
        stop = found.start() if found else self.end
        self.pieces += _markup(self.text, self.at, stop)
        self.at = found.end() if found else self.end

    def _plain(self, frame: _Frame, quote: Quote) -> None:
        """A literal in which nothing but its end counts."""
        end = self.text.find(frame.literal_end, self.at, self.end)
        self._add(self.at, self.end if end < 0 else end, quote, lines=True)
        if end < 0:
            self.at = self.end
            self._doubt_from(frame.first_piece)
        else:
            self.at = end + len(frame.literal_end)
            self._close()

    def _literal(self, frame: _Frame, quote: Quote) -> None:
        if frame.events is None:
            self._plain(frame, quote)
            return
        start = self.at
        while True:
            found = frame.events.search(self.text, self.at, self.end)
            if found is None:
                self._add(start, self.end, quote)
                self.at = self.end
                return
            self.at = found.end()
            self.sure = self.sure and found["doubt"] is None
            frame.open += bool(quote.nests and found["again"])
            if found.lastgroup not in ("doubt", "escape", "again"):
                break
        self._add(start, found.start(), quote, lines="\n" in self.text[start : found.start()])
        hole = next((n for n in range(len(quote.holes)) if found[f"hole{n}"] is not None), None)
        if hole is not None:
            brackets = HOLES[quote.holes[hole]][1]
            if brackets:
                self.depth += 1
                self.stack.append(_Frame(brackets=brackets))
        elif frame.open:
            self._add(found.start(), found.end(), quote)
            frame.open -= 1
        else:
            if found[0] == "\n":
                self.at = found.start()  # a here-document may begin below
            self._close()

    def _close(self) -> None:
        self.stack.pop()
        if self.left < 0 and len(self.stack) == 1:
            self.left = self.at

    def _documents(self) -> None:
        """The here-documents that begin below this line."""
        pending, self.pending = self.pending, []
        for opener in pending:
            groups = opener.groupdict()
            word = groups.get("word") or groups.get("bare") or ""
            stop, after = _end_of_document(self.text, self.at, self.end, word)
            first = len(self.pieces)
            raw = (groups.get("raw") or "") == "'"
            quote = _DOCUMENT_RAW if raw or self.row is HCL else _documents_of(self.row)
            if self.deep < _MOST_HEREDOCS_DEEP:
                inner = _Scanner(self.row, self.text, self.at, stop, depth=self.depth, deep=self.deep + 1)
                inner.sure = self.sure
                inner.stack.append(inner._frame_of(quote, quote.end))
                self.pieces += inner.scan()
                self.pieces[first:] = [each._replace(sure=self.sure and after >= 0) for each in self.pieces[first:]]
            self.at = self.end if after < 0 else after


_DOCUMENT_RAW = Quote("", r"(?!)", "(?!)", lines=True)


@lru_cache(maxsize=16)
def _documents_of(row: Grammar) -> Quote:
    holes = next((quote.holes for quote in row.quotes if quote.begin == '"'), ())
    return Quote("", r"(?!)", r"\\(?s:.)", holes, lines=True)


def _end_of_document(text: str, at: int, end: int, word: str) -> tuple[int, int]:
    """Where a here-document ends, and where the text goes on; -1 if it does not."""
    start = at
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        line = text[start:stop].strip(" \t\r")
        if line.startswith(word) and not line[len(word) : len(word) + 1].isalnum():
            return start, start + text[start:stop].index(word) + len(word)
        start = stop + 1
    return end, -1


_SHELL = re.compile(
    r"""(?P<escape>\\(?s:.)?)|(?P<ansi>\$'(?:\\(?s:.)|[^'\\])*+')|(?P<double>\$?")|(?P<single>')|(?P<sum>\$?\(\()|(?P<sub>\$\()"""
    r"""|(?P<parameter>\$\{)|(?P<back>`)|(?P<here><<<)"""
    r"""|(?P<document><<-?[ \t]*\\?(?P<raw>["']?)(?P<word>[A-Za-z_][\w.-]*+)(?P=raw))"""
    r"""|(?P<comment>(?<![^\s;&|()`])#[^\n]*+)|(?P<line>\n)|(?P<meta>[;&|()<>])|(?P<blank>[ \t\r]++)|(?P<name>\$\w++)"""
    r"""|(?P<text>[^\\$"'`<#;&|()\s>]++|(?s:.))"""
)

_BATCH_SIGN = re.compile(
    _SHELL.pattern.replace(r"(?P<name>", r"(?P<name>[%!][A-Za-z_]\w*+(?::[^%!\n]{0,80})?[%!]|").replace("#;&", "%!#;&")
)

_SHELL_DOUBLE = re.compile(
    r"""(?P<escape>\\(?s:.)?)|(?P<end>")|(?P<sum>\$\(\()|(?P<sub>\$\()|(?P<parameter>\$\{)|(?P<back>`)|(?P<name>\$\w++)"""
    r"""|(?P<text>[^\\"$`]++|\$)"""
)

_SHELL_PARAMETER = re.compile(
    r"""(?P<escape>\\(?s:.)?)|(?P<end>\})|(?P<sub>\$\()|(?P<parameter>\$\{)|(?P<back>`)|(?P<text>[^\\}$`]++|\$)"""
)

_SHELL_SUM = re.compile(r"""(?P<end>\)\)?)|(?P<open>\()|(?P<sub>\$\()|(?P<text>[^()$]++|\$)""")
_DEFAULT = re.compile(r"[\w.\[\]@*]*+:?[-=]|[\w.]++:(?=[^-=+?])")
_ASSIGNS = re.compile(r"[A-Za-z_][\w.-]*+(?:\[[^\]\s]{0,80}\])?(?:\+|:{1,2}|\?)?=")
_GIVES = frozenset(("=", ":=", "::=", "?=", "+="))

_TAKE_WORDS = frozenset(
    ("env", "arg", "label", "set", "setenv", "setx", "echo", "printf", "export", "declare", "readonly")
)
"""Commands whose words are data."""

_RUN_NAMES = (
    "exec eval sudo doas su env command builtin time nohup xargs nice ionice watch timeout strace ltrace"
    " chroot setsid stdbuf parallel find coproc source . trap docker podman kubectl nerdctl ssh bash sh"
    " zsh dash ksh python python3 perl ruby node php flock unshare nsenter script screen tmux at batch"
    " entr setuidgid runuser systemd-run torsocks proxychains"
)

_RUN_WORDS = frozenset(_RUN_NAMES.split())
"""Commands that run words of theirs."""

_OPTION = re.compile(r"-(?!-no-|-?\w*-stdin\Z)")

_KEEP = frozenset(
    ("then", "do", "else", "elif", "if", "while", "until", "!", "{", "&&", "||", "run", "cmd", "entrypoint")
)

_RUNS_BODY = re.compile(r"\b(?:(?:ba|z|k|da|a)?sh|ssh|python3?|ruby|perl|node|php|pwsh)\b")


def _match(pattern: re.Pattern[str], text: str, at: int, end: int) -> re.Match[str]:
    """What a pattern finds here that matches at any place."""
    found = pattern.match(text, at, end)
    if found is None:
        raise ValueError(f"nothing matches at {at}")
    return found


@dataclass(slots=True)
class _Word:
    """The word that a shell stands in, and what is known of the command that it is part of."""

    start: int = -1
    bare: list[tuple[int, int]] = field(default_factory=list)
    quoted: bool = False
    previous: str = ""
    takes: bool = False
    """Whether the next word is data: it does not follow the command's name, and the command runs no word."""
    command: str | None = None
    """The command's name; None where a word would be it."""


@dataclass(slots=True)
class _ShellFrame:
    kind: Literal["code", "double", "parameter", "sum", "single"]
    ends: str = ""
    word: _Word = field(default_factory=_Word)
    is_data: bool = False
    open: int = 0
    first_piece: int = 0


class _ShellScanner:
    """One pass over a part of a text by the rules of shells."""

    def __init__(self, text: str, start: int, end: int, deep: int = 0, signs: re.Pattern[str] = _SHELL) -> None:
        self.text, self.at, self.end, self.deep = text, start, end, deep
        self.signs = signs
        self.pieces: list[Piece] = []
        self.stack = [_ShellFrame("code")]
        self.pending: list[re.Match[str]] = []
        self.depth = 0
        self.left = 0

    def begin_within(self, kind: Literal["double", "single"]) -> None:
        """The text begins inside such quotes, of a word that is no command."""
        self.stack[0].word = _Word(start=self.at, quoted=True, command="?")
        self.stack.append(_ShellFrame(kind))
        self.left = -1

    def scan(self) -> list[Piece]:
        """All pieces."""
        steps = {"code": self._code, "double": self._double, "parameter": self._parameter, "sum": self._sum}
        while self.at < self.end:
            frame = self.stack[-1]
            if frame.kind == "single":
                self._single()
            else:
                steps[frame.kind](frame)
        for frame in self.stack:
            if frame.kind == "code":
                self._end_word(frame.word)
            elif frame.kind in ("double", "single"):
                self.pieces[frame.first_piece :] = [
                    each._replace(sure=False) for each in self.pieces[frame.first_piece :]
                ]
        return self.pieces

    def _add(self, start: int, end: int, kind: PieceKind = "literal") -> None:
        if start < end:
            self.pieces.append(Piece(start, end, self.depth, kind))

    def _push(self, kind: Literal["code", "double", "parameter", "sum", "single"], ends: str = "") -> None:
        hole = kind not in ("double", "single")
        self.depth += hole
        self.stack.append(_ShellFrame(kind, ends, first_piece=len(self.pieces)))

    def _pop(self) -> None:
        frame = self.stack.pop()
        self.depth -= frame.kind not in ("double", "single")
        if self.left < 0 and len(self.stack) == 1:
            self.left = self.at

    def _enter(self, found: re.Match[str]) -> bool:
        """Whether an interpolation begins here."""
        kind = found.lastgroup
        if kind == "sum":
            self._push("sum", "))")
        elif kind == "sub":
            self._push("code", ")")
        elif kind == "back":
            self._push("code", "`")
        elif kind == "parameter":
            default = _DEFAULT.match(self.text, self.at, self.end) if self.text[self.at : self.at + 1] != "{" else None
            self._push("parameter")
            if default:
                self.at, self.stack[-1].is_data = default.end(), True
        else:
            return False
        return True

    def _code(self, frame: _ShellFrame) -> None:
        found = _match(self.signs, self.text, self.at, self.end)
        kind, word = found.lastgroup or "", frame.word
        self.at = found.end()
        if frame.ends == found[0] and kind in ("back", "meta"):
            self._end_word(word)
            self._pop()
            return
        if kind == "name" and ":~" in found[0]:
            kind = "meta"  # a part of a variable of Windows may be the sign between two commands
        if kind in ("line", "meta", "blank", "comment", "document", "here"):
            self._between_words(found, kind, word)
            return
        if word.start < 0:
            word.start = found.start()
        if kind in ("double", "single"):
            word.quoted = True
            self._push("double" if kind == "double" else "single")
        elif kind == "ansi":
            word.quoted = True
            self._add(found.start() + 2, found.end() - 1)
        elif kind in ("text", "escape"):
            word.bare.append(found.span())
        else:
            self._enter(found)

    def _between_words(self, found: re.Match[str], kind: str, word: _Word) -> None:
        self._end_word(word)
        if kind == "comment":
            self._add(*found.span())
        elif kind == "document":
            self.pending.append(found)
        elif kind == "line" or (kind == "meta" and found[0] not in "<>"):
            word.command, word.previous, word.takes = None, "", False
            if kind == "line" and self.pending:
                self._documents()

    def _end_word(self, word: _Word) -> None:
        """Which bare parts of the word that ends here are data."""
        start, word.start = word.start, -1
        if start < 0:
            return
        bare, word.bare = word.bare, []
        quoted, word.quoted = word.quoted, False
        stop = bare[-1][1] if bare else start
        text = self.text[start : min(stop, start + 4_096)]
        given = -1
        if word.command is None:
            assigns = _ASSIGNS.match(text)
            given = start + assigns.end() if assigns else -1
        elif (
            text.startswith("-")
            or _OPTION.match(word.previous)
            or word.command in _TAKE_WORDS
            or word.takes
            or quoted
            or word.previous in _GIVES
        ):
            given = start
        else:
            sign = next((at for at, each in enumerate(text) if each in "=:"), -1)
            given = start + sign + 1 if sign >= 0 else -1
        if given >= 0:
            for begin, end in bare:
                self._add(max(begin, given), end, "bare")
        if word.command is not None:
            word.takes = word.command.rpartition("/")[2] not in _RUN_WORDS
        elif given < 0 and text.lower() not in _KEEP:
            word.command = text.lower().lstrip("@-+")
        word.previous = text

    def _double(self, _frame: _ShellFrame) -> None:
        found = _match(_SHELL_DOUBLE, self.text, self.at, self.end)
        self.at = found.end()
        if found["end"]:
            self._pop()
        elif found["text"] or found["escape"]:
            self._add(*found.span())
        else:
            self._enter(found)

    def _single(self) -> None:
        stop = self.text.find("'", self.at, self.end)
        self._add(self.at, self.end if stop < 0 else stop, "raw")
        self.at = self.end if stop < 0 else stop + 1
        if stop >= 0:
            self._pop()

    def _parameter(self, frame: _ShellFrame) -> None:
        found = _match(_SHELL_PARAMETER, self.text, self.at, self.end)
        self.at = found.end()
        if found["end"]:
            self._pop()
        elif found["text"] or found["escape"]:
            if frame.is_data:
                self._add(found.start(), found.end(), "bare")
        else:
            self._enter(found)

    def _sum(self, frame: _ShellFrame) -> None:
        found = _match(_SHELL_SUM, self.text, self.at, self.end)
        self.at = found.end()
        if found["open"]:
            frame.open += 1
        elif found["end"]:
            frame.open -= len(found["end"])
            if frame.open < -1 or found["end"] == "))":
                self._pop()
        elif found["sub"]:
            self._enter(found)

    def _documents(self) -> None:
        """The here-documents that begin below this line: read as code where the line runs them."""
        pending, self.pending = self.pending, []
        for opener in pending:
            stop, after = _end_of_document(self.text, self.at, self.end, opener["word"])
            began = self.text.rfind("\n", max(0, opener.start() - 200), opener.start()) + 1
            runs = _RUNS_BODY.findall(self.text[max(began, opener.start() - 200) : opener.start()])
            first = len(self.pieces)
            if runs and self.deep < _MOST_HEREDOCS_DEEP:
                row = next(LANGUAGES[each] for program, each in PROGRAMS if program in runs[-1])
                inner = pieces_of(row, self.text, self.at, stop, self.deep + 1)
                self.pieces += [each._replace(depth=each.depth + self.depth) for each in inner]
            else:
                at = self.at
                for name in re.finditer(r"\$\w++", self.text[at:stop]) if not opener["raw"] else ():
                    self._add(at, self.at + name.start())
                    at = self.at + name.end()
                self._add(at, stop)
            if after < 0:
                self.pieces[first:] = [each._replace(sure=False) for each in self.pieces[first:]]
            self.at = self.end if after < 0 else after


_SCRIPT = re.compile(r"<(?P<tag>script|style)\b[^>]{0,300}>|(?P<code><%|\{%)|(?P<brace>\{\{)", re.IGNORECASE)
_SCRIPT_ENDS = {"script": re.compile(r"</script", re.IGNORECASE), "style": re.compile(r"</style", re.IGNORECASE)}


def _markup(text: str, start: int, end: int) -> list[Piece]:
    """Text and attributes are data; scripts and what templates run are code."""
    pieces: list[Piece] = []
    at = start
    while at < end:
        found = _SCRIPT.search(text, at, end)
        stop = found.start() if found else end
        if at < stop:
            pieces.append(Piece(at, stop, 0, "prose"))
        if found is None:
            break
        at = found.end()
        if found["tag"]:
            pieces.append(Piece(*found.span(), 0, "prose"))
            close = _SCRIPT_ENDS[found["tag"].lower()].search(text, at, end)
            stop = close.start() if close else end
            pieces += _Scanner(JAVASCRIPT if found["tag"].lower() == "script" else CSS, text, at, stop).scan()
        else:
            stop = text.find({"<%": "%>", "{%": "%}", "{{": "}}"}[found[0]], at, end)
            stop = end if stop < 0 else stop
            pieces += _Scanner(R, text, at, stop, depth=1).scan()
        at = stop
    return pieces


_YAML_LINE = re.compile(
    r"(?P<margin>[ ]*+)(?P<items>(?:-[ \t]++)*+)(?:(?P<key>[\"']?[A-Za-z_$][\w.$/ -]{0,80}[\"']?)[ \t]*+"
    r":(?=\s|\Z)[ \t]*+)?"
    r"(?P<value>[^\n]*+)\n?"
)

_BLOCK = re.compile(r"(?:![\w!:.-]{1,40}[ \t]++)?[|>][-+0-9]{0,3}[ \t]*(?:#.*)?\r?\Z")

_RUNS = re.compile(
    r"(?:exec\w*|commands?|cmds?|run|shell|entrypoint|args?|(?:\w+[_-])?scripts?|inline|steps?|sh|bash|hooks?"
    r"|(?:(?:pre|post)[_-]?)?(?:install|deploy|build|run|start|stop|test)|user-?data|runcmd|bootcmd)\Z",
    re.IGNORECASE,
)

_RUNS_ON_LINE = re.compile(
    r"\b(?:exec\w*|commands?|cmd|run|shell|entrypoint|args?|arguments?|scripts?)\b", re.IGNORECASE
)

_DOCKER_VALUE = re.compile(r"(?m:^)(?:ENV|ARG|LABEL)[ \t](?:[^\\\n]|\\(?s:.))*+")


def _docker(text: str, start: int, end: int, deep: int) -> list[Piece]:
    """What a file gives to the environment is no command of a shell; all else is."""
    pieces: list[Piece] = []
    at = start
    for found in _DOCKER_VALUE.finditer(text, start, end):
        pieces += pieces_of("shell", text, at, found.start(), deep)
        pieces.append(Piece(*found.span(), 0, "scalar"))
        at = found.end()
    return pieces + pieces_of("shell", text, at, end, deep)


def runs_on_line(text: str, at: int) -> bool:
    """Whether the line names, before this place, something that is run."""
    began = text.rfind("\n", max(0, at - 200), at) + 1
    return _RUNS_ON_LINE.search(text, max(began, at - 200), at) is not None


def _yaml(text: str, start: int, end: int, deep: int) -> list[Piece]:
    """Scalars are data; those that a runner gives to a shell are read as a shell reads them."""
    pieces: list[Piece] = []
    at, key, key_margin = start, "", 0
    while at < end:
        line = _match(_YAML_LINE, text, at, end)
        margin = len(line["margin"]) + (len(line["items"]) if line["key"] else 0)
        if line["key"] is not None:
            key, key_margin = line["key"].strip("\"'"), margin
        elif line["value"].strip() and not line["items"] and len(line["margin"]) < key_margin:
            key = ""
        value, stop = line.span("value")
        at = line.end() if line.end() > at else end
        row = _row_of_key(key)
        if _BLOCK.match(line["value"]):
            outer = len(line["margin"]) if line["key"] is None or line["items"] else margin
            value, at = at, _end_of_block(text, at, end, outer)
            stop = at
            if text.startswith("#!", text.find("#!", value, min(stop, value + 200))):
                row = language_of("", text[text.find("#!", value) :][:200]) if row == "scalar" else row
            row = "prose" if row == "scalar" else row
        quoted = text[value : value + 1] in ("'", '"')
        if quoted and row == "shell":
            row = "prose"
        if row == "shell" and line["items"] and text[value : value + 1] in "[{":
            row = "prose"
        pieces += pieces_of(row, text, value, stop, deep + 1)
    return pieces


def _row_of_key(key: str) -> Grammar | str:
    """How the value of a key of YAML is read: a key may be the name of a file."""
    if _RUNS.match(key):
        return "shell"
    found = language_of(key) if "." in key else "scalar"
    return "scalar" if found in ("prose", "yaml") else found


def _end_of_block(text: str, at: int, end: int, margin: int) -> int:
    """Where the lines end that stand further in than ``margin``."""
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop + 1
        line = text[at:stop]
        if line.strip() and len(line) - len(line.lstrip(" ")) <= margin:
            break
        at = stop
    return at


_KINDS: Mapping[str, PieceKind] = {"scalar": "scalar", "dotenv": "dotenv", "json": "literal"}


def pieces_of(row: Grammar | str, text: str, start: int, end: int, deep: int = 0) -> list[Piece]:
    """The data of a part of a text, in order, where nothing is open at its beginning."""
    if isinstance(row, Grammar):
        return sorted(_Scanner(row, text, start, end, deep=deep).scan())
    if row == "shell":
        return sorted(_ShellScanner(text, start, end, deep).scan())
    if row == "batch":
        return sorted(_ShellScanner(text, start, end, deep, _BATCH_SIGN).scan())
    if row == "docker":
        return sorted(_docker(text, start, end, deep))
    if row == "yaml":
        return _yaml(text, start, end, deep)
    if row == "markup":
        return sorted(_markup(text, start, end))
    kind: PieceKind = _KINDS.get(row, "prose")
    return [Piece(start, end, 0, kind)] if start < end else []


def readings(row: Grammar | str, text: str, *, whole: bool) -> Iterator[list[Piece]]:
    """The data of a text, and, unless it is ``whole``, also as if it began in a literal that ends within it."""
    yield pieces_of(row, text, 0, len(text))
    if whole:
        return
    if row in ("shell", "docker"):
        for kind in ("single", "double"):
            shell = _ShellScanner(text, 0, len(text))
            shell.begin_within(kind)
            found = sorted(shell.scan())
            if shell.left >= 0:
                yield found
    elif isinstance(row, Grammar):
        done = set()
        for quote in row.quotes:
            if not quote.lines or not quote.data or quote.end in done:
                continue
            done.add(quote.end)
            for fill in ("", "#") if "{h}" in quote.end else ("",):
                end = quote.end.replace("{h}", '"""' if 'h>\\"' in quote.begin else fill)
                scanner = _Scanner(row, text, 0, len(text))
                scanner.begin_within(quote, end)
                found = sorted(scanner.scan())
                if scanner.left >= 0:
                    yield found
