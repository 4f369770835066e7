"""Reading the published results of Martian's code-review-benchmark: judged reviews of several tools, by judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from review_advisor.core.evaluation.judged_change import JudgedChange, JudgeResults, ToolFinding, is_trigger_command
from review_advisor.core.evaluation.scores import Score
from review_advisor.core.facts.files.value_mistake import value_mistake

MOST_BYTES = 20_000_000
_MOST_JUDGES = 20
_MOST_FINDINGS = 400
_LEAST_REPOSITORIES = 2
_NAME = r"^[\w.-]{1,100}$"

Value = TypeVar("Value")
ReadFile = Callable[[Path], bytes]
ResultText = Annotated[str, StringConstraints(max_length=20_000)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Tool = Annotated[str, StringConstraints(pattern=_NAME)]


class MartianError(Exception):
    """The folder does not hold such results; the message says why."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Candidate(_Lenient):
    text: ResultText = ""


class _Hit(_Lenient):
    golden_comment: ResultText
    matched_candidate: ResultText


class _Wrong(_Lenient):
    candidate: ResultText


class _Missed(_Lenient):
    golden_comment: ResultText


class _Evaluation(_Lenient):
    skipped: bool = False
    true_positives: list[_Hit] = Field(default=[], max_length=500)
    false_positives: list[_Wrong] = Field(default=[], max_length=500)
    false_negatives: list[_Missed] = Field(default=[], max_length=500)


class _GoldenPull(_Lenient):
    url: Url


class _Shares(_Lenient):
    precision: float
    recall: float
    f1: float


class _OfModel(_Lenient):
    overall_metrics: dict[str, _Shares]


class _Dashboard(_Lenient):
    models: dict[str, _OfModel]


_GOLDEN = TypeAdapter(Annotated[list[_GoldenPull], Field(max_length=5_000)])
_CANDIDATES = TypeAdapter(dict[Url, dict[Tool, list[_Candidate]]])
_EVALUATIONS = TypeAdapter(dict[Url, dict[Tool, _Evaluation]])
_DASHBOARD = TypeAdapter(_Dashboard)


def read_results(folder: Path, read: ReadFile) -> tuple[JudgeResults, ...]:
    """The results of every judge below ``folder``, a checkout of the benchmark or its part ``offline``.

    ``read`` reads one of its files. Raises ``MartianError``, and what ``read`` raises.
    """
    offline = folder / "offline" if (folder / "offline").is_dir() else folder
    judges = sorted(path.parent for path in offline.glob("results/*/evaluations.json"))
    if not judges:
        raise MartianError(
            f"{folder} holds no results of that benchmark: offline/results/*/evaluations.json is missing."
        )
    if len(judges) > _MOST_JUDGES:
        raise MartianError(f"{folder} holds results of more than {_MOST_JUDGES} judges.")
    repositories = _repositories(offline, read)
    table = offline / "analysis" / "benchmark_dashboard.json"
    published = _read(read, table, _DASHBOARD).models if table.exists() else {}
    return tuple(_of_judge(judge, read, repositories, published.get(judge.name)) for judge in judges)


def _repositories(offline: Path, read: ReadFile) -> dict[str, str]:
    """The repository of each pull request: the file that its golden comments are in."""
    files = sorted(offline.glob("golden_comments/*.json"))
    found = {pull.url: file.stem for file in files for pull in _read(read, file, _GOLDEN)}
    if len(set(found.values())) < _LEAST_REPOSITORIES:
        raise MartianError(f"{offline / 'golden_comments'} has fewer than two repositories, so none can be left out.")
    return found


def _of_judge(judge: Path, read: ReadFile, repositories: Mapping[str, str], published: _OfModel | None) -> JudgeResults:
    candidates = _read(read, judge / "candidates.json", _CANDIDATES)
    evaluations = _read(read, judge / "evaluations.json", _EVALUATIONS)
    changes = []
    for url, by_tool in sorted(evaluations.items()):
        if url not in repositories:
            raise MartianError(f"{judge / 'evaluations.json'} names a pull request without golden comments: {url}.")
        changes.append(_change(url, repositories[url], by_tool, candidates.get(url, {})))
        if len(changes[-1].findings) > _MOST_FINDINGS:
            raise MartianError(f"{judge / 'candidates.json'} has more than {_MOST_FINDINGS} findings on {url}.")
    if len({change.repository for change in changes}) < _LEAST_REPOSITORIES:
        raise MartianError(f"{judge / 'evaluations.json'} has fewer than two repositories, so none can be left out.")
    if not any(change.loose for change in changes):
        raise MartianError(f"{judge / 'evaluations.json'} has no tool that was judged.")
    told = None if published is None else published.overall_metrics
    shares = None if told is None else {tool: (each.precision, each.recall, each.f1) for tool, each in told.items()}
    return JudgeResults(judge.name, tuple(changes), shares)


def _change(
    url: str,
    repository: str,
    by_tool: Mapping[str, _Evaluation],
    candidates: Mapping[str, Sequence[_Candidate]],
) -> JudgedChange:
    judged = {tool: each for tool, each in sorted(by_tool.items()) if not each.skipped}
    golden = {comment: number for number, comment in enumerate(sorted(set().union(*map(_golden, judged.values()))))}
    findings = [
        finding
        for tool, each in judged.items()
        for finding in _findings(tool, each, [found.text for found in candidates.get(tool, ()) if found.text], golden)
    ]
    loose = {
        tool: Score(
            len(each.true_positives),
            len(each.true_positives) + len(each.false_positives),
            len(each.true_positives) + len(each.false_negatives),
        )
        for tool, each in judged.items()
    }
    return JudgedChange(url, repository, len(golden), tuple(findings), loose)


def _golden(each: _Evaluation) -> set[str]:
    return {hit.golden_comment for hit in each.true_positives} | {lost.golden_comment for lost in each.false_negatives}


def _findings(tool: str, each: _Evaluation, texts: list[str], golden: Mapping[str, int]) -> list[ToolFinding]:
    """What a tool said; where nothing was extracted from its comments, these themselves were judged."""
    judged = dict.fromkeys([hit.matched_candidate for hit in each.true_positives])
    judged |= dict.fromkeys([wrong.candidate for wrong in each.false_positives])
    matches: dict[str, set[int]] = {}
    for hit in each.true_positives:
        matches.setdefault(hit.matched_candidate, set()).add(golden[hit.golden_comment])
    said = texts or list(judged)
    if not matches.keys() <= set(said):
        raise MartianError(f"A finding of {tool} was judged right that candidates.json does not have.")
    return [
        ToolFinding(tool, text, frozenset(matches.pop(text, ())))
        for text in said
        if text in matches or not is_trigger_command(text)
    ]


def _read(read: ReadFile, path: Path, form: TypeAdapter[Value]) -> Value:
    raw = read(path)
    try:
        return form.validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:200]
        said = value_mistake(first, block="an object")
        raise MartianError(
            f"{path} does not have the form of these results{place and f', at {place}'}: {said}."
        ) from None
