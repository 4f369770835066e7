"""Whether the shipped stories ask the models exactly what is recorded: command line and prompt of each call by digest.

With the default roster and no configuration nobody may change a request by accident. Who changes a default prompt on
purpose records the new digests with ``--write`` and says so in the commit. What was asked before advisors could be
declared is another record, which stays (``requests_before.py``): there the test names what differs, and why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

from review_advisor.agents.claude_argv import argv
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story_file import read_story

ROOT = Path(__file__).resolve().parents[1]
STORIES = ROOT / "stories"
RECORD = ROOT / "tests" / "project" / "story_requests.json"


def requests(path: Path) -> list[str]:
    """The digest of each call of a story, in order: its role, its command line and its prompt."""
    story = read_story(path.read_text(encoding="utf-8"), path.name)
    calls = [asked.call for review in play(story).reviews for asked in review.asked]
    said = ((call.role, argv(("claude",), call, "{}" if call.consults else None), call.blocks) for call in calls)
    return [hashlib.sha256(json.dumps(each).encode()).hexdigest()[:16] for each in said]


def recorded() -> dict[str, list[str]]:
    """The digests of the record, by the story's name."""
    found: dict[str, list[str]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def main() -> int:
    """Compare, or write with ``--write``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the present requests")
    present = {path.stem: requests(path) for path in sorted(STORIES.glob("*.yaml"))}
    if parser.parse_args().write:
        RECORD.write_text(json.dumps(present, indent=1) + "\n", encoding="utf-8")
        return 0
    before = recorded()
    changed = [name for name in present if before.get(name) != present[name]]
    sys.stderr.writelines(f"{name}: its requests differ from the recorded ones\n" for name in changed)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
