"""The form of a golden case in a file: what a TOML file, or a line of JSON, may say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Self, get_args

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

from review_advisor.core.answers.answers import Severity
from review_advisor.core.evaluation.golden.changed_lines import misplaced_label
from review_advisor.core.evaluation.golden.golden_case import (
    CaseKind,
    CommitsChange,
    FilesChange,
    GoldenCase,
    GoldenChange,
    GoldenFile,
    GoldenLabel,
    GoldenSetError,
    NamedChange,
    PatchChange,
)
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.facts.files.value_mistake import value_mistake
from review_advisor.core.report.wording import printable_line
from review_advisor.core.roster.nearest import nearest_of

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
        told = read_toml(text)
    except TomlError as error:
        raise GoldenSetError(f"{where} is not valid TOML: {error}.") from None
    if not re.fullmatch(CASE_ID, name):
        raise GoldenSetError(f"{where}: a case's name has letters, digits, dots, hyphens and underscores.")
    if "id" in told:
        raise GoldenSetError(f"{where}: a file's path is the id of its case, so it has no id of its own.")
    return case_of(told, where).case(name)


def json_object(line: str, where: str) -> dict[str, Any]:
    """The object in a line of JSON. Raises ``GoldenSetError``."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise GoldenSetError(f"{where} is not valid JSON.") from None
    if not isinstance(told, dict):
        raise GoldenSetError(f"{where} is no JSON object.")
    return told


def read_case_line(line: str, where: str) -> GoldenCase:
    """The case in one line of JSON, which gives its own id. Raises ``GoldenSetError``."""
    found = case_of(json_object(line, where), where)
    if found.id is None:
        raise GoldenSetError(f"{where}: id: is missing.")
    return found.case(found.id)


def case_of(told: Mapping[str, Any], where: str) -> CaseFile:
    """The case that a table tells. Raises ``GoldenSetError``."""
    try:
        return CaseFile.model_validate(told)
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
