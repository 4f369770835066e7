"""`simulate`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.app.options import AS_JSON, PATH
from review_advisor.app.terminal import NOTHING_ASKED, ExitWithCode, note, put

if TYPE_CHECKING:
    from review_advisor.mockworld.seeds import Sweep


NOT_AS_IT_SAYS = 10


SEEDS = re.compile(r"(\d{1,12})\.\.(\d{1,12})")


@click.command()
@click.argument("stories", type=PATH, nargs=-1, metavar="[STORY.yaml]...")
@click.option("--seeds", metavar="A..B", help="Play the worlds of these seeds instead, and check every promise.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help="Processes.")
@click.option(
    "--html",
    type=PATH,
    metavar="FILE",
    help="Draw the check and the comments of one story, as they are on GitHub in the end.",
)
@click.option("--schema", is_flag=True, help="Print the JSON schema of a story.")
@AS_JSON
@click.pass_context
def simulate(
    context: click.Context,
    stories: tuple[Path, ...],
    seeds: str | None,
    jobs: int,
    html: Path | None,
    schema: bool,
    as_json: bool,
) -> None:
    """Play stories of pull requests, pushes, replies and faults through the whole pipeline.

    Exit code 0 if every story ended as expected and no promise was broken, 10 if not, 2 if a story cannot be read.
    """
    if sum((bool(stories), seeds is not None, schema)) != 1:
        raise click.UsageError("Use one of three: stories to play, --seeds, or --schema.")
    if html is not None and len(stories) != 1:
        raise click.UsageError("--html draws one story: name exactly one.")
    if html is not None and html.resolve() == stories[0].resolve():
        raise click.UsageError("--html would overwrite the story: name another file.")
    if schema:
        from review_advisor.mockworld.story import Story

        put(json.dumps(Story.model_json_schema(), indent=2) + "\n")
        return
    held = _stories(stories, html, as_json=as_json) if seeds is None else _seeds(seeds, jobs, as_json=as_json)
    context.exit(0 if held else NOT_AS_IT_SAYS)


def _stories(paths: tuple[Path, ...], html: Path | None, *, as_json: bool) -> bool:
    from review_advisor.app.configuration import read_text
    from review_advisor.mockworld.github_page import pull_page
    from review_advisor.mockworld.stage import play
    from review_advisor.mockworld.story_file import StoryError, read_story
    from review_advisor.mockworld.trace import trace_json, trace_text, unmet
    from review_advisor.policy.settings import ConfigError
    from review_advisor.safety.terminal import one_line

    try:
        told = [(path, read_story(read_text(path, "story"), str(path))) for path in paths]
    except (StoryError, ConfigError) as error:
        raise ExitWithCode(one_line(str(error)), NOTHING_ASKED) from None
    held = True
    found = []
    for path, story in told:
        played = play(story)
        missed = unmet(played)
        held = held and not missed
        if as_json:
            found.append(trace_json(str(path), played, missed))
        else:
            put(trace_text(str(path), played, missed) + "\n")
        if html is not None:
            _draw(html, pull_page(played.github, played.pull))
    if as_json:
        put(json.dumps(found, indent=2) + "\n")
    return held


def _draw(file: Path, page: str) -> None:
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ExitWithCode(f"The page {file} cannot be written: {error.strerror}.", NOTHING_ASKED) from None
    note(f"As it stands on GitHub: {file}")


def _seeds(given: str, jobs: int, *, as_json: bool) -> bool:
    import time

    from review_advisor.mockworld.seeds import Sweep, sweep

    bounds = SEEDS.fullmatch(given)
    if bounds is None or int(bounds[1]) > int(bounds[2]):
        raise click.UsageError(f"--seeds is {given!r}: use A..B, two whole numbers.")
    total, began = Sweep(), time.monotonic()
    for part in sweep(int(bounds[1]), int(bounds[2]), jobs):
        total.add(part)
    seconds = max(time.monotonic() - began, 0.001)
    put(_sweep_json(total) if as_json else _sweep_text(total))
    rate, processes = (total.reviews + total.retold) / seconds, f"{jobs} process{'es' * (jobs > 1)}"
    note(f"{rate:,.0f} reviews a second, {seconds:.1f} s in {processes}")
    return total.holds


def _sweep_text(total: Sweep) -> str:
    from review_advisor.mockworld.seeds import table

    lines = [
        f"{total.worlds:,} worlds, {total.reviews:,} reviews, {total.retold:,} told again, {total.calls:,} calls",
        "",
        table(total.counts),
        "",
    ]
    for failure in total.failures:
        lines += [f"seed {failure.seed} breaks {each}" for each in failure.broken]
        lines += ["Its story, for `review-advisor simulate`:", "", failure.story]
    lines += [f"no world shows {fault}, {role}, {outcome}" for fault, role, outcome in total.empty]
    lines.append("no promise broken" if not total.broken else f"worlds that break a promise: {total.broken:,}")
    return "\n".join(lines) + "\n"


def _sweep_json(total: Sweep) -> str:
    counted = [
        {"fault": fault, "struck": role, "outcome": outcome, "reviews": count}
        for (fault, role, outcome), count in sorted(total.counts.items())
    ]
    failures = [
        {
            "seed": failure.seed,
            "broken": [{"place": b.place, "promise": b.promise, "says": b.says} for b in failure.broken],
            "story": failure.story,
        }
        for failure in total.failures
    ]
    summary = {"worlds": total.worlds, "reviews": total.reviews, "retold": total.retold}
    summary |= {"calls": total.calls, "broken": total.broken}
    return json.dumps({**summary, "counts": counted, "empty": total.empty, "failures": failures}, indent=2) + "\n"
