"""The checks themselves: the rules of ruff and the shapes of secrets, on added lines only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath

from review_advisor.core.facts.checker_settings import CHECKERS, RuffSettings, languages_of, nearest
from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.core.facts.files.languages import language_of
from review_advisor.core.facts.patches.diff_text import ShownLine
from review_advisor.core.policy.static_review import PYTHON
from review_advisor.core.safety.secret_shapes import holds_mark, is_mark, kind_marked, secrets_in
from review_advisor.core.safety.secret_shapes.randomness import looks_random
from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.check_finding import CheckFinding
from review_advisor.embedded.command_line import UsageError
from review_advisor.embedded.ruff_run import Fix, RuffRemark, remarks
from review_advisor.embedded.second_look.elsewhere import not_run_as_they_stand
from review_advisor.embedded.second_look.noise import is_noise, is_read_by_tests, is_test, is_test_data

_EXTRA = "review-advisor[embedded]"
_LONGEST_STATEMENT = 10
_LONGEST_QUOTE = 400
_SHORTEST_QUOTE = 4
_LONGEST_LINE = 2_000
"""A longer one was packed by a program, and holds much that looks drawn."""
_FEWEST_DRAWN = 12
"""So many different characters are in a token of any alphabet that was drawn at random."""
_BY_ITSELF = "the code says so"
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_OTHER_LINES = frozenset({PYTHON, "JavaScript", "TypeScript"})
"""Their checkers end a line at a lone carriage return. Git does not, so their line numbers differ from the diff's."""


class StaticChecks:
    """The checks for one diff. ``tree`` is the exported head tree, or None: then only the shown lines exist.

    ``settings`` are what the base's own configuration of ruff allows. ``programs`` are the checkers of other languages,
    by name, and ``allowed`` the rules of each that the base's configuration of it switches off.
    """

    def __init__(
        self,
        lines: Sequence[ShownLine],
        tree: Path | None,
        settings: Sequence[RuffSettings] = (),
        programs: Mapping[str, str] | None = None,
        allowed: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._settings = settings
        self._programs = programs or {}
        self._allowed = allowed or {}
        self._unread: dict[str, str] = {}
        self._set_aside: dict[str, str] = {}
        self._broken: dict[str, list[tuple[int | None, str]]] = {}
        self._tree = None if tree is None else tree.resolve()
        self._added: dict[str, dict[int, str]] = {}
        self._removed: dict[str, set[str]] = {}
        self._first: dict[str, int] = {}
        """Where the change of each file begins. Above that, old and new lines have the same numbers."""
        for line in lines:
            self._first[line.path] = min(line.number, self._first.get(line.path, line.number))
            if not line.added:
                self._removed.setdefault(line.path, set()).add(_bare(line.text))
            elif line.text.strip():
                self._added.setdefault(line.path, {})[line.number] = line.text
        self._changed = dict.fromkeys(line.path for line in lines)
        self._files = {path: file for path in self._changed if (file := self._file(path)) is not None}

    @property
    def unread(self) -> Mapping[str, str]:
        """The changed files of code that the checks for their language should have read and did not, with the reason.

        Known after ``everything``. A file of which nothing is left is none of them.
        """
        read = {PYTHON, *languages_of(self._programs)}
        there = (path for path in self._changed if path in self._added or path.startswith('"'))
        code = [path for path in there if language_of(path.strip('"')) in read]
        missing = {path: self._why_missing(path) for path in code if path not in self._files}
        misnumbered = {
            path: "it has line ends that git does not count"
            for path in code
            if language_of(path) in _OTHER_LINES
            and path in self._files
            and _LONE_RETURN.search(self._files[path].read_bytes())
        }
        # What breaks a file on an added line is a finding; elsewhere, nobody would be told.
        broken = {path: each[0][1] for path, each in self._broken.items() if all(line is None for line, _ in each)}
        return {**missing, **broken, **self._unread, **self._set_aside, **misnumbered}

    @property
    def set_aside(self) -> frozenset[str]:
        """Those of them that a rule did read: what it says is serious, and the tree says why not to mind."""
        return frozenset(self._set_aside)

    @property
    def has_tree(self) -> bool:
        """Whether ruff can run at all."""
        return self._tree is not None

    def everything(self) -> tuple[CheckFinding, ...]:
        """All checks on all files, by as few runs of ruff as can be.

        Tests do on purpose what security rules forbid, so of their bugs only those count that are broken or never run.
        """
        tests = [path for path in self._changed if is_test(path)]
        code = [path for path in self._changed if path not in tests]
        return (
            *self._ruff((*rules.BUG_RULES, *rules.SECURITY_RULES), code),
            *self._ruff(rules.TEST_RULES, tests),
            *self._secrets(),
            *self._of_programs(),
        )

    def _why_missing(self, path: str) -> str:
        if not self.has_tree:
            return "there is no tree to check it in"
        return "its name cannot be shown as it is" if path.startswith('"') else "it is no plain file of the tree"

    def _of_programs(self) -> Iterator[CheckFinding]:
        others = {path: file for path, file in self._files.items() if language_of(path) in languages_of(self._programs)}
        if not others:
            return
        from review_advisor.embedded.programs.check_files import check  # noqa: PLC0415 - only if such a file changed

        checked = check(self._programs, others)
        self._unread |= checked.unread
        told: set[tuple[str, str, int]] = set()
        for remark in checked.remarks:
            said = remark.said
            spans = ((said.first, said.last), *((other, other) for other in said.others))
            lines = (self._added_line(remark.path, first, last) for first, last in spans)
            line = next((number for number in lines if number is not None), None)
            if said.is_syntax:  # it may be of another language, or a part that is put together with others
                self._broken.setdefault(remark.path, []).append((None, _unparsed(said.first, said.message)))
                continue
            is_mild = said.severity in ("medium", "low")
            is_left_out = said.rule in self._allowed.get(remark.program, ()) or (
                is_test(remark.path)
                and (said.check == "security" or (is_mild and said.rule not in rules.RULES_OF_TESTS))
            )
            if line is None or is_left_out or self._has_moved(remark.path, line):
                continue
            if (once := (remark.path, said.rule, line)) in told:
                continue
            told.add(once)
            worth = rules.Worth(said.severity, said.confidence)
            quote = self._added[remark.path][line].strip()[:_LONGEST_QUOTE]
            is_packed = said.check == "bug" and self._is_packed(remark.path, line)
            why = "" if is_mild or said.check != "bug" else self._why_unmended(remark.path, said.rule, line)
            if why:
                self._set_aside.setdefault(remark.path, why)
                continue
            silenced = _BY_ITSELF if is_mild and remark.silenced else ""
            if not silenced and is_mild:
                silenced = "a program packed it" if is_packed else self._of_others(remark.path)
            yield CheckFinding(remark.path, line, said.check, said.rule, said.message, quote, worth, silenced=silenced)

    def _why_unmended(self, path: str, rule: str, line: int) -> str:
        """Why nobody here would mend it; empty where somebody would."""
        if self._is_packed(path, line):
            return "a program packed it"
        if is_read_by_tests(path):
            return f"tests read it, and it cannot run: {rule} in line {line}"
        return ""

    def _is_packed(self, path: str, line: int) -> bool:
        lines = self._files[path].read_bytes().split(b"\n")
        return len(lines[line - 1]) > _LONGEST_LINE if line <= len(lines) else False

    def _of_others(self, path: str) -> str:
        """Why nobody minds what is mild there, if that is so. The author of the change chooses what says so."""
        if kind_of_path(path) is Kind.GENERATED:
            return "its name says that it is generated"
        return "it is test data" if is_test_data(path) else ""

    def _file(self, shown: str) -> Path | None:
        relative = PurePosixPath(shown)
        if self._tree is None or shown.startswith('"') or relative.is_absolute() or ".." in relative.parts:
            return None
        wanted = self._tree.joinpath(*relative.parts)
        try:
            # A link anywhere on the way would lead out of what was reviewed.
            return wanted if wanted.resolve(strict=True) == wanted and wanted.is_file() else None
        except OSError:
            return None

    def _ruff(self, select: Sequence[str], paths: Iterable[str]) -> Iterator[CheckFinding]:
        files = [path for path in paths if path in self._files and language_of(path) == PYTHON]
        if self._tree is None:
            return
        found = dict.fromkeys(remarks(self._tree, select, files))
        given = {
            remark.name
            for remark in found
            if remark.name and self._added_line(remark.path, remark.first, remark.last) is None
        }
        elsewhere = not_run_as_they_stand(tuple(found), self._tree)
        broken_before = {
            remark.path for remark in found if remark.rule == rules.SYNTAX and remark.first < self._first[remark.path]
        }
        told: set[tuple[str, str, int]] = set()
        for remark in found:
            line = self._added_line(remark.path, remark.first, remark.last)
            worth = rules.worth(remark.rule)
            check: rules.CheckKind = "security" if remark.rule in rules.SECURITY_RULES else "bug"
            if remark.rule == rules.SYNTAX and not self._is_allowed(remark):
                place = None if remark.path in broken_before else line
                self._broken.setdefault(remark.path, []).append((place, _unparsed(remark.first, remark.message)))
            if line is None or is_noise(remark, self._tree) or self._is_allowed(remark):
                continue
            is_syntax = remark.rule == rules.SYNTAX  # one error brings about many
            once = (remark.path, remark.rule, 0 if is_syntax else line)
            # A name that lines outside the change use as well comes from somewhere else; a line may only have moved.
            is_old = remark.path in broken_before if is_syntax else self._has_moved(remark.path, line)
            if once in told or remark.name in given or is_old:
                continue
            told.add(once)
            is_mild = worth.severity in ("medium", "low")
            why = "" if is_mild or check != "bug" else elsewhere.get(remark, "")
            if why:
                self._set_aside.setdefault(remark.path, why)
                continue
            fix = self._whole_fix(remark, line)
            added = self._added[remark.path]
            quoted = range(line, (line if fix is None else fix.last) + 1)
            quote = "\n".join(added[number].strip() for number in quoted if number in added)[:_LONGEST_QUOTE]
            silenced = _BY_ITSELF if remark.silenced and rules.may_be_silenced(remark.rule, remark.name) else ""
            if not silenced and is_mild and check == "bug":
                silenced = elsewhere.get(remark) or self._of_others(remark.path)
            yield CheckFinding(remark.path, line, check, remark.rule, remark.message, quote, worth, fix, silenced)

    def _is_allowed(self, remark: RuffRemark) -> bool:
        """Whether the base's configuration allows it."""
        settings = nearest(self._settings, remark.path)
        return settings is not None and settings.allows(remark.rule, remark.path, remark.name)

    def _has_moved(self, path: str, line: int) -> bool:
        return _bare(self._added[path][line]) in self._removed.get(path, ())

    def _whole_fix(self, remark: RuffRemark, line: int) -> Fix | None:
        """Ruff's own fix, if it changes added lines alone, from the one that the finding is about."""
        fix = remark.fix
        if fix is None or fix.first != line or not fix.text.strip():
            return None
        changed = set(range(fix.first, fix.last + 1))
        return fix if changed <= self._added[remark.path].keys() else None

    def _added_line(self, path: str, first: int, last: int) -> int | None:
        added = self._added.get(path, {})
        span = range(first, last + 1 if last - first < _LONGEST_STATEMENT else first + 1)
        return next((number for number in span if number in added), None)

    def _secrets(self) -> Iterator[CheckFinding]:
        """The shapes of secrets."""
        for path in self._added:
            in_prose = kind_of_path(path) is Kind.DOCS or is_test(path)
            told = -1
            for number, kind in self._secret_lines(path, drawn_only=in_prose):
                goes_on, told = number == told + 1 and is_mark(self._added[path][number].strip()), number
                line, quote = self._secret_quote(path, number)
                if quote and not goes_on and kind in rules.TOLD_SECRETS:
                    worth = rules.secret_worth(in_prose=in_prose, has_tree=self.has_tree)
                    message = f"a committed secret: {kind}" if kind else "a committed secret"
                    yield CheckFinding(path, line, "secret", kind or "secret", message, quote, worth)

    def _secret_lines(self, path: str, *, drawn_only: bool) -> Iterator[tuple[int, str]]:
        """The added lines that hold a secret, with its kind; of a prose or test file only what is no placeholder."""
        added = self._added[path]
        file = self._files.get(path)
        text = "" if file is None else file.read_text(encoding="utf-8", errors="replace")
        known: dict[int, str | None] = {}
        for start, end, kind in secrets_in(text):
            line = text.count("\n", 0, start) + 1
            is_packed = text.find("\n", end) - text.rfind("\n", 0, start) > _LONGEST_LINE
            is_sure = not (drawn_only or is_packed)
            counts = is_sure or (kind in rules.ISSUED_SECRETS and _is_drawn(text[start:end]))
            known[line] = known.get(line) or (kind if counts else None)
        written = text.split("\n")
        for number, shown in added.items():
            raw = written[number - 1] if 0 < number <= len(written) else ""
            is_hidden = holds_mark(shown) and not holds_mark(raw) and len(raw) <= _LONGEST_LINE
            kind_there = known.get(number, kind_marked(shown) if is_hidden and not drawn_only else None)
            if kind_there is not None:
                yield number, kind_there

    def _secret_quote(self, path: str, number: int) -> tuple[int, str]:
        """The line to quote: the secret's own without the secret, or the one above where nothing is left of it."""
        added = self._added[path]
        for line in (number, number - 1):
            quote = _without_secret(added.get(line, "").strip())
            if quote:
                return line, quote
        return number, ""


def require_extra(programs: Mapping[str, str]) -> str:
    """The names and versions of the checkers, for reports. Raises ``UsageError`` if one is not installed."""
    try:
        others = [f"{each.name} {version(each.distribution)}" for each in CHECKERS if each.name in programs]
        return ", ".join((f"ruff {version('ruff')}", *others))
    except PackageNotFoundError as error:
        raise UsageError(
            f"Error: the static checks need {error.name}, which is not installed: pip install '{_EXTRA}'"
        ) from error


def _unparsed(line: int, message: str) -> str:
    return f"line {line} cannot be parsed: {message[:200]}"


def _bare(text: str) -> str:
    return "".join(text.split())


def _is_drawn(token: str) -> bool:
    """Whether a token was drawn at random; a placeholder is made of words or repeats itself."""
    return len(set(token)) >= _FEWEST_DRAWN and looks_random(token)


def _without_secret(text: str) -> str:
    """The shown line, or what stands in front of a secret that it still shows: a report repeats no secret."""
    if is_mark(text):
        return ""
    found = secrets_in(text)
    if not found:
        return text[:_LONGEST_QUOTE]
    before = text[: found[0][0]].strip()
    return before[-_LONGEST_QUOTE:] if len(before) >= _SHORTEST_QUOTE else ""
