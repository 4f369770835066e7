"""Published reviews of public benchmarks, scored."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from math import ceil, log, sqrt
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from review_advisor.review.agreement import adds_from, is_confirmed
from review_advisor.safety.stated_values import value_mistake
from review_advisor.safety.wording import printable_line


@dataclass(frozen=True, slots=True)
class Score:
    """``right``: golden comments that were found. ``shown``: findings. ``golden``: comments that could be found."""

    right: int = 0
    shown: int = 0
    golden: int = 0

    def __add__(self, other: Score) -> Score:
        """Both together: shares are of all pull requests at once, no mean of each."""
        return Score(self.right + other.right, self.shown + other.shown, self.golden + other.golden)

    @property
    def precision(self) -> float:
        """The share of the findings that is right."""
        return self.right / self.shown if self.shown else 0.0

    @property
    def recall(self) -> float:
        """The share of the golden comments that was found."""
        return self.right / self.golden if self.golden else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (self.shown + self.golden) if self.right else 0.0

    @property
    def percents(self) -> tuple[float, float, float]:
        """Precision, recall and F1 as the benchmark publishes them: in percent, with three decimals of the share."""
        return round(100 * self.precision, 1), round(100 * self.recall, 1), round(100 * self.f1, 1)


def pooled(scores: Iterable[Score]) -> Score:
    """All of them as one."""
    return sum(scores, Score())


def strict(matches: Sequence[frozenset[int]], golden: int) -> Score:
    """Each finding counts for one golden comment, and each comment for one finding: the most pairs there can be.

    ``matches``: for each finding that is shown, the golden comments that it was judged to say.
    """
    return Score(_most_pairs(matches), len(matches), golden)


def _most_pairs(matches: Sequence[frozenset[int]]) -> int:
    """The size of a maximum matching, by augmenting paths (Kuhn)."""
    holder: dict[int, int] = {}

    def finds_a_place(finding: int, seen: set[int]) -> bool:
        for comment in sorted(matches[finding] - seen):
            seen.add(comment)
            if comment not in holder or finds_a_place(holder[comment], seen):
                holder[comment] = finding
                return True
        return False

    return sum(finds_a_place(finding, set()) for finding in range(len(matches)))


Item = TypeVar("Item")


Percents = tuple[float, float, float]
"""Precision, recall and F1."""


Draw = Callable[[int], int]
"""A number from 0 to below the one that is given, by chance; the same ones again for the same seed."""


_TRIGGER = re.compile(r"\s*(?:/[\w-]+(?:\s+[\w-]+)?|@[\w-]+(?:\s+[\w-]+)?|[\w-]+\s+review)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """What one tool said, and the golden comments that a judge took it to say, by their numbers."""

    tool: str
    text: str
    matches: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """``loose``: the count of each tool by the judge's own rules, as the benchmark publishes it."""

    name: str
    repository: str
    golden: int
    findings: tuple[ToolFinding, ...]
    loose: Mapping[str, Score]

    def matches_of(self, tool: str) -> list[frozenset[int]]:
        """What each finding of one tool was judged to say."""
        return [each.matches for each in self.findings if each.tool == tool]


@dataclass(frozen=True, slots=True)
class JudgeResults:
    """What one judge said. ``published``: what the benchmark's own table says of each tool; None without one."""

    judge: str
    changes: tuple[JudgedChange, ...]
    published: Mapping[str, Percents] | None


def is_trigger_command(text: str) -> bool:
    """Whether a comment only calls a reviewer, such as ``/name review`` or ``@name``: that is no finding."""
    return _TRIGGER.fullmatch(text) is not None


def placebo(change: JudgedChange, draw: Draw) -> JudgedChange:
    """The same change, where chance says which of a tool's own findings are right.

    Every tool by itself scores as before. What agreement tells of truth is gone.
    """
    findings = list(change.findings)
    for tool in sorted({each.tool for each in findings if each.matches}):
        places = [place for place, each in enumerate(findings) if each.tool == tool]
        for place, matches in zip(places, shuffled(change.matches_of(tool), draw), strict=True):
            findings[place] = ToolFinding(tool, findings[place].text, matches)
    return replace(change, findings=tuple(findings))


def shuffled(items: Iterable[Item], draw: Draw) -> list[Item]:
    """In an order by chance, each as likely as any other (Fisher and Yates)."""
    ordered = list(items)
    for last in range(len(ordered) - 1, 0, -1):
        other = draw(last + 1)
        ordered[last], ordered[other] = ordered[other], ordered[last]
    return ordered


Weights = Mapping[str, float]


Cluster = tuple[int, ...]
"""The places of findings that say the same, in order."""


_NAME = re.compile(r"\w+")


_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class Joined:
    """Two clusters became one at this likeness; ``one`` and ``other`` are the first places in them."""

    likeness: float
    one: int
    other: int


def weights(texts: Sequence[str]) -> tuple[Weights, ...]:
    """The weights of each text: a term counts the more, the fewer of ``texts`` have it. Each has the length one."""
    counted = [Counter(terms_of(text)) for text in texts]
    having = Counter(term for terms in counted for term in terms)
    rarity = {term: log((1 + len(texts)) / (1 + number)) + 1 for term, number in having.items()}
    weighed = [{term: number * rarity[term] for term, number in terms.items()} for terms in counted]
    lengths = [sqrt(sum(weight * weight for weight in each.values())) for each in weighed]
    return tuple(
        {term: weight / length for term, weight in each.items()} for each, length in zip(weighed, lengths, strict=True)
    )


def likeness(one: Weights, other: Weights) -> float:
    """From 0, no term in common, to 1, the same terms."""
    few, many = sorted((one, other), key=len)
    return sqrt(min(1.0, sum(weight * many.get(term, 0.0) for term, weight in few.items())))


def joined(texts: Sequence[Weights], floor: float) -> tuple[Joined, ...]:
    """How clusters join, the most alike first, while they are alike by ``floor`` on average."""
    alike = {
        one: {other: likeness(texts[one], texts[other]) for other in range(len(texts)) if other != one}
        for one in range(len(texts))
    }
    sizes = dict.fromkeys(alike, 1)
    steps: list[Joined] = []
    while len(alike) > 1:
        closest, one, other = max(
            (alike[one][other], -one, -other) for one in alike for other in alike[one] if one < other
        )
        if closest < floor:
            break
        steps.append(Joined(closest, -one, -other))
        _join(alike, sizes, -one, -other)
    return tuple(steps)


def _join(alike: dict[int, dict[int, float]], sizes: dict[int, int], one: int, other: int) -> None:
    """The cluster ``other`` becomes a part of ``one``."""
    mine, its = sizes[one], sizes.pop(other)
    gone = alike.pop(other)
    for third, its_own in alike.items():
        its_own.pop(other)
        if third != one:
            alike[one][third] = its_own[one] = (mine * its_own[one] + its * gone[third]) / (mine + its)
    sizes[one] = mine + its


def clusters(number: int, steps: Sequence[Joined], at: float) -> tuple[Cluster, ...]:
    """The clusters of ``number`` findings that were joined at the likeness ``at`` or above."""
    members = {place: [place] for place in range(number)}
    for step in steps:
        if step.likeness >= at:
            members[step.one] += members.pop(step.other)
    return tuple(tuple(sorted(each)) for each in members.values())


def terms_of(text: str) -> list[str]:
    """Its words, each part of a name and the name, and each pair of words that follow one another."""
    parts = [[part.lower() for part in _PART.findall(name)] for name in _NAME.findall(text)]
    words = [part for name in parts for part in name]
    whole = ["".join(name) for name in parts if len(name) > 1]
    return [*words, *whole, *(f"{first} {second}" for first, second in pairwise(words))]


def council_shows(change: JudgedChange, clusters: Iterable[Cluster], lead: str, members: int) -> list[Cluster]:
    """The clusters that the council shows as one finding each; no label is read."""
    shown = []
    for cluster in clusters:
        tools = {change.findings[place].tool for place in cluster}
        raisers = len(tools - {lead})
        if is_confirmed(raisers, members) if lead in tools else raisers >= adds_from(members):
            shown.append(cluster)
    return shown


def credited(change: JudgedChange, cluster: Cluster, lead: str) -> frozenset[int]:
    """The golden comments of a finding that the council shows.

    A finding of the lead is credited with what the lead said. What members add is credited with what most of them said.
    """
    said = _said_by_tool(change, cluster)
    return said[lead] if lead in said else _majority(list(said.values()))


def _said_by_tool(change: JudgedChange, cluster: Cluster) -> dict[str, frozenset[int]]:
    """The golden comments that each tool of a cluster was judged to say in it."""
    said: dict[str, frozenset[int]] = {}
    for place in cluster:
        finding = change.findings[place]
        said[finding.tool] = said.get(finding.tool, frozenset()) | finding.matches
    return said


def _majority(said: Sequence[frozenset[int]]) -> frozenset[int]:
    """What at least half of the tools say. What any one says would reward large clusters for noise."""
    return frozenset(
        comment for comment in frozenset().union(*said) if 2 * sum(comment in each for each in said) >= len(said)
    )


TAIL = 0.025


Option = TypeVar("Option")


class Middle(NamedTuple):
    """The middle 95% of what was drawn."""

    low: float
    high: float


def middle(values: Sequence[float], tail: float = TAIL) -> Middle:
    """From the value that 2.5% are below to the one that 2.5% are above, or another ``tail``."""
    ordered = sorted(values)
    cut = ceil(tail * len(ordered)) - 1
    return Middle(ordered[max(cut, 0)], ordered[-1 - max(cut, 0)])


def resamples(repositories: Sequence[str], times: int, draw: Draw) -> list[list[int]]:
    """So many samples of the places of pull requests: of each repository as many as it has, with repetitions."""
    strata: dict[str, list[int]] = {}
    for place, repository in enumerate(repositories):
        strata.setdefault(repository, []).append(place)
    return [[each[draw(len(each))] for each in strata.values() for _ in each] for _ in range(times)]


def f1_of(scores: Sequence[Score], samples: Sequence[Sequence[int]]) -> list[float]:
    """The F1 of each sample."""
    right = [each.right for each in scores]
    both = [each.shown + each.golden for each in scores]
    return [
        2 * sum(right[place] for place in sample) / (sum(both[place] for place in sample) or 1) for sample in samples
    ]


def chosen_elsewhere(repositories: Sequence[str], options: Mapping[Option, Sequence[Score]]) -> dict[str, Option]:
    """For each repository the option with the best F1 on all others: nothing is tuned on what it is tested on.

    ``options``: the scores of each, one for each pull request. The first of equals is chosen.
    """
    return {
        held_out: max(options, key=lambda option: _f1_without(held_out, repositories, options[option]))
        for held_out in dict.fromkeys(repositories)
    }


def _f1_without(held_out: str, repositories: Sequence[str], scores: Sequence[Score]) -> float:
    others = (score for score, repository in zip(scores, repositories, strict=True) if repository != held_out)
    return sum(others, Score()).f1


FIXED = (0.4,)
"""The likeness from which on findings are one: the product's facts named it before this was ever run."""


LIKENESSES = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""What is chosen from where a repository is left out."""


SAMPLES = 2_000


PLACEBOS = 200


@dataclass(frozen=True, slots=True)
class ToolScore:
    """One tool by the benchmark's own counting, and one to one without trigger commands."""

    tool: str
    loose: Score
    strict: Score


@dataclass(frozen=True, slots=True)
class Gain:
    """A council and the best single tool, the same of whose findings are one. ``likeness`` is by repository."""

    likeness: Mapping[str, float]
    lead: Mapping[str, str]
    council: Score
    council_f1: Middle
    single: Score
    single_f1: Middle
    gain: Middle
    placebo_f1: float
    placebo_gain: Middle

    @property
    def holds(self) -> bool:
        """Whether it is a gain: neither chance in the sample nor the counting explains it."""
        return self.excludes_zero and self.beats_placebo

    @property
    def by(self) -> float:
        """How much better its F1 is."""
        return self.council.f1 - self.single.f1

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval of the gain lies above zero."""
        return self.gain.low > 0

    @property
    def beats_placebo(self) -> bool:
        """Whether the gain is above 97.5% of those that chance alone gives."""
        return self.by > self.placebo_gain.high


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """What one judge's labels come to. ``fixed`` and ``left_out`` are the two ways to choose the likeness."""

    judge: str
    changes: int
    golden: int
    tools: tuple[ToolScore, ...]
    published: Mapping[str, Percents] | None
    fixed: Gain
    left_out: Gain


@dataclass(slots=True)
class _Recorded:
    """The recorded reviews of one judge with their clusters, which read no label and so are made once."""

    changes: Sequence[JudgedChange]
    tools: Sequence[str]
    _found: dict[tuple[str, float], list[tuple[Cluster, ...]]] = field(default_factory=dict)
    _shown: dict[tuple[str, float], list[list[Cluster]]] = field(default_factory=dict)

    @property
    def repositories(self) -> list[str]:
        return [change.repository for change in self.changes]

    def clusters(self, at: float, tool: str = "") -> list[tuple[Cluster, ...]]:
        """For each change the clusters of all findings, or of one tool's own."""
        if (tool, at) not in self._found:
            self._cluster(tool)
        return self._found[tool, at]

    def shown(self, at: float, lead: str) -> list[list[Cluster]]:
        """For each change what the council shows that ``lead`` leads."""
        if (lead, at) not in self._shown:
            self._shown[lead, at] = [
                council_shows(change, found, lead, len(self.tools) - 1)
                for change, found in zip(self.changes, self.clusters(at), strict=True)
            ]
        return self._shown[lead, at]

    def _cluster(self, tool: str) -> None:
        weighed = iter(weights([each.text for change in self.changes for each in change.findings]))
        for at in LIKENESSES:
            self._found[tool, at] = []
        for change in self.changes:
            all_of = [next(weighed) for _ in change.findings]
            places = [place for place, each in enumerate(change.findings) if tool in {"", each.tool}]
            steps = joined([all_of[place] for place in places], LIKENESSES[0])
            for at in LIKENESSES:
                found = clusters(len(places), steps, at)
                self._found[tool, at].append(tuple(tuple(places[each] for each in cluster) for cluster in found))


@dataclass(frozen=True, slots=True)
class _Compared:
    """The scores of both for each change."""

    likeness: Mapping[str, float]
    council: Sequence[Score]
    single: Sequence[Score]

    @property
    def gain(self) -> float:
        return pooled(self.council).f1 - pooled(self.single).f1


def judge_score(results: JudgeResults, draw: Draw) -> JudgeScore:
    """The table of one judge. There are changes of two repositories at least."""
    changes = results.changes
    tools = sorted(set(chain.from_iterable(change.loose for change in changes)))
    recorded = _Recorded(changes, tools)
    alone = {tool: [strict(each.matches_of(tool), each.golden) for each in changes] for tool in tools}
    leads = chosen_elsewhere(recorded.repositories, alone)
    samples = resamples(recorded.repositories, SAMPLES, draw)
    chances = [[placebo(change, draw) for change in changes] for _ in range(PLACEBOS)]
    return JudgeScore(
        results.judge,
        len(changes),
        sum(change.golden for change in changes),
        tuple(
            ToolScore(tool, pooled(change.loose.get(tool, Score(0, 0, change.golden)) for change in changes), of_tool)
            for tool, of_tool in ((tool, pooled(alone[tool])) for tool in tools)
        ),
        results.published,
        _gain(recorded, leads, FIXED, samples, chances),
        _gain(recorded, leads, LIKENESSES, samples, chances),
    )


def _gain(
    recorded: _Recorded,
    leads: Mapping[str, str],
    among: Sequence[float],
    samples: Sequence[Sequence[int]],
    chances: Sequence[Sequence[JudgedChange]],
) -> Gain:
    found = _compared(recorded, recorded.changes, leads, among)
    by_chance = [_compared(recorded, changes, leads, among) for changes in chances]
    council, single = f1_of(found.council, samples), f1_of(found.single, samples)
    return Gain(
        found.likeness,
        leads,
        pooled(found.council),
        middle(council),
        pooled(found.single),
        middle(single),
        middle([mine - other for mine, other in zip(council, single, strict=True)]),
        sum(pooled(each.council).f1 for each in by_chance) / len(by_chance),
        middle([each.gain for each in by_chance]),
    )


def _compared(
    recorded: _Recorded, changes: Sequence[JudgedChange], leads: Mapping[str, str], among: Sequence[float]
) -> _Compared:
    """Both on each change, as the other repositories say: the lead, and for each of both its likeness."""
    councils: dict[tuple[str, float], list[Score]] = {}
    singles: dict[tuple[str, float], list[Score]] = {}
    for lead in dict.fromkeys(leads.values()):
        for at in among:
            councils[lead, at] = _scores(changes, recorded.shown(at, lead), lead)
            singles[lead, at] = _scores(changes, recorded.clusters(at, lead), lead)
    likeness = _elsewhere(recorded, councils, leads, among)
    own = _elsewhere(recorded, singles, leads, among)
    return _Compared(
        likeness,
        [councils[leads[where], likeness[where]][place] for place, where in enumerate(recorded.repositories)],
        [singles[leads[where], own[where]][place] for place, where in enumerate(recorded.repositories)],
    )


def _scores(changes: Sequence[JudgedChange], shown: Sequence[Sequence[Cluster]], lead: str) -> list[Score]:
    return [
        strict([credited(change, cluster, lead) for cluster in clusters_of_it], change.golden)
        for change, clusters_of_it in zip(changes, shown, strict=True)
    ]


def _elsewhere(
    recorded: _Recorded,
    scores: Mapping[tuple[str, float], Sequence[Score]],
    leads: Mapping[str, str],
    among: Sequence[float],
) -> dict[str, float]:
    """For each repository the likeness that is best with its lead on the others."""
    by_lead = {
        lead: chosen_elsewhere(recorded.repositories, {at: scores[lead, at] for at in among})
        for lead in dict.fromkeys(leads.values())
    }
    return {repository: by_lead[lead][repository] for repository, lead in leads.items()}


_WAYS = {"fixed": "fixed beforehand", "left_out": "chosen on the other repositories"}


def equal_to_published(score: JudgeScore) -> list[str]:
    """The tools whose published precision, recall and F1 are those that are counted here, to the third decimal."""
    published = score.published or {}
    return [each.tool for each in score.tools if published.get(each.tool) == each.loose.percents]


def is_met(scores: Sequence[JudgeScore], way: str) -> bool:
    """The bar: for two thirds of the judges the gain excludes zero and beats the placebo."""
    return 3 * sum(_gain_words(score, way).holds for score in scores) >= 2 * len(scores)


def scores_as_json(scores: Sequence[JudgeScore]) -> dict[str, Any]:
    """Every number of the table, with the same decimals."""
    return {
        "samples": SAMPLES,
        "placebos": PLACEBOS,
        "judges": [_judge_as_json(score) for score in scores],
        "bar": {way: is_met(scores, way) for way in _WAYS},
    }


def _judge_as_json(score: JudgeScore) -> dict[str, Any]:
    return {
        "judge": score.judge,
        "changes": score.changes,
        "golden": score.golden,
        "published": None if score.published is None else {"of": len(score.tools), "equal": equal_to_published(score)},
        "tools": [
            {"tool": each.tool, "loose": _score_as_json(each.loose), "strict": _score_as_json(each.strict)}
            for each in score.tools
        ],
        "council": {way: _gain_as_json(_gain_words(score, way)) for way in _WAYS},
    }


def _score_as_json(score: Score) -> dict[str, Any]:
    precision, recall, f1 = (round(percent / 100, 3) for percent in score.percents)
    counts = {"right": score.right, "shown": score.shown, "golden": score.golden}
    return counts | {"precision": precision, "recall": recall, "f1": f1}


def _gain_as_json(gain: Gain) -> dict[str, Any]:
    return {
        "likeness": dict(sorted(gain.likeness.items())),
        "lead": dict(sorted(gain.lead.items())),
        "single": _score_as_json(gain.single) | {"f1_95": _ends(gain.single_f1)},
        "council": _score_as_json(gain.council) | {"f1_95": _ends(gain.council_f1)},
        "gain": {"f1": round(gain.by, 3), "f1_95": _ends(gain.gain)},
        "placebo": {"f1": round(gain.placebo_f1, 3), "gain_95": _ends(gain.placebo_gain)},
        "excludes_zero": gain.excludes_zero,
        "beats_placebo": gain.beats_placebo,
    }


def _ends(interval: Middle) -> list[float]:
    return [round(interval.low, 3), round(interval.high, 3)]


def scores_text(scores: Sequence[JudgeScore]) -> str:
    """The table of each judge, what the council comes to, and whether that meets the bar."""
    lines = [line for score in scores for line in _judge_lines(score)]
    for way, words in _WAYS.items():
        hold = sum(_gain_words(score, way).holds for score in scores)
        lines.append(
            f"Likeness {words}: for {hold} of {len(scores)} judges the gain excludes 0 and beats the placebo. "
            f"Bar (two thirds): {'met' if is_met(scores, way) else 'not met'}."
        )
    lines.append(
        f"Brackets: the middle 95% of {SAMPLES:,} samples of pull requests by repository, and of {PLACEBOS} placebos."
    )
    return "\n".join(lines) + "\n"


def _judge_lines(score: JudgeScore) -> list[str]:
    wide = max(len(each.tool) for each in score.tools)
    return [
        f"Judge {printable_line(score.judge)}: {score.changes} pull requests, {score.golden} golden comments",
        f"  {'':{wide}}   as published           one to one",
        f"  {'tool':{wide}}   {'P':5}  {'R':5}  {'F1':5}   {'P':5}  {'R':5}  F1",
        *(
            f"  {each.tool:{wide}}   {_three(each.loose.percents)}   {_three(each.strict.percents)}"
            for each in _best_first(score)
        ),
        f"  {_published_words(score)}",
        *(line for way in _WAYS for line in _gain_lines(_gain_words(score, way), way)),
        "",
    ]


def _best_first(score: JudgeScore) -> list[ToolScore]:
    return sorted(score.tools, key=lambda each: -each.strict.f1)


def _three(percents: Percents) -> str:
    return "  ".join(f"{percent / 100:.3f}" for percent in percents)


def _published_words(score: JudgeScore) -> str:
    if score.published is None:
        return "The folder has no published table of this judge."
    equal = f"{len(equal_to_published(score))} of {len(score.tools)} tools"
    return f"{equal} are as in the published table to the third decimal."


def _gain_lines(gain: Gain, way: str) -> list[str]:
    likeness = sorted(set(gain.likeness.values()))
    at = f"{likeness[0]:.2f}" if len(likeness) == 1 else f"{likeness[0]:.2f} to {likeness[-1]:.2f}"
    among = "" if way == "fixed" else f" among {len(LIKENESSES)}"
    leads = ", ".join(sorted(set(gain.lead.values())))
    by_chance = f"placebo: F1 {gain.placebo_f1:.3f}, gain {_interval(gain.placebo_gain, signed=True)}"
    return [
        f"  Likeness {at}, {_WAYS[way]}{among}; one to one:",
        f"    best single, duplicates merged   {_three(gain.single.percents)} {_interval(gain.single_f1)} {leads}",
        f"    council that it leads            {_three(gain.council.percents)} {_interval(gain.council_f1)}",
        f"    gain {gain.by:+.3f} {_interval(gain.gain, signed=True)}; {by_chance}",
    ]


def _interval(interval: Middle, *, signed: bool = False) -> str:
    form = "+.3f" if signed else ".3f"
    return f"[{interval.low:{form}}, {interval.high:{form}}]"


def _gain_words(score: JudgeScore, way: str) -> Gain:
    return score.fixed if way == "fixed" else score.left_out


MOST_BYTES = 20_000_000


_MOST_JUDGES = 20


_MOST_FINDINGS = 400


_LEAST_REPOSITORIES = 2


_TOOL_NAME = r"^[\w.-]{1,100}$"


Value = TypeVar("Value")


ReadFile = Callable[[Path], bytes]


ResultText = Annotated[str, StringConstraints(max_length=20_000)]


Url = Annotated[str, StringConstraints(min_length=1, max_length=500)]


Tool = Annotated[str, StringConstraints(pattern=_TOOL_NAME)]


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
