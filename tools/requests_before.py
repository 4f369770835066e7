"""What the stories asked the models at 75d3a3a, the last commit before advisors could be declared.

The record holds a digest of each component of each call. It is made once, by that commit's own code and stories:

    git worktree add FOLDER 75d3a3a
    PYTHONPATH=FOLDER/src .venv/bin/python tools/requests_before.py FOLDER/stories --write

This file therefore uses only what both commits have. A test replays the same stories with today's code.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import review_advisor
from review_advisor.agents.claude_argv import argv, child_environment, user_message
from review_advisor.agents.mid_flight import consult_prompt
from review_advisor.agents.prompts import Instructions
from review_advisor.mockworld.agents import PlayedCall
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story_file import read_story
from review_advisor.policy.surfaces import REVIEW_ROLES, REVIEW_SURFACES

RECORD = Path(__file__).resolve().parents[1] / "tests" / "project" / "requests_before.json"
OPTIONS = {
    "model": "--model",
    "effort": "--effort",
    "system prompt": "--system-prompt",
    "tools": "--tools",
    "denied tools": "--disallowedTools",
    "answer": "--json-schema",
    "consults": "--agents",
    "settings": "--settings",
    "money": "--max-budget-usd",
}
"""The components that are the value of one option."""
COMPONENTS = ("asked as", "prompt", *OPTIONS, "other options", "environment", "its consults")
_SETTINGS_OF_THE_HOOK = '{"hook": "of a consult"}'


@dataclass(frozen=True, slots=True)
class Record:
    """Digests. A story's text comes first, then a line for each of its calls, in the order of ``COMPONENTS``."""

    instructions: dict[str, str]
    stories: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class StoryRequests:
    """A story's own text, and each of its calls as the text of every component of ``COMPONENTS``."""

    story: str
    calls: list[dict[str, str]]


def replayed(path: Path) -> StoryRequests:
    """Play a story and take down what it asks."""
    text = path.read_text(encoding="utf-8")
    played = play(read_story(text, path.name))
    return StoryRequests(text, [components(asked) for review in played.reviews for asked in review.asked])


def components(asked: PlayedCall) -> dict[str, str]:
    """All that a call gives to the CLI, taken apart: standard input, command line, environment, folder and time.

    ``its consults`` are what the advisor is asked within the call, and whether the cap allowed it.
    """
    call = asked.call
    words = argv(("claude",), call, _SETTINGS_OF_THE_HOOK if call.consults is not None else None)
    found = {name: _taken(words, option) for name, option in OPTIONS.items()}
    home, cached = Path("/home"), len(call.blocks) > 1 or call.tree is not None
    environment = child_environment({}, home, home, home, cached=cached)
    asked_as = [call.role, call.advisor, call.surface, call.attempt, call.shard, str(call.tree), call.timeout_seconds]
    consults = [(consult_prompt(each.grant, each.question), each.line is not None) for each in asked.advice]
    return {
        "asked as": json.dumps(asked_as),
        "prompt": user_message(call.blocks).decode("ascii"),
        **found,
        "other options": json.dumps(words),
        "environment": json.dumps([environment.variables, environment.by_descriptor], default=str),
        "its consults": json.dumps(consults),
    }


def instructions() -> dict[str, str]:
    """The shipped instructions of each role on each surface; the stories' world has placeholders for them."""
    folder = Path(review_advisor.__file__).parent / "agents"
    shipped = Instructions({path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")})
    return {
        f"{role} {surface}": shipped.system_prompt(role, surface)
        for role in REVIEW_ROLES
        for surface in REVIEW_SURFACES
    }


def digest(text: str) -> str:
    """Ten characters that no other text of these has."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def recorded() -> Record:
    """The record as it is stored."""
    return Record(**json.loads(RECORD.read_text(encoding="utf-8")))


def _taken(words: list[str], option: str) -> str:
    """Take the value of an option out of a command line; the option itself stays. Empty where it is not given."""
    return words.pop(words.index(option) + 1) if option in words else ""


def main() -> int:
    """Record the stories of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stories", type=Path, help="the folder of the commit's own stories")
    parser.add_argument("--write", action="store_true", help="store the record; without it, compare")
    asked = parser.parse_args()
    played = {path.stem: replayed(path) for path in sorted(asked.stories.glob("*.yaml"))}
    found = Record(
        {name: digest(text) for name, text in instructions().items()},
        {
            name: [digest(of.story), *(" ".join(digest(call[each]) for each in COMPONENTS) for call in of.calls)]
            for name, of in played.items()
        },
    )
    if asked.write:
        RECORD.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
        return 0
    return 0 if found == recorded() else 1


if __name__ == "__main__":
    sys.exit(main())
