"""Golden sets on disk: ours and those of public benchmarks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.lab.golden_cases import (
    MOST_CASE_BYTES,
    CaseCommit,
    CommitsChange,
    GoldenCase,
    GoldenLabel,
    GoldenSet,
    GoldenSetError,
    NamedChange,
    golden_set,
    read_case,
    read_case_line,
)
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake

ReadText = Callable[[Path, int], str]
"""The text of a file of so many bytes at most, in UTF-8. Raises ``GoldenSetError``."""


_MOST_BYTES = 50_000_000


_PULL = re.compile(r"https://[\w.-]+/([\w.-]{1,100})/([\w.-]{1,100})/(?:pull|commit)/(\w{1,64})/?")


Form = TypeVar("Form")


CommentText = Annotated[str, StringConstraints(max_length=20_000)]


PullUrl = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class PublicPart(BaseModel):
    """A part of such a file; what is not read may be anything."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PullName(NamedTuple):
    """What an address names."""

    repository: str
    number: str


def pull_name(url: str, path: Path) -> PullName:
    """The repository and number in an address. Raises ``GoldenSetError``."""
    found = _PULL.fullmatch(url)
    if found is None or {found[1], found[2]} & {".", ".."}:
        raise GoldenSetError(f"{path} names something that is no address of a pull request: {url[:200]!a}.")
    return PullName(f"{found[1]}/{found[2]}", found[3])


def read_form(path: Path, form: TypeAdapter[Form], read: ReadText) -> Form:
    """A file of this form. Raises ``GoldenSetError``."""
    raw = read(path, _MOST_BYTES)
    try:
        return form.validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:200]
        said = value_mistake(first, block="an object")
        raise GoldenSetError(
            f"{path} does not have the form of this benchmark{place and f', at {place}'}: {said}."
        ) from None


_RIGHT, _WRONG = "positive_samples.json", "negative_samples.json"


_LineNumber = Annotated[int, Field(ge=0, le=10_000_000)]


_ShortText = Annotated[str, StringConstraints(max_length=500)]


class _Comment(PublicPart):
    note: CommentText
    path: _ShortText = ""
    side: _ShortText | None = None
    from_line: _LineNumber | None = None
    to_line: _LineNumber | None = None
    category: _ShortText | None = None


class _Pull(PublicPart):
    githubPrUrl: PullUrl  # noqa: N815 (the benchmark's name)
    source_commit: CaseCommit
    target_commit: CaseCommit
    project_main_language: _ShortText = ""
    comments: Annotated[list[_Comment], Field(max_length=2_000)]


_PULLS = TypeAdapter(Annotated[list[_Pull], Field(max_length=5_000)])


def aacr_folder(folder: Path) -> Path | None:
    """Where the benchmark's samples lie at or below a folder; None if it is another folder."""
    return next((place for place in (folder, folder / "dataset") if (place / _RIGHT).is_file()), None)


def read_aacr(samples: Path, read: ReadText) -> GoldenSet:
    """A case for each pull request in ``aacr_folder``, its repository the group. Raises ``GoldenSetError``.

    The benchmark has no severities. Nobody looked for every fault, so that no case is exhaustive.
    """
    right = {pull.githubPrUrl: pull for pull in read_form(samples / _RIGHT, _PULLS, read)}
    wrong = {}
    if (samples / _WRONG).exists():
        wrong = {pull.githubPrUrl: pull for pull in read_form(samples / _WRONG, _PULLS, read)}
    cases, left_out = [], []
    for url, pull in sorted({**wrong, **right}.items()):
        labels = _labels(right.get(url))
        refuted = tuple(each for each in _labels(wrong.get(url)) if each not in labels)
        if labels or refuted:
            cases.append(_case(pull, labels, refuted, samples))
        else:
            left_out.append(f"{url} has no comment.")
    if not cases:
        raise GoldenSetError(f"{samples} holds no comment.")
    return golden_set("aacr", "", cases, left_out)


def _case(pull: _Pull, labels: tuple[GoldenLabel, ...], refuted: tuple[GoldenLabel, ...], samples: Path) -> GoldenCase:
    name = pull_name(pull.githubPrUrl, samples)
    return GoldenCase(
        id=f"aacr/{name.repository}/{name.number}",
        group=f"aacr/{name.repository}",
        kind="faulty",
        language=pull.project_main_language,
        change=CommitsChange(name.repository, pull.target_commit, pull.source_commit),
        labels=labels,
        refuted=refuted,
    )


def _labels(pull: _Pull | None) -> tuple[GoldenLabel, ...]:
    """The comments, each once. Lines may stand in either order; those of the old side are no place on the new one."""
    comments = () if pull is None else pull.comments
    return tuple(dict.fromkeys(_label(each) for each in comments if each.note.strip()))


def _label(comment: _Comment) -> GoldenLabel:
    ends = sorted(line for line in (comment.from_line, comment.to_line) if line)
    if not ends or comment.side == "left" or not comment.path:
        ends = [0]
    return GoldenLabel(
        comment.note.strip(), comment.path.removeprefix("./"), ends[0], ends[-1], None, comment.category or ""
    )


class _GoldenComment(PublicPart):
    comment: CommentText
    severity: str = ""


class _GoldenPull(PublicPart):
    url: PullUrl
    pr_title: CommentText = ""
    comments: Annotated[list[_GoldenComment], Field(max_length=500)]


_MARTIAN_PULLS = TypeAdapter(Annotated[list[_GoldenPull], Field(max_length=5_000)])


def holds_martian(folder: Path) -> bool:
    """Whether a folder looks like that benchmark, or its part ``offline``."""
    return any((place / "golden_comments").is_dir() for place in (folder, folder / "offline"))


def read_martian(folder: Path, read: ReadText) -> GoldenSet:
    """A case for each pull request. The file that it stands in is its group. Raises ``GoldenSetError``."""
    offline = folder / "offline" if (folder / "offline").is_dir() else folder
    cases, left_out = [], []
    for file in sorted(offline.glob("golden_comments/*.json")):
        for pull in read_form(file, _MARTIAN_PULLS, read):
            name = pull_name(pull.url, file)
            texts = {each.comment.strip(): each for each in pull.comments if each.comment.strip()}
            if not texts:
                left_out.append(f"{pull.url} has no golden comment.")
                continue
            labels = tuple(GoldenLabel(text, severity=_severity(each.severity)) for text, each in texts.items())
            cases.append(
                GoldenCase(
                    id=f"martian/{name.repository}/{name.number}",
                    group=f"martian/{file.stem}",
                    kind="faulty",
                    title=pull.pr_title,
                    change=NamedChange(pull.url),
                    labels=labels,
                )
            )
    if not cases:
        raise GoldenSetError(f"{offline / 'golden_comments'} holds no golden comment.")
    return golden_set("martian", "", cases, left_out)


def _severity(word: str) -> Severity | None:
    return cast("Severity", word.casefold()) if word.casefold() in SEVERITIES else None


SET_FILE = "set.toml"


_MOST_CASE_BYTES = 200_000_000


_MOST_CASES = 5_000


_MOST_SET_BYTES = 10_000


def read_case_folder(folder: Path, read: ReadText) -> GoldenSet:
    """The cases in every TOML file below ``folder``; links are not followed. Raises ``GoldenSetError``."""
    name, version = _named(folder, read)
    files = sorted(
        path for path in folder.rglob("*.toml") if path != folder / SET_FILE and not _hidden(path.relative_to(folder))
    )
    if not files:
        raise GoldenSetError(f"{folder} holds no golden case: no TOML file lies below it.")
    if len(files) > _MOST_CASES:
        raise GoldenSetError(f"{folder} holds more than {_MOST_CASES:,} cases.")
    cases = []
    for path in files:
        if path.is_symlink():
            raise GoldenSetError(f"{path} is a link; a case is a file of its own.")
        case_id = path.relative_to(folder).with_suffix("").as_posix()
        cases.append(read_case(case_id, read(path, MOST_CASE_BYTES), str(path)))
    return golden_set(name, version, cases)


def read_case_lines(path: Path, read: ReadText) -> GoldenSet:
    """The cases of a file; blank lines are none. Raises ``GoldenSetError``."""
    lines = read(path, _MOST_CASE_BYTES).split("\n")
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not filled:
        raise GoldenSetError(f"{path} holds no golden case.")
    if len(filled) > _MOST_CASES:
        raise GoldenSetError(f"{path} holds more than {_MOST_CASES:,} cases.")
    for number, line in filled:
        if len(line) > MOST_CASE_BYTES:
            raise GoldenSetError(f"{path}, line {number} is longer than {MOST_CASE_BYTES:,} characters.")
    return golden_set(path.stem, "", [read_case_line(line, f"{path}, line {number}") for number, line in filled])


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _named(folder: Path, read: ReadText) -> tuple[str, str]:
    path = folder / SET_FILE
    if not path.exists():
        return folder.resolve().name, ""
    try:
        table = read_toml(read(path, _MOST_SET_BYTES))
    except TomlError as error:
        raise GoldenSetError(f"{path} is not valid TOML: {error}.") from None
    name, version = table.get("name"), table.get("version")
    if table.keys() != {"name", "version"} or not isinstance(name, str) or not isinstance(version, str):
        raise GoldenSetError(f"{path} says the name and the version of the set as texts, and nothing else.")
    return name, version
