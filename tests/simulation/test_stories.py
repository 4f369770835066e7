"""Stories in YAML: the examples, the trace, the errors, the verb."""

import json
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.simulation.command import ROOT, STORIES, simulate

from review_advisor.mockworld.github_page import pull_page
from review_advisor.mockworld.seeds import HARMLESS
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story import DEFAULT_FILE, FAULTS, ExpectBlock, StepBlock, Story
from review_advisor.mockworld.story_file import Loader, StoryError, read_story, story_text
from review_advisor.mockworld.trace import clicks_since_red, differences, trace_text, unmet

NAMES = pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
LIVES = (
    "closed_and_observed", "dismissed_finding", "force_push", "fork_waits", "killed_publisher", "merge_queue",
    "refused_command", "renamed_file", "shadow_mode", "three_pushes", "two_publishers", "whole_life",
)  # fmt: skip
"""The examples that tell more of a pull request than its reviews."""
HEAD = "story: s\nsteps:\n"
FINDING = {"path": "src/app.py", "line": 3, "evidence": "value = 3", "title": "three is odd"}


@pytest.mark.one_in(3)
@NAMES
def test_an_example_ends_as_it_says(path: Path) -> None:
    assert unmet(play(read_story(path.read_text(encoding="utf-8"), path.name))) == ()


@NAMES
def test_an_example_has_a_comment_and_expects_something(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "expect:" in text


def test_the_story_on_the_page_ends_as_it_says_and_prints_what_the_page_shows() -> None:
    page = (ROOT / "docs" / "stories.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    played = play(read_story(text, "docs/stories.md"))
    assert unmet(played) == ()
    printed = trace_text("life.yaml", played, ())
    for piece in shown.split("    …\n"):
        _, found, printed = printed.partition(piece)
        assert found, piece


WRONG: dict[str, Callable[[Any], Any]] = {
    "outcome": lambda said: "approved" if said != "approved" else "stopped",
    "exit_code": lambda said: said + 1,
    "asked": lambda said: [] if said else ["executor"],
    "calls": lambda said: {role: number + 1 for role, number in said.items()},
    "reads": lambda _: ["src/nothing.py"],
    "flags": lambda said: [] if said else ["lost"],
    "repairs": lambda said: [] if said else ["refused"],
    "because": lambda said: f"not {said}",
    "begins": lambda said: not said,
    "check": lambda said: "success" if said != "success" else "failure",
    "shadow": lambda said: "success" if said != "success" else "failure",
    "title": lambda said: f"not {said}",
    "comments": lambda said: said + 1,
    "open": lambda said: said + 1,
    "comments_per_finding": lambda said: said + 1,
    "clicks": lambda said: said + 1,
    "findings": lambda said: {title: "open" if status != "open" else "fixed" for title, status in said.items()},
    "summary": lambda said: f"not {said}",
    "labels": lambda said: [] if said else ["x"],
    "answer": lambda said: "" if said else "something",
    "observed": lambda said: dict.fromkeys(said, "down"),
}
"""What a story could expect in the place of what happens."""


def as_told(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)


def expectations(told: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every single expectation of a story as its file has it: where it stands, and its key."""
    if isinstance(told, dict):
        for key, value in told.items():
            if key == "expect":
                yield from ((value, name) for name in value)
            else:
                yield from expectations(value)
    elif isinstance(told, list):
        for each in told:
            yield from expectations(each)


@pytest.mark.one_in(16)
@NAMES
def test_each_expectation_of_an_example_is_looked_at(path: Path) -> None:
    told = as_told(path)
    for place, (_, name) in enumerate(expectations(told)):
        lied = json.loads(json.dumps(told))  # anchors share blocks: each lie has its own copy
        expect, _ = list(expectations(lied))[place]
        expect[name] = WRONG[name](expect[name])
        assert differences(play(Story.model_validate(lied))), (place, name)


def test_an_expectation_of_every_kind_has_a_wrong_one_and_an_example() -> None:
    used = {name for path in STORIES for _, name in expectations(as_told(path))}
    assert set(ExpectBlock.model_fields) - used == set()
    assert set(WRONG) == set(ExpectBlock.model_fields)


def test_every_step_has_an_example() -> None:
    kinds = {step.kind for path in STORIES for step in read_story(path.read_text(encoding="utf-8"), path.name).steps}
    assert kinds == set(StepBlock.model_fields)


@pytest.mark.parametrize("path", [each for each in STORIES if each.stem in LIVES], ids=lambda path: path.stem)
def test_a_life_says_what_was_asked_of_the_agents(path: Path) -> None:
    assert any(name == "asked" for _, name in expectations(as_told(path)))


@pytest.mark.one_in(4)
@NAMES
def test_an_example_survives_being_written(path: Path) -> None:
    story = read_story(path.read_text(encoding="utf-8"), path.name)
    assert read_story(story_text(story), path.name) == story


def test_the_schema_takes_what_a_story_writes() -> None:
    schema = Draft202012Validator(Story.model_json_schema())
    for path in STORIES:
        told: Any = yaml.safe_load(story_text(read_story(path.read_text(encoding="utf-8"), path.name)))
        assert [error.message for error in schema.iter_errors(told)] == []


def test_every_fault_of_the_vocabulary_can_be_played() -> None:
    for fault in FAULTS:
        told = f"{HEAD}  - review:\n      executor: [{fault}]\n"
        (review,) = play(read_story(told, "s.yaml")).reviews
        wanted: dict[str, str] = dict.fromkeys(HARMLESS, "approved") | {"killed": "died"}
        assert review.stale is (fault == "stale_head")
        assert review.ended == wanted.get(fault, "escalated" if fault in ("call_budget", "too_long") else "stopped")


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "s.yaml is empty."),
        ("story: [", "s.yaml, line 2: not valid YAML: did not find expected node content."),
        ("- a\n", "s.yaml, line 1: should be a block of keys."),
        ("? [a]\n: b\n", "s.yaml, line 1: a key must be a word."),
        (
            HEAD + "  - review:\n      expect: {exit_code: soon}\n",
            "s.yaml, line 4: steps.1.review.expect.exit_code: should be a whole number.",
        ),
        ("story: a\nstory: b\n", "s.yaml, line 2: the key 'story' stands there twice."),
        (
            HEAD + "  - review:\n      executer: [approve]\n",
            "s.yaml, line 4: unknown key 'steps.1.review.executer'; did you mean 'executor'?",
        ),
        (
            HEAD + "  - review:\n      executor:\n        - {says: approve, sumary: x}\n",
            "s.yaml, line 5: unknown key 'steps.1.review.executor.1.sumary'; did you mean 'summary'?",
        ),
        (
            HEAD + "  - review:\n      executor: [aprove]\n",
            "s.yaml, line 4: steps.1.review.executor.1.says: unknown word 'aprove'; did you mean 'approve'?",
        ),
        (
            HEAD + "  - command: {says: help, may: wirte}\n",
            "s.yaml, line 3: steps.1.command.may: unknown word 'wirte'; did you mean 'write'?",
        ),
        (HEAD + "  - revue\n", "s.yaml, line 3: unknown key 'steps.1.revue'; did you mean 'review'?"),
        (
            "story: s\nswitches:\n  HYDRAFLOW_REVIEW_ADVISOR_ENABLE: off\nsteps: [review]\n",
            (
                "s.yaml, line 3: switches: no variable is called HYDRAFLOW_REVIEW_ADVISOR_ENABLE; did you mean"
                " 'HYDRAFLOW_REVIEW_ADVISOR_ENABLED'?"
            ),
        ),
        (
            HEAD + "  - {push: {}, review: {}}\n",
            (
                "s.yaml, line 3: steps.1: a step is exactly one of push, force_push, rename, review, publish, comment,"
                " command, label, react, resolve, pending, queue, close, switches,"
                " mode."
            ),
        ),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_its_line(text: str, says: str) -> None:
    with pytest.raises(StoryError) as raised:
        read_story(text, "s.yaml")
    assert str(raised.value) == says


def test_a_switch_without_meaning_is_refused_before_anything_is_played() -> None:
    with pytest.raises(StoryError, match="use one of true, 1, yes, on"):
        read_story("story: s\nswitches: {HYDRAFLOW_REVIEW_ADVISOR_ENABLED: perhaps}\nsteps: [review]\n", "s.yaml")


@pytest.mark.parametrize(
    "expect, says",
    [
        ("outcome: escalated", "expected to be escalated, was approved (the verdict is confirmed)"),
        ("exit_code: 11", "expected exit code 11, was 0"),
        ("asked: [executor]", "expected to ask executor, asked pre_flight, executor, post_verify"),
        ("calls: {executor: 2}", "expected 2 of executor, were 1"),
        ("flags: [stale]", "expected the flags stale, were none"),
        ("because: magic", "expected a reason with 'magic', said was: the verdict is confirmed"),
    ],
)
def test_what_is_not_as_the_story_says_is_said(expect: str, says: str) -> None:
    played = play(read_story(f"{HEAD}  - review:\n      expect: {{{expect}}}\n", "s.yaml"))
    assert unmet(played) == (f"step 1, review: {says}",)


def test_a_line_that_nobody_asked_for_is_a_fault_of_the_story_unless_it_is_loose() -> None:
    text = f"{HEAD}  - review:\n      executor: [approve, reject]\n"
    (words,) = unmet(play(read_story(text, "s.yaml")))
    assert words.startswith("step 1, review: nobody asked for the line executor: ")
    assert unmet(play(read_story(f"loose: true\n{text}", "s.yaml"))) == ()


@pytest.mark.parametrize(
    "text, says",
    [
        (
            "pull_request: {fork: true}\nsteps: [review]",
            "step 1, review: no review begins: its head is in a fork",
        ),
        (
            "steps: [review, close, review]",
            "step 3, review: no review begins: the pull request is merged",
        ),
        ("steps: [push, review, {push: {}}]", "a review of * began and no step plays it: its head is to be reviewed"),
        ("steps: [push, publish, review]", "step 2, publish: nothing was published before"),
        (
            "steps: [review, {command: {says: dismiss, finding: a fault}}]",
            "step 2, command: the bot remembers no finding 'a fault'",
        ),
        ("steps: [review, {label: {take: bug}}]", "step 2, label: the label bug is not on"),
        (
            "steps: [push, {rename: {path: a.py, to: b.py}}, review]",
            "step 2, rename: no file of the change is called a.py",
        ),
        (
            "steps: [{review: {trouble: {publisher_killed_at: 99}}}]",
            "step 1, review: its trouble never came: the publication has fewer writes to GitHub",
        ),
        (
            "steps: [push, {queue: {expect: {asked: [executor]}}}, review]",
            "step 2, queue: expected somebody to be asked*",
        ),
        (
            "steps: [push, {queue: {expect: {outcome: approved}}}, review]",
            "step 2, queue: expected a review, and none ran",
        ),
        (
            "published: false\nsteps: [{review: {expect: {check: success}}}]",
            "step 1, review: expected something on GitHub, and the story is not published",
        ),
    ],
)
def test_what_cannot_happen_or_is_left_over_is_a_fault_of_the_story(text: str, says: str) -> None:
    played = play(read_story(f"story: s\n{text}\n", "s.yaml"))
    (words,) = differences(played)
    assert fnmatch(words, says)


def test_a_push_ends_the_review_of_the_head_before_it() -> None:
    steps = [{"push": {}}, {"push": {}}, "review"]
    story = play(Story.model_validate({"story": "pushed on", "steps": steps}))
    first, second, review = story.steps
    assert unmet(story) == ()
    assert second.stands is not None
    assert (second.stands.check_on(first.head), second.stands.check_on(second.head)) == ("cancelled", "in_progress")
    assert review.head == second.head


MOST_CLICKS = 4
"""So many may a maintainer who disagrees need from the first red check to the merge."""


def test_who_disagrees_needs_few_clicks_from_red_to_merged() -> None:
    story = read_story((ROOT / "stories" / "whole_life.yaml").read_text(encoding="utf-8"), "whole_life.yaml")
    life = play(story)
    assert life.pull.merged
    assert [step.block.kind for step in life.steps].count("push") == 3
    assert clicks_since_red(life, life.steps[-1]) <= MOST_CLICKS
    for command in ("dismiss", "override"):
        decided = next(s for s in life.steps if s.block.command is not None and s.block.command.says == command)
        assert decided.stands is not None
        assert decided.stands.check_on(decided.head) == "success"  # one click, and the next one may be the merge


def test_a_click_is_whatever_somebody_but_the_author_does_after_the_first_red_check() -> None:
    rejects = {"review": {"executor": [{"says": "reject", "findings": [FINDING]}]}}
    about = {"finding": FINDING["title"]}
    steps = [
        {"comment": {"says": "before it is red"}},
        rejects,
        {"comment": {"by": "ada", "says": "the author's"}},
        {"comment": {"says": "one"}},
        {"react": {"thumb": "down", **about}},
        {"resolve": about},
        {"push": {}},
        "review",
        {"close": {}},
    ]
    life = play(Story.model_validate({"story": "clicks", "loose": True, "steps": steps}))
    assert [clicks_since_red(life, step) for step in life.steps] == [0, 0, 0, 1, 2, 3, 3, 3, 4]


def test_a_finding_with_a_second_comment_is_not_as_the_story_says() -> None:
    rejects = {"review": {"executor": [{"says": "reject", "findings": [FINDING]}]}}
    expects = {"review": {**rejects["review"], "expect": {"comments_per_finding": 1}}}
    away = {"path": "src/app.py", "added": 30, "text": "value = 0"}
    resolved = {"resolve": {"finding": FINDING["title"]}}
    back = {"push": {"files": [DEFAULT_FILE.model_dump()]}}
    steps = [rejects, resolved, {"push": {"files": [away]}}, "review", back, expects]
    life = play(Story.model_validate({"story": "it comes back", "loose": True, "steps": steps}))
    assert differences(life) == ("step 6, review: expected a finding to have 1 comment at most, were 2",)


def test_a_story_that_is_not_published_knows_no_life() -> None:
    with pytest.raises(StoryError, match="a story that is not published has no queue"):
        read_story("story: s\npublished: false\nsteps: [review, queue]\n", "s.yaml")


def test_the_page_of_a_life_shows_what_everybody_sees() -> None:
    path = ROOT / "stories" / "closed_and_observed.yaml"
    played = play(read_story(path.read_text(encoding="utf-8"), path.name))
    page = pull_page(played.github, played.pull)
    assert "Count the clicks #40 · Merged" in page
    assert "two threads count at once" in page
    assert "merged this as" in page
    assert "I am not sure" not in page


def test_the_page_of_a_life_shows_where_an_outdated_comment_was() -> None:
    path = ROOT / "stories" / "renamed_file.yaml"
    played = play(read_story(path.read_text(encoding="utf-8"), path.name))
    page = pull_page(played.github, played.pull)
    assert page.count('<span class="tag">Outdated</span>') == 2
    assert page.count("<code>src/reader.py</code>") == 1


def test_the_trace_tells_who_was_asked_what() -> None:
    path = ROOT / "stories" / "veto_then_recovery.yaml"
    played = play(read_story(path.read_text(encoding="utf-8"), path.name))
    lines = [line.strip() for line in trace_text(path.name, played, ()).splitlines()]
    assert "4 executor on pr_review, attempt 2" in lines
    assert "shown: files, diff, description, plan, transcript, report" in lines
    assert "says: VETO: two digits lose half a cent" in lines
    assert "ruling: retry, vetoed: retry 1 of 1" in lines
    assert "=> approved (exit 0), recovered: the verdict is confirmed" in lines


@pytest.mark.every_case
def test_the_command_plays_stories() -> None:
    done = simulate(*STORIES, "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert [Path(each["file"]) for each in told] == STORIES
    assert all(each["held"] and not each["unmet"] for each in told)


def test_a_story_that_does_not_end_as_it_says_is_exit_code_10(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(f"{HEAD}  - review:\n      expect: {{outcome: stopped}}\n", encoding="utf-8")
    done = simulate(path)
    assert done.code == 10
    assert "NOT AS THE STORY SAYS: step 1, review: expected to be stopped, was approved" in done.out


@pytest.mark.parametrize("words", [(), ("--seeds", "3"), ("--seeds", "9..1"), ("--schema", "--seeds", "1..2")])
def test_a_wrong_command_is_exit_code_2(words: tuple[str, ...]) -> None:
    assert simulate(*words).code == 2


def test_an_unreadable_story_is_exit_code_2_and_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "s.yaml"
    broken.write_text("storry: s\nsteps: [review]\n", encoding="utf-8")
    for path, says in ((broken, "unknown key 'storry'"), (tmp_path / "none.yaml", "cannot be read")):
        done = simulate(path)
        assert (done.code, done.out) == (2, "")
        assert says in done.err
        assert len(done.err.splitlines()) == 1


def test_the_command_prints_the_schema() -> None:
    assert json.loads(simulate("--schema").out) == Story.model_json_schema()


def test_what_a_story_leaves_on_github_is_told_and_drawn(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = simulate(ROOT / "stories" / "veto_then_recovery.yaml", "--html", page)
    assert done.code == 0, done.err
    told = [line.strip() for line in done.out.splitlines() if line.strip().startswith("on GitHub: ")]
    assert told[0] == "on GitHub: check: in progress, The review is under way"
    assert told[1] == "on GitHub: check: success, Approved, with findings: 1 low (after a veto was answered)"
    assert told[2].startswith("on GitHub: comment on src/total.py:2: Low: ")
    drawn = page.read_text(encoding="utf-8")
    assert "Approved, with findings: 1 low (after a veto was answered)" in drawn
    assert drawn.count('class="thread"') == 1


def test_a_page_is_drawn_of_one_story_where_it_can_be_written(tmp_path: Path) -> None:
    assert simulate(*STORIES[:2], "--html", tmp_path / "page.html").code == 2
    story = tmp_path / "story.yaml"
    story.write_bytes(STORIES[0].read_bytes())
    refused = simulate(story, "--html", tmp_path / "." / "story.yaml")
    assert (refused.code, "would overwrite the story" in refused.err) == (2, True)
    assert story.read_bytes() == STORIES[0].read_bytes()
    done = simulate(STORIES[0], "--html", tmp_path / "missing" / "page.html")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot be written: No such file or directory" in done.err
