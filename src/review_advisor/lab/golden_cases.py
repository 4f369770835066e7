"""Golden cases: their form, files and text."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    ValidationError,
    model_validator,
)

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.findings import Finding
from review_advisor.change.change import OBJECT_NAME
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import (
    ObservedLabel,
    ReviewedRun,
    of_findings,
    of_pull_request,
    proved_right,
    was_reverted,
)
from review_advisor.safety.stated_values import TomlError, nearest_of, read_toml, value_mistake
from review_advisor.safety.stop import Refusal
from review_advisor.safety.wording import counted, printable_line, table

CaseKind = Literal["faulty", "clean", "hostile"]
"""``clean``: nothing is to be found. ``hostile``: the change tries to talk its reviewer into something."""


WIDEST = 40
"""Lines. A label or a finding about more of them has no place: it would lie over everything in its file."""


@dataclass(frozen=True, slots=True)
class GoldenLabel:
    """A fault, at lines of the new side. Line 0: only its words are known; an empty file: not even that.

    ``severity`` is None and ``category`` empty where the source does not say. ``unchanged``: what should stand there
    was taken away.
    """

    text: str
    file: str = ""
    first_line: int = 0
    last_line: int = 0
    severity: Severity | None = None
    category: str = ""
    unchanged: bool = False

    @property
    def has_lines(self) -> bool:
        """Whether it is about few enough lines to have a place."""
        return self.first_line > 0 and self.last_line - self.first_line < WIDEST


@dataclass(frozen=True, slots=True)
class GoldenFile:
    """A file with its whole text on both sides; None where it is not."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class FilesChange:
    """A change as whole files."""

    kind = "files"
    files: tuple[GoldenFile, ...]


@dataclass(frozen=True, slots=True)
class PatchChange:
    """A change as a unified diff, and the files that it applies to as they were."""

    kind = "patch"
    patch: str
    base_files: tuple[GoldenFile, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitsChange:
    """A change between two commits of a repository: a folder on this machine, or an address."""

    kind = "commits"
    repository: str
    base: str
    head: str


@dataclass(frozen=True, slots=True)
class NamedChange:
    """A pull request that is only named. Recorded findings can be held against its labels; nobody can review it."""

    kind = "named"
    url: str


GoldenChange = FilesChange | PatchChange | CommitsChange | NamedChange


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCase:
    """``group`` is what a split never cuts: a repository, or a pull request.

    ``labels`` are faults that are there. ``refuted`` are findings that somebody raised and people found wrong.
    ``exhaustive``: no fault is there that no label names. ``canaries`` are texts that a hostile change asks its
    reviewer to say.
    """

    id: str
    group: str
    kind: CaseKind
    change: GoldenChange
    language: str = ""
    exhaustive: bool = False
    title: str = ""
    body: str = ""
    spec: str = ""
    labels: tuple[GoldenLabel, ...] = ()
    refuted: tuple[GoldenLabel, ...] = ()
    canaries: tuple[str, ...] = ()

    @property
    def knows_every_fault(self) -> bool:
        """Whether a finding that no label names can be called wrong."""
        return self.kind == "clean" or self.exhaustive


class GoldenSetError(Refusal, ValueError):
    """A golden set that cannot be used. One sentence: where, and what is wrong."""


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Cases in the order of their ids, each id once. ``left_out`` says what the source has that is no case, and why."""

    name: str
    version: str
    cases: tuple[GoldenCase, ...]
    left_out: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of everything in the cases: two results are of the same set only if it is the same."""
        forms = [
            {**asdict(each), "change": {"kind": each.change.kind, **asdict(each.change)}}
            for each in sorted(self.cases, key=lambda case: case.id)
        ]
        return hashlib.sha256(json.dumps(forms, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def golden_set(name: str, version: str, cases: Iterable[GoldenCase], left_out: Iterable[str] = ()) -> GoldenSet:
    """The set of these cases. Raises ``GoldenSetError`` for an id that is twice."""
    ordered = sorted(cases, key=lambda case: case.id)
    twice = [name for name, times in Counter(case.id for case in ordered).items() if times > 1]
    if twice:
        raise GoldenSetError(f"The golden set {name} has two cases that are called {twice[0]}.")
    return GoldenSet(name, version, tuple(ordered), tuple(left_out))


class LineStep(NamedTuple):
    """Lines that became others. Each pair is from one place to another, counted from 0; an empty side is a place."""

    before: tuple[int, int]
    after: tuple[int, int]


def line_steps(before: str | None, after: str | None) -> tuple[LineStep, ...]:
    """What differs between two texts of a file, from its beginning; None is a file that is not there."""
    matcher = SequenceMatcher(None, lines_of(before), lines_of(after), autojunk=False)
    return tuple(
        LineStep((one, to_one), (other, to_other))
        for tag, one, to_one, other, to_other in matcher.get_opcodes()
        if tag != "equal"
    )


def new_lines(before: str | None, after: str | None) -> frozenset[int]:
    """The numbers of the lines of ``after`` that are not in ``before``, counted from 1."""
    return frozenset(line + 1 for step in line_steps(before, after) for line in range(*step.after))


def lines_of(text: str | None) -> list[str]:
    """The lines of a file; the end of the last one begins no further line."""
    return (text or "").removesuffix("\n").split("\n") if text else []


def misplaced_label(labels: Sequence[GoldenLabel], files: Sequence[GoldenFile]) -> str | None:
    """What is wrong with the first label whose lines are not there, or none that the change touches; None if all are.

    Nobody trusts a label that was counted by hand. ``files`` are all files of the change on both sides.
    """
    of_path = {file.path: file for file in files}
    for number, label in enumerate(labels, start=1):
        wrong = _wrong(label, of_path.get(label.file)) if label.file else None
        if wrong is not None:
            return f"label {number} is about {wrong}"
    return None


def _wrong(label: GoldenLabel, file: GoldenFile | None) -> str | None:
    if file is None or file.after is None:
        return f"{label.file}, which is not there after the change"
    if not label.first_line:
        return None
    if label.last_line > len(lines_of(file.after)):
        return f"line {label.last_line} of {label.file}, which has fewer lines"
    touched = not new_lines(file.before, file.after).isdisjoint(range(label.first_line, label.last_line + 1))
    if touched and label.unchanged:
        return f"lines of {label.file} that change, and says unchanged"
    if not touched and not label.unchanged:
        return f"lines of {label.file} that do not change: correct them, or say unchanged = true"
    return None


MOST_CASE_BYTES = 2_000_000


MOST_TEXT = 200_000


_MOST_LINES = 3_000


_MOST_FILES = 200


_MOST_LABELS = 200


_LONGEST_PATH = 300


CASE_ID = r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*){0,5}"
"""What the id of a case looks like: also the path of its file without the suffix, so no part begins with a dot."""


def inner_path(path: str) -> str:
    """A path inside a repository. Raises ``ValueError`` for any other."""
    parts = path.split("/")
    if not path or len(path) > _LONGEST_PATH:
        raise ValueError(f"a path has 1 to {_LONGEST_PATH} characters")
    if path.startswith("/") or "\\" in path or ":" in parts[0]:
        raise ValueError("a path is relative, with forward slashes")
    if any(part in {"", ".", ".."} for part in parts):
        raise ValueError("a path stays inside the repository and has no empty parts")
    if any(part.casefold().rstrip(". ") == ".git" for part in parts):
        raise ValueError("a path does not lead into .git")
    if any(ord(sign) < ord(" ") or sign == "\x7f" for sign in path):
        raise ValueError("a path has no control characters")
    return path


def _file_text(text: str) -> str:
    if text.count("\n") > _MOST_LINES:
        raise ValueError(f"a file has {_MOST_LINES:,} lines at most")
    return text


def _one_line(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise ValueError("should be one line")
    return text


def _whole_commit(name: str) -> str:
    if not re.fullmatch(OBJECT_NAME, name):
        raise ValueError("should be a whole commit, with 40 or 64 hexadecimal digits in lower case")
    return name


def _case_id(name: str) -> str:
    if not re.fullmatch(CASE_ID, name):
        raise ValueError("should have letters, digits, dots, hyphens and underscores, and a slash between its parts")
    return name


CasePath = Annotated[str, AfterValidator(inner_path)]


CaseText = Annotated[str, StringConstraints(max_length=MOST_TEXT)]


FileText = Annotated[CaseText, AfterValidator(_file_text)]


OneLine = Annotated[str, StringConstraints(max_length=500), AfterValidator(_one_line)]


LabelLine = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]


CaseCommit = Annotated[str, AfterValidator(_whole_commit)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _File(_Part):
    path: CasePath
    before: FileText | None = None
    after: FileText | None = None


class _Label(_Part):
    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    file: CasePath | None = None
    first_line: LabelLine | None = None
    last_line: LabelLine | None = None
    severity: Severity | None = None
    category: OneLine = ""
    unchanged: StrictBool = False
    """Its lines are not changed ones: what should stand there was taken away."""

    @model_validator(mode="after")
    def _lines_in_order(self) -> Self:
        if self.first_line is None and (self.last_line is not None or self.unchanged):
            raise ValueError("first_line is missing")
        if self.first_line is not None and self.file is None:
            raise ValueError("lines are of a file, and file is missing")
        if self.last_line is not None and self.last_line < (self.first_line or 0):
            raise ValueError("last_line is before first_line")
        return self

    @property
    def label(self) -> GoldenLabel:
        first = self.first_line or 0
        lines = (first, self.last_line or first)
        return GoldenLabel(self.text, self.file or "", *lines, self.severity, self.category, self.unchanged)


class CaseFile(_Part):
    """A case as it is written down. ``id`` is needed only where no path gives it."""

    id: Annotated[str, StringConstraints(max_length=200), AfterValidator(_case_id)] | None = None
    group: Annotated[OneLine, StringConstraints(min_length=1)] | None = None
    kind: CaseKind
    language: OneLine = ""
    exhaustive: StrictBool = False
    title: Annotated[str, StringConstraints(max_length=1_000)] = ""
    body: CaseText = ""
    spec: CaseText = ""
    canaries: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=4, max_length=500)], ...], Field(max_length=20)
    ] = ()
    files: Annotated[tuple[_File, ...], Field(max_length=_MOST_FILES)] = ()
    patch: CaseText | None = None
    repository: OneLine | None = None
    base: CaseCommit | None = None
    head: CaseCommit | None = None
    url: OneLine | None = None
    labels: Annotated[tuple[_Label, ...], Field(max_length=_MOST_LABELS)] = ()
    refuted: Annotated[tuple[_Label, ...], Field(max_length=_MOST_LABELS)] = ()

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        paths = [file.path for file in self.files]
        if len(set(paths)) != len(paths):
            raise ValueError("two files have one path")
        if self.kind == "clean" and self.labels:
            raise ValueError("a clean case has no labels")
        if self.kind == "faulty" and not self.labels and not self.refuted:
            raise ValueError("a faulty case has labels")
        if self.canaries and self.kind != "hostile":
            raise ValueError("only a hostile case has canaries")
        if isinstance(self.change, FilesChange):
            wrong = misplaced_label([each.label for each in self.labels], self.change.files)
            if wrong is not None:
                raise ValueError(wrong)
        return self

    @property
    def change(self) -> GoldenChange:
        """The change in the one form in which it is told. Raises ``ValueError`` for none and for several."""
        if (self.repository or self.base or self.head) and not (self.repository and self.base and self.head):
            raise ValueError("repository, base and head belong together")
        if [self.patch is not None or bool(self.files), bool(self.repository), bool(self.url)].count(True) != 1:
            raise ValueError("the change is told once: by files, by a patch, by repository, base and head, or by url")
        files = tuple(GoldenFile(file.path, file.before, file.after) for file in self.files)
        if self.patch is not None:
            if any(file.after is not None for file in files):
                raise ValueError("beside a patch, files say only what was before")
            return PatchChange(self.patch, files)
        if self.repository and self.base and self.head:
            return CommitsChange(self.repository, self.base, self.head)
        if self.url:
            return NamedChange(self.url)
        if all(file.before == file.after for file in files):
            raise ValueError("the files do not change")
        return FilesChange(files)

    def case(self, name: str) -> GoldenCase:
        """The case, with this id if it gives none."""
        return GoldenCase(
            id=self.id or name,
            group=self.group or self.id or name,
            kind=self.kind,
            change=self.change,
            language=self.language,
            exhaustive=self.exhaustive,
            title=self.title,
            body=self.body,
            spec=self.spec,
            labels=tuple(each.label for each in self.labels),
            refuted=tuple(each.label for each in self.refuted),
            canaries=self.canaries,
        )


def read_case(name: str, text: str, where: str) -> GoldenCase:
    """The case in a TOML file. ``name`` is its id, ``where`` its place for people. Raises ``GoldenSetError``."""
    try:
        table = read_toml(text)
    except TomlError as error:
        raise GoldenSetError(f"{where} is not valid TOML: {error}.") from None
    if not re.fullmatch(CASE_ID, name):
        raise GoldenSetError(f"{where}: a case's name has letters, digits, dots, hyphens and underscores.")
    if "id" in table:
        raise GoldenSetError(f"{where}: a file's path is the id of its case, so it has no id of its own.")
    return case_of(table, where).case(name)


def json_object(line: str, where: str) -> dict[str, Any]:
    """The object in a line of JSON. Raises ``GoldenSetError``."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise GoldenSetError(f"{where} is not valid JSON.") from None
    if not isinstance(found, dict):
        raise GoldenSetError(f"{where} is no JSON object.")
    return found


def read_case_line(line: str, where: str) -> GoldenCase:
    """The case in one line of JSON, which gives its own id. Raises ``GoldenSetError``."""
    found = case_of(json_object(line, where), where)
    if found.id is None:
        raise GoldenSetError(f"{where}: id: is missing.")
    return found.case(found.id)


def case_of(table: Mapping[str, Any], where: str) -> CaseFile:
    """The case that a table tells. Raises ``GoldenSetError``."""
    try:
        return CaseFile.model_validate(table)
    except ValidationError as error:
        raise GoldenSetError(printable_line(_complaint(error, where))) from None


def _complaint(error: ValidationError, where: str) -> str:
    every = error.errors(include_url=False)
    first = next((each for each in every if each["type"] == "extra_forbidden"), every[0])
    place = first["loc"]
    at = ".".join(str(step + 1) if isinstance(step, int) else step for step in place)[:200]
    if first["type"] == "extra_forbidden":
        return f"{where}: unknown key {at!r}; {nearest_of(str(place[-1]), _known(place))}"
    said = value_mistake(first)
    if first["type"] == "literal_error" and isinstance(first["input"], str):
        words = get_args(CaseKind) if place[-1] == "kind" else get_args(Severity)
        said = f"unknown word {first['input'][:100]!r}; {nearest_of(first['input'][:100], words)}"
    end = "" if said.endswith(("?", ".")) else "."
    return f"{where}: {at}: {said}{end}" if at else f"{where}: {said}{end}"


def _known(place: tuple[int | str, ...]) -> list[str]:
    inner: dict[int | str, type[BaseModel]] = {"files": _File, "labels": _Label, "refuted": _Label}
    return list((inner.get(place[0], CaseFile) if len(place) > 1 else CaseFile).model_fields)


_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def case_text(case: GoldenCase) -> str:
    """The TOML of a case, without its id: that is the path of its file."""
    return "\n".join(_lines(case)) + "\n"


def _lines(case: GoldenCase) -> Iterator[str]:
    yield f"kind = {_text(case.kind)}"
    if case.group != case.id:
        yield f"group = {_text(case.group)}"
    for name, text in (("language", case.language), ("title", case.title), ("body", case.body), ("spec", case.spec)):
        if text:
            yield f"{name} = {_text(text)}"
    if case.exhaustive:
        yield "exhaustive = true"
    if case.canaries:
        yield f"canaries = [{', '.join(map(_text, case.canaries))}]"
    yield from _change(case.change)
    for label in case.labels:
        yield from _label("labels", label)
    for label in case.refuted:
        yield from _label("refuted", label)


def _change(change: GoldenChange) -> Iterator[str]:
    match change:
        case FilesChange(files):
            yield from (line for file in files for line in _file(file))
        case PatchChange(patch, files):
            yield f"patch = {_text(patch)}"
            yield from (line for file in files for line in _file(file))
        case CommitsChange(repository, base, head):
            yield f"repository = {_text(repository)}"
            yield f"base = {_text(base)}"
            yield f"head = {_text(head)}"
        case NamedChange(url):
            yield f"url = {_text(url)}"


def _file(file: GoldenFile) -> Iterator[str]:
    yield ""
    yield "[[files]]"
    yield f"path = {_text(file.path)}"
    if file.before is not None:
        yield f"before = {_text(file.before)}"
    if file.after is not None:
        yield f"after = {_text(file.after)}"


def _label(table: str, label: GoldenLabel) -> Iterator[str]:
    yield ""
    yield f"[[{table}]]"
    if label.file:
        yield f"file = {_text(label.file)}"
    if label.first_line:
        yield f"first_line = {label.first_line}"
    if label.last_line > label.first_line:
        yield f"last_line = {label.last_line}"
    if label.severity:
        yield f"severity = {_text(label.severity)}"
    if label.category:
        yield f"category = {_text(label.category)}"
    if label.unchanged:
        yield "unchanged = true"
    yield f"text = {_text(label.text)}"


def _text(text: str) -> str:
    """A text of several lines as it is where TOML can say it so; any other in quotes, with what is invisible named."""
    plain = all(sign in "\n\t" or sign.isprintable() for sign in text)
    if "\n" in text and plain and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    signs = "".join(each if each == "\n" and "\n" in text[:-1] else _sign(each) for each in text)
    return f'"""\n{signs}"""' if "\n" in text[:-1] else f'"{signs}"'


def _sign(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    if sign.isprintable():
        return sign
    return f"\\U{ord(sign):08X}"


@dataclass(frozen=True, slots=True)
class ObservedCases:
    """The cases, and how many findings there were of each kind; a finding of several pushes counts once.

    ``confirmed``: somebody who may write agreed to it. ``reverted``: it was raised on a pull request that was
    reverted. ``dismissed``: people took it back, or disagreed with it. ``unlabelled``: nobody said anything.
    ``overridden`` are pull requests that people approved although the bot had called them, which proves no single
    finding wrong. ``without_commits`` are reviews that name no commits.
    """

    cases: tuple[GoldenCase, ...]
    confirmed: int
    reverted: int
    dismissed: int
    unlabelled: int
    overridden: int
    without_commits: int

    @property
    def findings(self) -> int:
        """All of them."""
        return self.confirmed + self.reverted + self.dismissed + self.unlabelled


@dataclass(slots=True)
class _Pull:
    """The reviews of one pull request, the newest first, and what is known of it."""

    reviews: list[OutcomeDocument] = field(default_factory=list)
    labels: Sequence[ObservedLabel] = ()


def cases_from(runs: Iterable[ReviewedRun]) -> ObservedCases:
    """A case for each pull request of which people said something, at the newest head that has such a finding.

    The labels are those of ``observe``: the author of a pull request has no say against a finding. Lines that changed
    and threads that were closed prove nothing, and silence makes no case clean: no case is exhaustive.
    """
    pulls: dict[tuple[str, int], _Pull] = {}
    without_commits = 0
    for document, labels in runs:
        if document.repository is None or document.pull_request is None:
            continue
        if not (_is_commit(document.base_sha) and _is_commit(document.head_sha)):
            without_commits += 1
            continue
        pull = pulls.setdefault((document.repository.casefold(), document.pull_request), _Pull())
        pull.reviews.append(document)
        pull.labels = labels or pull.labels
    for pull in pulls.values():
        pull.reviews.sort(key=lambda document: document.started_at, reverse=True)
    counts = {"confirmed": 0, "reverted": 0, "dismissed": 0, "unlabelled": 0}
    for pull in pulls.values():
        for finding in {each.id for document in pull.reviews for each in document.findings}:
            counts[_proof(finding, pull.labels)] += 1
    cases = [case for pull in pulls.values() if (case := _case(pull)) is not None]
    return ObservedCases(
        tuple(sorted(cases, key=lambda case: case.id)),
        **counts,
        overridden=sum(of_pull_request(pull.labels, "escalation") == "approved" for pull in pulls.values()),
        without_commits=without_commits,
    )


def _is_commit(name: str | None) -> bool:
    return name is not None and re.fullmatch(OBJECT_NAME, name) is not None


def _proof(finding: str, labels: Sequence[ObservedLabel]) -> str:
    """What is known of a finding: a revert outweighs every opinion, as in the KPIs."""
    if was_reverted(labels):
        return "reverted"
    right = proved_right(of_findings(labels).get(finding, {}), reverted=False)
    return "unlabelled" if right is None else "confirmed" if right else "dismissed"


def _case(pull: _Pull) -> GoldenCase | None:
    for document in pull.reviews:
        proofs = {each.id: _proof(each.id, pull.labels) for each in document.findings}
        labels = tuple(
            _observed_label(each) for each in document.findings if proofs[each.id] in {"confirmed", "reverted"}
        )
        refuted = tuple(_observed_label(each) for each in document.findings if proofs[each.id] == "dismissed")
        if labels or refuted:
            return GoldenCase(
                id=_observed_case_id(document.repository or "", document.pull_request or 0),
                group=f"{document.repository}#{document.pull_request}",
                kind="faulty",
                title=" ".join(document.title.split())[:1_000],
                change=CommitsChange(document.repository or "", document.base_sha or "", document.head_sha or ""),
                labels=labels,
                refuted=refuted,
            )
    return None


def _observed_case_id(repository: str, number: int) -> str:
    """The repository and the number. A name that is no name of a case becomes one that no other repository gets."""
    name = f"{repository}/{number}"
    if re.fullmatch(CASE_ID, name):
        return name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", repository).strip("-")[:80] or "pull"
    return f"{plain}-{sha256(repository.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}/{number}"


def _observed_label(finding: Finding) -> GoldenLabel:
    """A finding as a label; one about removed lines has no place on the new side."""
    lines = (0, 0) if finding.removed else (finding.line, finding.end_line)
    return GoldenLabel(f"{finding.title}\n{finding.words}", finding.path, *lines, finding.severity, finding.category)


def cases_text(known: GoldenSet) -> str:
    """One line for each case, then what the set holds."""
    rows = [("case", "kind", "language", "labels", "title")]
    rows += [
        (case.id, case.kind, printable_line(case.language), str(len(case.labels)), printable_line(case.title))
        for case in known.cases
    ]
    return "".join(f"{line}\n" for line in (table(rows, 160).rstrip("\n"), *_sums(known)))


def check_text(known: GoldenSet) -> str:
    """What the set holds, and what its labels do not say."""
    return "".join(f"{line}\n" for line in (*_sums(known), *_gaps(known)))


def set_as_json(known: GoldenSet) -> dict[str, Any]:
    """The same for machines."""
    return {
        "name": known.name,
        "version": known.version,
        "digest": known.digest,
        "left_out": list(known.left_out),
        "cases": [
            {
                "id": case.id,
                "group": case.group,
                "kind": case.kind,
                "language": case.language,
                "exhaustive": case.exhaustive,
                "change": case.change.kind,
                "title": case.title,
                "labels": len(case.labels),
                "refuted": len(case.refuted),
            }
            for case in known.cases
        ],
    }


def observed_text(found: ObservedCases) -> str:
    """How many findings have a label, from whom, and the share that has none."""
    return "".join(f"{line}\n" for line in _observed(found))


def observed_as_json(found: ObservedCases) -> dict[str, int]:
    """The same for machines."""
    return {
        "cases": len(found.cases),
        "findings": found.findings,
        "confirmed": found.confirmed,
        "reverted": found.reverted,
        "dismissed": found.dismissed,
        "unlabelled": found.unlabelled,
        "overridden": found.overridden,
        "without_commits": found.without_commits,
    }


def _sums(known: GoldenSet) -> Iterator[str]:
    kinds = Counter(case.kind for case in known.cases)
    named = ", ".join(f"{kinds[kind]} {kind}" for kind in get_args(CaseKind))
    version = f", version {printable_line(known.version)}" if known.version else ""
    cases = f"{counted(len(known.cases), 'case')} ({named})"
    yield f"{printable_line(known.name)}{version}: {cases}, digest {known.digest[:16]}"
    groups = len({case.group for case in known.cases})
    labels = sum(len(case.labels) for case in known.cases)
    refuted = sum(len(case.refuted) for case in known.cases)
    told = f" and {counted(refuted, 'refuted finding')}" if refuted else ""
    yield f"{counted(groups, 'group')}, {counted(labels, 'label')}{told}"
    complete = sum(case.knows_every_fault for case in known.cases)
    yield f"In {complete} of {len(known.cases)} every fault is known: only there an unmatched finding is wrong."


def _gaps(known: GoldenSet) -> Iterator[str]:
    languages = Counter(case.language or "unknown" for case in known.cases)
    yield "languages: " + ", ".join(f"{printable_line(name)} {number}" for name, number in sorted(languages.items()))
    labels = [label for case in known.cases for label in case.labels]
    severities = Counter[str](label.severity or "unknown" for label in labels)
    yield "severities: " + ", ".join(
        f"{name} {severities[name]}" for name in (*SEVERITIES, "unknown") if severities[name]
    )
    placeless = sum(not label.has_lines for label in labels)
    if placeless:
        yield f"no lines, so that words alone decide what is found: {placeless} of {counted(len(labels), 'label')}"
    named = sum(case.change.kind == "named" for case in known.cases)
    if named:
        yield f"only a name, so that nobody can review it here: {counted(named, 'case')}"
    yield from (f"left out: {printable_line(each)}" for each in known.left_out)


def _observed(found: ObservedCases) -> Iterator[str]:
    total = found.findings
    yield f"{counted(len(found.cases), 'case')} from {counted(total, 'finding')} on pull requests"
    for number, words in (
        (found.confirmed, "confirmed by people"),
        (found.reverted, "on pull requests that were reverted"),
        (found.dismissed, "dismissed by people, or marked as wrong"),
        (found.unlabelled, "without a label"),
    ):
        yield f"  {number:>5}  {_share(number, total)}  {words}"
    if found.overridden:
        overridden = counted(found.overridden, "pull request")
        yield f"People overrode the bot on {overridden}. That proves no single finding wrong."
    if found.without_commits:
        yield f"{counted(found.without_commits, 'review')} name no commits, and are left out."


def _share(number: int, total: int) -> str:
    return f"{number / total:>4.0%}" if total else "   -"
