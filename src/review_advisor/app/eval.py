"""`eval`."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from review_advisor.app.agent_choice import AgentChoice
from review_advisor.app.evaluations import (
    Evaluated,
    EvaluationExtent,
    RecordedReviews,
    answers_to,
    compare_evaluations,
    evaluate,
    evaluation_json,
    manifest_of,
    merge_evaluations,
    play_scenarios,
    read_arm,
    scored,
    simulated,
)
from review_advisor.app.golden import read_golden_set
from review_advisor.app.options import AS_JSON, PATH, BoundedNumber, at_the_top
from review_advisor.app.review import ReviewOptions, Selection, run_review
from review_advisor.app.terminal import NOT_TO_ITS_END, clear_refusals, note, put
from review_advisor.lab.golden_repository import GoldenClones
from review_advisor.lab.manifests import USUAL_ARMS, AnswerSource, Arm, CaseShard, matrix, modelled
from review_advisor.lab.results import EvaluationResult, result_text
from review_advisor.lab.trials import CountedTrial
from review_advisor.safety.wording import printable_line


@click.command(name="review-case", hidden=True)
@click.argument("repo", type=PATH)
@click.argument("revisions")
@click.option("--agent", type=click.Choice(["embedded", "claude"]), required=True)
@click.option("--rules", default="", help="The commit whose rules hold; empty: the base.")
@click.option("--config", type=PATH, required=True)
@click.option("--output", type=PATH, required=True)
@click.option("--artifacts", type=PATH, required=True)
@click.option("--title")
@click.option("--body-file", type=PATH)
@click.option("--spec-file", type=PATH)
@click.option("--most-usd", type=float)
@click.pass_context
def review_case(
    context: click.Context, /, repo: Path, revisions: str, agent: Literal["embedded", "claude"], rules: str, **own: Any
) -> None:
    """Review one golden case past every cache, and leave the outcome at --output."""
    with clear_refusals():
        options = ReviewOptions(
            repo=repo,
            selection=Selection("range", revisions, rules=rules),
            agent=AgentChoice(agent, staged=agent == "embedded"),
            repair="off",
            fresh=True,
            **own,
        )
        stored = run_review(options, os.environ, lambda _event: None, lambda _sentence: None)
        context.exit(128 + stored.interrupted_by if stored.interrupted_by else stored.document.exit_code)


NOT_PASSED = 10


SIMULATED_GROUPS = 40


_ARM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,60}")


_CLONE = re.compile(r"([\w.-]+/[\w.-]+)=(.+)")


_SHARD = re.compile(r"([1-9]\d{0,3})/([1-9]\d{0,3})")


ROOT = click.option(
    "--out",
    "root",
    type=PATH,
    metavar="DIR",
    default=Path("review_logs", "evaluations"),
    show_default=True,
    callback=at_the_top,
    help="Where evaluations are kept.",
)


GATE = click.option(
    "--gate",
    type=click.Choice(["ship", "cost_of_correct"]),
    multiple=True,
    help="Exit with 10 unless this gate passes for every arm that it is for.",
)


@click.group(name="eval")
def evaluation() -> None:
    """Review golden cases by several arms, score them with intervals, and decide whether advice pays."""


evaluation.add_command(review_case)


@evaluation.command(short_help="Review the cases by each arm; stored answers are not paid again.")
@click.option("--set", "set_path", type=PATH, metavar="PATH", help="The golden set: not for simulated answers.")
@click.option(
    "--answers",
    type=click.Choice(["simulated", "embedded", "recorded", "live"]),
    default="simulated",
    show_default=True,
    help="Who answers: invented reviewers with a known truth, static checks, earlier reviews, or models.",
)
@click.option(
    "--arms",
    "arm_names",
    metavar="NAME,...",
    help="Which arms review. [default: executor-only,advisor-only,paired,council, unless other arms are named]",
)
@click.option(
    "--arm",
    "own",
    multiple=True,
    metavar="NAME=FILE",
    help="An arm from your own configuration file, or from a folder with one, rule files and thresholds.",
)
@click.option(
    "--models",
    multiple=True,
    metavar="NAME=EXECUTOR,ADVISOR",
    help="The models of an --arm, instead of the usual ones; repeatable.",
)
@click.option("--matrix", metavar="MODEL,...", help="Each model alone, and each as the executor of each other.")
@click.option(
    "--recorded", type=PATH, metavar="DIR", help="Earlier reviews: CASE/ARM/REPETITION/outcome.json below DIR."
)
@click.option(
    "--clone",
    "clones",
    multiple=True,
    metavar="[OWNER/NAME=]DIR",
    help="Where the commits that cases name are; repeatable.",
)
@click.option(
    "--max-usd",
    type=BoundedNumber(0.01, 100_000),
    metavar="USD",
    help="What the live reviews of this command may spend together: each shard is a command of its own.",
)
@click.option("--groups", type=click.IntRange(1, 10_000), help="Of simulated cases. [default: 40]")
@click.option("--repeat", type=click.IntRange(1, 20), default=1, show_default=True, help="Reviews of a case by an arm.")
@click.option("--seed", type=click.IntRange(0, 2**31), help="The seed of the simulated answers. [default: 17]")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Reviews at a time.")
@click.option("--shard", metavar="I/N", help="Only every N-th case, from the I-th on; `eval merge` joins the parts.")
@click.option("--fresh", is_flag=True, help="Ask again what was answered before.")
@ROOT
@GATE
@AS_JSON
@click.pass_context
def run(context: click.Context, /, root: Path, gate: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Review every case by each arm, and print the result.

    Each answer is kept: an interrupted run continues where it stopped, and asks again only what got no answer. Live
    reviews need --max-usd. Exit code 12 if an arm got no answer; 10 if the gate of --gate does not pass; else 0.
    """
    with clear_refusals():
        evaluated = _evaluated(EvalRun(**asked), root)
    _tell(context, evaluated, gate, as_json=as_json)


class EvalRun(NamedTuple):
    """What the command line asks for."""

    set_path: Path | None
    answers: AnswerSource
    arm_names: str | None
    own: tuple[str, ...]
    models: tuple[str, ...]
    matrix: str | None
    recorded: Path | None
    clones: tuple[str, ...]
    max_usd: float | None
    groups: int | None
    repeat: int
    seed: int | None
    jobs: int
    shard: str | None
    fresh: bool


def _evaluated(asked: EvalRun, root: Path) -> Evaluated:
    _check(asked)
    extent, arms = EvaluationExtent(asked.repeat, _shard(asked.shard)), _arms(asked)
    if asked.answers == "simulated":
        names = [arm.name for arm in arms]
        extent = extent if asked.seed is None else replace(extent, seed=asked.seed)
        manifest, cases, answer = simulated(names, asked.groups or SIMULATED_GROUPS, extent)
        return evaluate(manifest, cases, answer, root, _progress, jobs=asked.jobs, fresh=asked.fresh)
    cases = read_golden_set(asked.set_path or Path())
    clones = _clones(asked.clones)
    recorded = None if asked.recorded is None else RecordedReviews(asked.recorded)
    manifest = manifest_of(cases, arms, asked.answers, extent, clones=clones, recorded=recorded)
    if recorded is not None:
        return evaluate(manifest, cases, recorded.answer, root, _progress, jobs=asked.jobs, fresh=asked.fresh)
    who = answers_to(
        manifest, arms, root, os.environ, max_usd=asked.max_usd, fresh=asked.fresh, clones=clones, warn=note
    )
    return evaluate(
        manifest, cases, who.answer, root, _progress, jobs=asked.jobs, fresh=asked.fresh, make_ready=who.make_ready
    )


def _clones(given: tuple[str, ...]) -> GoldenClones:
    named: dict[str, Path] = {}
    others: list[Path] = []
    for each in given:
        found = _CLONE.fullmatch(each)
        if found is None:
            others.append(Path(each))
        else:
            named[found[1]] = Path(found[2])
    if len(others) > 1:
        raise click.UsageError("--clone without OWNER/NAME= is the clone of every other repository: give one.")
    return GoldenClones(named, next(iter(others), None))


def _check(asked: EvalRun) -> None:
    """One sentence for what does not go together."""
    is_simulated = asked.answers == "simulated"
    if (asked.set_path is None) != is_simulated:
        raise click.UsageError("--set names the golden set of reviews: simulated answers have cases of their own.")
    if is_simulated and (asked.own or asked.models or asked.matrix is not None):
        raise click.UsageError(
            "--arm, --models and --matrix are about reviews: simulated answers have arms of their own."
        )
    if not is_simulated and (asked.groups, asked.seed) != (None, None):
        raise click.UsageError("--groups and --seed are for simulated answers: a set has its own cases.")
    if (asked.recorded is None) == (asked.answers == "recorded"):
        raise click.UsageError("--answers recorded and --recorded DIR belong together.")
    if asked.answers == "live" and asked.max_usd is None:
        raise click.UsageError("Live reviews cost money: say with --max-usd how much all of them may spend.")
    if asked.answers != "live" and asked.max_usd is not None:
        raise click.UsageError("--max-usd is for --answers live: nothing else costs anything.")
    if asked.clones and asked.answers not in ("live", "embedded"):
        raise click.UsageError("--clone is for reviews that are made now, with --answers live or embedded.")


def _arms(asked: EvalRun) -> list[Arm]:
    usual = {arm.name: arm for arm in USUAL_ARMS}
    others = bool(asked.own) or asked.matrix is not None
    names = _words(asked.arm_names) if asked.arm_names is not None else [] if others else list(usual)
    unknown = [each for each in names if each not in usual]
    if unknown:
        raise click.UsageError(f"--arms has {unknown[0]!r}: there are {', '.join(usual)}.")
    arms = [usual[name] for name in names]
    chosen = _models(asked.models)
    for each in asked.own:
        name, given, file = each.partition("=")
        if not given or not _ARM.fullmatch(name):
            raise click.UsageError(f"--arm is {each!r}: use NAME=FILE, the name of letters, digits and dashes.")
        models = chosen.pop(name, None)
        arms.append(read_arm(name, Path(file)) if models is None else modelled(read_arm(name, Path(file)), *models))
    if chosen:
        raise click.UsageError(f"--models is for {next(iter(chosen))!r}: no --arm is called so.")
    arms += matrix(_words(asked.matrix)) if asked.matrix else ()
    twice = [name for name, times in Counter(arm.name for arm in arms).items() if times > 1]
    if twice:
        raise click.UsageError(f"Two arms are called {twice[0]}.")
    if not arms:
        raise click.UsageError("No arm is named: --arms and --matrix take names with commas between them.")
    return arms


def _models(given: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    chosen: dict[str, tuple[str, str]] = {}
    for each in given:
        name, _, models = each.partition("=")
        two = models.split(",")
        if len(two) != 2 or not all(two) or name in chosen:  # noqa: PLR2004 (executor and advisor)
            raise click.UsageError(f"--models is {each!r}: use NAME=EXECUTOR,ADVISOR, once for each arm.")
        chosen[name] = (two[0], two[1])
    return chosen


def _words(given: str) -> list[str]:
    return list(dict.fromkeys(filter(None, (each.strip() for each in given.split(",")))))


@evaluation.command(short_help="Play the seven stories of advisor-harness: exit 0 if each ends as it says.")
@ROOT
@AS_JSON
@click.pass_context
def scenarios(context: click.Context, root: Path, as_json: bool) -> None:
    """Play the seven stories of advisor-harness without a model, and compare with the last time."""
    with clear_refusals():
        done = play_scenarios(root, os.environ, datetime.now(UTC))
    put(json.dumps(done.as_json, indent=2) + "\n" if as_json else done.text)
    note(f"Kept in {done.folder}")
    context.exit(0 if done.is_as_it_should_be else NOT_PASSED)


def _shard(given: str | None) -> CaseShard:
    if given is None:
        return CaseShard()
    found = _SHARD.fullmatch(given)
    if found is None or int(found[1]) > int(found[2]):
        raise click.UsageError(f"--shard is {given!r}: use I/N, as in 2/5.")
    return CaseShard(int(found[1]), int(found[2]))


def _progress(done: int, total: int, counted: CountedTrial) -> None:
    """Tenths of the way for quick answers, every review for slow ones."""
    if counted.trial.seconds or done == total or done % max(total // 10, 1) == 0:
        trial = counted.trial
        why = f": {trial.why}" if trial.status in ("lost", "refused") and trial.why else ""
        note(printable_line(f"{done}/{total} {trial.case} by {trial.arm}: {trial.verdict}, {trial.status}{why}"))


@evaluation.command(short_help="Join the shards of one evaluation.")
@click.argument("folders", type=PATH, nargs=-1, required=True, metavar="DIR...")
@ROOT
@GATE
@AS_JSON
@click.pass_context
def merge(context: click.Context, folders: tuple[Path, ...], root: Path, gate: tuple[str, ...], as_json: bool) -> None:
    """Join the shards of one evaluation, and print what it comes to. A missing shard, or one twice, is refused."""
    with clear_refusals():
        evaluated = merge_evaluations(folders, root)
    _tell(context, evaluated, gate, as_json=as_json)


@evaluation.command(short_help="Print what a whole evaluation comes to.")
@click.argument("folder", type=PATH, metavar="DIR")
@AS_JSON
def show(folder: Path, as_json: bool) -> None:
    """Print what a whole evaluation comes to, from its results."""
    with clear_refusals():
        result = scored(folder)
    _print(result, as_json=as_json)


@evaluation.command(short_help="Compare the arms of several evaluations.")
@click.argument("folders", type=PATH, nargs=-1, required=True, metavar="DIR DIR...")
@AS_JSON
def compare(folders: tuple[Path, ...], as_json: bool) -> None:
    """Compare the arms of several evaluations over the same samples.

    It refuses evaluations of different golden sets, shards, matching rules or sources of answers. The number of the
    evaluation tells arms of one name apart, such as before and after a change of prompts.
    """
    with clear_refusals():
        result = compare_evaluations(folders)
    _print(result, as_json=as_json)


def _print(result: EvaluationResult, *, as_json: bool) -> None:
    put(evaluation_json(result) if as_json else result_text(result))


def _tell(context: click.Context, evaluated: Evaluated, gate: tuple[str, ...], *, as_json: bool) -> None:
    result = evaluated.result
    _print(result, as_json=as_json)
    note(f"Kept in {evaluated.folder}" if evaluated.asked else f"All was there already: {evaluated.folder}")
    for each in evaluated.unanswered:
        note(printable_line(f"{each.arm}: {each.unanswered} of {each.reviews} reviews got no answer. {each.why}"))
    if any(each.is_silent for each in evaluated.unanswered):
        context.exit(NOT_TO_ITS_END)
    watched = [each for each in result.gates if each.gate in gate]
    passed = bool(watched) and all(each.answer == "pass" for each in watched)
    context.exit(0 if passed or not gate else NOT_PASSED)
