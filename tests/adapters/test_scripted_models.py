"""The scripted models answer calls that run side by side as they answer one after the other."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.adapters.scripted_models import Models

from review_advisor.mockworld.agents import reject

CALLS = 8
LONG = "Is it right? " * 20_000
"""So long that a reply, and the note of a question, take more than one write."""


def test_calls_side_by_side_each_get_a_reply_of_their_own_and_are_all_noted(tmp_path: Path) -> None:
    models = Models(tmp_path)
    models.executor_says(*(reject(summary=f"{number} {LONG}") for number in range(CALLS)))
    words = [str(models.path), "--json-schema", json.dumps({"title": "ReviewReport"})]
    asked = json.dumps({"message": {"content": [{"text": LONG}]}})

    def call(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, input=asked, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(CALLS) as threads:
        done = list(threads.map(call, range(CALLS)))
    assert [(each.returncode, each.stderr) for each in done] == [(0, "")] * CALLS
    answers = [json.loads(each.stdout.splitlines()[-1])["structured_output"]["summary"] for each in done]
    assert sorted(int(answer.partition(" ")[0]) for answer in answers) == list(range(CALLS))
    assert [each.prompt for each in models.asked] == [LONG] * CALLS
